"""Rank-one-regularised conditional gradient as the paper's experiment ran it: a chosen atom, an exact line search.

    with η_t = 18/(t + 8) and β given or known:
    i ← argmax xᵢᴴ∇f(X)xᵢ, the worst atom                    [select="random": with probability aᵢ;
                                                              select="worthy": the worst of those that weigh enough]
    v ← EV(−∇f(X) + η_t β xᵢxᵢᴴ)
    X ← X + η (vvᴴ − xᵢxᵢᴴ), the best η on [0, aᵢ]           [step="theorem": η̃ of Algorithm 2]

Settings of ``RankOneRegularized`` other than the printed ones, with a β, come here.
"""

from __future__ import annotations

import numpy as np

from ..problem import Point, Problem, Step
from .oracle import base, difference, tidy
from .rank_one_parts import (
    RORMemory,
    Settings,
    choose,
    hopes,
    regularized,
    share_of_gain,
    theorem_accuracy,
    theorem_move,
    theorem_step,
)


def greedy_step(
    settings: Settings, beta: float, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
) -> tuple[Point, RORMemory, Step]:
    """One step with the regulariser η_t·β."""
    descent, here, eta = problem.descent(point), base(problem, point), theorem_step(memory.t)
    chosen = choose(settings.select, descent, point, memory, rng)
    x, strength = chosen.vector, eta * beta

    # ξ_t goes with the step of the theorem; a line search, or no β, has no ξ_t
    theorem = settings.step_rule == "theorem" and beta > 0
    accuracy = theorem_accuracy(memory.t, beta) if theorem else share_of_gain(chosen.score, strength)
    found = regularized(
        descent, x, strength, here, rng, settings.oracle, guess=memory.guess, accuracy=accuracy, careful=theorem
    )
    v = found.vector

    dz = difference(problem, v, x)
    if settings.step_rule == "theorem":
        size = theorem_move(eta, chosen.weight)
        atoms = point.atoms.move(chosen.i, v, size)
    else:
        size = problem.curve(point, dz).minimize(chosen.weight)
        atoms = tidy(point.atoms.move(chosen.i, v, size))
    new = problem.ahead(point, atoms, dz, size)
    hoped = hopes(settings.select, memory, chosen.heavy, point.value - new.value)
    return new, RORMemory(memory.t + 1, v, 0.0, *hoped), Step("move", size, descent.products, found.gap)
