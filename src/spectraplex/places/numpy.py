"""Arrays and the few sparse kernels: the only room that knows which array library is in use.

``Pattern`` is written by hand because SciPy's sparse products run on one core and it has no sampled product. Rows are
shared out in chunks that do not depend on the number of threads, so results are bitwise the same for any number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .threads import workers

Array = NDArray[Any]

#: The largest relative rounding error of one float64 operation, ×2.
EPS = float(np.finfo(np.float64).eps)
_CHUNK_ENTRIES = 1 << 14  # stored entries per chunk: small enough to balance, large enough to amortise a hand-over
_LOW = 1e-280  # squares below this have lost digits to underflow, or all of them
_SHORT = 20_000  # vectors up to this length stay with NumPy


def inner(a: Array, b: Array) -> float:
    """The real inner product Re tr(aᴴb)."""
    return float(np.vdot(a, b).real)


def dagger(a: Array) -> Array:
    """The conjugate transpose aᴴ."""
    return a.conj().T


def size_one(top: float) -> float:
    """A power of two that makes a positive number of any size one of ordinary size, exactly."""
    return float(2.0 ** -max(-1000, min(1000, math.frexp(top)[1])))


def adjoint_times(A: Array, B: Array) -> Array:
    """AᴴB without a conjugated copy of A, which may be large where B is narrow; BLAS is quickest this way round."""
    return dagger(dagger(B) @ A)


def columns(a: Array) -> Array:
    """A C-contiguous two-dimensional array with the vectors of ``a`` as columns."""
    return np.ascontiguousarray(a.reshape(a.shape[0], -1))


def norms(block: Array) -> Array:
    """Euclidean norms of the columns (a short cut past numpy.linalg.norm, which costs more than a small product)."""
    if block.shape[1] == 1:
        column = block[:, 0]
        squares = np.array([np.vdot(column, column).real])
    else:
        squares = np.einsum("ik,ik->k", block.conj(), block).real
    if squares.size and not (squares.min() > _LOW and squares.max() < np.inf):
        # the square of a number may leave the range of floating point where the number does not
        sizes = np.max(np.abs(block), axis=0, initial=0.0)
        sizes[(sizes == 0.0) | ~np.isfinite(sizes)] = 1.0
        units = np.ldexp(1.0, -np.clip(np.frexp(sizes)[1], -1000, 1000))  # powers of two: exact, and none is subnormal
        block = block * units
        return cast(Array, np.sqrt(np.einsum("ik,ik->k", block.conj(), block).real) / units)
    return cast(Array, np.sqrt(squares))


def orthonormal(block: Array, basis: Array | None = None) -> Array:
    """Orthonormal columns spanning ``block``, orthogonal to ``basis``; directions lost to rounding are left out.

    Gram-Schmidt against the basis, a QR factorisation with a rank decision relative to the largest column, and
    Gram-Schmidt again until nothing changes ("twice is enough", as a rule).
    """
    reference = float(np.max(norms(block), initial=0.0))
    if reference == 0.0 or not math.isfinite(reference):
        return block[:, :0]
    block = block * size_one(reference)
    against = None if basis is None or basis.shape[1] == 0 else (basis, dagger(basis))
    if against is not None:
        block = block - against[0] @ (against[1] @ block)
    block = _independent(block)
    for _ in range(3):
        if against is None or block.shape[1] == 0:
            return block
        block = block - against[0] @ (against[1] @ block)
        left = norms(block)
        kept = bool(left.min() > 0.7)
        block = _independent(block)
        if kept:
            return block
    # what still shrinks was never anything but rounding: there is no room beside the basis
    return block[:, :0]


def _independent(block: Array) -> Array:
    """Orthonormal columns with the same span, as far as columns up to one can tell."""
    if block.shape[1] == 1:
        norm = norms(block)
        return cast(Array, block / norm) if norm[0] > 1e3 * EPS else block[:, :0]
    q, r = np.linalg.qr(block)
    if block.shape[1] <= block.shape[0] and np.abs(np.diag(r)).min(initial=1.0) > 1e3 * EPS:
        return cast(Array, q)
    from scipy.linalg import qr

    # an unpivoted factorisation has noise in place of a dependent column, and takes it from all that come after
    q, r, _ = qr(block, mode="economic", pivoting=True)
    return cast(Array, np.ascontiguousarray(q[:, np.abs(np.diag(r)) > 1e3 * EPS]))


def random_unit(dimension: int, dtype: str, rng: np.random.Generator) -> Array:
    """A unit vector uniform on the real or complex sphere."""
    vector = rng.standard_normal(dimension)
    if np.dtype(dtype).kind == "c":
        vector = vector + 1j * rng.standard_normal(dimension)
    return cast(Array, (vector / np.linalg.norm(vector)).astype(dtype))


# ------------------------------------------------------------------------------------------------------------------
# Long vectors


def blend(a: float, z: Array, b: float, w: Array) -> Array:
    """a·z + b·w with one allocation: temporaries of this length cost more in page faults than in arithmetic."""
    if z.size < _SHORT:
        return cast(Array, a * z + b * w)
    from . import kernels as _kernels

    out = np.empty(z.shape, np.result_type(z, w))
    in_pieces(z.size, lambda _, low, high: _kernels.blend(low, high, a, z, b, w, out))
    return out


def line_squared(z: Array, target: Array, weights: Array | None, dz: Array) -> tuple[float, float, float]:
    """Value, slope and bend of s ↦ ½Σ w|z + s·dz − target|² at s = 0."""
    if z.size < _SHORT:
        residual = z - target
        pull = residual if weights is None else weights * residual
        push = dz if weights is None else weights * dz
        return 0.5 * inner(residual, pull), inner(pull, dz), inner(push, dz)
    from . import kernels as _kernels

    sums = np.zeros((pieces_of(z.size), 3))

    def job(i: int, low: Any, high: Any) -> None:
        if weights is None:
            sums[i] = _kernels.line_squared(low, high, z, target, dz)
        else:
            sums[i] = _kernels.line_squared_weighted(low, high, z, target, weights, dz)

    in_pieces(z.size, job)
    value, slope, bend = sums.sum(axis=0)
    return float(value), float(slope), float(bend)


def squared(z: Array, target: Array, weights: Array | None) -> tuple[float, Array]:
    """½Σ w|z − target|² and its slope w·(z − target), in one pass."""
    if z.size < _SHORT:
        residual = z - target
        slope = residual if weights is None else weights * residual
        return 0.5 * inner(residual, slope), slope
    from . import kernels as _kernels

    slope, sums = np.empty(z.shape, np.result_type(z, target)), np.zeros(pieces_of(z.size))

    def job(i: int, low: Any, high: Any) -> None:
        if weights is None:
            sums[i] = _kernels.squared(low, high, z, target, slope)
        else:
            sums[i] = _kernels.squared_weighted(low, high, z, target, weights, slope)

    in_pieces(z.size, job)
    return float(sums.sum()), slope


def in_pieces(size: int, job: Callable[[int, Any, Any], None]) -> None:
    """Run job(piece, low, high) over all of a long vector, on all cores when it pays; see ``pieces_of``."""
    cuts = _pieces(size)
    workers.run(lambda i: job(i, cuts[i], cuts[i + 1]), cuts.size - 1, size)


def pieces_of(size: int) -> int:
    """How many pieces ``in_pieces`` makes: the same whatever the number of threads, so sums over them are, too."""
    return int(_pieces(size).size - 1)


def _pieces(size: int) -> Array:
    """Cuts every 2¹⁶ numbers, the same whatever the number of threads."""
    return np.append(np.arange(0, size, 1 << 16), size).astype(np.uint64)


# ------------------------------------------------------------------------------------------------------------------
# Patterns


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
        from . import kernels as _kernels

        pattern, order = self.transposed
        out = np.empty_like(data)
        in_pieces(data.size, lambda _, low, high: _kernels.gather(low, high, order, data, out))
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
        from . import kernels as _kernels

        if out is None:
            out = np.empty((self.shape[0], *V.shape[1:]), np.result_type(data, V, np.float64))
        if V.ndim == 1 or V.shape[1] == 1:
            self.sweep(_kernels.multiply_vector, self.size, data, np.ascontiguousarray(V.reshape(-1)), out.reshape(-1))
        else:
            width = V.shape[1]
            block = np.ascontiguousarray(V)
            if width == 2:
                self.sweep(_kernels.multiply_pair, 2 * self.size, data, block, out)
                return out
            self.sweep(_kernels.multiply_block, self.size * width, data, block, np.uint64(width), out)
        return out

    def sample(self, U: Array, V: Array, s: Array | None = None) -> Array:
        """The entries of U diag(s) Vᴴ at these positions, without forming it; summed in double precision."""
        from . import kernels as _kernels

        out = np.empty(self.size, np.result_type(U, V, np.float64))
        if U.shape[1] == 0:
            out[:] = 0
            return out
        s = np.ones(U.shape[1]) if s is None else s
        if U.shape[1] == 1:
            u, v = np.ascontiguousarray(s[0] * U[:, 0]), np.ascontiguousarray(V[:, 0])
            self.sweep(_kernels.sample_vector, self.size, u, v, out)
        else:
            U, V = np.ascontiguousarray(U), np.ascontiguousarray(V)
            self.sweep(_kernels.sample_block, self.size * U.shape[1], U, s, V, out)
        return out

    def add(self, v: Array) -> Array:
        """The sparse matrix of ones at these positions times a real vector."""
        from . import kernels as _kernels

        out = np.empty(self.shape[0])
        self.sweep(_kernels.add_vector, self.size, v, out)
        return out

    def spread(self, z: Array, b: Array, c: Array) -> Array:
        """z + b[row] + c[column] at these positions."""
        from . import kernels as _kernels

        out = np.empty(self.size)
        self.sweep(_kernels.spread_sums, self.size, b, c, z, out)
        return out

    def scores(self, data: Array, P: Array, Q: Array, count: int) -> Array:
        """Re P[:, k]ᴴ S Q[:, k] for the first ``count`` columns of C-contiguous P and Q: one block product.

        Where there are further columns some of them are scored, too, and forgotten: the compiled loops are up to twice
        as fast over whole vectors of numbers as over the odd ones at their end.
        """
        from . import kernels as _kernels

        chunks = self.bounds.size - 1
        whole = 32 if 16 < count <= 32 else -(-count // 8) * 8
        wide = min(whole, P.shape[1], Q.shape[1])
        partial = np.zeros((chunks, wide))
        work = np.empty((chunks, wide), np.result_type(data, Q))

        def job(chunk: int) -> None:
            low, high = self.bounds[chunk], self.bounds[chunk + 1]
            _kernels.score_block(
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


def _index_type(shape: tuple[int, int]) -> type:
    return np.uint32 if max(shape) < 2**32 - 1 else np.uint64
