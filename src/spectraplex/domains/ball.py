"""The ball of the nuclear norm, lifted to positive semidefinite matrices of both sides (sets.py has the table)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import whole
from ..matrices.atoms import Atoms
from ..matrices.factors import Factors, Rectangular
from ..objectives import Objective
from ..places.numpy import Array, dagger, random_unit
from .given import set_size, unit_factors
from .lift import LiftedObjective
from .spectra import capped


@dataclass(frozen=True)
class NuclearBall:
    """{Z of shape (m, n): nuclear norm ≤ radius}, the upper-right block of S_{m+n}, times 2·radius."""

    shape: tuple[int, int]
    radius: float

    def __post_init__(self) -> None:
        try:
            m, n = self.shape
        except (TypeError, ValueError):
            raise ValueError(f"NuclearBall: shape must be (rows, columns), got {self.shape!r}.") from None
        shape = (whole("NuclearBall", "rows", m), whole("NuclearBall", "columns", n))
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "radius", set_size("NuclearBall", "radius", self.radius))

    hermitian = False
    jumps = True  # the start is of no worth: a method may leave it at once
    lam: ClassVar[float] = 0.0

    @property
    def size(self) -> float:
        return self.radius

    def known(self) -> NuclearBall:
        return self

    @property
    def dimension(self) -> int:
        return sum(self.shape)

    def lift(self, objective: Objective) -> LiftedObjective:
        m, n = self.shape
        return LiftedObjective(objective, slice(0, m), slice(m, m + n), m + n, 2 * self.radius, free=True)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """A unit vector with an empty lower half: Z = 0."""
        vector = np.zeros(self.dimension, dtype)
        vector[: self.shape[0]] = random_unit(self.shape[0], dtype, rng)
        return Atoms.of(vector)

    def lower(self, atoms: Atoms) -> Rectangular:
        """2·radius·aᵢ·pᵢqᵢᴴ with the halves made unit; ‖pᵢ‖ ≠ ‖qᵢ‖ in general, and 2‖pᵢ‖‖qᵢ‖ ≤ 1."""
        place, (m, n), vectors = atoms.place, self.shape, atoms.vectors
        P, Q = place.rows(vectors, slice(0, m)), place.rows(vectors, slice(m, m + n))
        p, q = place.norms(P), place.norms(Q)
        kept = (p > 0) & (q > 0)
        weights = 2 * self.radius * atoms.weights * p * q
        if not kept.all():
            P, Q = place.columns(P, kept), place.columns(Q, kept)
        return Rectangular(place.unit(P), weights[kept], place.unit(Q), place)

    def raised(self, factors: Factors) -> Atoms:
        """sᵢuᵢvᵢᴴ becomes the atom (a·uᵢ; b·vᵢ) of weight sᵢ/Σs, a² + b² = 1 and 2ab = Σs/radius.

        On the sphere a = b = 1/√2; inside, the unequal halves take up what is left of the radius.
        """
        place = factors.place
        U, s, V = unit_factors(self, factors)
        if s.sum() > self.radius * (1 + 1e-12):
            U, s, V = Rectangular(U, s, V, place).svd()
        if s.sum() > self.radius * (1 + 1e-6):
            raise ValueError(
                f"start has nuclear norm {s.sum():.6g}, more than the domain's radius {self.radius:.6g}: scale it down."
            )
        if s.size == 0:
            return Atoms.of(place.axis(slice(0, self.dimension), 0, place.kind(U).name), None, place)
        share = min(1.0, s.sum() / self.radius)
        a = math.sqrt(0.5 + 0.5 * math.sqrt(1.0 - share**2))
        return Atoms.of(place.stack(place.scale(U, a), place.scale(V, 0.5 * share / a)), s, place)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """What a Euclidean projection does to singular values: on the ℓ₁ ball of size ``radius``."""
        return capped(values, self.radius)

    def prox(self, matrix: Array, step: float) -> Rectangular:
        """A projected step, whatever its length."""
        return self.project(matrix)

    def project(self, matrix: Array) -> Rectangular:
        """Euclidean projection of a dense matrix."""
        U, s, Vh = np.linalg.svd(matrix, full_matrices=False)
        s = self.shrink(s)
        kept = s > 0
        return Rectangular(U[:, kept], s[kept], dagger(Vh)[:, kept])
