"""What the report on table1 is made from: medians over seeds, fitted exponents, and who is cheapest where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..document import Document, Run
from .run import BASE, EPSILONS, METHODS

LABELS = {
    "pgd": "projected gradient",
    "apgd": "accelerated gradient",
    "cg": "CG, line search",
    "ror": "ROR-CG, as printed",
    "ror-adaptive": "ROR-CG, adaptive",
}
#: The lines along which d grows: family and its α/β.
LINES = {"distance": 1.0, "sparse": 1.0, "entries": 0.1}
TITLES = {
    "distance": "Distance, dense A (α = β)",
    "sparse": "Distance, sparse A (α = β)",
    "entries": "weighted entries (α/β = 0.1)",
}
DECADES = EPSILONS[::5]
Settings = dict[str, Any]


def common(document: Document) -> Settings:
    """Rank and λ_min of the lines; the miniature has its own."""
    return {"rank": 2, "smallest": 0.25} if document.quick else dict(BASE)


def middle_d(document: Document) -> int:
    """The dimension at which conditioning, rank and λ_min are varied."""
    return 40 if document.quick else 300


def line(document: Document, family: str) -> Settings:
    return {"family": family, "ratio": LINES[family], **common(document)}


def dimensions(document: Document) -> list[int]:
    """Those of the lines; a single long run of conditional gradient has one of its own."""
    return sorted(document.distinct("d", method="pgd", **line(document, "entries")))


# ------------------------------------------------------------------------------------------------------------ medians


def hit(run: Run, column: str, epsilon: float) -> float:
    """What a run had spent when it first had h ≤ ε·β; infinite if it never did."""
    found = run.outcome["hits"][column][EPSILONS.index(epsilon)]
    return math.inf if found is None else float(found)


def middle(runs: Sequence[Run], column: str, epsilon: float) -> float:
    """The median over seeds; infinite when half of the runs never got there, NaN when there are none."""
    # of an even number the upper one: a mean with infinity says nothing
    found = sorted(hit(run, column, epsilon) for run in runs)
    return found[len(found) // 2] if found else math.nan


def per_step(runs: Sequence[Run], column: str) -> float:
    """What one step took, the median over seeds."""
    return float(np.median([run.outcome[column] / run.outcome["steps"] for run in runs])) if runs else math.nan


# --------------------------------------------------------------------------------------------------------------- fits


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent p of y ∝ xᵖ by least squares on logarithms; NaN with fewer than two points."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a > 0 and b > 0 and math.isfinite(a) and math.isfinite(b)]
    if len({a for a, _ in pairs}) < 2:
        return math.nan
    logs = np.log(np.array(pairs))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def in_epsilon(run: Run, low: float | None = None, high: float | None = None) -> float:
    """q of steps ∝ (1/ε)^q, from h ∝ t^(−1/q) over the last decade of steps, or from ``low`` to ``high``.

    NaN for runs of fewer than five steps. A method of linear rate has q near zero.
    """
    steps, error = np.array(run.outcome["curve"]["step"], float), np.array(run.outcome["curve"]["error"], float)
    last = steps[-1] if high is None else high
    kept = (steps >= max(last / 10 if low is None else low, 1.0)) & (steps <= last) & (error > 0)
    if kept.sum() < 4 or last < 5:
        return math.nan
    fall = slope(steps[kept].tolist(), error[kept].tolist())
    return -1.0 / fall if fall < 0 else math.inf


def middle_in_epsilon(runs: Sequence[Run]) -> float:
    found = [q for q in map(in_epsilon, runs) if not math.isnan(q)]
    return float(np.median(found)) if found else math.nan


def per_decade(runs: Sequence[Run]) -> float:
    """Steps for one more digit: the slope of steps against log₁₀(1/ε) over its last three decades (median)."""
    found = []
    for run in runs:
        pairs = [(-math.log10(e), hit(run, "step", e)) for e in EPSILONS if math.isfinite(hit(run, "step", e))][-16:]
        if len(pairs) >= 4:
            digits, steps = np.array(pairs).T
            found.append(float(np.polyfit(digits, steps, 1)[0]))
    return float(np.median(found)) if found else math.nan


@dataclass(frozen=True)
class Fit:
    """steps(ε) ∝ xᵖ for the smallest ε that every setting of x reached."""

    exponent: float
    epsilon: float
    x: tuple[float, ...]
    steps: tuple[float, ...]


def fit(document: Document, x: Sequence[float], places: Sequence[Settings], method: str) -> Fit | None:
    """How the steps of a method depend on x, one setting for each; None when they reach no ε in common."""
    groups = [document.find(method=method, **place) for place in places]
    if len(groups) < 2 or not all(groups):
        return None
    for epsilon in reversed(EPSILONS):
        steps = [middle(group, "step", epsilon) for group in groups]
        if all(map(math.isfinite, steps)):
            return Fit(slope(x, steps), epsilon, tuple(x), tuple(steps))
    return None


def fit_conditioning(document: Document, method: str) -> Fit | None:
    """Against β/α, on weighted entries; α = β is left out: there projected gradient needs one step, whatever ε."""
    here = {"family": "entries", "d": middle_d(document), **common(document)}
    ratios = document.distinct("ratio", **here)
    return fit(document, [1 / ratio for ratio in ratios], [here | {"ratio": ratio} for ratio in ratios], method)


def fit_smallest(document: Document, family: str, method: str) -> Fit | None:
    """Against 1/λ_min(X*), at a fixed rank."""
    here = {name: value for name, value in line(document, family).items() if name != "smallest"}
    here["d"] = middle_d(document)
    smallest = document.distinct("smallest", **here)
    return fit(document, [1 / each for each in smallest], [here | {"smallest": each} for each in smallest], method)


def fit_rank(document: Document, family: str, method: str) -> Fit | None:
    """Against the rank, from 3 on, with λ_min = 1/(2·rank)."""
    here = {"family": family, "ratio": LINES[family], "d": middle_d(document)}
    ranks = [rank for rank in document.distinct("rank", **here) if rank >= 3]
    return fit(document, ranks, [here | {"rank": rank, "smallest": 1 / (2 * rank)} for rank in ranks], method)


def fit_dimension(document: Document, family: str, method: str) -> Fit | None:
    """Steps against d. Up to d = 200 the eigenvectors of Algorithm 2 are exact here, so its fit begins above."""
    sizes = [d for d in dimensions(document) if method != "ror" or d > 200 or document.quick]
    return fit(document, sizes, [line(document, family) | {"d": d} for d in sizes], method)


def cost_exponent(document: Document, family: str, method: str, column: str) -> float:
    """p of (one step) ∝ dᵖ, over the three largest dimensions: below, the interpreter is what is timed."""
    sizes = dimensions(document)[-3:]
    runs = [document.find(method=method, d=d, **line(document, family)) for d in sizes]
    return slope(sizes, [per_step(each, column) for each in runs])


# ---------------------------------------------------------------------------------------------------------------- map


@dataclass(frozen=True)
class Cheapest:
    """Who got to an ε for the least; ``unsure`` lists those that were stopped before they had spent as much."""

    method: str
    spent: float
    unsure: tuple[str, ...]


def cheapest(document: Document, family: str, d: int, epsilon: float, column: str) -> Cheapest | None:
    """Who is cheapest in "seconds" or "flops"; None when nobody got there."""
    groups = {method: document.find(method=method, d=d, **line(document, family)) for method in METHODS}
    spent = {method: middle(runs, column, epsilon) for method, runs in groups.items() if runs}
    if middle(groups["pgd"], "decompositions", epsilon) == middle(groups["apgd"], "decompositions", epsilon):
        del spent["apgd"]  # before momentum sets in they are one method: no coin is tossed between them
    best = min(spent, key=lambda method: spent[method], default=None)
    if best is None or not math.isfinite(spent[best]):
        return None
    total = {method: float(np.median([run.outcome[column] for run in groups[method]])) for method in spent}
    unsure = [method for method in spent if not math.isfinite(spent[method]) and total[method] < spent[best]]
    return Cheapest(best, spent[best], tuple(unsure))


def chart(document: Document, family: str, column: str) -> dict[tuple[int, float], Cheapest | None]:
    """The map of a line: (d, ε) → the cheapest."""
    return {
        (d, epsilon): cheapest(document, family, d, epsilon, column)
        for d in dimensions(document)
        for epsilon in DECADES
    }
