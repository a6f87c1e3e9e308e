"""What an operator is: a linear map known by its products with blocks of vectors."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Block, Place

_WIDE = 64  # columns at a time of a scoring


class Operator(Protocol):
    """A linear map A of shape (m, n), known by its products. ``hermitian`` says that rmatmat equals matmat.

    ``matmat`` and ``rmatmat`` are A·V and Aᴴ·U. ``scores`` are Re P[:, k]ᴴ A Q[:, k] for the first ``count`` columns.
    ``dense`` is the matrix, for small problems. ``noise`` bounds the spectral norm of the rounding error that A was
    summed with, where that is larger than the rounding of its entries; zero elsewhere.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def hermitian(self) -> bool: ...
    def matmat(self, V: Block) -> Block: ...
    def rmatmat(self, U: Block) -> Block: ...
    def scores(self, P: Block, Q: Block, count: int) -> Array: ...
    def dense(self) -> Array: ...
    def noise(self) -> float: ...


def column_scores(operator: Operator, P: Block, Q: Block, count: int, place: Place = HERE) -> Array:
    """Re P[:, k]ᴴ A Q[:, k] by blocks of columns, so that the temporary stays narrow."""
    out = np.empty(count)
    for low in range(0, count, _WIDE):
        part = slice(low, min(low + _WIDE, count))
        out[part] = place.dots(place.columns(P, part), operator.matmat(place.columns(Q, part)))
    return out
