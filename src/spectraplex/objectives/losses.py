"""Losses of one measured number against one observed number, summed with weights.

Each has its value and slope in one pass, the curve along a line, and its largest curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import Array, blend, inner, line_squared
from ..linesearch import Curve, Quadratic, Smoothly


class Loss(Protocol):
    """Σ wᵢ ℓ(zᵢ; bᵢ); ``weights`` is None when all are one."""

    @property
    def curvature(self) -> float: ...
    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]: ...
    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve: ...


@dataclass(frozen=True)
class Squared:
    """ℓ(z; b) = ½|z − b|²."""

    curvature: float = 1.0

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        residual = z - b
        slope = residual if weights is None else weights * residual
        return 0.5 * inner(residual, slope), slope

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return Quadratic(*line_squared(z, b, weights, dz))


@dataclass(frozen=True)
class Huber:
    """ℓ(z; b) = ½r² for r = |z − b| ≤ delta, delta·(r − delta/2) beyond: outliers pull with bounded force."""

    delta: float
    curvature: float = 1.0

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        residual = z - b
        size = np.abs(residual)
        inside = np.minimum(size, self.delta)
        value = inside * (size - 0.5 * inside)
        slope = residual * (self.delta / np.maximum(size, self.delta))
        if weights is None:
            return float(value.sum()), slope
        return float(np.dot(weights, value)), weights * slope

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return _smoothly(self, z, dz, b, weights)


@dataclass(frozen=True)
class Logistic:
    """ℓ(z; b) = log(1 + exp(−b z)) for labels b = ±1: z is the log-odds of +1."""

    curvature: float = 0.25

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        from scipy.special import expit

        margin = b * z
        value, slope = np.logaddexp(0.0, -margin), -b * expit(-margin)
        if weights is None:
            return float(value.sum()), slope
        return float(np.dot(weights, value)), weights * slope

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return _smoothly(self, z, dz, b, weights)


def _smoothly(loss: Loss, z: Array, dz: Array, b: Array, weights: Array | None) -> Smoothly:
    def at(size: float) -> tuple[float, float]:
        value, slope = loss.evaluate(blend(1.0, z, size, dz), b, weights)
        return value, inner(slope, dz)

    return Smoothly(at)
