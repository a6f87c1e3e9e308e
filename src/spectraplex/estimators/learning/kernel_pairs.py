"""KernelPairs: entries K_ij = pᵢᵀXpⱼ of a kernel between points that have features, some with their sign turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...matrices.operators import Operator, column_scores
from ...places.numpy import EPS, Array

_FEW = 500  # points up to which a graph between them is a dense matrix: it takes less time to fill than a sparse one


class KernelPairs:
    """signₖ · pᵢᵀXpⱼ for pairs (i, j) of rows p of ``points``; X is symmetric.

    Only the points that some pair names are multiplied, and where pairs stand is worked out once: the weighted graph
    of a slope then takes one pass over its numbers.
    """

    dtype = "float64"
    real = True
    dense = True
    positive = False

    def __init__(self, points: Array, pairs: Array, signs: Array) -> None:
        self.points, self.pairs, self.signs = points, pairs, signs
        count = points.shape[1]
        self.shape, self.size, self.summed, self.held = (count, count), len(pairs), count, points.size
        named, place = np.unique(pairs, return_inverse=True)
        self._named, self._ends = points[named], place.reshape(-1, 2)
        norms = np.linalg.norm(self._named, axis=1)
        self._sizes = norms[self._ends[:, 0]] * norms[self._ends[:, 1]]
        both = np.concatenate([self._ends, self._ends[:, ::-1]])
        self._keys, place = np.unique(both @ [named.size, 1], return_inverse=True)
        self._place = place.reshape(-1)
        starts = np.searchsorted(self._keys, named.size * np.arange(named.size + 1))
        self._rows = (self._keys % named.size, starts)  # of a sparse matrix: columns, and where each row begins

    def require_hermitian(self) -> None:
        """Only the symmetric part of pᵢpⱼᵀ is measured."""

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        left = self._named @ U
        right = left if V is U else self._named @ V
        i, j = self._ends.T
        turned, against = left * s, right.conj()
        one = np.einsum("ik,ik->i", turned[i], against[j]).real
        if V is U:
            return np.asarray(self.signs * one)
        return np.asarray(0.5 * self.signs * (one + np.einsum("ik,ik->i", turned[j], against[i]).real))

    def of_operator(self, G: Operator) -> Array:
        turned = np.asarray(self._named @ G.dense())
        i, j = self._ends.T
        one, two = (np.einsum("ik,ik->i", turned[a], self._named[b]) for a, b in ((i, j), (j, i)))
        return np.asarray(0.5 * self.signs * (one + two))

    def adjoint(self, slope: Array) -> Operator:
        blur = 4 * EPS * (len(self._named) + self.size + 8) * float(np.abs(slope) @ self._sizes)
        return Spread(self._named, self._graph(0.5 * self.signs * slope), blur)

    def _graph(self, halves: Array) -> Any:
        """The symmetric matrix with half of each pair's share on either side of the diagonal."""
        from scipy.sparse import csr_matrix

        shares = np.bincount(self._place, np.concatenate([halves, halves]), self._keys.size)
        count = len(self._named)
        if count > _FEW:
            columns, starts = self._rows
            return csr_matrix((shares, columns, starts), shape=(count, count))
        table = np.zeros(count * count)
        table[self._keys] = shares
        return table.reshape(count, count)

    @property
    def reach(self) -> float:
        """√Σ‖Aₖ‖²: an upper bound on ‖𝒜‖."""
        return (1 + 1e-9) * float(np.linalg.norm(self._sizes))

    def parts(self) -> tuple[Any, ...]:
        return ("KernelPairs", self.points, self.pairs, self.signs)

    def __repr__(self) -> str:
        return f"KernelPairs({self.size} pairs of {len(self.points)} points with {self.shape[0]} features)"


@dataclass(frozen=True, eq=False)
class Spread:
    """PᵀSP with the features P of points and a symmetric graph S between them, factor by factor."""

    points: Array
    graph: Any
    blur: float
    hermitian: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return (self.points.shape[1],) * 2

    @property
    def dtype(self) -> str:
        return "float64"

    def noise(self) -> float:
        return self.blur

    def matmat(self, V: Array) -> Array:
        return cast(Array, self.points.T @ (self.graph @ (self.points @ V)))

    def rmatmat(self, U: Array) -> Array:
        return self.matmat(U)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        G = self.points.T @ np.asarray(self.graph @ self.points)
        return np.asarray(0.5 * (G + G.T))
