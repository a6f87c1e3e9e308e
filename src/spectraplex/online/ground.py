"""What an online learner has to know of the set it learns on, and X as a mixture of its extreme points."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..domains.sets import NuclearBall, Spectrahedron, TraceBall
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..places.numpy import Array, contiguous, dagger

_LOST = 1e-10  # eigenvalues of a Gram matrix below this share of the largest are lost to rounding


@dataclass(frozen=True)
class Ground:
    """A set with its Frobenius diameter, and how far from its own first point any of its points is (``reach``).

    ``slack`` says that the weights of a mixture may sum to less than one.
    """

    shape: tuple[int, int]
    size: float
    hermitian: bool
    slack: bool
    diameter: float
    reach: float

    @classmethod
    def of(cls, owner: str, domain: Any) -> Ground:
        """The sets that a learner knows; any other is refused."""
        if isinstance(domain, NuclearBall):
            return cls(domain.shape, domain.radius, False, True, 2.0 * domain.radius, domain.radius)
        if isinstance(domain, TraceBall):
            return cls(domain.shape, domain.trace, True, True, math.sqrt(2.0) * domain.trace, domain.trace)
        if isinstance(domain, Spectrahedron):
            wide = math.sqrt(2.0) * domain.trace
            return cls(domain.shape, domain.trace, True, False, wide, wide)
        raise TypeError(
            f"{owner}: the domain must be a NuclearBall, a TraceBall or a Spectrahedron, got {type(domain).__name__}; "
            "a penalty has no diameter, which the learner's steps need."
        )

    def empty(self) -> Mixture:
        m, n = self.shape
        return Mixture(np.empty((m, 0)), np.empty((n, 0)), np.empty(0), self)


class Room:
    """Columns that only grow in number: a mixture with one atom more shares them with the one before."""

    def __init__(self, columns: Array, width: int, kind: Any) -> None:
        self.used = columns.shape[1]
        self.array = np.empty((columns.shape[0], width), kind, order="F")
        self.array[:, : self.used] = columns

    def fits(self, count: int, kind: Any) -> bool:
        """Whether the next column may be written behind the first ``count``: nobody has done so yet."""
        return self.used == count < self.array.shape[1] and np.result_type(self.array, kind) == self.array.dtype

    def append(self, column: Array) -> Array:
        self.array[:, self.used] = column
        self.used += 1
        return self.array[:, : self.used]


@dataclass(frozen=True, eq=False)
class Mixture:
    """size · Σ wᵢ uᵢvᵢᴴ with unit columns, w ≥ 0 and Σw ≤ 1; V equals U on Hermitian sets."""

    U: Array
    V: Array
    w: Array
    ground: Ground
    rooms: tuple[Room, Room] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.w.size)

    def factors(self) -> Factors:
        """What the user gets: without the atoms that have no weight."""
        kept = self.w > 0.0
        U, s, V = self.U[:, kept], self.ground.size * self.w[kept], self.V[:, kept]
        return Symmetric(contiguous(U), s) if self.ground.hermitian else Rectangular(contiguous(U), s, contiguous(V))

    def times(self, A: Array) -> Array:
        """X·A."""
        return np.asarray(self.U @ ((self.ground.size * self.w)[:, None] * (dagger(self.V) @ A)))

    def adjoint_times(self, A: Array) -> Array:
        """Xᴴ·A."""
        return np.asarray(self.V @ ((self.ground.size * self.w)[:, None] * (dagger(self.U) @ A)))

    def with_atom(self, weights: Array, u: Array, v: Array, weight: float) -> Mixture:
        """Other weights, and one atom more."""
        k, rooms = len(self), self.rooms
        if rooms is None or not (rooms[0].fits(k, u.dtype) and rooms[1].fits(k, v.dtype)):
            kind = np.result_type(self.U, self.V, u, v)
            rooms = Room(self.U, 2 * k + 16, kind), Room(self.V, 2 * k + 16, kind)
        w = np.append(weights, weight)
        return Mixture(rooms[0].append(u), rooms[1].append(v), w, self.ground, rooms)

    def inner(self, other: Mixture) -> float:
        """⟨X, Y⟩."""
        left, right = dagger(self.U) @ other.U, dagger(other.V) @ self.V
        return float(self.ground.size**2 * np.real(self.w @ (left * right.T) @ other.w))

    def reach(self) -> float:
        """The distance to the farthest point of the set, which is an extreme one: at most so far.

        ‖size·uvᴴ − X‖² = size² − 2·size·Re uᴴXv + ‖X‖², and Re uᴴXv is at least −σ₁(X), or zero on Hermitian sets.
        """
        if not len(self):
            return self.ground.reach
        size, square = self.ground.size, self.inner(self)
        top = 0.0
        if not self.ground.hermitian:
            left, right = np.linalg.qr(self.U)[1], np.linalg.qr(self.V)[1]
            top = size * float(np.linalg.norm((left * self.w) @ dagger(right), 2))
        far = math.sqrt(size * size + 2.0 * size * top + square)
        return min(far * (1 + 1e-12), self.ground.diameter)

    def joined(self, other: Mixture) -> Mixture:
        U, V = np.column_stack([self.U, other.U]), np.column_stack([self.V, other.V])
        return Mixture(U, V, np.concatenate([self.w, other.w]), self.ground)

    def recompressed(self, most: int) -> tuple[Mixture, float]:
        """The same X in at most so many atoms, and how far it moved (Frobenius norm, but for rounding).

        The least singular values are left out. Where the weights have to keep their sum the others take it up. It goes
        by Gram matrices, a third of the time that two factorisations take; directions below 10⁻⁵ are lost with it, and
        are counted.
        """
        kept = self.w > 0.0
        if not kept.any():
            return self, 0.0
        U, V, w, total = self.U[:, kept], self.V[:, kept], self.w[kept], float(self.w.sum())
        left, right = _root(U), _root(V)
        P, s, Qh = np.linalg.svd((left[0] * w) @ dagger(right[0]))
        count = min(most, int(np.count_nonzero(s > 1e-12 * s[0])))
        U, V = U @ (left[1] @ P[:, :count]), V @ (right[1] @ dagger(Qh)[:, :count])
        if self.ground.hermitian:
            V = U
        sizes = np.linalg.norm(U, axis=0), np.linalg.norm(V, axis=0)
        new = s[:count] * sizes[0] * sizes[1]
        if not self.ground.slack or new.sum() > 1.0:
            new = new * (total / float(new.sum()))
        found = Mixture(U / sizes[0], V / sizes[1], new, self.ground)
        square = self.inner(self) - 2.0 * self.inner(found) + found.inner(found)
        tail = self.ground.size * float(np.linalg.norm(s[count:]))
        return found, max(tail, math.sqrt(max(square, 0.0)))


def _root(A: Array) -> tuple[Array, Array]:
    """R with RᴴR = AᴴA, and T with A·T orthonormal."""
    values, turn = np.linalg.eigh(dagger(A) @ A)
    kept = values > _LOST * values[-1]
    roots = np.sqrt(values[kept])
    return roots[:, None] * dagger(turn[:, kept]), turn[:, kept] / roots
