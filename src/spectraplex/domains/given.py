"""Factors as somebody gave them: checked, with unit columns and weights that are not negative."""

from __future__ import annotations

import numpy as np

from ..matrices.factors import Factors, Rectangular, Symmetric
from ..places.numpy import Array
from .protocol import Domain


def unit_factors(domain: Domain, factors: Rectangular) -> tuple[Array, Array, Array]:
    """Unit columns and s ≥ 0, whatever scaling and signs the factors came with."""
    U, s, V = (np.asarray(part) for part in factors.triple())
    _real_weights(s)
    if (
        U.ndim != 2
        or V.ndim != 2
        or s.ndim != 1
        or (U.shape[0], V.shape[0]) != domain.shape
        or not U.shape[1] == V.shape[1] == s.size
    ):
        raise ValueError(
            f"start factors have shapes {U.shape}, {s.shape}, {V.shape}; a {domain.shape} matrix of k atoms needs "
            f"({domain.shape[0]}, k), (k,), ({domain.shape[1]}, k)."
        )
    if not all(np.isfinite(part).all() for part in (U, s, V)):
        raise ValueError("start factors contain NaN or infinity.")
    u, v = np.linalg.norm(U, axis=0), np.linalg.norm(V, axis=0)
    weights = np.abs(s) * u * v
    kept = weights > 0
    return U[:, kept] / u[kept], weights[kept], V[:, kept] * np.sign(s[kept]) / v[kept]


def _real_weights(weights: Array) -> None:
    if weights.dtype.kind not in "buif":
        raise TypeError(
            f"start has weights of dtype {weights.dtype}; complex weights have no meaning, give real numbers."
        )


def nonnegative(domain: Domain, factors: Factors) -> tuple[Array, Array]:
    if not isinstance(factors, Symmetric):
        raise ValueError(
            f"start must be V diag(weights) Vᴴ on a {type(domain).__name__}: pass (vectors, weights), not (U, s, V)."
        )
    vectors, weights = np.asarray(factors.vectors), np.asarray(factors.weights)
    _real_weights(weights)
    weights = weights.astype(float)
    if vectors.ndim != 2 or vectors.shape[0] != domain.shape[0] or weights.shape != (vectors.shape[1],):
        raise ValueError(
            f"start factors have shapes {vectors.shape} and {weights.shape}; need ({domain.shape[0]}, k) and (k,)."
        )
    if not (np.isfinite(vectors).all() and np.isfinite(weights).all()):
        raise ValueError("start factors contain NaN or infinity.")
    if weights.size and weights.min() < 0:
        raise ValueError(f"start has a negative weight {weights.min():.6g}; a positive semidefinite X has none.")
    norms = np.linalg.norm(vectors, axis=0)
    kept = (norms > 0) & (weights > 0)
    return vectors[:, kept] / norms[kept], weights[kept] * norms[kept] ** 2
