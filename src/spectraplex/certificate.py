"""Gap, lower bound, and what kind of truth each is.

For f(X) = ℓ(𝒜(X)) and *any* slope y, weak duality upstairs (trace one) says f* ≥ −ℓ*(y) − λ_max(−𝒜*(y)). With a
*bound* on λ_max in place of a Ritz value this is a true lower bound; from a Ritz value it is not one. The slope may be
scaled for free: −ℓ*(c·y) − c·λ_max is maximised over c ≥ 0, once for all losses that have a conjugate, and is never
worse than f − g (c = 1). Without a conjugate the bound is f(X) − ⟨∇f, X⟩ − λ_max(−∇f), which convexity gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from ._version import __version__
from .arrays import EPS
from .eigen import leading, upper_bound
from .problem import Point, Problem


@dataclass(frozen=True)
class Certificate:
    """lower_bound ≤ f* ≤ value, with probability at least 1 − failure (zero when proven).

    ``feasibility`` is how far (in Frobenius norm) the candidate lay outside the domain before it was scaled in.
    ``dual`` says where the bound's slope is: "slope" (that of X itself) or the fingerprint of one kept beside X;
    ``data`` and ``factors`` are fingerprints of the problem and of X.
    """

    kind: str
    failure: float
    value: float
    lower_bound: float
    feasibility: float
    dual: str = "slope"
    data: str = ""
    factors: str = ""

    @property
    def gap(self) -> float:
        return max(self.value - self.lower_bound, 0.0)

    def __str__(self) -> str:
        moved = f" X lay {self.feasibility:.2g} outside the domain and was scaled in." if self.feasibility > 0 else ""
        if self.kind == "none":
            return (
                f"Nothing was certified: the value is {self.value:.8g}, the optimum may lie anywhere below it.{moved}"
            )
        part = 100 * self.gap / abs(self.value) if self.value else 0.0
        share = f" ({part:.2g} % of it)" if 0 < part < 99.5 else f" ({part:.0f} % of it)" if self.value else ""
        truth = "proven" if self.kind == "proven" else f"probable, wrong with probability at most {self.failure:.1g}"
        return f"The value {self.value:.8g} is at most {self.gap:.3g}{share} above the optimum ({truth}).{moved}"

    def to_json(self) -> str:
        """A small document; numbers as hexadecimal floats, so that they come back bit for bit."""
        plain = {name: value.hex() if isinstance(value, float) else value for name, value in asdict(self).items()}
        return json.dumps(
            {"spectraplex certificate": 1, "version": __version__, "gap": self.gap.hex(), **plain}, indent=1
        )

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what ``to_json`` wrote; a document that contradicts itself is refused."""
        try:
            document = json.loads(text)
            known = {each.name: document[each.name] for each in fields(cls)}
            numbers = {name: float.fromhex(known[name]) for name in ("failure", "value", "lower_bound", "feasibility")}
            certificate = cls(**(known | numbers))
            gap = float.fromhex(document["gap"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"from_json: this is no certificate ({error}).") from None
        if gap != certificate.gap or not certificate.sensible():
            raise ValueError(
                "from_json: the certificate contradicts itself (kind, failure, or gap against value and bound)."
            )
        return certificate

    def sensible(self) -> bool:
        """Finite numbers, a known kind, and a failure probability that goes with it."""
        if self.kind == "none":
            return math.isfinite(self.value)
        finite = all(math.isfinite(x) for x in (self.value, self.lower_bound, self.feasibility))
        return finite and (
            self.failure == 0.0 if self.kind == "proven" else self.kind == "probable" and 0 < self.failure < 1
        )


@dataclass(frozen=True, eq=False)
class Candidate:
    """A slope to build a lower bound from, with the value and image it belongs to (for losses without conjugate)."""

    value: float
    slope: Any
    image: Any  # None for a bare slope, which is a dual point only for losses with a conjugate
    _held: list[Any] = field(
        default_factory=list, repr=False
    )  # its conjugate and its pairing, once they were asked for

    @classmethod
    def of(cls, point: Point) -> Candidate:
        return cls(point.value, point.slope, point.image)

    @classmethod
    def at(cls, problem: Problem, image: Any) -> Candidate:
        """At an image of the objective's own, which need not belong to any X of the domain."""
        whole = problem.lifted.whole(image)
        return cls(*problem.lifted.evaluate(whole), whole)


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound on f*, the slope it came from with its bound ``top`` on λ_max(−𝒜*y), and what it cost."""

    value: float
    kind: str
    failure: float
    products: float
    candidate: Candidate
    top: float


def dual_value(problem: Problem, candidate: Candidate, top: float) -> tuple[float, float]:
    """The best of −ℓ*(c·y) − support(c) over c ≥ 0 less a margin for rounding, and its c; ``top`` bounds λ_max(−𝒜*y).

    The support is c·top, or what c·top has above ``allowance`` where that much costs nothing (a penalty).
    """
    lifted = problem.lifted
    conjugate, value, pairing = _dual_facts(problem, candidate)
    if conjugate is None:
        return value - pairing - lifted.support(1.0, top) - margin(problem, candidate, 1.0, top), 1.0
    # just below, so that the support there is zero and not a rounding error of large numbers
    corner = (1.0 - 4 * EPS) * lifted.allowance / top if top > 0 else math.inf
    if conjugate.quadratic is not None:
        linear, bend = conjugate.quadratic
        c = 0.0
        if bend > 0:
            c = max(-(linear + top) / bend, min(-linear / bend, corner) if lifted.allowance > 0 else 0.0, 0.0)
            c = min(c, conjugate.limit)
    else:
        c = _best_scale(conjugate, lambda c: lifted.support(c, top), corner)
    if c == 0.0:
        return -conjugate.at(0.0), 0.0  # −ℓ*(0) = min ℓ, whatever the constraint
    return -conjugate.at(c) - lifted.support(c, top) - margin(problem, candidate, c, top), c


def margin(problem: Problem, candidate: Candidate, c: float, top: float) -> float:
    """What rounding can make of a bound at c·y, where large terms may cancel: each bound is lowered by it."""
    conjugate, value, pairing = _dual_facts(problem, candidate)
    if conjugate is None:
        size = abs(value) + abs(pairing) + abs(top)
    else:
        size = max(c, c * c) * conjugate.size + (c * abs(top) if problem.lifted.support(c, top) else 0.0)
    return _rounding(candidate.slope) * size


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
            value = candidate.value - lifted.charge(candidate.image)
            pairing = float(problem.objective.pair(candidate.slope, lifted.seen(candidate.image)))
            if conjugate is not None:
                off = abs(value + conjugate.at(1.0) - pairing)
                true = off <= 1e-7 * (abs(value) + abs(pairing) + conjugate.size)
                conjugate = conjugate if true else None
        candidate._held.extend((conjugate, value, pairing))
    conjugate, value, pairing = candidate._held
    return conjugate, value, pairing


def _best_scale(conjugate: Any, support: Callable[[float], float], corner: float) -> float:
    """Any c gives a true bound, so a rough search will do; c = 1 is the plain one, the optimum often at a corner."""
    from scipy.optimize import minimize_scalar

    high = min(conjugate.limit, 4.0)
    if high <= 0:
        return 0.0

    def loss(c: float) -> float:
        return float(conjugate.at(c) + support(c))

    found = minimize_scalar(loss, bounds=(0.0, high), method="bounded")
    return min((c for c in (float(found.x), 1.0, corner, high) if 0.0 < c <= high), key=loss)


def _rounding(slope: Any) -> float:
    """Relative error of a long sum: blocked, so an eighth of the worst case for n terms, and some ulps."""
    return EPS * (32 + 0.125 * getattr(slope, "size", 1e4))


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

    Tight to ``share`` of the gap to ``value`` that it shows, or to a gap ``wanted`` if that is looser.
    """
    spent, chosen = 0.0, candidates[0]
    if len(candidates) > 1:
        estimates = []
        for candidate in candidates:
            accuracy = partial(_tenth, problem, candidate)
            rough = leading(problem.lifted.pull(candidate.slope), accuracy=accuracy, rng=rng, max_products=20.0)
            spent += rough.products
            estimates.append(dual_value(problem, candidate, rough.value)[0])
        chosen = candidates[int(np.argmax(estimates))]

    def enough(ritz: float) -> float:
        reached, c = dual_value(problem, chosen, ritz)
        gap = max(value - reached, 0.0)
        error = max(share * gap, 0.5 * (wanted - gap)) if math.isfinite(wanted) else share * gap
        return error / c if c > 0 else math.inf

    bound = upper_bound(
        problem.lifted.pull(chosen.slope),
        failure=failure,
        accuracy=enough,
        relative=1e-13,
        rng=rng,
        products=products,
    )
    reached, _ = dual_value(problem, chosen, bound.value)
    return LowerBound(reached, bound.kind, bound.failure, spent + bound.products, chosen, bound.value)


def contradicts(bound: float, value: float) -> bool:
    """A lower bound above a value means that the function is not convex, or its gradient is not its gradient."""
    return bound > value + 1e-9 * max(abs(bound), abs(value)) + 1e-300


def _tenth(problem: Problem, candidate: Candidate, ritz: float) -> float:
    """A tenth of the gap that a Ritz value shows: enough to compare candidates."""
    _, value, pairing = _dual_facts(problem, candidate)
    return 0.1 * max(candidate.value - value + pairing + problem.lifted.support(1.0, ritz), 0.0)
