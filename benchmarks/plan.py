"""A plan for 10⁹ observations on 32 workers, from solves at 10⁶ and 10⁷ and from what their parts take.

``python -m benchmarks plan 1e6 1e7 1e8`` solves at these sizes instead. The model has three constants that are measured
here: what an empty round takes, what a megabyte takes to and from the client, and how long a processor is at work for
one product and one observation (κ, from the difference of the first two solves: the rest of the first is starting up).
The rest of a plan is counted: rounds, bytes, products.

    seconds = rounds·round + bytes/bandwidth + products·(observations·κ)/workers
    memory of a worker = base + observations·B/workers + rows·rank·b/workers

It is checked against every solve; then it is used for a size that was not solved.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx

from .huge import Measured, generated_apart, solved, started, told

SIZES = (1_000_000, 10_000_000)
BASE, ENTRY, NUMBER = 0.45e9, 110, 134  # bytes of a worker: Python and its packages; an observation; a row of an atom


def run(*sizes: float) -> Iterator[str]:
    found: list[Measured] = []
    for observations in map(int, sizes or SIZES):
        with tempfile.TemporaryDirectory() as name, started() as client:
            generated_apart(Path(name), observations)
            found.append(solved(Path(name), client, 2400.0))
            yield told(found[-1])
    with started() as client:
        empty, megabyte = _rounds(client)
    yield f"an empty round takes {1e3 * empty:.0f} ms, a megabyte {1e3 * megabyte:.1f} ms"
    unit = _unit(found)
    yield f"a product takes {1e9 * unit:.2f} ns of a processor for each observation"
    yield "| observations | workers | rounds | MB | products | seconds: model | measured | GB: model | measured |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for each in found:
        seconds, memory = _model(each, 2, empty, megabyte, unit)
        yield _line(each, 2, seconds, memory, f"{each.seconds:.0f}", f"{max(each.workers):.1f}")
    yield _line(*_planned(found[-1], empty, megabyte, unit), "", "")


def _unit(found: list[Measured]) -> float:
    work = [each.products * each.observations for each in found[:2]]
    if len(work) == 1:
        return found[0].processor / work[0]
    return (found[1].processor - found[0].processor) / (work[1] - work[0])


def _planned(last: Measured, empty: float, megabyte: float, unit: float) -> tuple[Measured, int, float, float]:
    """10⁹ observations of 10,000,000 × 500,000 on 32 workers, with the rounds, products and rank of the last solve."""
    workers, count = 32, 1_000_000_000
    more, n = count / last.observations, 500_000
    bytes_ = int(last.bytes * n / last.shape[1] * workers / 8)  # every shard answers; 8 shards were measured
    plan = Measured(
        count,
        (10_000_000, n),
        last.radius * more,
        "planned",
        last.gap,
        last.rank,
        last.made * more * 2 / workers,
        0.0,
        last.rounds,
        bytes_,
        last.products,
        0.0,
        [],
        0.0,
    )
    return (plan, workers, *_model(plan, workers, empty, megabyte, unit))


def _model(of: Measured, workers: int, empty: float, megabyte: float, unit: float) -> tuple[float, float]:
    seconds = of.rounds * empty + of.bytes / 1e6 * megabyte + of.products * of.observations * unit / workers
    memory = BASE + (of.observations * ENTRY + of.shape[0] * of.rank * NUMBER) / workers
    return seconds, memory


def _line(of: Measured, workers: int, seconds: float, memory: float, took: str, peak: str) -> str:
    return (
        f"| {of.observations:,} | {workers} | {of.rounds} | {of.bytes / 1e6:.0f} | {of.products:.0f} | {seconds:.0f} "
        f"| {took} | {memory / 1e9:.1f} | {peak} |"
    )


def _rounds(client: Any) -> tuple[float, float]:
    """Seconds of an empty round, and of a megabyte in one."""
    from spectraplex.datasets import ratings_like
    from spectraplex.objectives.sharded import shard_rows

    table = ratings_like(400, 20_000, 40_000, seed=0)
    whole = sx.Completion(table.rows, table.cols, table.values, table.shape)
    place = shard_rows(whole, client, [0, 200, 400]).place
    V = np.ones((20_000, 32))  # 5 MB

    def seconds(question: tuple[Any, ...]) -> float:
        took = []
        for _ in range(20):
            began = time.perf_counter()
            place.ask(question)
            took.append(time.perf_counter() - began)
        return float(np.median(took))

    empty = seconds(("itself", 0.0))
    return empty, max(seconds(("itself", V)) - empty, 0.0) / (3 * V.nbytes / 1e6)  # there, and back from two shards
