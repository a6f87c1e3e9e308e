"""What the rank-one-regularised methods share: Theorem 1's schedule, the regularised eigenvector, the memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..eigen.leading import Accuracy
from ..matrices.lifted import Lifted, Shifted
from ..places.numpy import Array
from ..places.protocol import Block
from ..problem import Point, Problem
from .oracle import Direction, Oracle, find, worst

FIRM = 0.8  # factor of the adaptive regulariser where a number is not given
_SHARE = 0.2  # accuracy asked of the eigenvector, as a share of what it gains over staying at x
WORTH = 0.2  # share of the greatest promise, weight times deficit, that an atom must have to be worth a step
_HOPE = 1.3  # growth, per step, of what is hoped for from the kind of atom that is not being moved


def theorem_step(t: int) -> float:
    """η_t of Theorem 1 (t₀ = 8)."""
    return 18.0 / (t + 8.0)


def theorem_accuracy(t: int, beta: float) -> float:
    """ξ_t of Theorem 1: a sixth of the smallest bound, unknown constants at their safe values (r = λ = 1, α = β)."""
    return beta * min(9.0 / (t + 8.0), 8748.0 / (t + 8.0) ** 2)


def theorem_move(eta: float, weight: float) -> float:
    """η̃ of Algorithm 2: η_t/2 if the atom weighs at least η_t, else all of its weight."""
    return eta / 2 if weight >= eta else weight


def smoothness_or_say(problem: Problem, method: str, beta: Any) -> float:
    """β of the lifted function, or a refusal that names who lacks it."""
    if beta is not None:
        return float(beta)
    known = problem.lifted.smoothness
    if known is None:
        raise ValueError(
            f"{method} needs the smoothness β, which {type(problem.objective).__name__} does not know; pass "
            "smoothness= to the objective, beta=<number> or beta='adaptive' to the method, or use 'pairwise'."
        )
    return float(known)


def regularized(
    descent: Lifted,
    x: Block,
    strength: float,
    beat: float,
    rng: np.random.Generator,
    oracle: Oracle | None = None,
    **asked: Any,
) -> Direction:
    """EV(−∇f + strength·xxᴴ): the best rank-one among those that do not stray from x (Eq. 5 of the paper)."""
    x = descent.place.from_host(x) if isinstance(x, np.ndarray) else x
    return (oracle or find)(Shifted(descent, x, np.array([strength])), beat, rng, **asked)


def share_of_gain(score: float, strength: float, share: float = _SHARE) -> Accuracy:
    """An accuracy that needs no β: a share of what the new vector gains over staying at x, where xᴴ(−∇f)x = score."""
    return lambda value: share * max(value - score - strength, 0.0)


def _none() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class RORMemory:
    t: int
    guess: Block
    curvature: float
    heavy: float = math.inf  # select="worthy": what the last step from a worthy atom gained, and since then, growing,
    light: float = math.inf  # what one may hope for; likewise from the worst of all
    scores: Array = field(default_factory=_none)  # of the atoms, as far as they are known, and
    seen: Array = field(default_factory=_none)  # the step at which each was seen
    grown: float = 1.0  # how often the rounding of the carried image has been multiplied since it was measured


class Settings(Protocol):
    """The settings of ``RankOneRegularized``."""

    @property
    def select(self) -> str: ...
    @property
    def step_rule(self) -> str: ...
    @property
    def beta(self) -> float | str | None: ...
    @property
    def factor(self) -> float: ...
    @property
    def oracle(self) -> Oracle | None: ...


@dataclass(frozen=True, eq=False)
class Chosen:
    """The atom x that gives weight away: its place, its weight a, and its score xᴴ(−∇f)x."""

    i: int
    weight: float
    vector: Block
    score: float
    heavy: bool  # select="worthy": it was the worst of the worthy atoms, not the worst of all


def choose(select: str, descent: Lifted, point: Point, memory: RORMemory, rng: np.random.Generator) -> Chosen:
    """An atom with probability aᵢ ("random"), the worst ("greedy"), or the worst of those worth a step ("worthy")."""
    atoms, heavy = point.atoms, False
    if select == "random":
        i = atoms.sample(rng)
        score = float(descent.scores(atoms.vector(i), 1)[0])
    else:
        heavy = select == "worthy" and memory.heavy >= memory.light
        i, score = worst(descent, atoms, WORTH if heavy else 0.0)
    return Chosen(i, float(atoms.weights[i]), atoms.vector(i), score, heavy)


def hopes(select: str, memory: RORMemory, heavy: bool, gained: float) -> tuple[float, float]:
    """The two hopes after a step. Atoms of little weight gain nothing, yet sometimes only they are in the way.

    So whichever kind gained more goes on, and the hope for the other kind grows until it is tried again.
    """
    if select != "worthy":
        return math.inf, math.inf
    return (gained, _HOPE * memory.light) if heavy else (_HOPE * memory.heavy, gained)
