"""Errors of predicted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import numbers
from ..places.numpy import Array


def rmse(values: Any, predicted: Any) -> float:
    """The root of the mean squared error.

    Examples
    --------
    >>> from spectraplex.metrics import rmse
    >>> rmse([1.0, 3.0], [2.0, 3.0]) ** 2
    0.5000000000000001
    """
    error = _errors("rmse", values, predicted)
    size = float(error.max())
    return size * float(np.sqrt(np.mean((error / size) ** 2))) if size > 0.0 else 0.0


def mae(values: Any, predicted: Any) -> float:
    """The mean size of an error."""
    return float(np.mean(_errors("mae", values, predicted)))


def _errors(owner: str, values: Any, predicted: Any) -> Array:
    y, z = numbers(owner, "values", values, ndim=1), numbers(owner, "predicted", predicted, ndim=1)
    if y.size != z.size:
        raise ValueError(f"{owner}: {y.size} values and {z.size} predictions; give one prediction a value.")
    if y.size == 0:
        raise ValueError(f"{owner}: there is no value; the mean of nothing is no number.")
    return np.asarray(np.abs(y - z))
