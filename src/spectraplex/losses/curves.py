"""Step sizes along z + s·dz: closed form for quadratics, a safeguarded one-dimensional search otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class NotFinite(ArithmeticError):
    """An objective returned NaN or infinity; ``solve`` ends with the last good point.

    ``value`` is which of the two it was, where that is known. Infinity is an edge of where a function is finite.
    """

    def __init__(self, words: str, value: float = float("inf")) -> None:
        super().__init__(words)
        self.value = value


class Curve(Protocol):
    """s ↦ φ(s) = ℓ(z + s·dz), convex."""

    def minimize(self, limit: float) -> float: ...
    def value(self, size: float) -> float: ...
    def derivative(self, size: float) -> float: ...
    def curvature(self, size: float) -> float: ...


@dataclass(frozen=True)
class Quadratic:
    """φ(s) = start + s·slope + s²/2·bend."""

    start: float
    slope: float
    bend: float

    def minimize(self, limit: float) -> float:
        """The exact minimiser over [0, limit]."""
        if not (math.isfinite(self.slope) and math.isfinite(self.bend)):
            raise NotFinite("the derivative along the search direction is not finite")
        if self.slope >= 0.0:
            return 0.0
        return limit if self.bend * limit <= -self.slope else -self.slope / self.bend

    def value(self, size: float) -> float:
        return self.start + size * self.slope + 0.5 * size**2 * self.bend

    def derivative(self, size: float) -> float:
        return self.slope + size * self.bend

    def curvature(self, size: float) -> float:
        """The curvature met on [0, size]: constant here."""
        return self.bend


@dataclass(frozen=True)
class Smoothly:
    """A convex φ known by value and derivative; infinite from ``edge`` on, where that is known."""

    at: Callable[[float], tuple[float, float]]
    edge: float = np.inf

    def minimize(self, limit: float) -> float:
        """A root of φ' in [0, limit], by Brent's method; never a point where φ is above φ(0)."""
        from scipy.optimize import brentq

        start, slope = self.at(0.0)
        if not (np.isfinite(start) and np.isfinite(slope)):
            raise NotFinite("the objective or its derivative is not finite at the current point")
        if slope >= 0.0:
            return 0.0
        limit = min(limit, (1.0 - 1e-9) * self.edge)
        least = 1e-30 * limit
        end, last = self.at(limit)
        while not (np.isfinite(end) and np.isfinite(last)):  # a barrier ahead: come back until the function exists
            limit *= 0.5
            if limit <= least:
                raise NotFinite("the objective is not finite anywhere near the current point along the direction")
            end, last = self.at(limit)
        if last <= 0.0:
            return limit
        # disp=False: with derivatives at rounding level the last bracket is as good an answer as any
        asked = dict(xtol=max(1e-14 * limit, 1e-322), rtol=1e-10, maxiter=60, full_output=True, disp=False)
        # at size one: Brent's method multiplies derivatives with each other
        size = float(brentq(lambda size: self._sure(size) / -slope, 0.0, limit, **asked)[0])
        if size < 1e-10 * limit and self._sure(1e-8 * limit) > 0.0:  # lost in a range that is far too wide
            return self.minimize(1e-8 * limit)
        for _ in range(60):
            if self.at(size)[0] <= start:
                return size
            size *= 0.5  # only rounding or a function that is not convex gets here
        return 0.0

    def value(self, size: float) -> float:
        return self.at(size)[0]

    def derivative(self, size: float) -> float:
        return self.at(size)[1]

    def _sure(self, size: float) -> float:
        slope = self.at(size)[1]
        if not np.isfinite(slope):
            raise NotFinite(f"the derivative along the search direction is {slope}")
        return slope

    def curvature(self, size: float) -> float:
        """The mean curvature met on [0, size] (near zero when no step was taken)."""
        reach = size if size > 0.0 else 1e-6
        return max(0.0, (self.derivative(reach) - self.derivative(0.0)) / reach)
