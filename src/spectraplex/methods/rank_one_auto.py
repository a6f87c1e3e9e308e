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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..losses.curves import Curve, Quadratic
from ..matrices.atoms import Atoms
from ..places.numpy import Array
from ..problem import Point, Problem, Step
from .oracle import Direction, base, find, tidy
from .rank_one_adaptive import met
from .rank_one_parts import FIRM, WORTH, RORMemory, Settings, regularized, share_of_gain, theorem_step
from .scores import aligned, refreshed
from .small_shares import best_sizes

_GROWTH = 1.1
_LEAST = 0.05
_MOST = 10.0  # times the rest of X, what it grows by in one step at the most
_BLURRED = 32.0  # times its own rounding, what a carried image may be off by: growth of X multiplies it


def auto_step(
    settings: Settings, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
) -> tuple[Point, RORMemory, Step]:
    """One step of the box above."""
    descent, here, atoms = problem.descent(point), base(problem, point), point.atoms
    scores, seen = refreshed(descent, atoms, memory.scores, memory.seen, memory.t)
    chosen = _chosen(settings.select, atoms, scores, rng)
    x, a = atoms.vector(chosen[0]), float(atoms.weights[chosen[0]])
    images = [problem.image_of(atoms.vector(i)) for i in chosen]
    firm = memory.strong >= memory.plain
    strength = FIRM * memory.curvature * min(theorem_step(memory.t), a) if firm else 0.0
    found: Direction
    if strength > 0.0:
        score = -problem.lifted.pair(point.slope, images[0])
        asked: dict[str, Any] = {"accuracy": share_of_gain(score, strength), "careful": False}
        found = regularized(descent, x, strength, here, rng, settings.oracle, guess=memory.guess, **asked)
    else:
        found = (settings.oracle or find)(descent, here, rng, memory.guess)
    v = found.vector

    ways = _ways(problem, point, chosen, [problem.image_of(v), *images])
    sizes, image = _best(problem, point, ways)
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


@dataclass(frozen=True, eq=False)
class _Ways:
    """Ways to v: from x, from y and z where they are other atoms, and last from X, where X is not x alone."""

    images: list[Any]  # of v, and of where each way begins
    curves: list[Curve]
    slope: Array
    bend: Array  # between the ways; of a quadratic it is the same everywhere, else at X
    exact: bool
    weights: Array  # of v, x, y and z before the step, one for all of the rest, and how much the rest may grow
    change: Array  # of these, a column for each way
    others: bool


def _ways(problem: Problem, point: Point, chosen: list[int], images: list[Any]) -> _Ways:
    given, count, others = point.atoms.weights[chosen], len(chosen), len(point.atoms) > 1
    change = np.vstack([np.ones(count), -np.eye(count)])
    weights = np.concatenate([[0.0], given])
    if others:
        images = [*images, point.image]
        change = np.column_stack([change, np.concatenate([[1.0], -given])])
        # the rest may grow so much: where it is next to nothing the ways are all but dependent
        change = np.vstack([change, np.append(np.zeros(count), -1.0), np.append(np.zeros(count), 1.0)])
        weights = np.concatenate([weights, [1.0, _MOST]])
    at_once = problem.facts.ways if problem.facts.mixture is not None and not problem.lifted.penalty else None
    if at_once is not None:
        slope, bend = at_once(point.slope, images[0], images[1:])
        curves: list[Curve] = [
            Quadratic(point.value, float(g), float(c)) for g, c in zip(slope, np.diag(bend), strict=True)
        ]
    else:
        curves, slope, bend = _one_by_one(problem, point, images)
    return _Ways(images, curves, slope, bend, at_once is not None, weights, change, others)


def _one_by_one(problem: Problem, point: Point, images: list[Any]) -> tuple[list[Curve], Array, Array]:
    """The curves along all ways, and slopes and bends at X: those between two ways from the curve along their sum."""
    combine = problem.lifted.combine
    ways = [combine(1.0, images[0], -1.0, image) for image in images[1:]]
    curves, count = [problem.curve(point, way) for way in ways], len(ways)
    if count == 1:
        return curves, np.zeros(1), np.zeros((1, 1))
    slope = np.array([curve.derivative(0.0) for curve in curves])
    bend = np.diag([curve.curvature(0.0) for curve in curves])
    for i in range(count):
        for j in range(i):
            both = problem.curve(point, combine(1.0, ways[i], 1.0, ways[j])).curvature(0.0)
            bend[i, j] = bend[j, i] = 0.5 * (both - bend[i, i] - bend[j, j])
    return curves, slope, bend


def _best(problem: Problem, point: Point, ways: _Ways) -> tuple[Array, Any]:
    """How far to go each way, and the image of X there: the model's minimum, or the last way alone if better."""
    count, last = len(ways.curves), ways.curves[-1]
    alone = np.zeros(count)
    alone[-1] = last.minimize(1.0 if ways.others else float(ways.weights[-1]))
    if count == 1 or not (np.all(np.isfinite(ways.slope)) and np.all(np.isfinite(ways.bend))):
        return alone, _ahead(problem, point, ways, alone)
    sizes, least = best_sizes(ways.slope, ways.bend, ways.weights, ways.change), last.value(float(alone[-1]))
    if ways.exact:
        value = point.value + float(sizes @ ways.slope) + 0.5 * float(sizes @ ways.bend @ sizes)
        sizes = sizes if value <= least else alone
        return sizes, _ahead(problem, point, ways, sizes)
    direction = _toward(problem, ways, sizes)
    curve = problem.curve(point, direction)
    share = curve.minimize(1.0)
    if curve.value(share) <= least:
        return share * sizes, problem.lifted.combine(1.0, point.image, share, direction)
    return alone, _ahead(problem, point, ways, alone)


def _toward(problem: Problem, ways: _Ways, sizes: Array) -> Any:
    """The image of going so far each way."""
    combine = problem.lifted.combine
    direction = combine(float(sizes.sum()), ways.images[0], -float(sizes[0]), ways.images[1])
    for size, image in zip(sizes[1:], ways.images[2:], strict=True):
        direction = combine(1.0, direction, -float(size), image)
    return direction


def _ahead(problem: Problem, point: Point, ways: _Ways, sizes: Array) -> Any:
    """The image of X after going so far each way."""
    mixture = problem.facts.mixture
    if not ways.exact or mixture is None:
        return problem.lifted.combine(1.0, point.image, 1.0, _toward(problem, ways, sizes))
    shares = [float(sizes.sum()), *(-sizes).tolist()]
    if ways.others:  # the last of the images is that of X itself
        shares[-1] += 1.0
        return mixture(shares, ways.images)
    return mixture([*shares, 1.0], [*ways.images, point.image])


def _hopes(memory: RORMemory, firm: bool, gained: float) -> dict[str, float]:
    """What may be hoped for from either kind of eigenvector after one of them was used."""
    other = max(_GROWTH * (memory.plain if firm else memory.strong), _LEAST * gained)
    return {"strong": gained, "plain": other} if firm else {"strong": other, "plain": gained}
