"""The compiled passes of a likelihood of counts, entries [low, high): one pass each, nothing in between is stored."""

from __future__ import annotations

import math

import numpy as np

from .kernels import compiled


@compiled
def counted(low, high, z, n, slope):  # type: ignore[no-untyped-def]
    """−Σ n ln z and slope = −n/z over what was counted; infinite where such a z is not positive, or any not finite."""
    total, fine = 0.0, True
    for e in range(low, high):
        each, count = z[e], n[e]
        if not math.isfinite(each):
            fine = False
        if count > 0.0:
            if each > 0.0:
                total -= count * math.log(each)
                slope[e] = -count / each
            else:
                fine = False
        else:
            slope[e] = 0.0
    return total if fine else np.inf


@compiled
def line_counted(low, high, z, n, dz, size):  # type: ignore[no-untyped-def]
    """First and second derivative of s ↦ −Σ n ln(z + s·dz); NaN where that is not finite."""
    first, second = 0.0, 0.0
    for e in range(low, high):
        ahead = z[e] + size * dz[e]
        if not ahead > 0.0:
            return np.nan, np.nan
        ratio = dz[e] / ahead
        first -= n[e] * ratio
        second += n[e] * ratio * ratio
    return first, second
