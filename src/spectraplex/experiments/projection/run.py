"""``projection``: a projected subgradient method whose projections are done by rank-one steps, to a certified accuracy.

The outer method is X₊ = P(Y), Y = X − s_k G with s_k‖G‖ = R/√k, on two non-smooth problems (``projection_problems``). P
is the exact projection, or any P̃ of the set that ROR-CG reaches on ½‖X − Y‖² with a *certified* Frank-Wolfe gap

    g = max over U of ⟨P̃ − Y, P̃ − U⟩ ≤ δ_k.

What such a P̃ is worth: ‖P̃ − P‖² ≤ g (add the optimality of P), and for every U of the set
½‖P̃ − U‖² ≤ ½‖Y − U‖² − ½‖Y − P̃‖² + g. The second is all that the analysis of the outer method needs, so

    Σ s_k (f(X_k) − f*) ≤ ½‖X₁ − X*‖² + ½ Σ s_k²‖G_k‖² + Σ δ_k,

and δ_k = κ·½s_k²‖G_k‖² = κR²/(2k) costs a factor 1 + κ in the second term: the rate O(ln K/√K) stays. That is the
schedule "derived". A gap in *value* alone, F(P̃) − F(P) ≤ δ, would give ‖P̃ − P‖ ≤ √(2δ) and an error √(2δ)·diameter in
the same sum: it would have to shrink like s_k⁴. "loose" and "tight" hold one δ for all k.

``perform`` returns, for a task of kind "bracket", the fields of ``Kinked.bracket``; for kind "run"::

    k             outer iterations on a grid (1, 2, … K, thinned); the lists below belong to these
    value         f at the iterate X_k; best (so far), average (f at the average of the X_j weighted by s_j)
    bound         what the inequality above promises for ``average`` and ``best``, above f*
    wanted, gap   δ_k and the certified Frank-Wolfe gap of the projection that made X_{k+1} (0 for exact ones)
    value_gap     its certified gap in value, from the library's own certificate
    distance2     its true ‖P̃ − P‖², from a full decomposition
    eigenvectors  spent up to here: steps of the method; certificates: gaps looked at; products: those of both
    seconds       of the processor (one thread), spent on projections up to here, with their certificates;
                  seconds_exact: on the decompositions of the same matrices
    rank          of the projection; rank_exact of the exact one
    worst, worst_value   over *all* projections: the largest ‖P̃ − P‖² − g and ‖P̃ − P‖² − 2·value_gap
    unreached     projections that ended at the limit of steps, their gap above δ_k
    projections, shape, terms   their number, the shape of X, the number of kinks
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificates.judge import certify
from ...domains.sets import NuclearBall
from ...eigen.bounds import upper_bound
from ...matrices.factors import Factors, Rectangular, Symmetric
from ...methods import METHODS, RankOneRegularized
from ...objectives import Distance
from ...places.numpy import Array
from ...problem import Point, Problem
from ...solve import solve
from ...stop import Status, Stop
from ...trace import Record
from ..data import source
from ..runner import Task
from .problems import DIGITS, Kinked, kinked, rank_of

_FAILURE = 1e-12  # of each certificate
_METHODS: dict[str, Any] = {
    "adaptive": METHODS["ror-adaptive"],
    "paper": RankOneRegularized(select="greedy", step="line-search"),  # with the theorem's η_t and β
    "printed": METHODS["ror"],
    "cg": METHODS["cg"],
}


def tasks(quick: bool) -> list[Task]:
    """Schedules (with one method), methods (with one schedule) and sizes, on both problems where it says something."""
    where = source("quick" if quick else "100k")
    outer, ratings_set = (8, "quick") if quick else (100, "100k")
    problems: dict[str, dict[str, Any]] = {
        "l1": {"problem": "l1", "where": where, "set": ratings_set, "size": 40 if quick else 250, "radius": 100.0},
        "hinge": {"problem": "hinge", "where": DIGITS, "set": "digits", "size": 200 if quick else 2000, "radius": 4.0},
    }
    if quick:
        problems["l1"]["radius"] = 16.0
    base = {"kind": "run", "reach": 0.5, "drop": 1e-3, "kappa": 0.25, "method": "adaptive", "seed": 0, "outer": outer}
    base |= {"max_steps": 60 if quick else 1000, "schedule": "derived"}
    found: list[Task] = []

    def add(key: str, cost: float, name: str, alone: bool = False, **changed: Any) -> None:
        found.append(Task(f"{name} {key}", problems[name] | base | changed, cost, alone))

    for name in problems:
        smooth = {"mu": 0.05, "relative_gap": 1e-3} if quick else {"mu": 0.002, "relative_gap": 1e-5}
        found.append(Task(f"{name} bracket", problems[name] | {"kind": "bracket", "max_steps": 1000} | smooth, 3.0))
        add("exact", 2.0, name, study="schedules", schedule="exact")
        for seed in range(1 if quick else 2):
            add(f"derived, seed {seed}", 20.0, name, study="schedules", seed=seed)
        if not quick:
            add("derived, κ = 1", 8.0, name, study="schedules", kappa=1.0)
        add("loose", 5.0, name, study="schedules", schedule="loose")
        add("tight", 40.0, name, study="schedules", schedule="tight")
        add("by cg", 15.0, name, study="methods", method="cg")
        few: dict[str, Any] = {"outer": 2, "max_steps": 10} if quick else {"outer": 10, "max_steps": 300}
        for method in ("paper", "printed"):
            add(f"by {method}", 10.0, name, study="methods", method=method, **few)
    if not quick:
        for size in (250, 500, 943, 1682):
            radius = 0.4 * min(size, 943)
            add(f"size {size}", 10.0, "l1", True, study="sizes", size=size, radius=radius, outer=10)
    return found


@dataclass(frozen=True, eq=False)
class Projected:
    """One projection: the point of the set, its certified Frank-Wolfe gap, and what it took."""

    X: Factors
    gap: float
    eigenvectors: int
    products: float
    certificates: int
    seconds: float
    reached: bool


class Certified:
    """An observer that ends a projection when its Frank-Wolfe gap is certified to be small enough.

    A look costs about as much as a step: the next one comes when a gap that falls like 1/steps would be there.
    """

    def __init__(self, problem: Problem, wanted: float, rng: np.random.Generator) -> None:
        self.problem, self.wanted, self.rng = problem, wanted, rng
        self.point: Point | None = None
        self.gap, self.products, self.looks = np.inf, 0.0, 0
        self._next = 0

    def __call__(self, record: Record, point: Point) -> bool:
        self.point = point
        if record.step < self._next:
            return True
        seen = self.look()
        ahead = min(1.0, max(0.1, 0.5 * (seen / self.wanted - 1.0)))
        self._next = record.step + max(1, int(ahead * record.step))
        return bool(self.gap > self.wanted)

    def look(self, hopeless: float = np.inf) -> float:
        """Certify the gap of the last point and return its estimate, which lies below.

        A gap that cannot be small enough any more is bounded to within ``hopeless`` only.
        """
        assert self.point is not None
        lifted, slope = self.problem.lifted, self.point.slope
        here = lifted.pair(slope, self.point.image)

        def enough(ritz: float) -> float:
            spare = self.wanted - (here + ritz)
            return max(spare, 0.02 * self.wanted) if spare > 0 else hopeless

        top = upper_bound(lifted.pull(slope), failure=_FAILURE, accuracy=enough, kind="probable", rng=self.rng)
        self.gap = max(here + top.value, 0.0)
        self.products += top.products
        self.looks += 1
        return here + top.estimate


def by_rank_one_steps(
    Y: Array, start: Factors, domain: Any, wanted: float, method: Any, max_steps: int, seed: int
) -> Projected:
    """ROR-CG on ½‖X − Y‖² until the Frank-Wolfe gap is certified to be at most ``wanted``."""
    began = time.process_time()
    problem = Problem(Distance(Y), domain)
    watch = Certified(problem, wanted, np.random.default_rng([seed, 1]))
    result = solve(problem, method, Stop(max_steps=max_steps), (watch,), start, seed, certify=False)
    if result.status is not Status.OBSERVER:
        watch.look(hopeless=0.1 * wanted)
    assert watch.point is not None
    X = compressed(domain.lower(watch.point.atoms))
    seconds = time.process_time() - began
    steps, products = result.trace[-1].step, result.products + watch.products
    return Projected(X, watch.gap, steps, products, watch.looks, seconds, watch.gap <= wanted)


def by_decomposition(Y: Array, domain: Any) -> tuple[Factors, float]:
    """The exact projection and its seconds."""
    began = time.process_time()
    return domain.project(Y), time.process_time() - began


def compressed(X: Factors) -> Factors:
    """The same matrix with orthonormal columns: the fewest there can be."""
    if isinstance(X, Rectangular):
        return Rectangular(*X.svd())
    values, vectors = X.eigh()
    return Symmetric(vectors, values)


def warm(X: Factors, drop: float) -> Factors:
    """Where the next projection starts: X without atoms below a share of the mass, which the others take over.

    A greedy step moves no more than the weight of the worst atom, and the worst are those that are nearly gone: a
    start that keeps them costs several times the eigenvectors.
    """
    U, s, V = X.triple()
    kept = s >= drop * s.sum()
    s = s[kept] * (s.sum() / s[kept].sum())
    return Rectangular(U[:, kept], s, V[:, kept]) if isinstance(X, Rectangular) else Symmetric(U[:, kept], s)


# ---------------------------------------------------------------------------------------------------- the outer method


def tolerance(schedule: str, k: int, outer: int, reach: float, kappa: float) -> float:
    """δ_k: κR²/(2k), or that of one k for all: "loose" takes k = √K, "tight" k = K."""
    return 0.5 * kappa * reach**2 / {"derived": k, "loose": math.sqrt(outer), "tight": outer}[schedule]


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """Carry out one task; the fields of the outcome are in the docstring of this file."""
    problem = kinked(*(settings[name] for name in ("problem", "where", "set", "size", "radius")))
    if settings["kind"] == "bracket":
        return problem.bracket(settings["mu"], settings["relative_gap"], settings["max_steps"])
    return subgradient_method(problem, settings)


def subgradient_method(problem: Kinked, settings: dict[str, Any]) -> dict[str, Any]:
    domain, outer, schedule = problem.domain, settings["outer"], settings["schedule"]
    ball = isinstance(domain, NuclearBall)
    size = domain.radius if isinstance(domain, NuclearBall) else domain.trace
    reach, diameter = settings["reach"] * size, (2.0 if ball else np.sqrt(2.0)) * size
    X, grid, rows = problem.start(), set(thinned(outer)), []
    best, promised, steps_sum, average = np.inf, 0.5 * diameter**2, 0.0, np.zeros(problem.offset.size)
    total = dict.fromkeys(("eigenvectors", "products", "certificates", "seconds", "seconds_exact"), 0.0)
    worst = worst_value = -np.inf
    unreached = 0
    for k in range(1, outer + 1):
        dense = X.dense()
        u = problem.at(dense)
        value, G = problem.value(u), problem.subgradient(u)
        step = reach / (float(np.linalg.norm(G)) * np.sqrt(k))
        best, steps_sum = min(best, value), steps_sum + step
        average = average + (step / steps_sum) * (u - average)
        Y = dense - step * G
        exact, seconds = by_decomposition(Y, domain)
        total["seconds_exact"] += seconds
        row = {"k": k, "value": value, "best": best, "average": problem.value(average), "rank_exact": rank_of(exact)}
        if schedule == "exact":
            X, gap, wanted, value_gap, distance2 = exact, 0.0, 0.0, 0.0, 0.0
            total["seconds"] = total["seconds_exact"]
        else:
            wanted = tolerance(schedule, k, outer, reach, settings["kappa"])
            method, seed = _METHODS[settings["method"]], settings["seed"] * 100_003 + k
            done = by_rank_one_steps(Y, warm(X, settings["drop"]), domain, wanted, method, settings["max_steps"], seed)
            X, gap = done.X, done.gap
            for name in ("eigenvectors", "products", "certificates", "seconds"):
                total[name] += getattr(done, name)
            unreached += not done.reached
            value_gap = certify(Problem(Distance(Y), domain), X, failure=_FAILURE, seed=seed).gap
            distance2 = float(np.linalg.norm(X.dense() - exact.dense()) ** 2)
            worst, worst_value = max(worst, distance2 - gap), max(worst_value, distance2 - 2 * value_gap)
        promised += 0.5 * reach**2 / k + gap
        if k in grid:
            row |= {"bound": float(promised / steps_sum), "wanted": wanted, "gap": gap, "value_gap": value_gap}
            rows.append(row | {"distance2": distance2, "rank": rank_of(X)} | total)
    return {name: [row[name] for row in rows] for name in rows[0]} | {
        "worst": worst,
        "worst_value": worst_value,
        "unreached": unreached,
        "projections": outer,
        "shape": list(domain.shape),
        "terms": problem.offset.size,
    }


def thinned(outer: int) -> list[int]:
    """1 … outer, at most about sixty of them, evenly on a logarithmic axis."""
    return sorted(set(np.geomspace(1, outer, 60).round().astype(int).tolist()) | {1, outer})
