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
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx

_ROW = 100  # observations a row, about
_SHARDS = 8  # four a worker: what a task makes on the way is a quarter as large
_NOISE, _RANK, _FILE = 0.85, 10, 2_000_000
#: The radius is this share of the planted table's nuclear norm. At 0.643 the planted part pulls as hard as the largest
#: singular value of the noise (2,000 numbers a column, 100 a row): 141.4·(1 − s) = 54.7·√(0.85² + (1 − s)²). Beyond it
#: some of all n directions join the ten planted ones, more with a larger share: 0.0006 of them at 0.655, which is three
#: of the 5,000 at 10⁷ (found with a gap of 1e-3) and about 30 of the 50,000 at 10⁸.
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


@dataclass(frozen=True)
class Measured:
    """What a solve from files took; bytes and rounds are those of the solve, seconds of processors those of workers."""

    observations: int
    shape: tuple[int, int]
    radius: float
    status: str
    gap: float
    rank: int
    made: float
    seconds: float
    rounds: int
    bytes: int
    products: float
    processor: float
    workers: list[float]  # peak memory, in GB
    client: float


def run(size: float = 1e8, seconds: float = 2400.0) -> Iterator[str]:
    observations = int(size)
    with tempfile.TemporaryDirectory() as name, started() as client:
        began = time.perf_counter()
        m, n = generated_apart(Path(name), observations)
        yield f"{observations:,} observations of {m:,} × {n:,} written in {time.perf_counter() - began:.0f} s"
        yield told(solved(Path(name), client, seconds))


@contextmanager
def started() -> Iterator[Any]:
    """A client of two worker processes; the scheduler is a third, so that the client's memory is the client's."""
    import dask
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with dask.config.set(MEMORY), SubprocessCluster(**settings) as cluster, Client(cluster) as client:
        yield client


def generated_apart(folder: Path, observations: int) -> tuple[int, int]:
    """The files, written by a process whose memory is not that of the client."""
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        return apart.submit(generated, folder, observations).result()


def solved(folder: Path, client: Any, seconds: float) -> Measured:
    """From files to a certified gap of five percent."""
    import dask.dataframe as dd

    began = time.perf_counter()
    frame = dd.read_parquet(folder)
    asked = {"row": "user", "column": "item", "value": "value", "shards": _SHARDS}
    objective = sx.Completion.from_dask(frame, client=client, **asked)
    m, n = objective.shape
    made, before = time.perf_counter() - began, sum(client.run(processor).values())
    radius = SHARE * np.sqrt(_RANK * m * n)
    problem = sx.Problem(objective, sx.NuclearBall((m, n), radius))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=0.05, max_seconds=seconds - made))
    return Measured(
        objective.entries,
        (m, n),
        radius,
        result.status.name,
        result.gap / result.value,
        len(result.X.s),
        made,
        result.seconds,
        result.rounds,
        result.bytes,
        result.products,
        sum(client.run(processor).values()) - before,
        list(client.run(peak).values()),
        peak(),
    )


def told(found: Measured) -> str:
    m, n = found.shape
    return (
        f"{found.observations:,} observations of {m:,} × {n:,}: read and encoded in {found.made:.0f} s (limit 480 at "
        f"1e8); radius {found.radius:.6g}: {found.status}, certified relative gap {found.gap:.1e} in "
        f"{found.seconds:.0f} s, {found.seconds + found.made:.0f} s from the files (limit 2400 at 1e8); rank "
        f"{found.rank}, {found.rounds} rounds, {found.bytes / 1e6:.0f} MB sent, {found.products:.0f} products, "
        f"{found.processor:.0f} s of processors; peak memory: workers "
        f"{', '.join(f'{each:.1f}' for each in found.workers)} GB (limit 9 at 1e8), client "
        f"{found.client:.2f} GB (limit {0.3 + 20 * n * found.rank * 8 / 1e9:.2f})"
    )


def processor() -> float:
    """Seconds of processors that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """The most memory that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
