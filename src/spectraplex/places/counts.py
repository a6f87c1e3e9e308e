"""Likelihoods of counts on flat arrays of this machine: NumPy where they are short, compiled where they are long."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .numpy import Array, in_pieces, pieces_of

_SHORT = 2_000  # numbers up to which NumPy's own passes take less time than a call


def counted(z: Array, n: Array) -> tuple[float, Array]:
    """−Σ n ln z and its slope; infinite, with a slope of no use, where a z is not finite or an n > 0 has z ≤ 0."""
    if z.size < _SHORT:
        seen = n > 0.0
        if not np.isfinite(z).all() or bool((z[seen] <= 0.0).any()):
            return math.inf, np.full(z.shape, math.nan)
        safe = np.where(seen, z, 1.0)
        return float(-(n @ np.log(safe))), -n / safe
    from . import count_kernels

    slope, sums = np.empty(z.shape), np.zeros(pieces_of(z.size))

    def job(i: int, low: Any, high: Any) -> None:
        sums[i] = count_kernels.counted(low, high, z, n, slope)

    in_pieces(z.size, job)
    total = float(sums.sum())
    return (total, slope) if math.isfinite(total) else (math.inf, np.full(z.shape, math.nan))


def line_counted(z: Array, n: Array, dz: Array, size: float) -> tuple[float, float]:
    """First and second derivative of s ↦ −Σ n ln(z + s·dz) at s = size, without logarithms; NaN beyond the edge."""
    if z.size < _SHORT:
        ahead = z + size * dz
        if not (ahead > 0.0).all():
            return math.nan, math.nan
        ratio = dz / ahead
        weighed = n * ratio
        return -float(weighed.sum()), float(weighed @ ratio)
    from . import count_kernels

    sums = np.zeros((pieces_of(z.size), 2))

    def job(i: int, low: Any, high: Any) -> None:
        sums[i] = count_kernels.line_counted(low, high, z, n, dz, size)

    in_pieces(z.size, job)
    first, second = sums.sum(axis=0)
    return float(first), float(second)
