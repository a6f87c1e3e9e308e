"""What makes the certified problem of a NuclearNormClassifier: labels, their weights and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ...checks import as_float, is_real, is_word
from ...places.numpy import Array
from .linear_classes import Classes


@dataclass(frozen=True, eq=False)
class ClassRecipe:
    """Samples with their classes."""

    data: Any
    kept: Array
    labels: Array
    count: int
    weights: Array | None
    ridge: float | None
    standardize: bool

    def outputs(self, rows: Array | None) -> Classes:
        labels = self.labels if rows is None else self.labels[rows]
        weights = self.weights if rows is None or self.weights is None else self.weights[rows]
        offset = np.zeros(self.count)
        if self.ridge is not None:  # half a sample more of every class: one may be missing in a fold
            total = np.bincount(labels, weights, self.count)
            offset = np.log((total + 0.5) / (total.sum() + 0.5 * self.count))
        return Classes(labels, self.count, weights, offset)

    def judged(self, rows: Array, offset: Array) -> Classes:
        weights = None if self.weights is None else self.weights[rows]
        return Classes(self.labels[rows], self.count, weights, offset)

    def strata(self) -> Array:
        return self.labels


def class_weights_or_say(owner: str, asked: Any, classes: Array, labels: Array, weights: Array | None) -> Array | None:
    """The weight of each class as scikit-learn understands ``class_weight``; None where all are one."""
    if asked is None:
        return None
    if is_word(asked, "balanced"):
        counts = np.bincount(labels, weights, classes.size)
        return np.asarray(counts.sum() / (classes.size * counts))
    if not isinstance(asked, dict):
        raise ValueError(
            f"{owner}: class_weight must be None, 'balanced' or a dictionary class → weight, got {asked!r}."
        )
    for weight in asked.values():
        if not (is_real(weight) and 0.0 < as_float(weight) < np.inf):
            raise ValueError(f"{owner}: class_weight must be positive and finite for every class, got {asked!r}.")
    return np.asarray(compute_class_weight(asked, classes=classes, y=classes))
