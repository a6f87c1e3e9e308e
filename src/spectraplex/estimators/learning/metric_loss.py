"""What a measured difference that falls short of its bound is charged: the smoothed hinge and the soft one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...losses.curves import Curve
from ...losses.protocol import Conjugate, Loss
from ...losses.separable import room, smoothly, total, unweighed, weighed
from ...places.numpy import Array, inner


@dataclass(frozen=True)
class Short:
    """ℓ(z; b) = max over u in [0, 1] of u(b − z) − width·u²/2: zero where z ≥ b, linear from b − width down."""

    width: float = 1.0
    name: ClassVar[str] = "short"
    steepest: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0

    @property
    def curvature(self) -> float:
        return 1.0 / self.width

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        short = b - z
        u = np.minimum(np.maximum(short / self.width, 0.0), 1.0)  # np.clip takes longer
        short -= 0.5 * self.width * u
        short *= u
        return weighed(short, np.negative(u, out=u), weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        short = b - z
        bend = ((short > 0.0) & (short < self.width)) / self.width
        return bend if weights is None else weights * bend

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w(−ub + width·u²/2) with u = −y/w in [0, 1], infinite outside."""
        share = unweighed(slope, weights)
        linear, bend = inner(slope, b), self.width * inner(slope, share)
        size = float(np.abs(slope * b).sum()) + 0.5 * bend
        return Conjugate(
            lambda c: c * linear + 0.5 * c * c * bend, room(-share, 0.0, 1.0), size, (linear, bend), slope.size
        )


@dataclass(frozen=True)
class SoftShort:
    """ℓ(z; b) = width·log(1 + exp((b − z)/width)): what a logistic model of the comparison charges."""

    width: float = 1.0
    name: ClassVar[str] = "soft-short"
    steepest: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0

    @property
    def curvature(self) -> float:
        return 0.25 / self.width

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        from scipy.special import expit

        short = (b - z) / self.width
        return weighed(self.width * np.logaddexp(0.0, short), -expit(short), weights)

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        from scipy.special import expit

        short = (b - z) / self.width
        bend: Array = expit(short) * expit(-short) / self.width
        return bend if weights is None else weights * bend

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = w(−ub + width·(u ln u + (1 − u) ln(1 − u))) with u = −y/w in [0, 1], infinite outside."""
        share, linear = -unweighed(slope, weights), inner(slope, b)
        from scipy.special import xlogy

        def at(c: float) -> float:
            u = np.clip(c * share, 0.0, 1.0)
            return c * linear + self.width * total(xlogy(u, u) + xlogy(1.0 - u, 1.0 - u), weights)

        terms = np.ones(share.size)
        size = float(np.abs(slope * b).sum()) + self.width * np.log(2.0) * total(terms, weights)
        return Conjugate(at, room(share, 0.0, 1.0), size, count=share.size)


def loss_of(name: str, width: float) -> Loss:
    """The loss of this name."""
    made: Any = Short(width) if name == "hinge" else SoftShort(width)
    return made
