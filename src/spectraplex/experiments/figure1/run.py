"""The paper's figure: the objective of matrix completion against the number of leading eigenvectors.

Minimise ½Σ(Z_ij − r_ij)² over ‖Z‖_* ≤ radius on MovieLens-100k and on a random half of 1M. The paper's θ is read both
ways, as the radius (10000 and 30000) and as the trace upstairs (radius θ/2), and there is one radius at which the
constraint is clearly active; ratings as they are and less their mean; five seeds each.

Outcome of a run of kind "curve": ``steps``, ``values``, ``products``, ``seconds`` (of the processor, on one thread) and
``atoms``, one entry per step; ``gap`` and ``lower_bound``, certified for the last point from this run alone;
``smoothness``, β̂ of the lifted function. Of kind "reference": ``value`` and ``lower_bound`` of the best answer known,
from the hybrid method.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...domains.sets import NuclearBall
from ...methods import AwayStep, ConditionalGradient, Hybrid, Pairwise, RankOneRegularized
from ...objectives import Completion
from ...problem import Problem
from ...solve import solve
from ...stop import Stop
from .. import data
from ..runner import Task

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


def tasks(quick: bool = False) -> list[Task]:
    """Every curve, and a reference for every setting."""
    found: list[Task] = []
    sets = {"quick": (60.0, 30.0)} if quick else RADII
    steps, seeds, readings = (20, 2, READINGS[1:]) if quick else (STEPS, SEEDS, READINGS)
    for name, radii in sets.items():
        where, size = data.source(name), 8.0 if name == "1m" else 1.0
        for reading, radius in zip(readings, radii, strict=True):
            for centred in (False, True):
                setting = {"data": name, "source": where, "radius": radius, "reading": reading, "centred": centred}
                label = f"{name} {radius:g}{' centred' if centred else ''}"
                reference = {"kind": "reference", **setting, "products": 400.0 if quick else 12000.0}
                found.append(Task(f"{label} reference", reference, 10 * size))
                for method in METHODS:
                    for seed in range(seeds):
                        curve = {"kind": "curve", **setting, "method": method, "seed": seed, "steps": steps}
                        found.append(Task(f"{label} {method} {seed}", curve, size))
    return found


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """One run."""
    return {"curve": _curve, "reference": _reference}[settings["kind"]](settings, problem_of(settings))


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


def problem_of(settings: dict[str, Any]) -> Problem:
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
    bound = max(result.lower_bound, 0.0) + 0.0  # never −0
    failure = result.certificate.failure
    return {"value": result.value, "lower_bound": bound, "failure": failure, "rank": result.trace[-1].atoms}
