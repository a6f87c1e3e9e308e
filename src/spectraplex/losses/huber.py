"""The Huber loss: squared for small misfits, linear for large ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..checks import number
from ..places.numpy import Array
from .curves import Curve
from .protocol import Conjugate
from .separable import smoothly, weighed
from .squared import Squared


@dataclass(frozen=True)
class Huber:
    """ℓ(z; b) = ½r² for r = |z − b| ≤ delta, delta·(r − delta/2) beyond: outliers pull with bounded force."""

    delta: float = 1.0
    curvature: float = 1.0
    name: ClassVar[str] = "huber"
    least: ClassVar[float] = 0.0
    complex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number("Huber", "delta", self.delta, positive=True)

    @property
    def steepest(self) -> float:
        return self.delta

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        residual = z - b
        size = np.abs(residual)
        inside = np.minimum(size, self.delta)
        value = inside * (size - 0.5 * inside)
        slope = residual * (self.delta / np.maximum(size, self.delta))
        return weighed(value, slope, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        inside: Array = (np.abs(z - b) <= self.delta).astype(float)
        return inside if weights is None else weights * inside

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = Re ȳb + |y|²/(2w) for |y| ≤ w·delta, infinite beyond: the squared one, cut off."""
        whole = Squared().conjugate(slope, b, weights)
        reach = np.abs(slope) if weights is None else np.abs(slope) / weights
        top = float(np.max(reach, initial=0.0))
        return replace(whole, limit=self.delta / top if top > 0 else np.inf)
