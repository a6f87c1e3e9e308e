"""Entries: a table's observed positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import device_of, indices, two_dimensions
from ..matrices.operators import Sparse
from ..places.numpy import Array
from ..places.pattern import Pattern


class Entries:
    """The entries of an m × n matrix at some positions.

    Parameters
    ----------
    rows, cols : integer arrays, counted from zero; every pair at most once.
    shape : (m, n).

    Examples
    --------
    >>> import spectraplex as sx
    >>> sx.Entries([0, 1, 2], [0, 1, 1], (3, 2))
    Entries(3 of 6 entries of a 3×2 table)
    """

    dtype = "float64"  # complex where the targets are
    single = True  # factors may come in single precision: every sum is in double
    reach = 1.0  # ‖𝒜‖: an image holds entries of X
    at_hand = True  # its eigenvalues cost nothing

    def __init__(self, rows: Any, cols: Any, shape: tuple[int, int], *, owner: str = "Entries") -> None:
        self.shape, self.device = two_dimensions(owner, shape), device_of(rows, cols)
        rows, cols = indices(owner, "rows", rows, self.shape[0]), indices(owner, "cols", cols, self.shape[1])
        if rows.size != cols.size:
            raise ValueError(f"{owner}: {rows.size} rows and {cols.size} columns; give one of each.")
        if rows.size == 0:
            raise ValueError(f"{owner}: no entry is observed; there is nothing to fit.")
        order = _row_order(owner, rows, cols, self.shape)
        self.order: Array | None = order  # entry e of an image is observation order[e] of the user
        self.pattern = Pattern.from_sorted(rows[order], cols[order], self.shape)
        self.size = self.pattern.size

    @classmethod
    def in_order(cls, rows: Array, cols: Array, shape: tuple[int, int]) -> Entries:
        """Positions that are sorted by row, then column, each once and inside the shape: no order is kept."""
        entries = cls.__new__(cls)
        entries.shape, entries.order, entries.device = shape, None, None
        entries.pattern = Pattern.from_sorted(rows, cols, shape)
        entries.size = entries.pattern.size
        return entries

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self.pattern.sample(U, V, s)

    def adjoint(self, slope: Array) -> Sparse:
        return Sparse(self.pattern, slope)

    def some(self, index: Array) -> Entries:
        """The entries at these places of an image, which are sorted."""
        pattern = self.pattern
        return Entries.in_order(pattern.rows[index], pattern.indices[index], self.shape)

    def parts(self) -> tuple[Array, ...]:
        return (self.pattern.indptr, self.pattern.indices)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """Weights summed over every row, and over every column."""
        each = self._each(weights)
        counts = np.diff(self.pattern.indptr).astype(np.int64)  # the row of every entry is not kept for this
        rows = counts.astype(float)
        if weights is not None:
            rows = np.bincount(np.repeat(np.arange(counts.size), counts), each, self.shape[0])
        return rows, np.bincount(self.pattern.indices, each, self.shape[1])

    def extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """The largest and the least eigenvalue of 𝒜*diag(w)𝒜, exact."""
        if hermitian:
            pairs = self._pairs(weights)
            whole = pairs.nnz == self.shape[0] ** 2
            return float(pairs.data.max()), float(pairs.data.min()) if whole else 0.0
        each, whole = self._each(weights), self.size == self.shape[0] * self.shape[1]
        return float(each.max()), float(each.min()) if whole else 0.0

    @property
    def positive(self) -> bool:
        """Of a matrix ⪰ 0 only the diagonal is never negative."""
        return bool(np.array_equal(self.pattern.rows, self.pattern.indices))

    def _each(self, weights: Array | None) -> Array:
        return np.ones(self.size) if weights is None else weights

    def _pairs(self, weights: Array | None) -> Any:
        """On Hermitian X entries (i, j) and (j, i) are one number that ‖X‖² counts twice: its weight is the mean."""
        from scipy.sparse import csr_matrix

        place = (self.pattern.indices.astype(np.int64), self.pattern.indptr.astype(np.int64))
        W = csr_matrix((self._each(weights), *place), shape=self.shape)
        return (0.5 * (W + W.T)).tocsr()

    def __repr__(self) -> str:
        m, n = self.shape
        return f"Entries({self.size} of {m * n} entries of a {m}×{n} table)"


def _row_order(owner: str, rows: Array, cols: Array, shape: tuple[int, int]) -> Array:
    """The permutation that sorts by row, then column; refuses duplicates, naming the first."""
    if shape[0] * shape[1] < 2**62:
        key = rows.astype(np.int64) * shape[1] + cols
        order = np.arange(key.size) if np.all(key[1:] > key[:-1]) else np.argsort(key, kind="stable")
        same = np.nonzero(key[order[1:]] == key[order[:-1]])[0]
    else:
        order = np.lexsort((cols, rows))
        r, c = rows[order], cols[order]
        same = np.nonzero((r[1:] == r[:-1]) & (c[1:] == c[:-1]))[0]
    if same.size:
        first, second = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise ValueError(
            f"{owner}: entry ({rows[first]}, {cols[first]}) is given twice, at positions {first} and {second} "
            f"({same.size} duplicate(s) in all); keep one, or their mean."
        )
    return order
