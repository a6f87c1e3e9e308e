"""Rank-one-regularised conditional gradient that chooses the strength of its regulariser while it runs.

    with η_t = 18/(t + 8), c the curvature met so far, and two hopes, one for each kind of eigenvector:
    x ← the worst of the atoms that weigh enough, y ← the worst of all, z ← the atom that came last;
    a, b, d their weights
    σ ← FIRM·c·min(η_t, a) if hope(regularised) ≥ hope(plain), else 0
    v ← EV(−∇f(X) + σ xxᴴ)
    X ← argmin f over conv{vvᴴ, xxᴴ, yyᴴ, zzᴴ, R},   R the rest of X: X = a xxᴴ + b yyᴴ + d zzᴴ + (1 − a − b − d)R
    hope(kind used) ← what this step gained;   the other hope ← GROWTH times itself, at least LEAST of that gain
    c ← smoothed ‖𝒜(D)‖²/‖D‖²_F, D = vvᴴ − xxᴴ

c is measured and min(η_t, a) is the largest step from x, so σ needs no constant of the data. Where the model
f(X) + γ⟨D, ∇f⟩ + ½γ²c‖D‖² is right the regularised vector gains more, where it is not the plain one does; what each
gained when it was used last decides, and the growth of the other hope lets it be tried again.

The hull of the last step holds the moves from x, y and z to v and between them, the step towards v and those away
from x, y and z; where two of these atoms are one it has a corner less. z is the vector of the step before, as long as
it has weight: how much it was given is settled once more, now that v is there too. For quadratic losses the minimum
over the hull is exact; for others a quadratic model at X gives a direction, f is searched along it, and the step
towards v with an exact line search is taken in its place if that gains more. So f never rises, and each step gains at
least what the step towards v would.

The rate. With a plain v that gain is conditional gradient's, p ≥ C·(f(X) − f*)², where C depends on β and on the
accuracy of v alone. A regularised vector is used again only if it gained at least what is hoped for from the plain one,
and that is more than the last plain one gained. So between two plain steps all regularised ones but the last gain at
least p: at least every second step gains C·(f − f*)², and f − f* = O(1/t) with twice conditional gradient's constant.

Which atoms x, y and z are does not matter to this argument; scores.py makes fresh only some of their scores in a step.

Where it loses. In a ball several times larger than the data need f falls by a nearly constant factor a step. There
regularised vectors gain half of what plain ones do, and are tried in a third of the steps all the same: whenever a
plain one happened to gain little. Conditional gradient may need a sixth to a third fewer eigenvectors. Averages of
gains instead of the last ones help there, and cost as much on problems of low rank, where gains differ by powers of
ten from step to step; the atom of the greatest weight times deficit in place of x and y helps with very uneven weights,
and costs more on problems of low rank.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..matrices.atoms import Atoms
from ..places.numpy import Array
from ..problem import Point, Problem, Step
from .oracle import Direction, base, find, tidy
from .rank_one_adaptive import met
from .rank_one_parts import FIRM, WORTH, RORMemory, Settings, regularized, share_of_gain, theorem_step
from .scores import aligned, refreshed
from .ways import ways_to

_GROWTH = 1.1
_LEAST = 0.05
_BLURRED = 32.0  # times its own rounding, what a carried image may be off by: growth of X multiplies it


def auto_step(
    settings: Settings, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
) -> tuple[Point, RORMemory, Step]:
    """One step of the box above."""
    descent, here, atoms = problem.descent(point), base(problem, point), point.atoms
    scores, seen = refreshed(descent, atoms, memory.scores, memory.seen, memory.t)
    chosen = _chosen(settings.select, atoms, scores, rng)
    vectors = [atoms.vector(i) for i in chosen]
    x, a = vectors[0], float(atoms.weights[chosen[0]])
    firm = memory.strong >= memory.plain
    strength = FIRM * memory.curvature * min(theorem_step(memory.t), a) if firm else 0.0
    found: Direction
    if strength > 0.0:
        known = seen[chosen[0]] == memory.t
        score = float(scores[chosen[0]]) if known else float(descent.scores(x, 1)[0])
        asked: dict[str, Any] = {"accuracy": share_of_gain(score, strength), "careful": False}
        found = regularized(descent, x, strength, here, rng, settings.oracle, guess=memory.guess, **asked)
    else:
        found = (settings.oracle or find)(descent, here, rng, memory.guess)
    v = found.vector

    ways = ways_to(problem, point, chosen, [v, *vectors])
    sizes, image = ways.best()
    moved = ways.weights + ways.change @ sizes
    weights = atoms.weights * (1.0 - sizes[-1]) if ways.others else atoms.weights.copy()
    weights[chosen] = moved[1 : 1 + len(chosen)]
    weights, size = np.maximum(weights, 0.0), max(float(moved[0]), 0.0)
    grown = memory.grown * (1.0 - float(sizes[-1]) if ways.others else 1.0)
    there = tidy(atoms.spread(weights, v, size))
    new = problem.point(there, image if grown <= _BLURRED else None)
    grown = max(grown, 1.0) if grown <= _BLURRED else 1.0

    curvature = met(ways.curves[0], size, problem.place.gram(v, x), memory.curvature)
    scores, seen = aligned(scores, seen, weights, size, new.atoms)
    hopes = _hopes(memory, strength > 0.0, point.value - new.value)
    later = replace(
        memory, t=memory.t + 1, guess=v, curvature=curvature, scores=scores, seen=seen, grown=grown, **hopes
    )
    return new, later, Step("move", size, descent.products, found.gap)


def _chosen(select: str, atoms: Atoms, scores: Array, rng: np.random.Generator) -> list[int]:
    """x, y and z, each atom once: with "random" and "greedy" there is no y, and an atom that would be all of R is R."""
    last, worst = len(atoms) - 1, int(np.argmin(scores))
    if select == "random":
        named = [atoms.sample(rng)]
    elif select == "greedy":
        named = [worst]
    else:
        promised = atoms.weights * (scores.max() - scores)
        named = [int(np.argmin(np.where(promised >= WORTH * promised.max(), scores, np.inf))), worst]
    chosen = list(dict.fromkeys([*named, last]))
    return chosen[:-1] if len(chosen) == len(atoms) > 1 else chosen


def _hopes(memory: RORMemory, firm: bool, gained: float) -> dict[str, float]:
    """What may be hoped for from either kind of eigenvector after one of them was used."""
    other = max(_GROWTH * (memory.plain if firm else memory.strong), _LEAST * gained)
    return {"strong": gained, "plain": other} if firm else {"strong": other, "plain": gained}
