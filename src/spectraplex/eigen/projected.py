"""The operator in the coordinates of a basis: the small matrix that Rayleigh-Ritz decomposes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array, dagger, size_one
from ..places.protocol import Place


class Projected:
    """Wᴴ(A + X diag(ρ) Xᴴ)W for a basis W that grows on one side or on two; ``strength`` is ρ, None without a shift."""

    def __init__(self, sides: int, dtype: Any, strength: Array | None, place: Place = HERE) -> None:
        self.dtype, self.strength, self.place = dtype, strength, place
        self.counts = [0] * sides  # basis vectors of every side
        width = 0 if strength is None else strength.size
        self._shifts = [np.empty((0, width), dtype) for _ in range(sides)]  # W[s]ᴴX, the shift in the basis
        self._T = np.zeros((16, 16), dtype)  # W[0]ᴴ A W[last]: the whole projected matrix, or its off-diagonal block

    @property
    def cuts(self) -> Array:
        """Where the coordinates of every side begin, and the last ones end."""
        return np.cumsum([0, *self.counts])

    @property
    def shifts(self) -> Array:
        """WᴴX over all sides."""
        return np.concatenate(self._shifts, axis=0)

    def add(self, side: int, width: int, shift: Array | None) -> slice:
        """Make room for new vectors of a side; ``shift`` is their inner products with X. Says where they are."""
        k = self.counts[side]
        self._reserve(k + width)
        self.counts[side] = k + width
        if shift is not None:
            self._shifts[side] = np.concatenate([self._shifts[side], shift], axis=0)
        return slice(k, k + width)

    def write(self, side: int, new: slice, fresh: Array) -> None:
        """Write what the new basis vectors of a side add: W[other]ᴴ A (new vectors).

        One side: T is Hermitian, so new columns are new rows, too. Two sides: T is only the block between them, with
        the first side's vectors as rows and the second side's as columns.
        """
        count = fresh.shape[0]
        if len(self.counts) == 1:
            self._T[:count, new] = fresh
            self._T[new, : new.start] = dagger(fresh[: new.start])
        elif side == 1:
            self._T[:count, new] = fresh
        else:
            self._T[new, :count] = dagger(fresh)

    def _reserve(self, size: int) -> None:
        if size > self._T.shape[0]:
            T = np.zeros((2 * size, 2 * size), self.dtype)
            T[: self._T.shape[0], : self._T.shape[1]] = self._T
            self._T = T

    def ritz(self, count: int, without: int = 0) -> tuple[Array, Array]:
        """The leading Ritz values (at least ``count`` where the basis is that large) and their coordinates.

        Two sides without a shift are [[0, T], [Tᴴ, 0]]: a singular value decomposition a third as dear as that of both.
        ``without`` leaves out so many of the shift's first vectors.
        """
        shifts = 0 if self.strength is None else self.strength.size - without
        if len(self.counts) == 2 and shifts == 0 and count <= min(self.counts):
            U, s, Vh = np.linalg.svd(self._T[: self.counts[0], : self.counts[1]], full_matrices=False)
            return s, np.concatenate([U, dagger(Vh)]) * math.sqrt(0.5)
        T = self.whole(without)
        unit = size_one(float(np.max(np.abs(T), initial=0.0)))  # LAPACK does not converge far from size one
        theta, Y = self.place.eigh(T * unit)
        return theta[::-1] / unit, Y[:, ::-1]

    def whole(self, without: int = 0) -> Array:
        """The matrix over all sides, with the shift or without its first vectors."""
        k, size = self.counts[0], sum(self.counts)
        if len(self.counts) == 1:
            T = self._T[:k, :k]
        else:
            T = np.zeros((size, size), self.dtype)
            T[:k, k:] = self._T[:k, : self.counts[1]]
            T[k:, :k] = dagger(T[:k, k:])
        if self.strength is not None and self.strength.size > without:
            c = self.shifts[:, without:]
            T = T + (c * self.strength[without:]) @ dagger(c)
        return T

    def turn(self, turns: list[Array]) -> None:
        """Go over to a smaller basis, whose coordinates in the old one are given per side."""
        T = dagger(turns[0]) @ self._T[: self.counts[0], : self.counts[-1]] @ turns[-1]
        self._T[: T.shape[0], : T.shape[1]] = T
        if self.strength is not None:
            self._shifts = [dagger(turn) @ held for turn, held in zip(turns, self._shifts, strict=True)]
        self.counts = [turn.shape[1] for turn in turns]
