"""Weak duality: a lower bound on the optimum from any slope.

For f(X) = ℓ(𝒜(X)) and *any* slope y, weak duality upstairs (trace one) says f* ≥ −ℓ*(y) − λ_max(−𝒜*(y)). With a
*bound* on λ_max in place of a Ritz value this is a true lower bound; from a Ritz value it is not one. The slope may be
scaled for free: −ℓ*(c·y) − c·λ_max is maximised over c ≥ 0, once for all losses that have a conjugate, and is never
worse than f − g (c = 1). With a penalty λ‖Z‖_* the scale is c ≤ λ/σ̄ for any σ̄ ≥ σ₁(𝒜*y): then −ℓ*(c·y) is a bound
whatever the norm of a solution is. Without a conjugate convexity gives f(Z) ≥ ℓ(z) − ⟨y, z⟩ + ⟨y, 𝒜(Z)⟩ (c = 1), and
with a known ``lower`` ≤ ℓ the same times c plus (1 − c)·lower. Least values of the loss are bounds for free.

What may be claimed of such a bound is in lower.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..losses.protocol import Conjugate
from ..matrices.atoms import Atoms
from ..matrices.factors import Factors
from ..objectives.distance import Factored
from ..places.numpy import EPS
from ..problem import Point, Problem
from ..rounding import VANISHING, of_sum, of_value


@dataclass(frozen=True, eq=False)
class Candidate:
    """A slope to build a lower bound from, with the value and image it belongs to (for losses without conjugate).

    ``of_what`` is what it is the slope of, atoms or factors; None for a slope or an image that is kept as it is.
    """

    value: float
    slope: Any
    image: Any  # None for a bare slope, which is a dual point only for losses with a conjugate
    of_what: Atoms | Factors | None = None
    _held: list[Any] = field(
        default_factory=list, repr=False
    )  # its conjugate and its pairing, once they were asked for

    @classmethod
    def of(cls, point: Point) -> Candidate:
        return cls(point.value, point.slope, point.image, point.atoms)

    @classmethod
    def at(cls, problem: Problem, image: Any, of_what: Atoms | Factors | None = None) -> Candidate:
        """At an image of the objective's own, which need not belong to any X of the domain."""
        whole = problem.lifted.whole(image)
        return cls(*problem.lifted.evaluate(whole), whole, of_what)


# ---------------------------------------------------------------------------------------------------- weak duality


def dual_value(problem: Problem, candidate: Candidate, top: float) -> tuple[float, float]:
    """The best bound from one slope y, less a margin for rounding, and its scale c; ``top`` bounds λ_max(−𝒜*y).

    The larger of min ℓ, a bound for free (its c is 0), and of what c·y proves.
    """
    conjugate = dual_facts(problem, candidate)[0]
    least, most = least_value(problem, conjugate), _largest_scale(problem, top)
    if conjugate is not None:
        proven, c = _scaled_dual(problem, conjugate, top, most)
    else:
        proven, c = _tangent_bound(problem, candidate, top, most)
    if c == 0.0:
        return least, 0.0
    proven -= margin(problem, candidate, c, top)
    return (proven, c) if proven > least else (least, 0.0)


def _largest_scale(problem: Problem, top: float) -> float:
    """The largest c that is allowed: any on a set; with a penalty c·top ≤ ``allowance``, which is c·σ̄ ≤ λ."""
    if not (problem.lifted.penalty and top > 0.0):
        return math.inf
    # just below, so that rounding does not lead beyond; plain floats go to infinity in silence
    return (1.0 - 8 * EPS) * float(problem.lifted.allowance) / float(top)


def _cost(problem: Problem, top: float) -> float:
    """What one unit of c costs in a bound: λ_max(−𝒜*y) on a set, nothing with a penalty."""
    return 0.0 if problem.lifted.penalty else top


def _scaled_dual(problem: Problem, conjugate: Conjugate, top: float, most: float) -> tuple[float, float]:
    """max over c of −ℓ*(c·y) − c·top on a set, of −ℓ*(c·y) with a penalty; and that c. c = 0 proves only min ℓ."""
    price = _cost(problem, top)
    c = _best_scale(conjugate, price, min(most, (1.0 - 4 * EPS) * conjugate.limit))
    return (-conjugate.at(c) - c * price, c) if c != 0.0 else (-math.inf, 0.0)


def _tangent_bound(problem: Problem, candidate: Candidate, top: float, most: float) -> tuple[float, float]:
    """Without ℓ*: convexity says ℓ ≥ ℓ(z) − ⟨y, z⟩ + ⟨y, ·⟩, so c(ℓ(z) − ⟨y, z⟩ − price) + (1 − c)·min ℓ; c ≤ 1.

    Nothing (c = 0) from a slope whose z was not kept, or with a penalty and no known min ℓ.
    """
    _, value, pairing = dual_facts(problem, candidate)
    least, c = least_value(problem, None), min(1.0, most)
    if candidate.image is None or (problem.lifted.penalty and least == -math.inf):
        return -math.inf, 0.0
    rest = (1.0 - c) * least if c < 1.0 else 0.0
    return c * (value - pairing - _cost(problem, top)) + rest, c


def margin(problem: Problem, candidate: Candidate, c: float, top: float) -> float:
    """What rounding can make of a bound at c·y, where large terms may cancel: each bound is lowered by it."""
    conjugate, value, pairing = dual_facts(problem, candidate)
    price = 0.0 if problem.lifted.penalty else 8 * EPS * c * abs(top)
    if conjugate is None:
        m, n = problem.objective.shape
        least = least_value(problem, None)
        rest = abs(least) if c < 1.0 and math.isfinite(least) else 0.0
        return of_sum(m * n) * (abs(value) + abs(pairing) + rest) + price + m * n * VANISHING
    if conjugate.sizes is not None:
        size = conjugate.sizes(c)
    else:
        size = conjugate.size * (max(c, c * c) if conjugate.quadratic is not None else max(1.0, c * c))
    count = max(conjugate.count, problem.facts.images.count(candidate.slope))
    return float(of_sum(count) * size + price + count * VANISHING)


def least_value(problem: Problem, conjugate: Conjugate | None) -> float:
    """A number that the loss is nowhere below: −ℓ*(0), or what the objective says (``lower``); −∞ if neither."""
    if conjugate is not None:
        return -float(conjugate.at(0.0)) - least_margin(conjugate)
    told = problem.facts.lower
    return -math.inf if told is None else float(told)


def least_margin(conjugate: Conjugate | None) -> float:
    """What rounding can make of ℓ*(0): nothing where it is zero, or where there is none."""
    if conjugate is None:
        return 0.0
    whole = float(conjugate.at(0.0))
    if whole == 0.0 or not math.isfinite(whole):
        return 0.0
    sizes = conjugate.sizes
    size = conjugate.size if sizes is None else sizes(0.0)
    return float(of_sum(conjugate.count) * size)


def believed(problem: Problem, candidate: Candidate) -> bool:
    """Whether the loss has a conjugate, and Fenchel's equality holds for it here."""
    return dual_facts(problem, candidate)[0] is not None


def dual_facts(problem: Problem, candidate: Candidate) -> tuple[Conjugate | None, float, float]:
    """ℓ* along the slope, ℓ(z) without what is charged beside it, and ⟨y, z⟩: worked out once per candidate.

    ℓ* is None when the objective has none, or has one that is not that of its own loss. The two numbers are NaN for a
    bare slope, whose z was not kept.
    """
    if not candidate._held:
        told = problem.facts.conjugate
        conjugate = None if told is None else told(candidate.slope)
        value, pairing = math.nan, math.nan
        if candidate.image is not None:
            value, pairing = _loss_and_pairing(problem, candidate)
            if conjugate is not None and not _fenchel(problem, candidate, conjugate, value, pairing):
                conjugate = None
        candidate._held.extend((conjugate, value, pairing))
    conjugate, value, pairing = candidate._held
    return conjugate, value, pairing


def _loss_and_pairing(problem: Problem, candidate: Candidate) -> tuple[float, float]:
    """ℓ(z) and ⟨y, z⟩. Measured or evaluated afresh where what the candidate holds is not good enough."""
    objective, lifted = problem.objective, problem.lifted
    inside, value = lifted.seen(candidate.image), candidate.value
    if isinstance(inside, Factored):  # what was carried along with the factors has drifted
        inside = objective.measure(inside.U, inside.s, inside.V)
    if lifted.penalty or isinstance(inside, Factored):  # ℓ itself, not what a subtraction leaves of ℓ + λ‖Z‖
        value = float(objective.evaluate(inside)[0])
    return value, float(objective.pair(candidate.slope, inside))


def _fenchel(problem: Problem, candidate: Candidate, conjugate: Conjugate, value: float, pairing: float) -> bool:
    """Whether ℓ(z) + ℓ*(y) = ⟨y, z⟩ at the slope y of z, as it is for the true conjugate of ℓ."""
    if problem.facts.inexact:
        return True  # a value that is itself a minimum, found to some accuracy, proves nothing about a conjugate
    off = abs(value + conjugate.at(1.0) - pairing)
    nearly = 1e-7 * (abs(value) + abs(pairing) + conjugate.size)
    return bool(off <= nearly or off <= nearly + of_value(problem.facts, value, candidate.slope, 0.0, 1))


def _best_scale(conjugate: Conjugate, price: float, most: float) -> float:
    """The c that minimises ℓ*(c·y) + c·price on [0, most]. Any c gives a true bound, so a rough search will do."""
    if conjugate.quadratic is not None:
        linear, bend = conjugate.quadratic
        return min(max(-(linear + price) / bend, 0.0), most) if bend > 0.0 else 0.0
    if conjugate.scale is not None:
        c = min(max(float(conjugate.scale(price)), 0.0), most)
        return c if math.isfinite(c) else 1.0
    from scipy.optimize import minimize_scalar

    high = min(most, 4.0)
    if high <= 0.0:
        return 0.0

    def loss(c: float) -> float:
        return float(conjugate.at(c) + c * price)

    found = minimize_scalar(loss, bounds=(0.0, high), method="bounded")
    return min((c for c in (float(found.x), 1.0, high) if 0.0 < c <= high), key=loss)
