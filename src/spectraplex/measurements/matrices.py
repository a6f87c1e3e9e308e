"""Matrices: the real numbers ⟨Aᵢ, X⟩ = Re tr(AᵢᴴX), the Aᵢ as a dense stack or as sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..checks import device_of, hermitian_or_say, numbers
from ..matrices.operators import Dense, Operator, Sparse
from ..places.numpy import EPS, Array, contiguous, dagger
from ..places.pattern import Pattern
from ..rounding import norm, of_sum

_DECIDED = 2000  # matrices up to this size have their eigenvalues looked at; larger ones are not known to be positive


def Matrices(stack: Any) -> Stack | Sparses:
    """The measurements ⟨Aᵢ, X⟩ = Re tr(AᵢᴴX); with a complex rectangular X, pass A and 1j·A to see both parts.

    Parameters
    ----------
    stack : an array of shape (N, m, n), or a list of N scipy-sparse matrices of one shape.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.Matrices(np.ones((4, 3, 2)))
    4 dense measurements of a 3×2 matrix
    """
    from scipy.sparse import issparse

    if issparse(stack):
        raise TypeError("Matrices: one sparse matrix was given; pass a list of them, one per measurement.")
    if isinstance(stack, Sequence) and stack and all(issparse(A) for A in stack):
        return Sparses(stack, owner="Matrices")
    array, device = numbers("Matrices", "stack", stack), device_of(stack)
    if array.ndim != 3 or array.size == 0:
        raise ValueError(
            f"Matrices: the stack has shape {array.shape}; pass an array of shape (N, m, n) or a list of sparse "
            "matrices."
        )
    found = Stack(array, owner="Matrices")
    found.device = device
    return found


class Stack:
    """A dense stack (N, m, n)."""

    label = "dense"
    real = True
    dense = True

    def __init__(self, A: Array, owner: str = "Sensing") -> None:
        self.A, self._owner = A, owner
        self.device: str | None = None  # of the tensor that it came as
        self.size: int = A.shape[0]
        self.shape, self.dtype = (A.shape[1], A.shape[2]), A.dtype.name
        self.held = A.size
        self._flat = A.reshape(self.size, -1)
        self.summed = self._flat.shape[1]
        self._hermitian = False

    def require_hermitian(self) -> None:
        self._hermitian = hermitian_or_say(self._owner, "measurements", self.A)

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        X = (U * s) @ dagger(V)
        return cast(Array, (self._flat @ X.conj().reshape(-1)).real)  # no conjugated copy of the stack

    def of_operator(self, G: Operator) -> Array:
        return (self._flat.conj() @ G.dense().reshape(-1)).real

    def adjoint(self, y: Array) -> Dense:
        def blur() -> float:
            return 2 * EPS * self.size * norm(np.abs(y) @ np.abs(self._flat))

        return Dense((y @ self._flat).reshape(self.shape), self._hermitian, blur)

    def gram(self) -> Array:
        return (self._flat.conj() @ self._flat.T).real

    def parts(self) -> tuple[Array, ...]:
        return (self.A,)

    @cached_property
    def positive(self) -> bool:
        return all(_semidefinite(A) for A in self.A)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """The diagonal of 𝒜*diag(w)𝒜, summed over every row, and over every column."""
        each: Any = np.ones(self.size) if weights is None else weights
        total = np.asarray(sum(w * np.abs(A) ** 2 for w, A in zip(each, self.A, strict=True)))
        return total.sum(axis=1), total.sum(axis=0)

    def __repr__(self) -> str:
        return f"{self.size} {self.label} measurements of a {self.shape[0]}×{self.shape[1]} matrix"


class Sparses:
    """N sparse matrices, kept as one (union of patterns) × N sparse matrix."""

    label = "sparse"
    real = True

    def __init__(self, matrices: Sequence[Any], owner: str = "Sensing") -> None:
        from scipy.sparse import csc_matrix

        self._owner = owner
        shapes = {tuple(int(size) for size in A.shape) for A in matrices}
        if len(shapes) != 1:
            raise ValueError(f"{owner}: the sparse measurements have different shapes: {sorted(shapes)[:3]}.")
        self.size, (m, n) = len(matrices), shapes.pop()
        self.shape = (m, n)
        parts = [A.tocoo() for A in matrices]
        data = numbers(owner, "measurements' data", np.concatenate([A.data for A in parts]), ndim=1)
        key = np.concatenate([A.row.astype(np.int64) * n + A.col for A in parts])
        which = np.repeat(np.arange(self.size), [A.nnz for A in parts])
        union, place = np.unique(key, return_inverse=True)
        self.dtype = data.dtype.name
        self.pattern = Pattern.from_sorted(union // n, union % n, self.shape)
        self.table = csc_matrix((data, (place, which)), shape=(union.size, self.size))  # column i is vec(Aᵢ)
        self.summed = int(np.diff(self.table.indptr).max())
        self._hermitian = False

    def require_hermitian(self) -> None:
        if self.shape[0] != self.shape[1]:
            raise ValueError(
                f"{self._owner}: measurements are {self.shape[0]}×{self.shape[1]}; this domain needs square ones."
            )
        skew = self._skew()
        wrong = np.flatnonzero(skew > 1e-10 * np.abs(self.table.data).max(initial=0.0))
        if wrong.size:
            raise ValueError(
                f"{self._owner}: measurements[{wrong[0]}] is not Hermitian (differs from its conjugate transpose by "
                f"{skew[wrong[0]]:.3g}); pass (A + Aᴴ)/2 if that is what you mean."
            )
        self._hermitian = not skew.any()

    def _skew(self) -> Array:
        """The largest entry of |Aᵢ − Aᵢᴴ|, of all at once: there may be many thousands, of a few entries each."""
        from scipy.sparse import csc_matrix

        rows, cols = self.pattern.rows.astype(np.int64), self.pattern.indices.astype(np.int64)
        n, table = self.shape[1], self.table
        if rows.size == 0:
            return np.zeros(self.size)
        keys, mirrored = rows * n + cols, cols * n + rows  # keys rise
        place = np.minimum(np.searchsorted(keys, mirrored), keys.size - 1)
        place = np.where(keys[place] == mirrored, place, keys.size + np.arange(keys.size))  # some have no mirror image
        shape = (2 * keys.size, self.size)
        own = csc_matrix((table.data, table.indices, table.indptr), shape=shape)
        other = csc_matrix((table.data.conj(), place[table.indices], table.indptr), shape=shape)
        return np.asarray(abs(own - other).max(axis=0).todense()).reshape(-1)

    @cached_property
    def positive(self) -> bool:
        return self.shape[0] == self.shape[1] and all(_semidefinite(self._core(i)) for i in range(self.size))

    def _core(self, i: int) -> Array:
        """Aᵢ without the rows and columns that are zero in both directions."""
        column = self.table.getcol(i)
        rows, cols = (side[column.indices].astype(np.int64) for side in (self.pattern.rows, self.pattern.indices))
        used, place = np.unique(np.concatenate([rows, cols]), return_inverse=True)
        if used.size > _DECIDED:
            return np.empty((used.size, 0))
        A = np.zeros((used.size, used.size), self.dtype)
        A[place[: rows.size], place[rows.size :]] = column.data
        return A

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self._pairings(self.pattern.sample(U, V, s))

    def of_operator(self, G: Operator) -> Array:
        assert isinstance(G, Sparse)
        return self._pairings(G.data)

    def _pairings(self, entries: Array) -> Array:
        return cast(Array, (self.table.T @ entries.conj()).real)  # no conjugated copy of the table

    def adjoint(self, y: Array) -> Sparse:
        def blur() -> float:
            return 2 * EPS * self.size * norm(abs(self.table) @ np.abs(y))

        return Sparse(self.pattern, contiguous(self.table @ y), self._hermitian, blur)

    def gram(self) -> Array:
        return np.asarray((self.table.conj().T @ self.table).toarray().real)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """The diagonal of 𝒜*diag(w)𝒜, summed over every row, and over every column."""
        squares = np.abs(self.table.data) ** 2
        if weights is not None:
            squares = squares * np.repeat(weights, np.diff(self.table.indptr))
        total = np.bincount(self.table.indices, squares, self.pattern.size)
        m, n = self.shape
        return np.bincount(self.pattern.rows, total, m), np.bincount(self.pattern.indices, total, n)

    def parts(self) -> tuple[Array, ...]:
        return (self.pattern.indptr, self.pattern.indices, self.table.indptr, self.table.indices, self.table.data)

    def __repr__(self) -> str:
        return f"{self.size} {self.label} measurements of a {self.shape[0]}×{self.shape[1]} matrix"


def _semidefinite(A: Array) -> bool:
    """A ⪰ 0 up to rounding: what a product BBᴴ in floating point may be off by, relative to ‖A‖."""
    if A.shape[0] != A.shape[1] or A.shape[0] > _DECIDED:
        return False
    if A.size == 0:
        return True
    slack = of_sum(A.shape[0]) * norm(A)
    if norm(A - dagger(A)) > slack:
        return False
    return bool(np.linalg.eigvalsh(0.5 * (A + dagger(A)))[0] >= -slack)
