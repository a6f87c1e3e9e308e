"""A hundred million observations in Parquet files, fitted on two worker processes: seconds, memory, certified gap.

The files are written by a generator that streams, one after the other, with string labels: a planted table of rank 10
and noise of 0.85. ``python -m benchmarks huge [SIZE]`` with SIZE 1e6, 1e7 or 1e8 (the default).
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx

_ROW = 100  # observations a row, about
_SHARDS = 8  # four a worker: what a task makes on the way is a quarter as large
_NOISE, _RANK, _FILE = 0.85, 10, 2_000_000
#: The radius is this share of the planted table's nuclear norm. At 0.643 the planted part pulls as hard as the largest
#: singular value of the noise, 2000 numbers a column and 100 a row: 1.414e2·(1 − s) = 5.47e1·√(0.85² + (1 − s)²). Beyond
#: it a share of all n columns that grows with s joins the ten planted directions: 0.0006 of them at 0.655, three of the
#: 5,000 at 10⁷, about 30 of the 50,000 at 10⁸.
SHARE = 0.655


#: What lies on a worker is in use all the time, so nothing is written to its disk.
MEMORY = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")}


def generated(folder: Path, observations: int, seed: int = 0) -> tuple[int, int]:
    """Files of about two million lines each; the shape of the table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    m, n = observations // _ROW, observations // 2000
    rng = np.random.default_rng(seed)
    Q = rng.standard_normal((n, _RANK)) / np.sqrt(_RANK)
    items = pa.array([f"item-{j}" for j in range(n)])
    for file, low in enumerate(range(0, m, _FILE // _ROW)):
        high = min(low + _FILE // _ROW, m)
        rows = np.repeat(np.arange(low, high), _ROW)
        key = np.unique(rows * n + rng.integers(0, n, rows.size))  # a pair comes once
        rows, cols = key // n, key % n
        P = rng.standard_normal((high - low, _RANK))
        values = np.einsum("ek,ek->e", P[rows - low], Q[cols]) + _NOISE * rng.standard_normal(rows.size)
        order = rng.permutation(rows.size)
        users = pa.array([f"user-{i}" for i in range(low, high)])
        told = {
            "user": users.take(pa.array(rows[order] - low)),
            "item": items.take(pa.array(cols[order])),
            "value": values[order],
        }
        pq.write_table(pa.table(told), folder / f"{file:04d}.parquet")
    return m, n


def run(observations: int = 100_000_000, seconds: float = 2400.0) -> Iterator[str]:
    import dask
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    dask.config.set(MEMORY)
    with tempfile.TemporaryDirectory() as name, LocalCluster(**settings) as cluster, Client(cluster) as client:
        began = time.perf_counter()
        with ProcessPoolExecutor(1, get_context("spawn")) as apart:  # its memory is not that of the client
            m, n = apart.submit(generated, Path(name), observations).result()
        yield f"{observations:,} observations of {m:,} × {n:,} written in {time.perf_counter() - began:.0f} s"
        yield from solved(Path(name), client, seconds)


def solved(folder: Path, client: Any, seconds: float) -> Iterator[str]:
    """From files to a certified gap of five percent."""
    import dask.dataframe as dd

    began = time.perf_counter()
    frame = dd.read_parquet(folder)
    asked = {"row": "user", "column": "item", "value": "value", "shards": _SHARDS}
    objective = sx.Completion.from_dask(frame, client=client, **asked)
    m, n = objective.shape
    made = time.perf_counter() - began
    yield f"read and encoded in {made:.0f} s (limit 480 at 1e8); {_memory(client)}"
    radius = SHARE * np.sqrt(_RANK * m * n)
    problem = sx.Problem(objective, sx.NuclearBall((m, n), radius))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=0.05, max_seconds=seconds - made))
    place = objective.place
    yield (
        f"radius {radius:.6g}: {result.status.name}, certified relative gap {result.gap / result.value:.1e} in "
        f"{result.seconds:.0f} s, {result.seconds + made:.0f} s from the files (limit 2400 at 1e8); rank "
        f"{len(result.X.s)}, {place.rounds} rounds, {place.bytes / 1e6:.0f} MB sent; {_memory(client)}"
    )


def _memory(client: Any) -> str:
    peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return f"peak memory: workers {', '.join(f'{peak:.1f}' for peak in peaks.values())} GB, client {own:.2f} GB"
