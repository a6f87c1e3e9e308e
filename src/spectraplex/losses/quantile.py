"""The smoothed quantile loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import number, share
from ..places.numpy import Array, inner
from ..rounding import norm
from .curves import Curve
from .protocol import Conjugate
from .separable import room, smoothly, unweighed, weighed


@dataclass(frozen=True)
class Quantile:
    """ℓ(z; b) = max over u in [−level, 1 − level] of u(z − b) − width·u²/2.

    Where z is too small every unit costs ``level``, where it is too large 1 − ``level``, so z tends to that quantile of
    b; near b it is a parabola. It lies below the quantile loss itself by at most width/2.
    """

    level: float = 0.5
    width: float = 0.1
    name: ClassVar[str] = "quantile"
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        share("Quantile", "level", self.level)
        number("Quantile", "width", self.width, positive=True)

    @property
    def curvature(self) -> float:
        return 1.0 / self.width

    @property
    def steepest(self) -> float:
        return max(self.level, 1.0 - self.level)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        residual = z - b
        u = np.clip(residual / self.width, -self.level, 1.0 - self.level)
        return weighed(u * (residual - 0.5 * self.width * u), u, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        u = (z - b) / self.width
        bend = ((u > -self.level) & (u < 1.0 - self.level)) / self.width
        return bend if weights is None else weights * bend

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = yb + width·y²/(2w) for −level ≤ y/w ≤ 1 − level, infinite outside."""
        share = unweighed(slope, weights)
        linear, bend = inner(slope, b), self.width * inner(slope, share)
        size = norm(slope) * norm(b) + 0.5 * bend
        limit = room(share, -self.level, 1.0 - self.level)
        return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, limit, size, (linear, bend), slope.size)
