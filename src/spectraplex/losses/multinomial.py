"""The multinomial likelihood of counts: −Σ n ln z, nothing normalised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..places.numpy import Array
from .curves import Curve
from .poisson import outside
from .protocol import Conjugate, Prepared, Shape
from .separable import counts, edge, smoothly, total, unweighed, weighed


@dataclass(frozen=True)
class Multinomial:
    """ℓ(z; n) = −n ln z, z > 0 being the probability of an outcome that was counted n times.

    Where n is zero it is zero, for every z: what was never seen is neither paid for nor bounded. On a domain of fixed
    trace the best scale of a dual point has a closed form, and the certificate is f − N ln λ_max(R) with
    R = Σ nᵢ/(N zᵢ) Aᵢ and N = Σ nᵢ.
    """

    name: ClassVar[str] = "multinomial"
    positive: ClassVar[bool] = True

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        return counts(self, targets, weights, shape)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        seen = b > 0.0
        if outside(z, seen):
            return math.inf, np.full_like(z, math.nan)
        safe = np.where(seen, z, 1.0)
        return weighed(-b * np.log(safe), -b / safe, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights, edge(z[b > 0.0], dz[b > 0.0]))

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        bend: Array = b / np.where(b > 0.0, z, 1.0) ** 2
        return bend if weights is None else weights * bend

    def image(self, slope: Array, b: Array, weights: Array | None) -> Array:
        """The z that a slope belongs to; one where it could be any."""
        down = -unweighed(slope, weights)
        seen = (b > 0.0) & (down > 0.0)
        return np.where(seen, b / np.where(seen, down, 1.0), 1.0)

    def terms(self, slope: Array, b: Array, weights: Array | None) -> float:
        """The sizes of all that is added up at the z of a slope."""
        return total(b * np.abs(np.log(self.image(slope, b, weights))), weights)

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w·n(ln n − 1 − ln(−u)) with u = y/w < 0; zero, and only at u = 0, where n is zero."""
        u, seen = unweighed(slope, weights), b > 0.0
        allowed = bool((u[seen] < 0.0).all() and not u[~seen].any())
        down, n = -u[seen], b[seen]
        w = None if weights is None else weights[seen]
        logs, whole = np.log(n), total(n, w)
        ends = np.log(np.maximum(down, 1e-300))
        rest, size = total(n * (logs - 1.0 - ends), w), total(n * (np.abs(logs) + 1.0 + np.abs(ends)), w)

        def at(c: float) -> float:
            return rest - whole * math.log(c) if c > 0.0 else math.inf

        def scale(price: float) -> float:
            """−N ln c + c·price is least at c = N/price."""
            return whole / price if price > 0.0 else math.inf

        def sizes(c: float) -> float:
            return size + whole * abs(math.log(c)) if c > 0.0 else math.inf

        limit = math.inf if allowed else 0.0
        return Conjugate(at, limit, size, count=u.size, scale=scale, sizes=sizes)
