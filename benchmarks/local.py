"""The local solver: evaluations of the descent with its diagonal scaling and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spectraplex.eigen.leading import leading
from spectraplex.methods import descent
from spectraplex.places.numpy import Array
from spectraplex.problem import Problem

from .data import problem, ratings

SETTINGS = ((2500.0, 10), (3500.0, 50), (5000.0, 130))
ERRORS = (1e-2, 1e-3, 1e-4, 1e-6)


def evaluations(task: Problem, Y: Array, scaled: bool, most: int) -> list[float]:
    """Values after every step of one descent."""
    values: list[float] = []
    search, scaling = descent._search, descent.inverse_curvature

    def watched(*arguments: Any) -> Any:
        found = search(*arguments)
        if found is not None:
            values.append(found[0])
        return found

    def flat(*arguments: Any) -> Array:
        found = scaling(*arguments)
        return np.full(found.shape, float(np.median(found)))

    descent._search = watched
    descent.inverse_curvature = scaling if scaled else flat
    try:
        descent.descend(task, Y, None, 1.0, most=most, fading=0.0, single=True)
    finally:
        descent._search, descent.inverse_curvature = search, scaling
    return values


def run() -> Iterator[str]:
    table = ratings("100k")
    for radius, rank in SETTINGS:
        task, rng = problem(table, radius), np.random.default_rng(0)
        zero = task.point(task.domain.start(task.dtype, rng))
        found = leading(task.descent(zero), 2, accuracy=1e3, rng=rng, max_products=2000.0, also=rank - 2)
        weights = np.maximum(found.values, 0.0)
        Y = found.vectors * np.sqrt(weights / weights.sum())
        reached = {name: evaluations(task, Y, name == "scaled", 400) for name in ("scaled", "without")}
        best = min(min(values) for values in reached.values())
        for name, values in reached.items():
            counts = [next((i + 1 for i, v in enumerate(values) if v <= best * (1 + error)), None) for error in ERRORS]
            said = ", ".join(f"{error:g}: {count or '> 400'}" for error, count in zip(ERRORS, counts, strict=True))
            yield f"{table.name}, radius {radius:g}, rank {rank}, {name:7s}: evaluations to a relative error of {said}"
