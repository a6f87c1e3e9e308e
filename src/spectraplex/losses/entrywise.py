"""Losses of one measured number against one observed number, summed with weights.

Each has its value and slope in one pass, the curve along a line, and its largest curvature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from ..places.numpy import Array, blend, inner, line_squared, squared
from ..rounding import norm
from .curves import Curve, Quadratic, Smoothly


class Loss(Protocol):
    """Σ wᵢ ℓ(zᵢ; bᵢ); ``weights`` is None when all are one. ``steepest`` is the largest slope there is."""

    @property
    def curvature(self) -> float: ...
    @property
    def steepest(self) -> float: ...
    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]: ...
    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve: ...
    def second(self, z: Array, b: Array, weights: Array | None) -> Array: ...
    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate: ...


@dataclass(frozen=True)
class Conjugate:
    """c ↦ ℓ*(c·slope), finite for 0 ≤ c ≤ limit; ``quadratic`` holds (linear, bend) where it is one.

    ``size`` bounds the sum of the absolute values of the terms at c = 1, for a rounding margin; ``count`` is their
    number.
    """

    at: Callable[[float], float]
    limit: float
    size: float
    quadratic: tuple[float, float] | None = None
    count: int = 1


@dataclass(frozen=True)
class Squared:
    """ℓ(z; b) = ½|z − b|²."""

    curvature: float = 1.0
    steepest: ClassVar[float] = math.inf

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        return squared(z, b, weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return Quadratic(*line_squared(z, b, weights, dz))

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        return np.ones(z.size) if weights is None else weights

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = Re ȳb + |y|²/(2w)."""
        linear = inner(slope, b)
        bend = inner(slope, slope) if weights is None else inner(slope, slope / weights)
        size = norm(slope) * norm(b) + 0.5 * bend  # Cauchy-Schwarz
        return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, np.inf, size, (linear, bend), slope.size)


@dataclass(frozen=True)
class Huber:
    """ℓ(z; b) = ½r² for r = |z − b| ≤ delta, delta·(r − delta/2) beyond: outliers pull with bounded force."""

    delta: float
    curvature: float = 1.0

    @property
    def steepest(self) -> float:
        return self.delta

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

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        inside = (np.abs(z - b) <= self.delta).astype(float)
        return inside if weights is None else weights * inside

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = Re ȳb + |y|²/(2w) for |y| ≤ w·delta, infinite beyond: the squared one, cut off."""
        whole = Squared().conjugate(slope, b, weights)
        reach = np.abs(slope) if weights is None else np.abs(slope) / weights
        top = float(np.max(reach, initial=0.0))
        return replace(whole, limit=self.delta / top if top > 0 else np.inf)


@dataclass(frozen=True)
class Logistic:
    """ℓ(z; b) = log(1 + exp(−b z)) for labels b = ±1: z is the log-odds of +1."""

    curvature: float = 0.25
    steepest: ClassVar[float] = 1.0

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        from scipy.special import expit

        margin = b * z
        value, slope = np.logaddexp(0.0, -margin), -b * expit(-margin)
        if weights is None:
            return float(value.sum()), slope
        return float(np.dot(weights, value)), weights * slope

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return _smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        from scipy.special import expit

        bend = expit(z) * expit(-z)
        return bend if weights is None else weights * bend

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w(u ln u + (1 − u) ln(1 − u)) with u = −yb/w in [0, 1], infinite outside."""
        share = -slope * b if weights is None else -slope * b / weights
        top, bottom = float(np.max(share, initial=0.0)), float(np.min(share, initial=0.0))

        def at(c: float) -> float:
            u = np.clip(c * share, 0.0, 1.0)
            terms = xlogy(u, u) + xlogy(1.0 - u, 1.0 - u)
            return float(terms.sum() if weights is None else np.dot(weights, terms))

        from scipy.special import xlogy

        total = float(share.size if weights is None else weights.sum())
        limit = 0.0 if bottom < 0 else (1.0 / top if top > 0 else np.inf)
        return Conjugate(at, limit, np.log(2.0) * total, count=share.size)


def _smoothly(loss: Loss, z: Array, dz: Array, b: Array, weights: Array | None) -> Smoothly:
    def at(size: float) -> tuple[float, float]:
        value, slope = loss.evaluate(blend(1.0, z, size, dz), b, weights)
        return value, inner(slope, dz)

    return Smoothly(at)


def steepest(loss: Loss, count: int, weights: Array | None) -> float:
    """‖slope‖ at most, wherever it is; infinite for a squared loss."""
    if not math.isfinite(loss.steepest):
        return math.inf
    return loss.steepest * (math.sqrt(count) if weights is None else norm(weights))
