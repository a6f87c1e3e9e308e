"""What a gradient is: something that multiplies blocks of vectors. Never a dense matrix on the sparse path.

Rectangular operators (``Sparse``, ``Dense``, ``LowRank``, ``Sum``) live in the user's space. What the methods see, a
Hermitian operator on the unit spectrahedron, is in lifted.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from ..places.here import HERE
from ..places.numpy import EPS, Array, adjoint_times, dagger
from ..places.pattern import Pattern
from ..places.protocol import Block, Place

_NARROW = 3  # columns of a block up to which a product waits for memory, not for arithmetic
_MANY = 1_000_000  # numbers in a factor from which it is worth while to save


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


@dataclass(frozen=True, eq=False)
class Sparse:
    """Values on an observed pattern."""

    pattern: Pattern
    data: Array
    hermitian: bool = False
    blur: Callable[[], float] | None = None
    _flipped: list[tuple[Pattern, Array]] = field(default_factory=list, repr=False)

    def noise(self) -> float:
        return 0.0 if self.blur is None else self.blur()

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @property
    def dtype(self) -> str:
        return self.data.dtype.name

    def matmat(self, V: Array, out: Array | None = None) -> Array:
        return self.pattern.multiply(self.data, V, out)

    def rmatmat(self, U: Array, out: Array | None = None) -> Array:
        if not self._flipped:  # gathered once per gradient, only when the other side is asked for
            self._flipped.append(self.pattern.flip(self.data))
        pattern, data = self._flipped[0]
        return pattern.multiply(data, U, out)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        if count == 1:
            return np.array([np.vdot(P[:, 0], self.pattern.multiply(self.data, Q[:, 0])).real])
        single = {"f": np.float32, "c": np.complex64}[self.data.dtype.kind]
        data = (
            self.data.astype(single)
            if P.dtype.itemsize < np.dtype(np.result_type(P, np.float64)).itemsize
            else self.data
        )
        return self.pattern.scores(data, P, Q, count)

    def dense(self) -> Array:
        out = np.zeros(self.shape, self.data.dtype)
        out[self.pattern.rows, self.pattern.indices] = self.data
        return out


@dataclass(frozen=True, eq=False)
class Dense:
    """An ordinary matrix; ``blur`` bounds the rounding error it was summed with, where that is not its own."""

    matrix: Array
    hermitian: bool = False
    blur: Callable[[], float] | None = None

    def noise(self) -> float:
        return 0.0 if self.blur is None else self.blur()

    @property
    def shape(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self.matrix.shape)

    @property
    def dtype(self) -> str:
        return self.matrix.dtype.name

    def matmat(self, V: Array) -> Array:
        return self.matrix @ V

    def rmatmat(self, U: Array) -> Array:
        return dagger(dagger(U) @ self.matrix)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        return self.matrix


@dataclass(frozen=True, eq=False)
class LowRank:
    """U diag(s) Vᴴ with real s; ``light`` is U in single precision, for blocks that come in it (V being U).

    A Hermitian one with many terms is formed once it was asked for many narrow products: those wait for memory, and
    forming it costs a quarter of its size in products.
    """

    U: Block
    s: Array
    V: Block
    hermitian: bool = False
    light: Array | None = None
    place: Place = HERE
    _held: list[Any] = field(default_factory=lambda: [0], repr=False)  # narrow products so far, then the matrix

    @property
    def shape(self) -> tuple[int, int]:
        return (self.place.length(self.U), self.place.length(self.V))

    @property
    def dtype(self) -> str:
        return np.result_type(self.place.kind(self.U), self.place.kind(self.V)).name

    def noise(self) -> float:
        sizes = np.abs(self.s) * self.place.norms(self.U) * self.place.norms(self.V)
        return 4 * EPS * self.s.size * float(sizes.sum())

    def matmat(self, V: Block) -> Block:
        if self.place is not HERE:
            return self.place.times(self.U, self.s[:, None] * self.place.gram(self.V, V))
        if self.light is not None and V.dtype == self.light.dtype:
            weighed = self.s.astype(V.real.dtype)[:, None] * adjoint_times(self.light, V)
            return (self.light @ weighed).astype(self.dtype)
        if self._formed(V.shape[1]):
            return cast(Array, self._held[1] @ V)
        if self.V is self.U and V.shape[1] <= _NARROW and self.U.size >= _MANY:
            return self._narrow(V)
        return cast(Array, self.U @ (self.s[:, None] * adjoint_times(self.V, V)))

    def _narrow(self, V: Array, width: int = 256) -> Array:
        """By blocks of terms, which are still in the cache when they are multiplied the other way."""
        out = np.zeros(V.shape, np.result_type(self.U, V))
        for low in range(0, self.s.size, width):
            block, s = self.U[:, low : low + width], self.s[low : low + width]
            for k in range(V.shape[1]):
                out[:, k] += block @ (s * (V[:, k].conj() @ block).conj())
        return out

    def _formed(self, width: int) -> bool:
        """Whether the matrix is at hand, or is worth forming by now."""
        if len(self._held) > 1 or width > _NARROW or not self.hermitian or self.U.size < _MANY:
            return len(self._held) > 1
        self._held[0] += 1
        d, terms = self.U.shape
        if terms <= 2 * d or self._held[0] <= d // 32:
            return False
        self._held.append(hermitian_sum(self.U, self.s))
        return True

    def rmatmat(self, U: Block) -> Block:
        if self.place is not HERE:
            return self.place.times(self.V, self.s[:, None] * self.place.gram(self.U, U))
        return cast(Array, self.V @ (self.s[:, None] * adjoint_times(self.U, U)))

    def scores(self, P: Block, Q: Block, count: int) -> Array:
        return column_scores(self, P, Q, count, self.place)

    def dense(self) -> Array:
        U, V = self.place.to_host(self.U), self.place.to_host(self.V)
        if self.hermitian and V is U and U.size >= _MANY:
            return hermitian_sum(U, self.s)
        return (U * self.s) @ dagger(V)


@dataclass(frozen=True, eq=False)
class Sum:
    """Σ coefficient · operator."""

    coefficients: Sequence[float]
    terms: Sequence[Operator]
    place: Place = HERE

    @property
    def shape(self) -> tuple[int, int]:
        return self.terms[0].shape

    @property
    def dtype(self) -> str:
        return np.result_type(*(term.dtype for term in self.terms)).name

    @property
    def hermitian(self) -> bool:
        return all(term.hermitian for term in self.terms)

    def noise(self) -> float:
        """‖Σ c·E‖ ≤ Σ |c|·‖E‖ for the rounding errors E of the terms."""
        return float(sum(abs(c) * term.noise() for c, term in zip(self.coefficients, self.terms, strict=True)))

    def matmat(self, V: Block) -> Block:
        return self._blended([term.matmat(V) for term in self.terms])

    def rmatmat(self, U: Block) -> Block:
        return self._blended([term.rmatmat(U) for term in self.terms])

    def scores(self, P: Block, Q: Block, count: int) -> Array:
        return self._total(term.scores(P, Q, count) for term in self.terms)

    def dense(self) -> Array:
        return self._total(term.dense() for term in self.terms)

    def _total(self, parts: Iterable[Array]) -> Array:
        return cast(Array, sum(c * part for c, part in zip(self.coefficients, parts, strict=True)))

    def _blended(self, parts: list[Block]) -> Block:
        total = self.place.scale(parts[0], self.coefficients[0])
        for c, part in zip(self.coefficients[1:], parts[1:], strict=True):
            total = self.place.blend(1.0, total, c, part)
        return total


@dataclass(frozen=True, eq=False)
class Padded:
    """An operator with one more column, of zeros: the slack coordinate that a penalty adds to the right side."""

    inside: Operator
    place: Place = HERE
    hermitian: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.inside.shape
        return (m, n + 1)

    @property
    def dtype(self) -> str:
        return self.inside.dtype

    def noise(self) -> float:
        return self.inside.noise()

    def matmat(self, V: Block) -> Block:
        return self.inside.matmat(self._without(V))

    def rmatmat(self, U: Block) -> Block:
        return self.place.padded(self.inside.rmatmat(U), 1)

    def scores(self, P: Block, Q: Block, count: int) -> Array:
        return self.inside.scores(P, self._without(Q), count)

    def _without(self, V: Block) -> Block:
        return self.place.rows(V, slice(0, self.inside.shape[1]))

    def dense(self) -> Array:
        matrix = self.inside.dense()
        return np.concatenate([matrix, np.zeros((matrix.shape[0], 1), matrix.dtype)], axis=1)


def hermitian_sum(U: Array, s: Array, width: int = 2048) -> Array:
    """U diag(s) Uᴴ by half of the work: terms of one sign at a time, in blocks, one triangle only."""
    from scipy.linalg.blas import dsyrk, zherk

    update = zherk if U.dtype.kind == "c" else dsyrk
    total = np.zeros((U.shape[0], U.shape[0]), U.dtype, order="F")
    for sign in (1.0, -1.0):
        which = np.nonzero(sign * s > 0.0)[0]
        for low in range(0, which.size, width):
            part = which[low : low + width]
            block = np.asfortranarray(U[:, part] * np.sqrt(np.abs(s[part])))
            total = update(sign, block, beta=1.0, c=total, overwrite_c=1)
    upper = np.triu(total)
    return np.ascontiguousarray(upper + dagger(np.triu(total, 1)))


def column_scores(operator: Operator, P: Block, Q: Block, count: int, place: Place = HERE, width: int = 64) -> Array:
    """Re P[:, k]ᴴ A Q[:, k] by blocks of columns, so that the temporary stays narrow."""
    out = np.empty(count)
    for low in range(0, count, width):
        part = slice(low, min(low + width, count))
        out[part] = place.dots(place.columns(P, part), operator.matmat(place.columns(Q, part)))
    return out
