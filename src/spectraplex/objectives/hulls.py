"""Hulls: the images of a few rank-ones and of X, as a quadratic asks for them: slopes and bends between, a mixture.

Of a long table only the mixture is written. Each pass samples the rank-ones again: that costs less than images of them
that have to be stored and read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..places.numpy import Array, mixture
from ..places.pattern import Pattern

_LONG = 20_000  # entries from which passes over a table are worth loading them
_CORNERS = 5  # rank-ones that one pass takes


class Hull(Protocol):
    """The images of rank-ones, v the first of them, and perhaps one image more."""

    def ways(self, slope: Any) -> tuple[Array, Array]:
        """Slopes along v − o for all the others, and the bends between these ways."""
        ...

    def mixture(self, sizes: Sequence[float]) -> Any:
        """Σ sizeᵢ·imageᵢ."""
        ...


@dataclass(frozen=True, eq=False)
class Written:
    """Of images as they are."""

    images: Sequence[Array]
    between: Callable[[Array, Array, Sequence[Array]], tuple[Array, Array]]  # ``LossFacts.ways`` with its weights

    def ways(self, slope: Array) -> tuple[Array, Array]:
        return self.between(slope, self.images[0], self.images[1:])

    def mixture(self, sizes: Sequence[float]) -> Array:
        return mixture(sizes, self.images)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Of rank-ones uᵢvᵢᵀ on the entries of a table, U and V of five columns, and an image that is written."""

    pattern: Pattern
    U: Array
    V: Array
    count: int  # of the columns that are rank-ones; the others are zero
    image: Array | None
    weights: Array | None

    def ways(self, slope: Array) -> tuple[Array, Array]:
        last = slope if self.image is None else self.image  # where there is none, any: it is not used
        slopes, bends = self.pattern.ways(slope, self.weights, self.U, self.V, last)
        used = [*range(self.count - 1), *([] if self.image is None else [_CORNERS - 1])]
        return slopes[used], bends[np.ix_(used, used)]

    def mixture(self, sizes: Sequence[float]) -> Array:
        more = np.zeros(_CORNERS)
        more[: self.count] = sizes[: self.count]
        if self.image is None:
            return self.pattern.sample(self.U * more, self.V)
        return self.pattern.mixture(self.U * more, self.V, sizes[-1], self.image)


@dataclass(frozen=True, eq=False)
class Hulls:
    """scale, U, V, image or None ↦ the hull of the rank-ones scale·uᵢvᵢᴴ and that image, for a quadratic."""

    measure: Callable[[Array, Array, Array], Array]
    between: Callable[..., tuple[Array, Array]]  # ``LossFacts.ways``
    weights: Array | None
    table: Pattern | None  # of the entries that are measured, where the quadratic is a plain square

    def __call__(self, scale: float, U: Array, V: Array, image: Array | None) -> Hull:
        inside = [] if image is None else [image]
        if self.table is not None and _suits(self.table, [U, V, *inside]):
            left, right = np.zeros((U.shape[0], _CORNERS)), np.zeros((V.shape[0], _CORNERS))
            np.multiply(U, scale, out=left[:, : U.shape[1]])
            right[:, : V.shape[1]] = V
            return Sampled(self.table, left, right, U.shape[1], image, self.weights)
        size, columns = np.array([scale]), [(U[:, k : k + 1], V[:, k : k + 1]) for k in range(U.shape[1])]
        images = [self.measure(u, size, u if V is U else v) for u, v in columns]
        return Written([*images, *inside], partial(self.between, weights=self.weights))


def _suits(table: Pattern, arrays: Sequence[Array]) -> bool:
    """Whether the compiled passes take them: real numbers of a long table, and no more rank-ones than they know."""
    real = all(each.dtype == np.float64 for each in arrays)
    return real and table.size >= _LONG and arrays[0].shape[1] <= _CORNERS
