"""What two neighbouring solutions say about all sizes between them: points, lower bounds, and what proves those.

(1 − t)z_a + t·z_b is feasible at (1 − t)θ_a + tθ_b, and (1 − t)y_a + t·y_b is a slope whose σ₁ is at most
(1 − t)σ̄_a + tσ̄_b: no product is spent on either. With a penalty the same holds with λ in place of θ.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..certificates.certificate import Evidence
from ..certificates.dual import Candidate, believed
from ..certificates.evidence import evidence_of
from ..matrices.factors import Factors
from ..objectives.distance import Factored
from ..objectives.facts import facts_of
from ..places.numpy import EPS
from .family import Solved, dual_bound


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
