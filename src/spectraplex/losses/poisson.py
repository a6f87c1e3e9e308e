"""Poisson counts: with their mean as the measured number, or with its logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..places.numpy import Array
from .curves import Curve
from .protocol import Conjugate, Prepared, Shape
from .separable import counts, edge, room, smoothly, total, unweighed, weighed


@dataclass(frozen=True)
class Poisson:
    """ℓ(z; b) = z − b ln z, z > 0 being the mean of a count b: a negative log-likelihood but for terms of b alone.

    Where b is zero it is z, for z ≥ 0. It has no largest curvature, and is not finite at z = 0.

    ``Fit`` takes zero counts only where no z can be negative: X ⪰ 0 and positive semidefinite matrices measured. There
    z falls below zero by rounding alone, so ``evaluate`` returns z itself and does not look at its sign. The conjugate
    is that of the loss with z ≥ 0, finite for every slope up to w: that of z on the whole line is finite at the slope w
    alone, and no slope could be scaled.
    """

    name: ClassVar[str] = "poisson"
    positive: ClassVar[bool] = True
    never_negative: ClassVar[bool] = True

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        return counts(self, targets, weights, shape)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        seen = b > 0.0
        if outside(z, seen):
            return math.inf, np.full_like(z, math.nan)
        safe = np.where(seen, z, 1.0)
        return weighed(z - b * np.log(safe), 1.0 - b / safe, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights, edge(z[b > 0.0], dz[b > 0.0]))

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        bend: Array = b / np.where(b > 0.0, z, 1.0) ** 2
        return bend if weights is None else weights * bend

    def image(self, slope: Array, b: Array, weights: Array | None) -> Array:
        """The z that a slope belongs to; one where it could be any."""
        away = 1.0 - unweighed(slope, weights)
        seen = (b > 0.0) & (away > 0.0)
        return np.where(seen, b / np.where(seen, away, 1.0), 1.0)

    def terms(self, slope: Array, b: Array, weights: Array | None) -> float:
        """The sizes of all that is added up at the z of a slope."""
        z = self.image(slope, b, weights)
        return total(z + b * np.abs(np.log(z)), weights)

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = −w·b(1 − ln b + ln(1 − u)) with u = y/w < 1; zero for u ≤ 1 where b is zero."""
        u, seen = unweighed(slope, weights), b > 0.0
        share, b = u[seen], b[seen]
        w = None if weights is None else weights[seen]
        logs = np.log(b)

        def left(c: float) -> Array:
            return np.log1p(-np.minimum(c * share, 1.0 - 1e-16))

        def at(c: float) -> float:
            return total(-b * (1.0 - logs + left(c)), w)

        def sizes(c: float) -> float:
            return total(b * (1.0 + np.abs(logs) + np.abs(left(c))), w)

        limit = room(u, -math.inf, 1.0)
        return Conjugate(at, limit, sizes(min(1.0, limit)), count=u.size, sizes=sizes)


@dataclass(frozen=True)
class PoissonLog:
    """ℓ(z; b) = eᶻ − b·z, z being the logarithm of the mean of a count b. Finite for every z."""

    name: ClassVar[str] = "poisson-log"

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        return counts(self, targets, weights, shape)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        if float(np.max(z, initial=0.0)) > 700.0:  # beyond what an exponential can hold
            return math.inf, np.full_like(z, math.nan)
        mean = np.exp(z)
        return weighed(mean - b * z, mean - b, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        bend = np.exp(z)
        return bend if weights is None else weights * bend

    def image(self, slope: Array, b: Array, weights: Array | None) -> Array:
        z: Array = np.log(np.maximum(unweighed(slope, weights) + b, 1e-300))
        return z

    def terms(self, slope: Array, b: Array, weights: Array | None) -> float:
        z = self.image(slope, b, weights)
        return total(np.exp(z) + b * np.abs(z), weights)

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w(u + b)(ln(u + b) − 1) with u = y/w ≥ −b."""
        from scipy.special import xlogy

        share = unweighed(slope, weights)

        def at(c: float) -> float:
            mean = np.maximum(c * share + b, 0.0)
            return total(xlogy(mean, mean) - mean, weights)

        def sizes(c: float) -> float:
            mean = np.abs(c * share) + b
            return total(np.abs(xlogy(mean, mean)) + mean, weights)

        limit = room(share, -b, math.inf)
        return Conjugate(at, limit, sizes(min(1.0, limit)), count=share.size, sizes=sizes)


def outside(z: Array, seen: Array) -> bool:
    """Whether a number is not positive where something was counted, or not finite."""
    return not np.isfinite(z).all() or bool((z[seen] <= 0.0).any())
