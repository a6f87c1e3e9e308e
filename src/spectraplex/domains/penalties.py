"""Penalties, lifted like balls: the sum of ℓ(Z) and λ times the nuclear norm (or the trace) of Z, on a spectrahedron.

No solution has a nuclear norm above some T (``bound``), so the penalised problem lives on the ball of radius T with one
slack coordinate e, and there

    f̂(X) = ℓ(2T·X₁₂) + λT·(1 − eᴴXe),      ∇f̂ = T[[0, G], [Gᴴ, 0]] − λT·eeᴴ   (up to a multiple of I, as tr X = 1).

So the gradient is that of the ball plus a rank one, which costs no product. T steers only: for any slope y with a bound
σ̄ ≥ σ₁(𝒜*y) and any c ≤ λ/σ̄, weak duality says p* ≥ −ℓ*(c·y), whatever T is (certificate.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..losses.curves import Curve, Quadratic, Smoothly
from ..matrices.atoms import Atoms
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..matrices.lifted import Lifted, Shifted
from ..matrices.operators import Padded
from ..places.numpy import EPS, Array, dagger
from .lift import LiftedObjective
from .sets import NuclearBall, TraceBall, unit_factors
from .spectra import capped


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

    return Smoothly(at)


@dataclass(frozen=True, eq=False)
class PenalizedObjective:
    """What the methods see: the loss on a ball of radius T, plus λT for all the weight that is not slack."""

    ball: LiftedObjective
    lam: float
    bound: float
    penalty: ClassVar[bool] = True

    @property
    def objective(self) -> Any:
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
    def allowance(self) -> float:
        return self.lam * self.bound

    def measure(self, U: Array, s: Array, V: Array) -> Charged:
        n = self.dimension - 1
        slack = float(np.sum(s * U[n] * V[n].conj()).real)
        return Charged(self.ball.measure(U[:n] if self.bipartite else U, s, V[:n] if self.bipartite else V), slack)

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
            inside = Lifted(Padded(inside.inside), self.ball.left, right, self.dimension, inside.scale)
        slack = np.zeros((self.dimension, 1), self.dtype)
        slack[-1] = 1.0
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


@dataclass(frozen=True)
class NuclearPenalty:
    """λ·‖Z‖_* in place of a ball; ``radius`` is a nuclear norm that no solution exceeds, as far as is known.

    It steers the methods. It is no part of what is minimised, so it is not shown, and no certificate depends on it.
    """

    shape: tuple[int, int]
    lam: float
    radius: float = field(repr=False)

    hermitian = False
    jumps = False  # the start is Z = 0, the solution itself when λ is large

    @property
    def dimension(self) -> int:
        return sum(self.shape) + 1

    def known(self) -> tuple[str, tuple[int, int], float]:
        """What the problem depends on."""
        return ("NuclearPenalty", self.shape, self.lam)

    def lift(self, objective: Any) -> PenalizedObjective:
        return PenalizedObjective(NuclearBall(self.shape, self.radius).lift(objective), self.lam, self.radius)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """The slack coordinate: Z = 0."""
        slack = np.zeros(self.dimension, dtype)
        slack[-1] = 1.0
        return Atoms.of(slack)

    def lower(self, atoms: Atoms) -> Rectangular:
        """The singular value decomposition: Σs is then the nuclear norm, the least that can be charged."""
        m, vectors = self.shape[0], atoms.vectors
        U, s, V = Rectangular(vectors[:m], 2 * self.radius * atoms.weights, vectors[m:-1]).svd()
        kept = s > 4 * EPS * self.radius  # what is left of zero after rounding is zero
        return Rectangular(U[:, kept], s[kept], V[:, kept])

    def raised(self, factors: Factors) -> Atoms:
        """As on the ball, but what is left goes to the slack coordinate."""
        U, s, V = unit_factors(self, Rectangular(*factors.triple()))
        if s.size:
            U, s, V = Rectangular(U, s, V).svd()
        total = float(s.sum())
        if total > self.radius * (1 + 1e-6):
            raise ValueError(
                f"start has nuclear norm {total:.6g}, but no solution has more than {self.radius:.6g}: scale it down, "
                "or pass a larger bound= to Penalized."
            )
        columns = np.zeros((self.dimension, s.size + 1), np.result_type(U, V))
        columns[: self.shape[0], :-1], columns[self.shape[0] : -1, :-1], columns[-1, -1] = U, V, 1.0
        rest = max(0.0, self.radius - total)
        return Atoms.of(columns, np.append(s, rest)) if rest > 0 else Atoms.of(columns[:, :-1], s)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """Singular values less λ·step, cut off at zero."""
        return capped(values - self.lam * step, self.radius)

    def prox(self, matrix: Array, step: float) -> Rectangular:
        U, s, Vh = np.linalg.svd(matrix, full_matrices=False)
        s = self.shrink(s, step)
        kept = s > 0
        return Rectangular(U[:, kept], s[kept], dagger(Vh)[:, kept])


@dataclass(frozen=True)
class TracePenalty:
    """λ·tr X over X ⪰ 0; ``trace`` is one that no solution exceeds."""

    d: int
    lam: float
    trace: float = field(repr=False)

    hermitian = True
    jumps = False

    @property
    def shape(self) -> tuple[int, int]:
        return (self.d, self.d)

    @property
    def dimension(self) -> int:
        return self.d + 1

    def known(self) -> tuple[str, int, float]:
        """What the problem depends on."""
        return ("TracePenalty", self.d, self.lam)

    @property
    def _ball(self) -> TraceBall:
        return TraceBall(self.d, self.trace)

    def lift(self, objective: Any) -> PenalizedObjective:
        return PenalizedObjective(self._ball.lift(objective), self.lam, self.trace)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        return self._ball.start(dtype, rng)

    def lower(self, atoms: Atoms) -> Symmetric:
        found = self._ball.lower(atoms)
        kept = found.weights > 4 * EPS * self.trace
        return Symmetric(found.vectors[:, kept], found.weights[kept])

    def raised(self, factors: Factors) -> Atoms:
        return self._ball.raised(factors)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """Eigenvalues less λ·step, cut off at zero."""
        return capped(values - self.lam * step, self.trace)

    def prox(self, matrix: Array, step: float) -> Symmetric:
        values, vectors = np.linalg.eigh(0.5 * (matrix + dagger(matrix)))
        values = self.shrink(values, step)
        kept = values > 0
        return Symmetric(np.ascontiguousarray(vectors[:, kept]), values[kept])
