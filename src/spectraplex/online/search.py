"""One leading eigenvector an arrival, from a small space that is carried from arrival to arrival.

The operator is M = −∇Φ = −(S + μ·W), S the sum of all gradients and W = X − X₁ of low rank. The search keeps a few
orthonormal columns V with P = S·V and Q = W·V. An arrival changes P by its own gradient times V, a step changes Q by a
rank-one, which costs next to nothing: so a Rayleigh-Ritz step in the space needs no product at all, at any μ. Each
extension needs one product with S and one with Sᴴ (none with Sᴴ on Hermitian sets). Written by hand because
``eigen.leading`` begins each search anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..matrices.operators import Operator, Sparse
from ..places.numpy import Array, contiguous, dagger, orthonormal
from .ground import Ground
from .total import Total

_EXACT = 2_500  # entries of a matrix up to which it is decomposed whole
_WIDTH, _KEPT = 14, 6  # columns of the space, and those that a restart keeps
_MOST = 40  # extensions for one arrival
# An extension that gained less than this share of the error that is allowed is the last: what is left is a few times
# that. With two sides it multiplies by M and by Mᴴ, and gets twice as far.
_LITTLE = {True: 0.08, False: 0.5}
#: Arrivals after which P is multiplied anew: its updates round.
AFRESH = 512


@dataclass(frozen=True, eq=False)
class Space:
    """Orthonormal columns V, P = S·V and Q = W·V."""

    V: Array
    P: Array
    Q: Array

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Space:
        m, n = shape
        return cls(np.empty((n, 0)), np.empty((m, 0)), np.empty((m, 0)))

    def turned(self, kept: Array) -> Space:
        return Space(self.V @ kept, self.P @ kept, self.Q @ kept)

    def joined(self, V: Array, P: Array, Q: Array) -> Space:
        each = ((self.V, V), (self.P, P), (self.Q, Q))
        return Space(*(np.concatenate(pair, axis=1) for pair in each))

    def plus(self, gradient: Operator, hermitian: bool) -> Space:
        """After one more gradient joined S."""
        if not self.V.shape[1]:
            return self
        if isinstance(gradient, Sparse) and not hermitian:
            return Space(self.V, _added(self.P, gradient, self.V), self.Q)
        new = gradient.matmat(self.V)
        if hermitian:
            new = 0.5 * (new + gradient.rmatmat(self.V))
        return Space(self.V, self.P + new, self.Q)


def _added(P: Array, gradient: Sparse, V: Array) -> Array:
    """P + G·V in the rows that G has, which are few: a product of the whole pattern looks at every row."""
    rows, terms = gradient.pattern.rows, gradient.data[:, None] * V[gradient.pattern.indices]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    out = P.astype(np.result_type(P, terms))
    out[rows[starts]] += np.add.reduceat(terms, starts, axis=0)
    return out


@dataclass(frozen=True, eq=False)
class Lead:
    """Unit u and v with the largest Re uᴴMv that was found, that number, and S·v (its Hermitian part's)."""

    u: Array
    v: Array
    value: float
    image: Array
    space: Space


@dataclass(frozen=True, eq=False)
class Mover:
    """M = −(S + μ·(W − less)): W·A and Wᴴ·A are functions, ``less`` is nothing or (weight, u, v) of one atom."""

    total: Total
    ground: Ground
    mu: float
    times: Callable[[Array], Array]
    adjoint_times: Callable[[Array], Array]
    less: tuple[float, Array, Array] | None = None

    @property
    def hermitian(self) -> bool:
        return self.ground.hermitian

    def sum_times(self, V: Array) -> Array:
        """S·V, on Hermitian sets its Hermitian part."""
        out = self.total.times(V)
        return 0.5 * (out + self.total.adjoint_times(V)) if self.hermitian else out

    def of(self, space: Space) -> Array:
        """M·V."""
        out = space.P + self.mu * space.Q
        if self.less is not None:
            weight, u, v = self.less
            out = out - (self.mu * weight) * u[:, None] * (v.conj() @ space.V)
        return -out

    def back(self, u: Array) -> Array:
        """Mᴴ·u."""
        out = self.total.adjoint_times(u) + self.mu * self.adjoint_times(u)
        if self.less is not None:
            weight, left, right = self.less
            out = out - (self.mu * weight) * right[:, None] * (left.conj() @ u)
        return -out

    def more(self, space: Space, columns: Array) -> Space:
        """With more columns."""
        return space.joined(columns, self.sum_times(columns), self.times(columns))


def searched(shape: tuple[int, int]) -> bool:
    """Whether a matrix is too large to be decomposed whole."""
    return shape[0] * shape[1] > _EXACT


def lead(mover: Mover, space: Space, beat: float, share: float, rng: np.random.Generator, afresh: bool) -> Lead:
    """A vector that promises, over ``beat``, at least 1 − share of what the best one does.

    Where the matrix is decomposed whole this is so but for rounding. Elsewhere it rests on how much the last extension
    gained, as it does in every Krylov search that stops early: a good estimate, and no proof.
    """
    n = mover.ground.shape[1]
    if not searched(mover.ground.shape):
        return _decomposed(mover)
    space = _seeded(mover, space, rng, afresh)
    before, size, little = -math.inf, mover.ground.size, _LITTLE[mover.hermitian]
    for _ in range(_MOST):
        images = mover.of(space)
        values, turn = _ritz(mover, space.V, images)
        c = contiguous(turn[:, :1])
        v, y, top = space.V @ c, images @ c, float(values[0])
        u = v if mover.hermitian else y / (float(np.linalg.norm(y)) or 1.0)
        image = (space.P @ c)[:, 0]
        if size * (top - before) <= little * share * (size * top - beat) and top > 0.0:
            break
        before = top
        rest = y - top * v if mover.hermitian else mover.back(u) - top * v
        least = 1e-12 * max(abs(top), float(np.linalg.norm(rest)))
        rest = rest - space.V @ (dagger(space.V) @ rest)
        rest = rest - space.V @ (dagger(space.V) @ rest)
        left = float(np.linalg.norm(rest))
        if left <= least or space.V.shape[1] >= n:
            break
        if space.V.shape[1] >= _WIDTH:
            space = space.turned(contiguous(turn[:, :_KEPT]))
        space = mover.more(space, rest / left)
    return Lead(u[:, 0], v[:, 0], top, image, space)


def _ritz(mover: Mover, V: Array, images: Array) -> tuple[Array, Array]:
    """Eigenvalues of VᴴMV, or singular values of M·V, the largest first, with the vectors of the small matrix."""
    if mover.hermitian:
        small = dagger(V) @ images
        values, turn = np.linalg.eigh(0.5 * (small + dagger(small)))
        return values[::-1], turn[:, ::-1]
    values, turn = np.linalg.eigh(dagger(images) @ images)
    return np.sqrt(np.maximum(values[::-1], 0.0)), turn[:, ::-1]


def _seeded(mover: Mover, space: Space, rng: np.random.Generator, afresh: bool) -> Space:
    """With a random direction mixed in whenever it is full: what the space cannot see has to be found by chance."""
    n, width = mover.ground.shape[1], space.V.shape[1]
    if width and not afresh and width < _WIDTH:
        return space
    if width >= _WIDTH:
        space = space.turned(contiguous(_ritz(mover, space.V, mover.of(space))[1][:, :_KEPT]))
    kind = np.result_type(space.V, mover.total.dtype)
    more = rng.standard_normal((n, 1 if width else min(4, n))).astype(kind)
    if afresh or not width:
        V = np.linalg.qr(np.concatenate([space.V, more], axis=1))[0]
        return mover.more(Space.none(mover.ground.shape), V)
    more = orthonormal(more, space.V)
    return mover.more(space, more) if more.shape[1] else space


def _decomposed(mover: Mover) -> Lead:
    S, eye = mover.total.dense(), np.eye(mover.ground.shape[1])
    S = 0.5 * (S + dagger(S)) if mover.hermitian else S
    M = mover.of(Space(eye, S, mover.times(eye)))
    if mover.hermitian:
        values, vectors = np.linalg.eigh(0.5 * (M + dagger(M)))
        u, top = contiguous(vectors[:, -1:]), float(values[-1])
        v = u
    else:
        U, s, Vh = np.linalg.svd(M, full_matrices=False)
        u, v, top = contiguous(U[:, :1]), contiguous(dagger(Vh)[:, :1]), float(s[0])
    return Lead(u[:, 0], v[:, 0], top, (S @ v)[:, 0], Space.none(mover.ground.shape))
