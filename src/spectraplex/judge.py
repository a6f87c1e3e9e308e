"""certify and verify: judge any candidate from any tool, and check a certificate without trusting who wrote it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, dagger
from .certificate import Candidate, Certificate, contradicts, dual_value, lower_bound, margin
from .domains import Spectrahedron, capped, size_of
from .eigen import upper_bound
from .factors import Factors, Rectangular, Symmetric, as_factors
from .fingerprint import data_fingerprint, factors_fingerprint, fingerprint
from .penalized import Penalized
from .problem import Point, Problem
from .result import Result, load

_SLIGHTLY = 1e-6  # share of the domain's size up to which a candidate outside is scaled in, and told


def certify(
    problem: Problem, X: Any, *, failure: float = 1e-9, products: float | None = None, seed: int | None = None
) -> Certificate:
    """Judge a candidate: how far outside, its value, and how far above the optimum it can be at most.

    Parameters
    ----------
    X : factors (``result.X``, (vectors, weights), (U, s, V)), a dense matrix, a ``Result`` or a saved one's folder.
    failure : probability that the lower bound is wrong, where it cannot be proven.
    products : most products to spend on the bound; by default enough to make it tight.
    seed : of the random start; from the operating system by default.

    Returns
    -------
    Certificate
        Prints as a sentence; ``to_json`` makes it a document that ``verify`` can check.
    """
    factors, outside, mark, problem = _candidate(problem, X)
    point = problem.point(_atoms(problem, factors))
    rng = np.random.default_rng(seed)
    most = float(problem.domain.dimension + 10) if products is None else products
    if not 0 < failure < 1:
        raise ValueError(f"certify: failure is a probability between 0 and 1, got {failure!r}.")
    found = lower_bound(
        problem, [Candidate.of(point)], point.value, failure=failure, rng=rng, share=0.02, products=most
    )
    if contradicts(found.value, point.value):
        raise ValueError(
            f"certify: a lower bound of {found.value:.10g} came out above the value {point.value:.10g}: the objective "
            "is not convex, or its gradient is wrong; run spectraplex.check on it."
        )
    return Certificate(
        kind=found.kind,
        failure=found.failure,
        value=point.value,
        lower_bound=found.value,
        feasibility=outside,
        data=data_fingerprint(problem),
        factors=mark,
    )


@dataclass(frozen=True)
class Verification:
    """True when the certificate holds; printing it says which part does not."""

    wrong: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.wrong

    def __str__(self) -> str:
        return "The certificate holds." if not self.wrong else "The certificate does not hold: " + " ".join(self.wrong)


def verify(certificate: Certificate | str, problem: Problem, X: Any, *, failure: float = 1e-9) -> Verification:
    """Check a certificate from the data and the factors alone, with fresh randomness from the system.

    A bound whose slope is not that of X itself is checked when ``X`` is the result (or its folder) that keeps it.
    """
    if isinstance(certificate, str):
        certificate = Certificate.from_json(certificate)
    if not isinstance(certificate, Certificate):
        raise TypeError(
            f"verify: the first argument must be a Certificate or its JSON, got {type(certificate).__name__}."
        )
    if not certificate.sensible():
        return Verification(("document: its kind, failure and numbers do not go together.",))
    X = load(X) if isinstance(X, str | os.PathLike) else X
    if certificate.kind == "none":
        return Verification(("nothing was certified.",))
    wrong = []
    if certificate.data != data_fingerprint(problem):
        wrong.append("data: the problem is not the one that was certified.")
    factors, outside, mark, problem = _candidate(problem, X)
    if certificate.factors != mark:
        wrong.append("factors: X is not the matrix that was certified.")
    point = problem.point(_atoms(problem, factors))
    blur = margin(problem, Candidate.of(point), 1.0, 0.0)  # X is scaled and turned anew: near f = 0 that shows
    if not abs(point.value - certificate.value) <= 1e-9 * abs(point.value) + blur + 1e-300:
        wrong.append(f"value: it is {point.value:.10g}, not {certificate.value:.10g}.")
    if not np.isclose(outside, certificate.feasibility, rtol=1e-6, atol=1e-12 * size_of(problem.domain)):
        wrong.append(f"feasibility: X lies {outside:.3g} outside, not {certificate.feasibility:.3g}.")
    wrong += _check_bound(certificate, problem, X, point, failure)
    return Verification(tuple(wrong))


_NO_DUAL = (
    "dual: the slope that the bound was built from is not here; verify with the result that has it, or certify anew."
)


def _fits(problem: Problem, slope: Any, like: Any) -> bool:
    """Whether a kept array can be a dual point of this problem at all."""
    if not (isinstance(slope, np.ndarray) and isinstance(like, np.ndarray) and hasattr(problem.objective, "conjugate")):
        return False
    return slope.dtype == like.dtype and slope.shape == like.shape and bool(np.isfinite(slope).all())


def _check_bound(certificate: Certificate, problem: Problem, X: Any, point: Point, failure: float) -> list[str]:
    """Sharpen our own bound, from a fresh random start, until it reaches what is claimed or cannot."""
    candidate = Candidate.of(point)
    if certificate.dual != "slope":
        slope: Any = X.state.get("dual") if isinstance(X, Result) else None
        if not _fits(problem, slope, point.slope) or fingerprint(slope) != certificate.dual:
            return [_NO_DUAL]
        candidate = Candidate(point.value, slope, None)

    def accuracy(ritz: float) -> float:
        reached, c = dual_value(problem, candidate, ritz)
        return max(0.5 * (reached - certificate.lower_bound) / c, 0.0) if c > 0 else np.inf

    bound = upper_bound(
        problem.lifted.pull(candidate.slope),
        failure=failure,
        accuracy=accuracy,
        relative=1e-14,
        products=float(problem.domain.dimension + 10),
        kind="proven" if certificate.kind == "proven" else None,
    )
    ours, c = dual_value(problem, candidate, bound.value)
    # who claims a bound has lowered it for rounding, and so have we: once is enough
    blur = margin(problem, candidate, c, bound.value) if c > 0.0 else 0.0
    if bound.kind == "proven":  # and so has Cholesky
        blur += c * min(bound.value - bound.estimate, 1e-11 * abs(bound.value))
    slack = max(1e-12 * max(abs(point.value), abs(certificate.lower_bound)), blur)
    if ours >= certificate.lower_bound - slack:
        return []
    return [f"lower bound: {certificate.lower_bound:.10g} is claimed, only {ours:.10g} can be shown."]


# ------------------------------------------------------------------------------------------------- candidates


def _candidate(problem: Problem, X: Any) -> tuple[Factors, float, str, Problem]:
    """Feasible factors, how far outside X was, its fingerprint, and the problem with room for it.

    Refuses what is not slightly outside; with a penalty nothing is, whatever the bound on the norm of a solution.
    """
    if isinstance(X, str | os.PathLike):
        X = load(X)
    if isinstance(X, Result):
        X = X.X
    hermitian = problem.domain.hermitian
    if hasattr(X, "toarray"):
        raise TypeError("certify: X is a sparse matrix; pass X.toarray(), or its factors.")
    X = np.asarray(X) if isinstance(X, list | np.matrix) else X
    if isinstance(X, np.ndarray):
        mark = fingerprint(X)
        X = _of_dense(problem, X)
    else:
        X = as_factors(X, "certify: X")
        mark = factors_fingerprint(X)
    U, s, V = (np.asarray(part) for part in X.triple())
    m, n = problem.domain.shape
    if (
        U.ndim != 2
        or V.ndim != 2
        or s.shape != (U.shape[1],)
        or (U.shape[0], V.shape[0]) != (m, n)
        or V.shape[1] != s.size
    ):
        raise ValueError(
            f"certify: X has factors of shapes {U.shape}, {s.shape}, {V.shape}; the problem is about {m}×{n}."
        )
    if not all(np.isfinite(part).all() for part in (U, s, V)):
        raise ValueError("certify: X contains NaN or infinity; there is nothing to certify.")
    if s.dtype.kind == "c":
        raise TypeError("certify: X has complex weights; they are real.")
    if problem.dtype == "float64" and np.result_type(U, V).kind == "c":
        raise TypeError("certify: X is complex, but the problem is real.")
    if hermitian and not isinstance(X, Symmetric):
        raise ValueError(
            "certify: this domain has Hermitian matrices; pass (vectors, weights) or a dense Hermitian matrix."
        )
    size = float(np.sum(np.linalg.norm(U, axis=0) * np.abs(s) * np.linalg.norm(V, axis=0)))
    if isinstance(problem, Penalized) and size > size_of(problem.domain):
        problem = Penalized(problem.objective, problem.lam, psd=problem.psd, bound=1.01 * size)
    inside, outside = _scaled_in_symmetric(problem, U, s) if hermitian else _scaled_in_ball(problem, U, s, V)
    if not outside <= _SLIGHTLY * size_of(problem.domain):
        raise ValueError(
            f"certify: X lies {outside:.3g} outside {problem.domain} (in Frobenius norm), more than rounding explains; "
            "project it first."
        )
    return inside, outside, mark, problem


def _of_dense(problem: Problem, X: Array) -> Factors:
    if X.shape != tuple(problem.domain.shape) or X.dtype.kind not in "buifc":
        raise ValueError(
            f"certify: X is an array of shape {X.shape} and type {X.dtype}, not {problem.domain.shape} numbers."
        )
    if not np.isfinite(X).all():
        raise ValueError("certify: X contains NaN or infinity; there is nothing to certify.")
    X = X.astype(np.complex128 if X.dtype.kind == "c" else np.float64)
    if not problem.domain.hermitian:
        U, s, Vh = np.linalg.svd(X, full_matrices=False)
        return Rectangular(U, s, dagger(Vh))
    skew = float(np.max(np.abs(X - dagger(X)), initial=0.0))
    if skew > _SLIGHTLY * size_of(problem.domain):
        raise ValueError(f"certify: X is not Hermitian (off by {skew:.3g}); pass (X + Xᴴ)/2 if that is what you mean.")
    values, vectors = np.linalg.eigh(0.5 * (X + dagger(X)))
    return Symmetric(vectors, values)


def _scaled_in_symmetric(problem: Problem, U: Array, s: Array) -> tuple[Factors, float]:
    """Eigenvalues cut off at zero and scaled to the trace; exact weights stay as they are."""
    domain: Any = problem.domain
    norms = np.linalg.norm(U, axis=0)
    if s.size and s.min() >= 0:
        factors = Symmetric(U[:, norms > 0] / norms[norms > 0], (s * norms**2)[norms > 0])
        total, square = factors.trace, float(np.linalg.norm(_small(factors)))
        if isinstance(domain, Spectrahedron) or total > domain.trace:
            if total == 0:
                raise ValueError(f"certify: X is zero, but {domain} asks for a trace of {domain.trace:g}.")
            scale = domain.trace / total
            outside = abs(1.0 - scale) * square
            if outside <= 1e-14 * domain.trace:
                outside = 0.0
            return Symmetric(factors.vectors, scale * factors.weights), outside
        return factors, 0.0
    Q, R = np.linalg.qr(U) if U.shape[1] <= U.shape[0] else (np.eye(U.shape[0], dtype=U.dtype), U)
    values, turn = np.linalg.eigh((R * s) @ dagger(R))
    inside = capped(values, domain.trace) if not isinstance(domain, Spectrahedron) else np.maximum(values, 0.0)
    if isinstance(domain, Spectrahedron) and inside.sum() > 0:
        inside = inside * (domain.trace / inside.sum())
    return Symmetric(Q @ turn, inside), float(np.linalg.norm(values - inside))


def _small(factors: Symmetric) -> Array:
    """A small matrix with the same singular values as X."""
    Y = factors.vectors * np.sqrt(factors.weights)
    return Y.conj().T @ Y


def _scaled_in_ball(problem: Problem, U: Array, s: Array, V: Array) -> tuple[Factors, float]:
    radius = size_of(problem.domain)
    factors = Rectangular(U, s, V)
    sizes = np.linalg.norm(U, axis=0) * np.abs(s) * np.linalg.norm(V, axis=0)
    if sizes.sum() <= radius:
        return factors, 0.0
    P, values, Q = factors.svd()
    nuclear = float(values.sum())
    if nuclear <= radius:
        return Rectangular(P, values, Q), 0.0
    outside = (1.0 - radius / nuclear) * float(np.linalg.norm(values))
    return Rectangular(P, values * (radius / nuclear), Q), outside if outside > 1e-14 * radius else 0.0


def _atoms(problem: Problem, factors: Factors) -> Any:
    atoms = problem.domain.raised(factors)
    wanted = np.dtype(problem.dtype)
    return atoms if atoms.buffer.array.dtype == wanted else type(atoms).of(atoms.vectors.astype(wanted), atoms.weights)
