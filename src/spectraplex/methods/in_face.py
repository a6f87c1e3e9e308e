"""In-face conditional gradient: one leading eigenvector a step, and the best use of it and of all atoms before it.

    v ← EV(−∇f(X));   X ← X + η (vvᴴ − X), exact line search on [0, 1]                  toward: the one large problem
    Z = P M Qᴴ with P, Q orthonormal bases of what the atoms span, v among them         (P = Q where Z is Hermitian)
    then a few moves, from the left and from the right in turn:
    p ← the leading left singular vector of (I − PPᴴ) ∇f Q Mᴴ;   P ← [P, p]             the face turns
    M' ← the nearest feasible matrix to M − Pᴴ∇f Q / L                                  away, pairwise, drop in one
    M ← M + s (M' − M), exact line search on [0, 1];   L ← the curvature met along M' − M
    and last: atoms ← the singular vectors of M.

A move costs one block product ∇f Q with the atoms, which the greedy methods spend on finding the worst one; the rest
is as small as M. The matrices P M Qᴴ of the domain are a smaller copy of it, so M' is a small projection. It minimises
⟨∇f, Z'⟩ + L/2‖Z' − Z‖² over the face: the rank-one-regularised move, made with all atoms at once and with the curvature
that was met in place of β (Barzilai and Borwein's step size). It cuts off the atoms that are not needed, so there are
never many more than the rank of the optimum. Turning by p is what the regulariser does for one atom, which strays from
x along ∇f x: of all ways to turn the face the one along which f falls fastest, read off the block product.

A step is never worse than conditional gradient's own with the same v and exact line search, because it begins with that
and all that follows only descends: f − f* = O(β/t) whatever the face does. Freund, Grigas and Mazumder's in-face
directions have their guarantee for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..checks import whole
from ..domains.protocol import Domain, Projecting
from ..domains.sets import NuclearBall, Spectrahedron, TraceBall
from ..matrices.factors import Rectangular, Symmetric
from ..matrices.operators import Operator
from ..places.numpy import EPS, Array, dagger, inner, norms, size_one
from ..places.protocol import Block, Place
from ..problem import Point, Problem, Step
from .oracle import base, begin, find

_SHARE = 0.5  # accuracy asked of the eigenvector, as a share of what it gains: the face makes up for a loose one
_FAR = 1e3  # where no curvature was met: a move of this many times the domain's size is as good as an infinite one


@dataclass(frozen=True, eq=False)
class InFaceMemory:
    guess: Block
    curvature: float


@dataclass(frozen=True)
class InFace:
    """One leading eigenvector per step, hardly more atoms than the optimum's rank, no constant needed.

    Parameters
    ----------
    moves : in-face moves after each eigenvector, one block product with the atoms each.
    turns : directions by which a move turns the face; more are faster near an optimum of high rank, and cost little.
    """

    moves: int = 2
    turns: int = 1
    Memory: ClassVar[type] = InFaceMemory

    def __post_init__(self) -> None:
        whole("InFace", "moves", self.moves)
        whole("InFace", "turns", self.turns, least=0)

    def require(self, problem: Problem) -> None:
        """Refuse a penalty and domains of others: their faces need not be smaller copies of a domain."""
        if not isinstance(problem.domain, Spectrahedron | TraceBall | NuclearBall):
            raise ValueError(
                "InFace needs a spectrahedron or a ball; for a penalised problem use 'hybrid' or 'pairwise'."
            )

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, InFaceMemory, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, InFaceMemory(guess, 0.0), step

    def step(
        self, problem: Problem, point: Point, memory: InFaceMemory, rng: np.random.Generator
    ) -> tuple[Point, InFaceMemory, Step]:
        descent, here = problem.descent(point), base(problem, point)
        found = find(descent, here, rng, memory.guess, lambda value: _SHARE * max(value - here, 0.0))
        v = found.vector
        dz = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
        eta = problem.curve(point, dz).minimize(1.0)
        toward = problem.ahead(point, point.atoms.blend(v, eta), dz, eta)
        new, curvature, products = self._within(problem, toward, memory.curvature)
        return new, InFaceMemory(v, curvature), Step("toward", eta, descent.products + products, found.gap)

    def _within(self, problem: Problem, point: Point, curvature: float) -> tuple[Point, float, float]:
        """The moves on the face of the atoms; also the curvature met last, and the products spent."""
        objective, domain, place, products = problem.objective, problem.domain, problem.place, 0.0
        scale = problem.lifted.corner.scale
        U, s, V = domain.lower(point.atoms).triple()
        if s.size == 0:
            return point, curvature, products
        P, left = _span(place, U)
        Q, right = (P, left) if domain.hermitian else _span(place, V)
        M, flipped = (left * s) @ dagger(right), False
        for _ in range(self.moves):
            times, cost = _times(place, objective.gradient(point.slope), domain, flipped)
            image = times(Q)
            products += cost * place.width(Q)
            G = place.gram(P, image)
            turned = _turn(place, P, M, image, G, self.turns)
            more = 0 if turned is None else place.width(turned)
            if turned is not None and more:
                P, M = place.join(P, turned), np.pad(M, ((0, more), (0, 0)))
                G = np.concatenate([G, place.gram(turned, image)])
                if domain.hermitian:  # both sides are one: they turn together
                    Q, M = P, np.pad(M, ((0, 0), (0, more)))
                    G = np.concatenate([G, place.gram(P, times(turned))], axis=1)
                    products += cost * more
            steepness = float(norms(G.reshape(-1, 1))[0])
            if steepness == 0.0:
                break
            curvature = max(curvature, steepness / (_FAR * scale), 1e-290 * max(1.0, steepness))
            D = _copy(domain, M.shape).prox(M - G / curvature, 1.0).dense() - M
            moved = place.times(P, D)
            sides = (Q, moved) if flipped else (moved, Q)
            dz = objective.measure(sides[0], np.ones(D.shape[1]), sides[1])
            curve = objective.along(point.image, dz)
            size = curve.minimize(1.0)
            new = problem.ahead(point, point.atoms, dz, size)
            if size == 0.0 or new.value > point.value:  # at rounding level: there is nothing left to gain here
                break
            M, point = M + size * D, new
            D = D / scale  # at size one: squares may leave the range of floating point
            curvature = curve.curvature(size) / scale / max(inner(D, D), 1e-290) / scale
            if not domain.hermitian:
                P, M, Q, flipped = Q, dagger(M), P, not flipped
        if flipped:
            P, M, Q = Q, dagger(M), P
        return replace(point, atoms=domain.raised(_decomposed(place, domain, P, M, Q))), curvature, products


def _span(place: Place, block: Block) -> tuple[Block, Array]:
    """An orthonormal basis P of the columns, and Pᴴ·block.

    As a rule all columns but the newest are orthonormal already, because the step before left them so.
    """
    k = place.width(block) - 1
    old, new = place.columns(block, slice(0, k)), place.columns(block, slice(k, k + 1))
    if k == 0 or np.abs(place.gram(old, old) - np.eye(k)).max() > 1e-13:
        P = place.orthonormal(block)  # a start may have any number of dependent atoms
        return P, place.gram(P, block)
    outside = place.orthonormal(new, old)
    P = place.join(old, outside)
    return P, np.concatenate([np.eye(place.width(P), k), place.gram(P, new)], axis=1)


def _times(place: Place, gradient: Operator, domain: Domain, flipped: bool) -> tuple[Callable[[Block], Block], float]:
    """How ∇f (∇fᴴ when flipped) multiplies a block, and the products a column costs."""
    if not domain.hermitian:
        return (gradient.rmatmat if flipped else gradient.matmat), 0.5
    if gradient.hermitian:
        return gradient.matmat, 1.0
    return (lambda V: place.blend(0.5, gradient.matmat(V), 0.5, gradient.rmatmat(V))), 1.0


def _turn(place: Place, P: Block, M: Array, image: Block, inside: Array, turns: int) -> Block | None:
    """The leading left singular vectors of (image − P·inside)·Mᴴ, by the eigenvectors of its small Gram matrix."""
    if not turns:
        return None
    unit, size = size_one(place.largest(image)), size_one(float(np.abs(M).max(initial=0.0)))
    image, inside, M = place.scale(image, unit), inside * unit, M * size  # at size one: below are fourth powers
    outside = place.gram(image, image) - dagger(inside) @ inside
    _, vectors = np.linalg.eigh(M @ outside @ dagger(M))
    return place.orthonormal(place.times(image, dagger(M) @ vectors[:, -turns:]), P)


def _copy(domain: Domain, shape: tuple[int, ...]) -> Projecting:
    """The same set among smaller matrices."""
    if isinstance(domain, NuclearBall):
        return replace(domain, shape=(shape[0], shape[1]))
    assert isinstance(domain, Spectrahedron | TraceBall)  # penalties were refused
    return replace(domain, d=shape[0])


def _decomposed(place: Place, domain: Domain, P: Block, M: Array, Q: Block) -> Symmetric | Rectangular:
    """P M Qᴴ by its singular vectors, those at rounding level left out."""
    if domain.hermitian:
        w, u = np.linalg.eigh(0.5 * (M + dagger(M)))
        kept = w > 4 * EPS * w[-1]
        return Symmetric(place.times(P, u[:, kept]), w[kept], place)
    u, w, vh = np.linalg.svd(M, full_matrices=False)
    kept = w > 4 * EPS * w[0]
    return Rectangular(place.times(P, u[:, kept]), w[kept], place.times(Q, dagger(vh)[:, kept]), place)
