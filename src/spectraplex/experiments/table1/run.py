"""The paper's comparison table, measured: work to reach an accuracy, by dimension, conditioning, rank and λ_min.

The problems and their families are in table1_problems.py: quadratics with β = 1 whose optimum is known.

Methods: ``pgd`` and ``apgd`` take steps of 1/β and decompose the whole matrix once per step (twice when momentum is
dropped); ``cg`` searches the line exactly; ``ror`` is Algorithm 2 as printed, theorem step and accuracy ξ_t;
``ror-adaptive`` is its greedy form with line search and no β.

Outcome of a run (h is value − f*; all lists under ``hits`` have one entry per ``hits.epsilon``, null where that was not
reached; limits are numbers of steps, never seconds, so that everything but seconds is the same on every machine):

optimum, smoothness, strong_convexity, nonzeros   of the problem: f*, β, α, nnz of a gradient's sparse or dense part
status, steps, products, flops, seconds, atoms    how the run ended, and all that it spent
decompositions      whole ones (pgd, apgd); 0 for methods of one eigenvector per step
start, last, lowest h at the start (of pgd, apgd; after one eigenvector for the others), at the end, and the least
hits                epsilon, step, decompositions, products, flops, seconds, atoms when first h ≤ ε·β
curve               step, error (least h so far), products, flops, seconds, at some steps

Flops are a model: 2·nnz(∇) for a product, and 4·d·atoms more where X is kept as factors beside a sparse A; 14/3·d³ for
a decomposition (reduction 4/3, divide and conquer 4/3, back-transformation 2). What a step does besides is left out.
Seconds are those of the processor, on one thread: what a clock says on a quiet machine, and nearly so on a busy one.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...places.numpy import Array
from ...solve import solve
from ...stop import Stop
from ..runner import Task
from .problems import Known, build

#: Accuracies in units of β: five to a decade, from 10⁻¹ to 10⁻⁶.
EPSILONS = tuple(float(f"{10.0 ** -(1 + j / 5):.6g}") for j in range(26))
METHODS = ("pgd", "apgd", "cg", "ror", "ror-adaptive")
PROJECTED = ("pgd", "apgd")
BASE = {"rank": 3, "smallest": 1 / 6}
_CURVE = 60  # most points of a curve
_STEPS = {  # the most steps, chosen so that no run takes much longer than a minute on one core
    "pgd": {100: 600, 300: 400, 1000: 60, 3000: 12},
    "apgd": {100: 600, 300: 400, 1000: 60, 3000: 12},
    "cg": {100: 1200, 300: 1200, 1000: 300, 3000: 120},
    "ror": {100: 1200, 300: 1200, 1000: 300, 3000: 120},
    "ror-adaptive": {100: 400, 300: 500, 1000: 300, 3000: 120},
}
_SPARSE_STEPS = {  # cheap steps, but for CG: its directions hold X itself, whose factors double with every step
    "cg": {100: 1200, 300: 200, 1000: 40, 3000: 15},
    "ror": {100: 1200, 300: 1200, 1000: 600, 3000: 400},
    "ror-adaptive": {100: 400, 300: 500, 1000: 300, 3000: 300},
}


# --------------------------------------------------------------------------------------------------------------- tasks


def tasks(quick: bool) -> list[Task]:
    """The line of dimensions, which is timed and so runs alone, and variations at d = 300, which are only counted."""
    if quick:
        small: dict[str, Any] = {"rank": 2, "smallest": 0.25, "seed": 0}
        places: list[dict[str, Any]] = [
            {"family": family, "d": d, "ratio": 0.1 if family == "entries" else 1.0} | small
            for family in ("distance", "sparse", "entries")
            for d in (20, 40)
        ]
        places += [{"family": "entries", "d": 40, "ratio": 0.02} | small]
        places += [{"family": "gaussian", "d": 10, "ratio": 0.0} | small]
        return [_task(place, method, 45) for place in places for method in METHODS]
    listed = []
    for family, ratio in (("distance", 1.0), ("sparse", 1.0), ("entries", 0.1)):
        for d in (100, 300, 1000, 3000):
            for seed in range(3 if d < 3000 else 1):
                place = {"family": family, "d": d, "ratio": ratio, **BASE, "seed": seed}
                listed += [_task(place, method, alone=True) for method in METHODS]
    variations: list[dict[str, Any]] = [{"family": "entries", "ratio": ratio, **BASE} for ratio in (0.03, 0.01)]
    for family, ratio in (("distance", 1.0), ("entries", 0.1)):
        variations += [
            {"family": family, "ratio": ratio, "rank": rank, "smallest": 1 / (2 * rank) if rank > 1 else 1.0}
            for rank in (1, 10)
        ]
        variations += [{"family": family, "ratio": ratio, "rank": 3, "smallest": small} for small in (0.03, 0.005)]
    for seed in range(3):
        listed += [_task({"d": 300, **each, "seed": seed}, method) for each in variations for method in METHODS]
        place = {"family": "gaussian", "d": 30, "ratio": 0.0, **BASE, "seed": seed}
        listed += [_task(place, method, 300) for method in METHODS]
    # the plateau that conditional gradient starts on is long: one run that leaves it behind
    listed.append(_task({"family": "entries", "d": 40, "ratio": 0.1, **BASE, "seed": 0}, "cg", 12_000))
    return listed


def _task(place: dict[str, Any], method: str, steps: int | None = None, alone: bool = False) -> Task:
    d = int(place["d"])
    allowed = _STEPS | _SPARSE_STEPS if place["family"] == "sparse" else _STEPS
    steps = allowed[method][d] if steps is None else steps
    settings = place | {"method": method, "steps": steps}
    key = "{family} d={d} rank={rank} smallest={smallest:.3g} ratio={ratio:g} {method} seed={seed}".format(**settings)
    # seconds as they were timed on one core; at α = β one projected step is enough, else a few
    needed = min(settings["steps"], 1 if place["ratio"] == 1.0 else 30) if method in PROJECTED else settings["steps"]
    cost = needed * (2e-3 + d**3 * 3e-10 if method in PROJECTED else 3e-3 + d * d * 3e-8)
    return Task(key, settings, cost, alone)


# ------------------------------------------------------------------------------------------------------------ one run


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """Run one method on one problem until the smallest ε or its limit of steps."""
    names = ("rank", "smallest", "ratio", "seed")
    family, d, method = settings["family"], settings["d"], settings["method"]
    # a few steps on a small problem first: compiled kernels are loaded before the clock starts
    warm = build.__wrapped__("sparse" if family == "sparse" else "distance", 20, 1, 1.0, 1.0, 0)
    solve(warm.problem, method, Stop(max_steps=2), certify=False)
    known = build(family, d, *(settings[name] for name in names))
    beta = 1.0
    stop = Stop(max_steps=settings["steps"], value=known.optimum + EPSILONS[-1] * beta)
    spent: list[float] = []
    began = time.process_time()
    watch = lambda *_: spent.append(time.process_time() - began)  # noqa: E731
    result = solve(known.problem, method, stop, (watch,), seed=settings["seed"], certify=False)
    trace = result.trace.as_dict()
    error, products = trace["value"] - known.optimum, trace["products"]
    projected = method in PROJECTED
    decompositions = products / d if projected else np.zeros(len(products))
    columns = {
        "step": trace["step"],
        "decompositions": decompositions,
        "products": products,
        "flops": _flops(known, d, projected, products, trace["atoms"]),
        "seconds": np.array(spent),
        "atoms": trace["atoms"],
    }
    lowest = np.minimum.accumulate(error)
    reached = [
        int(np.argmax(lowest <= epsilon * beta)) if lowest[-1] <= epsilon * beta else None for epsilon in EPSILONS
    ]
    hits = {name: [None if at is None else column[at] for at in reached] for name, column in columns.items()}
    thin = np.unique(np.rint(np.geomspace(1, len(error), _CURVE)).astype(int) - 1)
    return {
        "optimum": known.optimum,
        "smoothness": beta,
        "strong_convexity": known.strong_convexity,
        "nonzeros": known.nonzeros,
        "status": result.status.name,
        "steps": trace["step"][-1],
        **{name: columns[name][-1] for name in ("products", "decompositions", "flops", "seconds", "atoms")},
        "start": error[0],
        "last": error[-1],
        "lowest": lowest[-1],
        "hits": {"epsilon": list(EPSILONS)} | hits,
        "curve": {"error": lowest[thin]} | {n: columns[n][thin] for n in ("step", "products", "flops", "seconds")},
    }


def _flops(known: Known, d: int, projected: bool, products: Array, atoms: Array) -> Array:
    """The model of the module's docstring, summed along a run."""
    if projected:
        return np.asarray(products / d * (14 / 3) * float(d) ** 3)
    factored = 0.0 if known.nonzeros == d * d else 4.0 * d
    before = np.concatenate([[1], atoms[:-1]])  # the gradient is that of the point before the step
    return np.asarray(np.cumsum(np.diff(products, prepend=0.0) * (2.0 * known.nonzeros + factored * before)))
