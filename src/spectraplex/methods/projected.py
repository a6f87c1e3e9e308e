"""Projected gradient and its accelerated form (rows 1 and 2 of the paper's table): one dense decomposition per step.

    X ← P(Y − ∇f(Y)/β),   Y = X (plain)   or   Y = X + (s_old − 1)/s · (X − X_old)  (Nesterov, Beck & Teboulle),

P the Euclidean projection on the user's own set (with a penalty in place of a set: singular values less λ/β).
Momentum is dropped when the value would rise, so both are monotone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import EPS, Array, dagger, inner
from ..factors import Factors
from ..linesearch import NotFinite
from ..operators import LowRank, Operator, Sum
from ..problem import Point, Problem, Step
from .partial import project_leading

_DENSE = 16_000_000  # entries of a matrix that may be decomposed whole
_TINY = 250_000  # the same for an objective that is sparse
_SMALL = 1000  # up to this dimension a whole decomposition is the quicker one


@dataclass(frozen=True, eq=False)
class PGMemory:
    """Momentum, step constant and the factors of the point before; a momentum of one means "none yet"."""

    momentum: float
    beta: float
    U: Array
    s: Array
    V: Array


@dataclass(frozen=True)
class ProjectedGradient:
    """The dense reference: needs no eigenvector accuracy, costs O(d³) per step.

    Uses the objective's smoothness where it is known, else finds a step constant by backtracking. With ``partial``
    only the leading eigenvectors are computed while they are few, and nothing dense is formed (partial.py).
    """

    accelerated: bool = False
    partial: bool = False
    Memory: ClassVar[type] = PGMemory
    dense: ClassVar[bool] = True  # whole decompositions: BLAS may use all cores
    zigzags: ClassVar[bool] = False

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, Any, Step]:
        known = _smoothness(problem)
        memory = PGMemory(1.0, 1.0 if known is None else known, *problem.domain.lower(point.atoms).triple())
        return point, memory, Step("start", 0.0, 0.0, np.nan)

    def step(
        self, problem: Problem, point: Point, memory: PGMemory, rng: np.random.Generator
    ) -> tuple[Point, Any, Step]:
        here = problem.domain.lower(point.atoms).triple()
        momentum = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * memory.momentum**2)) if self.accelerated else 1.0
        push = (memory.momentum - 1.0) / momentum
        try:
            new, beta, products = self._descend(problem, point, here, memory, push, rng)
            overshot = push > 0.0 and new.value > point.value
        except NotFinite:  # the momentum left the set, and f need not be defined there
            if push == 0.0:
                raise
            overshot, products = True, 0.0
        if overshot:  # start the momentum again from here
            momentum, push = 1.0, 0.0
            new, beta, again = self._descend(problem, point, here, memory, 0.0, rng)
            products += again
        moved = point.value - new.value > 4 * EPS * abs(new.value)
        return new, PGMemory(momentum, beta, *here), Step("project", 1.0 / beta if moved else 0.0, products, np.nan)

    def _descend(
        self,
        problem: Problem,
        point: Point,
        here: tuple[Array, Array, Array],
        memory: PGMemory,
        push: float,
        rng: np.random.Generator,
    ) -> tuple[Point, float, float]:
        objective, domain = problem.objective, problem.domain
        lifted = problem.lifted
        image, value, slope = lifted.seen(point.image), point.value - lifted.charge(point.image), point.slope
        base: list[tuple[float, Operator]] = [(1.0 + push, LowRank(*here, hermitian=domain.hermitian))]
        if push > 0.0:
            before = (memory.U, memory.s, memory.V)
            base.append((-push, LowRank(*before, hermitian=domain.hermitian)))
            image = objective.combine(1.0 + push, image, -push, objective.measure(*before))
            value, slope = objective.evaluate(image)
            if not np.isfinite(value):
                raise NotFinite(f"the objective is {value}")
        G = objective.gradient(slope)
        beta, known, products = memory.beta, _smoothness(problem) is not None, 0.0
        while True:
            accuracy = 1e-9 if memory.momentum == 1.0 else 1e-12  # a first step need not be the last
            terms = [*base, (-1.0 / beta, G)]
            factors, cost = self._project(objective, domain, terms, here, 1.0 / beta, accuracy, rng)
            products += cost
            try:
                new = problem.point(domain.raised(factors))
            except NotFinite:
                if known or beta > 1e300:
                    raise
                beta *= 2.0  # too long a step, for all that is known
                continue
            if known:
                return new, beta, products
            D, slant = factors.dense() - _dense(base), G.dense()
            reached = new.value - lifted.charge(new.image)
            if reached <= value + inner(slant, D) + 0.5 * beta * inner(D, D) + 1e-12 * abs(value) or beta > 1e300:
                return new, beta, products
            beta *= 2.0

    def _project(
        self,
        objective: Any,
        domain: Any,
        terms: list[tuple[float, Operator]],
        here: tuple[Array, Array, Array],
        step: float,
        accuracy: float,
        rng: np.random.Generator,
    ) -> tuple[Factors, float]:
        m, n = domain.shape
        # with a sparse objective nothing large and dense is formed
        affordable, products = m * n <= (_DENSE if getattr(objective, "dense", True) else _TINY), 0.0
        if self.partial and not (affordable and min(m, n) <= _SMALL):
            operator = Sum([factor for factor, _ in terms], [term for _, term in terms])
            # else as many vectors, with what a search for them holds, as take no more room than the matrix would
            most = min(m, n) // 10 if affordable else min(min(m, n) // 2, max(64, m * n // (16 * (m + n))))
            start = here[0] if domain.hermitian else np.concatenate([here[0], here[2]], axis=0)
            found, products = project_leading(domain, operator, start, step, most, accuracy, rng)
            if found is not None:
                return found, products
            if not affordable:
                raise TooLarge(products)
        matrix = _dense(terms)
        if domain.hermitian:
            matrix = 0.5 * (matrix + dagger(matrix))
        return domain.prox(matrix, step), products + min(m, n)


class TooLarge(Exception):
    """The projection has a high rank, and the matrix is too large to be decomposed whole; says what was spent."""

    def __init__(self, products: float) -> None:
        super().__init__()
        self.products = products


def _dense(terms: list[tuple[float, Operator]]) -> Array:
    return np.asarray(sum(factor * term.dense() for factor, term in terms))


def _smoothness(problem: Problem) -> float | None:
    """β in the user's own space, among Hermitian matrices where the domain is one of those."""
    own = getattr(problem.objective, "smoothness", None)
    if problem.domain.hermitian:
        own = getattr(problem.objective, "hermitian_smoothness", None) or own
    return own if own else None
