"""Pairwise conditional gradient: weight goes from the worst atom straight to the new one.

    v ← EV(−∇f(X));   x ← argmax xᵢᴴ∇f xᵢ;   X ← X + η (vvᴴ − xxᴴ),  η ≤ a, exact line search.

It is rank-one-regularised conditional gradient with a regulariser of zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problem import Point, Problem, Step
from .conditional_gradient import CGMemory
from .oracle import base, begin, difference, find, tidy, worst


@dataclass(frozen=True)
class Pairwise:
    """One leading eigenvector and one scoring of all atoms per step; exact line search."""

    Memory: ClassVar[type] = CGMemory

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, CGMemory, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, CGMemory(1, guess), step

    def step(
        self, problem: Problem, point: Point, memory: CGMemory, rng: np.random.Generator
    ) -> tuple[Point, CGMemory, Step]:
        descent, atoms = problem.descent(point), point.atoms
        found = find(descent, base(problem, point), rng, memory.guess)
        v = found.vector
        i, _ = worst(descent, atoms)
        dz = difference(problem, v, atoms.vector(i))
        eta = problem.curve(point, dz).minimize(float(atoms.weights[i]))
        new = problem.ahead(point, tidy(atoms.move(i, v, eta)), dz, eta)
        return new, CGMemory(memory.t + 1, v), Step("move", eta, descent.products, found.gap)
