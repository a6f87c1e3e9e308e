"""Projected gradient and its accelerated form (rows 1 and 2 of the paper's table): one dense decomposition per step.

    X ← P(Y − ∇f(Y)/β),   Y = X (plain)   or   Y = X + (s_old − 1)/s · (X − X_old)  (Nesterov, Beck & Teboulle),

P the Euclidean projection on the user's own set (with a penalty in place of a set: singular values less λ/β).
Momentum is dropped when the value would rise, so both are monotone.

Where β is not known it is found by backtracking, and tried smaller at every step: near an edge of the set where f is
finite the curvature is huge, and away from it small. The momentum takes the change of β into account, which keeps the
accelerated rate (Scheinberg, Goldfarb & Bai, "Fast first-order methods for composite convex optimization with
backtracking", 2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from ..domains.protocol import Projecting
from ..losses.curves import NotFinite
from ..matrices.factors import Factors
from ..matrices.operators import Operator, Sum
from ..places.numpy import EPS, Array, dagger, inner
from ..places.protocol import Block, Place, on_device
from ..problem import Point, Problem, Step
from .partial import project_leading
from .step_constant import Triple, curvature, larger, low_rank

_DENSE = 16_000_000  # entries of a matrix that may be decomposed whole
_DEVICE = 100_000_000  # the same on a device
_TINY = 250_000  # the same for an objective that is sparse
_SHRINK = 0.8  # share of the last β that is tried first where β is not known
_HUGE = 1e300  # a β beyond which no step is short enough
_SMALL = 1000  # up to this dimension a whole decomposition is the quicker one


@dataclass(frozen=True, eq=False)
class PGMemory:
    """Momentum, step constant and the factors of the point before; a momentum of one means "none yet"."""

    momentum: float
    beta: float
    U: Block
    s: Array
    V: Block

    def __post_init__(self) -> None:
        if not (self.beta > 0.0 and self.momentum >= 1.0):
            raise ValueError(f"a step constant of {self.beta!r} and a momentum of {self.momentum!r} are none")


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

    def require(self, problem: Problem) -> None:
        """Refuse a domain that does not say what a projection is."""
        if not isinstance(problem.domain, Projecting):
            raise ValueError(
                "ProjectedGradient needs a domain with shrink and prox, which "
                f"{type(problem.domain).__name__} has not; use 'cg', 'pairwise' or 'ror-adaptive'."
            )

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, PGMemory, Step]:
        known = _smoothness(problem)
        memory = PGMemory(1.0, 1.0 if known is None else known, *problem.domain.lower(point.atoms).triple())
        return point, memory, Step("start", 0.0, 0.0, np.nan)

    def step(
        self, problem: Problem, point: Point, memory: PGMemory, rng: np.random.Generator
    ) -> tuple[Point, PGMemory, Step]:
        here = problem.domain.lower(point.atoms).triple()
        try:
            found = self._descend(problem, point, here, memory, self.accelerated, rng)
            products, overshot = found.products, found.push > 0.0 and found.point.value > point.value
        except NotFinite:  # the momentum left the set, and f need not be defined there
            if not self.accelerated or memory.momentum == 1.0:
                raise
            products, overshot = 0.0, True
        if overshot:  # start the momentum again from here
            found = self._descend(problem, point, here, replace(memory, momentum=1.0), False, rng)
            products += found.products
        new, beta = found.point, found.beta
        moved = point.value - new.value > 4 * EPS * abs(new.value)
        memory = PGMemory(found.momentum, beta, *here)
        return new, memory, Step("project", 1.0 / beta if moved else 0.0, products, np.nan)

    def _descend(
        self,
        problem: Problem,
        point: Point,
        here: Triple,
        memory: PGMemory,
        fast: bool,
        rng: np.random.Generator,
    ) -> Descended:
        """The projected step; where β is not known, the first one of β, 2β, 4β, … whose model lies above f."""
        objective, domain, lifted = problem.objective, problem.domain, problem.lifted
        known, products, before = _smoothness(problem) is not None, 0.0, _before(problem, memory)
        carried = fast and memory.momentum > 1.0  # there is momentum to carry on with
        behind = objective.measure(*before) if carried or not known else None
        met = None if known else curvature(problem, point, here, before, behind, memory.beta)
        beta = memory.beta if met is None or met > _SHRINK * memory.beta else _SHRINK * memory.beta
        beta = beta if known else max(beta, _least(problem, point.slope))
        best: Descended | None = None
        while True:
            momentum = _momentum(memory, beta) if fast else 1.0
            push = (memory.momentum - 1.0) / momentum if carried else 0.0
            image, value, slope = lifted.seen(point.image), point.value - lifted.charge(point.image), point.slope
            base: list[tuple[float, Operator]] = [(1.0 + push, low_rank(problem, here))]
            if carried:
                base.append((-push, low_rank(problem, before)))
                image = objective.combine(1.0 + push, image, -push, behind)
                value, slope = objective.evaluate(image)
                if not np.isfinite(value):
                    raise NotFinite(f"the objective is {value}")
            G = objective.gradient(slope)
            accuracy = 1e-9 if memory.momentum == 1.0 else 1e-12  # a first step need not be the last
            factors, cost = self._project(
                problem, cast(Projecting, domain), [*base, (-1.0 / beta, G)], here, 1.0 / beta, accuracy, rng
            )
            products += cost
            try:
                new = problem.point(domain.raised(factors))
            except NotFinite:
                if known or beta > _HUGE:
                    raise
                if best is not None:
                    return replace(best, products=products)
                beta = larger(beta, memory.beta)  # too long a step, for all that is known
                continue
            if known:
                return Descended(new, beta, momentum, push, products)
            D, slant = factors.dense() - _dense(base), G.dense()
            excess = new.value - lifted.charge(new.image) - value - inner(slant, D)
            bend, blur = 0.5 * inner(D, D), 1e-12 * abs(value)
            if not (excess <= beta * bend + blur or beta > _HUGE):
                if best is not None:
                    return replace(best, products=products)
                beta = larger(beta, memory.beta)
                continue
            if best is not None and new.value > best.point.value:
                return replace(best, products=products)
            if best is None and met is None and beta * bend > 100 * blur:
                turn = inner(objective.gradient(new.slope).dense() - slant, D) / (2.0 * bend)
                if turn < 0.25 * beta:  # the very first β was a guess, and far too large: try one like what was met
                    best = Descended(new, beta, momentum, push, products)
                    beta = max(1.5 * turn, 2.0**-100 * beta, _least(problem, slope))
                    continue
            if beta * bend <= 100 * blur:  # nothing but rounding was compared: it says nothing against the old β
                beta = max(beta, memory.beta) if met is not None else beta
            return Descended(new, beta, momentum, push, products)

    def _project(
        self,
        problem: Problem,
        domain: Projecting,
        terms: list[tuple[float, Operator]],
        here: Triple,
        step: float,
        accuracy: float,
        rng: np.random.Generator,
    ) -> tuple[Factors, float]:
        (m, n), place = domain.shape, problem.place
        # with a sparse objective nothing large and dense is formed
        near = on_device(place)  # where large decompositions are quick
        most_entries = _TINY if problem.facts.dense is False else _DEVICE if near else _DENSE
        affordable, products = m * n <= most_entries, 0.0
        if self.partial and not (affordable and min(m, n) <= _SMALL):
            operator = Sum([factor for factor, _ in terms], [term for _, term in terms], place)
            # else as many vectors, with what a search for them holds, as take no more room than the matrix would
            most = min(m, n) // 10 if affordable else min(min(m, n) // 2, max(64, m * n // (16 * (m + n))))
            start = here[0] if domain.hermitian else place.stack(here[0], here[2])
            found, products = project_leading(domain, operator, start, step, most, accuracy, rng, place)
            if found is not None:
                return found, products
            if not affordable:
                raise TooLarge(products)
        matrix = _there(terms, place, n) if near else _dense(terms)
        if domain.hermitian:
            matrix = 0.5 * (matrix + dagger(matrix))
        return domain.prox(matrix, step).at(place), products + min(m, n)


@dataclass(frozen=True, eq=False)
class Descended:
    """Where a step came to, with which β and which momentum, and what it took."""

    point: Point
    beta: float
    momentum: float
    push: float
    products: float


def _momentum(memory: PGMemory, beta: float) -> float:
    """s with s(s − 1)/β = s_old²/β_old, which keeps the rate f − f* = O(β/t²) when β changes both ways."""
    ratio = beta / memory.beta if memory.momentum > 1.0 else 1.0
    return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * ratio * memory.momentum**2))


def _least(problem: Problem, slope: Any) -> float:
    """The smallest β that divides a slope without leaving the range of floating point."""
    images = problem.facts.images
    return max(1e-290, 1e-290 * images.norm(slope)) if images.plain(slope) else 1e-290


def _before(problem: Problem, memory: PGMemory) -> Triple:
    """The point before; of a Hermitian one both sides are one block, also in a run that was saved."""
    return memory.U, memory.s, memory.U if problem.domain.hermitian else memory.V


class TooLarge(Exception):
    """The projection has a high rank, and the matrix is too large to be decomposed whole; says what was spent."""

    def __init__(self, products: float) -> None:
        super().__init__()
        self.products = products


def _there(terms: list[tuple[float, Operator]], place: Place, n: int) -> Any:
    """The matrix at a place: its product with the identity."""
    operator = Sum([factor for factor, _ in terms], [term for _, term in terms], place)
    return operator.matmat(place.from_host(np.eye(n)))


def _dense(terms: list[tuple[float, Operator]]) -> Array:
    return np.asarray(sum(factor * term.dense() for factor, term in terms))


def _smoothness(problem: Problem) -> float | None:
    """β in the user's own space, among Hermitian matrices where the domain is one of those."""
    return problem.facts.smoothness_among(problem.domain.hermitian) or None
