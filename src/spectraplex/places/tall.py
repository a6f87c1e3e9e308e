"""Tall arrays: blocks and images on the workers of a cluster that are read like an array, piece by piece.

They stand in the state of a run and in evidence, where arrays of this machine stand otherwise. Nothing comes here
before somebody asks, and then at most some megabytes at a time. One that is saved is an ordinary ``.npy`` file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import aside
from .marks import rows_mark
from .numpy import Array

if TYPE_CHECKING:
    from .rounds import Held, Rounds

_PIECE = 1 << 23  # bytes that come at a time


class Tall:
    """Rows on the workers, and perhaps some more below them that are here.

    ``along`` says what a row is: "rows" of the table (a block), or its "entries" (an image).
    """

    def __init__(
        self, place: Rounds, held: Held, along: str, shape: tuple[int, ...], dtype: Any, below: Array | None = None
    ) -> None:
        self.place, self.held, self.along, self.below = place, held, along, below
        self.shape, self.dtype = shape, np.dtype(dtype)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def rows(self, low: int, high: int) -> Array:
        """Some of its rows, as an array of this machine."""
        parts = [
            self.place.piece(self.held, p, max(low - first, 0), min(high, last) - first)
            for p, (first, last) in enumerate(self.place.spans(self.along))
            if first < high and last > low
        ]
        if self.below is not None:
            above = self.shape[0] - self.below.shape[0]
            parts.append(self.below[max(low - above, 0) : max(high - above, 0)])
        return np.concatenate(parts) if parts else np.empty((0, *self.shape[1:]), self.dtype)

    def pieces(self) -> Iterator[Array]:
        """All of it from above, some megabytes at a time."""
        row = self.dtype.itemsize * max(1, int(np.prod(self.shape[1:])))
        many = max(1, _PIECE // row)
        for low in range(0, self.shape[0] if self.size else 0, many):
            yield self.rows(low, min(low + many, self.shape[0]))

    def mark(self) -> Array:
        """See marks.py."""
        if not self.size:
            return rows_mark(np.empty(self.shape, self.dtype))
        verb = "mark_rows" if self.along == "rows" else "mark_entries"
        own: Array = self.place.total(verb, self.held)
        return own if self.below is None else own + rows_mark(self.below, self.shape[0] - self.below.shape[0])

    def finite(self) -> bool:
        here = self.below is None or bool(np.isfinite(self.below).all())
        return here and all(self.place.ask(("finite", self.held))[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        whole = np.concatenate(list(self.pieces())) if self.size else np.empty(self.shape, self.dtype)
        return whole if dtype is None else whole.astype(dtype)

    def write(self, path: Path) -> None:
        """As a ``.npy`` file, beside it first."""
        about = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": self.shape}
        with aside(path) as part, part.open("wb") as out:
            np.lib.format.write_array_header_1_0(out, about)
            for piece in self.pieces():
                out.write(np.ascontiguousarray(piece, self.dtype).tobytes())


def rows_between(array: Any, low: int, high: int) -> Array:
    """Some rows of an array, wherever it is."""
    return array.rows(low, high) if isinstance(array, Tall) else np.ascontiguousarray(array[low:high])


def all_finite(array: Any) -> bool:
    return array.finite() if isinstance(array, Tall) else bool(np.isfinite(array).all())


def is_array(thing: Any) -> bool:
    return isinstance(thing, np.ndarray | Tall)
