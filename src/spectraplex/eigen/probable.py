"""The probable bound on λ_max: Lanczos from random starts; bounds.py says why it is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..matrices.lifted import Hermitian
from ..places.here import HERE
from ..places.numpy import EPS, size_one
from ..places.protocol import Block, Place
from .lanczos import Chain, Lanczos, root
from .wide import log_tau_of, normal_block, wide_chain, width_for

Accuracy = float | Callable[[float], float]

_CHANCE = 0.1  # how likely each of several starts may fail, where the space of the first one closes up
_AT_ONCE = 3.0  # products that a wide one takes as long as: it reads the data once
_ON_DEVICE = 40.0  # the same on a device, beside descents that multiply hundreds of columns at once


@dataclass(frozen=True)
class Bound:
    """λ_max ≤ value for kind "proven" or "probable" (wrong with probability at most ``failure``).

    ``estimate`` is the best Ritz value, from below; for kind "estimate" it is also the value. ``rounding`` is the part
    of value − estimate that is there for rounding alone, and may be another one on another processor. ``effort`` is
    ``products`` as they weigh beside those of a method: many at once weigh less.
    """

    value: float
    kind: str
    failure: float
    products: float
    estimate: float
    rounding: float = 0.0
    effort: float = 0.0


@dataclass(frozen=True, eq=False)
class _Side:
    """An operator on one of its sides, times ``factor``: of size one, lest 1e±150 leave the range when squared.

    λ_max of [[0, R], [Rᴴ, 0]] is σ₁(R): with two sides it is RᴴR on the shorter one, one product a step.
    """

    operator: Hermitian
    side: int
    factor: float
    noise: float  # of the operator
    wanted: tuple[Accuracy, float]  # how near to the Ritz value: absolutely, and as a share of the bound

    @property
    def two(self) -> bool:
        return len(self.operator.sides) == 2

    @property
    def place(self) -> Place:
        return self.operator.place

    @property
    def part(self) -> slice:
        return self.operator.sides[self.side]

    @property
    def dimension(self) -> int:
        return len(range(*self.part.indices(self.operator.shape[0])))

    @property
    def complex(self) -> bool:
        return np.dtype(self.operator.dtype).kind == "c"

    def apply(self, v: Block) -> Block:
        image = self.place.scale(self.operator.apply(self.side, v), self.factor)
        return self.place.scale(self.operator.apply(1 - self.side, image), self.factor) if self.two else image

    def log_tau(self, chance: float, left: int) -> float:
        """ln τ: a random start in so many dimensions has an inner product ≥ τ, but for this chance."""
        if self.complex:
            return 0.5 * math.log(chance / left)
        return math.log(chance) + 0.5 * math.log(math.pi / (2 * left))

    def judge(self, chain: Chain, chance: float, coupling: float = 0.0, width: int = 1) -> tuple[float, float]:
        """The bound from a chain, and its Ritz value, as those of the operator itself."""
        d = self.dimension
        if width > 1:
            bound, ritz = root(chain, log_tau_of(chance, width, d, self.complex))
        else:
            whole = chance == 1.0 or chain.before + len(chain.off) == d
            bound, ritz = root(chain, math.inf if whole else self.log_tau(chance, d - chain.before))
        bound += coupling
        if self.two:
            bound, ritz = math.sqrt(max(bound, 0.0)), math.sqrt(max(ritz, 0.0))
        return (bound + self.factor * self.noise) / self.factor, ritz / self.factor

    def tight(self, chance: float, chain: Chain, width: int = 1) -> bool:
        bound, ritz = self.judge(chain, chance, width=width)
        accuracy, relative = self.wanted
        enough = accuracy(ritz) if callable(accuracy) else accuracy
        return bound - ritz <= max(enough, relative * abs(bound))

    def rounding(self, steps: int, starts: int, largest: float) -> float:
        """Whoever looks again may take more steps than we did, up to the whole space, or see it close up."""
        d = self.dimension
        count = max(20 * max(steps, 32, min(d, 1000)), 10 * (steps + starts) * math.exp(-self.log_tau(_CHANCE, d)))
        return count * EPS * largest + self.noise


def probable(
    operator: Hermitian, failure: float, wanted: tuple[Accuracy, float], rng: np.random.Generator, most: float
) -> Bound:
    """λ_max ≤ value, wrong with probability at most ``failure``, by at most so many products."""
    sides, place = operator.sides, operator.place
    two, lengths = len(sides) == 2, [len(range(*side.indices(operator.shape[0]))) for side in sides]
    side = len(sides) - 1 if place.distant else int(np.argmin(lengths))  # a far one stays where it is
    start = place.random(sides[side], 1, operator.dtype, rng)
    size, cost = place.largest(operator.apply(side, start)), 0.5 if two else 1.0
    if size == 0.0 or not math.isfinite(size):  # a random vector is not in the kernel, unless all is
        return Bound(size, "probable", failure, cost, size)
    on = _Side(operator, side, size_one(size), operator.noise(), wanted)
    width = width_for(most, on.dimension) if place.wide and (two or not place.distant) else 1
    if width == 1:
        return _by_starts(on, start, failure, rng, (cost, most), failure)
    # a round costs more than its products: many starts at once, and half of the chance of failure
    found, spent = _by_blocks(on, width, failure, rng, (cost, most))
    return found or _by_starts(on, start, 0.5 * failure, rng, (spent, most), failure)


def _by_blocks(
    on: _Side, width: int, failure: float, rng: np.random.Generator, spent: tuple[float, float]
) -> tuple[Bound | None, float]:
    """From a chain of so many starts at once, None where its space closed up; and what has been spent."""
    (cost, most), place, d = spent, on.place, on.dimension
    block = normal_block(d, width, on.operator.dtype, rng)
    there = HERE if place.distant else place
    enough = partial(on.tight, 0.5 * failure, width=width)
    chain = wide_chain(on.apply, there.from_host(block), most - cost, enough, there)
    cost += width * len(chain.off)
    if chain.closed:
        return None, cost
    value, estimate = on.judge(chain, 0.5 * failure, width=width)
    spread = on.rounding(len(chain.off), _starts(0.5 * failure), abs(value))
    effort = (_AT_ONCE if place.distant else _ON_DEVICE) * len(chain.off) if on.two else 0.0  # dense: as they count
    return Bound(value, "probable", failure, cost, estimate, spread, effort), cost


def _by_starts(
    on: _Side, start: Block, failure: float, rng: np.random.Generator, spent: tuple[float, float], asked: float
) -> Bound:
    """From one start after the other: half of the chance is for a space that stays open, half for one that closes."""
    (cost, most), d, dtype = spent, on.dimension, on.operator.dtype
    starts, chance = _starts(failure), _CHANCE
    space = Lanczos(on.apply, on.part, most - cost, dtype, on.place)
    chains = [space.chain(start, partial(on.tight, 0.5 * failure))]
    while chains[0].closed and space.steps < min(d, most - cost) and len(chains) < starts:
        chains.append(space.chain(on.place.random(on.part, 1, dtype, rng), partial(on.tight, chance)))
    if space.steps == d:
        chance = 1.0  # nothing is left to look for
    if len(chains) == 1 or (len(chains) < starts and space.steps < d):
        value = on.judge(chains[0], 0.5 * failure)[0]
    else:
        # Each start fails with this chance whatever the earlier ones showed: all of them with half of ``failure``. One
        # of their bounds is true, and nobody knows which. What couples one space to the next is below rounding.
        value = max(on.judge(chain, chance, 2.0 * space.blur())[0] for chain in chains)
    estimate = max(on.judge(chain, chance)[1] for chain in chains)
    largest = abs(value) if on.two else max(abs(value), space.scale / on.factor)
    spread = on.rounding(space.steps, starts, largest)
    return Bound(value, "probable", asked, cost + space.steps, estimate, spread)


def _starts(failure: float) -> int:
    """How many starts fail together with half of this chance."""
    return math.ceil(math.log(0.5 * failure) / math.log(_CHANCE))
