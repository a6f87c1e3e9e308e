"""Lower bounds that may be claimed: certified, and lowered so that whoever verifies them reaches them.

What is claimed is lowered: by the rounding of every number that went into it, by what the slope of the same X may
differ on another processor, and by a hundredth of the gap (``claim``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..eigen.leading import leading, upper_bound
from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..problem import Problem
from ..rounding import VANISHING, norm, of_image
from .dual import Candidate, dual_facts, dual_value, least_margin, least_value, margin

_CLOSE = 0.01  # share of the gap that a bound may lose where the gap that is wanted is hardly more
_BELOW = 0.01  # share of the gap by which a claim is lowered, for those who verify it with other random numbers


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound on f*, the candidate it came from with its bound ``top`` on λ_max(−𝒜*y), and what it cost.

    ``blur`` is what rounding took from it; ``spread`` the rounding in ``top``; ``effort`` as in
    ``Bound``, 0 where it is ``products``.
    """

    value: float
    kind: str
    failure: float
    products: float
    candidate: Candidate
    top: float
    spread: float = 0.0
    blur: float = 0.0
    effort: float = 0.0


def claim(
    problem: Problem, candidate: Candidate, top: float, spread: float, value: float = -math.inf
) -> tuple[float, float, float]:
    """What may be claimed of a slope, how much of it rounding took, and its scale.

    ``spread`` is the rounding in ``top``. The claim is lowered by twice our own rounding, once for whoever verifies it;
    by what the slope of the same X measured elsewhere may show less; and by a share of the gap to ``value``, since
    another bound on λ_max is never quite the same.
    """
    reached, c = dual_value(problem, candidate, top + 2.0 * spread)
    conjugate = dual_facts(problem, candidate)[0]
    spare = least_margin(conjugate)
    if c == 0.0:
        return reached - spare, 2.0 * spare, 0.0
    slack = margin(problem, candidate, c, top)
    moved = _elsewhere(problem, candidate, c)
    least = least_value(problem, conjugate) - spare
    lowered = reached - slack - moved - _BELOW * max(value - reached, 0.0)
    if lowered <= least:
        return least, 2.0 * spare, 0.0
    return lowered, 2.0 * slack + moved + 3.0 * c * spread, c


def _elsewhere(problem: Problem, candidate: Candidate, c: float) -> float:
    """How far the bound may be moved by the rounding of z = 𝒜(X), which is another one on another processor.

    A slope that moves by δy = βδz moves −ℓ*(c·y) by at most c‖∇ℓ*‖‖δy‖ and c·θσ₁ by at most cθ‖𝒜‖‖δy‖.
    """
    facts, bend = problem.facts, problem.facts.bend
    if candidate.of_what is None:
        return 0.0
    size, terms = extent(problem, candidate)
    if bend is None:
        bend = met(problem, candidate, of_image(facts, size, terms))
    reach, conjugate = 1.0 if facts.reach is None else facts.reach, dual_facts(problem, candidate)[0]
    radius = size if problem.lifted.penalty else problem.domain.size
    weight = reach * (radius + size)
    if conjugate is not None and c != 1.0:
        images, quadratic = facts.images, conjugate.quadratic
        factored = quadratic is not None and not images.plain(candidate.slope)
        pull = math.sqrt(quadratic[1]) if quadratic and factored else images.norm(candidate.slope)
        weight += abs(1.0 - c) * conjugate.size / pull if pull > 0.0 else 0.0
    # two slopes are nowhere farther apart than twice the largest there is
    steepest = math.inf if facts.steepest is None else facts.steepest
    return c * min(bend * of_image(facts, size, terms), 2.0 * steepest) * weight


def met(problem: Problem, candidate: Candidate, blur: float) -> float:
    """A curvature where none is known: eight times what a slope moves when its image does.

    Along a random direction, and along the one in which that moved the slope: most of the curvature is there. The image
    is moved by a thousand times what rounding moves it, lest the slope's own rounding be taken for curvature.
    """
    images, image = problem.facts.images, None if candidate.image is None else problem.lifted.seen(candidate.image)
    if not (images.plain(image) and images.plain(candidate.slope)) or not 0.0 < blur < math.inf:
        return 0.0
    image, own = (np.asarray(images.pack(each)) for each in (image, candidate.slope))
    way: Any = np.random.default_rng(0).standard_normal(image.shape)
    if problem.domain.hermitian and way.ndim == 2:
        way = way + way.T
    most, far = 0.0, 1024.0 * blur
    for _ in range(2):
        try:
            _, slope = problem.objective.evaluate(images.unpack(image + (far / norm(way)) * way))
        except NotFinite:
            break
        moved = np.asarray(images.pack(slope)) - own
        most = max(most, norm(moved) / far) if np.isfinite(moved).all() else most
        way = moved
        if way.shape != image.shape or not 0.0 < norm(way) < math.inf:
            break
    return 8.0 * most


def extent(problem: Problem, candidate: Candidate) -> tuple[float, int]:
    """Σ|sₖ| of the matrix that a candidate is the slope of, and how many terms it has."""
    held = candidate.of_what
    if isinstance(held, Atoms):
        if problem.lifted.penalty:
            return max(problem.lifted.charge(candidate.image) / problem.domain.lam, 0.0), len(held)
        held = problem.domain.lower(held)
    assert held is not None  # only candidates that belong to a matrix are asked
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
    expected: float | None = None,
) -> LowerBound:
    """The best bound from one of the candidates, chosen by cheap estimates, then certified.

    Tight to ``share`` of the gap to ``value`` that it shows. Where λ_max leaves room for a gap ``wanted``, half of that
    room is used, or a hundredth of the gap if that is more. The first candidate is preferred where it shows the gap
    that is wanted: a slope of X itself needs no evidence. Where λ_max of an only candidate is ``expected`` to be some
    number, that is proven whatever the dimension is.
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
        return max(_CLOSE * gap, 0.5 * (wanted - gap)) if gap <= wanted < math.inf else share * gap

    bound = upper_bound(
        problem.lifted.pull(chosen.slope),
        failure=failure,
        accuracy=partial(_room, problem, chosen, loss),
        relative=1e-13,
        rng=rng,
        products=products,
        kind=None if expected is None else "proven",
        expected=expected,
    )
    reached, blur, _ = claim(problem, chosen, bound.value, bound.rounding, value)
    kind, chance = ("none", 1.0) if reached == -math.inf else (bound.kind, bound.failure)
    products, effort = spent + bound.products, spent + bound.effort if bound.effort else 0.0
    return LowerBound(reached, kind, chance, products, chosen, bound.value, bound.rounding, blur, effort)


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
    own = 0.0 if problem.facts.conjugate is not None else 1e-9 * max(abs(bound), abs(value))
    return bound > value + rounding + own + VANISHING


def _tenth(problem: Problem, candidate: Candidate, ritz: float) -> float:
    """A tenth of the gap that a Ritz value shows: enough to compare candidates."""
    _, value, pairing = dual_facts(problem, candidate)
    return 0.1 * max(candidate.value - value + pairing + problem.lifted.support(1.0, ritz), 0.0)


def shown(problem: Problem, candidate: Candidate, claimed: float, kind: str, failure: float) -> LowerBound:
    """Our own bound from a dual point, with random numbers of the system, as sharp as it takes to reach ``claimed``."""

    def loss(reached: float) -> float:
        return max(0.5 * (reached - claimed), 0.0)

    bound = upper_bound(
        problem.lifted.pull(candidate.slope),
        failure=failure,
        accuracy=partial(_room, problem, candidate, loss),
        relative=1e-14,
        products=float(problem.domain.dimension + 10),
        kind="proven" if kind == "proven" else None,
    )
    ours, _ = dual_value(problem, candidate, bound.value)
    return LowerBound(ours, bound.kind, bound.failure, bound.products, candidate, bound.value, bound.rounding)
