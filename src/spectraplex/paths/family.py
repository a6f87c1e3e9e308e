"""One objective at many sizes: balls of many radii, or a penalty with many λ; and what one solution says about all.

A solution at one radius knows much about the others. Its image z, scaled by s = θ/θₖ, is feasible at θ. Its slope y,
with a bound σ̄ ≥ σ₁(𝒜*y), proves f*(θ) ≥ −ℓ*(c·y) − cθσ̄ at every θ, for every c ≥ 0: a straight line in θ. Between two
solutions, (1 − t)z_a + t·z_b is feasible at (1 − t)θ_a + tθ_b, and (1 − t)y_a + t·y_b is a slope whose σ₁ is at most
(1 − t)σ̄_a + tσ̄_b: no product is spent on either. With a penalty the same holds with λ in place of θ, and
p*(λ) ≥ max −ℓ*(c·y) over cσ̄ ≤ λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..certificates.certificate import Evidence
from ..certificates.dual import Candidate, believed
from ..certificates.evidence import evidence_of
from ..certificates.lower import LowerBound, claim, lower_bound
from ..domains.penalties import NuclearPenalty, TracePenalty
from ..domains.protocol import Domain
from ..domains.sets import NuclearBall, TraceBall
from ..losses.curves import NotFinite
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..objectives import Objective
from ..objectives.distance import Factored
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
        U, V = (place.from_host(np.full((n, 1), n**-0.5, self.objective.dtype)) for n in self.objective.shape)
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
    image = family.objective.measure(*X.triple())
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
    image = family.objective.measure(*X.triple())
    loss, slope = family.objective.evaluate(image)
    slope = slope if kept is None else kept
    return Solved(family, size, X, image, float(loss), slope, sigma, spread, own=kept is None)


@dataclass(frozen=True, eq=False)
class Mix:
    """α·y_a + β·y_b of the slopes of two neighbours, as a candidate, with a bound on its σ₁ and the rounding in it."""

    candidate: Candidate
    sigma: float
    spread: float


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
        return [self._shows(mix, size)[:2] for mix in self._mixes(size)]

    def proof(self, size: float, places: list[float]) -> tuple[float, Evidence | None]:
        """The best lower bound at a size and the dual point that shows it, kept as evidence.

        ``places`` are sizes whose own blends proved this one: on a ball they are tried here; with a penalty, where the
        bound between two of them is a chord, what shows it is the same mean of their dual points.
        """
        mixes = self._mixes(size)
        around = [self._best(self._mixes(place), place) for place in places]
        mixes += around
        if self.family.penalized and len(around) == 2:
            mixes += self._chord(around, places, size)
        best, problem = self._best(mixes, size), self.family.lifted(size)
        image = best.candidate.image
        whole = None if image is None else problem.lifted.whole(image)
        evidence = evidence_of(problem, Candidate(best.candidate.value, best.candidate.slope, whole))
        return self._shows(best, size)[0], evidence

    def _best(self, mixes: list[Mix], size: float) -> Mix:
        return max(mixes, key=lambda mix: self._shows(mix, size)[0])

    def _shows(self, mix: Mix, size: float) -> tuple[float, float, float]:
        return dual_bound(self.family, size, mix.candidate, mix.sigma, mix.spread)

    def _mixes(self, size: float) -> list[Mix]:
        ends = [Mix(each.candidate, each.sigma, each.spread) for each in (self.a, self.b)]
        t, a, b = self.share(size), self.a, self.b
        if not self.family.penalized or not a.sigma * b.sigma > 0.0:
            return ends + self._mixed(ends, (1.0 - t, t))
        # a penalty's best scale is λ/σ̄, a ball's about one: blend what will be used
        return ends + self._mixed(ends, ((1.0 - t) * a.size / a.sigma, t * b.size / b.sigma))

    def _chord(self, around: list[Mix], places: list[float], size: float) -> list[Mix]:
        """Bounds at two sizes and their scales c: the mean of both dual points is one for the mean of both λ."""
        t = (size - places[0]) / (places[1] - places[0])
        scales = [self._shows(mix, place)[2] for mix, place in zip(around, places, strict=True)]
        return self._mixed(around, ((1.0 - t) * scales[0], t * scales[1]))

    def _mixed(self, mixes: list[Mix], shares: tuple[float, float]) -> list[Mix]:
        """One combination of two, scaled so that the shares sum to one; none where a blend of slopes proves nothing."""
        total = sum(shares)
        if not self._blends or not total > 0.0:
            return []
        (first, second), (p, q) = mixes, (shares[0] / total, shares[1] / total)
        y, x = first.candidate.slope, second.candidate.slope
        images = facts_of(self.family.objective).images
        if images.plain(y):
            slope = images.blend(p, y, q, x)
        elif isinstance(y, Factored):  # the slope z − A is kept as z
            slope = self.family.objective.combine(p, y, q, x)
        else:
            return []
        sigma = (p * first.sigma + q * second.sigma) * (1 + 4 * EPS)
        return [Mix(Candidate(0.0, slope, None), sigma, p * first.spread + q * second.spread)]
