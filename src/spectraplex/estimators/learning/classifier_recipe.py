"""What makes the certified problem of a NuclearNormClassifier: labels, their weights and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
