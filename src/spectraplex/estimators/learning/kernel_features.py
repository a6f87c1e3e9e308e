"""What a kernel is learned on: features of a plain kernel through landmarks (Nyström), or of a graph's Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import as_array
from ...places.numpy import Array
from .metric_frame import Frame, standardised

_TINY = 1e-10  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class Landmarks:
    """φ(x) = W^(−½)(k(x, l₁), …, k(x, l_m)) of a Gaussian kernel k over standardised features."""

    frame: Frame
    landmarks: Array
    gamma: float
    turn: Array

    def features(self, X: Array) -> Array:
        made: Array = gaussian(self.frame.points(X), self.landmarks, self.gamma) @ self.turn
        return made


def gaussian(A: Array, B: Array, gamma: float) -> Array:
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B) - 2.0 * A @ B.T
    made: Array = np.exp(-gamma * np.maximum(squares, 0.0))
    return made


def landmarks(X: Array, count: int, gamma: float | None, rng: np.random.Generator) -> Landmarks:
    """Points drawn from X; the width is the mean squared distance of two of them, unless it is given."""
    frame = standardised(X)
    Z = frame.points(X)
    some = Z[np.sort(rng.permutation(len(Z))[:count])]
    spread = 2.0 * float(some.var(axis=0).sum())
    gamma = (2.0 / spread if spread > 0.0 else 1.0) if gamma is None else gamma
    values, vectors = np.linalg.eigh(gaussian(some, some, gamma))
    kept = values > _TINY * values.max()
    return Landmarks(frame, some, gamma, vectors[:, kept] / np.sqrt(values[kept]))


def of_laplacian(laplacian: Any, count: int, n: int, owner: str) -> Array:
    """Features of the points of a graph: (L + ε)^(−½), its smoothest ``count`` columns, of mean length one."""
    L = as_array(owner, "laplacian", laplacian.toarray() if hasattr(laplacian, "toarray") else laplacian)
    if L.dtype.kind not in "buif":
        raise TypeError(f"{owner}: laplacian must be a matrix of real numbers, got dtype {L.dtype}.")
    L = L.astype(float)
    if L.shape != (n, n):
        raise ValueError(f"{owner}: laplacian has shape {L.shape}, but there are {n} points; give ({n}, {n}).")
    if not np.isfinite(L).all() or np.abs(L - L.T).max(initial=0.0) > 1e-9 * np.abs(L).max(initial=1.0):
        raise ValueError(f"{owner}: laplacian must be a symmetric matrix of finite numbers.")
    values, vectors = np.linalg.eigh(0.5 * (L + L.T))
    if values[0] < -1e-9 * max(values[-1], 1e-300):
        raise ValueError(f"{owner}: laplacian has the eigenvalue {values[0]:.3g}; it must be positive semidefinite.")
    few = min(count, n)
    softened = np.maximum(values[:few], 0.0) + 0.01 * max(float(np.trace(L)) / n, 1e-300)
    found = vectors[:, :few] / np.sqrt(softened)
    return np.asarray(found / np.sqrt(np.mean(np.sum(found**2, axis=1))))
