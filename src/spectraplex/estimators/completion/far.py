"""``MatrixCompletion`` of a table on a cluster: its sums, its objective, and the choice of a radius there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from ...eigen.leading import leading
from ...hooks import Solver
from ...objectives.frames import FarTable
from ...objectives.sharded_intercepts import ShardedIntercepts
from ...observers import Observer
from ...penalized import unit_ball, zero_image
from ...places.dask import ClusterPlace
from ...places.numpy import Array
from ...solve import solve
from ..input.observations import OWNER, Observations
from . import far_parts
from .choose import FIRST, Choice, Walk, no_choice, together
from .far_parts import Sums
from .recipe import Recipe, Solution


class FarObservations:
    """The observations of a table on a cluster."""

    def __init__(self, table: FarTable, aside: tuple[Any, ...] | None = None) -> None:
        self.table, self.aside = table, aside

    @classmethod
    def of(cls, table: FarTable) -> FarObservations:
        """Checked, each pair and value once."""
        return cls(_mapped(table, far_parts.checked))

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    @cached_property
    def sums(self) -> Sums:
        return reduce(add, self.table.each(far_parts.sums_of))

    def in_signs(self) -> FarObservations:
        """Values 0/1 or −1/+1 as −1/+1."""
        words = self.sums.words
        if words <= {0.0, 1.0}:
            return FarObservations(_mapped(self.table, far_parts.in_signs))
        if not words <= {-1.0, 1.0}:
            bad = sorted(words - {-1.0, 0.0, 1.0})
            what = f"{bad[0]:g} is among them" if bad else "−1, 0 and 1 are all among them"
            raise ValueError(f"{OWNER}: the logistic loss needs values all 0/1 or all −1/+1, but {what}.")
        return self

    def logged(self) -> FarObservations:
        """Values on the scale of log(1 + value)."""
        if self.sums.low <= -1.0:
            raise ValueError(f"{OWNER}: transform='log1p' needs values above −1, and one is {self.sums.low:g}.")
        return FarObservations(_mapped(self.table, far_parts.logged))

    def sample(self, most: int = 200_000) -> Observations:
        """Some whole rows, here; all of them where there are few observations. Rows come in the order of a hash."""
        share = min(1.0, most / max(1, len(self.table)))
        found = self.table.each(far_parts.first_rows, share)
        firsts = np.cumsum([0, *(part.shape[0] for part in found)])
        rows = np.concatenate([part.rows + first for part, first in zip(found, firsts, strict=False)])
        cols, values = (np.concatenate([getattr(part, name) for part in found]) for name in ("cols", "values"))
        weights = None
        if any(part.weights is not None for part in found):
            weights = np.concatenate([np.ones(len(part)) if part.weights is None else part.weights for part in found])
        return Observations(rows, cols, values, weights, (int(firsts[-1]), self.shape[1]))

    def split(self, share: float, seed: int) -> FarObservations:
        """What is fitted, with what is kept aside beside it."""
        client = self.table.client
        both = [client.submit(far_parts.split, part, share, seed, pure=False) for part in self.table.parts]
        train, aside = (
            tuple(client.submit(pick, each, pure=False) for each in both)
            for pick in (far_parts.first_of, far_parts.second_of)
        )
        return FarObservations(_counted(replace(self.table, parts=train)), aside)

    def offset(self, recipe: Recipe) -> float:
        """The constant that fits best alone; zero without intercepts."""
        if recipe.ridges is None:
            return 0.0
        sums = self.sums
        mean = sums.total / sums.weight
        if recipe.loss == "squared":
            return mean
        if recipe.loss == "logistic":  # the log-odds of +1, of a table with one more of either
            plus = 0.5 * (mean + 1.0) * sums.weight
            return float(np.log((plus + 1.0) / (sums.weight - plus + 1.0)))
        here = mean
        for _ in range(100):  # Newton's method on a convex function of one number, with curvature bounded above
            slope, bend = (sum(part) for part in zip(*self.table.each(far_parts.bends_at, recipe, here), strict=True))
            step = slope / bend if bend > 0 else math.copysign(recipe.delta, slope)
            here -= step
            if abs(step) <= 1e-12 * (abs(here) + recipe.delta):
                break
        return here

    def objective(self, recipe: Recipe, offset: float) -> ShardedIntercepts:
        scales, mean = None, 1.0
        if recipe.exponent > 0:
            sums = self.sums
            columns = sums.columns
            mean = sums.weight / max(1, sums.rows)
            scales = recipe.scale(columns, float(columns[columns > 0].mean()) if columns.any() else 1.0)
        client, beside = self.table.client, self.aside or (None,) * len(self.table.parts)
        shards = [
            client.submit(far_parts.shard_of, part, aside, rows, entries, recipe, offset, mean, scales, pure=False)
            for (part, rows, entries), aside in zip(self.table.located(), beside, strict=True)
        ]
        place = ClusterPlace(client, shards, *self.shape)
        loss = recipe.losses()
        return ShardedIntercepts(place, len(self.table), loss, offset, recipe.ridges, self.table.columns, scales)


def _mapped(table: FarTable, function: Callable[..., Any]) -> FarTable:
    """The same table with another kind of observations."""
    parts = tuple(table.client.submit(function, part, pure=False) for part in table.parts)
    return _counted(replace(table, parts=parts))


def _counted(table: FarTable) -> FarTable:
    counts = table.each(_count)
    return replace(table, ends=tuple(np.concatenate([[0], np.cumsum(counts)]).astype(int).tolist()))


def _count(part: Any) -> int:
    return int(part.values.size)


class _FarWalk(Walk):
    """Losses are sums over the shards."""

    def loss(self, solution: Solution | None) -> tuple[float, float]:
        place, objective = self.objective.place, self.objective
        if solution is None:
            found = objective.inner(zero_image(objective))
            U = place.axis(slice(0, place.m), 0, "float64")
            asked = (U, np.zeros(1), np.zeros((place.n, 1)), found.rows, found.cols)
        else:
            asked = (solution.profiles, solution.X.s, solution.X.V, solution.rows, solution.cols)
        loss, weight = (sum(part) for part in zip(*place.ask(("held_out", *asked, self.recipe))[0], strict=True))
        return float(loss), float(weight)


def far_choose(
    recipe: Recipe,
    seen: FarObservations,
    share: float,
    seed: int,
    observers: Sequence[Observer] = (),
    told: Callable[[float, float], Any] = lambda radius, score: None,
    solver: Solver = solve,
) -> Choice:
    """As ``choose``: what is kept aside lies in the shards of what is fitted."""
    train = seen.split(share, seed)
    if not len(train.table) or len(train.table) == len(seen.table):
        return no_choice()
    objective = train.objective(recipe, train.offset(recipe))
    first = FIRST * first_radius(objective)
    if not first > 0:
        return no_choice()
    walk = _FarWalk(recipe, objective, None, seed, observers, _nobody, solver)
    return together([walk], told, first, len(seen.table) / len(train.table), len(seen.table) - len(train.table))


def _nobody(radius: float, score: float) -> None:
    """The walk is heard once, by those who walk together."""


def first_radius(objective: ShardedIntercepts) -> float:
    """The best multiple of the leading singular pair of the gradient at zero, alone: where something begins."""
    zero, images = zero_image(objective), objective.images
    slope, count = objective.evaluate(zero)[1], math.sqrt(objective.entries)
    if not images.norm(slope) > 1e-12 * (objective.largest + 1e-300) * count:
        return 0.0
    lifted = unit_ball(objective, False).lifted
    asked: dict[str, Any] = dict(accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0)
    vector = leading(lifted.pull(slope), **asked).vector
    ahead = lifted.measure(vector, np.ones(1), vector)
    curve = objective.along(zero, ahead)
    size = objective.largest * count / max(images.norm(ahead), 1e-300)
    bend = curve.curvature(1e-6 * size)  # close by, in the unit that the values are in
    return max(-curve.derivative(0.0), 0.0) / bend if bend > 0 else 0.0


def in_order(labels: Array) -> Array:
    """The places of labels, sorted where they can be."""
    try:
        return np.argsort(labels, kind="stable")
    except TypeError:
        return np.arange(labels.size)
