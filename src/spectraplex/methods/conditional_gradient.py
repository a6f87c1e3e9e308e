"""Conditional gradient, also known as Frank-Wolfe (Algorithm 1 of the paper).

v ← EV(−∇f(X));   X ← X + η (vvᴴ − X),   η = 2/(t + 2), or by exact line search on [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..places.protocol import Block
from ..problem import Point, Problem, Step
from .oracle import Oracle, base, begin, find, oracle_or_say, tidy


@dataclass(frozen=True, eq=False)
class CGMemory:
    t: int
    guess: Block


@dataclass(frozen=True)
class ConditionalGradient:
    """One leading eigenvector per step; f − f* = O(β/t).

    Parameters
    ----------
    step : "line-search" (exact, monotone) or "open-loop" (η = 2/(t + 2), needs nothing, often better at the end).
    oracle : finds the eigenvectors in place of ``methods.oracle.find``; for studies of their accuracy.
    """

    step_rule: str
    oracle: Oracle | None
    Memory: ClassVar[type] = CGMemory

    def __init__(self, step: str = "line-search", oracle: Oracle | None = None) -> None:
        if not isinstance(step, str) or step not in ("line-search", "open-loop"):
            raise ValueError(f"ConditionalGradient: step must be 'line-search' or 'open-loop', got {step!r}.")
        object.__setattr__(self, "step_rule", step)
        object.__setattr__(self, "oracle", oracle_or_say("ConditionalGradient", oracle))

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, CGMemory, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, CGMemory(1, guess), step

    def step(
        self, problem: Problem, point: Point, memory: CGMemory, rng: np.random.Generator
    ) -> tuple[Point, CGMemory, Step]:
        descent = problem.descent(point)
        found = (self.oracle or find)(descent, base(problem, point), rng, memory.guess)
        v = found.vector
        dz = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
        if self.step_rule == "open-loop":
            eta = 2.0 / (memory.t + 2.0)
        else:
            eta = problem.curve(point, dz).minimize(1.0)
        new = problem.ahead(point, tidy(point.atoms.blend(v, eta)), dz, eta)
        return new, CGMemory(memory.t + 1, v), Step("toward", eta, descent.products, found.gap)
