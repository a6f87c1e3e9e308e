"""The logistic loss of labels −1/+1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..places.numpy import Array
from .curves import Curve
from .protocol import Conjugate, Prepared, Shape
from .separable import signs, smoothly, weighed


@dataclass(frozen=True)
class Logistic:
    """ℓ(z; b) = log(1 + exp(−b z)) for labels b = ±1: z is the log-odds of +1."""

    curvature: float = 0.25
    name: ClassVar[str] = "logistic"
    steepest: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        return signs(self, targets, weights, shape)

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        from scipy.special import expit

        margin = b * z
        return weighed(np.logaddexp(0.0, -margin), -b * expit(-margin), weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        from scipy.special import expit

        bend: Array = expit(z) * expit(-z)
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
