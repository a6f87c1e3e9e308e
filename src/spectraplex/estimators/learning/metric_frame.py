"""The features that a metric is learned on: standardised, perhaps whitened, in a unit that makes sizes comparable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...matrices.factors import Symmetric
from ...places.numpy import Array

_CONSTANT = 1e-10  # a feature that varies by less than this share of its size is constant but for rounding


@dataclass(frozen=True, eq=False)
class Frame:
    """z = (x − mean)/scale · turn."""

    mean: Array
    scale: Array
    turn: Array

    def points(self, X: Array) -> Array:
        """The points of X in this frame."""
        made: Array = self.standard(X) @ self.turn
        return made

    def standard(self, X: Array) -> Array:
        """Standardised, before anything is turned."""
        made: Array = X / self.scale - self.mean / self.scale
        return made

    def plain(self) -> Array:
        """C where nothing was learned: all features, as this frame has them."""
        made: Array = (self.turn / self.scale[:, None]).T
        return made

    def components(self, X: Symmetric, keep: float) -> Array:
        """C with (x − mean)·Cᵀ the embedding in which plain distances are those of the metric keep·I + X."""
        values, vectors = X.eigh()
        if keep == 0.0:
            largest = np.argmax(np.abs(vectors), axis=0)  # it is positive: an eigenvector is known up to its sign
            inner = vectors * np.where(vectors[largest, np.arange(values.size)] < 0.0, -1.0, 1.0) * np.sqrt(values)
            if not values.size:  # X is zero: one column in which all points are at the same place
                inner = np.zeros((len(vectors), 1))
        else:
            inner = np.sqrt(keep) * np.eye(len(vectors))
            inner += (vectors * (np.sqrt(values + keep) - np.sqrt(keep))) @ vectors.T
        made: Array = ((self.turn @ inner) / self.scale[:, None]).T
        return made


def standardised(X: Array) -> Frame:
    """Every feature by its mean and standard deviation; constant ones stay where they are, at zero."""
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    relative = X / unit
    center, spread = relative.mean(axis=0), relative.std(axis=0)
    spread = np.where(spread > _CONSTANT, spread, np.inf)
    return Frame(center * unit, spread * unit, np.eye(X.shape[1]))


def whitened(frame: Frame, Z: Array, scatter: Array, share: float) -> Frame:
    """Turn standardised features so that a share of what the scatter has becomes round."""
    if share == 0.0:
        return frame
    values, vectors = np.linalg.eigh(scatter)
    mixed = share * np.maximum(values, 0.0) + (1.0 - share) * values.mean()
    if not mixed.min() > 1e-12 * mixed.max():  # a share of one where points do not span the space
        mixed = mixed + 1e-6 * mixed.max() if mixed.max() > 0.0 else np.ones(mixed.size)
    turn = (vectors / np.sqrt(mixed)) @ vectors.T
    return Frame(frame.mean, frame.scale, turn)


def within(Z: Array, codes: Array) -> Array:
    """The scatter of points around the means of their classes."""
    counts = np.bincount(codes)
    means = np.stack([np.bincount(codes, column, counts.size) for column in Z.T], axis=1) / counts[:, None]
    apart = Z - means[codes]
    made: Array = apart.T @ apart / len(Z)
    return made


def in_units(frame: Frame, Z: Array, first: Array, second: Array) -> tuple[Frame, Array]:
    """Scaled so that the pairs of points (first, second) lie at a mean squared distance of one; and the points so."""
    total, step = 0.0, max(1, 2_000_000 // max(1, Z.shape[1]))
    for low in range(0, first.size, step):
        apart = Z[first[low : low + step]] - Z[second[low : low + step]]
        total += float(np.einsum("ij,ij->", apart, apart))
    mean = total / max(first.size, 1)
    unit = 1.0 / np.sqrt(mean) if mean > 0.0 else 1.0
    return Frame(frame.mean, frame.scale, frame.turn * unit), Z * unit
