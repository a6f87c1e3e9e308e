"""The smoothed hinge of labels −1/+1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks import number
from ..places.numpy import Array, inner
from .curves import Curve
from .protocol import Conjugate, Prepared, Shape
from .separable import room, signs, smoothly, unweighed, weighed


@dataclass(frozen=True)
class Hinge:
    """ℓ(z; b) = max over u in [0, 1] of u(1 − bz) − width·u²/2, for labels b = ±1.

    Zero from a margin bz of one on, linear below 1 − width, a parabola between: width one is Rennie's smooth hinge, and
    width → 0 the hinge itself, which this lies below by at most width/2.
    """

    width: float = 1.0
    name: ClassVar[str] = "hinge"
    steepest: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        number("Hinge", "width", self.width, positive=True)

    @property
    def curvature(self) -> float:
        return 1.0 / self.width

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        return signs(self, targets, weights, shape)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        short = 1.0 - b * z
        u = np.clip(short / self.width, 0.0, 1.0)
        return weighed(u * (short - 0.5 * self.width * u), -b * u, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        short = 1.0 - b * z
        bend = ((short > 0.0) & (short < self.width)) / self.width
        return bend if weights is None else weights * bend

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w(−u + width·u²/2) with u = −yb/w in [0, 1], infinite outside."""
        share = unweighed(slope, weights)
        linear, bend = inner(slope, b), self.width * inner(slope, share)
        size = float(np.abs(slope).sum()) + 0.5 * bend
        limit = room(-share * b, 0.0, 1.0)
        return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, limit, size, (linear, bend), slope.size)
