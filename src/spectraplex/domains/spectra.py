"""Projections of eigenvalues and singular values: onto a simplex, and onto a simplex with its inside."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..places.numpy import Array


def simplex(values: Array, size: float) -> Array:
    """The Euclidean projection of a real vector on {w ≥ 0, Σw = size}."""
    values = values - values.max()  # changes nothing, and keeps large values from swallowing the size
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - size) / np.arange(1, values.size + 1)
    last = int(np.nonzero(ordered > excess)[0][-1])
    return cast(Array, np.maximum(values - excess[last], 0.0))


def capped(values: Array, size: float) -> Array:
    """The Euclidean projection of a real vector on {w ≥ 0, Σw ≤ size}."""
    cut = np.maximum(values, 0.0)
    return cut if cut.sum() <= size else simplex(values, size)
