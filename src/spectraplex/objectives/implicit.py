"""Implicit: which entries of a row are observed says something about it, whatever their values.

    f(W) = g(W₁ + F W₂),   W = [W₁; W₂],   F = strength · (the observed pattern, row i divided by √nᵢ)

W has a row of its own for every row of the table and one for every column: a row of the table gets its own part and, on
top, the mean of what its observed columns contribute. One nuclear norm bounds both, so a row with few observations is
mostly explained by which ones they are. The problem stays convex, and everything certified of it stays certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..losses.curves import Curve
from ..losses.protocol import Conjugate
from ..matrices.operators import Sparse
from ..places.numpy import EPS, Array, contiguous
from ..places.pattern import Pattern
from .inner import Inner
from .intercepts import Intercepts, rounding_of


@dataclass(frozen=True, eq=False)
class Stacked:
    """[G; FᵀG] for a sparse G and the F above."""

    G: Sparse
    F: Sparse
    hermitian: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return (self.G.shape[0] + self.F.shape[1], self.G.shape[1])

    @property
    def dtype(self) -> str:
        return self.G.dtype

    def noise(self) -> float:
        """Of FᵀG times a unit vector, whose sums are as long as the longest row or column."""
        longest = max(int(np.diff(p.indptr.astype(np.int64)).max()) for p in (self.G.pattern, *self._turned))
        return 4 * EPS * longest * float(np.linalg.norm(self.F.data) * np.linalg.norm(self.G.data))

    @property
    def _turned(self) -> tuple[Pattern]:
        return (self.G.pattern.transposed[0],)

    def matmat(self, V: Array) -> Array:
        image = self.G.matmat(V)
        return np.concatenate([image, self.F.rmatmat(image)], axis=0)

    def rmatmat(self, U: Array) -> Array:
        m = self.G.shape[0]
        return self.G.rmatmat(U[:m] + self.F.matmat(U[m:]))

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        m = self.G.shape[0]
        left = P[:m, :count] + self.F.matmat(P[m:, :count])
        return np.asarray(np.einsum("ik,ik->k", left, self.G.matmat(Q[:, :count])))

    def dense(self) -> Array:
        G = self.G.dense()
        return np.concatenate([G, self.F.dense().T @ G], axis=0)


class Implicit:
    """An ``Intercepts`` objective g of an m × n table, as a function of (m + n) × n matrices; see above."""

    inexact = True  # as the one inside
    single = True
    dtype = "float64"

    def __init__(self, inside: Intercepts, strength: float) -> None:
        self.inside, self.strength = inside, strength
        m, n = inside.shape
        self.shape = (m + n, n)
        pattern = inside.pattern
        counts = np.diff(pattern.indptr).astype(np.int64)
        self.F = Sparse(pattern, np.repeat(strength / np.sqrt(np.maximum(counts, 1)), counts))

    def seen(self, U: Array) -> Array:
        """The rows of the table: their own part and that of their observed columns."""
        m = self.inside.shape[0]
        return (U[:m] + self.F.matmat(contiguous(U[m:]))).astype(U.dtype, copy=False)

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self.inside.measure(self.seen(U), s, V)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return self.inside.combine(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        return self.inside.evaluate(z)

    def along(self, z: Array, dz: Array) -> Curve:
        return self.inside.along(z, dz)

    def pair(self, slope: Array, z: Array) -> float:
        return self.inside.pair(slope, z)

    def gradient(self, slope: Array) -> Stacked:
        return Stacked(self.inside.gradient(slope), self.F)

    def conjugate(self, slope: Array) -> Conjugate:
        return self.inside.conjugate(slope)

    def inner(self, z: Array) -> Inner:
        return self.inside.inner(z)

    def parts(self) -> tuple[Any, ...]:
        return ("Implicit", float(self.strength).hex(), *self.inside.parts())

    @cached_property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖: ‖F‖² is at most its largest row sum times its largest column sum."""
        ones, columns = np.ones(self.F.shape[1]), np.ones(self.F.shape[0])
        square = float(self.F.matmat(ones[:, None]).max()) * float(self.F.rmatmat(columns[:, None]).max())
        return self.inside.reach * float(np.sqrt(1.0 + square)) * (1 + 1e-9)

    @property
    def slack(self) -> float:
        return self.inside.slack

    @property
    def _sizes(self) -> float:
        return self.inside._sizes

    @property
    def bend(self) -> float:
        return self.inside.bend

    @property
    def steepest(self) -> float:
        return self.inside.steepest

    def rounding(self, value: float, slope: Array, size: float, terms: int) -> float:
        """That of the table, its factors as large as [I, F] can make them."""
        return rounding_of(self, value, slope, size, terms + self.shape[1], self._sizes, self.slack)

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        rows, cols = self.inside.coverage
        pattern, flipped = self.F.pattern.flip(self.F.data**2)
        return np.concatenate([rows, pattern.multiply(flipped, rows)]), cols

    def __repr__(self) -> str:
        return f"Implicit({self.inside!r}, strength {self.strength!r})"
