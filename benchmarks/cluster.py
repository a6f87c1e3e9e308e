"""The same solve on a Dask cluster of two worker processes and on one machine with two threads, side by side.

Generated tables as in ``large``: a million observations by default (``quick``: a hundred thousand). Seconds, rounds and
bytes to a certified relative gap of 1e-2, from Parquet files, with the shuffle and the encoding of labels apart.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import spectraplex as sx
from spectraplex.datasets import ratings_like

from .data import problem

_FILES = 8
SIZES = ((10_000, 2_000, 100_000, 9_000.0), (30_000, 6_000, 1_000_000, 40_000.0))


def run() -> Iterator[str]:
    for size in SIZES:
        yield from compared(*size)


def quick() -> Iterator[str]:
    yield from compared(*SIZES[0])


def compared(users: int, items: int, observed: int, radius: float) -> Iterator[str]:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    table = ratings_like(users, items, observed)
    stop = sx.Stop(relative_gap=1e-2, max_seconds=240)
    task = problem(table, radius)
    sx.solve(task, stop=sx.Stop(max_steps=1))
    here = sx.solve(task, stop=stop)
    told = pd.DataFrame({"row": table.rows, "column": table.cols, "value": table.values})
    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(**settings) as cluster, Client(cluster):
        for part in range(_FILES):
            told[part::_FILES].to_parquet(f"{folder}/{part}.parquet")
        began = time.perf_counter()
        frame = dd.read_parquet(folder)
        objective = sx.Completion.from_dask(frame, row="row", column="column", value="value")
        made = time.perf_counter() - began
        far = sx.Problem(objective, sx.NuclearBall(objective.shape, radius))
        away = sx.solve(far, stop=stop)
        place = objective.place
        yield (
            f"{observed:,} observations, {users:,} × {items:,}, radius {radius:g}: one machine {here.seconds:.1f} s to "
            f"{here.gap / here.value:.1e}; two workers {away.seconds:.1f} s to {away.gap / away.value:.1e}, "
            f"{away.seconds / here.seconds:.1f} times as long, {place.rounds} rounds of "
            f"{1e3 * away.seconds / place.rounds:.0f} ms, {place.bytes / 1e6:.0f} MB; read and encoded in {made:.1f} s"
        )
        yield f"  values {here.value:.6g} and {away.value:.6g}, ranks {len(here.X.s)} and {len(away.X.s)}"
