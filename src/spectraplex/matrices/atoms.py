"""The iterate X = Σ aᵢ xᵢxᵢᴴ on the unit spectrahedron: unit columns xᵢ, weights aᵢ ≥ 0 that sum to one.

An ``Atoms`` is a small value: weights, and which columns of a shared, append-only buffer they belong to. A move
costs one column and k numbers; nobody copies d × k per step, and an older point stays what it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..places.numpy import EPS, Array
from .factors import Symmetric

_GONE = 4 * EPS  # weights up to here are rounding, not atoms


class Buffer:
    """Columns that are only ever added. Rows are contiguous, which is what the block products want."""

    def __init__(self, columns: Array, room: int = 16) -> None:
        count = columns.shape[1]
        # zeros, not whatever was there: block products run over a few columns more than are used
        self.array = np.zeros((columns.shape[0], count + room), columns.dtype)
        self.array[:, :count] = columns
        self.used = count
        self._single: Array | None = None
        self._single_used = 0

    def append(self, column: Array) -> int:
        if self.used == self.array.shape[1]:
            grown = np.zeros((self.array.shape[0], 2 * self.used), self.array.dtype)
            grown[:, : self.used] = self.array
            self.array = grown
        self.array[:, self.used] = column
        self.used += 1  # last, so that an interrupted append leaves nothing behind
        return self.used - 1

    def kept(self, index: Array) -> Buffer:
        """A new buffer with some of the columns, and room for more."""
        new = Buffer(self.array[:, :0], room=index.size + index.size // 4 + 16)
        np.take(self.array, index, axis=1, out=new.array[:, : index.size], mode="clip")
        new.used = index.size
        return new

    @property
    def single(self) -> Array:
        """The columns in single precision, kept up to date as they come: for comparing atoms, never for values."""
        if self._single is None or self._single.shape != self.array.shape:
            kind = np.complex64 if self.array.dtype.kind == "c" else np.float32
            self._single, self._single_used = np.zeros(self.array.shape, kind), 0
        new = slice(self._single_used, self.used)
        self._single[:, new] = self.array[:, new]
        self._single_used = self.used
        return self._single


@dataclass(frozen=True, eq=False)
class Atoms:
    """A convex combination of rank-ones."""

    buffer: Buffer
    index: Array
    weights: Array

    @classmethod
    def of(cls, vectors: Array, weights: Array | None = None) -> Atoms:
        """From columns (made unit) and weights (made to sum to one)."""
        vectors = vectors.reshape(vectors.shape[0], -1)
        weights = np.ones(vectors.shape[1]) if weights is None else np.asarray(weights, dtype=float)
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        return cls(Buffer(vectors), np.arange(weights.size), weights / weights.sum())

    def __len__(self) -> int:
        return int(self.weights.size)

    @property
    def dimension(self) -> int:
        return int(self.buffer.array.shape[0])

    @property
    def vectors(self) -> Array:
        """The atoms as columns (a copy)."""
        return self.buffer.array[:, self.index]

    def vector(self, i: int) -> Array:
        """Atom i (a copy)."""
        return self.buffer.array[:, self.index[i]].copy()

    def factor(self) -> Array:
        """Y with X = YYᴴ."""
        return cast(Array, self.vectors * np.sqrt(self.weights))

    def sample(self, rng: np.random.Generator) -> int:
        """Draw i with probability aᵢ."""
        cumulative = self.weights.cumsum()
        return min(int(cumulative.searchsorted(rng.random() * cumulative[-1], "right")), len(self) - 1)

    def blend(self, v: Array, size: float) -> Atoms:
        """X + size·(vvᴴ − X): towards a new atom."""
        return self._with((1.0 - size) * self.weights, v, size)

    def move(self, i: int, v: Array, size: float) -> Atoms:
        """X + size·(vvᴴ − xᵢxᵢᴴ): weight goes from atom i to a new one."""
        weights = self.weights.copy()
        weights[i] -= size
        return self._with(weights, v, size)

    def shift(self, i: int, j: int, size: float) -> Atoms:
        """X + size·(xⱼxⱼᴴ − xᵢxᵢᴴ): weight goes from atom i to atom j; size aᵢ drops atom i."""
        weights = self.weights.copy()
        weights[i] -= size
        weights[j] += size
        return self._with(weights)

    def away(self, i: int, size: float) -> Atoms:
        """X + size·(X − xᵢxᵢᴴ): away from atom i; size aᵢ/(1 − aᵢ) drops it."""
        weights = (1.0 + size) * self.weights
        weights[i] -= size
        return self._with(weights)

    def compress(self) -> Atoms:
        """The same X as its eigendecomposition: the fewest atoms there can be."""
        values, vectors = Symmetric(self.vectors, self.weights).eigh()
        return Atoms.of(vectors, values)

    def _with(self, weights: Array, v: Array | None = None, size: float = 0.0) -> Atoms:
        index, buffer = self.index, self.buffer
        if not weights.min(initial=1.0) > _GONE:
            kept = weights > _GONE
            index, weights = index[kept], weights[kept]
        if buffer.used > 1.2 * index.size + 8:  # every block product pays for atoms that nobody uses any more
            buffer = buffer.kept(index)
            index = np.arange(index.size)
        if v is not None and size > _GONE:
            index = _and(index, buffer.append(v / math.sqrt(np.vdot(v, v).real)))
            weights = _and(weights, size)
        return Atoms(buffer, index, weights / weights.sum())


def _and(numbers: Array, last: float) -> Array:
    """One number more (``numpy.append`` takes as long as a small product)."""
    more = np.empty(numbers.size + 1, numbers.dtype)
    more[:-1] = numbers
    more[-1] = last
    return more
