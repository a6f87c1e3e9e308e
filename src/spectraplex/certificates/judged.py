"""A matrix from anywhere, looked at afresh: is it feasible, what is it worth, how exactly is that known, its slope.

``solve`` looks at the matrix it returns, ``certify`` at any, ``verify`` at the one it is given: all three in this way,
so that they see the same up to the rounding that is stated.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import as_array
from ..fingerprint import factors_fingerprint, fingerprint
from ..losses.curves import NotFinite
from ..matrices.factors import Factors, Rectangular, Symmetric, as_factors
from ..places.here import HERE
from ..places.numpy import EPS, Array, dagger
from ..problem import Problem
from ..result import Result, load
from ..rounding import of_image, of_value
from .dual import Candidate
from .feasible import beyond, lengths, scale_of, scaled_in_ball, scaled_in_symmetric
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
    objective, lifted, place = problem.objective, problem.lifted, problem.place
    factors = factors.at(place)
    U, s, V = factors.triple()
    one = isinstance(factors, Symmetric)
    U = place.cast(U, np.dtype(problem.dtype))
    V = U if one else place.cast(V, np.dtype(problem.dtype))
    image = objective.measure(U, s, V)
    loss, slope = objective.evaluate(image)
    price = lifted.price(factors)
    value = float(loss) + price
    if not np.isfinite(value):
        raise NotFinite(f"the objective is {value}")
    left = lengths(place, U)
    size = float((np.abs(s) * left * (left if one else lengths(place, V))).sum())
    terms = s.size + _LOOSE + beyond(problem, size)
    rounding = (
        of_value(problem.facts, float(loss), slope, size, terms)
        + EPS * (s.size + 8 + _LOOSE) * abs(price)
        + EPS * abs(value)
    )
    candidate = Candidate(value, slope, lifted.whole(image), factors)
    if problem.facts.rounding is None and problem.facts.bend is None:
        blur = of_image(problem.facts, size, terms)
        rounding += 0.5 * met(problem, candidate, blur) * blur * blur
    return Judged(value, rounding, outside, mark or factors_fingerprint(factors), factors, candidate)


# ------------------------------------------------------------------------------------------------- candidates


def inside(owner: str, problem: Problem, X: Any) -> Factors:
    """Feasible factors of X where the problem lives; what is no matrix of the domain is refused."""
    return _inside(owner, problem, X)[0].at(problem.place)


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
    X = as_array(owner, "X", X) if isinstance(X, list | np.matrix) else X
    if isinstance(X, np.ndarray):
        dense, X = X, _of_dense(owner, problem, X)
        mark = fingerprint(dense)
    else:
        X = as_factors(X, f"{owner}: X")
        mark = factors_fingerprint(X)
    if X.place is HERE:
        X = _checked(owner, problem, X)
    X = _double(X)
    if hermitian and not isinstance(X, Symmetric):
        raise ValueError(
            f"{owner}: this domain has Hermitian matrices; pass (vectors, weights) or a dense Hermitian matrix."
        )
    inside, outside = scaled_in_symmetric(owner, problem, X) if hermitian else scaled_in_ball(problem, X)
    if not outside <= max(_SLIGHTLY * scale_of(problem, inside), 2.0**-1074):
        raise ValueError(
            f"{owner}: X lies {outside:.3g} outside {problem.domain} (in Frobenius norm), more than rounding explains; "
            "project it first."
        )
    return inside, outside, mark


def _double(X: Factors) -> Factors:
    """Atoms that were kept in single precision, as doubles: they are scaled to unit vectors before they are judged."""
    place, (U, s, V) = X.place, X.triple()
    kinds = [np.result_type(place.kind(each), np.float64) for each in (U, V)]
    if kinds == [place.kind(each) for each in (U, V)]:
        return X
    left, right = place.cast(U, kinds[0]), place.cast(V, kinds[1])
    return Symmetric(left, s, place) if isinstance(X, Symmetric) else Rectangular(left, s, right, place)


def _checked(owner: str, problem: Problem, X: Factors) -> Factors:
    """Factors from anywhere: the right shapes, finite, real weights, of the problem's kind."""
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
    return Symmetric(U, s) if isinstance(X, Symmetric) else Rectangular(U, s, V)


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
