"""Completion in a metric of the columns: f(Y) = ½Σ (Rᵢⱼ − (YA)ᵢⱼ)² over the observed entries.

Bounding the nuclear norm of Y bounds that of Z = YA in the metric A⁻²: directions in which the columns vary together
cost little, others much. With A the identity it is plain completion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..losses.curves import Curve
from ..losses.protocol import Conjugate
from ..matrices.operators import Sparse, column_scores
from ..places.numpy import EPS, Array, blend, contiguous, inner
from .completion import Completion


@dataclass(frozen=True, eq=False)
class Turned:
    """The product G·A of a sparse gradient and the symmetric root of a metric."""

    inside: Sparse
    root: Array
    size: float  # an upper bound on the spectral norm of the root
    hermitian: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.inside.shape

    @property
    def dtype(self) -> str:
        return self.inside.dtype

    def noise(self) -> float:
        """Rounding of the product with the root, for certificates: sums of as many terms as there are columns."""
        return 4 * EPS * self.shape[1] * self.size * float(np.linalg.norm(self.inside.data))

    def matmat(self, V: Array) -> Array:
        return self.inside.matmat(contiguous(self.root @ V))

    def rmatmat(self, U: Array) -> Array:
        return self.root @ self.inside.rmatmat(contiguous(U))

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        return self.inside.dense() @ self.root


class InMetric:
    """``Completion`` with a squared loss, of Z = YA, as a function of Y; A symmetric and positive definite."""

    single = False

    def __init__(self, completion: Completion, root: Array) -> None:
        self.completion, self.root = completion, root
        self.shape, self.dtype = completion.shape, completion.dtype
        self._size = float(np.linalg.norm(root, 2)) * (1 + 1e-12)

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return self.completion.measure(contiguous(U), s, contiguous(self.root @ V))

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        return self.completion.evaluate(z)

    def along(self, z: Array, dz: Array) -> Curve:
        return self.completion.along(z, dz)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Turned:
        return Turned(self.completion.gradient(slope), self.root, self._size)

    def conjugate(self, slope: Array) -> Conjugate:
        own = self.completion.conjugate
        assert own is not None  # the squared loss has one
        return own(slope)

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        return (*self.completion.parts(), self.root)

    bend = 1.0  # the largest curvature of the loss of an image

    @property
    def reach(self) -> float:
        return self._size

    @property
    def summed(self) -> int:
        return self.shape[1]

    @cached_property
    def smoothness(self) -> float:
        return self._size**2

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """Curvature summed over every row and column of Y, as if the holes were spread evenly."""
        told = self.completion.coverage
        assert told is not None  # a squared loss has curvature
        rows, cols = told
        squares = (self.root**2).sum(axis=0)
        return rows * squares.mean(), cols.mean() * squares

    def __repr__(self) -> str:
        return f"{self.completion!r} in a metric of its columns"
