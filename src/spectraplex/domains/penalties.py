"""NuclearPenalty and TracePenalty: in place of a ball, as ``Penalized`` has them; the mathematics is in charged.py."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..matrices.atoms import Atoms
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..objectives import Objective
from ..places.here import HERE
from ..places.numpy import EPS, Array, contiguous, dagger
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

    def lift(self, objective: Objective) -> PenalizedObjective:
        return PenalizedObjective(NuclearBall(self.shape, self.radius).lift(objective), self.lam, self.radius)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """The slack coordinate: Z = 0."""
        return Atoms.of(HERE.axis(slice(0, self.dimension), self.dimension - 1, dtype))

    def lower(self, atoms: Atoms) -> Rectangular:
        """The singular value decomposition: Σs is then the nuclear norm, the least that can be charged."""
        (m, n), vectors, place = self.shape, atoms.vectors, atoms.place
        left, right = place.rows(vectors, slice(0, m)), place.rows(vectors, slice(m, m + n))
        U, s, V = Rectangular(left, 2 * self.radius * atoms.weights, right, place).svd()
        kept = s > 4 * EPS * self.radius  # what is left of zero after rounding is zero
        return Rectangular(place.columns(U, kept), s[kept], place.columns(V, kept), place)

    def raised(self, factors: Factors) -> Atoms:
        """As on the ball, but what is left goes to the slack coordinate."""
        place = factors.place
        U, s, V = unit_factors(self, factors)
        if s.size:
            U, s, V = Rectangular(U, s, V, place).svd()
        total = float(s.sum())
        if total > self.radius * (1 + 1e-6):
            raise ValueError(
                f"start has nuclear norm {total:.6g}, but no solution has more than {self.radius:.6g}: scale it down, "
                "or pass a larger bound= to Penalized."
            )
        columns, rest = place.padded(place.stack(U, V), 1), max(0.0, self.radius - total)
        if rest == 0.0:
            return Atoms.of(columns, s, place)
        slack = place.axis(slice(0, self.dimension), self.dimension - 1, place.kind(columns).name)
        return Atoms.of(place.join(columns, slack), np.append(s, rest), place)

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

    def lift(self, objective: Objective) -> PenalizedObjective:
        return PenalizedObjective(self._ball.lift(objective), self.lam, self.trace)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        return self._ball.start(dtype, rng)

    def lower(self, atoms: Atoms) -> Symmetric:
        found = self._ball.lower(atoms)
        kept = found.weights > 4 * EPS * self.trace
        return Symmetric(found.place.columns(found.vectors, kept), found.weights[kept], found.place)

    def raised(self, factors: Factors) -> Atoms:
        return self._ball.raised(factors)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """Eigenvalues less λ·step, cut off at zero."""
        return capped(values - self.lam * step, self.trace)

    def prox(self, matrix: Array, step: float) -> Symmetric:
        values, vectors = np.linalg.eigh(0.5 * (matrix + dagger(matrix)))
        values = self.shrink(values, step)
        kept = values > 0
        return Symmetric(contiguous(vectors[:, kept]), values[kept])
