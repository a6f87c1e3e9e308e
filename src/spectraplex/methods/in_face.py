"""In-face conditional gradient: one leading eigenvector a step, and the best use of it and of all atoms before it.

    v ← EV(−∇f(X));   X ← X + η (vvᴴ − X), exact line search on [0, 1]                    the only new direction
    Z = P M Qᴴ, P and Q orthonormal bases of what the atoms span, v among them           (P = Q where Z is Hermitian)
    M' ← the nearest feasible matrix to M − Pᴴ∇f(Z)Q / L                                 away, pairwise, drop: all at once
    M ← M + s (M' − M), exact line search on [0, 1];   L ← the curvature met along M' − M
    atoms ← the singular vectors of M

The matrices P M Qᴴ of the domain are a smaller copy of it, so M' is one small projection; what it costs is one block
product with the atoms, which the greedy methods spend on finding the worst one. The projection minimises
⟨∇f, Z'⟩ + L/2‖Z' − Z‖² over all Z' of the face: the rank-one-regularised move, made with every atom at once and with
the curvature that was met instead of β. It cuts off the atoms that are not needed, so there are never many more than
the rank of the optimum, and its step size is Barzilai and Borwein's ("spectral projected gradient").

The step is never worse than conditional gradient's own with exact line search, because it starts with that and what
follows only descends: f − f* ≤ 4β/(t + 2), whatever the face does. (Freund, Grigas & Mazumder's in-face directions
have the same guarantee for the same reason.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..arrays import EPS, Array, dagger, inner, orthonormal
from ..domains import Domain, NuclearBall
from ..factors import Rectangular, Symmetric
from ..problem import Point, Problem, Step
from .oracle import base, begin, find

_SHARE = 0.5  # accuracy asked of the eigenvector, as a share of what it gains: the face makes up for a loose one
_FAR = 1e3  # a move of this many times the size of the domain is as good as an infinite one


@dataclass(frozen=True, eq=False)
class InFaceMemory:
    guess: Array
    curvature: float


@dataclass(frozen=True)
class InFace:
    """One leading eigenvector per step, atoms as few as the optimum's rank; no constant needed, all domains and losses.

    Parameters
    ----------
    moves : in-face moves after each eigenvector, one block product with the atoms each.
    """

    moves: int = 1
    Memory: ClassVar[type] = InFaceMemory

    def __post_init__(self) -> None:
        if isinstance(self.moves, bool) or not isinstance(self.moves, int) or self.moves < 1:
            raise ValueError(f"InFace: moves must be a positive whole number, got {self.moves!r}.")

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, Any, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, InFaceMemory(guess, 0.0), step

    def step(
        self, problem: Problem, point: Point, memory: InFaceMemory, rng: np.random.Generator
    ) -> tuple[Point, Any, Step]:
        descent, here = problem.descent(point), base(problem, point)
        found = find(descent, here, rng, memory.guess, lambda value: _SHARE * max(value - here, 0.0))
        v = found.vector
        dz = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
        eta = problem.curve(point, dz).minimize(1.0)
        toward = problem.ahead(point, point.atoms.blend(v, eta), dz, eta)
        new, curvature, products = _correct(problem, toward, memory.curvature, self.moves)
        return new, InFaceMemory(v, curvature), Step("toward", eta, descent.products + products, found.gap)


def _correct(problem: Problem, point: Point, curvature: float, moves: int) -> tuple[Point, float, float]:
    """Projected gradient on the face of the atoms; the new point, the curvature met last and the products spent."""
    objective, domain = problem.objective, problem.domain
    U, s, V = domain.lower(point.atoms).triple()
    if s.size == 0:
        return point, curvature, 0.0
    P, left = _span(U)
    Q, right = (P, left) if domain.hermitian else _span(V)
    M = (left * s) @ dagger(right)
    small, best, products = _copy(domain, M.shape), point, 0.0
    for _ in range(moves):
        gradient = objective.gradient(best.slope)
        G = dagger(P) @ gradient.matmat(Q)
        products += Q.shape[1] * (1.0 if gradient.hermitian else 0.5)
        size = float(np.linalg.norm(G))
        if size == 0.0:
            break
        curvature = max(curvature, size / (_FAR * problem.lifted.scale))
        found = small.project(M - G / curvature)
        D = found.dense() - M
        dz = objective.measure(P @ D, np.ones(Q.shape[1]), Q)
        curve = objective.along(best.image, dz)
        size = curve.minimize(1.0)
        new = problem.ahead(best, best.atoms, dz, size)
        if size == 0.0 or new.value > best.value:  # at rounding level: there is nothing left to gain here
            break
        M, best, curvature = M + size * D, new, curve.curvature(size) / inner(D, D)
    return replace(best, atoms=domain.raised(_decomposed(domain, P, M, Q))), curvature, products


def _span(block: Array) -> tuple[Array, Array]:
    """An orthonormal basis P of the columns, and Pᴴ·block.

    As a rule all columns but the newest are orthonormal already, because the step before left them so.
    """
    old, new = block[:, :-1], block[:, -1:]
    one = np.eye(block.shape[1] - 1)
    if one.size == 0 or np.abs(dagger(old) @ old - one).max() > 1e-13:
        P = orthonormal(block)
        return P, dagger(P) @ block
    P = np.concatenate([old, orthonormal(new, old)], axis=1)
    return P, np.concatenate([np.eye(P.shape[1], one.shape[0]), dagger(P) @ new], axis=1)


def _copy(domain: Domain, shape: tuple[int, ...]) -> Domain:
    """The same set among smaller matrices."""
    if isinstance(domain, NuclearBall):
        return replace(domain, shape=(shape[0], shape[1]))
    return replace(domain, d=shape[0])


def _decomposed(domain: Domain, P: Array, M: Array, Q: Array) -> Symmetric | Rectangular:
    """P M Qᴴ by its singular vectors, those at rounding level left out."""
    if domain.hermitian:
        w, u = np.linalg.eigh(0.5 * (M + dagger(M)))
        kept = w > 4 * EPS * w[-1]
        return Symmetric(P @ u[:, kept], w[kept])
    u, w, vh = np.linalg.svd(M, full_matrices=False)
    kept = w > 4 * EPS * w[0]
    return Rectangular(P @ u[:, kept], w[kept], Q @ dagger(vh)[:, kept])
