"""Features: W ↦ data·W, several outputs that are linear in the same features (tasks, classes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..checks import device_of, numbers, whole
from ..matrices.operators import Dense, Operator, column_scores
from ..places.numpy import EPS, Array, contiguous, dagger
from ..rounding import norm

_DENSE = 4_000_000  # entries of W up to which its gradient is formed; larger ones multiply factor by factor


class Features:
    """All entries of data·W, row by row: one row a sample, one column an output.

    Parameters
    ----------
    data : samples × features, dense or scipy-sparse.
    outputs : how many columns W has.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.Features(np.ones((4, 3)), 2)
    Features(4 samples of 3 features, 2 outputs)
    """

    def __init__(self, data: Any, outputs: int) -> None:
        from scipy.sparse import issparse

        outputs = whole("Features", "outputs", outputs)
        self.device = device_of(data)
        self.data = checked("Features", data)
        self.sparse = bool(issparse(self.data))
        samples, features = self.data.shape
        self.shape, self.row, self.size = (features, outputs), outputs, samples * outputs
        self.dtype, self.summed = self.data.dtype.name, features
        self._turned = self.data.conj().T.tocsr() if self.sparse else dagger(self.data)
        self.dense = features * self.row <= _DENSE
        self.held = 0 if self.sparse else self.data.size
        self.at_hand = min(self.data.shape) <= 500

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return contiguous(((self.data @ U) * s) @ dagger(V)).reshape(-1)

    def some(self, index: Array) -> Features:
        """The same of some samples."""
        part = Features.__new__(Features)
        part.__dict__.update(self.__dict__)
        part.data = self.data[index]
        part.size = index.size * self.row
        part._turned = part.data.conj().T.tocsr() if self.sparse else dagger(part.data)
        part.held = 0 if self.sparse else part.data.size
        return part

    def of_operator(self, G: Operator) -> Array:
        return np.asarray(self.data @ G.dense()).reshape(-1)

    def adjoint(self, slope: Array) -> Operator:
        table = slope.reshape(-1, self.row)
        if not self.dense:
            return Product(self._turned, self.data, table)

        def blur() -> float:
            return 2 * EPS * table.shape[0] * norm(abs(self._turned) @ np.abs(table))

        return Dense(contiguous(self._turned @ table), blur=blur)

    @property
    def reach(self) -> float:
        """‖data‖_F, an upper bound on ‖𝒜‖."""
        return (1 + 1e-9) * norm(self.data.data if self.sparse else self.data)

    def extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """Bounds on the eigenvalues of 𝒜*diag(w)𝒜: exact where the outputs of a sample weigh the same."""
        low = high = None
        if weights is not None:
            table = weights.reshape(-1, self.row)
            low, high = table.min(axis=1), table.max(axis=1)
        values = self._spectrum(high)
        tall = self.data.shape[0] >= self.data.shape[1]
        least = (values if low is high else self._spectrum(low))[-1] if tall else 0.0
        slack = 4 * EPS * sum(self.data.shape) * float(values[0])  # rounding of the product and of its eigenvalues
        return float(values[0]) + slack, max(float(least) - slack, 0.0)

    def _spectrum(self, each: Array | None) -> Array:
        """Eigenvalues of dataᴴ diag(w) data (those that can be positive), largest first."""
        data = self.data if each is None else _rows(self.data, np.sqrt(each))
        matrix = dagger(data) @ data if data.shape[0] >= data.shape[1] else data @ dagger(data)
        matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        return np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0)

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """The diagonal of 𝒜*diag(w)𝒜, summed over every row, and over every column."""
        squares = abs(self.data) ** 2 if not self.sparse else abs(self.data).power(2)
        if weights is None:
            rows = np.asarray(squares.sum(axis=0)).reshape(-1)
            return rows * self.row, np.full(self.row, float(rows.sum()))
        total = np.asarray(squares.T @ weights.reshape(-1, self.row))
        return total.sum(axis=1), total.sum(axis=0)

    def parts(self) -> tuple[Any, ...]:
        return (*sparse_parts(self.data), str(self.row))

    def __repr__(self) -> str:
        samples, features = self.data.shape
        return f"Features({samples} samples of {features} features, {self.row} outputs)"


@dataclass(frozen=True, eq=False)
class Product:
    """turned · table, turned = dataᴴ: a gradient too large to be formed."""

    turned: Any
    data: Any
    table: Array
    hermitian: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return (self.turned.shape[0], self.table.shape[1])

    @property
    def dtype(self) -> str:
        return np.result_type(self.turned.dtype, self.table).name

    def noise(self) -> float:
        return 4 * EPS * sum(self.table.shape) * frobenius(self.turned) * norm(self.table)

    def matmat(self, V: Array) -> Array:
        return cast(Array, self.turned @ (self.table @ V))

    def rmatmat(self, U: Array) -> Array:
        return cast(Array, dagger(self.table) @ (self.data @ U))

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        return cast(Array, self.turned @ self.table)


def checked(owner: str, data: Any) -> Any:
    """Data as float64 or complex128, dense or CSR, our own copy."""
    from scipy.sparse import issparse

    if not issparse(data):
        data = numbers(owner, "data", data, ndim=2).copy()
    else:
        data = data.tocsr().copy()
        data.sum_duplicates()
        data.data = numbers(owner, "data.data", data.data, ndim=1)
    if min(data.shape) < 1:
        raise ValueError(f"{owner}: data has shape {data.shape}; it must be at least 1 × 1.")

    return data


def sparse_parts(data: Any) -> tuple[Any, ...]:
    return (data.indptr, data.indices, data.data) if hasattr(data, "indptr") else (data,)


def frobenius(data: Any) -> float:
    return norm(data.data if hasattr(data, "indptr") else data)


def _rows(data: Any, scale: Array) -> Any:
    """diag(scale)·data."""
    if hasattr(data, "indptr"):
        from scipy.sparse import diags

        return (diags(scale) @ data).tocsr()
    return scale[:, None] * data
