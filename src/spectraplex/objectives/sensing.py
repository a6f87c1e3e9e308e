"""Sensing: f(X) = ½ Σ (⟨Aᵢ, X⟩ − bᵢ)², from linear measurements ⟨Aᵢ, X⟩ = Re tr(AᵢᴴX)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from ..checks import hermitian_or_say, numbers
from ..fingerprint import fingerprint, stream
from ..losses.curves import Curve
from ..losses.entrywise import Conjugate, Squared
from ..matrices.operators import Dense, LowRank, Operator, Sparse
from ..places.numpy import EPS, Array, adjoint_times, dagger, inner
from ..places.pattern import Pattern
from ..rounding import norm

_EXACT = 3000  # Gram matrices up to this size are decomposed; beyond, a bound that holds is used instead


class Measurements(Protocol):
    """The linear map X ↦ (⟨Aᵢ, X⟩)ᵢ in one of three storages."""

    count: int
    shape: tuple[int, int]
    dtype: str
    label: str
    summed: int

    def of(self, U: Array, s: Array, V: Array) -> Array: ...
    def of_operator(self, G: Operator) -> Array: ...
    def adjoint(self, y: Array) -> Operator: ...
    def gram(self) -> Array: ...
    def parts(self) -> tuple[Array, ...]: ...
    def squares(self) -> tuple[Array, Array]: ...
    def require_hermitian(self) -> None: ...


class Sensing:
    """Least squares on linear measurements.

    Parameters
    ----------
    measurements : the Aᵢ, in one of three forms:

        * a dense stack, an array of shape (N, m, n);
        * a list of N scipy-sparse matrices of one shape;
        * rank-ones aᵢaᵢᴴ (phase retrieval, covariance sketching): an array of shape (N, d) with the aᵢ as rows.
    targets : N real numbers bᵢ.

    A measurement is the real number Re tr(AᵢᴴX); with a complex rectangular X, pass A and 1j·A to see both parts.
    """

    def __init__(self, measurements: Any, targets: Any) -> None:
        self.measurements = _storage(measurements)
        targets = numbers("Sensing", "targets", targets, ndim=1)
        if targets.dtype.kind == "c":
            raise TypeError("Sensing: targets must be real: a measurement is the real number Re tr(AᵢᴴX).")
        if targets.size != self.measurements.count:
            raise ValueError(
                f"Sensing: {self.measurements.count} measurements but {targets.size} targets; give one target each."
            )
        self.targets = targets.copy()
        self.shape, self.dtype = self.measurements.shape, self.measurements.dtype
        self.loss = Squared()
        self.dense = isinstance(self.measurements, Stack)

    @property
    def held(self) -> int:
        """Numbers in dense arrays that one product reads."""
        return 0 if isinstance(self.measurements, Sparses) else sum(part.size for part in self.measurements.parts())

    def require_hermitian(self) -> None:
        self.measurements.require_hermitian()

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self.measurements.of(U, s, V)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return a * z + b * w

    def evaluate(self, z: Array) -> tuple[float, Array]:
        return self.loss.evaluate(z, self.targets, None)

    def along(self, z: Array, dz: Array) -> Curve:
        return self.loss.along(z, dz, self.targets, None)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Operator:
        return self.measurements.adjoint(slope)

    def conjugate(self, slope: Array) -> Conjugate:
        return self.loss.conjugate(slope, self.targets, None)

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        name = f"Sensing {self.measurements.label} {self.shape[0]}×{self.shape[1]}"
        return (name, *self.measurements.parts(), self.targets)

    bend = 1.0  # the largest curvature of the loss of an image

    @cached_property
    def reach(self) -> float:
        """√Σ‖Aᵢ‖²: an upper bound on ‖𝒜‖."""
        return (1 + 1e-9) * norm(np.sqrt(self.coverage[0]))

    @property
    def summed(self) -> int:
        """How many numbers one measurement adds up."""
        return self.measurements.summed

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """The diagonal of 𝒜*𝒜, summed over every row, and over every column."""
        return self.measurements.squares()

    @cached_property
    def _spectrum(self) -> Array:
        """Eigenvalues of the Gram matrix Re⟨Aᵢ, Aⱼ⟩, largest first: those of 𝒜*𝒜, and zeros."""
        return np.linalg.eigvalsh(self.measurements.gram())[::-1]

    @cached_property
    def smoothness(self) -> float:
        """λ_max of the Gram matrix: exact up to 3,000 measurements, beyond that a true upper bound.

        The bound is that of ``bounds.upper_bound`` (within 0.1 %, failure probability 10⁻¹²): a Ritz value would be
        too small, and a smoothness that is too small is no smoothness.
        """
        if self.measurements.count <= _EXACT:
            return float(max(self._spectrum[0], 0.0))
        from ..eigen.bounds import upper_bound

        rng = stream(0, fingerprint(*self.parts()))
        return upper_bound(_Gram(self), failure=1e-12, relative=1e-3, rng=rng).value

    @cached_property
    def strong_convexity(self) -> float:
        """λ_min of 𝒜*𝒜 on all m × n matrices: positive only with enough measurements."""
        m, n = self.shape
        return self._smallest(m * n * (2 if self.dtype == "complex128" else 1))

    @cached_property
    def hermitian_strong_convexity(self) -> float:
        d = self.shape[0]
        return self._smallest(d * d if self.dtype == "complex128" else d * (d + 1) // 2)

    def _smallest(self, dimension: int) -> float:
        if not dimension <= self.measurements.count <= _EXACT:
            return 0.0
        value = float(self._spectrum[dimension - 1])
        return value if value > 1e-12 * self._spectrum[0] else 0.0

    def __repr__(self) -> str:
        m, n = self.shape
        kind = f"{self.measurements.count} {self.measurements.label} measurements"
        return f"Sensing({kind} of a {m}×{n} matrix, {self.dtype})"


class _Gram:
    """y ↦ 𝒜(𝒜*(y)) as an operator, for the smoothness of many measurements."""

    dtype = "float64"

    def __init__(self, sensing: Sensing) -> None:
        self.measurements = sensing.measurements
        self.shape = (sensing.measurements.count,) * 2

    def matmat(self, Y: Array) -> Array:
        columns = [self.measurements.of_operator(self.measurements.adjoint(y)) for y in Y.T]
        return np.stack(columns, axis=1)


# ------------------------------------------------------------------------------------------------------------------
# Three storages


class Stack:
    """A dense stack (N, m, n)."""

    label = "dense"

    def __init__(self, A: Array) -> None:
        self.A = A
        self.count, self.shape, self.dtype = A.shape[0], (A.shape[1], A.shape[2]), A.dtype.name
        self._flat = A.reshape(self.count, -1)
        self.summed = self._flat.shape[1]
        self._hermitian = False

    def require_hermitian(self) -> None:
        self._hermitian = hermitian_or_say("Sensing", "measurements", self.A)

    def of(self, U: Array, s: Array, V: Array) -> Array:
        X = (U * s) @ dagger(V)
        return cast(Array, (self._flat @ X.conj().reshape(-1)).real)  # no conjugated copy of the stack

    def of_operator(self, G: Operator) -> Array:
        return cast(Array, (self._flat.conj() @ G.dense().reshape(-1)).real)

    def adjoint(self, y: Array) -> Dense:
        def blur() -> float:
            return 2 * EPS * self.count * float(np.linalg.norm(np.abs(y) @ np.abs(self._flat)))

        return Dense((y @ self._flat).reshape(self.shape), self._hermitian, blur)

    def gram(self) -> Array:
        return cast(Array, (self._flat.conj() @ self._flat.T).real)

    def parts(self) -> tuple[Array, ...]:
        return (self.A,)

    def squares(self) -> tuple[Array, Array]:
        total = sum(np.abs(A) ** 2 for A in self.A)
        return np.asarray(total).sum(axis=1), np.asarray(total).sum(axis=0)


class Sparses:
    """N sparse matrices, kept as one (union of patterns) × N sparse matrix."""

    label = "sparse"

    def __init__(self, matrices: Sequence[Any]) -> None:
        from scipy.sparse import csc_matrix

        shapes = {tuple(int(size) for size in A.shape) for A in matrices}
        if len(shapes) != 1:
            raise ValueError(f"Sensing: the sparse measurements have different shapes: {sorted(shapes)[:3]}.")
        self.count, (m, n) = len(matrices), shapes.pop()
        self.shape = (m, n)
        parts = [A.tocoo() for A in matrices]
        data = numbers("Sensing", "measurements' data", np.concatenate([A.data for A in parts]), ndim=1)
        key = np.concatenate([A.row.astype(np.int64) * n + A.col for A in parts])
        owner = np.repeat(np.arange(self.count), [A.nnz for A in parts])
        union, place = np.unique(key, return_inverse=True)
        self.dtype = data.dtype.name
        self.pattern = Pattern.from_sorted(union // n, union % n, self.shape)
        self.table = csc_matrix((data, (place, owner)), shape=(union.size, self.count))  # column i is vec(Aᵢ)
        self.summed = int(np.diff(self.table.indptr).max())
        self._hermitian = False

    def require_hermitian(self) -> None:
        from scipy.sparse import csr_matrix

        if self.shape[0] != self.shape[1]:
            raise ValueError(
                f"Sensing: measurements are {self.shape[0]}×{self.shape[1]}; this domain needs square ones."
            )
        rows, cols = self.pattern.rows.astype(np.int64), self.pattern.indices.astype(np.int64)
        scale, exactly = np.abs(self.table.data).max(initial=0.0), True
        for i in range(self.count):
            column = self.table.getcol(i)
            at = column.indices
            A = csr_matrix((column.data, (rows[at], cols[at])), shape=self.shape)
            skew = abs(A - A.conj().T)
            exactly = exactly and not skew.data.any()
            if skew.nnz and skew.max() > 1e-10 * scale:
                raise ValueError(
                    f"Sensing: measurements[{i}] is not Hermitian (differs from its conjugate transpose by "
                    f"{skew.max():.3g}); pass (A + Aᴴ)/2 if that is what you mean."
                )
        self._hermitian = exactly

    def of(self, U: Array, s: Array, V: Array) -> Array:
        return self._pairings(self.pattern.sample(U * s, V))

    def of_operator(self, G: Operator) -> Array:
        assert isinstance(G, Sparse)
        return self._pairings(G.data)

    def _pairings(self, entries: Array) -> Array:
        return np.asarray((self.table.T @ entries.conj()).real)  # no conjugated copy of the table

    def adjoint(self, y: Array) -> Sparse:
        def blur() -> float:
            return 2 * EPS * self.count * float(np.linalg.norm(abs(self.table) @ np.abs(y)))

        return Sparse(self.pattern, np.ascontiguousarray(self.table @ y), self._hermitian, blur)

    def gram(self) -> Array:
        return np.asarray((self.table.conj().T @ self.table).toarray().real)

    def squares(self) -> tuple[Array, Array]:
        total = np.bincount(self.table.indices, np.abs(self.table.data) ** 2, self.pattern.size)
        m, n = self.shape
        return np.bincount(self.pattern.rows, total, m), np.bincount(self.pattern.indices, total, n)

    def parts(self) -> tuple[Array, ...]:
        return (self.pattern.indptr, self.pattern.indices, self.table.indptr, self.table.indices, self.table.data)


class RankOnes:
    """aᵢaᵢᴴ with the aᵢ as rows of an (N, d) array."""

    label = "rank-one"

    def __init__(self, vectors: Array) -> None:
        self.count, d = vectors.shape
        self.shape, self.dtype = (d, d), vectors.dtype.name
        self.summed = d
        self._columns = np.array(vectors.T, order="C")  # our own copy: what the user does with theirs is no matter
        self.vectors = self._columns.T

    def require_hermitian(self) -> None:
        """aaᴴ always is."""

    def of(self, U: Array, s: Array, V: Array) -> Array:
        left = adjoint_times(self._columns, U)
        if V is U:
            return cast(Array, np.abs(left) ** 2 @ s)
        right = adjoint_times(self._columns, V)
        return np.einsum("ik,ik->i", left * s, right.conj()).real

    def of_operator(self, G: Operator) -> Array:
        return np.einsum("ik,ik->i", self.vectors.conj() @ G.dense(), self.vectors).real

    def adjoint(self, y: Array) -> LowRank:
        return LowRank(self._columns, y, self._columns, hermitian=True)

    def gram(self) -> Array:
        return np.abs(self.vectors.conj() @ self.vectors.T) ** 2

    def parts(self) -> tuple[Array, ...]:
        return (self.vectors,)

    def squares(self) -> tuple[Array, Array]:
        each = np.abs(self.vectors) ** 2
        total = each.sum(axis=1) @ each
        return total, total


def _storage(measurements: Any) -> Measurements:
    from scipy.sparse import issparse

    if issparse(measurements):
        raise TypeError("Sensing: one sparse matrix was given; pass a list of them, one per measurement.")
    if isinstance(measurements, Sequence) and measurements and all(issparse(A) for A in measurements):
        return Sparses(measurements)
    array = numbers("Sensing", "measurements", measurements)
    if array.size == 0:
        raise ValueError("Sensing: there are no measurements.")
    if array.ndim == 3:
        return Stack(array)
    if array.ndim == 2:
        return RankOnes(array)
    raise ValueError(
        f"Sensing: measurements have shape {array.shape}; pass a stack (N, m, n), a list of sparse matrices, or "
        "rank-ones as the rows of an (N, d) array."
    )
