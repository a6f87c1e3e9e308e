"""Upstairs: a gradient as a Hermitian operator on the sides of the lift, with its products counted.

Written by hand because ``scipy.sparse.linalg.LinearOperator`` knows no sides, no counted products and no scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array, dagger
from ..places.protocol import Block, Place
from .operators import Operator, Sparse

_HEAVY = 2_000_000  # multiply-adds of a scoring from which single precision pays


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
    @property
    def place(self) -> Place: ...
    @property
    def at_hand(self) -> bool:
        """Whether ``dense`` costs less than its products with all axes."""
        ...

    def apply(self, side: int, V: Block) -> Block: ...
    def matmat(self, V: Block) -> Block: ...
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
    place: Place = HERE
    products: float = 0.0
    at_hand: ClassVar[bool] = True

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

    def apply(self, side: int, V: Block) -> Block:
        """The product with vectors that live on one side; the result lives on the other one, if there are two."""
        place = self.place
        width = place.width(V)
        if self.bipartite:
            self.products += 0.5 * width
            image = self.inside.matmat(V) if side == 1 else self.inside.rmatmat(V)
            return place.scale(image, 0.5 * self.scale)
        self.products += width
        inner = place.rows(V, self.left)
        image = self.inside.matmat(inner)
        if self.inside.hermitian:
            image = place.scale(image, self.scale)
        else:
            image = place.blend(0.5 * self.scale, image, 0.5 * self.scale, self.inside.rmatmat(inner))
        return place.padded(image, self.dimension - place.length(image))

    def noise(self) -> float:
        return abs(self.scale) * float(self.inside.noise())

    def matmat(self, V: Block) -> Block:
        if not self.bipartite:
            return self.apply(0, V)
        product, scale = self.unscaled(V)
        return self.place.scale(product, scale)

    def unscaled(self, V: Block) -> tuple[Block, float]:
        """The product and a factor it is to be multiplied with; a sparse one writes both halves where they belong."""
        if not self.bipartite:
            return self.apply(0, V), 1.0
        place = self.place
        self.products += place.width(V)
        left, right = place.rows(V, self.left), place.rows(V, self.right)
        if isinstance(self.inside, Sparse):
            out = np.empty((self.dimension, V.shape[1]), np.result_type(self.dtype, V, np.float64))
            self.inside.matmat(right, out[self.left])
            self.inside.rmatmat(left, out[self.right])
        else:
            stacked = getattr(self.inside, "stacked", None)  # both products in one block, where it knows how
            both = None if stacked is None else stacked(left, right)
            out = place.stack(self.inside.matmat(right), self.inside.rmatmat(left)) if both is None else both
        return out, 0.5 * self.scale

    def scores(self, block: Block, count: int) -> Array:
        """xᵢᴴ A xᵢ for the first ``count`` columns of the block of a buffer: one block product, one side."""
        self.products += 0.5 * count if self.bipartite or not self.inside.hermitian else count
        P, Q = self.place.rows(block, self.left), self.place.rows(block, self.right)
        return self.scale * self.inside.scores(P, Q, count)

    def heavy(self, count: int) -> bool:
        """Whether scores of so many columns are worth single precision: a large sparse product waits for memory."""
        return isinstance(self.inside, Sparse) and self.inside.pattern.size * count > _HEAVY

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
    X: Block
    strength: Array

    @property
    def place(self) -> Place:
        return self.inside.place

    @property
    def at_hand(self) -> bool:
        return self.inside.at_hand

    @property
    def shape(self) -> tuple[int, int]:
        return self.inside.shape

    @property
    def dtype(self) -> str:
        return np.result_type(np.dtype(self.inside.dtype), self.place.kind(self.X)).name

    @property
    def sides(self) -> tuple[slice, ...]:
        return (slice(0, self.shape[0]),)

    def noise(self) -> float:
        return self.inside.noise()

    def apply(self, side: int, V: Block) -> Block:
        return self.matmat(V)

    def matmat(self, V: Block) -> Block:
        small = self.strength[:, None] * self.place.gram(self.X, V)
        return self.place.blend(1.0, self.inside.matmat(V), 1.0, self.place.times(self.X, small))

    def unscaled(self, V: Block) -> tuple[Block, float]:
        return self.matmat(V), 1.0

    @property
    def products(self) -> float:
        return float(self.inside.products)

    def scores(self, block: Block, count: int) -> Array:
        seen = np.abs(self.place.gram(self.X, self.place.columns(block, slice(0, count)))) ** 2
        return cast(Array, self.inside.scores(block, count) + self.strength @ seen)

    def heavy(self, count: int) -> bool:
        return self.inside.heavy(count)

    def dense(self) -> Array:
        X = self.place.to_host(self.X)
        return cast(Array, self.inside.dense() + (X * self.strength) @ dagger(X))
