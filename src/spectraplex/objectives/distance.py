"""Distance: f(X) = ½‖X − A‖²_F, whose minimiser over a domain is the Euclidean projection of A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import device_of, hermitian_or_say, numbers
from ..losses.curves import Quadratic
from ..losses.protocol import Conjugate, Prepared
from ..losses.squared import Squared
from ..matrices.factors import Rectangular
from ..matrices.operators import Dense, LowRank, Operator, Sparse, Sum
from ..measurements.identity import Identity
from ..places.here import HERE
from ..places.numpy import Array, contiguous, dagger, inner
from ..places.pattern import Pattern
from ..rounding import VANISHING, norm, of_sum, plain
from .fit import Fit


@dataclass(frozen=True, eq=False)
class Factored:
    """The image of X beside a sparse A: X's own factors, with ‖X‖² and ⟨A, X⟩ carried along."""

    U: Array
    s: Array
    V: Array
    square: float
    match: float


class Distance(Fit):
    """½‖X − A‖²_F for a dense or scipy-sparse A, real or complex; smoothness and strong convexity are both one.

    ``Fit`` of ``Identity`` with a squared loss by a short name; its images are matrices, or factors of them.

    With a dense A the image is X itself. With a sparse A nothing dense is ever formed: the image is factored, and
    the gradient multiplies as low rank minus sparse.
    """

    smoothness = 1.0
    strong_convexity = 1.0
    condition = 1.0

    def __init__(self, A: Any) -> None:
        from scipy.sparse import issparse

        self.device = device_of(A)
        self.sparse: Sparse | None = None
        if issparse(A):
            if len(A.shape) != 2:
                raise ValueError(f"Distance: A must have 2 dimension(s), got shape {A.shape}.")
            table = A.tocsr().copy()
            table.sum_duplicates()
            table.sort_indices()
            data = numbers("Distance", "A.data", table.data, ndim=1)
            shape = (int(table.shape[0]), int(table.shape[1]))
            rows = np.repeat(np.arange(shape[0]), np.diff(table.indptr))
            self.sparse = Sparse(Pattern.from_sorted(rows, table.indices, shape), data)
            self.A = None
            self._half, self._norm = 0.5 * inner(data, data), norm(data)
        else:
            self.A = numbers("Distance", "A", A, ndim=2).copy()
            shape, data = (self.A.shape[0], self.A.shape[1]), self.A
        if min(shape) < 1:
            raise ValueError(f"Distance: A has shape {shape}; it must be at least 1 × 1.")
        self._set(Identity(shape), Prepared(Squared(), data.reshape(-1), None))
        self.dense = self.sparse is None
        self._hermitian, self._place = False, HERE  # on a device it is the place there

    def require_hermitian(self) -> None:
        """Called at the door by a domain of Hermitian matrices."""
        if self.sparse is None:
            assert self.A is not None
            self._hermitian = hermitian_or_say("Distance", "A", self.A)
            return
        from scipy.sparse import csr_matrix

        pattern = self.sparse.pattern
        place = (pattern.indices.astype(np.int64), pattern.indptr.astype(np.int64))
        table = csr_matrix((self.sparse.data, *place), shape=self.shape)
        skew = abs(table - table.conj().T).tocoo()
        if skew.nnz and skew.data.max() > 1e-10 * max(np.abs(self.sparse.data).max(), np.finfo(float).tiny):
            worst = int(np.argmax(skew.data))
            raise ValueError(
                f"Distance: A is not Hermitian: entry ({skew.row[worst]}, {skew.col[worst]}) differs from the "
                f"conjugate of its mirror by {skew.data[worst]:.3g}; pass (A + Aᴴ)/2 if that is what you mean."
            )

    # -------------------------------------------------------------------------------------------- f(X) = ℓ(𝒜(X))

    def measure(self, U: Array, s: Array, V: Array) -> Any:
        if self.sparse is None:
            return (U * s) @ dagger(V)
        square = _cross(U, s, V, U, s, V)
        U, V = contiguous(U), contiguous(V)
        match = float(np.dot(s, self.sparse.scores(U, V, s.size)))
        return Factored(U, s, V, square, match)

    def combine(self, a: float, z: Any, b: float, w: Any) -> Any:
        if self.sparse is None:
            return a * z + b * w
        U, V = np.concatenate([z.U, w.U], axis=1), np.concatenate([z.V, w.V], axis=1)
        square = a * a * z.square + 2 * a * b * _inner(z, w) + b * b * w.square
        s = np.concatenate([a * z.s, b * w.s])
        if s.size > 48 + min(self.shape) // 2:  # directions hold X itself, so columns would double at every step
            U, s, V = Rectangular(U, s, V, self._place).svd()
        return Factored(U, s, V, square, a * z.match + b * w.match)

    def evaluate(self, z: Any) -> tuple[float, Any]:
        if self.sparse is None:
            residual = z - self.A
            return 0.5 * inner(residual, residual), residual
        return max(0.5 * z.square - z.match + self._half, 0.0), z  # terms that cancel; the sum is never negative

    def along(self, z: Any, dz: Any) -> Quadratic:
        value, slope = self.evaluate(z)
        if self.sparse is None:
            return Quadratic(value, inner(slope, dz), inner(dz, dz))
        return Quadratic(value, self.pair(slope, dz), dz.square)

    @property
    def hull(self) -> Any:
        """Where images are matrices and no factors."""
        return super().hull if self.sparse is None else None

    def pair(self, slope: Any, z: Any) -> float:
        return inner(slope, z) if self.sparse is None else _inner(slope, z) - z.match

    def gradient(self, slope: Any) -> Operator:
        if self.sparse is None:
            return Dense(slope, self._hermitian, lambda: 0.5 * norm(slope - dagger(slope)) if self._hermitian else 0.0)
        low_rank = LowRank(slope.U, slope.s, slope.V, place=self._place)
        return Sum((1.0, -1.0), (low_rank, self.sparse), self._place)

    def conjugate(self, slope: Any) -> Conjugate:
        """ℓ*(Y) = ⟨Y, A⟩ + ½‖Y‖²; with a sparse A the slope Y = X − A is kept as the factors of X."""
        if self.sparse is None:
            assert self.A is not None
            return Squared().conjugate(slope, self.A, None)
        fresh = self.measure(slope.U, slope.s, slope.V)  # what was carried along has drifted
        square = max(fresh.square - 2 * fresh.match + 2 * self._half, 0.0)
        linear = fresh.match - 2 * self._half
        size, count = self._terms(float(np.abs(slope.s).sum()), slope.s.size)
        return Conjugate(lambda c: c * linear + 0.5 * c * c * square, np.inf, size, (linear, square), count)

    @property
    def hermitian_smoothness(self) -> float:
        return self.smoothness

    @property
    def hermitian_strong_convexity(self) -> float:
        return self.strong_convexity

    def fitted(self, psd: bool) -> float:
        """At least the nuclear norm of the best X of all (of all X ⪰ 0)."""
        size = self._norm if self.A is None else norm(self.A)
        return float(np.sqrt(min(self.shape))) * size

    reach = bend = 1.0  # ‖𝒜‖, and the curvature of the loss of an image

    def rounding(self, value: float, slope: Any, size: float, terms: int) -> float:
        """½‖X‖² − ⟨A, X⟩ + ½‖A‖² is as exact as its terms are large; a dense residual is squared instead."""
        if self.sparse is None:
            return plain(self._own_facts, value, slope, size, terms)
        total, count = self._terms(size, terms)
        return of_sum(count) * total + count * VANISHING

    def _terms(self, size: float, terms: int) -> tuple[float, int]:
        """The sizes of all terms of ½‖X − A‖² and ⟨X − A, A⟩ together, and how many there are."""
        assert self.sparse is not None
        return 2.0 * (size + self._norm) ** 2, sum(self.shape) + terms + self.sparse.pattern.size

    @property
    def coverage(self) -> tuple[Array, Array]:
        """Every entry counts once: the curvature of a row and of a column."""
        m, n = self.shape
        return np.full(m, float(n)), np.full(n, float(m))

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        if self.sparse is None:
            return ("Distance", self.A)
        name = f"sparse Distance {self.shape[0]}×{self.shape[1]}"
        return (name, self.sparse.pattern.indptr, self.sparse.pattern.indices, self.sparse.data)

    def __repr__(self) -> str:
        kind = "dense" if self.sparse is None else f"sparse with {self.sparse.pattern.size} entries"
        return f"Distance({self.shape[0]}×{self.shape[1]}, {kind}, {self.dtype})"


def _inner(z: Factored, w: Factored) -> float:
    return z.square if z is w else _cross(z.U, z.s, z.V, w.U, w.s, w.V)


def _cross(U: Array, s: Array, V: Array, P: Array, t: Array, Q: Array) -> float:
    """Re ⟨U diag(s) Vᴴ, P diag(t) Qᴴ⟩."""
    return float((s @ ((dagger(U) @ P) * (dagger(V) @ Q).conj()) @ t).real)
