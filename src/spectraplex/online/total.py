"""The sum of all gradients so far: sparse for a table's entries, an ordinary matrix where it is small or full.

A ``Total`` is a value: adding an arrival gives a new one, the old one stays what it was. Both share a buffer of recent
entries that only grows, so an arrival of 100 entries costs 100 numbers. Its size depends on how many different entries
were ever observed, never on how many arrivals there were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..matrices.operators import Operator, Sparse
from ..places.numpy import Array, contiguous, dagger

#: Entries of a matrix up to which the sum may be an ordinary one (32 MB of float64).
DENSE = 4_000_000
_RECENT = 3_000  # entries that wait, at least, until they are sorted in
_SHARE = 32  # and a share of those that are sorted
_FULL = 2  # a small table with more than one in so many entries seen is kept whole


@dataclass(frozen=True, eq=False)
class Total:
    """base + the first ``count`` recent entries."""

    shape: tuple[int, int]
    base: Any  # a CSR matrix, or an array
    turned: Any  # its conjugate transpose
    rows: Array
    cols: Array
    values: Array
    count: int
    written: list[int]  # how many recent entries stand in the buffer, those of later sums with it

    @classmethod
    def nothing(cls, shape: tuple[int, int], kind: str = "float64") -> Total:
        from scipy.sparse import csr_matrix

        base = csr_matrix(shape, dtype=kind)
        return cls._fresh(shape, base, 0)

    @classmethod
    def _fresh(cls, shape: tuple[int, int], base: Any, stored: int) -> Total:
        room, kind = max(_RECENT, stored // _SHARE), base.dtype
        sparse = hasattr(base, "indptr")
        turned = base.conj().T if sparse and kind.kind == "c" else base.T if sparse else dagger(base)
        index = np.int32 if max(shape) < 2**31 else np.int64
        return cls(shape, base, turned, np.empty(room, index), np.empty(room, index), np.empty(room, kind), 0, [0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.base.dtype)

    @property
    def nbytes(self) -> int:
        """Numbers and positions together."""
        held = self.base.data.nbytes + self.base.indices.nbytes if hasattr(self.base, "indptr") else self.base.nbytes
        return int(held + self.rows.nbytes + self.cols.nbytes + self.values.nbytes)

    def plus(self, gradient: Operator) -> Total:
        """With the gradient of one more arrival."""
        if not isinstance(gradient, Sparse):
            return Total._fresh(self.shape, self._whole() + gradient.dense(), 0)
        pattern, new = gradient.pattern, gradient.data
        if new.dtype.kind == "c" and self.dtype.kind != "c":
            return Total._fresh(self.shape, self._sorted_in().base.astype(complex), 0).plus(gradient)
        if self.count + pattern.size > self.values.size:
            held = self._sorted_in()
            if pattern.size > held.values.size:
                room = Total._fresh(self.shape, held.base, _SHARE * pattern.size)
                return room.plus(gradient)
            return held.plus(gradient)
        if self.written[0] != self.count:  # another sum went on from here
            rows, cols, values = (each.copy() for each in (self.rows, self.cols, self.values))
            return replace(self, rows=rows, cols=cols, values=values, written=[self.count]).plus(gradient)
        some = slice(self.count, self.count + pattern.size)
        self.rows[some], self.cols[some], self.values[some] = pattern.rows, pattern.indices, new
        self.written[0] = some.stop
        return replace(self, count=some.stop)

    def times(self, V: Array) -> Array:
        """S·V of a block."""
        out = np.asarray(self.base @ V)
        return self._added(out, self.rows, self.cols, self.values[: self.count], V) if self.count else out

    def adjoint_times(self, U: Array) -> Array:
        """Sᴴ·U of a block."""
        out = np.asarray(self.turned @ U)
        return self._added(out, self.cols, self.rows, self.values[: self.count].conj(), U) if self.count else out

    def _added(self, out: Array, to: Array, of: Array, values: Array, V: Array) -> Array:
        to, of = to[: self.count], of[: self.count]
        out = out.astype(np.result_type(out, values, V), copy=False)
        for k in range(V.shape[1]):
            terms = values * V[of, k]
            if terms.dtype.kind == "c":
                out[:, k] += np.bincount(to, terms.real, out.shape[0]) + 1j * np.bincount(to, terms.imag, out.shape[0])
            else:
                out[:, k] += np.bincount(to, terms, out.shape[0])
        return out

    def dense(self) -> Array:
        return np.asarray(self._whole())

    def _whole(self) -> Array:
        held = self._sorted_in().base
        return np.asarray(held.toarray() if hasattr(held, "indptr") else held)

    def _sorted_in(self) -> Total:
        """The same without recent entries."""
        from scipy.sparse import coo_matrix

        if not self.count:
            return self
        some = slice(0, self.count)
        recent = coo_matrix((self.values[some], (self.rows[some], self.cols[some])), shape=self.shape).tocsr()
        if not hasattr(self.base, "indptr"):
            base = self.base.copy()
            placed = recent.tocoo()
            base[placed.row, placed.col] += placed.data
            return Total._fresh(self.shape, base, 0)
        base, cells = self.base + recent, self.shape[0] * self.shape[1]
        if cells <= DENSE and base.nnz * _FULL > cells:
            return Total._fresh(self.shape, contiguous(base.toarray()), 0)
        return Total._fresh(self.shape, base, base.nnz)

    # ------------------------------------------------------------------------------------------------------ flat parts

    def flat(self) -> dict[str, Array]:
        """Arrays that ``of_flat`` makes the same sum of, bit by bit."""
        some = slice(0, self.count)
        parts = {"rows": self.rows[some], "cols": self.cols[some], "values": self.values[some]}
        parts["room"] = np.array(self.values.size)
        if hasattr(self.base, "indptr"):
            return parts | {"indptr": self.base.indptr, "indices": self.base.indices, "data": self.base.data}
        return parts | {"matrix": self.base}

    @classmethod
    def of_flat(cls, shape: tuple[int, int], parts: dict[str, Array]) -> Total:
        from scipy.sparse import csr_matrix

        sparse = "data" in parts
        base = (
            csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=shape) if sparse else parts["matrix"]
        )
        if tuple(base.shape) != tuple(shape) or not np.isfinite(base.data if sparse else base).all():
            raise ValueError("the sum of its gradients is none of this shape")
        count, room = parts["values"].size, int(parts["room"])
        held = cls._fresh(shape, base, 0)
        kinds = ((held.rows, "rows"), (held.cols, "cols"), (held.values, "values"))
        made = [np.empty(max(room, count), kind.dtype) for kind, _ in kinds]
        for array, (_, name) in zip(made, kinds, strict=True):
            array[:count] = parts[name]
        return cls(shape, held.base, held.turned, made[0], made[1], made[2], count, [count])
