"""Identity: the matrix itself, entry by entry."""

from __future__ import annotations

import numpy as np

from ..checks import two_dimensions
from ..matrices.operators import Dense
from ..places.numpy import Array, dagger


class Identity:
    """All entries of an m × n matrix, row by row.

    Examples
    --------
    >>> import spectraplex as sx
    >>> sx.Identity((3, 2))
    Identity(3×2)
    """

    dtype = "float64"  # complex where the targets are
    reach = 1.0
    dense = True
    at_hand = True

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = two_dimensions("Identity", shape)
        self.size, self.row = self.shape[0] * self.shape[1], self.shape[1]

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return ((U * s) @ dagger(V)).reshape(-1)

    def adjoint(self, slope: Array) -> Dense:
        return Dense(slope.reshape(self.shape))

    def parts(self) -> tuple[Array, ...]:
        return ()

    def coverage(self, weights: Array | None) -> tuple[Array, Array]:
        """Weights summed over every row, and over every column."""
        m, n = self.shape
        if weights is None:
            return np.full(m, float(n)), np.full(n, float(m))
        table = weights.reshape(m, n)
        return table.sum(axis=1), table.sum(axis=0)

    def extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """The largest and the least eigenvalue of 𝒜*diag(w)𝒜, exact."""
        if weights is None:
            return 1.0, 1.0
        if hermitian:
            table = weights.reshape(self.shape)
            weights = 0.5 * (table + table.T)
        return float(weights.max()), float(weights.min())

    def __repr__(self) -> str:
        return f"Identity({self.shape[0]}×{self.shape[1]})"
