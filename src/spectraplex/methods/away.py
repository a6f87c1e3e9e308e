"""Conditional gradient with away steps, the paper's second baseline (Guélat & Marcotte; Lacoste-Julien & Jaggi).

v ← EV(−∇f(X));   x ← the worst atom, argmax xᵢᴴ∇f xᵢ
towards:  X + η (vvᴴ − X),  η ≤ 1               if ⟨−∇f, vvᴴ − X⟩ ≥ ⟨−∇f, X − xxᴴ⟩
away:     X + η (X − xxᴴ),  η ≤ a/(1 − a)       otherwise; a full step drops the atom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..problem import Point, Problem, Step
from .conditional_gradient import CGMemory
from .oracle import base, begin, find, tidy, worst


@dataclass(frozen=True)
class AwayStep:
    """One leading eigenvector and one scoring of all atoms per step; exact line search."""

    Memory: ClassVar[type] = CGMemory

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, CGMemory, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, CGMemory(1, guess), step

    def step(
        self, problem: Problem, point: Point, memory: CGMemory, rng: np.random.Generator
    ) -> tuple[Point, CGMemory, Step]:
        descent, atoms, here = problem.descent(point), point.atoms, base(problem, point)
        found = find(descent, here, rng, memory.guess)
        v, (i, score) = found.vector, worst(descent, atoms)
        a = float(atoms.weights[i])
        memory = CGMemory(memory.t + 1, v)
        if found.gap >= here - score or a > 1.0 - 1e-12:
            dz = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
            eta = problem.curve(point, dz).minimize(1.0)
            kind, moved = "toward", atoms.blend(v, eta)
        else:
            limit = a / (1.0 - a)
            dz = problem.lifted.combine(1.0, point.image, -1.0, problem.image_of(atoms.vector(i)))
            eta = problem.curve(point, dz).minimize(limit)
            kind, moved = ("drop" if eta == limit else "away"), atoms.away(i, eta)
        new = problem.ahead(point, tidy(moved), dz, eta)
        return new, memory, Step(kind, eta, descent.products, found.gap)
