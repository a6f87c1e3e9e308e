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

from ..arrays import Array, dagger, inner
from ..linesearch import NotFinite
from ..problem import Point, Problem, Step


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

    Uses the objective's smoothness where it is known, else finds a step constant by backtracking.
    """

    accelerated: bool = False
    Memory: ClassVar[type] = PGMemory
    dense: ClassVar[bool] = True  # whole decompositions: BLAS may use all cores

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
        new, beta = self._descend(problem, point, here, memory, push)
        if push > 0.0 and new.value > point.value:  # the momentum overshot: start it again from here
            momentum, push = 1.0, 0.0
            new, beta = self._descend(problem, point, here, memory, 0.0)
        products = min(problem.domain.shape)
        return new, PGMemory(momentum, beta, *here), Step("project", 1.0 / beta, products, np.nan)

    def _descend(
        self, problem: Problem, point: Point, here: tuple[Array, Array, Array], memory: PGMemory, push: float
    ) -> tuple[Point, float]:
        objective, domain = problem.objective, problem.domain
        lifted = problem.lifted
        Y, image, slope = _dense(*here), lifted.seen(point.image), point.slope
        value = point.value - lifted.charge(point.image)
        if push > 0.0:
            before = (memory.U, memory.s, memory.V)
            Y = (1.0 + push) * Y - push * _dense(*before)
            image = objective.combine(1.0 + push, image, -push, objective.measure(*before))
            value, slope = objective.evaluate(image)
            if not np.isfinite(value):
                raise NotFinite(f"the objective is {value}")
        G = objective.gradient(slope).dense()
        if domain.hermitian:
            G = 0.5 * (G + dagger(G))
        beta, known = memory.beta, _smoothness(problem) is not None
        while True:
            factors = domain.prox(Y - G / beta, 1.0 / beta)
            new = problem.point(domain.raised(factors))
            if known:
                return new, beta
            D = factors.dense() - Y
            reached = new.value - lifted.charge(new.image)
            if reached <= value + inner(G, D) + 0.5 * beta * inner(D, D) + 1e-12 * abs(value) or beta > 1e300:
                return new, beta
            beta *= 2.0


def _dense(U: Array, s: Array, V: Array) -> Array:
    return np.asarray((U * s) @ dagger(V))


def _smoothness(problem: Problem) -> float | None:
    """β in the user's own space, among Hermitian matrices where the domain is one of those."""
    own = getattr(problem.objective, "smoothness", None)
    if problem.domain.hermitian:
        own = getattr(problem.objective, "hermitian_smoothness", None) or own
    return own if own else None
