"""NuclearPenalty and TracePenalty: in place of a ball, as ``Penalized`` has them; the mathematics is in charged.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..matrices.atoms import Atoms
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..places.numpy import EPS, Array, dagger
from .charged import PenalizedObjective
from .given import unit_factors
from .sets import NuclearBall, TraceBall
from .spectra import capped


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
    def size(self) -> float:
        return self.radius

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
    def size(self) -> float:
        return self.trace

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
