"""The iterate X = Σ aᵢ xᵢxᵢᴴ on the unit spectrahedron: unit columns xᵢ, weights aᵢ ≥ 0 that sum to one.

Columns in single precision are unit to seven digits, and their weights sum to one to as many.

An ``Atoms`` is a small value: weights, and which columns of a shared, append-only buffer they belong to. A move
costs one column and k numbers; nobody copies d × k per step, and an older point stays what it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..places.here import HERE
from ..places.numpy import EPS, Array
from ..places.protocol import Block, Buffer, Place
from .factors import Symmetric

GONE = 4 * EPS  # weights up to here are rounding, not atoms
_SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


@dataclass(frozen=True, eq=False)
class Atoms:
    """A convex combination of rank-ones."""

    buffer: Buffer
    index: Array
    weights: Array

    @classmethod
    def of(cls, vectors: Block, weights: Array | None = None, place: Place = HERE) -> Atoms:
        """From columns (made unit) and weights (made to sum to one).

        Where columns are kept in single precision, they are unit to seven digits; the weights are then such that X has
        trace one to all digits: a point outside, however little, may have a value that no point inside has.
        """
        vectors = place.from_host(vectors) if isinstance(vectors, np.ndarray) else vectors
        weights = np.ones(place.width(vectors)) if weights is None else np.asarray(weights, dtype=float)
        vectors = place.unit(vectors)
        total = weights @ place.norms(vectors) ** 2 if place.kind(vectors) in _SINGLE else weights.sum()
        return cls(place.buffer(vectors), np.arange(weights.size), weights / total)

    def __len__(self) -> int:
        return int(self.weights.size)

    @property
    def place(self) -> Place:
        return self.buffer.place

    @property
    def dimension(self) -> int:
        return self.place.length(self.buffer.block)

    @property
    def vectors(self) -> Block:
        """The atoms as columns (a copy)."""
        return self.place.columns(self.buffer.block, self.index)

    def vector(self, i: int) -> Block:
        """Atom i, one column (a copy)."""
        return self.place.columns(self.buffer.block, self.index[i : i + 1] if i >= 0 else self.index[i:][:1])

    def factor(self) -> Block:
        """Y with X = YYᴴ."""
        return self.place.scale(self.vectors, np.sqrt(self.weights))

    def at(self, place: Place) -> Atoms:
        """The same at another place."""
        if place is self.place:
            return self
        columns = place.from_host(self.place.to_host(self.vectors))
        return Atoms(place.buffer(columns), np.arange(len(self)), self.weights)

    def sample(self, rng: np.random.Generator) -> int:
        """Draw i with probability aᵢ."""
        cumulative = self.weights.cumsum()
        return min(int(cumulative.searchsorted(rng.random() * cumulative[-1], "right")), len(self) - 1)

    def blend(self, v: Block, size: float) -> Atoms:
        """X + size·(vvᴴ − X): towards a new atom."""
        return self._with((1.0 - size) * self.weights, v, size)

    def move(self, i: int, v: Block, size: float) -> Atoms:
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

    def spread(self, weights: Array, v: Block, size: float) -> Atoms:
        """New weights for all atoms and one of ``size`` for v; they are made to sum to one."""
        return self._with(weights, v, size)

    def away(self, i: int, size: float) -> Atoms:
        """X + size·(X − xᵢxᵢᴴ): away from atom i; size aᵢ/(1 − aᵢ) drops it."""
        weights = (1.0 + size) * self.weights
        weights[i] -= size
        return self._with(weights)

    def compress(self) -> Atoms:
        """The same X as its eigendecomposition: the fewest atoms there can be."""
        values, vectors = Symmetric(self.vectors, self.weights, self.place).eigh()
        return Atoms.of(vectors, values, self.place)

    def _with(self, weights: Array, v: Block | None = None, size: float = 0.0) -> Atoms:
        index, buffer = self.index, self.buffer
        if weights.size and not weights.min() > GONE:
            kept = weights > GONE
            index, weights = index[kept], weights[kept]
        if buffer.used > 1.2 * index.size + 8:  # every block product pays for atoms that nobody uses any more
            buffer = buffer.kept(index)
            index = np.arange(index.size)
        if v is not None and size > GONE:
            v = self.place.from_host(v) if isinstance(v, np.ndarray) else v
            index = _and(index, buffer.append(self.place.unit(v)))
            weights = _and(weights, size)
        return Atoms(buffer, index, weights / weights.sum())


def _and(numbers: Array, last: float) -> Array:
    """One number more (``numpy.append`` takes as long as a small product)."""
    more = np.empty(numbers.size + 1, numbers.dtype)
    more[:-1] = numbers
    more[-1] = last
    return more
