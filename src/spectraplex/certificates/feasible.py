"""A matrix beside its set: what lies slightly outside is scaled in, and how far outside it lay.

The lengths of columns are measured as exactly as they can be: what is inside up to rounding stays as it is.
"""

from __future__ import annotations

import math

import numpy as np

from ..domains.sets import Spectrahedron
from ..domains.spectra import capped
from ..matrices.factors import Factors, Rectangular, Symmetric, thin
from ..places.here import HERE
from ..places.numpy import EPS, Array, dagger
from ..places.protocol import Block, Place
from ..problem import Problem
from ..rounding import norm


def scaled_in_symmetric(owner: str, problem: Problem, X: Symmetric) -> tuple[Factors, float]:
    """Eigenvalues cut off at zero and scaled to the trace; exact weights stay as they are."""
    domain = problem.domain
    penalty, exact = problem.lifted.penalty, isinstance(domain, Spectrahedron)
    place, U, s = X.place, X.vectors, X.weights
    norms = lengths(place, U)
    if not s.size or s.min() >= 0:
        kept = (norms > 0) & (s > 0)
        factors = Symmetric(_unit(place, U, norms, kept), (s * norms**2)[kept], place)
        total = factors.trace
        if penalty or (total <= domain.size * (1 + _close(s.size)) and not exact):
            return factors, 0.0
        if total == 0:
            raise ValueError(f"{owner}: X is zero, but {domain} asks for a trace of {domain.size:g}.")
        scale = domain.size / total
        if abs(scale - 1.0) <= _close(s.size):
            return factors, 0.0
        outside = abs(1.0 - scale) * norm(_small(factors))
        return Symmetric(factors.vectors, scale * factors.weights, place), outside
    Q, R = thin(place, U, s.size)
    values, turn = np.linalg.eigh((R * s) @ dagger(R))
    inside = np.maximum(values, 0.0) if exact or penalty else capped(values, domain.size)
    if exact and inside.sum() > 0:
        inside = inside * (domain.size / inside.sum())
    return Symmetric(place.from_host(turn) if Q is None else place.times(Q, turn), inside, place), norm(values - inside)


def scale_of(problem: Problem, factors: Factors) -> float:
    """What being outside is measured beside: the size of the set, or with a penalty that of X itself."""
    if problem.lifted.penalty:
        return float(np.abs(factors.triple()[1]).sum())
    return problem.domain.size


def _close(terms: int) -> float:
    """A sum of so many weights, and the norms of their unit vectors, are known to this share: no scaling below it."""
    return EPS * (terms + 16)


def beyond(problem: Problem, size: float) -> int:
    """By how many roundings X lies outside; it is not scaled for so few, but its value may be less than feasible."""
    if problem.lifted.penalty:
        return 0
    off = size / problem.domain.size - 1.0
    off = abs(off) if isinstance(problem.domain, Spectrahedron) else max(off, 0.0)
    return math.ceil(min(off, 1e-6) / EPS)


def lengths(place: Place, U: Block) -> Array:
    """Of the columns, each summed in pairs: right to a few units in the last place, however long they are."""
    return np.linalg.norm(np.ascontiguousarray(U.T), axis=1) if place is HERE else place.norms(U)


def _unit(place: Place, U: Block, norms: Array, kept: Array) -> Block:
    return place.divide(U if kept.all() else place.columns(U, kept), norms[kept])


def _small(factors: Symmetric) -> Array:
    """A small matrix with the same singular values as X."""
    Y = factors.place.scale(factors.vectors, np.sqrt(factors.weights))
    return factors.place.gram(Y, Y)


def scaled_in_ball(problem: Problem, X: Factors) -> tuple[Factors, float]:
    """Scaled to the radius where the nuclear norm is larger; with a penalty nothing is too large."""
    place, (U, s, V) = X.place, X.triple()
    u, v = lengths(place, U), lengths(place, V)
    sizes = u * np.abs(s) * v
    if problem.lifted.penalty:
        # what is charged is Σs, so the columns are to be unit, and orthogonal if somebody else's are not
        kept = sizes > 0
        right = place.scale(_unit(place, V, v, kept), np.sign(s[kept]))
        factors = Rectangular(_unit(place, U, u, kept), sizes[kept], right, place)
        return (factors if _orthonormal(factors) else Rectangular(*factors.svd(), place)), 0.0
    radius, factors = problem.domain.size, Rectangular(U, s, V, place)
    if sizes.sum() <= radius * (1 + _close(s.size)):
        return factors, 0.0
    P, values, Q = factors.svd()
    nuclear = float(values.sum())
    if nuclear <= radius * (1 + _close(s.size)):
        return Rectangular(P, values, Q, place), 0.0
    return Rectangular(P, values * (radius / nuclear), Q, place), (1.0 - radius / nuclear) * norm(values)


def _orthonormal(factors: Rectangular) -> bool:
    """Whether Σs is the nuclear norm, up to rounding."""
    k = factors.s.size
    if k > min(factors.shape):
        return False
    one = np.eye(k)
    bound = EPS * (sum(factors.shape) + 64)
    return all(
        float(np.max(np.abs(factors.place.gram(side, side) - one), initial=0.0)) <= bound
        for side in (factors.U, factors.V)
    )
