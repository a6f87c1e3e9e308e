"""What makes the certified problem of a NuclearNormRegressor: targets, their weights, scales and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...places.numpy import EPS, Array
from .linear_tasks import Counts, Residuals

_NORMAL = 1.4826  # standard deviations in one median absolute deviation of normal errors


@dataclass(frozen=True, eq=False)
class TaskRecipe:
    """Samples with the targets of all tasks, zero where missing, and the weight of each target."""

    data: Any
    kept: Array
    targets: Array
    cells: Array | None
    weights: Array | None
    ridge: float | None
    standardize: bool
    loss: str
    delta: float
    scale: Array

    def outputs(self, rows: Array | None) -> Residuals | Counts:
        targets = self.targets if rows is None else self.targets[rows]
        cells = self.cells if rows is None or self.cells is None else self.cells[rows]
        return self._tasks(targets, cells, self._offset(targets, cells))

    def judged(self, rows: Array, offset: Array) -> Residuals | Counts:
        return self._tasks(self.targets[rows], None if self.cells is None else self.cells[rows], offset)

    def _tasks(self, targets: Array, cells: Array | None, offset: Array) -> Residuals | Counts:
        if self.loss == "poisson-log":
            return Counts(targets, cells, offset)
        return Residuals(targets, cells, offset, self.delta)

    def _offset(self, targets: Array, cells: Array | None) -> Array:
        """What a model without features says of each task."""
        if self.ridge is None:
            return np.zeros(targets.shape[1])
        weights = np.broadcast_to(np.ones((1, 1)) if cells is None else cells, targets.shape)
        if self.loss == "huber":
            return _medians(targets, weights)
        total, mass = (weights * targets).sum(axis=0), weights.sum(axis=0)
        if self.loss == "poisson-log":  # half a count more: a task may have none at all
            return np.asarray(np.log((total + 0.5) / (mass + 0.5)))
        return np.asarray(total / np.maximum(mass, 1e-300))

    def strata(self) -> Array:
        return np.zeros(self.targets.shape[0])


def spread(table: Array, weights: Array, robust: bool) -> Array:
    """Standard deviation of every task, or its robust stand-in; one where targets do not vary."""
    held = np.where(weights > 0.0, table, 0.0)
    mean = (weights * held).sum(axis=0) / weights.sum(axis=0)
    deviation = np.sqrt((weights * (held - mean) ** 2).sum(axis=0) / weights.sum(axis=0))
    if robust:
        middle = _medians(held, weights)
        typical = _NORMAL * _medians(np.abs(held - middle), weights)
        deviation = np.where(typical > 0.0, typical, deviation)
    fine = deviation > 64 * EPS * np.abs(mean)
    return np.where(fine, deviation, 1.0)


def _medians(table: Array, weights: Array) -> Array:
    """Weighted medians of the columns: the middle of all numbers with half of the weight on either side."""
    order = np.argsort(table, axis=0, kind="stable")
    values = np.take_along_axis(table, order, axis=0)
    mass = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    half, columns = 0.5 * mass[-1], np.arange(table.shape[1])
    low = np.argmax(mass >= half * (1 - 1e-12), axis=0)
    high = np.argmax(mass > half * (1 + 1e-12), axis=0)
    return np.asarray(0.5 * (values[low, columns] + values[high, columns]))
