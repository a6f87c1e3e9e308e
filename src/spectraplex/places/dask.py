"""A cluster as a place: rows of the left side in shards on the workers of Dask, everything else with the client.

A right block is a NumPy array. Verbs that work on every row alone are written down for the shards and done here for the
right side; a number takes a round (rounds.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .dask_deck import ClusterDeck
from .dask_kept import ClusterBuffer, ClusterRoom
from .here import HERE
from .marks import rows_mark
from .numpy import Array
from .rounds import JUST_PRODUCTS, LARGE, Left, Pair, Rounds
from .tall import Tall, rows_between

_LOST = 1e-14  # share of the largest eigenvalue of a Gram matrix below which a direction is lost to rounding


class ClusterPlace(Rounds):
    """The verbs of ``Place``. A right block is a NumPy array, a left one ``Left``, one upstairs a ``Pair``."""

    name = "cluster"
    distant = wide = True

    # ---------------------------------------------------------------------------------------------- in and out

    def from_host(self, array: Any, part: slice | None = None) -> Any:
        if isinstance(array, Tall) and array.place is self:
            return array.held if array.below is None else Pair(cast(Left, array.held), array.below)
        array = array if isinstance(array, Tall) else HERE.from_host(array)
        if part is not None and part.start >= self.m:
            return np.asarray(array)
        small = isinstance(array, np.ndarray) and array.nbytes <= LARGE  # goes with the next round
        verb, own = ("own_rows", array[: self.m]) if small else ("given", self.share_out(array, "rows"))
        left = self.left(verb, own, width=array.shape[1], dtype=array.dtype)
        whole = part is not None and part.stop == self.m
        return left if whole else Pair(left, rows_between(array, self.m, array.shape[0]))

    def packed(self, A: Any) -> Any:
        if isinstance(A, np.ndarray):
            return A
        left, below = (A.left, A.right) if isinstance(A, Pair) else (A, None)
        return Tall(self, left, "rows", (self.length(A), self.width(A)), self.kind(A), below)

    def to_host(self, A: Any) -> Array:
        if isinstance(A, Pair):
            return np.concatenate([self.to_host(A.left), A.right], axis=0)
        return np.concatenate(self.ask(("to_host", A))[0], axis=0) if isinstance(A, Left) else cast(Array, A)

    def holds(self, thing: Any) -> bool:
        return isinstance(thing, Left | Pair | np.ndarray)

    def random(self, part: slice, count: int, dtype: str, rng: np.random.Generator) -> Any:
        if part.start >= self.m:
            return HERE.random(part, count, dtype, rng)
        key = [int(each) for each in rng.integers(0, 2**31, 4)]
        left = self.left("normal", count, dtype, key, width=count, dtype=dtype)
        if part.stop == self.m:
            return self.unit(left)
        right = rng.standard_normal((part.stop - self.m, count))
        if np.dtype(dtype).kind == "c":
            right = right + 1j * rng.standard_normal(right.shape)
        return self.unit(Pair(left, right.astype(dtype)))

    def axis(self, part: slice, at: int, dtype: str) -> Any:
        if part.start >= self.m:
            return HERE.axis(part, at, dtype)
        left = self.left("zeros", 1, dtype, at, width=1, dtype=dtype)
        if part.stop == self.m:
            return left
        right = np.zeros((part.stop - self.m, 1), dtype)
        right[at - self.m :][:1] = 1.0 if at >= self.m else 0.0
        return Pair(left, right)

    # ---------------------------------------------------------------------------------------------- block-valued

    def columns(self, A: Any, index: Any) -> Any:
        return _told(self.verb("columns", A, index), lambda norms: norms[index], A)

    def join(self, *blocks: Any) -> Any:
        return _told(self.verb("join", *blocks), lambda *norms: np.concatenate(norms), *blocks)

    def rows(self, A: Any, part: slice) -> Any:
        if isinstance(A, Pair):
            if part.start >= self.m:
                return A.right[part.start - self.m : part.stop - self.m]
            return A.left if part.stop == self.m else Pair(A.left, A.right[: part.stop - self.m])
        return A if isinstance(A, Left) else A[part]

    def stack(self, *blocks: Any) -> Pair:
        left, right = blocks
        return Pair(left, right)

    def padded(self, A: Any, more: int) -> Any:
        if isinstance(A, Pair):
            return Pair(A.left, HERE.padded(A.right, more))
        return A if isinstance(A, Left) and more == 0 else HERE.padded(A, more)

    def times(self, A: Any, small: Array) -> Any:
        return self.verb("times", A, small)

    def turned(self, A: Any, small: Array) -> Any:
        return self.cast(self.times(A, small), self.kind(A))

    def scale(self, A: Any, weights: Array | float) -> Any:
        return _told(self.verb("scale", A, weights), lambda norms: norms * np.abs(weights), A)

    def divide(self, A: Any, numbers: Array) -> Any:
        return _told(self.verb("divide", A, numbers), lambda norms: norms / np.abs(numbers), A)

    def blend(self, a: float, A: Any, b: float, B: Any) -> Any:
        return self.verb("blend", a, A, b, B)

    def unit(self, A: Any) -> Any:
        if isinstance(A, np.ndarray):
            return HERE.unit(A)
        norms = self.norms(A)
        return A if np.all(norms == 1.0) else self.divide(A, norms)

    def cast(self, A: Any, dtype: Any) -> Any:
        kind, dtype = self.kind(A), np.dtype(dtype)
        if kind == dtype:
            return A
        new = self.verb("cast", A, dtype)
        if np.can_cast(kind, dtype):  # the same numbers: what is known of one is known of the other, now and later
            if isinstance(A, Pair):
                new.left.extra, new = A.left.extra, Pair(new.left, new.right, A.extra)
            elif isinstance(A, Left):
                new.extra = A.extra
        return new

    def copy(self, A: Any, dtype: Any) -> Any:
        """A descent begins with a copy: its gradient's products come in the round of its value."""
        new = self.verb("copy", A, np.dtype(dtype))
        if isinstance(new, Pair):
            new.left.extra["rides"] = JUST_PRODUCTS
        return new

    def reciprocal(self, A: Any, a: float, b: float) -> Any:
        new = self.verb("reciprocal", A, a, b)
        if isinstance(A, Pair) and "range" in A.extra:
            low, high = A.extra["range"]
            new.extra["range"] = HERE.reciprocal(np.array([high, low]), a, b).tolist()
        return new

    def outer(self, part: slice, terms: list[tuple[slice, Array, Array]]) -> Any:
        on_left = [(rows, columns) for where, rows, columns in terms if where.start < self.m]
        on_right = [
            (slice(where.start - self.m, where.stop - self.m), rows, columns)
            for where, rows, columns in terms
            if where.start >= self.m
        ]
        width = terms[0][2].size
        (rows, columns), *more = on_left
        assert not more
        left = self.left("outer_own", rows, columns, width=width, dtype=np.float64)
        new = Pair(left, HERE.outer(slice(0, part.stop - self.m), on_right))
        ends = np.concatenate([np.outer(_ends(rows), _ends(columns)).reshape(-1), _ends(new.right)])
        new.extra["range"] = (float(ends.min()), float(ends.max()))  # of all its numbers
        return new

    def without(self, A: Any, basis: Any) -> Any:
        return self.blend(1.0, A, -1.0, self.times(basis, self.gram(basis, A)))

    def orthonormal(self, A: Any, basis: Any = None) -> Any:
        """By Gram matrices and their eigenvectors, twice: a round each, and one for the basis."""
        if isinstance(A, np.ndarray):
            return HERE.orthonormal(A, basis)
        against = None if basis is None or self.width(basis) == 0 else basis
        sizes = self.norms(A)
        reference = float(sizes.max(initial=0.0))
        if reference == 0.0 or not np.isfinite(reference):
            return self.columns(A, slice(0, 0))
        A, kept = self.scale(A, 1.0 / reference), True
        for _ in range(4):
            if against is not None:
                A = self.without(A, against)
            values, turn = np.linalg.eigh(self.gram(A, A))
            some = values > max(_LOST * values[-1], 1e-26)
            if not some.any():
                return self.columns(A, slice(0, 0))
            kept = bool(values[some].min() > 0.25)
            A = self.times(A, turn[:, some] / np.sqrt(values[some]))
            if kept:
                return A
        return A

    def qr(self, A: Any) -> tuple[Any, Array]:
        """A = Q·R; R is small, and need not be triangular."""
        if isinstance(A, np.ndarray):
            return HERE.qr(A)
        R = np.eye(self.width(A))
        for _ in range(2):
            values, turn = np.linalg.eigh(self.gram(A, A))
            roots = np.sqrt(np.maximum(values, _LOST * max(float(values[-1]), 1e-300)))
            A, R = self.times(A, turn / roots), (roots[:, None] * turn.conj().T) @ R
        return A, R

    # ---------------------------------------------------------------------------------------------- small-valued

    def length(self, A: Any) -> int:
        if isinstance(A, Pair):
            return self.m + int(A.right.shape[0])
        return self.m if isinstance(A, Left) else int(A.shape[0])

    def width(self, A: Any) -> int:
        return int(_like(A).shape[1])

    def kind(self, A: Any) -> np.dtype[Any]:
        return _like(A).dtype

    def row(self, A: Any, at: int) -> Array:
        if isinstance(A, Pair):
            return A.right[at - self.m] if at >= self.m else self.row(A.left, at)
        return cast(Array, self.total("row_of", A, at)) if isinstance(A, Left) else A[at]

    def gram(self, A: Any, B: Any) -> Array:
        if isinstance(A, Pair):
            return self.gram(A.left, B.left) + HERE.gram(A.right, B.right)
        return cast(Array, self.total("gram", A, B)) if isinstance(A, Left) else HERE.gram(A, B)

    def dots(self, A: Any, B: Any, weights: Array | None = None) -> Array:
        if isinstance(A, Pair):
            above, below = (None, None) if weights is None else (weights[: self.m], weights[self.m :])
            found = self.dots(A.left, B.left, above) + HERE.dots(A.right, B.right, below)
            if A is B and weights is None and np.all((found > 1e-280) & (found < 1e280)):
                A.extra["norms"] = np.sqrt(found)
            return found
        return cast(Array, self.total("dots_own", A, B, weights)) if isinstance(A, Left) else HERE.dots(A, B, weights)

    def norms(self, A: Any) -> Array:
        if isinstance(A, np.ndarray):
            return HERE.norms(A)
        if "norms" not in A.extra:
            if isinstance(A, Pair):
                A.extra["norms"] = np.hypot(self.norms(A.left), HERE.norms(A.right))
            else:
                A.extra["norms"] = functools.reduce(np.hypot, self.ask(("norms", A))[0])
        return cast(Array, A.extra["norms"])

    def largest(self, A: Any) -> float:
        if isinstance(A, Pair):
            if "range" in A.extra:
                return float(np.abs(A.extra["range"]).max())
            return max(self.largest(A.left), HERE.largest(A.right))
        if isinstance(A, Left):
            return float(max(A.extra["largest"] if "largest" in A.extra else self.ask(("largest", A))[0]))
        return HERE.largest(A)

    def finite(self, A: Any) -> bool:
        if isinstance(A, Pair):
            return self.finite(A.left) and HERE.finite(A.right)
        return all(self.ask(("finite", A))[0]) if isinstance(A, Left) else HERE.finite(A)

    def mark(self, A: Any) -> Array:
        if isinstance(A, Pair):
            return self.mark(A.left) + rows_mark(A.right, self.m)
        return cast(Array, self.total("mark_rows", A)) if isinstance(A, Left) else HERE.mark(A)

    def eigh(self, small: Array) -> tuple[Array, Array]:
        return HERE.eigh(small)

    # ---------------------------------------------------------------------------------------------- kept

    def room(self, part: slice, dtype: Any) -> Any:
        return HERE.room(part, dtype) if part.start >= self.m else ClusterRoom(self, part, dtype)

    def buffer(self, columns: Any) -> ClusterBuffer:
        return ClusterBuffer(self, columns)

    def deck(self, Y: Any, gradient: Any, scaling: Any, history: int, compiled: bool) -> ClusterDeck:
        return ClusterDeck(self, Y, gradient, scaling, history)


def _told(new: Any, norms: Callable[..., Array], *old: Any) -> Any:
    """A new block of no round: its norms are known where those of the old ones are."""
    if isinstance(new, Pair | Left) and all("norms" in each.extra for each in old):
        new.extra["norms"] = norms(*(each.extra["norms"] for each in old))
    return new


def _ends(numbers: Array) -> Array:
    return np.array([numbers.min(), numbers.max()]) if numbers.size else np.zeros(1)


def _like(A: Any) -> Array:
    if isinstance(A, Pair):
        return A.right
    return A.like if isinstance(A, Left) else cast(Array, A)
