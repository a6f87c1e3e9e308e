"""What somebody gave, checked: the size of a set; factors, made unit columns and weights that are not negative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import not_tiny, number
from ..matrices.factors import Factors, Symmetric
from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Block
from .protocol import Domain

#: The least radius or trace: weights down to the last bit of it are still normal numbers.
LEAST = 1e-290


def set_size(owner: str, name: str, value: Any) -> float:
    """A radius or trace: a positive number, and not a tiny one."""
    return not_tiny(owner, name, number(owner, name, value, positive=True), LEAST)


def unit_factors(domain: Domain, factors: Factors) -> tuple[Block, Array, Block]:
    """Unit columns and s ≥ 0, whatever scaling and signs the factors came with."""
    place, (U, s, V) = factors.place, factors.triple()
    if place is HERE:
        U, s, V = (np.asarray(part) for part in (U, s, V))
        _real_weights(s)
        _matching(domain, U, s, V)
    if not (np.isfinite(s).all() and place.finite(U) and place.finite(V)):
        raise ValueError("start factors contain NaN or infinity.")
    weights = np.abs(s) * place.norms(U) * place.norms(V)
    kept = weights > 0
    if not kept.all():
        U, V = place.columns(U, kept), place.columns(V, kept)
    U, V = place.unit(U), place.unit(V)
    return U, weights[kept], place.scale(V, np.sign(s[kept])) if (s[kept] < 0).any() else V


def _matching(domain: Domain, U: Array, s: Array, V: Array) -> None:
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


def _real_weights(weights: Array) -> None:
    if weights.dtype.kind not in "buif":
        raise TypeError(
            f"start has weights of dtype {weights.dtype}; complex weights have no meaning, give real numbers."
        )


def nonnegative(domain: Domain, factors: Factors) -> tuple[Block, Array]:
    if not isinstance(factors, Symmetric):
        raise ValueError(
            f"start must be V diag(weights) Vᴴ on a {type(domain).__name__}: pass (vectors, weights), not (U, s, V)."
        )
    place, vectors, weights = factors.place, factors.vectors, np.asarray(factors.weights)
    _real_weights(weights)
    weights = weights.astype(float)
    if place is HERE:
        vectors = np.asarray(vectors)
        if vectors.ndim != 2 or vectors.shape[0] != domain.shape[0] or weights.shape != (vectors.shape[1],):
            raise ValueError(
                f"start factors have shapes {vectors.shape} and {weights.shape}; need ({domain.shape[0]}, k) and (k,)."
            )
    if not (place.finite(vectors) and np.isfinite(weights).all()):
        raise ValueError("start factors contain NaN or infinity.")
    if weights.size and weights.min() < 0:
        raise ValueError(f"start has a negative weight {weights.min():.6g}; a positive semidefinite X has none.")
    norms = place.norms(vectors)
    kept = (norms > 0) & (weights > 0)
    vectors = vectors if kept.all() else place.columns(vectors, kept)
    return place.unit(vectors), weights[kept] * norms[kept] ** 2
