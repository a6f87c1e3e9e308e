"""Upstairs: a gradient as a Hermitian operator on the sides of the lift, with its products counted.

Written by hand because ``scipy.sparse.linalg.LinearOperator`` knows no sides, no counted products and no scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from ..places.numpy import Array, dagger
from .operators import Operator, Sparse


class Hermitian(Protocol):
    """A Hermitian operator of dimension d, by its products, which it counts.

    With one side ``apply(0, V)`` is ``matmat(V)``. With two sides the operator is [[0, R], [Rᴴ, 0]]: the product with
    vectors on one side lies on the other one, and counts half. ``noise`` is that of ``Operator``.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def products(self) -> float: ...
    @property
    def sides(self) -> tuple[slice, ...]: ...
    def apply(self, side: int, V: Array) -> Array: ...
    def matmat(self, V: Array) -> Array: ...
    def dense(self) -> Array: ...
    def noise(self) -> float: ...


@dataclass(eq=False)
class Lifted:
    """scale · (the Hermitian part of an operator placed in the block [left, right]) on the unit spectrahedron.

    With left = right it is the operator itself (padded by a slack coordinate on the trace ball). With disjoint
    blocks it is the bipartite matrix scale/2 · [[0, G], [Gᴴ, 0]]: then there are two ``sides``, a product with a
    vector that lives on one side costs half, and its result lives on the other side. ``products`` counts.
    """

    inside: Operator
    left: slice
    right: slice
    dimension: int
    scale: float
    products: float = 0.0

    @property
    def bipartite(self) -> bool:
        return self.left != self.right

    @property
    def shape(self) -> tuple[int, int]:
        return (self.dimension, self.dimension)

    @property
    def dtype(self) -> str:
        return self.inside.dtype

    @property
    def sides(self) -> tuple[slice, ...]:
        return (self.left, self.right) if self.bipartite else (slice(0, self.dimension),)

    def apply(self, side: int, V: Array) -> Array:
        """The product with vectors that live on one side; the result lives on the other one, if there are two."""
        width = V.shape[1]
        if self.bipartite:
            self.products += 0.5 * width
            return 0.5 * self.scale * (self.inside.matmat(V) if side == 1 else self.inside.rmatmat(V))
        self.products += width
        inner = V[self.left]
        image = self.scale * self.inside.matmat(inner)
        if not self.inside.hermitian:
            image = 0.5 * (image + self.scale * self.inside.rmatmat(inner))
        if inner.shape[0] == self.dimension:
            return cast(Array, image)
        out = np.zeros((self.dimension, width), image.dtype)
        out[self.left] = image
        return out

    def noise(self) -> float:
        return abs(self.scale) * float(self.inside.noise())

    def matmat(self, V: Array) -> Array:
        if not self.bipartite:
            return self.apply(0, V)
        product, scale = self.unscaled(V)
        product *= scale
        return product

    def unscaled(self, V: Array) -> tuple[Array, float]:
        """The product and a factor it is to be multiplied with; a sparse one writes both halves where they belong."""
        if not self.bipartite:
            return self.apply(0, V), 1.0
        self.products += V.shape[1]
        if isinstance(self.inside, Sparse):
            out = np.empty((self.dimension, V.shape[1]), np.result_type(self.dtype, V, np.float64))
            self.inside.matmat(V[self.right], out[self.left])
            self.inside.rmatmat(V[self.left], out[self.right])
        else:
            out = np.concatenate([self.inside.matmat(V[self.right]), self.inside.rmatmat(V[self.left])], axis=0)
        return out, 0.5 * self.scale

    def scores(self, buffer: Array, count: int) -> Array:
        """xᵢᴴ A xᵢ for the first ``count`` columns of a C-contiguous buffer: one block product, one side."""
        self.products += 0.5 * count if self.bipartite or not self.inside.hermitian else count
        return self.scale * self.inside.scores(buffer[self.left], buffer[self.right], count)

    def block(self) -> Array:
        """The block [left, right] of the matrix; of a bipartite one it says all."""
        self.products += min(self.inside.shape)
        matrix = self.inside.dense()
        return cast(Array, 0.5 * self.scale * (matrix if self.bipartite else matrix + dagger(matrix)))

    def dense(self) -> Array:
        """The d × d matrix, for projections, proofs and small problems; counts as d products, or the shorter side."""
        block = self.block()
        if block.shape == self.shape:
            return block
        out = np.zeros((self.dimension, self.dimension), self.dtype)
        out[self.left, self.right] = block
        if self.bipartite:
            out[self.right, self.left] = dagger(block)
        return out


@dataclass(frozen=True, eq=False)
class Shifted:
    """A Hermitian operator plus X diag(strength) Xᴴ, X having few unit columns (the paper's regulariser has one)."""

    inside: Lifted | Shifted
    X: Array
    strength: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.inside.shape

    @property
    def dtype(self) -> str:
        return np.result_type(self.inside.dtype, self.X).name

    @property
    def sides(self) -> tuple[slice, ...]:
        return (slice(0, self.shape[0]),)

    def noise(self) -> float:
        return self.inside.noise()

    def apply(self, side: int, V: Array) -> Array:
        return self.matmat(V)

    def matmat(self, V: Array) -> Array:
        return cast(Array, self.inside.matmat(V) + (self.X * self.strength) @ (dagger(self.X) @ V))

    def unscaled(self, V: Array) -> tuple[Array, float]:
        return self.matmat(V), 1.0

    @property
    def products(self) -> float:
        return float(self.inside.products)

    def scores(self, buffer: Array, count: int) -> Array:
        seen = np.abs(dagger(self.X) @ buffer[:, :count]) ** 2
        return cast(Array, self.inside.scores(buffer, count) + self.strength @ seen)

    def dense(self) -> Array:
        return cast(Array, self.inside.dense() + (self.X * self.strength) @ dagger(self.X))
