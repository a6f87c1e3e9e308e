"""Arrays of this machine: norms, products and orthonormal blocks that neither overflow nor underflow.

Results do not depend on the number of threads: work is shared out in pieces that do not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .threads import workers

Array = NDArray[Any]

#: The largest relative rounding error of one float64 operation, ×2.
EPS = float(np.finfo(np.float64).eps)
LOW = 1e-280  # squares below this have lost digits to underflow, or all of them
_SHORT = 20_000  # vectors up to this length stay with NumPy
_WAYS = 5  # ways that one compiled pass takes
_SHARED = 4_000_000  # multiply-adds from which a dense product is shared among threads: BLAS is kept to one,
_ROWS, _PARTS = 1024, 16  # in pieces of so many rows at least, and no more than so many of them


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


def contiguous(a: Any) -> Array:
    """An array of this machine as one run of memory; anything else as it is."""
    return np.ascontiguousarray(a) if isinstance(a, np.ndarray) else cast(Array, a)


def brought(a: Any) -> Array:
    """Few numbers, wherever they are, as an array of this machine."""
    return a if isinstance(a, np.ndarray) else cast(Array, a.here())


def columns(a: Array) -> Array:
    """A C-contiguous two-dimensional array with the vectors of ``a`` as columns."""
    return np.ascontiguousarray(a.reshape(a.shape[0], -1))


def norms(block: Array) -> Array:
    """Euclidean norms of the columns (a short cut past numpy.linalg.norm, which costs more than a small product)."""
    if block.shape[1] == 1:
        square = _square(block)
        if LOW < square < math.inf:
            return np.array([math.sqrt(square)])
        squares = np.array([square])
    else:
        squares = np.einsum("ik,ik->k", block.conj(), block).real
    if squares.size and not (squares.min() > LOW and squares.max() < np.inf):
        # the square of a number may leave the range of floating point where the number does not
        sizes = np.max(np.abs(block), axis=0, initial=0.0)
        sizes[(sizes == 0.0) | ~np.isfinite(sizes)] = 1.0
        units = np.ldexp(1.0, -np.clip(np.frexp(sizes)[1], -1000, 1000))  # powers of two: exact, and none is subnormal
        block = block * units
        return cast(Array, np.sqrt(np.einsum("ik,ik->k", block.conj(), block).real) / units)
    return cast(Array, np.sqrt(squares))


def unit(block: Array) -> Array:
    """Every column divided by its norm."""
    if block.shape[1] == 1:
        square = _square(block)
        if LOW < square < math.inf:
            return cast(Array, block / math.sqrt(square))
    return cast(Array, block / norms(block))


def _square(block: Array) -> float:
    """Of the norm of the only column."""
    column = block[:, 0]
    return float(np.vdot(column, column).real)


def orthonormal(block: Array, basis: Array | None = None) -> Array:
    """Orthonormal columns spanning ``block``, orthogonal to ``basis``; directions lost to rounding are left out.

    Gram-Schmidt against the basis, a QR factorisation with a rank decision relative to the largest column, and
    Gram-Schmidt again until nothing changes ("twice is enough", as a rule).
    """
    reference = float(np.max(norms(block), initial=0.0))
    if reference == 0.0 or not math.isfinite(reference):
        return block[:, :0]
    block = block * size_one(reference)
    against = None if basis is None or basis.shape[1] == 0 else basis
    if against is not None:
        block = block - tall_times(against, tall_gram(against, block))
    block = _independent(block)
    for _ in range(3):
        if against is None or block.shape[1] == 0:
            return block
        block = block - tall_times(against, tall_gram(against, block))
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
        return q
    from scipy.linalg import qr

    # an unpivoted factorisation has noise in place of a dependent column, and takes it from all that come after
    q, r, _ = qr(block, mode="economic", pivoting=True)
    return np.ascontiguousarray(q[:, np.abs(np.diag(r)) > 1e3 * EPS])


def tall_times(A: Array, small: Array) -> Array:
    """A·small; a large product is shared among threads in pieces of rows, the same for any number of them."""
    rows = _rows_of(A, small)
    if rows is None:
        return A @ small
    out = np.empty((A.shape[0], small.shape[1]), np.result_type(A, small))

    def job(i: int) -> None:
        np.matmul(A[rows[i]], small, out=out[rows[i]])

    workers.run(job, len(rows), A.size * small.shape[1])
    return out


def tall_gram(A: Array, B: Array) -> Array:
    """AᴴB; a large one is a sum over the same pieces of rows."""
    rows = _rows_of(A, B)
    times = adjoint_times if A.dtype.kind == "c" and B.shape[1] < A.shape[1] else _gram
    if rows is None:
        return times(A, B)
    parts = np.empty((len(rows), A.shape[1], B.shape[1]), np.result_type(A, B))

    def job(i: int) -> None:
        parts[i] = times(A[rows[i]], B[rows[i]])

    workers.run(job, len(rows), A.size * B.shape[1])
    total: Array = parts.sum(axis=0)
    return total


def _gram(A: Array, B: Array) -> Array:
    product: Array = dagger(A) @ B
    return product


def _rows_of(A: Array, B: Array) -> list[slice] | None:
    """The rows of every piece of a product of so many multiply-adds; None where it is too small to be shared."""
    if not isinstance(A, np.ndarray) or B.ndim != 2 or A.size * B.shape[1] < _SHARED or A.shape[0] < 2 * _ROWS:
        return None
    each = max(_ROWS, -(-A.shape[0] // _PARTS))
    return [slice(low, min(low + each, A.shape[0])) for low in range(0, A.shape[0], each)]


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
    if z.size < _SHORT or not isinstance(z, np.ndarray) or z.ndim != 1:
        return cast(Array, a * z + b * w)
    from . import kernels

    out = np.empty(z.shape, np.result_type(z, w))
    in_pieces(z.size, lambda _, low, high: kernels.blend(low, high, a, z, b, w, out))
    return out


def line_squared(z: Array, target: Array, weights: Array | None, dz: Array) -> tuple[float, float, float]:
    """Value, slope and bend of s ↦ ½Σ w|z + s·dz − target|² at s = 0."""
    if z.size < _SHORT or not isinstance(z, np.ndarray):
        residual = z - target
        pull = residual if weights is None else weights * residual
        push = dz if weights is None else weights * dz
        return 0.5 * inner(residual, pull), inner(pull, dz), inner(push, dz)
    from . import kernels

    sums = np.zeros((pieces_of(z.size), 3))

    def job(i: int, low: Any, high: Any) -> None:
        if weights is None:
            sums[i] = kernels.line_squared(low, high, z, target, dz)
        else:
            sums[i] = kernels.line_squared_weighted(low, high, z, target, weights, dz)

    in_pieces(z.size, job)
    value, slope, bend = sums.sum(axis=0)
    return float(value), float(slope), float(bend)


def ways(slope: Array, v: Array, others: Sequence[Array], weights: Array | None) -> tuple[Array, Array]:
    """⟨slope, v − o⟩ for each of the others, and the weighted inner products of all v − o."""
    count = len(others)
    arrays = (slope, v, *others)
    if weights is None and v.size >= _SHORT and count <= _WAYS and all(_is_plain(each) for each in arrays):
        from . import kernels

        more, sums = [*others, *[others[0]] * (_WAYS - count)], np.zeros((pieces_of(v.size), _WAYS * (_WAYS + 3) // 2))
        in_pieces(v.size, lambda i, low, high: kernels.ways(low, high, slope, v, *more, sums[i]))
        total = sums.sum(axis=0)
        gram = np.zeros((_WAYS, _WAYS))
        gram[np.triu_indices(_WAYS)] = total[_WAYS:]
        gram += np.triu(gram, 1).T
        return total[:count], gram[:count, :count]
    apart = np.stack([(v - other).reshape(-1) for other in others])
    pulled = apart if weights is None else apart * weights.reshape(-1)
    return (apart.conj() @ slope.reshape(-1)).real, (apart.conj() @ pulled.T).real


def mixture(sizes: Sequence[float], arrays: Sequence[Array]) -> Array:
    """Σ sizeᵢ·arrayᵢ."""
    first = arrays[0]
    if first.size >= _SHORT and len(arrays) <= _WAYS + 1 and all(_is_plain(each) for each in arrays):
        from . import kernels

        more = _WAYS + 1 - len(arrays)
        out, by = np.empty(first.shape), np.array([*sizes, *[0.0] * more])
        # what is added zero times must be finite where the rest is
        in_pieces(first.size, lambda _, low, high: kernels.mixture(low, high, by, *arrays, *[first] * more, out))
        return out
    return cast(Array, sum(size * each for size, each in zip(sizes, arrays, strict=True)))


def _is_plain(z: Array) -> bool:
    """Whether compiled passes take it."""
    return isinstance(z, np.ndarray) and z.ndim == 1 and z.dtype == np.float64


def squared(z: Array, target: Array, weights: Array | None) -> tuple[float, Array]:
    """½Σ w|z − target|² and its slope w·(z − target), in one pass."""
    if z.size < _SHORT or not isinstance(z, np.ndarray):
        residual = z - target
        slope = residual if weights is None else weights * residual
        return 0.5 * inner(residual, slope), slope
    from . import kernels

    slope, sums = np.empty(z.shape, np.result_type(z, target)), np.zeros(pieces_of(z.size))

    def job(i: int, low: Any, high: Any) -> None:
        if weights is None:
            sums[i] = kernels.squared(low, high, z, target, slope)
        else:
            sums[i] = kernels.squared_weighted(low, high, z, target, weights, slope)

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
