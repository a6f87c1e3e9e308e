"""Plain squares beside intercepts: few passes over the data, shared among threads, the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .numpy import Array, inner
from .pattern import Pattern
from .threads import workers

_GROUPS = 16  # most pieces of a pattern that have column sums of their own


def side_sums(pattern: Pattern, z: Array, target: Array | None, offset: float) -> tuple[float, Array, Array]:
    """½Σ(z + offset − target)², and the sums of what is squared over rows and over columns; None is a target of zeros.

    Every piece of the pattern has column sums of its own, so there are few pieces where there are many columns.
    """
    if not isinstance(z, np.ndarray):  # on a device
        y = _residual(z, target, offset)
        return 0.5 * inner(y, y), *pattern.sums(y)
    from . import sum_kernels

    m, n = pattern.shape
    groups = max(1, min(_GROUPS, pattern.size // (4 * n), pattern.bounds.size - 1))
    p, q = np.empty(m), np.zeros((groups, n))
    other = z if target is None else target

    def one(group: int, low: Any, high: Any) -> float:
        place = (low, high, pattern.indptr, pattern.indices)
        return float(sum_kernels.side_sums(*place, z, other, target is None, offset, p, q[group]))

    value = _summed(pattern, groups, one)
    return value, p, q[0] if groups == 1 else q.sum(axis=0)


def what_is_left(
    pattern: Pattern, z: Array, target: Array | None, offset: float, b: Array, c: Array
) -> tuple[float, Array]:
    """½Σy² and y = z + offset − target + b[row] + c[column]."""
    if not isinstance(z, np.ndarray):  # on a device
        y = pattern.spread(_residual(z, target, offset), b, c)
        return 0.5 * inner(y, y), y
    from . import sum_kernels

    slope = np.empty(pattern.size)
    other = z if target is None else target

    def one(group: int, low: Any, high: Any) -> float:
        place = (low, high, pattern.indptr, pattern.indices)
        return float(sum_kernels.what_is_left(*place, z, other, target is None, offset, b, c, slope))

    return _summed(pattern, pattern.bounds.size - 1, one), slope


def left_out(pattern: Pattern, slope: Array, R: Array, C: Array) -> float:
    """½Σ of the squares that are left where each observation is predicted without it; see ``Alone`` of the ridges."""
    from . import sum_kernels

    A, B = R - pattern.add(1.0 / C), C - pattern.transposed[0].add(1.0 / R)

    def one(group: int, low: Any, high: Any) -> float:
        return float(sum_kernels.left_out(low, high, pattern.indptr, pattern.indices, slope, A, B, C, R))

    return _summed(pattern, pattern.bounds.size - 1, one)


def _residual(z: Array, target: Array | None, offset: float) -> Array:
    return z + offset if target is None else z + offset - target


def _summed(pattern: Pattern, groups: int, one: Callable[[int, Any, Any], float]) -> float:
    """Σ one(group, low, high) over groups of rows, the same groups whatever the number of threads."""
    bounds = pattern.bounds
    cuts = bounds[np.linspace(0, bounds.size - 1, groups + 1).astype(int)]
    sums = np.zeros(groups)

    def job(group: int) -> None:
        sums[group] = one(group, cuts[group], cuts[group + 1])

    workers.run(job, groups, 2 * pattern.size)
    return float(sums.sum())
