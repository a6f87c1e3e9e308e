"""What the user gets: X = V diag(w) Vᴴ, or Z = U diag(s) Vᴴ, never a dense matrix unless asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..places.numpy import EPS, Array, dagger


@dataclass(frozen=True, eq=False)
class Symmetric:
    """X = Σ weightsᵢ vᵢvᵢᴴ: unit columns in ``vectors``, weights ≥ 0 that sum to the trace."""

    vectors: Array
    weights: Array

    @property
    def shape(self) -> tuple[int, int]:
        return (self.vectors.shape[0], self.vectors.shape[0])

    @property
    def dtype(self) -> str:
        return self.vectors.dtype.name

    @property
    def trace(self) -> float:
        return float(self.weights.sum())

    def triple(self) -> tuple[Array, Array, Array]:
        """(U, s, V) with X = U diag(s) Vᴴ."""
        return self.vectors, self.weights, self.vectors

    def dense(self) -> Array:
        """The d × d matrix."""
        return cast(Array, (self.vectors * self.weights) @ dagger(self.vectors))

    def entries(self, rows: Any, cols: Any) -> Array:
        """X[rows, cols], pair by pair."""
        return _entries(self.shape, *self.triple(), rows, cols)

    def eigh(self) -> tuple[Array, Array]:
        """Eigenvalues, largest first, and orthonormal eigenvectors as columns; those at rounding level left out."""
        if self.vectors.shape[1] > self.vectors.shape[0]:
            values, vectors = np.linalg.eigh(self.dense())
            values, vectors = values[::-1], vectors[:, ::-1]
        else:
            vectors, roots, _ = np.linalg.svd(self.vectors * np.sqrt(self.weights), full_matrices=False)
            values = roots**2
        kept = values > EPS * max(1, self.vectors.shape[1]) * np.max(values, initial=0.0)
        return values[kept], np.ascontiguousarray(vectors[:, kept])

    def __repr__(self) -> str:
        return f"Symmetric({self.shape[0]}×{self.shape[1]}, {self.weights.size} atoms, trace {self.trace:.6g})"


@dataclass(frozen=True, eq=False)
class Rectangular:
    """Z = Σ sᵢ uᵢvᵢᴴ: unit columns in ``U`` and ``V``, s ≥ 0; Σ sᵢ bounds the nuclear norm."""

    U: Array
    s: Array
    V: Array

    @property
    def shape(self) -> tuple[int, int]:
        return (self.U.shape[0], self.V.shape[0])

    @property
    def dtype(self) -> str:
        return np.result_type(self.U, self.V).name

    def triple(self) -> tuple[Array, Array, Array]:
        """(U, s, V) with Z = U diag(s) Vᴴ."""
        return self.U, self.s, self.V

    def dense(self) -> Array:
        """The m × n matrix."""
        return cast(Array, (self.U * self.s) @ dagger(self.V))

    def entries(self, rows: Any, cols: Any) -> Array:
        """Z[rows, cols], pair by pair."""
        return _entries(self.shape, *self.triple(), rows, cols)

    def svd(self) -> tuple[Array, Array, Array]:
        """(U, s, V) with orthonormal columns, s largest first; singular values at rounding level left out."""
        k = self.s.size
        left, R = np.linalg.qr(self.U * self.s) if k <= self.shape[0] else (None, self.U * self.s)
        right, S = np.linalg.qr(self.V) if k <= self.shape[1] else (None, self.V)
        P, s, Qh = np.linalg.svd(R @ dagger(S), full_matrices=False)
        U = P if left is None else left @ P
        V = dagger(Qh) if right is None else right @ dagger(Qh)
        kept = s > EPS * max(1, k) * np.max(s, initial=0.0)
        return np.ascontiguousarray(U[:, kept]), s[kept], np.ascontiguousarray(V[:, kept])

    def __repr__(self) -> str:
        return f"Rectangular({self.shape[0]}×{self.shape[1]}, {self.s.size} atoms, Σs {self.s.sum():.6g})"


Factors = Symmetric | Rectangular


def as_factors(start: Any, owner: str) -> Factors:
    """Factors from factors, (vectors, weights) or (U, s, V)."""
    if isinstance(start, Symmetric | Rectangular):
        return start
    if isinstance(start, tuple) and len(start) in (2, 3):
        try:
            parts = [np.asarray(part) for part in start]
        except ValueError:
            raise ValueError(f"{owner} is ragged: all rows of a factor need the same length.") from None
        if any(part.dtype.kind not in "buifc" for part in parts):
            raise TypeError(f"{owner} must hold numbers, (vectors, weights) or (U, s, V).")
        return Symmetric(*parts) if len(parts) == 2 else Rectangular(*parts)
    raise TypeError(f"{owner} must be a Result, factors, (vectors, weights) or (U, s, V), got {type(start).__name__}.")


def _entries(shape: tuple[int, int], U: Array, s: Array, V: Array, rows: Any, cols: Any) -> Array:
    rows, cols = np.broadcast_arrays(np.asarray(rows), np.asarray(cols))
    for name, index, bound in (("rows", rows, shape[0]), ("cols", cols, shape[1])):
        if index.size and not np.issubdtype(index.dtype, np.integer):
            raise TypeError(f"entries: {name} must be integers, got {index.dtype}.")
        if index.size and (index.min() < 0 or index.max() >= bound):
            raise ValueError(
                f"entries: {name} run from {index.min()} to {index.max()}, outside 0 … {bound - 1} of a {shape} matrix."
            )
    left, out = U * s, np.empty(rows.size, np.result_type(U, V))
    flat_rows, flat_cols = rows.ravel(), cols.ravel()
    width = max(1, 2_000_000 // max(1, s.size))  # a temporary of 16 MB, whatever the number of entries
    for low in range(0, rows.size, width):
        part = slice(low, low + width)
        out[part] = np.einsum("ek,ek->e", left[flat_rows[part]], V[flat_cols[part]].conj())
    return out.reshape(rows.shape)
