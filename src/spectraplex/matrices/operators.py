"""What a gradient is: something that multiplies blocks of vectors. Never a dense matrix on the sparse path.

Rectangular operators (``Sparse``, ``Dense``, ``LowRank``, ``Sum``) live in the user's space. What the methods see, a
Hermitian operator on the unit spectrahedron, is in lifted.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array, dagger
from ..places.pattern import Pattern
from ..places.protocol import Block, Place
from .low_rank import LowRank
from .protocol import Operator, column_scores

__all__ = ["Dense", "LowRank", "Operator", "Padded", "Sparse", "Sum", "column_scores"]


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
        if not isinstance(self.data, np.ndarray):
            return Sparse(self.pattern.here(), self.data.here()).dense()
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
