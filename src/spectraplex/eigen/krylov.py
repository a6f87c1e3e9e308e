"""The basis that block Lanczos grows (leading.py asks it for vectors), and Rayleigh-Ritz on it.

The basis is kept per *side*: one for an ordinary Hermitian operator, two for the bipartite [[0, G], [Gᴴ, 0]], where
Lanczos from a one-sided vector is Golub-Kahan bidiagonalisation at half the price. A shift ρxxᴴ costs no product:
the Krylov space is that of the unshifted operator with x in it, and Rayleigh-Ritz is done for the shifted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..matrices.lifted import Hermitian
from ..places.numpy import EPS, Array, dagger, orthonormal
from ..places.protocol import Block
from .projected import Projected

_NOISE = 0.3  # share of fresh randomness in a warm start: no eigenvector can hide from it
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Found:
    """Leading Ritz values, their coordinates per side, error estimates, residuals per side; and the next one's."""

    values: Array
    parts: list[Array]
    errors: Array
    residual: list[Block]
    quiet: bool  # converged so well that it may have been an exact, but lower, eigenvector from the start
    next_residual: list[Block]
    next_value: float
    next_norm: float


class Space:
    """The growing orthonormal basis, per side, with its image under the unshifted operator.

    ``projected`` is the operator in its coordinates.
    """

    def __init__(self, operator: Hermitian, dtype: Any, shift: tuple[Block, Array] | None) -> None:
        self.operator, self.place = operator, operator.place
        self.dimension = operator.shape[0]
        self.dtype = dtype
        self.sides = operator.sides
        self._unit = 1.0 / len(self.sides)
        self.lengths = [len(range(*side.indices(self.dimension))) for side in self.sides]
        self.shift = shift
        self.products = 0.0
        # A scale for rounding decisions: the largest column norm of any image, or the shift.
        self.norm = 0.0 if shift is None else float(np.max(np.abs(shift[1]), initial=0.0))
        self._store = [self.place.room(side, dtype) for side in self.sides]
        self._images = [self.place.room(self.sides[self.other(s)], dtype) for s in range(len(self.sides))]
        self.projected = Projected(len(self.sides), dtype, None if shift is None else shift[1], self.place)
        # whether the shift vectors lie in the span of the basis: all that comes later is orthogonal to them
        self._spanned = False

    def other(self, side: int) -> int:
        return (side + 1) % len(self.sides)

    @property
    def size(self) -> int:
        return sum(self.projected.counts)

    @property
    def full(self) -> bool:
        return self.projected.counts == self.lengths

    def basis(self, side: int) -> Block:
        return self._store[side].first(self.projected.counts[side])

    def image(self, side: int) -> Block:
        return self._images[side].first(self.projected.counts[side])

    # -------------------------------------------------------------------------------------------------------- grow

    def seed(self, start: Block | None, count: int, rng: np.random.Generator) -> None:
        """Put the shift vectors into the basis, then a start: warm directions with fresh randomness mixed in."""
        place, last = self.place, len(self.sides) - 1
        block = place.random(self.sides[last], count, self.dtype.name, rng)
        if start is not None:
            warm = place.rows(start, self.sides[last])
            there = place.norms(warm) > 0
            warm = place.cast(place.unit(warm if there.all() else place.columns(warm, there)), self.dtype)
            block = self._mixed(warm, block, count)
        if self.shift is not None:
            for side, rows in enumerate(self.sides):
                self.expand(side, place.rows(self.shift[0], rows))
            self._spanned = self.shift[1].size == 1  # of several one may have been lost to rounding
        self.expand(last, block)

    def _mixed(self, warm: Block, noise: Block, count: int) -> Block:
        """Warm directions with a share of noise in the first ``count``; noise alone where there are not so many."""
        place = self.place
        k = min(place.width(warm), count)
        if k == 0:
            return noise
        first = place.blend(1.0, place.columns(warm, slice(0, k)), _NOISE, place.columns(noise, slice(0, k)))
        rest = place.columns(noise, slice(k, count)) if k < count else place.columns(warm, slice(k, None))
        return first if place.width(rest) == 0 else place.join(first, rest)

    def expand(self, side: int, block: Block) -> Block | None:
        """Add what is new in ``block`` to the basis; returns the image of the new columns, None if none is new."""
        place, k, other = self.place, self.projected.counts[side], self.other(side)
        if place.width(block) > self.lengths[side]:
            block = place.columns(block, slice(0, self.lengths[side]))
        new = place.orthonormal(place.cast(block, self.dtype), self.basis(side))
        if place.width(new) > self.lengths[side] - k:
            new = place.columns(new, slice(0, self.lengths[side] - k))
        width = place.width(new)
        if width == 0:
            return None
        image = self.operator.apply(side, new)
        self.products += self._unit * width
        self.norm = max(self.norm, float(np.max(place.norms(image))))
        self._store[side].write(k, new)
        self._images[side].write(k, image)
        there = self.projected.add(side, width, self._beside(side, new))
        self.projected.write(side, there, place.gram(self.basis(other), image))
        return image

    def _beside(self, side: int, new: Block) -> Array | None:
        """The inner products of new basis vectors of a side with the shift vectors; None without a shift."""
        if self.shift is None:
            return None
        if self._spanned:
            return np.zeros((self.place.width(new), self.shift[1].size), self.dtype)
        return self.place.gram(new, self.place.rows(self.shift[0], self.sides[side]))

    def chain(self, found: Found, settled: Array, length: int, rng: np.random.Generator) -> bool:
        """Extend the Krylov space from the residuals that are not settled; then from the next Ritz vector's.

        Returns False when there is nowhere left to go.
        """
        place = self.place
        if settled.all() and found.next_residual:
            residual = found.next_residual
        else:
            loose = slice(None) if settled.all() else ~settled
            residual = [place.columns(part, loose) for part in found.residual]
        sizes = [place.norms(part) for part in residual]
        side = 0 if len(residual) == 1 else int(np.argmax([np.max(each) for each in sizes]))
        some = sizes[side] > 4 * EPS * max(self.norm, _TINY)
        block: Block | None = place.columns(residual[side], slice(None) if some.all() else some) if some.any() else None
        grown = False
        for _ in range(length):
            block = None if block is None else self.expand(side, block)
            if block is None:
                break
            grown, side = True, self.other(side)
        # Nothing new: an invariant subspace that need not be everything (tied eigenvalues, zero operator).
        return grown or self.look(length, rng)

    def look(self, length: int, rng: np.random.Generator) -> bool:
        """Extend the space by a Krylov chain from a random direction; False when it is the whole space already."""
        for side, dimension in enumerate(self.lengths):
            if self.projected.counts[side] < dimension:
                block: Block | None = self.place.random(self.sides[side], 1, self.dtype.name, rng)
                before = self.size
                for _ in range(length):
                    block = None if block is None else self.expand(side, block)
                    side = self.other(side)
                if self.size > before:
                    return True
        return False

    # ----------------------------------------------------------------------------------------------------- extract

    def extract(self, count: int) -> Found:
        """Rayleigh-Ritz on the whole basis."""
        theta, Y = self.projected.ritz(count + 1)
        count = min(count, theta.size)
        ahead = min(count + 1, theta.size)
        Y, cuts = Y[:, :ahead], self.projected.cuts
        parts = [np.ascontiguousarray(Y[cuts[s] : cuts[s + 1]]) for s in range(len(self.sides))]
        weight = None if self.shift is None else self.shift[1][:, None] * (dagger(self.projected.shifts) @ Y)
        place, residual = self.place, []
        for side, rows in enumerate(self.sides):
            other = self.other(side)
            inside = parts[side] * theta[:ahead]
            if weight is not None and self._spanned:
                inside = inside - self.projected.shifts[cuts[side] : cuts[side + 1]] @ weight
            inside = place.times(self.basis(side), inside)
            part = place.blend(1.0, place.times(self.image(other), parts[other]), -1.0, inside)
            if weight is not None and self.shift is not None and not self._spanned:
                part = place.blend(1.0, part, 1.0, place.times(place.rows(self.shift[0], rows), weight))
            residual.append(part)
        sizes = [place.norms(part) for part in residual]
        size = sizes[0] if len(sizes) == 1 else np.hypot(*sizes)
        # |λ − θ| ≤ ‖r‖ always, and ≤ ‖r‖²/gap when the rest of the spectrum is a gap away (Parlett, 11.7).
        gaps = theta[:count] - theta[count] if ahead > count else np.zeros(count)
        errors = size[:count] * (size[:count] / np.maximum(np.maximum(gaps, size[:count]), _TINY))
        return Found(
            values=theta[:count],
            parts=[part[:, :count] for part in parts],
            errors=errors,
            residual=[place.columns(part, slice(0, count)) for part in residual],
            quiet=bool(np.all(errors <= 1e-7 * self.norm)),
            next_residual=[place.columns(part, slice(count, None)) for part in residual] if ahead > count else [],
            next_value=float(theta[count]) if ahead > count else -np.inf,
            next_norm=float(size[count]) if ahead > count else 0.0,
        )

    def assemble(self, parts: list[Array]) -> Block:
        """The vectors upstairs that have these coordinates on the sides, made unit."""
        sides = [self.place.times(self.basis(side), part) for side, part in enumerate(parts)]
        return self.place.unit(sides[0] if len(sides) == 1 else self.place.stack(*sides))

    def without(self, count: int) -> tuple[float, Block]:
        """The leading Ritz pair without so many of the shift's first vectors: it costs no product."""
        theta, Y = self.projected.ritz(1, count)
        cuts = self.projected.cuts
        parts = [np.ascontiguousarray(Y[cuts[s] : cuts[s + 1], :1]) for s in range(len(self.sides))]
        return float(theta[0]), self.assemble(parts)

    def restart(self, keep: int) -> None:
        """Thick restart: keep the span of the leading Ritz vectors, per side, and their images at no product."""
        Y, cuts = self.projected.ritz(keep)[1][:, :keep], self.projected.cuts
        turns = []
        for side in range(len(self.sides)):
            turn = orthonormal(np.ascontiguousarray(Y[cuts[side] : cuts[side + 1]]))
            turns.append(turn)
        for side, turn in enumerate(turns):
            self._store[side].write(0, self.place.times(self.basis(side), turn))
            self._images[side].write(0, self.place.times(self.image(side), turn))
        self.projected.turn(turns)
        self._spanned = False
