"""The curve s ↦ −Σ n ln(z + s·dz): its derivatives need no logarithms, and Newton's method finds its minimum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..places.counts import line_counted
from ..places.numpy import Array
from .curves import NotFinite
from .separable import edge

_STEPS = 100


@dataclass(frozen=True, eq=False)
class LogLine:
    """Over what was counted alone: n > 0 and z > 0 everywhere."""

    z: Array
    dz: Array
    n: Array

    def minimize(self, limit: float) -> float:
        """The root of φ′ in [0, limit]: Newton's method in a bracket; never a point where φ is above φ(0)."""
        first, second = line_counted(self.z, self.n, self.dz, 0.0)
        if not (math.isfinite(first) and math.isfinite(second)):
            raise NotFinite("the objective or its derivative is not finite at the current point")
        if first >= 0.0:
            return 0.0
        low, high = 0.0, min(limit, (1.0 - 1e-9) * edge(self.z, self.dz))
        if line_counted(self.z, self.n, self.dz, high)[0] <= 0.0:
            return self._lower(high)
        at = 0.0
        for _ in range(_STEPS):
            # Newton's step falls short of the root where φ′ is concave and overshoots where it is convex
            new = at - first / second if second > 0.0 else high
            new = new if low < new < high else 0.5 * (low + high)
            moved, at = abs(new - at), new
            first, second = line_counted(self.z, self.n, self.dz, at)
            if not math.isfinite(first):
                raise NotFinite(f"the derivative along the search direction is {first}")
            low, high = (at, high) if first < 0.0 else (low, at)
            if first == 0.0 or moved <= 1e-10 * at or high - low <= 1e-14 * high:
                break
        return self._lower(at)

    def _lower(self, size: float) -> float:
        """The size, or a smaller one where rounding would have the value rise."""
        start = self.value(0.0)
        for _ in range(60):
            if self.value(size) <= start:
                return size
            size *= 0.5
        return 0.0

    def value(self, size: float) -> float:
        ahead = self.z + size * self.dz
        return -float(self.n @ np.log(ahead)) if (ahead > 0.0).all() else math.inf

    def derivative(self, size: float) -> float:
        return line_counted(self.z, self.n, self.dz, size)[0]

    def curvature(self, size: float) -> float:
        """The mean curvature met on [0, size] (near zero when no step was taken)."""
        reach = size if size > 0.0 else 1e-6
        return max(0.0, (self.derivative(reach) - self.derivative(0.0)) / reach)
