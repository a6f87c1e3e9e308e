"""Completion: fit a table on its observed entries, f(Z) = Σ wᵢ ℓ(Z[rowᵢ, colᵢ]; valueᵢ)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..checks import indices, number, numbers, positive_weights, two_dimensions
from ..fingerprint import identity
from ..losses.curves import Curve
from ..losses.entrywise import Conjugate, Huber, Logistic, Loss, Squared, steepest
from ..matrices.operators import Sparse
from ..places.numpy import Array, blend, inner
from ..places.pattern import Pattern
from ..rounding import norm


class Completion:
    """The observed entries of an m × n table, and how a misfit is paid for.

    Parameters
    ----------
    rows, cols : integer arrays, counted from zero; every pair at most once.
    values : the observed numbers, real or complex (complex: squared and Huber loss only). For
        ``loss="logistic"`` labels, either 0/1 or −1/+1: the attribute ``labels`` says which was understood.
    shape : (m, n).
    loss : "squared" ½|z − b|², "huber" (quadratic up to ``delta``, linear beyond) or "logistic" log(1 + exp(−bz)).
    weights : positive, one per observation; all one by default.

    Examples
    --------
    >>> import spectraplex as sx
    >>> f = sx.Completion([0, 1, 2], [0, 1, 1], [5.0, 3.0, 1.0], (3, 2))
    >>> f
    Completion(3 of 6 entries of a 3×2 table, squared loss)
    """

    def __init__(
        self,
        rows: Any,
        cols: Any,
        values: Any,
        shape: tuple[int, int],
        loss: str = "squared",
        delta: float = 1.0,
        weights: Any = None,
    ) -> None:
        self.shape = two_dimensions("Completion", shape)
        rows = indices("Completion", "rows", rows, self.shape[0])
        cols = indices("Completion", "cols", cols, self.shape[1])
        values = numbers("Completion", "values", values, ndim=1)
        if not rows.size == cols.size == values.size:
            raise ValueError(
                f"Completion: {rows.size} rows, {cols.size} columns and {values.size} values; give one of each."
            )
        if rows.size == 0:
            raise ValueError("Completion: no entry is observed; there is nothing to fit.")
        weights = positive_weights("Completion", weights, rows.size)
        self.loss_name, self.labels = loss, None
        self.loss: Loss
        if loss == "squared":
            self.loss = Squared()
        elif loss == "huber":
            self.loss = Huber(number("Completion", "delta", delta, positive=True))
        elif loss == "logistic":
            self.loss = Logistic()
            values, self.labels = _signs(values)
        else:
            raise ValueError(f"Completion: unknown loss {loss!r}; known: 'squared', 'huber', 'logistic'.")
        self.dtype = values.dtype.name
        order = _row_order(rows, cols, self.shape)
        self.pattern = Pattern.from_sorted(rows[order], cols[order], self.shape)
        self.order = order  # entry e of an image is observation order[e] of the user
        self.values = values[order]
        self.weights = None if weights is None else weights[order]

    single = True  # factors may come in single precision: every sum is in double

    # -------------------------------------------------------------------------------------------- f(Z) = ℓ(𝒜(Z))

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self.pattern.sample(U, V, s)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        return self.loss.evaluate(z, self.values, self.weights)

    def along(self, z: Array, dz: Array) -> Curve:
        return self.loss.along(z, dz, self.values, self.weights)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Sparse:
        return Sparse(self.pattern, slope)

    def conjugate(self, slope: Array) -> Conjugate:
        return self.loss.conjugate(slope, self.values, self.weights)

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        weights = () if self.weights is None else (self.weights,)
        name = f"Completion {self.shape[0]}×{self.shape[1]} {self.labels}"
        return (name, identity(self.loss), self.pattern.indptr, self.pattern.indices, self.values, *weights)

    # ------------------------------------------------------------------------------------------------- constants

    reach = 1.0  # ‖𝒜‖: an image holds entries of X

    @cached_property
    def steepest(self) -> float:
        """The largest norm of a slope."""
        return steepest(self.loss, self.values.size, self.weights)

    def fitted(self, psd: bool) -> float:
        """At least the nuclear norm of a table that fits all observations: they alone, zeros elsewhere."""
        if psd or self.loss_name == "logistic":
            return float("inf")
        return float(np.sqrt(min(self.shape))) * norm(self.values)

    @property
    def bend(self) -> float:
        """The largest curvature of the loss of an image."""
        return self.smoothness

    @cached_property
    def smoothness(self) -> float:
        """Exact: the largest weight times the largest curvature of the loss."""
        return self.loss.curvature * (1.0 if self.weights is None else float(self.weights.max()))

    @cached_property
    def strong_convexity(self) -> float:
        """Zero unless every entry is observed with a squared loss."""
        if self.loss_name != "squared" or self.pattern.size < self.shape[0] * self.shape[1]:
            return 0.0
        return 1.0 if self.weights is None else float(self.weights.min())

    @property
    def condition(self) -> float:
        """Smoothness over strong convexity: infinite unless every entry is observed."""
        return self.smoothness / self.strong_convexity if self.strong_convexity > 0 else np.inf

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """Curvature of the loss at its largest, summed over every row, and over every column."""
        weights = np.ones(self.pattern.size) if self.weights is None else self.weights
        rows = np.bincount(self.pattern.rows, weights, self.shape[0])
        cols = np.bincount(self.pattern.indices, weights, self.shape[1])
        return self.loss.curvature * rows, self.loss.curvature * cols

    @cached_property
    def _pair_weights(self) -> Any:
        """On Hermitian X entries (i, j) and (j, i) are one number that ‖X‖² counts twice: its weight is the mean."""
        from scipy.sparse import csr_matrix

        weights = np.ones(self.pattern.size) if self.weights is None else self.weights
        place = (self.pattern.indices.astype(np.int64), self.pattern.indptr.astype(np.int64))
        W = csr_matrix((weights, *place), shape=self.shape)
        return (0.5 * (W + W.T)).tocsr()

    @cached_property
    def hermitian_smoothness(self) -> float:
        """Smoothness among Hermitian matrices: exact, but for a Huber loss whose mirrored values are far apart."""
        return self.loss.curvature * float(self._pair_weights.data.max())

    @cached_property
    def hermitian_strong_convexity(self) -> float:
        if self.loss_name != "squared" or self._pair_weights.nnz < self.shape[0] ** 2:
            return 0.0
        return float(self._pair_weights.data.min())

    def __repr__(self) -> str:
        m, n = self.shape
        labels = f", labels {self.labels}" if self.labels else ""
        kind = ", complex" if self.dtype.startswith("complex") else ""
        seen = f"{self.pattern.size} of {m * n} entries of a {m}×{n} table"
        return f"Completion({seen}, {self.loss_name} loss{labels}{kind})"


def _signs(values: Array) -> tuple[Array, str]:
    if values.dtype.kind == "c":
        raise TypeError("Completion: logistic loss needs real labels 0/1 or −1/+1, got complex values.")
    if np.isin(values, (0.0, 1.0)).all():
        return 2.0 * values - 1.0, "0/1"
    if np.isin(values, (-1.0, 1.0)).all():
        return values, "−1/+1"
    known = (-1.0, 1.0) if (values == -1.0).any() else (0.0, 1.0)
    place = int(np.argmin(np.isin(values, known)))
    raise ValueError(
        f"Completion: logistic labels must be all 0/1 or all −1/+1, but values[{place}] is {values[place]:g}."
    )


def _row_order(rows: Array, cols: Array, shape: tuple[int, int]) -> Array:
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
            f"Completion: entry ({rows[first]}, {cols[first]}) is given twice, at positions {first} and {second} "
            f"({same.size} duplicate(s) in all); keep one, or their mean."
        )
    return order
