"""The positions of a sparse matrix, and what is done along them: products, samples of U·Vᴴ, scores of atoms.

Written by hand because SciPy's sparse products run on one core and it has no sampled product. Rows are shared out in
chunks that do not depend on the number of threads, so results are bitwise the same for any number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from .numpy import Array, in_pieces
from .threads import workers

_CHUNK_ENTRIES = 1 << 14  # stored entries per chunk: small enough to balance, large enough to amortise a hand-over
_SCATTERED = 16_000_000  # bytes of a block from which its columns are taken some at a time: rows are read in no order,
_GATHERED = 6_500_000  # so what is taken should stay in a cache that two cores share,
_UPPER = np.triu_indices(5)
_NARROW = 32  # but so many columns at least: all positions are read again for every block of them


@dataclass(frozen=True, eq=False)
class Pattern:
    """The observed positions of an m × n table, row by row (compressed sparse rows), without values.

    Indices are unsigned: numba then leaves out the test for negative indices, and the loops vectorise (2 to 3×).
    """

    indptr: Array
    indices: Array
    shape: tuple[int, int]

    @classmethod
    def from_sorted(cls, rows: Array, cols: Array, shape: tuple[int, int]) -> Pattern:
        """From positions sorted by row, then column, without duplicates."""
        counts = np.bincount(rows.astype(np.intp, copy=False), minlength=shape[0])  # NumPy 1 refuses uint64
        indptr = np.zeros(shape[0] + 1, dtype=np.uint64)
        np.cumsum(counts.astype(np.uint64), out=indptr[1:])
        return cls(indptr, np.ascontiguousarray(cols, dtype=_index_type(shape)), shape)

    @property
    def size(self) -> int:
        return int(self.indices.size)

    @cached_property
    def rows(self) -> Array:
        """The row of every entry."""
        return np.repeat(np.arange(self.shape[0], dtype=self.indices.dtype), np.diff(self.indptr).astype(np.int64))

    @cached_property
    def bounds(self) -> Array:
        """Row boundaries of the chunks, about equal in entries, the same whatever the number of threads."""
        chunks = max(1, -(-self.size // _CHUNK_ENTRIES))
        wanted = np.linspace(0, self.size, chunks + 1)[1:-1].astype(np.uint64)
        cuts = np.searchsorted(self.indptr, wanted)
        return np.unique(np.concatenate([[0], cuts, [self.shape[0]]])).astype(np.uint64)

    @cached_property
    def transposed(self) -> tuple[Pattern, Array]:
        """The pattern column by column, and for each of its entries the position in this one."""
        from scipy.sparse import csr_matrix

        signed = np.int32 if max(self.size, *self.shape) < 2**31 - 1 else np.int64
        order = np.arange(self.size, dtype=signed)
        here = (order, self.indices.astype(signed), self.indptr.astype(signed))
        flipped = csr_matrix(here, shape=self.shape).tocsc()
        indices = flipped.indices.astype(_index_type(self.shape))
        pattern = Pattern(flipped.indptr.astype(np.uint64), indices, (self.shape[1], self.shape[0]))
        return pattern, flipped.data.astype(_index_type((self.size, 1)))

    def flip(self, data: Array) -> tuple[Pattern, Array]:
        """The conjugate transpose of the sparse matrix with these entries: its pattern and its entries."""
        from . import kernels

        pattern, order = self.transposed
        out = np.empty_like(data)
        in_pieces(data.size, lambda _, low, high: kernels.gather(low, high, order, data, out))
        return pattern, out

    def sweep(self, kernel: Callable[..., None], work: int, *arguments: Any) -> None:
        """Run ``kernel(low, high, indptr, indices, *arguments)`` over all rows, on all cores when it pays."""
        bounds = self.bounds
        if not workers.worth(work, bounds.size - 1):
            kernel(bounds[0], bounds[-1], self.indptr, self.indices, *arguments)
            return

        def job(chunk: int) -> None:
            kernel(bounds[chunk], bounds[chunk + 1], self.indptr, self.indices, *arguments)

        workers.share(job, bounds.size - 1)

    def multiply(self, data: Array, V: Array, out: Array | None = None) -> Array:
        """The sparse matrix with these entries times a vector or a block, summed in double precision."""
        from . import kernels

        if out is None:
            out = np.empty((self.shape[0], *V.shape[1:]), np.result_type(data, V, np.float64))
        if V.ndim == 1 or V.shape[1] == 1:
            self.sweep(kernels.multiply_vector, self.size, data, np.ascontiguousarray(V.reshape(-1)), out.reshape(-1))
        else:
            if V.shape[1] == 2:
                self.sweep(kernels.multiply_pair, 2 * self.size, data, np.ascontiguousarray(V), out)
                return out
            for some in _blocks(V):
                block, first = np.ascontiguousarray(V[:, some]), np.uint64(some.start)
                width = np.uint64(block.shape[1])
                self.sweep(kernels.multiply_block, self.size * int(width), data, block, first, width, out)
        return out

    def sample(self, U: Array, V: Array, s: Array | None = None) -> Array:
        """The entries of U diag(s) Vᴴ at these positions, without forming it; summed in double precision."""
        from . import kernels

        out = np.zeros(self.size, np.result_type(U, V, np.float64))
        if U.shape[1] == 0:
            return out
        s = np.ones(U.shape[1]) if s is None else fitting(s, U.shape[1])
        if U.shape[1] == 1:
            u, v = np.ascontiguousarray(s[0] * U[:, 0]), np.ascontiguousarray(V[:, 0])
            self.sweep(kernels.sample_vector, self.size, u, v, out)
        else:
            for some in _blocks(V):
                left, right = np.ascontiguousarray(U[:, some]), np.ascontiguousarray(V[:, some])
                self.sweep(kernels.sample_block, self.size * left.shape[1], left, s[some], right, out)
        return out

    def ways(self, slope: Array, weights: Array | None, U: Array, V: Array, z: Array) -> tuple[Array, Array]:
        """⟨slope, first − o⟩ and the weighted inner products of all first − o, without an image of any rank-one.

        U and V have five columns each; o are the other four of the rank-ones uvᵀ, and z.
        """
        from . import kernels

        chunks = self.bounds.size - 1
        sums = np.zeros((chunks, 20))

        def job(chunk: int) -> None:
            low, high = self.bounds[chunk], self.bounds[chunk + 1]
            kernels.ways_sampled(low, high, self.indptr, self.indices, slope, weights, U, V, z, sums[chunk])

        workers.run(job, chunks, 5 * self.size)
        total, gram = sums.sum(axis=0), np.zeros((5, 5))
        gram[_UPPER] = gram.T[_UPPER] = total[5:]
        return total[:5], gram

    def mixture(self, U: Array, V: Array, size: float, z: Array) -> Array:
        """size·z and the five rank-ones uvᵀ of the columns of U and V, at these positions."""
        from . import kernels

        out = np.empty(self.size)
        self.sweep(kernels.mixture_sampled, 5 * self.size, U, V, size, z, out)
        return out

    def add(self, v: Array) -> Array:
        """The sparse matrix of ones at these positions times a real vector."""
        from . import kernels

        out = np.empty(self.shape[0])
        self.sweep(kernels.add_vector, self.size, v, out)
        return out

    def spread(self, z: Array, b: Array, c: Array) -> Array:
        """z + b[row] + c[column] at these positions."""
        from . import kernels

        out = np.empty(self.size)
        self.sweep(kernels.spread_sums, self.size, b, c, z, out)
        return out

    def sums(self, entries: Array) -> tuple[Array, Array]:
        """Over every row and every column."""
        rows = self.multiply(entries, np.ones(self.shape[1]))
        if entries.dtype.kind == "c":
            turned, flipped = self.flip(entries)
            return rows, turned.multiply(flipped.conj(), np.ones(self.shape[0]))
        return rows, np.bincount(self.indices, entries, self.shape[1]).astype(np.float64, copy=False)

    def scores(self, data: Array, P: Array, Q: Array, count: int) -> Array:
        """Re P[:, k]ᴴ S Q[:, k] for the first ``count`` columns of C-contiguous P and Q: one block product.

        Where there are further columns some of them are scored, too, and forgotten: the compiled loops are up to twice
        as fast over whole vectors of numbers as over the odd ones at their end.
        """
        from . import kernels

        chunks = self.bounds.size - 1
        whole = 32 if 16 < count <= 32 else -(-count // 8) * 8
        wide = min(whole, P.shape[1], Q.shape[1])
        partial = np.zeros((chunks, wide))
        work = np.empty((chunks, wide), np.result_type(data, Q))

        def job(chunk: int) -> None:
            low, high = self.bounds[chunk], self.bounds[chunk + 1]
            kernels.score_block(
                low,
                high,
                self.indptr,
                self.indices,
                data,
                P,
                Q,
                np.uint64(wide),
                work[chunk],
                partial[chunk],
            )

        workers.run(job, chunks, self.size * count)
        return cast(Array, partial.sum(axis=0)[:count])


def fitting(s: Any, width: int) -> Any:
    """The weights of so many columns: kernels do not look at their number."""
    s = np.asarray(s)
    if s.shape != (width,):
        raise ValueError(f"sample: the factors have {width} columns, their weights the shape {s.shape}.")
    return s


def _blocks(V: Array) -> list[slice]:
    """Columns of V that are gathered at a time: rows are read in no order, so as much of them as a cache holds."""
    width, bytes_each = V.shape[1], max(1, V.shape[0] * V.itemsize)
    if width * bytes_each <= _SCATTERED:
        return [slice(0, width)]
    most = max(_NARROW, _GATHERED // bytes_each // _NARROW * _NARROW)
    each = -(-width // -(-width // most))  # blocks of about the same width,
    each += -each % 8  # in whole vectors of numbers
    return [slice(low, min(low + each, width)) for low in range(0, width, each)]


def _index_type(shape: tuple[int, int]) -> type:
    return np.uint32 if max(shape) < 2**32 - 1 else np.uint64
