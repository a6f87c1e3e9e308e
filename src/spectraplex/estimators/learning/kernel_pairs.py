"""KernelPairs: entries K_ij = pᵢᵀXpⱼ of a kernel between points that have features, some with their sign turned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...matrices.operators import Dense, Operator
from ...places.numpy import EPS, Array


class KernelPairs:
    """signₖ · pᵢᵀXpⱼ for pairs (i, j) of rows p of ``points``; X is symmetric."""

    dtype = "float64"
    real = True
    dense = True
    positive = False

    def __init__(self, points: Array, pairs: Array, signs: Array) -> None:
        self.points, self.pairs, self.signs = points, pairs, signs
        count = points.shape[1]
        self.shape, self.size, self.summed, self.held = (count, count), len(pairs), count, points.size
        norms = np.linalg.norm(points, axis=1)
        self._sizes = norms[pairs[:, 0]] * norms[pairs[:, 1]]

    def require_hermitian(self) -> None:
        """Only the symmetric part of pᵢpⱼᵀ is measured."""

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        left = self.points @ U
        right = left if V is U else self.points @ V
        i, j = self.pairs.T
        one = ((left * s)[i] * right[j].conj()).sum(axis=1).real
        if V is U:
            return np.asarray(self.signs * one)
        return np.asarray(0.5 * self.signs * (one + ((left * s)[j] * right[i].conj()).sum(axis=1).real))

    def of_operator(self, G: Operator) -> Array:
        turned = np.asarray(self.points @ G.dense())
        i, j = self.pairs.T
        one, two = (np.einsum("ik,ik->i", turned[a], self.points[b]) for a, b in ((i, j), (j, i)))
        return np.asarray(0.5 * self.signs * (one + two))

    def adjoint(self, slope: Array) -> Operator:
        from scipy.sparse import csr_matrix

        n, (i, j) = len(self.points), self.pairs.T
        inside = csr_matrix((self.signs * slope, (i, j)), shape=(n, n))
        G = np.asarray(self.points.T @ (inside @ self.points))
        blur = 4 * EPS * (n + self.size + 8) * float(np.abs(slope) @ self._sizes)
        return Dense(0.5 * (G + G.T), hermitian=True, blur=lambda: blur)

    @property
    def reach(self) -> float:
        """√Σ‖Aₖ‖²: an upper bound on ‖𝒜‖."""
        return (1 + 1e-9) * float(np.linalg.norm(self._sizes))

    def parts(self) -> tuple[Any, ...]:
        return ("KernelPairs", self.points, self.pairs, self.signs)

    def __repr__(self) -> str:
        return f"KernelPairs({self.size} pairs of {len(self.points)} points with {self.shape[0]} features)"
