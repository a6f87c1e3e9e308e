"""Stochastic conditional gradient: steps that look at some of the observations, for data too large to pass each time.

    pick B, b of the N observations;   g ← (N/b)·∇f_B(X), or with ``reduced``  ∇f(X₀) + (N/b)·(∇f_B(X) − ∇f_B(X₀))
    v ← EV(−g);   X ← X + η (vvᴴ − X),   η = 2/(t + 2)

X₀ is the point where the last round ended, so its gradient is known. One step of ``solve`` is a round of these until
they have looked at as many observations as there are, and then one pass over all of them, for the value that ``solve``
judges. Batches grow by ``growth`` a step. Sampled steps are those of Hazan & Luo (2016), "Variance-reduced and
projection-free stochastic optimization"; with a batch of everything they are the open-loop steps of Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks import is_flag, number, share
from ..matrices.given import as_operator
from ..matrices.lifted import Lifted
from ..matrices.operators import Sum
from ..places.numpy import Array
from ..places.protocol import Block
from ..problem import Point, Problem, Step
from .oracle import base, begin, find, tidy

_LEAST = 100  # observations of a batch
_MOST = 200  # steps of a round


@dataclass(frozen=True, eq=False)
class StochasticMemory:
    t: int
    batch: float
    guess: Block


@dataclass(frozen=True)
class Stochastic:
    """Steps from samples of the observations; a full pass for each round of them. Not monotone: the best is kept.

    Parameters
    ----------
    batch : the share of the observations in a first batch; 1.0 looks at all of them.
    growth : what the size of a batch is multiplied with from step to step, until it is everything.
    reduced : whether a sample corrects the gradient of the last full pass, in place of standing for all observations.
    """

    batch: float = 0.2
    growth: float = 1.005
    reduced: bool = True
    Memory: ClassVar[type] = StochasticMemory

    def __post_init__(self) -> None:
        if is_flag(self.batch) or self.batch != 1.0:
            share("Stochastic", "batch", self.batch)
        if number("Stochastic", "growth", self.growth) < 1.0:
            raise ValueError(f"Stochastic: growth must be at least 1, got {self.growth!r}; batches never get smaller.")
        if not is_flag(self.reduced):
            raise TypeError(f"Stochastic: reduced must be True or False, got {self.reduced!r}.")

    def require(self, problem: Problem) -> None:
        """Refuse what cannot give a part of its observations, or asks for more than a set."""
        if problem.facts.some is None or problem.facts.units is None:
            raise ValueError(
                f"Stochastic needs an objective with some(index), a part of its observations, which "
                f"{problem.objective!r} has not; use sx.Fit with sx.Entries or sx.Features, or the method 'cg'."
            )
        if problem.lifted.penalty:
            raise ValueError(f"Stochastic needs a set, and {problem.domain!r} is a penalty; use 'hybrid'.")

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, StochasticMemory, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, StochasticMemory(1, self.batch, guess), step

    def step(
        self, problem: Problem, point: Point, memory: StochasticMemory, rng: np.random.Generator
    ) -> tuple[Point, StochasticMemory, Step]:
        told, lifted = problem.facts, problem.lifted
        assert told.units is not None
        here = _Round(problem, point, -lifted.pair(point.slope, point.image), self.reduced)
        looked, products, gap, eta, count = 0, 0.0, np.inf, 0.0, told.units
        for _ in range(_MOST):
            count = min(max(round(memory.batch * told.units), _LEAST), told.units)
            sample = None if count == told.units else np.sort(rng.choice(told.units, count, replace=False))
            seen = here.look(sample)
            found = find(seen.operator, seen.beat, rng, memory.guess)
            eta = 2.0 / (memory.t + 2.0)
            here.move(seen, found.vector, found.value, eta)
            products, gap = products + seen.operator.products, found.gap
            memory = StochasticMemory(memory.t + 1, min(memory.batch * self.growth, 1.0), found.vector)
            looked += count
            if looked + count > told.units:
                break
        return (
            problem.point(here.atoms),
            memory,
            Step("sampled" if sample is not None else "toward", eta, products, gap),
        )


@dataclass(frozen=True, eq=False)
class _Seen:
    """−g upstairs, ⟨−g, X⟩, and ⟨−g + ∇f(X₀), vvᴴ⟩ for any v."""

    operator: Any
    beat: float
    sampled: Callable[[Block], float]


class _Round:
    """Where a round is: X, and ⟨−∇f(X₀), X⟩, which moves along with it at no product."""

    def __init__(self, problem: Problem, point: Point, pulled: float, reduced: bool) -> None:
        self.problem, self.point, self.reduced = problem, point, reduced
        self.atoms, self.pulled = point.atoms, pulled

    def look(self, sample: Array | None) -> _Seen:
        """The gradient that a sample of the observations stands for; None is all of them, and exact."""
        problem, point, vectors = self.problem, self.point, self.atoms.vectors
        if sample is None:
            point = point if self.atoms is point.atoms else problem.point(self.atoms)
            return _Seen(problem.descent(point), base(problem, point), lambda v: 0.0)
        told = problem.facts
        assert told.some is not None and told.units is not None
        objective, numbers = told.some(sample)
        part = problem.domain.lift(objective)
        image = part.measure(vectors, self.atoms.weights, vectors)
        slope = part.evaluate(image)[1]
        share = told.units / sample.size
        if not self.reduced:
            slope = share * slope
            return _Seen(part.gradient(slope, sign=-1.0), -part.pair(slope, image), lambda v: 0.0)
        change = share * (slope - point.slope[numbers])
        terms = [problem.objective.gradient(point.slope), objective.gradient(change)]
        corner, lifted = problem.lifted.corner, problem.lifted
        both = Sum([1.0, 1.0], [as_operator(term) for term in terms])
        operator = Lifted(both, corner.left, corner.right, lifted.dimension, -corner.scale, problem.place)
        one = np.ones(1)
        beat = self.pulled - part.pair(change, image)
        return _Seen(operator, beat, lambda v: -part.pair(change, part.measure(v, one, v)))

    def move(self, seen: _Seen, v: Block, value: float, eta: float) -> None:
        """X ← X + η (vvᴴ − X); ``value`` is ⟨−g, vvᴴ⟩."""
        if self.reduced:
            self.pulled = (1.0 - eta) * self.pulled + eta * (value - seen.sampled(v))
        self.atoms = tidy(self.atoms.blend(v, eta))
