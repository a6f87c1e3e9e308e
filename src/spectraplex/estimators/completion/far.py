"""``MatrixCompletion`` of a table on a cluster: its sums, its objective, and the choice of a radius there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import add, getitem
from typing import Any

import numpy as np

from ...hooks import Solver
from ...objectives.frames import FarTable
from ...objectives.sharded_intercepts import ShardedIntercepts
from ...observers import Observer
from ...penalized import zero_image
from ...places.dask import ClusterPlace
from ...solve import solve
from ..input.observations import Observations
from . import far_parts, parameters
from .choose import Choice, Walk, no_choice, nobody, together
from .far_parts import Sums
from .first import first_tried
from .recipe import Recipe, Solution, mean_count


class FarObservations:
    """The observations of a table on a cluster."""

    def __init__(self, table: FarTable, aside: tuple[Any, ...] | None = None) -> None:
        self.table, self.aside = table, aside

    @classmethod
    def of(cls, table: FarTable, duplicates: str = "all") -> FarObservations:
        """Checked, each pair and value once."""
        return cls(_mapped(table, far_parts.checked, duplicates))

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    @cached_property
    def sums(self) -> Sums:
        return reduce(add, self.table.each(far_parts.sums_of))

    def as_fitted(self, model: Any) -> FarObservations:
        """As the objective takes them: 0/1 as signs, values on the scale of ``target_transform``."""
        if model.loss == "logistic":
            parameters.refuse_log_of_classes(model)
            zero_one = parameters.are_zero_one(np.array(sorted(self.sums.words)))
            return FarObservations(_mapped(self.table, far_parts.in_signs)) if zero_one else self
        if not parameters.takes_log(model):
            return self
        parameters.refuse_log_of(self.sums.low)
        return FarObservations(_mapped(self.table, far_parts.logged))

    def sample(self, most: int = 200_000) -> Observations:
        """Some whole rows, here; all of them where there are few observations. Rows come in the order of a hash."""
        found = self.table.each(far_parts.first_rows, min(1.0, most / max(1, len(self.table))))
        return Observations.stacked(found, (sum(part.shape[0] for part in found), self.shape[1]))

    def all(self) -> Observations:
        """All of them, here."""
        return Observations.stacked(self.table.each(far_parts.observed), self.shape)

    def split(self, share: float, seed: int) -> FarObservations:
        """What is fitted, with what is kept aside beside it."""
        client = self.table.client
        both = [client.submit(far_parts.split, part, share, seed, pure=False) for part in self.table.parts]
        train, aside = (tuple(client.submit(getitem, each, i, pure=False) for each in both) for i in (0, 1))
        return FarObservations(_counted(replace(self.table, parts=train)), aside)

    def offset(self, recipe: Recipe) -> float:
        """The constant that fits best alone; zero without intercepts."""

        def bends(here: float) -> tuple[float, float]:
            slope, bend = np.sum(self.table.each(far_parts.bends_at, recipe, here), axis=0)
            return float(slope), float(bend)

        return recipe.constant(self.sums.total / self.sums.weight, self.sums.weight, bends)

    def objective(self, recipe: Recipe, offset: float) -> ShardedIntercepts:
        scales, mean = None, 1.0
        if recipe.exponent > 0:
            sums = self.sums
            columns = sums.columns
            mean = sums.weight / max(1, sums.rows)
            scales = recipe.scale(columns, mean_count(columns))
        client, beside = self.table.client, self.aside or (None,) * len(self.table.parts)
        shards = [
            client.submit(far_parts.shard_of, part, aside, rows, entries, recipe, offset, mean, scales, pure=False)
            for (part, rows, entries), aside in zip(self.table.located(), beside, strict=True)
        ]
        place = ClusterPlace(client, shards, *self.shape)
        loss = recipe.losses()
        return ShardedIntercepts(place, len(self.table), loss, offset, recipe.ridges, self.table.columns, scales)


def _mapped(table: FarTable, function: Callable[..., Any], *arguments: Any) -> FarTable:
    """The same table with another kind of observations."""
    parts = tuple(table.client.submit(function, part, *arguments, pure=False) for part in table.parts)
    return _counted(replace(table, parts=parts))


def _counted(table: FarTable) -> FarTable:
    counts = table.each(_count)
    return replace(table, ends=tuple(np.concatenate([[0], np.cumsum(counts)]).astype(int).tolist()))


def _count(part: Any) -> int:
    return int(part.values.size)


class _FarWalk(Walk):
    """Losses are sums over the shards."""

    def loss(self, solution: Solution | None) -> tuple[float, float]:
        objective = self.objective
        found = objective.inner(zero_image(objective)) if solution is None else solution
        low = (None,) * 3 if solution is None else (solution.profiles, solution.X.s, solution.X.V)
        losses = objective.place.ask(("held_out", *low, found.rows, found.cols))[0]
        return float(sum(loss for loss, _ in losses)), float(sum(weight for _, weight in losses))


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
        return no_choice(recipe)
    objective = train.objective(recipe, train.offset(recipe))
    first = first_tried(objective)
    if not first > 0:
        return no_choice(recipe)
    walk = _FarWalk(recipe, objective, None, seed, observers, nobody, solver, train.sums.weight)
    return together([walk], told, first, len(seen.table) / len(train.table), len(seen.table) - len(train.table))
