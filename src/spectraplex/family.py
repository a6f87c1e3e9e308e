"""One objective at many sizes: balls of many radii, or a penalty with many λ; and what one solution says about all.

A solution at one radius knows much about the others. Its image z, scaled by s = θ/θₖ, is feasible at θ. Its slope y,
with a bound σ̄ ≥ σ₁(𝒜*y), proves f*(θ) ≥ −ℓ*(c·y) − cθσ̄ at every θ, for every c ≥ 0: a straight line in θ. Between two
solutions, (1 − t)z_a + t·z_b is feasible at (1 − t)θ_a + tθ_b, and (1 − t)y_a + t·y_b is a slope whose σ₁ is at most
(1 − t)σ̄_a + tσ̄_b: no product is spent on either. With a penalty the same holds with λ in place of θ, and
p*(λ) ≥ max −ℓ*(c·y) over cσ̄ ≤ λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from .arrays import EPS
from .certificate import Candidate, believed, dual_value, lower_bound
from .domains import NuclearBall, TraceBall, size_of
from .factors import Factors, Rectangular, Symmetric
from .objectives.distance import Factored
from .penalized import Penalized, infimum, norm_bound, zero_image
from .penalty import NuclearPenalty, TracePenalty
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Family:
    """The problems that differ in one number alone: the radius (or trace) of a ball, or λ."""

    objective: Any
    psd: bool
    penalized: bool
    bound: float  # of the nuclear norm at every λ in question; balls need none

    @classmethod
    def of(cls, problem: Problem, smallest: float) -> Family:
        """The family of a problem; ``smallest`` is the least λ in question."""
        penalized = isinstance(problem, Penalized)
        bound = 0.0
        if isinstance(problem, Penalized):
            known = norm_bound(problem.objective, smallest, problem.psd)
            if known is None and smallest < problem.lam:
                raise ValueError(
                    f"path: λ {smallest:g} is less than the problem's {problem.lam:g}, for which its bound was given; "
                    "pass a Penalized problem with the smallest λ and a bound for that."
                )
            bound = size_of(problem.domain) if known is None else known
        return cls(problem.objective, problem.domain.hermitian, penalized, bound)

    @property
    def name(self) -> str:
        return "λ" if self.penalized else "radius"

    def at(self, size: float, bound: float | None = None) -> Problem:
        """The problem of one size; ``bound`` is a tighter one on the nuclear norm, for the methods."""
        if self.penalized:
            return Penalized(self.objective, size, psd=self.psd, bound=self.bound if bound is None else bound)
        return Problem(self.objective, self._domain(size))

    def lifted(self, size: float) -> Any:
        """What a lower bound at that size has to know, without the checks that a problem makes at the door."""
        return SimpleNamespace(objective=self.objective, lifted=self._domain(size).lift(self.objective))

    def _domain(self, size: float) -> Any:
        shape = self.objective.shape
        if self.penalized:
            return TracePenalty(shape[0], size, self.bound) if self.psd else NuclearPenalty(shape, size, self.bound)
        return TraceBall(shape[0], size) if self.psd else NuclearBall(shape, size)

    @cached_property
    def least(self) -> float | None:
        """inf ℓ, where the loss has a conjugate that says so."""
        return infimum(self.objective)

    @cached_property
    def zero(self) -> float:
        """ℓ(0)."""
        return float(self.objective.evaluate(zero_image(self.objective))[0])

    def scaled(self, X: Factors, factor: float) -> Factors:
        if isinstance(X, Symmetric):
            return Symmetric(X.vectors, factor * X.weights)
        return Rectangular(X.U, factor * X.s, X.V)

    def blended(self, X: Factors, Y: Factors, t: float) -> Factors:
        """(1 − t)·X + t·Y."""
        if isinstance(X, Symmetric) and isinstance(Y, Symmetric):
            vectors = np.concatenate([X.vectors, Y.vectors], axis=1)
            return Symmetric(vectors, np.concatenate([(1 - t) * X.weights, t * Y.weights]))
        (U, s, V), (P, r, Q) = X.triple(), Y.triple()
        columns = (np.concatenate([U, P], axis=1), np.concatenate([V, Q], axis=1))
        return Rectangular(columns[0], np.concatenate([(1 - t) * s, t * r]), columns[1])


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with its image z, loss ℓ(z) and slope y, the certified σ̄ ≥ σ₁(𝒜*y), and its own nuclear norm."""

    family: Family
    size: float
    X: Factors
    image: Any
    loss: float
    slope: Any
    sigma: float
    kind: str
    failure: float
    products: float = 0.0
    own: bool = True  # the slope is that of the image, not one found beside it

    @property
    def norm(self) -> float:
        return float(self.X.triple()[1].sum())

    @property
    def value(self) -> float:
        return self.loss + (self.size * self.norm if self.family.penalized else 0.0)

    def bound(self, size: float) -> tuple[float, float]:
        """The lower bound that this slope proves at another size, and its derivative there (balls: of a true line)."""
        image = self.image if self.own else None
        return dual_bound(self.family, size, Candidate(self.loss, self.slope, image), self.sigma)


def dual_bound(family: Family, size: float, candidate: Candidate, sigma: float) -> tuple[float, float]:
    """−ℓ*(c·y) − cθσ̄ at its best c, and −cσ̄, its derivative in θ; with a penalty the derivative is not a line's."""
    problem = family.lifted(size)
    if candidate.image is not None:
        candidate = Candidate(candidate.value, candidate.slope, problem.lifted.whole(candidate.image))
    scale = family.bound if family.penalized else size
    value, c = dual_value(problem, candidate, (1 + 4 * EPS) * sigma * scale)
    return value, -c * sigma


def solved(
    family: Family,
    size: float,
    X: Factors,
    slope: Any = None,
    *,
    failure: float,
    rng: np.random.Generator,
    wanted: float,
    products: float,
) -> Solved:
    """Certify σ̄ for the slope of X itself, or for a given one, as tight as ``wanted`` (a gap) asks."""
    image = family.objective.measure(*X.triple())
    problem = family.at(size)
    candidate = Candidate.at(problem, image)
    value, loss = candidate.value + problem.lifted.price(X), candidate.value
    candidate = candidate if slope is None else Candidate(loss, slope, None)
    found = lower_bound(problem, [candidate], value, failure=failure, rng=rng, wanted=wanted, products=products)
    sigma = found.top / size_of(problem.domain)
    truth, spent = (found.kind, found.failure), found.products
    return Solved(family, size, X, image, loss, candidate.slope, sigma, *truth, spent, slope is None)


def remeasured(family: Family, size: float, X: Factors, sigma: float, kept: Any = None) -> Solved:
    """The same with its image measured again, bit for bit: points keep factors, numbers, and a slope not X's own."""
    image = family.objective.measure(*X.triple())
    loss, slope = family.objective.evaluate(image)
    slope = slope if kept is None else kept
    return Solved(family, size, X, image, float(loss), slope, sigma, "none", 1.0, own=kept is None)


class Between:
    """Two neighbouring solutions and everything they say about the sizes between them."""

    def __init__(self, a: Solved, b: Solved) -> None:
        self.a, self.b, self.family = a, b, a.family
        objective = self.family.objective
        self._left = objective.along(a.image, a.image)
        self._right = objective.along(b.image, b.image)
        self._blend = objective.along(a.image, objective.combine(1.0, b.image, -1.0, a.image))
        reach = max(b.size / a.size - 1.0, 0.0)
        problem = self.family.lifted(a.size)
        # a slope that belongs to no point proves nothing without a conjugate that can be believed
        point = Candidate(a.loss, objective.evaluate(a.image)[1], problem.lifted.whole(a.image))
        self._blends = believed(problem, point)
        self._reach = 1.0 + (float(self._left.minimize(reach)) if reach > 0 and not self.family.penalized else 0.0)

    def share(self, size: float) -> float:
        """t with size = (1 − t)·a + t·b."""
        return (size - self.a.size) / (self.b.size - self.a.size)

    def primal(self, size: float) -> tuple[float, float, float]:
        """Values of three feasible points: of a alone, of b alone (scaled, on a ball), of both blended.

        On a ball each is convex in the size: a chord lies above it.
        """
        a, b, t = self.a, self.b, self.share(size)
        if self.family.penalized:
            norms, losses = self.norms(size), (a.loss, b.loss, self._blend.value(t))
            first, second, third = (loss + size * norm for loss, norm in zip(losses, norms, strict=True))
            return first, second, third
        left = min(size / a.size, self._reach)
        return self._left.value(left - 1.0), self._right.value(size / b.size - 1.0), self._blend.value(t)

    def norms(self, size: float) -> tuple[float, float, float]:
        """Their nuclear norms, or numbers that are not less."""
        t = self.share(size)
        return self.a.norm, self.b.norm, (1 - t) * self.a.norm + t * self.b.norm

    def factors(self, size: float, which: int) -> Factors:
        """The point that ``primal`` gave a value of."""
        a, b, family = self.a, self.b, self.family
        if which == 2:
            return family.blended(a.X, b.X, self.share(size))
        if family.penalized:
            return (a if which == 0 else b).X
        return family.scaled(a.X, min(size / a.size, self._reach)) if which == 0 else family.scaled(b.X, size / b.size)

    def dual(self, size: float) -> list[tuple[float, float]]:
        """Lower bounds with their derivatives: from the slope of a, that of b, and the blend of both."""
        found = [self.a.bound(size), self.b.bound(size)]
        blend = self._blended_slope(self.share(size))
        if blend is not None:
            candidate, sigma = blend
            found.append(dual_bound(self.family, size, candidate, sigma))
        return found

    def _blended_slope(self, t: float) -> tuple[Candidate, float] | None:
        a, b = self.a, self.b
        # a penalty's best scale is λ/σ̄, a ball's about one: blend what will be used
        p, q = (a.size / a.sigma, b.size / b.sigma) if self.family.penalized and a.sigma * b.sigma > 0 else (1.0, 1.0)
        sigma = (1 - t) * p * a.sigma + t * q * b.sigma
        if not self._blends:
            return None
        if isinstance(a.slope, np.ndarray):
            return Candidate(0.0, (1 - t) * p * a.slope + t * q * b.slope, None), sigma
        if isinstance(a.slope, Factored) and p == q == 1.0:  # the slope z − A is kept as z
            return Candidate(0.0, self.family.objective.combine(1 - t, a.slope, t, b.slope), None), sigma
        return None
