"""One objective at many sizes: balls of many radii, or a penalty with many λ; and what one solution says about all.

A solution at one radius knows much about the others. Its image z, scaled by s = θ/θₖ, is feasible at θ. Its slope y,
with a bound σ̄ ≥ σ₁(𝒜*y), proves f*(θ) ≥ −ℓ*(c·y) − cθσ̄ at every θ, for every c ≥ 0: a straight line in θ. With a
penalty p*(λ) ≥ max −ℓ*(c·y) over cσ̄ ≤ λ. What two solutions say about the sizes between them is in between.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..certificates.dual import Candidate
from ..certificates.lower import LowerBound, claim, lower_bound
from ..domains.penalties import NuclearPenalty, TracePenalty
from ..domains.protocol import Domain
from ..domains.sets import NuclearBall, TraceBall
from ..losses.curves import NotFinite
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..objectives import Objective
from ..objectives.facts import ObjectiveFacts, facts_of
from ..penalized import Penalized, infimum, norm_bound, zero_image
from ..places.numpy import EPS
from ..problem import Problem


@dataclass(frozen=True, eq=False)
class Family:
    """The problems that differ in one number alone: the radius (or trace) of a ball, or λ."""

    objective: Objective
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
            bound = problem.domain.size if known is None else known
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
        lifted = self._domain(size).lift(self.objective)
        return SimpleNamespace(objective=self.objective, facts=self.facts, lifted=lifted)

    @cached_property
    def facts(self) -> ObjectiveFacts:
        return facts_of(self.objective)

    def _domain(self, size: float) -> Domain:
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

    def rounding(self, size: float) -> float:
        """What rounding is in the units of f: a share 1e-14 of its value at a rank-one of this radius; zero for a λ."""
        if self.penalized:
            return 0.0
        place = facts_of(self.objective).place
        m, n = self.objective.shape
        U = place.from_host(np.full((m, 1), m**-0.5, self.objective.dtype), slice(0, m))
        V = place.from_host(np.full((n, 1), n**-0.5, self.objective.dtype), slice(m, m + n))
        try:
            value = float(self.objective.evaluate(self.objective.measure(U, np.array([size]), V))[0])
        except NotFinite:
            return 0.0
        return 1e-14 * abs(value) if math.isfinite(value) else 0.0

    def scaled(self, X: Factors, factor: float) -> Factors:
        if isinstance(X, Symmetric):
            return Symmetric(X.vectors, factor * X.weights, X.place)
        return Rectangular(X.U, factor * X.s, X.V, X.place)

    def blended(self, X: Factors, Y: Factors, t: float) -> Factors:
        """(1 − t)·X + t·Y."""
        if isinstance(X, Symmetric) and isinstance(Y, Symmetric):
            vectors = X.place.join(X.vectors, Y.vectors)
            return Symmetric(vectors, np.concatenate([(1 - t) * X.weights, t * Y.weights]), X.place)
        (U, s, V), (P, r, Q), place = X.triple(), Y.triple(), X.place
        weights = np.concatenate([(1 - t) * s, t * r])
        return Rectangular(place.join(U, P), weights, place.join(V, Q), place)


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with its image z, loss ℓ(z) and slope y, the certified σ̄ ≥ σ₁(𝒜*y), and its own nuclear norm.

    ``spread`` is the rounding in σ̄; ``claimed`` the bound at its own size, where it was certified here.
    """

    family: Family
    size: float
    X: Factors
    image: Any
    loss: float
    slope: Any
    sigma: float
    spread: float
    claimed: LowerBound | None = None
    own: bool = True  # the slope is that of the image, not one found beside it

    @property
    def norm(self) -> float:
        return float(self.X.triple()[1].sum())

    @property
    def value(self) -> float:
        return self.loss + (self.size * self.norm if self.family.penalized else 0.0)

    def bound(self, size: float) -> tuple[float, float]:
        """The lower bound that this slope proves at another size, and its derivative there (balls: of a true line)."""
        return dual_bound(self.family, size, self.candidate, self.sigma, self.spread)[:2]

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.loss, self.slope, self.image if self.own else None)


def dual_bound(
    family: Family, size: float, candidate: Candidate, sigma: float, spread: float
) -> tuple[float, float, float]:
    """The bound at a size, its derivative in it (balls: that of a true line), and the scale c of the slope.

    Lowered as everything that is claimed, so that it can be verified from the slope alone.
    """
    problem = family.lifted(size)
    if candidate.image is not None:
        candidate = Candidate(candidate.value, candidate.slope, problem.lifted.whole(candidate.image))
    scale = family.bound if family.penalized else size
    value, _, c = claim(problem, candidate, (1 + 4 * EPS) * sigma * scale, spread * scale)
    return value, -c * sigma, c


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
    problem = family.at(size)
    image = family.objective.measure(*X.at(problem.place).triple())
    candidate = Candidate.at(problem, image, X)
    value, loss = candidate.value + problem.lifted.price(X), candidate.value
    candidate = candidate if slope is None else Candidate(loss, slope, None)
    found = lower_bound(problem, [candidate], value, failure=failure, rng=rng, wanted=wanted, products=products)
    unit = problem.domain.size
    return Solved(
        family, size, X, image, loss, candidate.slope, found.top / unit, found.spread / unit, found, slope is None
    )


def remeasured(family: Family, size: float, X: Factors, sigma: float, spread: float, kept: Any = None) -> Solved:
    """The same with its image measured again: points keep factors, numbers, and a slope that is not X's own."""
    image = family.objective.measure(*X.at(facts_of(family.objective).place).triple())
    loss, slope = family.objective.evaluate(image)
    slope = slope if kept is None else kept
    return Solved(family, size, X, image, float(loss), slope, sigma, spread, own=kept is None)
