"""Rank-one-regularised conditional gradient whose regulariser is as strong as the curvature that is met.

    with η_t = 18/(t + 8), c the curvature met so far:
    x ← the worst of the atoms that weigh enough, y ← the worst of all, z ← the atom that came last
    a, b, d ← their weights
    σ ← FIRM·c·min(η_t, a), but 0 in every OFTEN-th step
    v ← EV(−∇f(X) + σ xxᴴ);   u ← the best vector for −∇f(X) in the Krylov space that v was found in
    X ← argmin f over conv{uuᴴ, vvᴴ, xxᴴ, yyᴴ, zzᴴ, R},   R the rest of X: X = a xxᴴ + b yyᴴ + d zzᴴ + (1 − a − b − d)R
    c ← smoothed ‖𝒜(D)‖²/‖D‖²_F, D = vvᴴ − xxᴴ; halved where v was given nothing

c is measured and min(η_t, a) is the largest step from x, so σ needs no constant of the data. Where the model
f(X) + γ⟨D, ∇f⟩ + ½γ²c‖D‖² is right the regularised vector gains more, where it is not a plain one does, and nobody has
to know which: a product with −∇f(X) + σ xxᴴ is one with −∇f(X), so u costs no product, and a step is still one search
for one eigenvector (small matrices, which are decomposed whole, are decomposed once for each). Searched for alone in
turns with v, by what each had gained before, u led to twice the value of conditional gradient's on some tables with
very uneven weights.

The hull of the last step holds the moves from x, y and z to u and v and between them, the step towards u and those away
from x, y and z; where two of these are one it has a corner less. z is a vector of the step before, as long as it has
weight: how much it was given is settled once more, now that u and v are there too. For quadratic losses the minimum
over the hull is exact; for others a quadratic model at X gives a direction, f is searched along it, and the step
towards u with an exact line search is taken in its place if that gains more.

The rate. f never rises, and every OFTEN-th step gains at least what conditional gradient's step from the same X does
with a vector of the same accuracy, C·(f(X) − f*)²: f − f* = O(1/t) with OFTEN times its constant. Which atoms x, y and
z are does not matter to this argument; scores.py makes fresh only some of their scores in a step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..matrices.atoms import Atoms
from ..places.numpy import Array
from ..places.protocol import Block
from ..problem import Point, Problem, Step
from .oracle import Direction, base, find, tidy
from .rank_one_adaptive import smoothed
from .rank_one_parts import FIRM, WORTH, RORMemory, Settings, regularized, share_of_gain, theorem_step
from .scores import aligned, refreshed
from .ways import Ways, ways_to

_BLURRED = 32.0  # times its own rounding, what a carried image may be off by: growth of X multiplies it
_EXACT = 0.05  # accuracy of v, as a share of what it gains over staying at x: u is the better for a larger space
_OFTEN = 16  # every so many steps u is searched for as conditional gradient does
_SAME, _ALIKE = 1e-12, 1e-6  # two vectors are one up to this part of them; where bends are differences of values


def auto_step(
    settings: Settings, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
) -> tuple[Point, RORMemory, Step]:
    """One step of the box above."""
    descent, here, atoms = problem.descent(point), base(problem, point), point.atoms
    scores, seen = refreshed(descent, atoms, memory.scores, memory.seen, memory.t)
    chosen = _chosen(settings.select, atoms, scores, rng)
    x, a = atoms.vector(chosen[0]), float(atoms.weights[chosen[0]])
    strength = FIRM * memory.curvature * min(theorem_step(memory.t), a) if memory.t % _OFTEN else 0.0
    found: Direction
    if strength > 0.0:
        known = seen[chosen[0]] == memory.t
        score = float(scores[chosen[0]]) if known else float(descent.scores(x, 1)[0])
        asked: dict[str, Any] = {"accuracy": share_of_gain(score, strength, _EXACT), "careful": False, "plain": True}
        found = regularized(descent, x, strength, here, rng, settings.oracle, guess=memory.guess, **asked)
    else:
        found = (settings.oracle or find)(descent, here, rng, memory.guess)
    new = _new(problem, found)
    vectors = [*new, x, *(atoms.vector(i) for i in chosen[1:])]

    ways = ways_to(problem, point, chosen, vectors)
    sizes, image = ways.best()
    moved = np.maximum(ways.weights + ways.change @ sizes, 0.0)
    weights = atoms.weights * (1.0 - sizes[-1]) if ways.others else atoms.weights.copy()
    weights[chosen] = moved[len(new) : len(vectors)]
    weights, given = np.maximum(weights, 0.0), moved[: len(new)]
    grown = memory.grown * (1.0 - float(sizes[-1]) if ways.others else 1.0)
    there = tidy(_with(atoms, weights, new, given))
    reached = problem.point(there, image if grown <= _BLURRED else None)
    grown = max(grown, 1.0) if grown <= _BLURRED else 1.0

    v, size = new[-1], float(given[-1])
    curvature = smoothed(_bend(problem, ways, len(new), size), size, problem.place.gram(v, x), memory.curvature)
    scores, seen = aligned(scores, seen, weights, given, reached.atoms)
    guess = v if len(new) == 1 else problem.place.join(v, new[0])
    later = replace(memory, t=memory.t + 1, guess=guess, curvature=curvature, scores=scores, seen=seen, grown=grown)
    gap = found.gap if found.plain is None else found.plain.gap
    return reached, later, Step("move", float(given.sum()), descent.products, gap)


def _new(problem: Problem, found: Direction) -> list[Block]:
    """u and v, or one of them where they are the same or only one was found."""
    if found.plain is None:
        return [found.vector]
    u, v = found.plain.vector, found.vector
    same = 1.0 - abs(problem.place.gram(u, v)[0, 0]) ** 2 <= (_ALIKE if problem.facts.hull is None else _SAME)
    return [u] if same else [u, v]


def _with(atoms: Atoms, weights: Array, new: list[Block], given: Array) -> Atoms:
    """New weights for all atoms, and the new vectors with theirs, u the last."""
    for k in reversed(range(len(new))):
        if k == 0 or given[k] > 0.0:
            held = float(weights.sum() + given[k])  # what is spread is made to sum to one
            atoms = atoms.spread(weights, new[k], float(given[k]))
            weights = held * atoms.weights
    return atoms


def _bend(problem: Problem, ways: Ways, new: int, size: float) -> float:
    """That along vvᴴ − xxᴴ: of a quadratic from u's ways from x and from v, of another function along the line itself.

    There bends are differences of values, and differences of those would be rounding.
    """
    if ways.hull is None:
        v, x = ways.images[new - 1 : new + 1]
        return problem.curve(ways.point, problem.lifted.combine(1.0, v, -1.0, x)).curvature(size)
    B = ways.bend
    return float(B[0, 0]) if new == 1 else max(float(B[0, 0] + B[1, 1] - 2.0 * B[0, 1]), 0.0)


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
