"""Leading singular vectors where every question is dear: Lanczos on RᴴR, its basis with the client.

The operator upstairs is [[0, R], [Rᴴ, 0]]: its leading eigenvalues are the singular values of R, and its eigenvectors
(u; v)/√2. A product with RᴴR takes one round, and nothing else does: the right side lives here. λ − θ of the square is
(σ − s)(σ + s), so an accuracy ξ of σ is one of about 2sξ there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..matrices.lifted import Lifted
from ..places.here import HERE
from ..places.numpy import EPS, Array
from ..places.protocol import Block, Place
from .krylov import Space

_HALF = 0.5**0.5
_SINGLE = {"float64": "float32", "complex128": "complex64"}
_ALSO = 4.0  # how much more the further values may still rise than the first ones
_LEAST = 4  # fewest extensions where further vectors are asked for: the first ones alone may be there sooner
_WIDEST = 16  # most vectors that an extension multiplies
_ON_DEVICE = 32  # the same at a place that is near: every extension decomposes a small matrix, whatever its width
_WIDE = 8  # least number of vectors that are multiplied at once
_MOST = 256  # and most, where the left side is at hand: it is as tall as the data


@dataclass(frozen=True, eq=False)
class Square:
    """RᴴR on the right side, which is at hand, or at a place where many products at once cost little."""

    inside: Lifted
    single: bool = False
    at_hand: bool = False

    @property
    def place(self) -> Place:
        return HERE if self.inside.place.distant else self.inside.place

    @property
    def shape(self) -> tuple[int, int]:
        n = self.inside.right.stop - self.inside.right.start
        return (n, n)

    @property
    def dtype(self) -> str:
        return _SINGLE[self.inside.dtype] if self.single else self.inside.dtype

    @property
    def products(self) -> float:
        return self.inside.products

    @property
    def sides(self) -> tuple[slice, ...]:
        return (slice(0, self.shape[0]),)

    def apply(self, side: int, V: Block) -> Block:
        return self.matmat(V)

    def matmat(self, V: Block) -> Block:
        width = self.place.width(V)
        if width <= _MOST or self.inside.place.distant:
            return self._times(V)
        parts = (slice(first, first + _MOST) for first in range(0, width, _MOST))
        return self.place.join(*(self._times(self.place.columns(V, part)) for part in parts))

    def _times(self, V: Block) -> Block:
        left = self.inside.apply(1, V)
        return self.inside.apply(0, self.inside.place.cast(left, np.dtype(self.dtype)) if self.single else left)

    def dense(self) -> Array:
        return self.place.to_host(self.matmat(self.place.from_host(np.eye(self.shape[0], dtype=self.dtype))))

    def noise(self) -> float:
        return 0.0


def wide_search(
    space: Space,
    count: int,
    also: int,
    accuracies: Callable[[Array], Array],
    products: float,
    rng: np.random.Generator,
    start: Block | None,
) -> tuple[tuple[Array, Block, Array], bool]:
    """Leading eigenpairs (values, vectors, errors) and whether the first ``count`` are exact enough.

    Every extension is one round, whatever its width, so it is by a block. It is from the residuals of the first ones
    alone: the others come out of the same basis, and a wider block would use up the products before it is deep enough.
    """
    wide = min(max(count + also, _WIDE), space.dimension)
    widest = _WIDEST if space.place is HERE else _ON_DEVICE
    space.seed(start, min(wide, widest), rng)
    before, done, goes_on, extended = np.full(wide, -np.inf), False, True, 0
    while goes_on:
        found = space.extract(wide)
        some = min(count + also, found.values.size)
        k, rose = min(count, some), found.values[:some] - before[:some]
        floor = 4 * EPS * space.norm * math.sqrt(space.dimension)
        wanted = np.maximum(accuracies(found.values[:some]), floor)
        done = bool(np.all(found.errors[:k] <= wanted[:k]) and np.all(rose[:k] <= wanted[:k]))
        done = done and bool(np.all(rose <= _ALSO * wanted)) and extended >= (_LEAST if also else 0)
        goes_on = not (done or space.full or space.products >= products)
        if goes_on:
            before[: found.values.size], extended = found.values, extended + 1
            goes_on = space.chain(found, np.arange(found.values.size) >= widest, 1, rng)
    vectors = space.assemble([part[:, :some] for part in found.parts])
    return (found.values[:some], vectors, found.errors[:some]), done or space.full


def right_start(operator: Lifted, start: Block | None) -> Block | None:
    return None if start is None else operator.place.rows(start, operator.right)


def upstairs(operator: Lifted, squares: Array, V: Block) -> tuple[Array, Block]:
    """Singular values and the vectors (u; v)/√2, u = Rv/σ, from eigenpairs of RᴴR."""
    values, place = np.sqrt(np.maximum(squares, 0.0)), operator.place
    U = place.scale(operator.apply(1, V), _HALF / np.maximum(values, np.finfo(np.float64).tiny))
    return values, place.unit(place.stack(U, place.scale(V, _HALF)))
