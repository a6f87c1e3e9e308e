"""The same solve on a Dask cluster of two worker processes and on one machine with two threads, one after the other.

Generated tables as in ``large``, of 10⁵, 10⁶ and 10⁷ observations (``quick``: the first). Seconds, those of processors,
rounds and bytes to a certified relative gap of 1e-2, from Parquet files, with the shuffle and the encoding of labels
apart. Limits are those of the largest: 1.5 times as long as on one machine, and 800 rounds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import spectraplex as sx
from spectraplex.datasets import ratings_like

from .data import problem, verdict
from .huge import processor

_FILES = 8
SIZES = (
    (10_000, 2_000, 100_000, 9_000.0),
    (30_000, 6_000, 1_000_000, 40_000.0),
    (100_000, 20_000, 10_000_000, 150_000.0),
)
_SLOWER, _ROUNDS = 1.5, 800


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
    stop = sx.Stop(relative_gap=1e-2, max_seconds=3600)
    task, before = problem(table, radius), sx.set_threads(2)
    sx.solve(task, stop=sx.Stop(max_steps=1))
    began = processor()
    here = sx.solve(task, stop=stop)
    alone = processor() - began
    told = pd.DataFrame({"row": table.rows, "column": table.cols, "value": table.values})
    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(**settings) as cluster, Client(cluster) as client:
        for part in range(_FILES):
            told[part::_FILES].to_parquet(f"{folder}/{part}.parquet")
        began = time.perf_counter()
        frame = dd.read_parquet(folder)
        objective = sx.Completion.from_dask(frame, row="row", column="column", value="value")
        made = time.perf_counter() - began
        far = sx.Problem(objective, sx.NuclearBall(objective.shape, radius))
        began = processor() + sum(client.run(processor).values())
        away = sx.solve(far, stop=stop)
        spent = processor() + sum(client.run(processor).values()) - began
    sx.set_threads(before)  # the client had two threads, too, while its workers wait
    slower, largest = away.seconds / here.seconds, observed == SIZES[-1][2]
    yield (
        f"{observed:,} observations, {users:,} × {items:,}, radius {radius:g}: one machine {here.seconds:.1f} s to "
        f"{here.gap / here.value:.1e}; two workers {away.seconds:.1f} s to {away.gap / away.value:.1e}, "
        f"{verdict(slower, _SLOWER) if largest else f'{slower:.1f} times as long'}"
    )
    yield (
        f"  {away.rounds} rounds (limit {_ROUNDS}: {'met' if away.rounds <= _ROUNDS else 'MISSED'}) of "
        f"{1e3 * away.seconds / away.rounds:.0f} ms and {1e-6 * away.bytes / away.rounds:.2f} MB; processors "
        f"{alone:.1f} and {spent:.1f} s, {spent / alone:.1f} times as much; read and encoded in {made:.1f} s"
    )
    yield (
        f"  values {here.value:.6g} and {away.value:.6g}, ranks {len(here.X.s)} and {len(away.X.s)}, products "
        f"{here.products:.0f} and {away.products:.0f}, steps {here.trace[-1].step} and {away.trace[-1].step}"
    )
