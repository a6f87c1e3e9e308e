"""Penalties, lifted like balls: the sum of ℓ(Z) and λ times the nuclear norm (or the trace) of Z, on a spectrahedron.

No solution has a nuclear norm above some T (``bound``), so the penalised problem lives on the ball of radius T with one
slack coordinate e, and there

    f̂(X) = ℓ(2T·X₁₂) + λT·(1 − eᴴXe),      ∇f̂ = T[[0, G], [Gᴴ, 0]] − λT·eeᴴ   (up to a multiple of I, as tr X = 1).

So the gradient is that of the ball plus a rank one, which costs no product. T steers only: for any slope y with a bound
σ̄ ≥ σ₁(𝒜*y) and any c ≤ λ/σ̄, weak duality says p* ≥ −ℓ*(c·y), whatever T is (certificates/dual.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses.curves import Curve, Quadratic, Smoothly
from ..matrices.factors import Factors
from ..matrices.lifted import Lifted, Shifted
from ..matrices.operators import Padded
from ..objectives import Objective
from ..places.numpy import Array
from ..places.protocol import Block, Place
from .lift import LiftedObjective


@dataclass(frozen=True, eq=False)
class Charged:
    """The image of X: the objective's own, and the weight of the slack coordinate, on which nothing is charged."""

    inside: Any
    slack: float


def tilted(curve: Curve, start: float, tilt: float) -> Curve:
    """s ↦ φ(s) + start + s·tilt."""
    if isinstance(curve, Quadratic):
        return Quadratic(curve.start + start, curve.slope + tilt, curve.bend)

    def at(size: float) -> tuple[float, float]:
        if isinstance(curve, Smoothly):
            value, slope = curve.at(size)
        else:
            value, slope = curve.value(size), curve.derivative(size)
        return value + start + size * tilt, slope + tilt

    return Smoothly(at, curve.edge if isinstance(curve, Smoothly) else np.inf)


@dataclass(frozen=True, eq=False)
class PenalizedObjective:
    """What the methods see: the loss on a ball of radius T, plus λT for all the weight that is not slack."""

    ball: LiftedObjective
    lam: float
    bound: float
    penalty: ClassVar[bool] = True

    @property
    def objective(self) -> Objective:
        return self.ball.objective

    @property
    def bipartite(self) -> bool:
        return self.ball.left != self.ball.right

    @property
    def dimension(self) -> int:
        """The ball of positive semidefinite matrices has a slack coordinate of its own."""
        return self.ball.dimension + self.bipartite

    @property
    def dtype(self) -> str:
        return self.ball.dtype

    @property
    def shape(self) -> tuple[int, int]:
        return (self.dimension, self.dimension)

    @property
    def corner(self) -> LiftedObjective:
        return self.ball

    @property
    def allowance(self) -> float:
        return self.lam * self.bound

    @property
    def place(self) -> Place:
        return self.ball.place

    def measure(self, U: Block, s: Array, V: Block) -> Charged:
        last, place = self.dimension - 1, self.place
        slack = float(np.sum(s * place.row(U, last) * place.row(V, last).conj()).real)
        return Charged(self.ball.measure(U, s, V), slack)

    def combine(self, a: float, z: Charged, b: float, w: Charged) -> Charged:
        return Charged(self.ball.combine(a, z.inside, b, w.inside), a * z.slack + b * w.slack)

    def evaluate(self, z: Charged) -> tuple[float, Any]:
        value, slope = self.ball.evaluate(z.inside)
        return value + self.charge(z), slope

    def along(self, z: Charged, dz: Charged) -> Curve:
        inside, start, tilt = self.ball.along(z.inside, dz.inside), self.charge(z), -self.allowance * dz.slack
        return tilted(inside, start, tilt)

    def pair(self, slope: Any, z: Charged) -> float:
        return float(self.ball.pair(slope, z.inside)) - self.allowance * z.slack

    def gradient(self, slope: Any, sign: float = 1.0) -> Shifted:
        inside = self.ball.gradient(slope, sign)
        if self.bipartite:
            right = slice(self.ball.right.start, self.dimension)
            padded = Padded(inside.inside, self.place)
            inside = Lifted(padded, self.ball.left, right, self.dimension, inside.scale, self.place)
        slack = self.place.axis(slice(0, self.dimension), self.dimension - 1, self.dtype)
        return Shifted(inside, slack, np.array([-sign * self.allowance]))

    # ---------------------------------------------------------------------------------------- for certificates

    def seen(self, image: Charged) -> Any:
        return image.inside

    def whole(self, image: Any) -> Charged:
        return Charged(image, 1.0)

    def charge(self, image: Charged) -> float:
        return self.allowance * (1.0 - image.slack)

    def price(self, X: Factors) -> float:
        return self.lam * float(X.triple()[1].sum())

    def pull(self, slope: Any) -> Lifted:
        return self.ball.gradient(slope, sign=-1.0)

    def support(self, c: float, top: float) -> float:
        """As on the ball of radius T: an estimate, for steering."""
        return max(0.0, c * top - self.allowance)

    @property
    def smoothness(self) -> float | None:
        return self.ball.smoothness

    strong_convexity = 0.0
