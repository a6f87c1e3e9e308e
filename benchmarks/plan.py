"""What a fit on a cluster takes, from a model whose constants are measured here: seconds, what travels, memory.

    seconds = rounds·overhead + bytes/bandwidth + products·observations·cost/workers

Rounds, products and bytes are what ``cluster`` and ``huge`` print for their tables; a plan for a larger one takes those
of the largest. Memory of a worker: ``_DATA`` bytes an observation, and ``_LEFT`` a row and column of X.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.objectives.sharded import shard_rows

_DATA, _LEFT = 70, 150  # bytes; checked against the peaks that ``huge`` prints


@dataclass(frozen=True)
class Run:
    """A fit: its table, what it took, and the seconds that were measured (None for a plan)."""

    observations: float
    rows: int
    columns: int
    rank: int
    workers: int
    rounds: int
    products: float
    measured: float | None


#: The first two are lines of ``python -m benchmarks cluster``, the third of ``python -m benchmarks huge``.
RUNS: tuple[Run, ...] = ()


def run() -> Iterator[str]:
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        overhead, bandwidth, cost = constants(client)
    yield (
        f"a round {1e3 * overhead:.0f} ms, {bandwidth / 1e6:.0f} MB/s, {1e9 * cost:.2f} ns an observation and product "
        "on one worker"
    )
    for each in RUNS:
        per_round = 12.0 * each.columns * each.rank  # V in single precision there, a sum in double back
        seconds = each.rounds * overhead + each.rounds * per_round / bandwidth
        seconds += each.products * each.observations * cost / each.workers
        memory = (_DATA * each.observations + _LEFT * each.rows * each.rank) / each.workers
        told = "a plan" if each.measured is None else f"measured {each.measured:.0f} s"
        yield (
            f"{each.observations:.0e} observations, {each.rows:,} × {each.columns:,}, rank {each.rank}, {each.workers} "
            f"workers, {each.rounds} rounds, {each.products:.0f} products: {seconds:.0f} s ({told}), "
            f"{per_round / 1e6:.1f} MB a round, {memory / 1e9:.1f} GB a worker"
        )


def constants(client: Any, rank: int = 40) -> tuple[float, float, float]:
    """Seconds of an empty round, bytes a second, and seconds of one product with one observation on one worker."""
    table = ratings_like(30_000, 6_000, 1_000_000)
    whole = sx.Completion(table.rows, table.cols, table.values, table.shape)
    objective = shard_rows(whole, client, [0, 15_000, 30_000])
    place, (m, n) = objective.place, objective.shape
    rng = np.random.default_rng(0)
    U, V = place.from_host(rng.standard_normal((m, rank)), slice(0, m)), rng.standard_normal((n, rank))
    objective.evaluate(objective.measure(U, np.ones(rank), V))  # everything is compiled and in place
    overhead = _best(lambda: place.largest(U), 20)
    data = rng.standard_normal(2_000_000)
    bandwidth = data.nbytes / max(_best(lambda: client.scatter([data], broadcast=True, hash=False), 5) - overhead, 1e-3)

    def evaluated() -> None:
        _, slope = objective.evaluate(objective.measure(U, np.ones(rank), V))
        objective.gradient(slope).rmatmat(U)

    spent = _best(evaluated, 5) - 2 * overhead
    return overhead, bandwidth, spent * 2 / (2.0 * rank * len(table))


def _best(action: Any, times: int) -> float:
    """The median: one that was interrupted does not count."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))
