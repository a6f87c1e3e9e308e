"""Plain dense formulas that the tests compare the library with: no factors, no patterns, no lifts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import spectraplex as sx

DELTA = 0.7  # of every Huber loss here


def normal(rng, shape, dtype="float64"):
    """Standard normal numbers, real or complex."""
    out = rng.standard_normal(shape)
    return out + 1j * rng.standard_normal(shape) if dtype == "complex128" else out


def hermitian(A):
    return 0.5 * (A + A.conj().swapaxes(-1, -2))


def real_inner(A, B):
    """Re tr(AᴴB)."""
    return float(np.sum(A.conj() * B).real)


def factors(rng, shape, rank, dtype="float64", hermitian=False):
    """Unit columns and positive numbers (U, s, V); V is U for Hermitian matrices."""
    U, V = normal(rng, (shape[0], rank), dtype), normal(rng, (shape[1], rank), dtype)
    U, V = U / np.linalg.norm(U, axis=0), V / np.linalg.norm(V, axis=0)
    s = rng.uniform(0.2, 1.0, rank)
    return (U, s, U) if hermitian else (U, s, V)


def matrix(triple):
    U, s, V = triple
    return U @ np.diag(s) @ V.conj().T


def basis(shape, dtype="float64", hermitian=False):
    """An orthonormal basis, over the reals and for Re tr(AᴴB), of all or of all Hermitian matrices."""
    m, n = shape
    out = []
    for i in range(m):
        for j in range(n):
            if hermitian and j < i:
                continue
            E = np.zeros(shape, dtype)
            E[i, j] = 1.0
            if hermitian and i != j:
                E = (E + E.T) / np.sqrt(2)
            out.append(E)
            if dtype == "complex128" and not (hermitian and i == j):
                F = np.zeros(shape, dtype)
                F[i, j] = 1j
                out.append((F + F.conj().T) / np.sqrt(2) if hermitian else F)
    return out


def hessian_range(gradient, at, space, step=1e-4):
    """The least and greatest eigenvalue of the Hessian on the span of an orthonormal ``space``."""
    columns = [(gradient(at + step * E) - gradient(at - step * E)) / (2 * step) for E in space]
    H = np.array([[real_inner(E, C) for C in columns] for E in space])
    values = np.linalg.eigvalsh(0.5 * (H + H.T))
    return values[0], values[-1]


@dataclass(frozen=True)
class Case:
    """An objective of the library beside its dense value and gradient, and a place of greatest curvature."""

    objective: Any
    value: Callable[[Any], float]
    gradient: Callable[[Any], Any]
    peak: Any
    quadratic: bool


def completion(rng, shape, loss="squared", weighted=False, dtype="float64", hermitian=False, seen="some"):
    seen = {"some": rng.random(shape) < 0.6, "all": np.full(shape, True), "upper": np.triu(np.full(shape, True))}[seen]
    seen[0, -1] = True
    B = normal(rng, shape, dtype)
    if hermitian:
        B = 0.5 * (B + B.conj().T)  # only then is there a Hermitian X that meets every observation
    labels = loss == "logistic"
    if labels:
        B = np.sign(B)
    W = seen * (rng.uniform(0.5, 2.0, shape) if weighted else 1.0)

    def value(X):
        if labels:
            return float(np.sum(W * np.log1p(np.exp(-B * X))))
        r = np.abs(X - B)
        if loss == "huber":
            return float(np.sum(W * np.where(r <= DELTA, r**2 / 2, DELTA * (r - DELTA / 2))))
        return float(np.sum(W * r**2) / 2)

    def gradient(X):
        if labels:
            return -W * B / (1 + np.exp(B * X))
        R = X - B
        if loss == "huber":
            r = np.maximum(np.abs(R), 1e-300)
            return W * np.where(r <= DELTA, R, DELTA * R / r)
        return W * R

    rows, cols = np.nonzero(seen)
    order = rng.permutation(rows.size)
    rows, cols = rows[order], cols[order]
    weights = W[rows, cols] if weighted else None
    f = sx.Completion(rows, cols, B[rows, cols], shape, loss=loss, delta=DELTA, weights=weights)
    return Case(f, value, gradient, np.zeros(shape) if labels else B, loss == "squared")


def distance(rng, shape, dtype="float64", sparse=False, hermitian=False):
    A = normal(rng, shape, dtype)
    if sparse:
        A = A * (rng.random(shape) < 0.5)
    if hermitian:
        A = 0.5 * (A + A.conj().T)
    f = sx.Distance(sp.csr_array(A) if sparse else A)
    return Case(f, lambda X: 0.5 * np.linalg.norm(X - A) ** 2, lambda X: X - A, A, True)


def sensing(rng, shape, storage="stack", dtype="float64", count=7, hermitian=False):
    if storage == "rank-one":
        vectors = normal(rng, (count, shape[0]), dtype)
        A = np.stack([np.outer(a, a.conj()) for a in vectors])
        given = vectors
    else:
        A = normal(rng, (count, *shape), dtype)
        if storage == "sparse":
            A = A * (rng.random(A.shape) < 0.5)
        if hermitian:
            A = 0.5 * (A + A.conj().swapaxes(1, 2))
        given = [sp.coo_array(each) for each in A] if storage == "sparse" else A
    b = rng.standard_normal(count)

    def residual(X):
        return np.array([np.trace(each.conj().T @ X).real for each in A]) - b

    def value(X):
        return 0.5 * float(np.sum(residual(X) ** 2))

    def gradient(X):
        return sum(r * each for r, each in zip(residual(X), A, strict=True))

    return Case(sx.Sensing(given, b), value, gradient, np.zeros(shape, dtype), True)


def smooth(rng, shape, dtype="float64", hermitian=False):
    """√(1 + ‖X − A‖²): curvature one at A, less elsewhere, none far away."""
    A = normal(rng, shape, dtype)
    if hermitian:
        A = 0.5 * (A + A.conj().T)

    def value(X):
        return float(np.sqrt(1 + np.linalg.norm(X - A) ** 2))

    def gradient(X):
        return (X - A) / value(X)

    f = sx.Smooth(lambda X: (value(X), gradient(X)), shape, dtype, smoothness=1.0, strong_convexity=0.0)
    return Case(f, value, gradient, A, False)


def _cases(shape, on_hermitian):
    """name → (dtype, make(rng)) for every family, loss, storage and field."""
    out = {}
    for dtype, tag in (("float64", "real"), ("complex128", "complex")):
        common = {"shape": shape, "dtype": dtype, "hermitian": on_hermitian}
        for loss in ("squared", "huber") if tag == "complex" else ("squared", "huber", "logistic"):
            for weighted in (False, True):
                name = f"completion-{loss}{'-weighted' if weighted else ''}-{tag}"
                out[name] = dtype, partial(completion, loss=loss, weighted=weighted, **common)
        for seen in ("all", "upper"):
            out[f"completion-{seen}-{tag}"] = dtype, partial(completion, weighted=True, seen=seen, **common)
        out[f"distance-dense-{tag}"] = dtype, partial(distance, **common)
        out[f"distance-sparse-{tag}"] = dtype, partial(distance, sparse=True, **common)
        plenty = 2 * shape[0] * shape[1] * (2 if tag == "complex" else 1)
        for count, much in ((5, "few"), (plenty, "many")):
            for storage in ("stack", "sparse", *(("rank-one",) if shape[0] == shape[1] else ())):
                name = f"sensing-{storage}-{much}-{tag}"
                out[name] = dtype, partial(sensing, storage=storage, count=count, **common)
        out[f"smooth-{tag}"] = dtype, partial(smooth, **common)
    return out


#: Objectives on 4 × 3 matrices, for the nuclear-norm ball.
RECTANGULAR = _cases((4, 3), on_hermitian=False)
#: Objectives on 3 × 3 matrices whose data suit Hermitian X, for the spectrahedron and the trace ball.
HERMITIAN = _cases((3, 3), on_hermitian=True)
