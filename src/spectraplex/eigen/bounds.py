"""Numbers that are ≥ λ_max, and say how true that is. A Ritz value never is one: it lies below.

*Proven*: μI − A has a Cholesky factor, with a margin for rounding, so λ_max(A) ≤ μ (dense, moderate dimension).
*Probable*: k steps of Lanczos with full reorthogonalisation from a uniformly random start, drawn independently of A.
With Ritz values θⱼ and off-diagonals b₁ … b_k (the last one included), |Π(λ_max − θⱼ)|·τ ≤ Πbⱼ whenever the start
has an inner product ≥ τ with the leading eigenvector; τ = δ√(π/(2d)) (real) or √(δ/d) (complex) does with
probability 1 − δ. So λ_max lies below the root t > max θⱼ of Σ ln(t − θⱼ) = Σ ln bⱼ − ln τ.
*Estimate*: the Ritz value itself, what is usually reported; it steers and proves nothing.
Written by hand because no library offers the first two. The probable one is in probable.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import chance
from ..matrices.given import as_hermitian
from ..matrices.lifted import Hermitian
from ..places.numpy import EPS, Array, dagger, size_one
from .probable import Accuracy, Bound, probable

_DENSE = 400  # up to this dimension a Cholesky factorisation is cheaper than the Lanczos steps it replaces


def upper_bound(
    operator: Any,
    *,
    failure: float = 1e-9,
    products: float = 1000.0,
    accuracy: Accuracy = 0.0,
    relative: float = 0.0,
    kind: str | None = None,
    rng: np.random.Generator | None = None,
    dense: int = _DENSE,
    expected: float | None = None,
) -> Bound:
    """A number ≥ λ_max(operator), spending products only until it is as tight as asked.

    Parameters
    ----------
    operator : Hermitian, with ``shape``, ``dtype`` and ``matmat`` (``Lifted`` is known to have two sides).
    failure : probability that a probable bound is wrong; the start is fresh and random, never warm.
    products : most products; the bound is then looser, but a bound all the same.
    accuracy : additive distance to the Ritz value that is good enough, or a function of that; ``relative`` is a share
        of the bound. Whichever is looser ends the work.
    kind : "proven", "probable" or "estimate"; by default proven up to dimension ``dense``, probable beyond.
    rng : randomness of the start, from the operating system by default.
    expected : what λ_max is thought to be; a proof of that takes a Cholesky factor and no eigenvalue.
    """
    if kind not in (None, "proven", "probable", "estimate"):
        raise ValueError(f"upper_bound: kind must be 'proven', 'probable' or 'estimate', got {kind!r}.")
    chance("upper_bound", "failure", failure)
    rng = np.random.default_rng() if rng is None else rng
    operator = as_hermitian(operator)
    if kind == "proven" or (kind is None and operator.shape[0] <= dense):
        return _proven(operator, expected)
    bound = probable(operator, failure, (accuracy, relative), rng, products)
    return Bound(bound.estimate, "estimate", 1.0, bound.products, bound.estimate) if kind == "estimate" else bound


def _proven(operator: Hermitian, expected: float | None = None) -> Bound:
    d = operator.shape[0]
    spent = operator.products
    A = operator.dense()
    cost = operator.products - spent
    scale = float(np.max(np.abs(A), initial=0.0))
    if scale == 0.0:  # as far as rounding lets us see: entries that cancelled are known to their noise
        return Bound(operator.noise(), "proven", 0.0, cost, 0.0, operator.noise())
    unit = size_one(scale)  # entries of size one: no overflow, no underflow, and the margins below are meaningful
    A, scale = A * unit, 1.0 / unit
    A = 0.5 * (A + dagger(A))
    entries = 4 * EPS * float(np.linalg.norm(A))  # the entries themselves are rounded numbers
    found = None if expected is None else _factored(A, expected * unit, tries=1)
    top = expected * unit if expected is not None and found is not None else _largest(A)
    found = _factored(A, top, tries=60) if found is None else found
    if found is None:
        loose = scale * float(np.linalg.norm(A)) * (1 + 1e-9) + operator.noise()
        return Bound(loose, "proven", 0.0, cost, scale * top, 1e-9 * loose)
    # A Cholesky factor that exists in floating point belongs to a matrix within γ_{d+1}·tr(M) of M (Higham, 10.1).
    above, trace = found
    value = scale * (above + (d + 3) * EPS * trace + entries) + operator.noise()
    return Bound(value, "proven", 0.0, cost, scale * top, value - scale * top)


def _largest(A: Array) -> float:
    """The largest eigenvalue as LAPACK finds it: a place to start from, no proof."""
    from scipy.linalg import lapack

    d, one = A.shape[0], lapack.zheevr if A.dtype.kind == "c" else lapack.dsyevr
    values, _, _, _, info = one(A, compute_v=0, range="I", il=d, iu=d)
    return float(values[0] if info == 0 else np.linalg.eigvalsh(A)[-1])


def _factored(A: Array, top: float, tries: int) -> tuple[float, float] | None:
    """The first μ a little above ``top`` for which μI − A has a Cholesky factor, and the trace of that; or None."""
    d = A.shape[0]
    margin = 4 * (d + 2) * EPS * max(1.0, abs(top))
    for _ in range(tries):
        shifted = -A
        shifted.flat[:: d + 1] += top + margin
        try:
            np.linalg.cholesky(shifted)
            return top + margin, float(np.trace(shifted).real)
        except np.linalg.LinAlgError:
            margin *= 2
    return None
