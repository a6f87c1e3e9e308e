"""Numbers that are ≥ λ_max, and say how true that is. A Ritz value never is one: it lies below.

*Proven*: μI − A has a Cholesky factor, with a margin for rounding, so λ_max(A) ≤ μ (dense, moderate dimension).
*Probable*: k steps of Lanczos with full reorthogonalisation from a uniformly random start, drawn independently of A.
With Ritz values θⱼ and off-diagonals b₁ … b_k (the last one included), |Π(λ_max − θⱼ)|·τ ≤ Πbⱼ whenever the start
has an inner product ≥ τ with the leading eigenvector; τ = δ√(π/(2d)) (real) or √(δ/d) (complex) does with
probability 1 − δ. So λ_max lies below the root t > max θⱼ of Σ ln(t − θⱼ) = Σ ln bⱼ − ln τ.
Written by hand because no library offers either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import EPS, Array, dagger, random_unit
from .eigen import Accuracy

_DENSE = 400  # up to this dimension a Cholesky factorisation is cheaper than the Lanczos steps it replaces


@dataclass(frozen=True)
class Bound:
    """λ_max ≤ value, with ``kind`` "proven" or "probable"; ``estimate`` is the best Ritz value, from below."""

    value: float
    kind: str
    failure: float
    products: float
    estimate: float


def upper_bound(
    operator: Any,
    *,
    failure: float = 1e-9,
    accuracy: Accuracy = 0.0,
    relative: float = 0.0,
    rng: np.random.Generator,
    max_products: float = 1000.0,
    dense: int = _DENSE,
) -> Bound:
    """A number ≥ λ_max(operator), spending products only until it is within ``accuracy`` of a Ritz value.

    ``accuracy`` is additive (or a function of the Ritz value), ``relative`` a share of the bound itself; whichever is
    looser ends the work.
    """
    if operator.shape[0] <= dense and hasattr(operator, "dense"):
        return _proven(operator)
    return _probable(operator, failure, accuracy, relative, rng, max_products)


def _proven(operator: Any) -> Bound:
    spent = getattr(operator, "products", 0.0)
    A = operator.dense()
    d = A.shape[0]
    scale = float(np.max(np.abs(A), initial=0.0))
    if scale == 0.0 or not math.isfinite(scale):
        return Bound(scale, "proven", 0.0, d, scale)
    A = A / scale  # entries up to one: no overflow, no underflow, and the margin below is meaningful
    A = 0.5 * (A + dagger(A))
    top = float(np.linalg.eigvalsh(A)[-1])
    size = max(1.0, float(np.linalg.norm(A, np.inf)))
    # Cholesky of M in floating point succeeds only if λ_min(M) ≥ −c·d·eps·max diag (Higham, 10.1); 10× that for us.
    margin = 40 * (d + 2) * EPS * size
    for _ in range(60):
        shifted = -A
        shifted[np.diag_indices(d)] += top + margin
        try:
            np.linalg.cholesky(shifted)
            break
        except np.linalg.LinAlgError:
            margin *= 2
    value = scale * (top + 2 * margin)
    return Bound(value, "proven", 0.0, getattr(operator, "products", d) - spent, scale * top)


def _probable(
    operator: Any,
    failure: float,
    accuracy: Accuracy,
    relative: float,
    rng: np.random.Generator,
    max_products: float,
) -> Bound:
    two_sided = len(getattr(operator, "sides", (0,))) == 2
    if two_sided:  # λ_max of [[0, R], [Rᴴ, 0]] is σ₁(R): work with RᴴR on the shorter side, one product a step
        lengths = [side.stop - side.start for side in operator.sides]
        side = int(np.argmin(lengths))
        d = lengths[side]

        def apply(v: Array) -> Array:
            return operator.apply(1 - side, operator.apply(side, v))
    else:
        d = operator.shape[0]

        def apply(v: Array) -> Array:
            return operator.matmat(v)

    complex_ = np.dtype(operator.dtype).kind == "c"
    log_tau = 0.5 * math.log(failure / d) if complex_ else math.log(failure) + 0.5 * math.log(math.pi / (2 * d))
    W = np.empty((d, 32), operator.dtype, order="F")
    diagonal: list[float] = []
    off: list[float] = []
    w = random_unit(d, operator.dtype, rng)
    best, estimate, check = math.inf, -math.inf, 4
    for k in range(1, d + 1):
        if k > W.shape[1]:
            W = np.concatenate([W, np.empty_like(W)], axis=1).copy(order="F")
        W[:, k - 1] = w
        image = apply(w[:, None])[:, 0]
        diagonal.append(float(np.vdot(w, image).real))
        for _ in range(2):
            image = image - W[:, :k] @ (dagger(W[:, :k]) @ image)
        off.append(float(np.linalg.norm(image)))
        last = k == d or off[-1] <= 1e-14 * max(map(abs, diagonal)) or k >= max_products
        if k == check or last:
            check = max(check + 4, int(1.15 * check))
            bound, ritz = _root(diagonal, off, log_tau)
            if two_sided:
                bound, ritz = math.sqrt(max(bound, 0.0)), math.sqrt(max(ritz, 0.0))
            best, estimate = min(best, bound), ritz
            wanted = accuracy(ritz) if callable(accuracy) else accuracy
            if last or best - ritz <= max(wanted, relative * abs(best)):
                break
        w = image / off[-1]
    return Bound(best, "probable", failure, float(len(diagonal)), estimate)


def _root(diagonal: list[float], off: list[float], log_tau: float) -> tuple[float, float]:
    """The bound from the tridiagonal matrix, and its largest Ritz value."""
    from scipy.linalg import eigh_tridiagonal

    theta = np.asarray(diagonal)
    if len(diagonal) > 1:
        theta = eigh_tridiagonal(theta, np.asarray(off[:-1]), eigvals_only=True)
    top = float(theta[-1])
    scale = float(max(np.max(np.abs(theta)), max(off)))
    rounding = 10 * len(diagonal) * EPS * scale
    if off[-1] <= rounding or scale == 0.0:
        return (
            top + rounding,
            top,
        )  # an invariant subspace that the start, almost surely, is not orthogonal to
    target = float(np.sum(np.log(off))) - log_tau
    # In x = ln(t − top) the left side is increasing, below the target at −∞ and above it at target/k.
    low, high = math.log(scale) - 80.0, max(target / len(diagonal), math.log(scale) - 79.0)
    rest = top - theta
    for _ in range(80):
        middle = 0.5 * (low + high)
        if float(np.sum(np.log(math.exp(middle) + rest))) < target:
            low = middle
        else:
            high = middle
    return top + math.exp(high) + rounding, top
