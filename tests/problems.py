"""Problems with known optima: closed forms, and problems built backwards from a primal-dual pair.

Built backwards: X* is optimal over the spectrahedron exactly when N = −∇f(X*) equals its largest eigenvalue on the
range of X*. So choose X*, choose such an N, and choose the data so that the slope at X* is −N; likewise on the ball
with singular values. The optimum is then known to rounding, whatever the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import spectraplex as sx
from spectraplex.domains.spectra import simplex


@dataclass(frozen=True)
class Known:
    """A problem, its optimal value, an optimal matrix, and the rank of that."""

    name: str
    problem: sx.Problem
    optimum: float
    X: np.ndarray
    rank: int


#: Methods for any objective; "stochastic" needs one that can give some of its observations (tests/test_stochastic.py).
WHOLE = [name for name in sx.METHODS if name != "stochastic"]


def normal(rng: np.random.Generator, shape: tuple[int, ...], complex_: bool) -> np.ndarray:
    out = rng.standard_normal(shape)
    return out + 1j * rng.standard_normal(shape) if complex_ else out


def orthonormal(rng: np.random.Generator, n: int, k: int, complex_: bool = False) -> np.ndarray:
    return np.linalg.qr(normal(rng, (n, k), complex_))[0]


def value(problem: sx.Problem, X: np.ndarray) -> float:
    """f at a dense matrix, through the objective."""
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    return problem.objective.evaluate(problem.objective.measure(U, s, Vh.conj().T))[0]


def known(name: str, objective: Any, domain: Any, X: np.ndarray) -> Known:
    problem = sx.Problem(objective, domain)
    rank = int(np.sum(np.linalg.svd(X, compute_uv=False) > 1e-10))
    return Known(name, problem, value(problem, X), X, rank)


# ------------------------------------------------------------------------------------------------- closed forms


def distance_spectrahedron(rng, d=12, rank=3, trace=1.0, complex_=False, smallest=0.2) -> Known:
    """½‖X − A‖² whose projection has a given rank and smallest eigenvalue (as a share of trace/rank)."""
    Q = orthonormal(rng, d, d, complex_)
    weights = smallest + (1 - smallest) * rng.dirichlet(np.ones(rank)) * rank
    weights = trace * weights / weights.sum()
    shift = rng.uniform(0.1, 0.5) * trace
    values = np.concatenate([weights + shift, shift - rng.uniform(0.05, 1.0, d - rank) * trace])
    A = (Q * values) @ Q.conj().T
    A = (A + A.conj().T) / 2
    X = (Q * simplex(values, trace)) @ Q.conj().T
    return known(
        f"distance-rank{rank}-d{d}{'-complex' if complex_ else ''}",
        sx.Distance(A),
        sx.Spectrahedron(d, trace),
        X,
    )


def distance_inside(rng, d=8) -> Known:
    """A already a density matrix of full rank: the optimum is zero."""
    Q = orthonormal(rng, d, d)
    values = 0.5 / d + 0.5 * rng.dirichlet(np.ones(d))
    A = (Q * (values / values.sum())) @ Q.T
    A = (A + A.T) / 2
    return known("distance-inside", sx.Distance(A), sx.Spectrahedron(d), A)


def distance_trace_ball(rng, d=10, trace=2.0, active=True, complex_=False) -> Known:
    Q = orthonormal(rng, d, d, complex_)
    values = rng.uniform(-1.0, 1.0, d) * (2.0 * trace if active else 0.9 * trace / d)
    A = (Q * values) @ Q.conj().T
    A = (A + A.conj().T) / 2
    domain = sx.TraceBall(d, trace)
    return known(f"trace-ball-{'active' if active else 'inside'}", sx.Distance(A), domain, domain.project(A).dense())


def distance_ball(rng, shape=(7, 9), radius=3.0, active=True, complex_=False) -> Known:
    A = normal(rng, shape, complex_)
    nuclear = np.linalg.svd(A, compute_uv=False).sum()
    A *= (3.0 if active else 0.6) * radius / nuclear
    domain = sx.NuclearBall(shape, radius)
    name = f"ball-{shape[0]}x{shape[1]}-{'active' if active else 'inside'}{'-complex' if complex_ else ''}"
    return known(name, sx.Distance(A), domain, domain.project(A).dense())


# ------------------------------------------------------------------------------------------- built backwards


def dual_spectrahedron(rng, d, rank, trace, complex_=False, strict=0.2):
    """X* of a rank and N = −∇f(X*) with N = top on its range and less elsewhere."""
    Q = orthonormal(rng, d, d, complex_)
    weights = 0.3 + rng.random(rank)
    X = (Q[:, :rank] * (trace * weights / weights.sum())) @ Q[:, :rank].conj().T
    top = rng.uniform(0.3, 1.0)
    values = np.concatenate([np.full(rank, top), top - strict - rng.random(d - rank)])
    N = (Q * values) @ Q.conj().T
    return (X + X.conj().T) / 2, (N + N.conj().T) / 2


def dual_ball(rng, shape, rank, radius, complex_=False):
    """Z* of a rank on the sphere of the ball and N = −∇f(Z*) = top·UVᴴ + something smaller on the complement."""
    k = min(shape)
    U, V = orthonormal(rng, shape[0], k, complex_), orthonormal(rng, shape[1], k, complex_)
    weights = 0.3 + rng.random(rank)
    Z = (U[:, :rank] * (radius * weights / weights.sum())) @ V[:, :rank].conj().T
    top = rng.uniform(0.3, 1.0)
    values = np.concatenate([np.full(rank, top), top * rng.uniform(0.0, 0.8, k - rank)])
    return Z, (U * values) @ V.conj().T


def completion(rng, X, N, domain, loss, complex_=False) -> Known:
    """All entries observed, with values (and weights) such that the slope at X is −N exactly."""
    rows, cols = (index.ravel() for index in np.indices(X.shape))
    order = rng.permutation(rows.size)
    rows, cols = rows[order], cols[order]
    x, n = X[rows, cols], N[rows, cols]
    weights = rng.uniform(0.5, 2.0, x.size)
    if loss == "squared":
        values = x + n / weights
    elif loss == "huber":  # some residuals on the linear part: there the slope is weight·delta
        size = np.abs(n)
        far = rng.random(x.size) < 0.3
        weights = np.where(far & (size > 0), size, 1.01 * np.maximum(size, 1e-3))
        stretch = np.where(far & (size > 0), rng.uniform(1.0, 4.0, x.size) / np.maximum(size, 1e-300), 1.0 / weights)
        values = x + stretch * n
    else:
        values = np.where(n > 0, 1.0, -1.0)
        weights = np.maximum(np.abs(n), 1e-12) * (1.0 + np.exp(values * x))
    objective = sx.Completion(rows, cols, values, X.shape, loss, weights=weights)
    return known(f"{type(domain).__name__}-{loss}{'-complex' if complex_ else ''}", objective, domain, X)


def sensing(rng, X, N, domain, extra=3, complex_=False) -> Known:
    """A dense stack whose last measurement makes the slope at X equal −N."""
    hermitian = not isinstance(domain, sx.NuclearBall)
    count = X.shape[0] + extra
    A = normal(rng, (count, *X.shape), complex_)
    if hermitian:
        A = (A + A.conj().swapaxes(1, 2)) / 2
    y = rng.standard_normal(count) + 0.1
    A[-1] = (-N - np.tensordot(y[:-1], A[:-1], axes=1)) / y[-1]
    targets = np.einsum("kij,ij->k", A.conj(), X).real - y
    return known(f"{type(domain).__name__}-sensing{'-complex' if complex_ else ''}", sx.Sensing(A, targets), domain, X)


def phase_retrieval(rng, d=6, complex_=False) -> Known:
    """Rank-one measurements |⟨aᵢ, x⟩|² of a unit vector, without noise: the optimum is zero."""
    x = normal(rng, (d,), complex_)
    x /= np.linalg.norm(x)
    a = normal(rng, (6 * d, d), complex_)
    targets = np.abs(a.conj() @ x) ** 2
    return known("phase-retrieval", sx.Sensing(a, targets), sx.Spectrahedron(d), np.outer(x, x.conj()))


def smooth_quadratic(rng, d=8) -> Known:
    """A user's own function with a known optimum (and no known smoothness)."""
    base = distance_spectrahedron(rng, d, 2)
    A = base.problem.objective.A

    def half_square(X: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.5 * float(np.sum((X - A) ** 2)), X - A

    return known("smooth", sx.Smooth(half_square, (d, d), smoothness=1.0), sx.Spectrahedron(d), base.X)


PROBLEMS: dict[str, Callable[[np.random.Generator], Known]] = {
    "rank 3 of 12": lambda r: distance_spectrahedron(r, 12, 3),
    "rank 1 of 12": lambda r: distance_spectrahedron(r, 12, 1),
    "full rank, boundary of the cone out of reach": distance_inside,
    "full rank 5 of 5": lambda r: distance_spectrahedron(r, 5, 5),
    "complex rank 3 of 9": lambda r: distance_spectrahedron(r, 9, 3, complex_=True),
    "trace 2.5": lambda r: distance_spectrahedron(r, 10, 2, trace=2.5),
    "d = 1": lambda r: known("d1", sx.Distance(np.array([[r.uniform(-1, 3)]])), sx.Spectrahedron(1), np.ones((1, 1))),
    "d = 2": lambda r: distance_spectrahedron(r, 2, 1),
    "trace ball, active": distance_trace_ball,
    "trace ball, inside": lambda r: distance_trace_ball(r, active=False),
    "trace ball, complex": lambda r: distance_trace_ball(r, 6, complex_=True),
    "ball, active": distance_ball,
    "ball, inside": lambda r: distance_ball(r, active=False),
    "ball, complex": lambda r: distance_ball(r, (6, 5), complex_=True),
    "ball, 1 × n": lambda r: distance_ball(r, (1, 8)),
    "ball, m × 1": lambda r: distance_ball(r, (6, 1)),
    "ball, 1 × 1": lambda r: distance_ball(r, (1, 1)),
    "ball, squared": lambda r: completion(r, *dual_ball(r, (7, 6), 2, 3.0), sx.NuclearBall((7, 6), 3.0), "squared"),
    "ball, Huber": lambda r: completion(r, *dual_ball(r, (6, 7), 2, 3.0), sx.NuclearBall((6, 7), 3.0), "huber"),
    "ball, logistic": lambda r: completion(r, *dual_ball(r, (6, 6), 2, 3.0), sx.NuclearBall((6, 6), 3.0), "logistic"),
    "spectrahedron, squared": lambda r: completion(
        r, *dual_spectrahedron(r, 7, 2, 1.5), sx.Spectrahedron(7, 1.5), "squared"
    ),
    "spectrahedron, Huber": lambda r: completion(r, *dual_spectrahedron(r, 6, 2, 1.0), sx.Spectrahedron(6), "huber"),
    "complex Huber": lambda r: completion(
        r, *dual_spectrahedron(r, 6, 2, 1.0, True), sx.Spectrahedron(6), "huber", complex_=True
    ),
    "sensing": lambda r: sensing(r, *dual_spectrahedron(r, 6, 2, 1.0), sx.Spectrahedron(6)),
    "sensing, complex": lambda r: sensing(
        r, *dual_spectrahedron(r, 5, 2, 1.0, True), sx.Spectrahedron(5), complex_=True
    ),
    "sensing, ball": lambda r: sensing(r, *dual_ball(r, (5, 4), 2, 2.0), sx.NuclearBall((5, 4), 2.0)),
    "phase retrieval": phase_retrieval,
    "phase retrieval, complex": lambda r: phase_retrieval(r, 5, True),
    "own function": smooth_quadratic,
}


def random_known(seed: int) -> Known:
    """Some problem with a known optimum: any domain, loss, number field, rank; small, and different for every seed."""
    rng = np.random.default_rng(seed)
    complex_, kind = bool(rng.integers(2)), rng.integers(7)
    if kind == 0:
        d = int(rng.integers(1, 15))
        return distance_spectrahedron(
            rng, d, int(rng.integers(1, d + 1)), rng.uniform(0.2, 5.0), complex_, rng.uniform(0.01, 1)
        )
    if kind == 1:
        return distance_trace_ball(
            rng, int(rng.integers(1, 12)), rng.uniform(0.2, 5.0), bool(rng.integers(2)), complex_
        )
    if kind == 2:
        shape = (int(rng.integers(1, 12)), int(rng.integers(1, 12)))
        return distance_ball(rng, shape, rng.uniform(0.2, 8.0), bool(rng.integers(2)), complex_)
    ball = kind in (3, 4)
    if ball:
        shape, radius = (int(rng.integers(2, 9)), int(rng.integers(2, 9))), rng.uniform(0.5, 5.0)
        domain: Any = sx.NuclearBall(shape, radius)
    else:
        d, radius = int(rng.integers(2, 9)), rng.uniform(0.5, 3.0)
        domain = sx.Spectrahedron(d, radius)
    losses = ["squared", "huber"] if complex_ else ["squared", "huber", "logistic"]
    sense = kind in (4, 6)
    if ball:
        pair = dual_ball(rng, shape, int(rng.integers(1, min(shape) + 1)), radius, complex_)
    else:
        pair = dual_spectrahedron(rng, d, int(rng.integers(1, d + 1)), radius, complex_)
    if sense:
        return sensing(rng, *pair, domain, int(rng.integers(1, 6)), complex_)
    loss = losses[int(rng.integers(len(losses)))]
    if loss == "logistic" and not ball:  # labels cannot make a slope Hermitian unless mirrored entries share them
        loss = "squared"
    return completion(rng, *pair, domain, loss, complex_)


def blobs(seed=0, count=60, noise=12.0):
    """Two classes that differ in the first of four features; the second is loud and says nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = rng.standard_normal((count, 4))
    X[:, 0] += 4.0 * y
    X[:, 1] *= noise
    return X, y
