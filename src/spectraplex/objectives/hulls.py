"""Hulls: the images of a few rank-ones and of X, as a quadratic asks for them: slopes and bends between, a mixture.

Of a long table only the mixture is written. Each pass samples the rank-ones again: that costs less than images of them
that have to be stored and read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..losses.protocol import Loss
from ..losses.squared import Squared
from ..places.numpy import Array, mixture
from ..places.pattern import Pattern

_LONG = 20_000  # entries from which passes over a table are worth loading them
_CORNERS = 4  # rank-ones that one pass takes


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
    """Of rank-ones uᵢvᵢᵀ on the entries of a table, U and V of four columns, and an image that is written."""

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
        return self.pattern.mixture(self.U * more, self.V, *([] if self.image is None else [sizes[-1], self.image]))


def sampled(
    table: Pattern, loss: Loss, weights: Array | None, scale: float, U: Array, V: Array, image: Array | None
) -> Hull | None:
    """Without images of the rank-ones, for a long table of real numbers and squares; else None."""
    count, kinds = U.shape[1], {each.dtype for each in (U, V, *([] if image is None else [image]))}
    if type(loss) is not Squared or table.size < _LONG or count > _CORNERS or kinds != {np.dtype(np.float64)}:
        return None
    left, right = np.zeros((U.shape[0], _CORNERS)), np.zeros((V.shape[0], _CORNERS))
    np.multiply(U, scale, out=left[:, :count])
    right[:, :count] = V
    return Sampled(table, left, right, count, image, weights)
