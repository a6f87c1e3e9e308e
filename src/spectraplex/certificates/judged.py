"""A matrix from anywhere, looked at afresh: is it feasible, what is it worth, how exactly is that known, its slope.

``solve`` looks at the matrix it returns, ``certify`` at any, ``verify`` at the one it is given: all three in this way,
so that they see the same up to the rounding that is stated.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..domains.sets import Spectrahedron
from ..domains.spectra import capped
from ..fingerprint import factors_fingerprint, fingerprint
from ..losses.curves import NotFinite
from ..matrices.factors import Factors, Rectangular, Symmetric, as_factors
from ..places.numpy import EPS, Array, dagger
from ..problem import Problem
from ..result import Result, load
from ..rounding import norm, of_image, of_value
from .dual import Candidate
from .lower import met

_SLIGHTLY = 1e-6  # share of the domain's size up to which a candidate outside is scaled in, and told
_LOOSE = 24  # in units of EPS: how far X may lie outside, beside its number of terms, and count as inside


@dataclass(frozen=True, eq=False)
class Judged:
    """What there is to say about a matrix: its value up to ``rounding``, and the slope there.

    ``factors`` are feasible; the matrix itself lay ``outside`` by that much, and has the fingerprint ``mark``.
    """

    value: float
    rounding: float
    outside: float
    mark: str
    factors: Factors
    candidate: Candidate


def look(problem: Problem, X: Any, owner: str = "certify") -> Judged:
    """Judge factors, (vectors, weights), (U, s, V), a dense matrix, a ``Result`` or a saved one's folder.

    ``owner`` is who asks, and who speaks when X is refused.
    """
    factors, outside, mark = _inside(owner, problem, X)
    return judged(problem, factors, outside, mark)


def judged(problem: Problem, factors: Factors, outside: float = 0.0, mark: str = "") -> Judged:
    """Judge factors that are known to be feasible."""
    objective, facts, lifted = problem.objective, problem.facts, problem.lifted
    U, s, V = factors.triple()
    wanted = np.dtype(problem.dtype)
    if U.dtype != wanted or V.dtype != wanted:
        U, V = U.astype(wanted), (U if V is U else V).astype(wanted)
        V = U if isinstance(factors, Symmetric) else V
    image = objective.measure(U, s, V)
    loss, slope = objective.evaluate(image)
    price = lifted.price(factors)
    value = float(loss) + price
    if not np.isfinite(value):
        raise NotFinite(f"the objective is {value}")
    size = float((np.abs(s) * _lengths(U) * _lengths(V)).sum())
    terms = s.size + _LOOSE + _beyond(problem, size)
    rounding = (
        of_value(facts, float(loss), slope, size, terms) + EPS * (s.size + 8 + _LOOSE) * abs(price) + EPS * abs(value)
    )
    candidate = Candidate(value, slope, lifted.whole(image), factors)
    if facts.rounding is None and facts.bend is None:
        blur = of_image(facts, size, terms)
        rounding += 0.5 * met(problem, candidate, blur) * blur * blur
    return Judged(value, rounding, outside, mark or factors_fingerprint(factors), factors, candidate)


# ------------------------------------------------------------------------------------------------- candidates


def _inside(owner: str, problem: Problem, X: Any) -> tuple[Factors, float, str]:
    """Feasible factors, how far outside X was, and its fingerprint.

    Refuses what is not slightly outside; with a penalty nothing is.
    """
    if isinstance(X, str | os.PathLike):
        X = load(X)
    if isinstance(X, Result):
        X = X.X
    hermitian = problem.domain.hermitian
    if hasattr(X, "toarray"):
        raise TypeError(f"{owner}: X is a sparse matrix; pass X.toarray(), or its factors.")
    X = np.asarray(X) if isinstance(X, list | np.matrix) else X
    if isinstance(X, np.ndarray):
        mark = fingerprint(X)
        X = _of_dense(owner, problem, X)
    else:
        X = as_factors(X, f"{owner}: X")
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
            f"{owner}: X has factors of shapes {U.shape}, {s.shape}, {V.shape}; the problem is about {m}×{n}."
        )
    if not all(np.isfinite(part).all() for part in (U, s, V)):
        raise ValueError(f"{owner}: X contains NaN or infinity; there is nothing to certify.")
    if s.dtype.kind == "c":
        raise TypeError(f"{owner}: X has complex weights; they are real.")
    if problem.dtype == "float64" and np.result_type(U, V).kind == "c":
        raise TypeError(f"{owner}: X is complex, but the problem is real.")
    if hermitian and not isinstance(X, Symmetric):
        raise ValueError(
            f"{owner}: this domain has Hermitian matrices; pass (vectors, weights) or a dense Hermitian matrix."
        )
    inside, outside = _scaled_in_symmetric(owner, problem, U, s) if hermitian else _scaled_in_ball(problem, U, s, V)
    if not outside <= max(_SLIGHTLY * scale_of(problem, inside), 2.0**-1074):
        raise ValueError(
            f"{owner}: X lies {outside:.3g} outside {problem.domain} (in Frobenius norm), more than rounding explains; "
            "project it first."
        )
    return inside, outside, mark


def _of_dense(owner: str, problem: Problem, X: Array) -> Factors:
    if X.shape != tuple(problem.domain.shape) or X.dtype.kind not in "buifc":
        raise ValueError(
            f"{owner}: X is an array of shape {X.shape} and type {X.dtype}, not {problem.domain.shape} numbers."
        )
    if not np.isfinite(X).all():
        raise ValueError(f"{owner}: X contains NaN or infinity; there is nothing to certify.")
    X = X.astype(np.complex128 if X.dtype.kind == "c" else np.float64)
    if not problem.domain.hermitian:
        U, s, Vh = np.linalg.svd(X, full_matrices=False)
        return Rectangular(U, s, dagger(Vh))
    skew = float(np.max(np.abs(X - dagger(X)), initial=0.0))
    if skew > max(_SLIGHTLY * problem.domain.size, 2.0**-1074):
        raise ValueError(f"{owner}: X is not Hermitian (off by {skew:.3g}); pass (X + Xᴴ)/2 if that is what you mean.")
    values, vectors = np.linalg.eigh(0.5 * (X + dagger(X)))
    return Symmetric(vectors, values)


def _scaled_in_symmetric(owner: str, problem: Problem, U: Array, s: Array) -> tuple[Factors, float]:
    """Eigenvalues cut off at zero and scaled to the trace; exact weights stay as they are."""
    domain: Any = problem.domain
    penalty, exact = problem.lifted.penalty, isinstance(domain, Spectrahedron)
    norms = _lengths(U)
    if not s.size or s.min() >= 0:
        kept = (norms > 0) & (s > 0)
        factors = Symmetric(U[:, kept] / norms[kept], (s * norms**2)[kept])
        total = factors.trace
        if penalty or (total <= domain.trace * (1 + _close(s.size)) and not exact):
            return factors, 0.0
        if total == 0:
            raise ValueError(f"{owner}: X is zero, but {domain} asks for a trace of {domain.trace:g}.")
        scale = domain.trace / total
        if abs(scale - 1.0) <= _close(s.size):
            return factors, 0.0
        outside = abs(1.0 - scale) * norm(_small(factors))
        return Symmetric(factors.vectors, scale * factors.weights), outside
    Q, R = np.linalg.qr(U) if U.shape[1] <= U.shape[0] else (np.eye(U.shape[0], dtype=U.dtype), U)
    values, turn = np.linalg.eigh((R * s) @ dagger(R))
    inside = np.maximum(values, 0.0) if exact or penalty else capped(values, domain.trace)
    if exact and inside.sum() > 0:
        inside = inside * (domain.trace / inside.sum())
    return Symmetric(Q @ turn, inside), norm(values - inside)


def scale_of(problem: Problem, factors: Factors) -> float:
    """What being outside is measured beside: the size of the set, or with a penalty that of X itself."""
    if problem.lifted.penalty:
        return float(np.abs(factors.triple()[1]).sum())
    return problem.domain.size


def _close(terms: int) -> float:
    """A sum of so many weights, and the norms of their unit vectors, are known to this share: no scaling below it."""
    return EPS * (terms + 16)


def _beyond(problem: Problem, size: float) -> int:
    """By how many roundings X lies outside; it is not scaled for so few, but its value may be less than feasible."""
    if problem.lifted.penalty:
        return 0
    off = size / problem.domain.size - 1.0
    off = abs(off) if isinstance(problem.domain, Spectrahedron) else max(off, 0.0)
    return math.ceil(min(off, 1e-6) / EPS)


def _lengths(U: Array) -> Array:
    """Of the columns, each summed in pairs: right to a few units in the last place, however long they are."""
    return np.linalg.norm(np.ascontiguousarray(U.T), axis=1)


def _small(factors: Symmetric) -> Array:
    """A small matrix with the same singular values as X."""
    Y = factors.vectors * np.sqrt(factors.weights)
    return Y.conj().T @ Y


def _scaled_in_ball(problem: Problem, U: Array, s: Array, V: Array) -> tuple[Factors, float]:
    """Scaled to the radius where the nuclear norm is larger; with a penalty nothing is too large."""
    u, v = _lengths(U), _lengths(V)
    sizes = u * np.abs(s) * v
    if problem.lifted.penalty:
        # what is charged is Σs, so the columns are to be unit, and orthogonal if somebody else's are not
        kept = sizes > 0
        factors = Rectangular(U[:, kept] / u[kept], sizes[kept], V[:, kept] / v[kept] * np.sign(s[kept]))
        return (factors if _orthonormal(factors) else Rectangular(*factors.svd())), 0.0
    radius, factors = problem.domain.size, Rectangular(U, s, V)
    if sizes.sum() <= radius * (1 + _close(s.size)):
        return factors, 0.0
    P, values, Q = factors.svd()
    nuclear = float(values.sum())
    if nuclear <= radius * (1 + _close(s.size)):
        return Rectangular(P, values, Q), 0.0
    return Rectangular(P, values * (radius / nuclear), Q), (1.0 - radius / nuclear) * norm(values)


def _orthonormal(factors: Rectangular) -> bool:
    """Whether Σs is the nuclear norm, up to rounding."""
    k = factors.s.size
    if k > min(factors.shape):
        return False
    one = np.eye(k)
    bound = EPS * (sum(factors.shape) + 64)
    return all(
        float(np.max(np.abs(dagger(side) @ side - one), initial=0.0)) <= bound for side in (factors.U, factors.V)
    )
