"""The certified problem of a linear model: f(W) = min over b of Σ wᵢ ℓ(X̃W + offset + b; y) + ½κ‖b‖².

The intercepts are minimised inside, so f is a convex function of W alone, and a gap certified for it is a gap in W and
b together: f*(y) = ℓ*(y) − ⟨y, offset⟩ + ‖1ᵀy‖²/(2κ), and any y gives a true bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...losses.curves import Curve, NotFinite, Quadratic, Smoothly
from ...losses.protocol import Conjugate
from ...matrices.operators import Dense
from ...matrices.protocol import Operator, column_scores
from ...objectives.facts import facts_of
from ...places.numpy import EPS, Array, blend, inner
from ...rounding import VANISHING, moved, norm, of_image, of_sum
from .linear_data import Design, in_rows
from .linear_inner import SLACK, Best, Outputs, with_linear
from .linear_tasks import Residuals

_DENSE = 4_000_000  # entries of W up to which its gradient is formed
_NEARLY = 0.05  # share of the derivative at zero that a line search may leave


class LinearFit:
    """Features, outputs, and the ridge of the intercepts (None: there are none).

    ``slack`` is the share of a value that the intercepts may leave it above the least.
    """

    inexact = True  # a value is a minimum over the intercepts, found to some accuracy
    dtype = "float64"

    def __init__(self, design: Design, outputs: Outputs, ridge: float | None, slack: float = SLACK) -> None:
        self.design, self.outputs, self.ridge, self.slack = design, outputs, ridge, slack
        self.shape = (design.shape[1], outputs.shape[1])
        self.summed = design.shape[1]
        self.dense = self.shape[0] * self.shape[1] <= _DENSE
        self.held = 0 if design.sparse else design.count

    # --------------------------------------------------------------------------------------------- f(W) = ℓ(X̃W)

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        left, right = self.design.times(U) * s, np.ascontiguousarray(V.T, np.float64)
        out = np.empty(self.outputs.shape)

        def job(i: int, low: int, high: int) -> None:
            np.matmul(left[low:high], right, out=out[low:high])

        in_rows(*self.outputs.shape, job)
        return out.reshape(-1)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def best(self, z: Array) -> Best:
        """The intercepts that are best beside an image, with value and slope."""
        return self.outputs.best(z, self.ridge, self.slack)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        found = self.best(z)
        return found.value, found.slope

    def along(self, z: Array, dz: Array) -> Curve:
        if isinstance(self.outputs, Residuals) and not math.isfinite(self.outputs.delta):
            value, slope = self.evaluate(z)
            none = np.zeros(1)
            flat = Residuals(np.broadcast_to(none, self.outputs.shape), self.outputs.weights, 0.0 * self.outputs.offset)
            return Quadratic(value, inner(slope, dz), 2.0 * flat.best(dz, self.ridge).value)

        def at(size: float) -> tuple[float, float]:
            value, slope = self.evaluate(blend(1.0, z, size, dz))
            return value, inner(slope, dz)

        return Roughly(at)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Operator:
        table = slope.reshape(self.outputs.shape)
        if not self.dense:
            return Pulled(self.design, table)
        return Dense(self.design.turned(table), blur=lambda: self.design.noise(table))

    def conjugate(self, slope: Array) -> Conjugate:
        own = self.outputs.conjugate(slope)
        if self.ridge is None:
            return own
        sums = slope.reshape(self.outputs.shape).sum(axis=0)
        bend = float(sums @ sums) / self.ridge
        reach = math.sqrt(self.outputs.shape[0]) * norm(slope)  # at least the norm of the sums of sizes
        spread = (norm(sums) + of_sum(8 * self.outputs.shape[0]) * reach) * reach / self.ridge
        return with_linear(own, bend, 0.5 * bend + spread)

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        words = f"linear {self.shape[0]}×{self.shape[1]} ridge {'none' if self.ridge is None else self.ridge.hex()}"
        return (f"{words} slack {self.slack.hex()}", *self.design.parts(), *self.outputs.parts())

    # -------------------------------------------------------------------------------------------------- constants

    @property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖."""
        return self.design.size

    @property
    def bend(self) -> float | None:
        """The largest curvature of the loss of an image; None where there is none."""
        most = self.outputs.curvature
        return most * self.outputs.heaviest if math.isfinite(most) else None

    @property
    def steepest(self) -> float:
        return self.outputs.steepest

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """About the curvature of the loss, summed over every feature, and over every output."""
        features, samples = self.design.squares
        bends = self.outputs.bends
        return features * float(bends.sum()), bends * float(samples.sum())

    def rounding(self, value: float, slope: Array, size: float, terms: int) -> float:
        """That of the loss, of offsets added to the image, and what the search for intercepts leaves."""
        facts = facts_of(self)
        added, second = self.outputs.blur(slope)
        blur = of_image(facts, size, terms) + 8 * EPS * self.outputs.size
        own = of_sum(slope.size) * (abs(value) + added) + slope.size * VANISHING + 2 * self.slack * abs(value)
        if facts.bend is None:
            return own + norm(slope) * blur + 0.5 * second * blur * blur
        return own + moved(facts, slope, blur)

    def __repr__(self) -> str:
        samples, features = self.design.shape
        kind = type(self.outputs).__name__.lower()
        return f"LinearFit({samples} samples of {features} features, {self.shape[1]} outputs, {kind})"


@dataclass(frozen=True)
class Roughly(Smoothly):
    """A line search that ends where the derivative is a small share of that at zero: each look costs a pass."""

    def minimize(self, limit: float) -> float:
        start, slope = self.at(0.0)
        if not (np.isfinite(start) and np.isfinite(slope)):
            raise NotFinite("the objective or its derivative is not finite at the current point")
        if slope >= 0.0:
            return 0.0
        low, high, before, after = 0.0, limit, slope, math.inf
        size = limit
        for _ in range(40):
            value, here = self.at(size)
            fine = np.isfinite(value) and np.isfinite(here)
            if fine and value <= start and (abs(here) <= -_NEARLY * slope or (here <= 0.0 and size == limit)):
                return size
            if fine and here <= 0.0 and value <= start:
                low, before = size, here
            else:
                high, after = size, here if fine else math.inf
            width = high - low
            share = before / (before - after) if np.isfinite(after) and after > before else 0.1
            size = low + min(max(share, 0.05), 0.9) * width
        return low


@dataclass(frozen=True, eq=False)
class Pulled:
    """X̃ᵀ·table: a gradient too large to be formed."""

    design: Design
    table: Array
    hermitian: bool = False
    dtype: str = "float64"

    @property
    def shape(self) -> tuple[int, int]:
        return (self.design.shape[1], int(self.table.shape[1]))

    def noise(self) -> float:
        return 4.0 * self.design.noise(self.table)

    def matmat(self, V: Array) -> Array:
        return self.design.turned(self.table @ V)

    def rmatmat(self, U: Array) -> Array:
        return np.asarray(self.table.T @ self.design.times(U))

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        return self.design.turned(self.table)
