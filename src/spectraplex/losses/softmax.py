"""The softmax loss (cross-entropy) of groups: one of several classes a row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..checks import numbers, positive_weights
from ..places.numpy import EPS, Array
from .curves import Curve
from .protocol import Conjugate, Prepared, Shape, flat
from .separable import room, smoothly, total, unweighed


@dataclass(frozen=True, eq=False)
class Softmax:
    """ℓ(z; p) = ln Σ exp(zⱼ) − Σ pⱼzⱼ over the entries j of a group, p being the share of each class (sum one).

    Parameters
    ----------
    groups : the group of every measurement, whole numbers in the order of the targets. By default the rows of what is
        measured, where that has rows (``Features``, ``Identity``).

    Targets are shares, one a measurement; where groups are rows, also one class 0 … k − 1 a row. Weights are one a
    group.
    """

    groups: Any = None
    curvature: ClassVar[float] = 0.5  # of ln Σ exp: Σq_j(v_j − v̄)² ≤ ½‖v‖²
    steepest: ClassVar[float] = math.sqrt(2.0)  # a share: ‖q − p‖ ≤ √2 a group
    name: ClassVar[str] = "softmax"
    least: ClassVar[float] = 0.0

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        groups = self._groups(shape)
        bound = replace(self, groups=groups)
        count = int(groups.max()) + 1
        b = np.asarray(targets)
        labels = None
        if b.ndim == 1 and shape.row is not None and self.groups is None and b.size == count and b.dtype.kind in "iu":
            b, labels = _classes(shape, b, count), f"classes 0 … {shape.row - 1}"
        else:
            b = flat(numbers(shape.owner, "targets", targets), shape)
            if b.dtype.kind == "c":
                raise TypeError(f"{shape.owner}: the softmax loss needs real targets, got complex ones.")
        b = shape.sorted(b)
        sums = np.bincount(groups, b, count)
        if (b < 0.0).any() or np.abs(sums - 1.0).max() > 1e-9:
            worst = int(np.argmax(np.abs(sums - 1.0)))
            raise ValueError(
                f"{shape.owner}: softmax targets are shares, at least zero and with sum one in every group; those of "
                f"group {worst} have the sum {sums[worst]:g}."
            )
        w = positive_weights(shape.owner, weights, count)
        return Prepared(bound, b, None if w is None else w[groups], labels)

    def some(self, places: Array) -> Softmax:
        """The same on some whole groups of the image."""
        return replace(self, groups=np.unique(self.groups[places], return_inverse=True)[1].reshape(-1))

    def _groups(self, shape: Shape) -> Array:
        """The group of every entry of an image, counted from zero without holes."""
        if self.groups is None:
            if shape.row is None:
                raise ValueError(
                    f"{shape.owner}: softmax compares the measurements of a group, and these have no rows; say which "
                    "belong together, loss=sx.losses.Softmax(groups)."
                )
            return np.repeat(np.arange(shape.size // shape.row), shape.row)
        given = np.asarray(self.groups)
        if given.shape != (shape.size,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"{shape.owner}: softmax groups must be {shape.size} whole numbers, one a measurement; got shape "
                f"{given.shape} and dtype {given.dtype}."
            )
        return shape.sorted(np.unique(given, return_inverse=True)[1].reshape(-1))

    @cached_property
    def _sorted(self) -> tuple[Array | None, Array]:
        """The permutation that brings groups together (None where they are), and where each begins."""
        groups = self.groups
        order = None if (np.diff(groups) >= 0).all() else np.argsort(groups, kind="stable")
        inside = groups if order is None else groups[order]
        return order, np.concatenate([[0], np.nonzero(np.diff(inside))[0] + 1])

    def _reduce(self, how: Any, values: Array) -> Array:
        """One number a group."""
        order, starts = self._sorted
        reduced: Array = how.reduceat(values if order is None else values[order], starts)
        return reduced

    def _each(self, weights: Array | None) -> Array | None:
        if weights is None:
            return None
        order, starts = self._sorted
        return weights[starts if order is None else order[starts]]

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        top = self._reduce(np.maximum, z)
        powers = np.exp(z - top[self.groups])
        sums = self._reduce(np.add, powers)
        # Σp(top − z) + ln Σ exp(z − top): two terms that are not negative
        values = self._reduce(np.add, b * (top[self.groups] - z)) + np.log(sums)
        slope = powers / sums[self.groups] - b
        return total(values, self._each(weights)), slope if weights is None else weights * slope

    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve:
        return smoothly(self, z, dz, b, weights)

    def second(self, z: Array, b: Array, weights: Array | None) -> Array:
        """The diagonal of the second derivative."""
        q = self.evaluate(z, np.zeros_like(z), None)[1]
        return q * (1.0 - q) if weights is None else weights * q * (1.0 - q)

    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate:
        """ℓ*(y) = wΣ q ln q with q = y/w + p, at least zero and with sum one; infinite elsewhere."""
        from scipy.special import xlogy

        share = unweighed(slope, weights)

        def at(c: float) -> float:
            q = np.maximum(c * share + b, 0.0)
            return total(xlogy(q, q), weights)

        sums = np.abs(self._reduce(np.add, share))
        widest = int(np.diff(np.append(self._sorted[1], share.size)).max())
        limit = room(share, -b, math.inf) if float(sums.max()) <= 64 * EPS * widest else 0.0
        size = math.log(max(widest, 2)) * total(np.ones(self._sorted[1].size), self._each(weights))
        return Conjugate(at, limit, size + float(np.abs(slope).sum()), count=share.size)


def _classes(shape: Shape, classes: Array, count: int) -> Array:
    """One class a row as shares."""
    row = shape.row or 1
    if classes.min() < 0 or classes.max() >= row:
        place = int(np.argmax((classes < 0) | (classes >= row)))
        raise ValueError(f"{shape.owner}: targets[{place}] is class {classes[place]}, outside 0 … {row - 1}.")
    return np.eye(row)[classes].reshape(-1)
