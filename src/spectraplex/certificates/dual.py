"""Lower bounds on the optimum, and what kind of truth each is.

For f(X) = ℓ(𝒜(X)) and *any* slope y, weak duality upstairs (trace one) says f* ≥ −ℓ*(y) − λ_max(−𝒜*(y)). With a
*bound* on λ_max in place of a Ritz value this is a true lower bound; from a Ritz value it is not one. The slope may be
scaled for free: −ℓ*(c·y) − c·λ_max is maximised over c ≥ 0, once for all losses that have a conjugate, and is never
worse than f − g (c = 1). With a penalty λ‖Z‖_* the scale is c ≤ λ/σ̄ for any σ̄ ≥ σ₁(𝒜*y): then −ℓ*(c·y) is a bound
whatever the norm of a solution is. Without a conjugate convexity gives f(Z) ≥ ℓ(z) − ⟨y, z⟩ + ⟨y, 𝒜(Z)⟩ (c = 1), and
with a known ``lower`` ≤ ℓ the same times c plus (1 − c)·lower. Least values of the loss are bounds for free.

What is claimed is lowered: by the rounding of every number that went into it, by what the slope of the same X may
differ on another processor, and by a hundredth of the gap, so that whoever verifies it reaches it (``claim``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..domains.sets import size_of
from ..eigen.leading import leading, upper_bound
from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..objectives.distance import Factored
from ..places.numpy import EPS
from ..problem import Point, Problem
from ..rounding import VANISHING, norm, of_image, of_sum, of_value
from .certificate import Certificate

__all__ = ["Candidate", "Certificate", "LowerBound", "contradicts", "dual_value", "lower_bound"]

_LOOKS = 8  # random starts that a verification may take
_BELOW = 0.01  # share of the gap by which a claim is lowered, for those who verify it with other random numbers


@dataclass(frozen=True, eq=False)
class Candidate:
    """A slope to build a lower bound from, with the value and image it belongs to (for losses without conjugate).

    ``of_what`` is what it is the slope of, atoms or factors; None for a slope or an image that is kept as it is.
    """

    value: float
    slope: Any
    image: Any  # None for a bare slope, which is a dual point only for losses with a conjugate
    of_what: Any = None
    _held: list[Any] = field(
        default_factory=list, repr=False
    )  # its conjugate and its pairing, once they were asked for

    @classmethod
    def of(cls, point: Point) -> Candidate:
        return cls(point.value, point.slope, point.image, point.atoms)

    @classmethod
    def at(cls, problem: Problem, image: Any, of_what: Any = None) -> Candidate:
        """At an image of the objective's own, which need not belong to any X of the domain."""
        whole = problem.lifted.whole(image)
        return cls(*problem.lifted.evaluate(whole), whole, of_what)


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound on f*, the candidate it came from with its bound ``top`` on λ_max(−𝒜*y), and what it cost.

    ``blur`` is what rounding took from it; ``spread`` the rounding in ``top``.
    """

    value: float
    kind: str
    failure: float
    products: float
    candidate: Candidate
    top: float
    spread: float = 0.0
    blur: float = 0.0


# ---------------------------------------------------------------------------------------------------- weak duality


def dual_value(problem: Problem, candidate: Candidate, top: float) -> tuple[float, float]:
    """The best bound from one slope, less a margin for rounding, and its scale c; ``top`` bounds λ_max(−𝒜*y).

    On a set it is −ℓ*(c·y) − c·top. With a penalty c·top ≤ ``allowance`` costs nothing, and more is not allowed.
    """
    conjugate, value, pairing = _dual_facts(problem, candidate)
    least, penalty = least_value(problem, conjugate), problem.lifted.penalty
    price = 0.0 if penalty else top
    # just below the largest scale, so that rounding does not lead beyond it
    most = (1.0 - 8 * EPS) * problem.lifted.allowance / top if penalty and top > 0.0 else math.inf
    if conjugate is None:
        c = min(1.0, most)
        if candidate.image is None or (penalty and least == -math.inf):
            return least, 0.0
        reached = c * (value - pairing - price) + ((1.0 - c) * least if c < 1.0 else 0.0)
    else:
        most = min(most, (1.0 - 4 * EPS) * conjugate.limit)
        c = _best_scale(conjugate, price, most)
        if c == 0.0:
            return least, 0.0  # −ℓ*(0) = min ℓ, whatever the constraint
        reached = -conjugate.at(c) - c * price
    reached -= margin(problem, candidate, c, top)
    return (reached, c) if reached > least else (least, 0.0)


def margin(problem: Problem, candidate: Candidate, c: float, top: float) -> float:
    """What rounding can make of a bound at c·y, where large terms may cancel: each bound is lowered by it."""
    conjugate, value, pairing = _dual_facts(problem, candidate)
    price = 0.0 if problem.lifted.penalty else 8 * EPS * c * abs(top)
    if conjugate is None:
        m, n = problem.objective.shape
        least = least_value(problem, None)
        rest = abs(least) if c < 1.0 and math.isfinite(least) else 0.0
        return of_sum(m * n) * (abs(value) + abs(pairing) + rest) + price + m * n * VANISHING
    if getattr(conjugate, "sizes", None) is not None:
        size = conjugate.sizes(c)
    else:
        size = conjugate.size * (max(c, c * c) if conjugate.quadratic is not None else max(1.0, c * c))
    count = max(getattr(conjugate, "count", 1), getattr(candidate.slope, "size", 1))
    return float(of_sum(count) * size + price + count * VANISHING)


def least_value(problem: Problem, conjugate: Any) -> float:
    """A number that the loss is nowhere below: −ℓ*(0), or what the objective says (``lower``); −∞ if neither."""
    if conjugate is not None:
        return -float(conjugate.at(0.0))
    told = getattr(problem.objective, "lower", None)
    return -math.inf if told is None else float(told)


def believed(problem: Problem, candidate: Candidate) -> bool:
    """Whether the loss has a conjugate, and Fenchel's equality holds for it here."""
    return _dual_facts(problem, candidate)[0] is not None


def _dual_facts(problem: Problem, candidate: Candidate) -> tuple[Any, float, float]:
    """ℓ* along the slope, ℓ(z) without what is charged beside it, and ⟨y, z⟩: worked out once per candidate.

    ℓ* is None when the objective has none, or has one that is not that of its own loss: Fenchel's equality
    ℓ(z) + ℓ*(y) = ⟨y, z⟩ at the slope y of z is what a true conjugate satisfies.
    """
    if not candidate._held:
        lifted, conjugate, value, pairing = problem.lifted, None, math.nan, math.nan
        if hasattr(problem.objective, "conjugate"):
            conjugate = problem.objective.conjugate(candidate.slope)
        if candidate.image is not None:
            inside = lifted.seen(candidate.image)
            if isinstance(inside, Factored):  # what was carried along with the factors has drifted
                inside = problem.objective.measure(inside.U, inside.s, inside.V)
            if lifted.penalty or isinstance(inside, Factored):  # ℓ itself, not what a subtraction leaves of ℓ + λ‖Z‖
                value = float(problem.objective.evaluate(inside)[0])
            else:
                value = candidate.value
            pairing = float(problem.objective.pair(candidate.slope, inside))
            # a value that is itself a minimum, found to some accuracy, proves nothing about a conjugate
            if conjugate is not None and not getattr(problem.objective, "inexact", False):
                off = abs(value + conjugate.at(1.0) - pairing)
                blur = of_value(problem.objective, value, candidate.slope, 0.0, 1)
                true = off <= 1e-7 * (abs(value) + abs(pairing) + conjugate.size) + blur
                conjugate = conjugate if true else None
        candidate._held.extend((conjugate, value, pairing))
    conjugate, value, pairing = candidate._held
    return conjugate, value, pairing


def _best_scale(conjugate: Any, price: float, most: float) -> float:
    """The c that minimises ℓ*(c·y) + c·price on [0, most]. Any c gives a true bound, so a rough search will do."""
    if conjugate.quadratic is not None:
        linear, bend = conjugate.quadratic
        return min(max(-(linear + price) / bend, 0.0), most) if bend > 0.0 else 0.0
    if getattr(conjugate, "scale", None) is not None:
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


# -------------------------------------------------------------------------------------------------- what is claimed


def claim(
    problem: Problem, candidate: Candidate, top: float, spread: float, value: float = -math.inf
) -> tuple[float, float, float]:
    """What may be claimed of a slope, how much of it rounding took, and its scale.

    ``spread`` is the rounding in ``top``. The claim is lowered by twice our own rounding, once for whoever verifies it;
    by what the slope of the same X measured elsewhere may show less; and by a share of the gap to ``value``, since
    another bound on λ_max is never quite the same.
    """
    reached, c = dual_value(problem, candidate, top + 2.0 * spread)
    if c == 0.0:
        return reached, 0.0, 0.0
    slack = margin(problem, candidate, c, top)
    moved = _elsewhere(problem, candidate, c)
    least = least_value(problem, _dual_facts(problem, candidate)[0])
    lowered = reached - slack - moved - _BELOW * max(value - reached, 0.0)
    if lowered <= least:
        return least, 0.0, 0.0
    return lowered, 2.0 * slack + moved + 3.0 * c * spread, c


def _elsewhere(problem: Problem, candidate: Candidate, c: float) -> float:
    """How far the bound may be moved by the rounding of z = 𝒜(X), which is another one on another processor.

    A slope that moves by δy = βδz moves −ℓ*(c·y) by at most c‖∇ℓ*‖‖δy‖ and c·θσ₁ by at most cθ‖𝒜‖‖δy‖.
    """
    bend = getattr(problem.objective, "bend", None)
    if candidate.of_what is None:
        return 0.0
    size, terms = extent(problem, candidate)
    if bend is None:
        bend = _met(problem, candidate, of_image(problem.objective, size, terms))
    reach, conjugate = getattr(problem.objective, "reach", 1.0), _dual_facts(problem, candidate)[0]
    radius = size if problem.lifted.penalty else size_of(problem.domain)
    weight = reach * (radius + size)
    if conjugate is not None and c != 1.0:
        factored = not isinstance(candidate.slope, np.ndarray) and conjugate.quadratic is not None
        pull = math.sqrt(conjugate.quadratic[1]) if factored else norm(candidate.slope)
        weight += abs(1.0 - c) * conjugate.size / pull if pull > 0.0 else 0.0
    # two slopes are nowhere farther apart than twice the largest there is
    off = min(bend * of_image(problem.objective, size, terms), 2.0 * getattr(problem.objective, "steepest", math.inf))
    return c * off * weight


def _met(problem: Problem, candidate: Candidate, blur: float) -> float:
    """A curvature where none is known: eight times what a slope moves when its image does by what rounding can."""
    image = None if candidate.image is None else problem.lifted.seen(candidate.image)
    if not (isinstance(image, np.ndarray) and isinstance(candidate.slope, np.ndarray)) or not blur > 0.0:
        return 0.0
    way: Any = np.random.default_rng(0).standard_normal(image.shape)
    if problem.domain.hermitian:
        way = way + way.T
    try:
        _, slope = problem.objective.evaluate(image + (blur / norm(way)) * way)
    except NotFinite:
        return 0.0
    return 8.0 * norm(slope - candidate.slope) / blur if np.isfinite(slope).all() else 0.0


def extent(problem: Problem, candidate: Candidate) -> tuple[float, int]:
    """Σ|sₖ| of the matrix that a candidate is the slope of, and how many terms it has."""
    held = candidate.of_what
    if isinstance(held, Atoms):
        if problem.lifted.penalty:
            return max(problem.lifted.charge(candidate.image) / problem.domain.lam, 0.0), len(held)  # type: ignore[union-attr]
        held = problem.domain.lower(held)
    s = held.triple()[1]
    return float(np.abs(s).sum()), int(s.size)


def lower_bound(
    problem: Problem,
    candidates: Sequence[Candidate],
    value: float,
    *,
    failure: float,
    rng: np.random.Generator,
    share: float = 0.1,
    products: float = 1000.0,
    wanted: float = math.nan,
) -> LowerBound:
    """The best bound from one of the candidates, chosen by cheap estimates, then certified.

    Tight to ``share`` of the gap to ``value`` that it shows, or to a gap ``wanted`` if that is looser. The first
    candidate is preferred where it shows the gap that is wanted: a slope of X itself needs no evidence.
    """
    spent, chosen = 0.0, candidates[0]
    if len(candidates) > 1:
        estimates = []
        for candidate in candidates:
            accuracy = partial(_tenth, problem, candidate)
            rough = leading(problem.lifted.pull(candidate.slope), accuracy=accuracy, rng=rng, max_products=20.0)
            spent += rough.products
            estimates.append(dual_value(problem, candidate, rough.value)[0])
        best = int(np.argmax(estimates))
        own, least = value - estimates[0], value - estimates[best]
        alone = own <= 0.8 * wanted if least <= wanted else own <= 1.1 * least
        chosen = candidates[0] if alone else candidates[best]

    def loss(reached: float) -> float:
        gap = (1.0 + _BELOW) * max(value - reached, 0.0)
        return max(share * gap, 0.5 * (wanted - gap)) if math.isfinite(wanted) else share * gap

    bound = upper_bound(
        problem.lifted.pull(chosen.slope),
        failure=failure,
        accuracy=partial(_room, problem, chosen, loss),
        relative=1e-13,
        rng=rng,
        products=products,
    )
    reached, blur, _ = claim(problem, chosen, bound.value, bound.rounding, value)
    kind, chance = ("none", 1.0) if reached == -math.inf else (bound.kind, bound.failure)
    return LowerBound(reached, kind, chance, spent + bound.products, chosen, bound.value, bound.rounding, blur)


def _room(problem: Problem, candidate: Candidate, loss: Callable[[float], float], ritz: float) -> float:
    """How far ``top`` may lie above the Ritz value when its bound may be lower by ``loss`` of the best there is."""
    reached, c = dual_value(problem, candidate, ritz)
    if c == 0.0:
        return math.inf
    lost = loss(reached)
    room = lost / c
    if problem.lifted.penalty:  # the scale falls with top, and the bound with it, not in a straight line
        for _ in range(200):
            if not room > 0.0 or dual_value(problem, candidate, ritz + room)[0] >= reached - lost:
                break
            room *= 0.25
    return room


def contradicts(problem: Problem, bound: float, value: float, rounding: float) -> bool:
    """A lower bound above a value means that the function is not convex, or its gradient is not its gradient.

    Bounds are lowered by their rounding already; ``rounding`` is that of the value. What rounding a user's own function
    has is not known: it is taken to be right to nine digits.
    """
    own = 0.0 if hasattr(problem.objective, "conjugate") else 1e-9 * max(abs(bound), abs(value))
    return bound > value + rounding + own + VANISHING


def _tenth(problem: Problem, candidate: Candidate, ritz: float) -> float:
    """A tenth of the gap that a Ritz value shows: enough to compare candidates."""
    _, value, pairing = _dual_facts(problem, candidate)
    return 0.1 * max(candidate.value - value + pairing + problem.lifted.support(1.0, ritz), 0.0)


def shown(problem: Problem, candidate: Candidate, claimed: float, kind: str, failure: float) -> LowerBound:
    """Our own bound from a dual point, with random numbers of the system, as sharp as it takes to reach ``claimed``."""

    def loss(reached: float) -> float:
        return max(0.5 * (reached - claimed), 0.0)

    # A Krylov space may close up early from one random start, and the bound is then loose; from another it does not.
    for _ in range(_LOOKS):
        bound = upper_bound(
            problem.lifted.pull(candidate.slope),
            failure=failure / _LOOKS,
            accuracy=partial(_room, problem, candidate, loss),
            relative=1e-14,
            products=float(problem.domain.dimension + 10),
            kind="proven" if kind == "proven" else None,
        )
        ours, _ = dual_value(problem, candidate, bound.value)
        if ours >= claimed or bound.kind == "proven":
            break
    return LowerBound(ours, bound.kind, bound.failure, bound.products, candidate, bound.value, bound.rounding)
