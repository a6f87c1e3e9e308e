"""A step constant β for projected gradient where the objective does not know one: what the last step met, and more."""

from __future__ import annotations

from typing import Any

from ..matrices.operators import LowRank
from ..places.numpy import Array, inner
from ..places.protocol import Block
from ..problem import Point, Problem

Triple = tuple[Block, Array, Block]  # (U, s, V) of U diag(s) Vᴴ


def low_rank(problem: Problem, factors: Triple) -> LowRank:
    U, s, V = factors
    return LowRank(U, s, V, hermitian=problem.domain.hermitian, place=problem.place)


def curvature(problem: Problem, point: Point, here: Triple, before: Triple, behind: Any, beta: float) -> float | None:
    """The curvature that the last step met: ⟨∇f(X) − ∇f(X_old), X − X_old⟩/‖X − X_old‖²; None where there was none."""
    objective = problem.objective
    D = low_rank(problem, here).dense() - low_rank(problem, before).dense()
    square = inner(D, D)
    # differences of slopes that are all rounding say nothing
    images = problem.facts.images
    blur = 1e-12 * images.norm(point.slope) / beta if images.plain(point.slope) else 0.0
    if square <= blur * blur:
        return None
    step = objective.combine(1.0, problem.lifted.seen(point.image), -1.0, behind)
    slope = objective.evaluate(behind)[1]
    return float(objective.pair(point.slope, step) - objective.pair(slope, step)) / square


def larger(beta: float, before: float) -> float:
    """The next β to try after one that was too small: first of all the one of the step before."""
    return before if beta < before else 2.0 * beta
