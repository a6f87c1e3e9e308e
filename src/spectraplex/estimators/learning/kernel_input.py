"""Data of a KernelLearner at the door: pairs of places in X, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ...checks import as_array, indices, numbers
from ...places.numpy import Array
from .metric_input import coded

OWNER = "KernelLearner"
_LARGEST = 1e150  # beyond, squares overflow
_MOST = 20_000  # pairs of labelled points


def pairs_of(given: Any, y: Any, points: int, squared: bool) -> tuple[Array, Array]:
    """Pairs, and +1 or −1 for each, or entries of the kernel."""
    table = as_array(OWNER, "pairs", given)
    if table.ndim != 2 or table.shape[1] != 2 or table.shape[0] == 0:
        raise ValueError(f"{OWNER}: pairs have shape {table.shape}; give (number, 2) places of rows in X.")
    pairs = np.stack([indices(OWNER, f"pairs[:, {k}]", table[:, k], points) for k in range(2)], axis=1)
    if y is None:
        raise ValueError(f"{OWNER}: requires y to be passed, but the target y is None; give one number a pair.")
    values = numbers(OWNER, "y", column_or_1d(as_array(OWNER, "y", y), warn=True), ndim=1)
    if values.size != len(pairs):
        raise ValueError(f"{OWNER}: {len(pairs)} pairs but {values.size} values in y; give one a pair.")
    if squared:
        if not np.abs(values).max() < _LARGEST:
            raise ValueError(f"{OWNER}: y holds numbers larger than {_LARGEST:g}; divide all of them.")
        return pairs.astype(np.int64), np.asarray(values, float)
    if not (np.isin(values, (-1, 1)).all() or np.isin(values, (0, 1)).all()):
        raise ValueError(f"{OWNER}: y must be +1 for similar pairs and −1 (or 0) for dissimilar ones.")
    if np.ptp(values) == 0.0:
        raise ValueError(f"{OWNER}: all pairs are alike in y; a kernel needs similar and dissimilar ones.")
    return pairs.astype(np.int64), np.where(values > 0, 1.0, -1.0)


def pairs_of_labels(y: Any, points: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pairs of labelled points, drawn where there are too many: as many similar as dissimilar ones, if possible."""
    if y is None:
        raise ValueError(f"{OWNER}: requires y to be passed, but the target y is None; give labels, or pairs= and y.")
    labels = column_or_1d(y, warn=True)
    if labels.size != points:
        raise ValueError(
            f"{OWNER}: Found input variables with inconsistent numbers of samples: {points} points, "
            f"{labels.size} labels; give one label a point."
        )
    codes = coded(OWNER, labels)[1]
    if codes.max(initial=0) == 0 or np.bincount(codes).max() < 2:
        raise ValueError(f"{OWNER}: y needs two classes, one of them with two points; else no pair is like another.")
    if points * (points - 1) // 2 <= _MOST:
        pairs = np.stack(np.triu_indices(points, 1), axis=1)
        return pairs, np.where(codes[pairs[:, 0]] == codes[pairs[:, 1]], 1.0, -1.0)
    order = np.argsort(codes, kind="stable")
    turned = np.roll(order, 1)
    drawn = rng.integers(0, points, (_MOST // 2, 2))
    close = np.stack([order, turned], axis=1)  # neighbours in the order of classes
    for shift in range(2, max(3, _MOST // (2 * points))):
        close = np.concatenate([close, np.stack([order, np.roll(order, shift)], axis=1)])
    pairs = np.concatenate([close, drawn])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, np.where(codes[pairs[:, 0]] == codes[pairs[:, 1]], 1.0, -1.0)
