"""Spectrahedron, TraceBall, NuclearBall: each a lift of the unit spectrahedron S_d, both ways.

A lift is three things: the rows ``left`` and ``right`` of an upstairs vector that make the block the user sees, and
a ``scale``: Z = scale · X[left, right]. From these follow atoms, images, gradients, smoothness and results:

==============  ===========  ===============  =======  ==================  ===================
set             dimension    left, right      scale    smoothness          strong convexity
==============  ===========  ===============  =======  ==================  ===================
Spectrahedron   d            all, all         τ        τ²β                 τ²α
TraceBall       d + 1        first d, same    τ        τ²β                 0 (the slack is free)
NuclearBall     m + n        first m, last n  2θ       2θ²β                0 (the diagonal blocks are free)
==============  ===========  ===============  =======  ==================  ===================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import whole
from ..matrices.atoms import Atoms
from ..matrices.factors import Factors, Symmetric
from ..objectives import Objective
from ..places.here import HERE
from ..places.numpy import Array, contiguous, dagger, random_unit
from .ball import NuclearBall
from .given import LEAST, nonnegative, set_size
from .lift import LiftedObjective
from .spectra import capped, simplex

__all__ = ["LEAST", "NuclearBall", "Spectrahedron", "TraceBall"]


@dataclass(frozen=True)
class Spectrahedron:
    """{X ⪰ 0, tr X = trace}: density matrices, kernels, metrics. Real or complex as the objective is."""

    d: int
    trace: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", whole("Spectrahedron", "d", self.d))
        object.__setattr__(self, "trace", set_size("Spectrahedron", "trace", self.trace))

    @property
    def shape(self) -> tuple[int, int]:
        return (self.d, self.d)

    hermitian = True
    jumps = True  # the start is of no worth: a method may leave it at once
    lam: ClassVar[float] = 0.0

    @property
    def size(self) -> float:
        return self.trace

    def known(self) -> Spectrahedron:
        return self

    @property
    def dimension(self) -> int:
        return self.d

    def lift(self, objective: Objective) -> LiftedObjective:
        whole = slice(0, self.d)
        return LiftedObjective(objective, whole, whole, self.d, self.trace, free=False)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """Algorithm 2's "arbitrary unit vector" x₀."""
        return Atoms.of(random_unit(self.d, dtype, rng))

    def lower(self, atoms: Atoms) -> Symmetric:
        return Symmetric(atoms.vectors, self.trace * atoms.weights, atoms.place)

    def raised(self, factors: Factors) -> Atoms:
        """Atoms of a given X; a trace off by more than 10⁻⁶ is refused, less is mended."""
        vectors, weights = nonnegative(self, factors)
        if not math.isclose(weights.sum(), self.trace, rel_tol=1e-6):
            raise ValueError(
                f"start has trace {weights.sum():.6g}, but the domain asks for {self.trace:.6g}: scale the weights."
            )
        return Atoms.of(vectors, weights, factors.place)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """What a Euclidean projection does to eigenvalues: on the simplex of size ``trace``."""
        return simplex(values, self.trace)

    def project(self, matrix: Array) -> Symmetric:
        """Euclidean projection of a dense matrix."""
        return _projected(self, matrix)

    def prox(self, matrix: Array, step: float) -> Symmetric:
        return _projected(self, matrix)  # whatever the length of the step


@dataclass(frozen=True)
class TraceBall:
    """{X ⪰ 0, tr X ≤ trace}: the spectrahedron with one slack coordinate."""

    d: int
    trace: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", whole("TraceBall", "d", self.d))
        object.__setattr__(self, "trace", set_size("TraceBall", "trace", self.trace))

    @property
    def shape(self) -> tuple[int, int]:
        return (self.d, self.d)

    hermitian = True
    jumps = True  # the start is of no worth: a method may leave it at once
    lam: ClassVar[float] = 0.0

    @property
    def size(self) -> float:
        return self.trace

    def known(self) -> TraceBall:
        return self

    @property
    def dimension(self) -> int:
        return self.d + 1

    def lift(self, objective: Objective) -> LiftedObjective:
        block = slice(0, self.d)
        return LiftedObjective(objective, block, block, self.d + 1, self.trace, free=True)

    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """The slack coordinate: X = 0."""
        return Atoms.of(HERE.axis(slice(0, self.d + 1), self.d, dtype))

    def lower(self, atoms: Atoms) -> Symmetric:
        place = atoms.place
        vectors = place.rows(atoms.vectors, slice(0, self.d))
        norms = place.norms(vectors)
        kept = norms > 0
        weights = self.trace * atoms.weights[kept] * norms[kept] ** 2
        return Symmetric(place.unit(place.columns(vectors, kept)), weights, place)

    def raised(self, factors: Factors) -> Atoms:
        vectors, weights = nonnegative(self, factors)
        total = weights.sum()
        if total > self.trace * (1 + 1e-6):
            raise ValueError(f"start has trace {total:.6g}, more than the domain's {self.trace:.6g}: scale it down.")
        place = factors.place
        padded = place.padded(vectors, 1)
        rest = max(0.0, self.trace - total)
        if rest <= 1e-15 * self.trace:
            return Atoms.of(padded, weights, place)
        slack = place.axis(slice(0, self.d + 1), self.d, place.kind(vectors).name)
        return Atoms.of(place.join(padded, slack), np.append(weights, rest), place)

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """Negative eigenvalues are cut off, then the simplex if the trace is still too large."""
        return capped(values, self.trace)

    def project(self, matrix: Array) -> Symmetric:
        """Euclidean projection of a dense matrix."""
        return _projected(self, matrix)

    def prox(self, matrix: Array, step: float) -> Symmetric:
        return _projected(self, matrix)  # whatever the length of the step


def _projected(domain: Spectrahedron | TraceBall, matrix: Array) -> Symmetric:
    """By the projection of the eigenvalues; those that become zero are left out."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + dagger(matrix)))
    values = domain.shrink(values)
    kept = values > 0
    return Symmetric(contiguous(vectors[:, kept]), values[kept])
