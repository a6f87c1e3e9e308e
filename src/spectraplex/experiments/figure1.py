"""The paper's figure: the objective of matrix completion against the number of leading eigenvectors.

Minimise ½Σ(Z_ij − r_ij)² over ‖Z‖_* ≤ radius on MovieLens-100k and on a random half of 1M. The paper's θ is read both
ways, as the radius (10000 and 30000) and as the trace upstairs (radius θ/2), and there is one radius at which the
constraint is clearly active; ratings as they are and less their mean; five seeds each.

Outcome of a run of kind "curve": ``steps``, ``values``, ``products``, ``seconds`` (of the processor, on one thread) and
``atoms``, one entry per step; ``gap`` and ``lower_bound``, certified for the last point from this run alone;
``smoothness``, β̂ of the lifted function. Of kind "reference": ``value`` and ``lower_bound`` of the best answer known,
from the hybrid method. Of kind "cost": ``steps`` at which a step was timed, ``atoms`` there, and for each method the
processor's seconds of one step from the same point with the same accuracy ξ asked of its eigenvector.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from ..domains import NuclearBall
from ..methods import AwayStep, ConditionalGradient, Hybrid, Pairwise, RankOneRegularized
from ..methods.oracle import FRACTION, Direction, find
from ..objectives import Completion
from ..problem import Problem
from ..solve import solve
from ..stop import Stop
from ..trace import Collect
from . import data
from .runner import Task

#: set → radii: θ read as the radius, θ read as a trace, one that is clearly active.
RADII = {"100k": (10000.0, 5000.0, 2500.0), "1m": (30000.0, 15000.0, 8000.0)}
READINGS = ("radius", "trace", "active")
HALF = {"100k": False, "1m": True, "quick": False}
STEPS = 300
SEEDS = 5
#: The paper does not say which β it used: one, the true β̂ = 2·radius² of the lifted function, and two shares of it.
BETAS = {"ror-paper 1": 1.0, "ror-paper β̂/10⁴": 1e-4, "ror-paper β̂/100": 1e-2, "ror-paper β̂": None}
METHODS = ("cg", "away", "pairwise", *BETAS, "ror", "ror-adaptive", "hybrid")
#: Products that the hybrid method may spend: more than CG needs for its eigenvectors, so that the two can be aligned.
HYBRID_PRODUCTS = 4000.0
TIMED_AT = (10, 30, 60, 100, 200, 300)
TIMED = ("cg", "ror", "ror-greedy")


def tasks(quick: bool = False) -> list[Task]:
    """Every curve, a reference for every setting, and the cost of a step."""
    found: list[Task] = []
    sets = {"quick": (120.0, 60.0, 30.0)} if quick else RADII
    steps, seeds = (20, 2) if quick else (STEPS, SEEDS)
    for name, radii in sets.items():
        where, size = data.source(name), 8.0 if name == "1m" else 1.0
        for reading, radius in zip(READINGS, radii, strict=True):
            for centred in (False, True):
                setting = {"data": name, "source": where, "radius": radius, "reading": reading, "centred": centred}
                label = f"{name} {radius:g}{' centred' if centred else ''}"
                reference = {"kind": "reference", **setting, "products": 400.0 if quick else 12000.0}
                found.append(Task(f"{label} reference", reference, 10 * size))
                for method in METHODS:
                    for seed in range(seeds):
                        curve = {"kind": "curve", **setting, "method": method, "seed": seed, "steps": steps}
                        found.append(Task(f"{label} {method} {seed}", curve, size))
            cost = {"kind": "cost", "data": name, "source": where, "radius": radius, "reading": reading}
            cost |= {"at": [t for t in TIMED_AT if t <= steps], "repeats": 3 if quick else 15}
            found.append(Task(f"{name} {radius:g} cost of a step", cost, 2 * size, alone=True))
    return found


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """One run."""
    kinds = {"curve": _curve, "reference": _reference, "cost": _cost}
    return kinds[settings["kind"]](settings, _problem(settings))


def method_of(name: str, problem: Problem) -> Any:
    """The methods of the figure; the paper's greedy variant takes the theorem's η_t and a line search."""
    if name in BETAS:
        share, true = BETAS[name], float(problem.lifted.smoothness or 0.0)
        beta = true if share is None else share if share == 1.0 else share * true
        return RankOneRegularized(select="greedy", step="line-search", beta=beta)
    return {
        "cg": ConditionalGradient(),
        "away": AwayStep(),
        "pairwise": Pairwise(),
        "ror": RankOneRegularized(),
        "ror-adaptive": RankOneRegularized(select="worthy", step="line-search", beta="adaptive"),
        "hybrid": Hybrid(),
    }[name]


def _problem(settings: dict[str, Any]) -> Problem:
    name = settings["data"]
    rows, cols, values, shape = data.ratings(name, settings["source"], HALF[name])
    if settings.get("centred"):
        values = values - values.mean()
    return Problem(Completion(rows, cols, values, shape), NuclearBall(shape, settings["radius"]))


def _curve(settings: dict[str, Any], problem: Problem) -> dict[str, Any]:
    method, steps = method_of(settings["method"], problem), settings["steps"]
    hybrid = settings["method"] == "hybrid"
    stop = Stop(max_products=HYBRID_PRODUCTS * steps / STEPS) if hybrid else Stop(max_steps=steps)
    wall, processor = time.perf_counter(), time.process_time()
    result = solve(problem, method, stop, seed=settings["seed"])
    # what other processes take of this core is theirs: the clock on the wall is scaled to the processor's own
    share = (time.process_time() - processor) / (time.perf_counter() - wall)
    trace = result.trace.as_dict()
    return {
        "steps": trace["step"],
        "values": trace["value"],
        "products": trace["products"],
        "seconds": np.round(share * trace["seconds"], 5),
        "atoms": trace["atoms"],
        "gap": result.gap,
        "lower_bound": result.lower_bound,
        "smoothness": problem.lifted.smoothness,
        "status": result.status.name,
    }


def _reference(settings: dict[str, Any], problem: Problem) -> dict[str, Any]:
    """The best answer known. A sum of squares is never negative: where the model interpolates that is the bound."""
    size = problem.point(problem.domain.start(problem.dtype, np.random.default_rng(0))).value
    stop = Stop(relative_gap=1e-7, gap=1e-9 * size, max_products=settings["products"])
    result = solve(problem, "hybrid", stop)
    bound = max(result.lower_bound, 0.0)
    failure = result.certificate.failure
    return {"value": result.value, "lower_bound": bound, "failure": failure, "rank": result.trace[-1].atoms}


def _cost(settings: dict[str, Any], problem: Problem) -> dict[str, Any]:
    """Seconds of a step of each method, in turns, at one and the same accuracy ξ of its eigenvector.

    All start from the same points, those of the greedy adaptive run with its atoms, and take two steps; the second is
    timed, so that each has the warm start it always has. ξ is what CG asks by itself: a tenth of the gap its vector
    reveals.
    """
    at, seen = settings["at"], Collect(points=True)
    solve(problem, "ror-adaptive", Stop(max_steps=max(at)), observers=[seen], certify=False)
    outcome: dict[str, Any] = {"steps": at, "atoms": [], "accuracy": [], **{name: [] for name in TIMED}}
    for t in at:
        point, accuracy = seen.points[t - 1], FRACTION * seen.trace[t - 1].estimated_gap
        same = partial(_to_accuracy, accuracy)
        greedy = RankOneRegularized(select="greedy", step="line-search", beta="adaptive", oracle=same)
        racers: tuple[Any, ...] = (ConditionalGradient(oracle=same), RankOneRegularized(oracle=same), greedy)
        times: dict[str, list[float]] = {name: [] for name in TIMED}
        for turn in range(settings["repeats"]):
            for name, racer in zip(TIMED, racers, strict=True):
                rng = np.random.default_rng(turn)
                first, memory, _ = racer.init(problem, point, rng)
                second, memory, _ = racer.step(problem, first, memory, rng)
                began = time.process_time()
                racer.step(problem, second, memory, rng)
                times[name].append(time.process_time() - began)
        outcome["atoms"].append(len(point.atoms))
        outcome["accuracy"].append(accuracy)
        for name, measured in times.items():
            outcome[name].append(float(np.median(measured)))
    return outcome


def _to_accuracy(
    asked: float, operator: Any, beat: float, rng: np.random.Generator, guess: Any = None, **_: Any
) -> Direction:
    """The eigenvector to one accuracy, whatever the method would ask."""
    return find(operator, beat, rng, guess, accuracy=asked)
