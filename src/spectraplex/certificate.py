"""Gap, lower bound, and what kind of truth each is.

For convex f and any X in the domain, f* ≥ f(X) − ⟨∇f(X), X⟩ − λ_max(−∇f(X)) upstairs (trace one). With a *bound* on
λ_max in place of a Ritz value this is a true lower bound on the optimum; from a Ritz value it is not one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .arrays import EPS
from .bounds import upper_bound
from .problem import Point, Problem


@dataclass(frozen=True)
class Certificate:
    """lower_bound ≤ f* ≤ value, with probability at least 1 − failure (zero when proven)."""

    kind: str
    failure: float
    value: float
    lower_bound: float
    feasibility: float

    @property
    def gap(self) -> float:
        return max(self.value - self.lower_bound, 0.0)

    def __str__(self) -> str:
        if self.kind == "none":
            return f"Nothing was certified: the value is {self.value:.8g}, the optimum may lie anywhere below it."
        share = f" ({100 * self.gap / abs(self.value):.2g} % of it)" if self.value else ""
        truth = "proven" if self.kind == "proven" else f"probable, wrong with probability at most {self.failure:.1g}"
        return f"The value {self.value:.8g} is at most {self.gap:.3g}{share} above the optimum ({truth})."


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on f* from the slope at one point."""

    value: float
    kind: str
    failure: float
    products: float


def lower_bound(
    problem: Problem,
    point: Point,
    *,
    failure: float,
    rng: np.random.Generator,
    share: float = 0.1,
    max_products: float = 1000.0,
    wanted: float = math.nan,
) -> LowerBound:
    """f(X) − g(X) with a true bound on λ_max(−∇f), tight to ``share`` of the gap it shows, or to a gap ``wanted``."""
    descent = problem.descent(point)
    pairing = problem.lifted.pair(point.slope, point.image)

    def accuracy(ritz: float) -> float:
        gap = max(ritz + pairing, 0.0)
        return max(share * gap, 0.5 * (wanted - gap)) if math.isfinite(wanted) else share * gap

    bound = upper_bound(descent, failure=failure, accuracy=accuracy, relative=1e-13, rng=rng, max_products=max_products)
    rounding = 8 * EPS * (abs(point.value) + abs(pairing) + abs(bound.value))
    value = point.value - pairing - bound.value - rounding
    return LowerBound(value, bound.kind, bound.failure, bound.products)
