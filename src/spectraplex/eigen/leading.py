"""Leading eigenvectors to an asked accuracy: block Lanczos with warm starts, for any Hermitian operator.

A small matrix that is at hand is left to LAPACK (small.py). The search is written by hand because ARPACK and
LOBPCG give a *relative residual* where the theory asks for an *additive* error ξ in the Rayleigh quotient (EV_ξ of
the paper), take no low-rank shift for free, do not see that a nuclear-norm gradient has two sides (half a product
each), count no products, and know no array library but NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..matrices.given import as_hermitian
from ..matrices.lifted import Hermitian, Lifted, Shifted
from ..places.here import HERE
from ..places.numpy import EPS, Array
from ..places.protocol import Block, Place
from .bounds import upper_bound
from .far import Square, right_start, upstairs, wide_search
from .krylov import Found, Space
from .probable import Accuracy, Bound
from .small import at_hand, decomposed

__all__ = ["Accuracy", "Bound", "Ritz", "leading", "upper_bound"]

_CHAIN = 4  # least number of operator applications between two Rayleigh-Ritz extractions
_SMALL = 200  # up to this dimension the basis may become the whole space, which ends any doubt


@dataclass(frozen=True)
class Ritz:
    """Approximate leading eigenpairs, best first. ``errors`` estimates λ_i − value_i (it steers, it proves nothing)."""

    values: Array
    vectors: Block
    errors: Array
    products: float
    converged: bool
    exact: bool  # the basis was the whole space (or an invariant one holding it): nothing was left to find
    place: Place = field(repr=False, default=HERE)
    plain: tuple[float, Block] | None = None  # the leading pair of what is shifted, as far as the search shows it

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def vector(self) -> Block:
        """The leading one, a block of one column."""
        return self.place.columns(self.vectors, slice(0, 1))


def leading(
    operator: Any,
    count: int = 1,
    *,
    accuracy: Accuracy = 0.0,
    start: Block | None = None,
    rng: np.random.Generator | None = None,
    max_products: float = 1000.0,
    basis_size: int | None = None,
    careful: bool = False,
    also: int = 0,
    each: Callable[[Array], Array] | None = None,
    single: bool = False,
    plain: bool = False,
) -> Ritz:
    """Unit vectors v with vᴴAv ≥ λ_max(A) − ξ (and likewise for the next ``count`` − 1 eigenvalues).

    Parameters
    ----------
    operator : Hermitian operator with ``shape``, ``dtype`` and ``matmat``; ``Shifted`` and ``Lifted`` are known. Up to
        dimension 200 (complex: 150) one that has ``dense`` is decomposed whole: exact, and counted as d products, or as
        many as its shorter side is long.
    count : how many eigenpairs; blocks larger than a tie of leading eigenvalues do not stall on it.
    accuracy : ξ, additive; or a function of the current leading Ritz value giving ξ. Zero asks for rounding level.
    start : warm start, one vector or a block; a little fresh randomness is always mixed in.
    max_products : a search gives back the best it found after this many products (``converged`` is then False).
    basis_size : most basis vectors (per side) before a restart; by default enough for ``count``.
    careful : leave nothing to the start. Up to dimension 200 the basis then becomes the whole space; beyond, it looks
        twice more from fresh random directions, so that the leading eigenvector has to be missed three times.
    also : that many further Ritz pairs as they happen to be, from a basis half as large again.
    each : a function of all ``count`` Ritz values giving an accuracy for each; takes the place of ``accuracy``.
    single : keep vectors, and the matrix where that can be, in single precision (sums are in double): for accuracies
        well above 1e-6 of the leading eigenvalue, at a place that is wide.
    plain : of a ``Shifted`` operator the leading vector of what it shifts, too: the best one of the same basis. None
        for any other operator. One that is decomposed whole is formed and decomposed twice then.
    """
    rng = np.random.default_rng() if rng is None else rng
    operator = as_hermitian(operator)
    if at_hand(operator, careful):
        found = _decomposed(operator, count + also, rng)
        if found is not None:
            return replace(found, plain=_beside(operator, rng)) if plain and isinstance(operator, Shifted) else found
    start = operator.place.from_host(start) if isinstance(start, np.ndarray) else start
    outer = operator.place.width(operator.X) if plain and isinstance(operator, Shifted) else 0
    asked = _Asked(count, also, accuracy, each, careful, max_products, single, outer)
    if isinstance(operator, Lifted) and operator.bipartite and operator.place.wide:
        return _from_afar(operator, asked, basis_size or 0, rng, start)
    inside, shift = _unshifted(operator)
    if operator.place.wide and shift is None and not careful and (each is None or not operator.place.distant):
        return _by_blocks(operator, asked, rng, start)
    return _Search(Space(inside, np.dtype(operator.dtype), shift), asked, basis_size or 0, rng).run(start)


def _decomposed(operator: Hermitian, count: int, rng: np.random.Generator) -> Ritz | None:
    spent, place = operator.products, operator.place
    found = decomposed(operator, count, rng)
    if found is None:
        return None
    values, vectors, blur = found
    errors, cost = np.full(values.size, blur), operator.products - spent
    return Ritz(values, place.from_host(vectors), errors, cost, converged=True, exact=True, place=place)


def _beside(operator: Shifted, rng: np.random.Generator) -> tuple[float, Block] | None:
    """The leading pair of what is shifted, decomposed whole like the other."""
    found = _decomposed(operator.inside, 1, rng)
    return None if found is None else (found.value, found.vector)


def _from_afar(operator: Lifted, asked: _Asked, width: int, rng: np.random.Generator, start: Block | None) -> Ritz:
    """By RᴴR on the right side (far.py)."""
    spent, square = operator.products, Square(operator, asked.single)
    space = Space(square, np.dtype(square.dtype), None)

    def accuracies(values: Array) -> Array:
        roots = np.sqrt(np.maximum(values, 0.0))
        wanted = asked.accuracies(roots)
        return np.asarray(wanted * (2.0 * roots + wanted))

    warm = right_start(operator, start)
    if asked.careful or asked.each is not None:
        found = _Search(space, replace(asked, each=accuracies), width, rng).run(warm)
        pairs, converged = (found.values, found.vectors, found.errors), found.converged
    else:
        pairs, converged = wide_search(space, asked.count, asked.also, accuracies, asked.products, rng, warm)
    values, vectors = upstairs(operator, pairs[0], pairs[1])
    errors = pairs[2] / np.maximum(2.0 * values, np.finfo(np.float64).tiny)
    return Ritz(values, vectors, errors, operator.products - spent, converged, space.full, operator.place)


def _by_blocks(operator: Hermitian, asked: _Asked, rng: np.random.Generator, start: Block | None) -> Ritz:
    """One side, at a place where many products at once cost little more than one."""
    spent, space = operator.products, Space(operator, np.dtype(operator.dtype), None)
    pairs, done = wide_search(space, asked.count, asked.also, asked.accuracies, asked.products, rng, start)
    return Ritz(*pairs, operator.products - spent, done, space.full, operator.place)


def _unshifted(operator: Hermitian) -> tuple[Hermitian, tuple[Block, Array] | None]:
    """The operator inside all shifts, and the sum of them as X diag(strength) Xᴴ: (X, strength)."""
    shifts: list[Shifted] = []
    while isinstance(operator, Shifted):
        shifts.append(operator)
        operator = operator.inside
    if not shifts:
        return operator, None
    X = shifts[0].X if len(shifts) == 1 else operator.place.join(*(shift.X for shift in shifts))
    return operator, (X, np.concatenate([shift.strength for shift in shifts]))


# ------------------------------------------------------------------------------------------------------ the search


@dataclass(frozen=True)
class _Asked:
    """What the caller of ``leading`` asked for."""

    count: int
    also: int
    accuracy: Accuracy
    each: Callable[[Array], Array] | None
    careful: bool
    products: float
    single: bool = False
    outer: int = 0  # vectors of the shift that a second pair is asked for without; none is where there are none

    def accuracies(self, values: Array) -> Array:
        """One for each Ritz value."""
        if self.each is not None:
            return self.each(values)
        return np.full(values.size, self.accuracy(float(values[0])) if callable(self.accuracy) else self.accuracy)


class _Search:
    """Grow the space, extract Ritz pairs, compare them with what is wanted; until that is there or cannot be had."""

    def __init__(self, space: Space, asked: _Asked, width: int, rng: np.random.Generator) -> None:
        self.space, self.asked, self.rng = space, asked, rng
        count, more, sides = asked.count, asked.count + asked.also, len(space.sides)
        self.width = max(width, 4 * count + 40, 2 * more) * sides  # most basis vectors before a restart
        if space.dimension <= _SMALL:
            self.width = space.dimension + count * space.dimension  # never restart: the whole space ends any doubt
        self.least = min(int(1.5 * more) if asked.also else 0, min(space.lengths)) * sides
        self.before = np.full(count, -np.inf)  # the values before the last extension
        self.looks = 2 if asked.careful else 0  # fresh random directions that are still to be tried

    def run(self, start: Block | None) -> Ritz:
        space, count, goes_on = self.space, self.asked.count, True
        space.seed(start, count, self.rng)
        while goes_on:
            found = space.extract(count)
            wanted = self._wanted(found)
            done = self._done(found, wanted)
            if done:
                goes_on = self._looks_again(found)
            elif space.full or space.products >= self.asked.products:
                goes_on = False
            else:
                found, goes_on = self._extend(found, wanted)
        if self.asked.also:
            found = space.extract(count + self.asked.also)
        vectors = space.assemble(found.parts)
        plain = space.without(self.asked.outer) if self.asked.outer else None
        done = done or space.full
        return Ritz(found.values, vectors, found.errors, space.products, done, space.full, space.place, plain)

    def _wanted(self, found: Found) -> Array:
        """The accuracies that were asked for, none below rounding."""
        floor = 4 * EPS * self.space.norm * np.sqrt(self.space.dimension)
        wanted: Array = np.maximum(self.asked.accuracies(found.values), floor)
        return wanted

    def _done(self, found: Found, wanted: Array) -> bool:
        """Whether all pairs are there, exact enough, and the leading ones.

        A small residual alone may belong to a lower eigenvalue: the last extension must have found nothing more, and
        where doubt is due the next Ritz value, with all its residual added, must not reach above.
        """
        space, values = self.space, found.values
        if values.size < min(self.asked.count, space.dimension) or space.size < self.least:
            return False
        if not (np.all(found.errors <= wanted) and np.all(values - self.before[: values.size] <= wanted)):
            return False
        if self.asked.careful and space.dimension <= _SMALL:
            return False  # the basis is to become the whole space
        doubt = self.asked.careful or found.quiet
        return not doubt or bool(found.next_value + found.next_norm <= values[-1] + wanted[-1])

    def _looks_again(self, found: Found) -> bool:
        """One more look from a fresh random direction, if one is still due; False when there is none."""
        if self.looks == 0 or self.space.full:
            return False
        self.looks -= 1
        self.before[: found.values.size] = found.values
        return self.space.look(2 * _CHAIN, self.rng)

    def _extend(self, found: Found, wanted: Array) -> tuple[Found, bool]:
        """Extend the space from what is not settled, after a restart if that would not fit any more.

        Returns the pairs it was extended from, and False when there is nowhere left to go.
        """
        length, loose = self._extension(found, wanted)
        if self.space.size + length * loose > self.width:
            self.space.restart(max(self.asked.count + 4, self.width // 3))
            found = self.space.extract(self.asked.count)
        self.before[: found.values.size] = found.values
        return found, self.space.chain(found, found.errors <= wanted, length, self.rng)

    def _extension(self, found: Found, wanted: Array) -> tuple[int, int]:
        """How many applications of the operator come next, and to how many vectors.

        Wide blocks go deep soon enough: where each pair has an accuracy only those not settled yet are extended.
        """
        if self.asked.each is None:
            return max(_CHAIN, self.space.size // 6), self.asked.count
        loose = max(1, int(np.count_nonzero(found.errors > wanted)))
        return max(2, self.space.size // (6 * loose)), loose
