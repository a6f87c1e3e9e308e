"""The problems of table1: quadratics with β = 1 over the unit spectrahedron, built backwards from their optimum.

First comes X* = Σ aₖxₖxₖᵀ, then M ⪰ 0 with Mxₖ = 0 and its other eigenvalues in [GAP, GAP + SPREAD], then data
with ∇f(X*) = M. So X* is optimal, f* is known, and strict complementarity holds with GAP (the paper asks for none).

distance   ½‖X − A‖²_F, ``sx.Distance`` with a dense A: α = β.
sparse     the same with a sparse A, ten numbers to a row: nnz(∇) is then far below d².
entries    ½Σ W_ij (X_ij − A_ij)², linear sensing of every entry, weights between α and β = 1. ``sx.Sensing`` keeps one
           matrix per measurement, 4.5 million of them at d = 3,000; ``Weighted`` is the same function as two arrays.
gaussian   ``sx.Sensing`` with random dense measurements, scaled to β = 1; α is what came out (d = 30).

The weights of ``entries`` are constant on blocks of coordinates, and each xₖ lives on one block: the curvature along
the face of X* then runs from α to β exactly. (Weights drawn entry by entry average out along any spread-out xₖ, and no
method would notice α.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import block_diag

from ...domains.sets import Spectrahedron
from ...losses.curves import Quadratic
from ...matrices.operators import Dense
from ...objectives import Distance, Sensing
from ...places.numpy import Array, inner
from ...problem import Problem

GAP, SPREAD = 0.1, 0.4  # eigenvalues of the gradient at the optimum, off the face
_BLOCK = 10  # size of the blocks of a sparse A


class Weighted:
    """½Σ W_ij (X_ij − A_ij)² for symmetric A and W > 0: every entry measured, with its weight. The image is X."""

    dense = True
    dtype = "float64"

    def __init__(self, A: Array, W: Array) -> None:
        self.A, self.W, self.shape = A, W, (A.shape[0], A.shape[1])
        self.smoothness, self.strong_convexity = float(W.max()), float(W.min())

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return np.asarray((U * s) @ V.T)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return a * z + b * w

    def evaluate(self, z: Array) -> tuple[float, Array]:
        residual = z - self.A
        slope = self.W * residual
        return 0.5 * inner(residual, slope), slope

    def along(self, z: Array, dz: Array) -> Quadratic:
        value, slope = self.evaluate(z)
        return Quadratic(value, inner(slope, dz), inner(dz, self.W * dz))

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Dense:
        return Dense(slope, hermitian=True)

    def parts(self) -> tuple[Any, ...]:
        return ("weighted entries", self.A, self.W)


@dataclass(frozen=True, eq=False)
class Known:
    """A problem and what is known of it: X* = vectors·diag(weights)·vectorsᵀ, f*, α, and nnz(∇)."""

    problem: Problem
    vectors: Array
    weights: Array
    optimum: float
    strong_convexity: float
    nonzeros: int


@lru_cache(maxsize=1)
def build(family: str, d: int, rank: int, smallest: float, ratio: float, seed: int) -> Known:
    """The problem of a setting; the one built last is kept for the next method."""
    rng = np.random.default_rng([seed, d, rank])
    weights = np.ones(1)
    if rank > 1:  # the others differ, too, and are all larger than the smallest
        share = 1.0 + np.arange(rank - 1)[::-1] / (rank - 1)
        weights = np.append((1.0 - smallest) * share / share.sum(), smallest)
    domain = Spectrahedron(d)
    if family == "sparse":
        A, vectors, optimum = _sparse_target(d, weights, rng)
        return Known(Problem(Distance(A), domain), vectors, weights, optimum, 1.0, int(A.nnz))
    edges = np.linspace(0, d, rank + 2).astype(int)  # one block of coordinates for each xₖ, and one for the rest
    M, vectors = _normal(d, edges[: rank + 1], rng)
    X = (vectors * weights) @ vectors.T
    objective: Any
    if family == "distance":
        return Known(Problem(Distance(X - M), domain), vectors, weights, 0.5 * inner(M, M), 1.0, d * d)
    if family == "entries":
        block = np.repeat(np.arange(rank + 1), np.diff(edges))
        W = _block_weights(rank, ratio, rng)[np.ix_(block, block)]
        objective = Weighted(X - M / W, W)
        return Known(Problem(objective, domain), vectors, weights, 0.5 * inner(M, M / W), ratio, d * d)
    if family != "gaussian":
        raise ValueError(f"table1: unknown family {family!r}; known: distance, sparse, entries, gaussian.")
    A, targets, optimum, alpha = _gaussian(X, M, rng)
    objective = Sensing(A, targets)
    assert objective.smoothness > 0.0  # found here, once: not on the clock of the method that asks first
    return Known(Problem(objective, domain), vectors, weights, optimum, alpha, d * d)


def _gaussian(X: Array, M: Array, rng: np.random.Generator) -> tuple[Array, Array, float, float]:
    """Four random measurements per dimension of the symmetric matrices, and targets for which ∇f(X) = M; f* and α."""
    d = X.shape[0]
    upper = np.triu_indices(d)
    size = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))  # coordinates in an orthonormal basis
    rows = rng.standard_normal((4 * size.size, size.size))
    spectrum = np.linalg.eigvalsh(rows.T @ rows)
    rows /= np.sqrt(spectrum[-1])
    y = rows @ np.linalg.solve(rows.T @ rows, size * M[upper])  # 𝒜*(y) = M: the slope that makes X optimal
    stack = np.zeros((len(rows), d, d))
    stack[:, upper[0], upper[1]] = stack[:, upper[1], upper[0]] = rows / size
    return stack, rows @ (size * X[upper]) - y, 0.5 * inner(y, y), float(spectrum[0] / spectrum[-1])


def _normal(d: int, firsts: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """M ⪰ 0 and an orthonormal basis of its null space, the k-th vector living on the coordinates of block k.

    ``firsts`` is where each block starts, with the end of the last. Made of reflections: O(d²), where a random rotation
    would take as long as the decompositions that are timed.
    """
    rank = firsts.size - 1
    diagonal = rng.uniform(GAP, GAP + SPREAD, d)
    diagonal[firsts[:rank]] = 0.0
    mix = rng.standard_normal(d)
    mix[firsts[:rank]] = 0.0  # turns the rest of the space
    M, vectors = _reflected(np.diag(diagonal), mix), np.zeros((d, rank))
    for k in range(rank):
        rows = slice(firsts[k], firsts[k + 1])
        x = rng.standard_normal(firsts[k + 1] - firsts[k])
        vectors[rows, k] = x / np.linalg.norm(x)
        mirror = vectors[:, k].copy()
        mirror[firsts[k]] -= 1.0  # takes the first coordinate vector of the block to xₖ
        M = _reflected(M, mirror)
    return 0.5 * (M + M.T), vectors


def _reflected(M: Array, u: Array) -> Array:
    """HMH with H = I − 2uuᵀ/‖u‖²."""
    u = u / np.linalg.norm(u)
    left = M - 2.0 * np.outer(u, u @ M)
    return np.asarray(left - 2.0 * np.outer(left @ u, u))


def _sparse_target(d: int, weights: Array, rng: np.random.Generator) -> tuple[Any, Array, float]:
    """A = X* − M with small dense blocks on the diagonal: sparse, and its spectrum is known."""
    diagonal, vectors, blocks, total = rng.uniform(GAP, GAP + SPREAD, d), np.zeros((d, weights.size)), [], 0.0
    for k, low in enumerate(range(0, d, _BLOCK)):
        rows = slice(low, min(low + _BLOCK, d))
        here = diagonal[rows].copy()
        H = _reflected(np.eye(here.size), rng.standard_normal(here.size))
        if k < weights.size:
            here[0], vectors[rows, k] = -weights[k], H[:, 0]
        total += float(np.sum(here[here > 0] ** 2))
        block = (H * -here) @ H
        blocks.append(0.5 * (block + block.T))
    return block_diag(blocks, format="csr"), vectors, 0.5 * total


def _block_weights(rank: int, ratio: float, rng: np.random.Generator) -> Array:
    """Weights of the blocks, from α = ratio to β = 1; both extremes lie where the face of X* feels them.

    With two tied blocks of weight α the face has a direction of that curvature; a single one would not do, since
    weight cannot leave one atom without reaching another. A face of rank one or two has α on the way out of it.
    """
    last = rank - 1
    fixed = {(0, 0): 1.0} | ({(last, last): ratio, (last - 1, last - 1): ratio} if rank >= 3 else {(0, rank): ratio})
    pairs = [(i, j) for i in range(rank + 1) for j in range(i, rank + 1) if (i, j) not in fixed]
    ladder = rng.permutation(np.geomspace(ratio, 1.0, len(pairs)))
    weights = np.zeros((rank + 1, rank + 1))
    for (i, j), weight in (fixed | dict(zip(pairs, ladder, strict=True))).items():
        weights[i, j] = weights[j, i] = weight
    return weights
