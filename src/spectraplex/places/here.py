"""This machine as a place: blocks are NumPy arrays with two dimensions. Thin on purpose: most verbs are one line.

A block upstairs is one array with its sides on top of each other: a side is then a view, and joining sides is free.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from . import numpy as arrays
from .deck import NumPyDeck
from .marks import rows_mark
from .numpy import Array, random_unit
from .protocol import Place


class NumPyRoom:
    """Fortran order: a column is contiguous, and so are the first k of them."""

    def __init__(self, length: int, dtype: Any) -> None:
        self.array: Array = np.empty((length, 0), dtype, order="F")

    def write(self, at: int, columns: Array) -> None:
        end = at + columns.shape[1]
        if self.array.shape[1] < end:
            grown = np.empty((self.array.shape[0], max(end, 2 * self.array.shape[1], 16)), self.array.dtype, order="F")
            grown[:, :at] = self.array[:, :at]
            self.array = grown
        self.array[:, at:end] = columns

    def first(self, count: int) -> Array:
        return self.array[:, :count]


class NumPyBuffer:
    """Columns that are only ever added. Rows are contiguous, which is what the block products want."""

    def __init__(self, columns: Array, room: int = 16) -> None:
        count = columns.shape[1]
        # zeros, not whatever was there: block products run over a few columns more than are used
        self.block: Array = np.zeros((columns.shape[0], count + room), columns.dtype)
        self.block[:, :count] = columns
        self.used: int = count
        self._single: Array | None = None
        self._single_used = 0

    @property
    def place(self) -> Place:
        return HERE

    def append(self, column: Array) -> int:
        if self.used == self.block.shape[1]:
            grown = np.zeros((self.block.shape[0], 2 * self.used), self.block.dtype)
            grown[:, : self.used] = self.block
            self.block = grown
        self.block[:, self.used] = column[:, 0]
        self.used += 1  # last, so that an interrupted append leaves nothing behind
        return self.used - 1

    def kept(self, index: Array) -> NumPyBuffer:
        new = NumPyBuffer(self.block[:, :0], room=index.size + index.size // 4 + 16)
        np.take(self.block, index, axis=1, out=new.block[:, : index.size], mode="clip")
        new.used = index.size
        return new

    @property
    def single(self) -> Array:
        """The columns in single precision, kept up to date as they come."""
        if self._single is None or self._single.shape != self.block.shape:
            kind = np.complex64 if self.block.dtype.kind == "c" else np.float32
            self._single, self._single_used = np.zeros(self.block.shape, kind), 0
        new = slice(self._single_used, self.used)
        self._single[:, new] = self.block[:, new]
        self._single_used = self.used
        return self._single


class NumPyPlace:
    """The verbs of ``Place`` on NumPy arrays."""

    name = "this machine"
    distant = wide = False
    rounds = bytes = 0

    # ------------------------------------------------------------------------------------------------ in and out

    def from_host(self, array: Array, part: slice | None = None) -> Array:
        array = np.asarray(array)  # perhaps a Tall
        return array if array.ndim == 2 else array.reshape(array.shape[0], -1)

    def to_host(self, A: Array) -> Array:
        return A

    def packed(self, A: Array) -> Array:
        return A

    def holds(self, thing: Any) -> bool:
        return isinstance(thing, np.ndarray)

    def random(self, part: slice, count: int, dtype: str, rng: np.random.Generator) -> Array:
        length = part.stop - part.start
        if count == 1:
            return random_unit(length, dtype, rng)[:, None]
        return np.stack([random_unit(length, dtype, rng) for _ in range(count)], axis=1)

    def axis(self, part: slice, at: int, dtype: str) -> Array:
        out = np.zeros((part.stop - part.start, 1), dtype)
        out[at] = 1.0
        return out

    # ------------------------------------------------------------------------------------------------ block-valued

    def columns(self, A: Array, index: Any) -> Array:
        if isinstance(A, np.ndarray) and isinstance(index, np.ndarray) and index.dtype.kind in "iu":
            return A.take(index, axis=1)  # rows stay contiguous; A[:, index] would turn them into columns
        return A[:, index]

    def join(self, *blocks: Array) -> Array:
        return np.concatenate(blocks, axis=1)

    def rows(self, A: Array, part: slice) -> Array:
        return A[part]

    def stack(self, *blocks: Array) -> Array:
        return np.concatenate(blocks, axis=0)

    def padded(self, A: Array, more: int) -> Array:
        if more == 0:
            return A
        out = np.zeros((A.shape[0] + more, A.shape[1]), A.dtype)
        out[: A.shape[0]] = A
        return out

    def times(self, A: Array, small: Array) -> Array:
        return arrays.tall_times(A, small)

    def turned(self, A: Array, small: Array) -> Array:
        return arrays.tall_times(A, small).astype(A.dtype, copy=False)

    def scale(self, A: Array, weights: Array | float) -> Array:
        return cast(Array, A * weights)

    def blend(self, a: float, A: Array, b: float, B: Array) -> Array:
        return cast(Array, a * A + b * B)

    def divide(self, A: Array, numbers: Array) -> Array:
        return cast(Array, A / numbers)

    def unit(self, A: Array) -> Array:
        if not _single(A):
            return arrays.unit(A)
        return np.divide(A, self.norms(A), out=np.empty_like(A), casting="same_kind")

    def cast(self, A: Array, dtype: Any) -> Array:
        return A.astype(dtype, copy=False)

    def copy(self, A: Array, dtype: Any) -> Array:
        return np.array(A, dtype=dtype, order="C")

    def orthonormal(self, A: Array, basis: Array | None = None) -> Array:
        return arrays.orthonormal(A, basis)

    def without(self, A: Array, basis: Array) -> Array:
        return self.blend(1.0, A, -1.0, self.times(basis, self.gram(basis, A)))

    def qr(self, A: Array) -> tuple[Array, Array]:
        Q, R = np.linalg.qr(A)
        return Q, R

    def outer(self, part: slice, terms: list[tuple[slice, Array, Array]]) -> Array:
        out = np.zeros((part.stop - part.start, terms[0][2].size))
        for where, rows, columns in terms:
            out[where] += np.outer(rows, columns)
        return out

    def reciprocal(self, A: Array, a: float, b: float) -> Array:
        return cast(Array, a / np.maximum(A + b, 1e-290))

    # ------------------------------------------------------------------------------------------------ small-valued

    def length(self, A: Array) -> int:
        return int(A.shape[0])

    def width(self, A: Array) -> int:
        return int(A.shape[1])

    def kind(self, A: Array) -> np.dtype[Any]:
        return A.dtype

    def row(self, A: Array, at: int) -> Array:
        row: Array = A[at]
        return row

    def gram(self, A: Array, B: Array) -> Array:
        A, B = _wide(A), _wide(B)
        return arrays.tall_gram(A, B)

    def dots(self, A: Array, B: Array, weights: Array | None = None) -> Array:
        if weights is not None:
            return cast(Array, weights @ (A.conj() * B).real)
        return cast(Array, np.einsum("ik,ik->k", A.conj(), B).real)

    def norms(self, A: Array) -> Array:
        return arrays.norms(_wide(A))

    def largest(self, A: Array) -> float:
        return float(np.abs(A).max(initial=0.0))

    def finite(self, A: Array) -> bool:
        return bool(np.isfinite(A).all())

    def mark(self, A: Array) -> Array:
        return rows_mark(A)

    def eigh(self, small: Array) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(small)
        return values, vectors

    # ------------------------------------------------------------------------------------------------ kept

    def room(self, part: slice, dtype: Any) -> NumPyRoom:
        return NumPyRoom(part.stop - part.start, dtype)

    def buffer(self, columns: Array) -> NumPyBuffer:
        return NumPyBuffer(columns)

    def deck(self, Y: Array, gradient: Array, scaling: Array, history: int, compiled: bool) -> NumPyDeck:
        return NumPyDeck(Y, gradient, scaling, history, compiled)


def _wide(A: Array) -> Array:
    """Single precision is made double before sums."""
    return A.astype("c16" if A.dtype.kind == "c" else "f8") if _single(A) else A


def _single(A: Array) -> bool:
    return A.dtype.itemsize < (16 if A.dtype.kind == "c" else 8)


HERE: Place = NumPyPlace()
