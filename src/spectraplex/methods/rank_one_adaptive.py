"""Rank-one-regularised conditional gradient without β: the regulariser is as strong as the curvature that is met.

    with η_t = 18/(t + 8) and c the curvature met so far (0 at first):
    i ← the worst of the atoms that weigh enough             [select="random", "greedy": as in rank_one_greedy.py]
    v ← EV(−∇f(X) + scale·min(η_t, aᵢ)·c xᵢxᵢᴴ)
    D ← vvᴴ − xᵢxᵢᴴ;  X ← X + η D, the best η on [0, aᵢ]     [step="theorem": η̃ of Algorithm 2]
    c ← smoothed ‖𝒜(D)‖²/‖D‖²

The step taken never exceeds aᵢ, so min(η_t, aᵢ) stands where Algorithm 2 has η_t; and the curvature that matters is the
one along recent directions, which may be far below β. ``RankOneRegularized(beta="adaptive", scale=<number>)`` comes
here; rank_one_auto.py takes a vector without the regulariser, too.
"""

from __future__ import annotations

import numpy as np

from ..losses.curves import Curve
from ..places.numpy import Array
from ..problem import Point, Problem, Step
from .oracle import base, difference, tidy
from .rank_one_parts import (
    RORMemory,
    Settings,
    choose,
    hopes,
    regularized,
    share_of_gain,
    theorem_move,
    theorem_step,
)

_FADE = 0.7  # share of the old curvature kept at each step


def adaptive_step(
    settings: Settings, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
) -> tuple[Point, RORMemory, Step]:
    """One step with the regulariser scale·min(η_t, aᵢ)·curvature."""
    descent, here, eta = problem.descent(point), base(problem, point), theorem_step(memory.t)
    chosen = choose(settings.select, descent, point, memory, rng)
    x, strength = chosen.vector, settings.factor * min(eta, chosen.weight) * memory.curvature
    accuracy = share_of_gain(chosen.score, strength)
    found = regularized(
        descent, x, strength, here, rng, settings.oracle, guess=memory.guess, accuracy=accuracy, careful=False
    )
    v = found.vector

    dz = difference(problem, v, x)
    curve = problem.curve(point, dz)
    if settings.step_rule == "theorem":
        size = theorem_move(eta, chosen.weight)
        atoms = point.atoms.move(chosen.i, v, size)
    else:
        size = curve.minimize(chosen.weight)
        atoms = tidy(point.atoms.move(chosen.i, v, size))
    curvature = met(curve, size, problem.place.gram(v, x), memory.curvature)
    new = problem.ahead(point, atoms, dz, size)
    hoped = hopes(settings.select, memory, chosen.heavy, point.value - new.value)
    return new, RORMemory(memory.t + 1, v, curvature, *hoped), Step("move", size, descent.products, found.gap)


def met(curve: Curve, size: float, overlap: Array, before: float) -> float:
    """Smoothed curvature ‖𝒜(D)‖²/‖D‖²_F, with ‖vvᴴ − xxᴴ‖²_F = 2(1 − |vᴴx|²); ``overlap`` is vᴴx.

    A step of no size says that the regulariser held v at x: it is halved until it lets go.
    """
    return smoothed(curve.curvature(size) if size > 0.0 else 0.0, size, overlap, before)


def smoothed(bend: float, size: float, overlap: Array, before: float) -> float:
    """The same from ‖𝒜(D)‖²."""
    length = float(2.0 * (1.0 - abs(overlap[0, 0]) ** 2))
    if size == 0.0 or length < 1e-12:
        return 0.5 * before
    met = bend / length
    return met if before == 0.0 else _FADE * before + (1.0 - _FADE) * met
