"""Rank-one-regularised conditional gradient, "ROR-CG": Algorithm 2 of the paper, as printed.

    x₁ ← EV_ξ₀(−∇f(x₀x₀ᴴ)), X₁ = x₁x₁ᴴ; then for t = 1, 2, … with η_t = 18/(t + 8):
    draw i with probability aᵢ
    η̃ ← η_t/2 if aᵢ ≥ η_t, else aᵢ
    v ← EV_ξt(−∇f(X) + η_t β xᵢxᵢᴴ)
    X ← X + η̃ (vvᴴ − xᵢxᵢᴴ)

β is that of the lifted function (2θ²β on the nuclear-norm ball). The same class has three variants, each in a file of
its own: rank_one_greedy.py (another atom, a line search), rank_one_adaptive.py (no β) and rank_one_auto.py (no β, and
the regulariser need not be right).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import number
from ..problem import Point, Problem, Step
from .oracle import Oracle, base, begin, difference, oracle_or_say
from .rank_one_adaptive import adaptive_step
from .rank_one_auto import auto_step
from .rank_one_greedy import greedy_step
from .rank_one_parts import (
    FIRM,
    RORMemory,
    regularized,
    smoothness_or_say,
    theorem_accuracy,
    theorem_move,
    theorem_step,
)


@dataclass(frozen=True)
class RankOneRegularized:
    """One leading eigenvector of the gradient plus a rank-one per step; the defaults are Algorithm 2 as printed.

    Parameters
    ----------
    select : "random" (atom i with probability aᵢ), "greedy" (the worst atom; one block product more) or "worthy" (the
        worst of the atoms whose weight makes moving them worth an eigenvector).
    step : "theorem" (η̃ of Algorithm 2) or "line-search" (exact, monotone).
    beta : None takes the objective's smoothness through the lift and refuses when it is unknown; a number is used as
        it is; "adaptive" needs none.
    scale : "auto" lets the method with beta="adaptive" and a line search mix, at every step, the vector with the
        regulariser and the one without it as is best; a number is a fixed factor of the adaptive regulariser (with
        step="theorem", "auto" is 0.8).
    oracle : finds the eigenvectors v in place of ``methods.oracle.find``, told ξ_t; for studies of their accuracy.
    """

    select: str
    step_rule: str
    beta: float | str | None
    scale: float | str
    oracle: Oracle | None
    Memory: ClassVar[type] = RORMemory

    def __init__(
        self,
        select: str = "random",
        step: str = "theorem",
        beta: float | str | None = None,
        scale: float | str = "auto",
        oracle: Oracle | None = None,
    ) -> None:
        if select not in ("random", "greedy", "worthy"):
            raise ValueError(f"RankOneRegularized: select must be 'random', 'greedy' or 'worthy', got {select!r}.")
        if step not in ("theorem", "line-search"):
            raise ValueError(f"RankOneRegularized: step must be 'theorem' or 'line-search', got {step!r}.")
        if isinstance(beta, str) and beta != "adaptive":
            raise ValueError(f"RankOneRegularized: beta must be None, a number or 'adaptive', got {beta!r}.")
        if beta is not None and not isinstance(beta, str):
            beta = number("RankOneRegularized", "beta", beta)
        if scale != "auto":
            scale = number("RankOneRegularized", "scale", scale)
        for name, value in (("select", select), ("step_rule", step), ("beta", beta), ("scale", scale)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "oracle", oracle_or_say("RankOneRegularized", oracle))

    def require(self, problem: Problem) -> None:
        """Refuse a problem without the constant that is needed, before any work."""
        self._beta(problem)

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, RORMemory, Step]:
        beta = self._beta(problem)
        point, guess, step = begin(problem, point, rng, accuracy=beta or None)  # ξ₀ = β
        # From a given point the printed schedule starts where it allows the smallest weight: aᵢ ≥ η_t/2.
        given = step.kind == "start" and self.step_rule == "theorem"
        t = max(1, math.ceil(9.0 / float(point.atoms.weights.min()) - 8.0)) if given else 1
        return point, RORMemory(t, guess, 0.0), step

    def step(
        self, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
    ) -> tuple[Point, RORMemory, Step]:
        if self.beta == "adaptive" and self.scale == "auto" and self.step_rule == "line-search":
            return auto_step(self, problem, point, memory, rng)
        if self.beta == "adaptive":
            return adaptive_step(self, problem, point, memory, rng)
        beta = self._beta(problem)
        if self.select != "random" or self.step_rule != "theorem" or beta == 0.0:  # with β = 0, ξ_t would be 0
            return greedy_step(self, beta, problem, point, memory, rng)

        descent, here, atoms, t = problem.descent(point), base(problem, point), point.atoms, memory.t
        eta, xi = theorem_step(t), theorem_accuracy(t, beta)
        i = atoms.sample(rng)
        a, x = float(atoms.weights[i]), atoms.vector(i)
        size = theorem_move(eta, a)
        found = regularized(
            descent, x, eta * beta, here, rng, self.oracle, guess=memory.guess, accuracy=xi, careful=True
        )
        v = found.vector
        new = problem.ahead(point, atoms.move(i, v, size), difference(problem, v, x), size)
        return new, RORMemory(t + 1, v, 0.0), Step("move", size, descent.products, found.gap)

    @property
    def factor(self) -> float:
        """That of the adaptive regulariser."""
        return FIRM if isinstance(self.scale, str) else self.scale

    def _beta(self, problem: Problem) -> float:
        return 0.0 if self.beta == "adaptive" else smoothness_or_say(problem, "RankOneRegularized", self.beta)
