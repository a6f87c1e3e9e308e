"""What fills a standardised table: local means, plus a part of bounded nuclear norm in the metric of its columns.

    tableᵢⱼ ≈ baseᵢⱼ + Zᵢⱼ,    minimise ½Σ (tableᵢⱼ − baseᵢⱼ − Zᵢⱼ)² over the observed entries, ‖Z S^(−½)‖_* ≤ radius

The base is the mean of the columns, or of the rows nearest to a row. S is the covariance that the residual has by
expectation maximisation. Were S^(−½) to make all directions alike, the solution's own row problem would be the
conditional mean of a normal distribution with covariance S and some noise: the radius says how much noise. Knowing
nothing of scikit-learn, this room gets arrays that were checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...places.numpy import Array
from ...problem import Problem
from ...result import Result
from .choose import choose
from .moments import Neighbours, fold_in
from .stage import Settings, Tried, Watch, first_moments, named, parts_of, problem_of, solved, staged

__all__ = ["Fitted", "Model", "Settings", "Tried", "Watch", "fit"]


@dataclass(frozen=True, eq=False)
class Model:
    """What is learned: predictions for the rows of any table with the same columns."""

    near: Neighbours | None
    mean: Array
    factor: Array

    def predict(self, table: Array) -> Array:
        """Every entry as the model sees it, observed or not; each row on its own."""
        base = self.mean if self.near is None else self.mean + self.near.around(table)
        return np.asarray(base + fold_in(table - base, self.factor))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, the solution it came from, and how its settings were found."""

    model: Model
    predicted: Array
    problem: Problem
    result: Result
    radius: float
    neighbours: int
    path: tuple[Tried, ...]


def fit(table: Array, settings: Settings, watch: Watch | None = None) -> Fitted:
    """Choose what is left open, then solve once on everything."""
    watch = Watch() if watch is None else watch
    # a stream of its own: holes made by default_rng(seed).random(shape) would otherwise be the very entries to hide
    rng = np.random.default_rng([settings.seed, 6])
    path: tuple[Tried, ...] = ()
    noise, neighbours = 1.0, settings.neighbours
    if settings.radius is None or neighbours is None:
        path = choose(table, settings, rng, watch)
        best = min(path, key=lambda tried: tried.score, default=None)  # none where too little is observed to hide any
        noise = 1.0 if best is None else best.noise
        neighbours = (neighbours or 0) if best is None else best.neighbours
    first = first_moments(table, settings.learned, rng)
    stage = staged(table, first, neighbours, rng)
    problem, start = problem_of(table, stage, noise, settings.radius)
    what = f"filling with {named(neighbours, problem.domain.size)}"
    result = solved(problem, start, settings.tol, settings, watch, what, last=True)
    watch.solved(None)
    Z, factor = parts_of(result, problem, stage.root)
    model = Model(stage.near, stage.mean, factor)
    return Fitted(model, stage.base + Z, problem, result, problem.domain.size, neighbours, path)
