"""Two non-smooth problems for the experiment ``projection``, each a sum of kinks over one of the paper's sets.

    f(X) = w Σᵢ max { p·uᵢ(X) : low ≤ p ≤ 1 },   uᵢ(X) = offsetᵢ + ⟨Aᵢ, X⟩

low = −1 makes |uᵢ| (the ℓ1 loss), low = 0 makes max(0, uᵢ) (the hinge). Any multipliers p in that interval bound f from
below by a linear function, so f* ≥ w Σ pᵢ offsetᵢ + min over the set of ⟨w Σ pᵢAᵢ, X⟩: one eigenvalue, bounded from the
safe side. Good multipliers come from the smoothed function w Σ max {p·uᵢ − μp²/2} (Huber's, for ℓ1), which lies at
most wNμ/2 below f and is solved by the library's fast method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...domains.sets import NuclearBall, Spectrahedron
from ...eigen.bounds import upper_bound
from ...matrices.factors import Factors, Rectangular, Symmetric
from ...objectives import Smooth
from ...places.numpy import Array
from ...problem import Problem
from ...solve import solve
from ...stop import Stop
from ..data import ratings

#: What a task's ``where`` says of the pairs: the set comes with scikit-learn.
DIGITS = "scikit-learn"
_MARGIN = 1.0  # the hinge wants pairs of one class below _THRESHOLD − _MARGIN, others above _THRESHOLD + _MARGIN
_THRESHOLD = 2.0


@dataclass(frozen=True, eq=False)
class Kinked:
    """A non-smooth f over a domain; ``measure`` is the linear part of u, ``adjoint`` its transpose."""

    domain: NuclearBall | Spectrahedron
    offset: Array
    low: float
    weight: float
    measure: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]

    def value(self, u: Array) -> float:
        return self.weight * float(np.maximum(u, self.low * u).sum())

    def subgradient(self, u: Array) -> Array:
        """Zero is the multiplier chosen at a kink: it lies in every interval."""
        return self.weight * self.adjoint(np.where(u > 0, 1.0, np.where(u < 0, self.low, 0.0)))

    def at(self, X: Array) -> Array:
        return self.offset + self.measure(X)

    def start(self) -> Factors:
        """A vertex, as in the paper: the rank one that the subgradient at the centre points to."""
        if isinstance(self.domain, NuclearBall):
            U, _, Vh = np.linalg.svd(-self.subgradient(self.offset))
            return Rectangular(U[:, :1], np.array([self.domain.radius]), Vh[:1].T)
        centre = (self.domain.trace / self.domain.d) * np.eye(self.domain.d)
        _, vectors = np.linalg.eigh(-self.subgradient(self.at(centre)))
        return Symmetric(vectors[:, -1:], np.array([self.domain.trace]))

    # --------------------------------------------------------------------------------------- how low can it be at all

    def smoothed(self, mu: float) -> Problem:
        """The same with rounded kinks: never above f, at most wNμ/2 below."""

        def value_and_gradient(X: Array) -> tuple[float, Array]:
            u = self.at(X)
            p = np.clip(u / mu, self.low, 1.0)
            return self.weight * float((p * u - 0.5 * mu * p * p).sum()), self.weight * self.adjoint(p)

        return Problem(Smooth(value_and_gradient, self.domain.shape), self.domain)

    def dual_bound(self, p: Array) -> float:
        """A proven lower bound on f* from multipliers p (cut to their interval)."""
        p = np.clip(p, self.low, 1.0)
        problem = self.smoothed(1.0)  # only its set and its products matter
        top = upper_bound(problem.lifted.pull(self.weight * self.adjoint(p)), kind="proven").value
        terms = self.weight * p * self.offset
        return float(terms.sum()) - top - 1e-13 * float(np.abs(terms).sum())

    def bracket(self, mu: float, relative_gap: float, max_steps: int) -> dict[str, Any]:
        """f* between ``lower`` (proven) and ``upper`` (the value of a point of the set)."""
        result = solve(self.smoothed(mu), "hybrid", Stop(relative_gap=relative_gap, max_steps=max_steps), seed=0)
        u = self.at(result.X.dense())
        return {
            "mu": mu,
            "smoothed_lower": result.lower_bound,
            "dual_lower": self.dual_bound(u / mu),
            "upper": self.value(u),
            "rank": rank_of(result.X),
            "seconds": result.seconds,
        }


@lru_cache(maxsize=1)
def kinked(problem: str, where: str, set_name: str, size: int, radius: float) -> Kinked:
    """The problem that a task names: "l1" on a corner of ratings, "hinge" on pairs of digits."""
    return _ratings(set_name, where, size, radius) if problem == "l1" else _pairs(size, radius)


def _ratings(name: str, where: str, size: int, radius: float) -> Kinked:
    """Σ |Z_ij − r_ij| over the nuclear-norm ball; the most active users × the most rated films, median taken off."""
    rows, cols, values, shape = ratings(name, where)
    users, films = _busiest(rows, shape[0], size), _busiest(cols, shape[1], size)
    kept = (users[rows] >= 0) & (films[cols] >= 0)
    rows, cols, values = users[rows[kept]], films[cols[kept]], values[kept]
    corner = (int(users.max()) + 1, int(films.max()) + 1)

    def adjoint(p: Array) -> Array:
        matrix = np.zeros(corner)
        matrix[rows, cols] = p
        return matrix

    offset = float(np.median(values)) - values
    return Kinked(NuclearBall(corner, radius), offset, -1.0, 1.0, lambda Z: Z[rows, cols], adjoint)


def _busiest(index: Array, count: int, size: int) -> Array:
    """New numbers 0 … size − 1 for the most frequent ones, −1 for the others."""
    order = np.argsort(-np.bincount(index, minlength=count), kind="stable")[:size]
    place = np.full(count, -1)
    place[order] = np.arange(order.size)
    return place


def _pairs(count: int, trace: float) -> Kinked:
    """A metric for handwritten digits: mean of max(0, 1 ± (eᵀMe − 2)) over differences e, + for pairs of one class."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    pixels = pixels[:, pixels.std(axis=0) > 0] / 16.0  # pixels that never change would take trace for nothing
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, digits.size, (2, 40 * count))
    same = digits[left] == digits[right]
    half = count // 2
    chosen = np.concatenate([np.nonzero(same & (left != right))[0][:half], np.nonzero(~same)[0][: count - half]])
    e = pixels[left[chosen]] - pixels[right[chosen]]
    sign = np.where(same[chosen], 1.0, -1.0)
    return Kinked(
        Spectrahedron(e.shape[1], trace),
        _MARGIN - sign * _THRESHOLD,
        0.0,
        1.0 / chosen.size,
        lambda M: sign * np.einsum("nd,nd->n", e @ M, e),
        lambda p: (e.T * (sign * p)) @ e,
    )


def rank_of(X: Factors) -> int:
    """Numerical rank: weights above a millionth of the largest."""
    weights = X.svd()[1] if isinstance(X, Rectangular) else X.eigh()[0]
    return int(np.count_nonzero(weights > 1e-6 * weights.max(initial=0.0)))
