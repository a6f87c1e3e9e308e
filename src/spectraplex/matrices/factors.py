"""What the user gets: X = V diag(w) Vᴴ, or Z = U diag(s) Vᴴ, never a dense matrix unless asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..places.here import HERE
from ..places.numpy import EPS, Array, dagger
from ..places.protocol import Block, Place


@dataclass(frozen=True, eq=False)
class Symmetric:
    """X = Σ weightsᵢ vᵢvᵢᴴ: unit columns in ``vectors``, weights ≥ 0 that sum to the trace."""

    vectors: Block
    weights: Array
    place: Place = field(default=HERE, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.place.length(self.vectors),) * 2

    @property
    def dtype(self) -> str:
        return self.place.kind(self.vectors).name

    def at(self, place: Place) -> Symmetric:
        """The same at another place."""
        return self if place is self.place else Symmetric(_moved(self.vectors, self.place, place), self.weights, place)

    @property
    def trace(self) -> float:
        return float(self.weights.sum())

    def triple(self) -> tuple[Block, Array, Block]:
        """(U, s, V) with X = U diag(s) Vᴴ."""
        return self.vectors, self.weights, self.vectors

    def dense(self) -> Array:
        """The d × d matrix."""
        vectors = self.place.to_host(self.vectors)
        return (vectors * self.weights) @ dagger(vectors)

    def entries(self, rows: Any, cols: Any) -> Array:
        """X[rows, cols], pair by pair."""
        return _entries(self.at(HERE), rows, cols)

    def eigh(self) -> tuple[Array, Block]:
        """Eigenvalues, largest first, and orthonormal eigenvectors as columns; those at rounding level left out."""
        place, count = self.place, self.weights.size
        if count > self.shape[0]:
            values, turn = np.linalg.eigh(self.dense())
            values, turn, basis = values[::-1], turn[:, ::-1], None
        else:
            basis, R = place.qr(place.scale(self.vectors, np.sqrt(self.weights)))
            turn, roots, _ = np.linalg.svd(R, full_matrices=False)
            values = roots**2
        kept = values > EPS * max(1, count) * np.max(values, initial=0.0)
        turn = np.ascontiguousarray(turn[:, kept])
        return values[kept], place.from_host(turn) if basis is None else place.times(basis, turn)

    def __repr__(self) -> str:
        return f"Symmetric({self.shape[0]}×{self.shape[1]}, {self.weights.size} atoms, trace {self.trace:.6g})"


@dataclass(frozen=True, eq=False)
class Rectangular:
    """Z = Σ sᵢ uᵢvᵢᴴ: unit columns in ``U`` and ``V``, s ≥ 0; Σ sᵢ bounds the nuclear norm."""

    U: Block
    s: Array
    V: Block
    place: Place = field(default=HERE, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.place.length(self.U), self.place.length(self.V))

    @property
    def dtype(self) -> str:
        return np.result_type(self.place.kind(self.U), self.place.kind(self.V)).name

    def at(self, place: Place) -> Rectangular:
        """The same at another place."""
        if place is self.place:
            return self
        m, n = self.shape
        left, right = slice(0, m), slice(m, m + n)
        U, V = _moved(self.U, self.place, place, left), _moved(self.V, self.place, place, right)
        return Rectangular(U, self.s, V, place)

    def triple(self) -> tuple[Block, Array, Block]:
        """(U, s, V) with Z = U diag(s) Vᴴ."""
        return self.U, self.s, self.V

    def dense(self) -> Array:
        """The m × n matrix."""
        return (self.place.to_host(self.U) * self.s) @ dagger(self.place.to_host(self.V))

    def entries(self, rows: Any, cols: Any) -> Array:
        """Z[rows, cols], pair by pair."""
        return _entries(self.at(HERE), rows, cols)

    def svd(self) -> tuple[Block, Array, Block]:
        """(U, s, V) with orthonormal columns, s largest first; singular values at rounding level left out."""
        place, k = self.place, self.s.size
        left, R = thin(place, place.scale(self.U, self.s), k)
        right, S = thin(place, self.V, k)
        P, s, Qh = np.linalg.svd(R @ dagger(S), full_matrices=False)
        kept = s > EPS * max(1, k) * np.max(s, initial=0.0)
        P, Q = np.ascontiguousarray(P[:, kept]), np.ascontiguousarray(dagger(Qh)[:, kept])
        m, n = self.shape
        U = place.from_host(P, slice(0, m)) if left is None else place.times(left, P)
        V = place.from_host(Q, slice(m, m + n)) if right is None else place.times(right, Q)
        return U, s[kept], V

    def __repr__(self) -> str:
        return f"Rectangular({self.shape[0]}×{self.shape[1]}, {self.s.size} atoms, Σs {self.s.sum():.6g})"


Factors = Symmetric | Rectangular


def thin(place: Place, A: Block, k: int) -> tuple[Block | None, Array]:
    """A = Q·R; a block that is shorter than wide is small, and its own R."""
    return place.qr(A) if k <= place.length(A) else (None, place.to_host(A))


def _moved(A: Block, old: Place, new: Place, part: slice | None = None) -> Block:
    """A at another place; what is on its device already does not travel."""
    stays = old.name == new.name and not new.distant
    return new.from_host(old.packed(A) if stays else old.to_host(A), part)


def as_factors(start: Any, owner: str) -> Factors:
    """Factors from factors, (vectors, weights) or (U, s, V)."""
    if isinstance(start, Symmetric | Rectangular) and start.place is not HERE:
        return start
    if isinstance(start, Symmetric):
        start = (start.vectors, start.weights)
    elif isinstance(start, Rectangular):
        start = start.triple()
    if isinstance(start, tuple) and len(start) in (2, 3):
        try:
            parts = [np.asarray(part) for part in start]
        except ValueError:
            raise ValueError(f"{owner} is ragged: all rows of a factor need the same length.") from None
        if any(part.dtype.kind not in "buifc" for part in parts):
            raise TypeError(f"{owner} must hold numbers, (vectors, weights) or (U, s, V).")
        if len(parts) == 2:
            return Symmetric(parts[0], parts[1])
        return Rectangular(parts[0], parts[1], parts[2])
    raise TypeError(f"{owner} must be a Result, factors, (vectors, weights) or (U, s, V), got {type(start).__name__}.")


def _entries(factors: Factors, rows: Any, cols: Any) -> Array:
    shape, (U, s, V) = factors.shape, factors.triple()
    try:
        rows, cols = np.broadcast_arrays(np.asarray(rows), np.asarray(cols))
    except ValueError:
        raise ValueError("entries: rows and cols must be whole numbers, as many of one as of the other.") from None
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
