"""Leading eigenvectors to an asked accuracy: block Lanczos with warm starts, for any Hermitian operator.

Written by hand because ARPACK and LOBPCG give a *relative residual* where the theory asks for an *additive* error ξ
in the Rayleigh quotient (EV_ξ of the paper), take no low-rank shift for free, do not see that a nuclear-norm
gradient has two sides (half a product each), count no products, and know no array library but NumPy.

The basis is kept per *side*: one for an ordinary Hermitian operator, two for the bipartite [[0, G], [Gᴴ, 0]], where
Lanczos from a one-sided vector is Golub-Kahan bidiagonalisation at half the price. A shift ρxxᴴ costs no product:
the Krylov space is that of the unshifted operator with x in it, and Rayleigh-Ritz is done for the shifted one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .arrays import EPS, Array, dagger, norms, orthonormal, random_unit
from .bounds import Accuracy, Bound, upper_bound
from .operators import Shifted

__all__ = ["Accuracy", "Bound", "Ritz", "leading", "upper_bound"]

_CHAIN = 4  # least number of operator applications between two Rayleigh-Ritz extractions
_NOISE = 0.3  # share of fresh randomness in a warm start: no eigenvector can hide from it
_TINY = float(np.finfo(np.float64).tiny)
_SMALL = 200  # up to this dimension the basis may become the whole space, which ends any doubt


@dataclass(frozen=True)
class Ritz:
    """Approximate leading eigenpairs, best first. ``errors`` estimates λ_i − value_i (it steers, it proves nothing)."""

    values: Array
    vectors: Array
    errors: Array
    products: float
    converged: bool
    exact: bool  # the basis was the whole space (or an invariant one holding it): nothing was left to find

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def vector(self) -> Array:
        return self.vectors[:, 0]


def leading(
    operator: Any,
    count: int = 1,
    *,
    accuracy: Accuracy = 0.0,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
    max_products: float = 1000.0,
    basis_size: int | None = None,
    careful: bool = False,
    also: int = 0,
    each: Callable[[Array], Array] | None = None,
) -> Ritz:
    """Unit vectors v with vᴴAv ≥ λ_max(A) − ξ (and likewise for the next ``count`` − 1 eigenvalues).

    Parameters
    ----------
    operator : Hermitian operator with ``shape``, ``dtype`` and ``matmat``; ``Shifted`` and ``Lifted`` are known.
    count : how many eigenpairs; blocks larger than a tie of leading eigenvalues do not stall on it.
    accuracy : ξ, additive; or a function of the current leading Ritz value giving ξ. Zero asks for rounding level.
    start : warm start, one vector or a block; a little fresh randomness is always mixed in.
    max_products : give back the best found after this many products (``converged`` is then False).
    basis_size : most basis vectors (per side) before a restart; by default enough for ``count``.
    careful : leave nothing to the start. Up to dimension 200 the basis then becomes the whole space; beyond, it looks
        twice more from fresh random directions, so that the leading eigenvector has to be missed three times.
    also : that many further Ritz pairs as they happen to be, from a basis half as large again.
    each : a function of all ``count`` Ritz values giving an accuracy for each; takes the place of ``accuracy``.
    """
    rng = np.random.default_rng() if rng is None else rng
    inside, shifts = operator, []
    while isinstance(inside, Shifted):
        shifts.append(inside)
        inside = inside.inside
    shift = None
    if shifts:
        X = np.concatenate([each.X for each in shifts], axis=1)
        shift = (X, np.concatenate([each.strength for each in shifts]))
    space = _Space(inside, np.dtype(operator.dtype), shift)
    width = max(basis_size or 0, 4 * count + 40, 2 * (count + also)) * len(space.sides)
    if space.dimension <= _SMALL:
        width = space.dimension + count * space.dimension  # never restart: the whole space ends any doubt
    space.seed(start, count, rng)
    before = np.full(count, -np.inf)
    looks = 2 if careful else 0
    least = min(int(1.5 * (count + also)) if also else 0, min(space.lengths)) * len(space.sides)
    while True:
        found = space.extract(count)
        values = found.values
        if each is not None:
            asked = each(values)
        else:
            asked = np.full(values.size, accuracy(float(values[0])) if callable(accuracy) else accuracy)
        wanted = np.maximum(asked, 4 * EPS * space.norm * np.sqrt(space.dimension))
        # A small residual alone may belong to a lower eigenvalue: the last extension must have found nothing more,
        # and where doubt is due the next Ritz value, with all its residual added, must not reach above.
        complete = values.size == min(count, space.dimension) and space.size >= least
        done = complete and bool(np.all(found.errors <= wanted) and np.all(values - before[: values.size] <= wanted))
        if done and (careful or found.quiet):
            done = found.next_value + found.next_norm <= values[-1] + wanted[-1]
            done = done and not (careful and space.dimension <= _SMALL)
        if not (done or space.full or space.products >= max_products):
            loose, length = count, max(_CHAIN, space.size // 6)
            if each is not None:  # wide blocks go deep soon enough; only what is not settled yet is extended
                loose = max(1, int(np.count_nonzero(found.errors > wanted)))
                length = max(2, space.size // (6 * loose))
            if space.size + length * loose > width:
                space.restart(max(count + 4, width // 3))
                found = space.extract(count)
            before[: values.size] = found.values
            if space.chain(found, found.errors <= wanted, length, rng):
                continue
        elif done and looks and not space.full:
            looks, before[: values.size] = looks - 1, values
            if space.look(2 * _CHAIN, rng):
                continue
        if also:
            found = space.extract(count + also)
        vectors = space.assemble(found.parts)
        return Ritz(found.values, vectors, found.errors, space.products, done or space.full, space.full)


@dataclass(frozen=True)
class _Found:
    """Leading Ritz values, their coordinates per side, error estimates, residuals per side; and the next one's."""

    values: Array
    parts: list[Array]
    errors: Array
    residual: list[Array]
    quiet: bool  # converged so well that it may have been an exact, but lower, eigenvector from the start
    next_residual: list[Array]
    next_value: float
    next_norm: float


class _Space:
    """The growing orthonormal basis, per side, with its image under the unshifted operator."""

    def __init__(self, operator: Any, dtype: Any, shift: tuple[Array, Array] | None) -> None:
        self.operator = operator
        self.dimension = operator.shape[0]
        self.dtype = dtype
        sides = getattr(operator, "sides", None)
        self.sides: tuple[slice, ...] = sides if sides is not None else (slice(0, self.dimension),)
        self._apply = operator.apply if sides is not None else lambda _side, V: operator.matmat(V)
        self._unit = 1.0 / len(self.sides)
        self.lengths = [len(range(*side.indices(self.dimension))) for side in self.sides]
        self.shift = shift
        self.products = 0.0
        # A scale for rounding decisions: the largest column norm of any image, or the shift.
        self.norm = 0.0 if shift is None else float(np.max(np.abs(shift[1]), initial=0.0))
        self._store = [np.empty((n, 0), dtype, order="F") for n in self.lengths]
        self._images = [np.empty((self.lengths[self.other(s)], 0), dtype, order="F") for s in range(len(sides or [0]))]
        self._k = [0] * len(self.sides)
        width = 0 if shift is None else shift[0].shape[1]
        self._shifts = [np.empty((0, width), dtype) for _ in self.sides]  # W[s]ᴴX, the shift in the basis
        self._T = np.zeros((16, 16), dtype)  # W[0]ᴴ A W[last]: the whole projected matrix, or its off-diagonal block

    def other(self, side: int) -> int:
        return (side + 1) % len(self.sides)

    @property
    def size(self) -> int:
        return sum(self._k)

    @property
    def full(self) -> bool:
        return self._k == self.lengths

    def basis(self, side: int) -> Array:
        return self._store[side][:, : self._k[side]]

    def image(self, side: int) -> Array:
        return self._images[side][:, : self._k[side]]

    # -------------------------------------------------------------------------------------------------------- grow

    def seed(self, start: Array | None, count: int, rng: np.random.Generator) -> None:
        """Put the shift vectors into the basis, then a start: warm directions with fresh randomness mixed in."""
        last = len(self.sides) - 1
        noise = np.stack([random_unit(self.lengths[last], self.dtype.name, rng) for _ in range(count)], axis=1)
        warm = None if start is None else np.asarray(start).reshape(self.dimension, -1)[self.sides[last]]
        if warm is not None:
            lengths = norms(warm)
            warm = warm[:, lengths > 0] / lengths[lengths > 0]
        if warm is None or warm.shape[1] == 0:
            block = noise
        elif warm.shape[1] >= count:
            block = warm.astype(self.dtype)
            block[:, :count] += _NOISE * noise
        else:
            block = noise.astype(self.dtype)
            block[:, : warm.shape[1]] = warm + _NOISE * noise[:, : warm.shape[1]]
        if self.shift is not None:
            for side, rows in enumerate(self.sides):
                self.expand(side, self.shift[0][rows])
        self.expand(last, block)

    def expand(self, side: int, block: Array) -> Array:
        """Add what is new in ``block`` to the basis; returns the image of the new columns (empty if none is new)."""
        W = self.basis(side)
        new = orthonormal(block[:, : self.lengths[side]].astype(self.dtype, copy=False), W)
        new = new[:, : self.lengths[side] - W.shape[1]]
        width, k, other = new.shape[1], self._k[side], self.other(side)
        if width == 0:
            return np.empty((self.lengths[other], 0), self.dtype)
        image = self._apply(side, new)
        self.products += self._unit * width
        self.norm = max(self.norm, float(np.max(norms(image))))
        self._reserve(side, k + width)
        self._store[side][:, k : k + width] = new
        self._images[side][:, k : k + width] = image
        self._k[side] = k + width
        if self.shift is not None:
            more = dagger(new) @ self.shift[0][self.sides[side]]
            self._shifts[side] = np.concatenate([self._shifts[side], more], axis=0)
        fresh = dagger(self.basis(other)) @ image
        if other == side:
            self._T[: k + width, k : k + width] = fresh
            self._T[k : k + width, :k] = dagger(fresh[:k])
        elif side == 1:
            self._T[: self._k[0], k : k + width] = fresh
        else:
            self._T[k : k + width, : self._k[1]] = dagger(fresh)
        return cast(Array, image)

    def _reserve(self, side: int, size: int) -> None:
        for store in (self._store, self._images):
            held = store[side]
            if held.shape[1] < size:
                grown = np.empty((held.shape[0], max(size, 2 * held.shape[1], 16)), self.dtype, order="F")
                grown[:, : self._k[side]] = held[:, : self._k[side]]
                store[side] = grown
        if max(size, self._T.shape[0]) > self._T.shape[0]:
            T = np.zeros((2 * size, 2 * size), self.dtype)
            T[: self._T.shape[0], : self._T.shape[1]] = self._T
            self._T = T

    def chain(self, found: _Found, settled: Array, length: int, rng: np.random.Generator) -> bool:
        """Extend the Krylov space from the residuals that are not settled; then from the next Ritz vector's.

        Returns False when there is nowhere left to go.
        """
        if settled.all() and found.next_residual:
            residual = found.next_residual
        else:
            residual = [part[:, ~settled] if not settled.all() else part for part in found.residual]
        side = 0 if len(residual) == 1 else int(np.argmax([np.max(norms(part)) for part in residual]))
        block = residual[side]
        block = block[:, norms(block) > 4 * EPS * max(self.norm, _TINY)]
        grown = False
        for _ in range(length):
            if block.shape[1] == 0:
                break
            before = self._k[side]
            image = self.expand(side, block)
            if self._k[side] == before:
                break
            grown = True
            side, block = self.other(side), image
        # Nothing new: an invariant subspace that need not be everything (tied eigenvalues, zero operator).
        return grown or self.look(length, rng)

    def look(self, length: int, rng: np.random.Generator) -> bool:
        """Extend the space by a Krylov chain from a random direction; False when it is the whole space already."""
        for side, dimension in enumerate(self.lengths):
            if self._k[side] < dimension:
                block = random_unit(dimension, self.dtype.name, rng)[:, None]
                before = self.size
                for _ in range(length):
                    block = self.expand(side, block)
                    side = self.other(side)
                if self.size > before:
                    return True
        return False

    # ----------------------------------------------------------------------------------------------------- extract

    def ritz(self, count: int) -> tuple[Array, Array]:
        """The leading Ritz values (at least ``count`` where the basis is that large) and their coordinates.

        Two sides without a shift are [[0, T], [Tᴴ, 0]]: a singular value decomposition a third as dear as that of both.
        """
        if len(self.sides) == 2 and self.shift is None and count <= min(self._k):
            U, s, Vh = np.linalg.svd(self._T[: self._k[0], : self._k[1]], full_matrices=False)
            return s, np.concatenate([U, dagger(Vh)]) * math.sqrt(0.5)
        theta, Y = np.linalg.eigh(self.projected())
        return theta[::-1], Y[:, ::-1]

    def projected(self) -> Array:
        """The projected matrix Wᴴ(A + shift)W over all sides."""
        k = self._k[0]
        if len(self.sides) == 1:
            T = self._T[:k, :k]
        else:
            T = np.zeros((self.size, self.size), self.dtype)
            T[:k, k:] = self._T[:k, : self._k[1]]
            T[k:, :k] = dagger(T[:k, k:])
        if self.shift is not None:
            self._coordinates = c = np.concatenate(self._shifts, axis=0)
            T = T + (c * self.shift[1]) @ dagger(c)
        return T

    def extract(self, count: int) -> _Found:
        """Rayleigh-Ritz on the whole basis."""
        theta, Y = self.ritz(count + 1)
        count = min(count, theta.size)
        ahead = min(count + 1, theta.size)
        Y, cuts = Y[:, :ahead], np.cumsum([0, *self._k])
        parts = [np.ascontiguousarray(Y[cuts[s] : cuts[s + 1]]) for s in range(len(self.sides))]
        weight = None if self.shift is None else self.shift[1][:, None] * (dagger(self._coordinates) @ Y)
        residual = []
        for side, rows in enumerate(self.sides):
            other = self.other(side)
            part = self.image(other) @ parts[other] - self.basis(side) @ (parts[side] * theta[:ahead])
            if weight is not None and self.shift is not None:
                part = part + self.shift[0][rows] @ weight
            residual.append(part)
        size = np.sqrt(sum(norms(part) ** 2 for part in residual))
        # |λ − θ| ≤ ‖r‖ always, and ≤ ‖r‖²/gap when the rest of the spectrum is a gap away (Parlett, 11.7).
        gaps = theta[:count] - theta[count] if ahead > count else np.zeros(count)
        errors = size[:count] ** 2 / np.maximum(np.maximum(gaps, size[:count]), _TINY)
        return _Found(
            values=theta[:count],
            parts=[part[:, :count] for part in parts],
            errors=errors,
            residual=[part[:, :count] for part in residual],
            quiet=bool(np.all(errors <= 1e-7 * self.norm)),
            next_residual=[part[:, count:] for part in residual] if ahead > count else [],
            next_value=float(theta[count]) if ahead > count else -np.inf,
            next_norm=float(size[count]) if ahead > count else 0.0,
        )

    def assemble(self, parts: list[Array]) -> Array:
        out = np.empty((self.dimension, parts[0].shape[1]), self.dtype)
        for side, rows in enumerate(self.sides):
            out[rows] = self.basis(side) @ parts[side]
        return cast(Array, out / norms(out))

    def restart(self, keep: int) -> None:
        """Thick restart: keep the span of the leading Ritz vectors, per side, and their images at no product."""
        Y, cuts = self.ritz(keep)[1][:, :keep], np.cumsum([0, *self._k])
        turns = []
        for side in range(len(self.sides)):
            turn = orthonormal(np.ascontiguousarray(Y[cuts[side] : cuts[side + 1]]))
            turns.append(turn)
        for side, turn in enumerate(turns):
            k = turn.shape[1]
            self._store[side][:, :k] = self.basis(side) @ turn
            self._images[side][:, :k] = self.image(side) @ turn
        T = dagger(turns[0]) @ self._T[: self._k[0], : self._k[-1]] @ turns[-1]
        self._T[: T.shape[0], : T.shape[1]] = T
        if self.shift is not None:
            self._shifts = [dagger(turn) @ held for turn, held in zip(turns, self._shifts, strict=True)]
        self._k = [turn.shape[1] for turn in turns]
