"""Joined: several measurements of one matrix, one behind the other; entries may be measured more than once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..matrices.operators import Operator, Sparse, Sum
from ..places.numpy import EPS, Array
from ..rounding import norm
from .entries import Entries
from .protocol import Facts, Measurements, is_positive, parts_of


class Joined:
    """All numbers of the first measurement, then those of the second, and so on.

    Each image keeps its own order, so targets that are put one behind the other have to be in the order of the images.
    """

    def __new__(cls, parts: Sequence[Measurements]) -> Any:
        return super().__new__(_Entries if all(isinstance(part, Entries) for part in parts) else cls)

    def __init__(self, parts: Sequence[Measurements]) -> None:
        self.pieces = list(parts)
        facts = [Facts.of(part) for part in parts]
        self.shape, self.size = parts[0].shape, sum(int(part.size) for part in parts)
        self.dtype = str(np.result_type(*(np.dtype(part.dtype) for part in parts)))
        self.real = all(each.real for each in facts)
        self.row = facts[0].row if len({each.row for each in facts}) == 1 else None
        self.summed = max(each.summed for each in facts)
        self.dense = all(each.dense for each in facts)
        self._hermitian = [each.require_hermitian for each in facts if each.require_hermitian is not None]
        self._cuts = np.cumsum([int(part.size) for part in parts])[:-1]
        reaches = [each.reach for each in facts]
        if all(each is not None for each in reaches):
            self.reach = (1 + 1e-9) * norm(np.array(reaches, dtype=float))

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return np.concatenate([part.measure(U, s, V) for part in self.pieces])

    def adjoint(self, slope: Array) -> Operator:
        terms = [part.adjoint(each) for part, each in zip(self.pieces, np.split(slope, self._cuts), strict=True)]
        return Sum([1.0] * len(terms), terms)

    def require_hermitian(self) -> None:
        for each in self._hermitian:
            each()

    @property
    def positive(self) -> bool:
        return all(is_positive(part) for part in self.pieces)

    def parts(self) -> tuple[Any, ...]:
        return tuple(each for part in self.pieces for each in parts_of(part))

    def __repr__(self) -> str:
        return f"Joined({len(self.pieces)} measurements, {self.size} numbers)"


class _Entries(Joined):
    """Each different entry is computed once, however often it is measured."""

    single = True

    def __init__(self, parts: Sequence[Any]) -> None:
        super().__init__(parts)
        n = self.shape[1]
        keys = np.concatenate([part.pattern.rows.astype(np.int64) * n + part.pattern.indices for part in parts])
        cells, self.index = np.unique(keys, return_inverse=True)
        self.index = self.index.reshape(-1)
        self.once = Entries.in_order(cells // n, cells % n, self.shape)
        counts = np.bincount(self.index, minlength=cells.size)
        self.most = int(counts.max())
        self.reach = float(np.sqrt(self.most)) * (1 + 1e-15)
        self.dense = False

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return np.asarray(self.once.measure(U, s, V)[self.index])

    def adjoint(self, slope: Array) -> Sparse:
        size = self.once.size
        if slope.dtype.kind == "c":
            real, imaginary = (np.bincount(self.index, part, size) for part in (slope.real, slope.imag))
            data = real + 1j * imaginary
        else:
            data = np.bincount(self.index, slope, size)

        def blur() -> float:
            """What is added up in an entry, with its rounding."""
            added = np.bincount(self.index, np.abs(slope), size)
            return float(2 * EPS * self.most * norm(added))

        return Sparse(self.once.pattern, data, blur=blur)

    def extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """Of 𝒜*diag(w)𝒜: weights summed over every entry."""
        each = np.bincount(self.index, weights, self.once.size)
        high, low = self.once.extremes(each, hermitian)
        return high * (1 + EPS * self.most), low * (1 - EPS * self.most)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        return self.once.coverage(np.bincount(self.index, weights, self.once.size).astype(float))

    @cached_property
    def _known(self) -> tuple[Any, ...]:
        return (*self.once.parts(), self.index)

    def parts(self) -> tuple[Any, ...]:
        return self._known
