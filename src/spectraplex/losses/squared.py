"""The squared loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..places.numpy import Array, inner, line_squared, squared, ways
from ..rounding import norm
from .curves import Curve, Quadratic
from .protocol import Conjugate


@dataclass(frozen=True)
class Squared:
    """ℓ(z; b) = ½|z − b|²."""

    curvature: float = 1.0
    name: ClassVar[str] = "squared"
    steepest: ClassVar[float] = math.inf
    strong: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0
    complex: ClassVar[bool] = True

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        return squared(z, b, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return Quadratic(*line_squared(z, b, weights, dz))

    def ways(self, slope: Array, v: Array, others: Sequence[Array], weights: Array | None) -> tuple[Array, Array]:
        """Slopes and bends along v − o: the function is one quadratic of them all."""
        return ways(slope, v, others, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        return np.ones_like(z.real) if weights is None else weights

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = Re ȳb + |y|²/(2w)."""
        linear = inner(slope, b)
        bend = inner(slope, slope) if weights is None else inner(slope, slope / weights)
        size = norm(slope) * norm(b) + 0.5 * bend  # Cauchy-Schwarz
        return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, np.inf, size, (linear, bend), slope.size)
