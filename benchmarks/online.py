"""Online arrivals a second on a 943 × 1,682 table, memory over 100,000, stochastic steps at equal passes."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np

import spectraplex as sx

SHAPE, PER = (943, 1682), 100


def stream(count: int, cells: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """Arrivals of 100 observations, drawn from so many cells of a table of rank 5 with noise."""
    rng, (m, n) = np.random.default_rng(seed), SHAPE
    U, V = rng.standard_normal((m, 5)), rng.standard_normal((n, 5)) / np.sqrt(5)
    known = np.sort(rng.choice(m * n, cells, replace=False))
    for _ in range(count):
        rows, cols = np.divmod(known[np.sort(rng.choice(cells, PER, replace=False))], n)
        yield sx.Entries(rows, cols, SHAPE), np.einsum("ek,ek->e", U[rows], V[cols]) + 0.1 * rng.standard_normal(PER)


def arrivals(cells: int, warm: int, count: int) -> str:
    """Seconds of the updates alone, after some arrivals whose cells fill the sum of gradients."""
    learner = sx.online.OnlineConditionalGradient(sx.NuclearBall(SHAPE, 3000.0))
    met = list(stream(warm + count, cells))
    for arrival in met[:warm]:
        learner.update(*arrival)
    wall, work = time.perf_counter(), time.process_time()
    for arrival in met[warm:]:
        learner.update(*arrival)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    verdict = f"limit 300: {'met' if count / wall >= 300 else 'MISSED'}"
    return (
        f"{cells:,} different cells, {count} arrivals after {warm}: {count / wall:.0f} a second ({verdict}), "
        f"{count / work:.0f} a second of the processor"
    )


def memory(count: int = 100_000) -> str:
    """A small table, so that it takes minutes: what is held after a tenth of the arrivals and after all."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30))
    learner = sx.online.OnlineConditionalGradient(sx.NuclearBall((40, 30), 60.0), max_atoms=24)
    held, began = [], time.perf_counter()
    tracemalloc.start()
    for t in range(1, count + 1):
        cells = np.sort(rng.choice(1200, 20, replace=False))
        rows, cols = np.divmod(cells, 30)
        learner.update(sx.Entries(rows, cols, (40, 30)), A[rows, cols])
        if t % (count // 10) == 0:
            held.append(tracemalloc.get_traced_memory()[0] / 1e6)
    tracemalloc.stop()
    return (
        f"{count:,} arrivals on a 40 × 30 table: {held[0]:.2f} MB held after a tenth of them, {held[-1]:.2f} MB after "
        f"all, {time.perf_counter() - began:.0f} s"
    )


def problems() -> Iterator[tuple[str, sx.Problem]]:
    """A table of entries, and samples of features."""
    rng = np.random.default_rng(1)
    (entries, values), *_ = _as_one(stream(1000, 100_000))
    yield "entries, 943 × 1,682", sx.Problem(sx.Fit(entries, values), sx.NuclearBall(SHAPE, 1500.0))
    data, W = rng.standard_normal((20_000, 100)), rng.standard_normal((100, 10)) / 3.0
    labels = np.argmax(data @ W + rng.gumbel(size=(20_000, 10)), axis=1)
    fit = sx.Fit(sx.Features(data, 10), labels, "softmax")
    yield "features, 20,000 × 100, 10 classes", sx.Problem(fit, sx.NuclearBall((100, 10), 15.0))


def _as_one(arrivals: Iterator[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """All different cells of a stream as one table, each with what came last."""
    last: dict[tuple[int, int], float] = {}
    for entries, values in arrivals:
        last |= zip(
            zip(entries.pattern.rows.tolist(), entries.pattern.indices.tolist(), strict=True), values, strict=True
        )
    rows, cols = np.array(list(last)).T
    return [(sx.Entries(rows, cols, SHAPE), np.array(list(last.values())))]


METHODS: dict[str, Any] = {
    "stochastic": sx.Stochastic(),
    "stochastic, not reduced": sx.Stochastic(reduced=False),
    "cg": sx.ConditionalGradient(),
    "cg, open loop": sx.ConditionalGradient("open-loop"),
    "hybrid": sx.Hybrid(),
}


class _Passes:
    """Counts numbers that losses are evaluated at: those of a pass over all observations are one."""

    def __init__(self, problem: sx.Problem, most: float) -> None:
        self.size, self.most, self.seen, self.best = int(problem.objective.targets.size), most, 0.0, np.inf
        self.kind = type(problem.objective.loss)
        self.plain = self.kind.evaluate

    def __enter__(self) -> _Passes:
        counted = self

        def evaluate(loss: Any, z: Any, *rest: Any) -> Any:
            counted.seen += z.size / counted.size
            return counted.plain(loss, z, *rest)

        self.kind.evaluate = evaluate
        return self

    def __exit__(self, *problem: object) -> None:
        self.kind.evaluate = self.plain

    def __call__(self, record: sx.Record, point: sx.Point) -> bool:
        self.best = min(self.best, record.value)
        return self.seen < self.most


def passes(most: float = 40.0) -> Iterator[str]:
    """The best value after as many evaluations of the loss as this many passes make."""
    for name, problem in problems():
        known = sx.solve(problem, stop=sx.Stop(relative_gap=1e-5, max_seconds=60.0)).lower_bound
        yield f"{name}: f − lower bound, as a share of it, after {most:g} passes over the observations"
        for label, method in METHODS.items():
            work = time.process_time()
            with _Passes(problem, most) as counted:
                result = sx.solve(problem, method, sx.Stop(max_steps=1000), [counted], certify=False)
            share = (counted.best - known) / known
            yield (
                f"   {label:<24} {share:9.2e}   {counted.seen:4.0f} passes, {result.products:6.0f} products, "
                f"{time.process_time() - work:5.1f} s of a processor"
            )


def run(count: float = 100_000) -> Iterator[str]:
    yield arrivals(100_000, 1500, 500)
    yield arrivals(SHAPE[0] * SHAPE[1], 1500, 500)
    yield from passes()
    yield memory(int(count))
