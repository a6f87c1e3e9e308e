"""``MatrixCompletion`` fitted on a cluster; what is small enough comes back as an ordinary model."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

from ...certificates import judge
from ...domains.sets import NuclearBall
from ...hooks import Hooks
from ...matrices.factors import Rectangular
from ...objectives.frame_parts import Rows
from ...objectives.frames import FarTable, far_table
from ...objectives.intercepts import Intercepts
from ...objectives.sharded_intercepts import ShardedIntercepts
from ...places.dask import ClusterPlace
from ...places.here import HERE
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ...problem import Problem
from ..callbacks import Told
from ..input.labels import Labels, as_column
from ..input.observations import OWNER, Observations
from ..input.repeats import refuse_word
from . import featuring, fitting, notices, parameters, serving
from .far import FarObservations, far_choose
from .first import stretched
from .recipe import Solution, default_stop, solved
from .ridges import settled
from .shards import OnWorkers, Shards, shard_model

_TALL = (
    "U_",
    "profiles_",
    "row_intercepts_",
    "row_scales_",
    "row_labels_",
    "observations_",
    "shards_",
    "calibration_",
    "column_counts_",
    "column_profiles_",
)
_WHOLE = 1 << 28  # bytes of factors and observations up to which a model comes back whole


def fit_far_frame(
    model: Any,
    frame: Any,
    row: str,
    column: str,
    value: str,
    sample_weight: str | None,
    duplicates: str = "all",
    hooks: Hooks = fitting.NO_HOOKS,
    client: Any = None,
) -> Any:
    """Fit a model to the columns of a Dask frame, where they are."""
    refuse_far(model)
    refuse_word(duplicates, f"{OWNER}: duplicates")
    once = duplicates == "error"
    table = far_table(OWNER, frame, (row, column, value, sample_weight), None, client, once=once)
    return fit_far(model, table, [row, column], hooks, "all" if once else duplicates)


def refuse_far(model: Any) -> None:
    """Settings that are wrong, or that a cluster cannot do: before anything is read."""
    parameters.radius_of(model)
    if parameters.recipe_of(model).implicit > 0:
        raise ValueError(
            f"{OWNER}: implicit={model.implicit!r} needs every row's columns at once, which a cluster does not have; "
            "use implicit=0 there, or one machine."
        )


def fit_far(
    model: Any,
    table: FarTable,
    names: list[str] | None,
    hooks: Hooks = fitting.NO_HOOKS,
    duplicates: str = "all",
) -> Any:
    recipe, radius = parameters.recipe_of(model), parameters.radius_of(model)
    seen = FarObservations.of(table, duplicates)
    sums = seen.sums
    if sums.count == 0:
        raise ValueError(f"{OWNER}: every sample_weight is zero; there is nothing to fit.")
    parameters.refuse_size(np.array([sums.low, sums.high]))
    model.seed_ = int(check_random_state(model.random_state).randint(2**31 - 1))
    model.range_ = (sums.low, sums.high)
    used = seen.as_fitted(model)
    with one_blas_thread, Told(model, hooks) as told:
        chosen = parameters.chooses_ridge(model), parameters.chooses_delta(model)
        if any(chosen):
            recipe = settled(recipe, used.sample(), *chosen)
        path, start, model.notices_ = serving.no_path(), None, []
        if radius is None:
            choice = far_choose(
                recipe, used, float(model.validation), model.seed_, told.observers, told.scored, hooks.solver
            )
            radius, path, start = choice.radius, choice.path, choice.start
            model.notices_ = notices.of_choice(choice)
        model.offset_ = used.offset(recipe)
        objective = used.objective(recipe, model.offset_)
        if start is not None:  # the same rows, in the same shards
            place = objective.place
            start = replace(start, U=place.adopt(cast(ClusterPlace, start.place), start.U), place=place)
            start = stretched(objective, start, radius)
        stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
        asked: Any = dict(start=start, seed=model.seed_, observers=told.observers, solver=hooks.solver)
        found = solved(objective, radius, stop, **asked)
        model.radius_, model.path_ = radius, path
        model.ridge_, model.delta_, model.weighting_ = recipe.ridges, recipe.delta, recipe.exponent
        model.latest_ = None
        featuring.keep(model, featuring.Taken(None), recipe)
        fit = Fitted(objective, found, seen)
        if fit.bytes <= _WHOLE:
            _come_back(model, fit, names)
        else:
            _stay(model, fit, names)
    for each in model.notices_:
        warnings.warn(f"{OWNER}, about the data: {each}.", UserWarning, stacklevel=5)
    fitting.warn_of(model, found, stop)
    return model


class Fitted:
    """A fit whose left side lies on the workers."""

    def __init__(self, objective: ShardedIntercepts, found: Solution, seen: FarObservations) -> None:
        self.objective, self.found, self.seen = objective, found, seen

    @property
    def bytes(self) -> int:
        """What it would take here: factors of rows, and observations."""
        return 8 * self.seen.shape[0] * (2 + self.found.X.s.size) + 24 * len(self.seen.table)

    @cached_property
    def labels(self) -> tuple[Array, Array]:
        """The labels of the rows, sorted where they can be, and where each of them is on the cluster."""
        labels = as_column(np.concatenate(self.seen.table.each(labels_of)), OWNER, "row labels")
        try:
            order = np.argsort(labels, kind="stable")
        except TypeError:
            order = np.arange(labels.size)
        return labels[order], order

    def observations(self) -> Observations:
        """All of them, in the order of the labels."""
        order = self.labels[1]
        new = np.empty_like(order)
        new[order] = np.arange(order.size)
        seen = self.seen.all()
        return replace(seen, rows=new[seen.rows]).tidy()


def _come_back(model: Any, fit: Fitted, names: list[str] | None) -> None:
    """The model as if it had been fitted here: rows in the order of their labels, certified here."""
    found, place = fit.found, fit.objective.place
    labels, order = fit.labels
    U, s, V = place.to_host(found.X.U)[order], found.X.s, found.X.V
    rows = place.to_host(found.rows)[order, 0]
    scales = place.to_host(place.left("row_scales", width=1, dtype=np.float64))[order, 0]
    columns = fit.objective.column_scales
    model.observations_ = fit.observations()
    model.row_labels_ = Labels(labels)
    model.column_labels_ = Labels(as_column(fit.seen.table.columns, OWNER, "columns"))
    model.row_scales_, model.column_scales_ = scales, np.ones(V.shape[0]) if columns is None else columns
    X = Rectangular(U, s, V, HERE)
    here = replace(found, X=X, profiles=U, rows=rows)
    fitting.keep(model, here, names)
    seen = model.observations_
    problem = serving.problem(model, seen.rows, seen.cols, seen.values, seen.weights)
    objective = cast(Intercepts, problem.objective)
    beside = objective.inner(objective.measure(U, s, V))  # the same but for rounding
    model.row_intercepts_, model.column_intercepts_ = beside.rows, beside.cols
    if found.certificate.kind != "none":  # of these very factors and these very data, in this order
        model.certificate_ = judge.certify(problem, X, seed=model.seed_)


def _stay(model: Any, fit: Fitted, names: list[str] | None) -> None:
    """Rows stay on the workers, a model for each shard; what is small is here."""
    for name in _TALL:
        vars(model).pop(name, None)  # of an earlier fit
    found, place, table = fit.found, fit.objective.place, fit.seen.table
    scales = place.left("row_scales", width=1, dtype=np.float64)
    place.ask()
    columns, n = fit.objective.column_scales, fit.seen.shape[1]
    model.column_labels_ = Labels(as_column(table.columns, OWNER, "columns"))
    model.column_scales_ = np.ones(n) if columns is None else columns
    model.s_, model.V_, model.shape_ = found.X.s, found.X.V, fit.seen.shape
    model.column_intercepts_, model.column_counts_ = found.cols, fit.seen.sums.counts
    model.row_mean_count_ = fit.seen.sums.weight / max(1, fit.seen.sums.rows)
    fitting.keep_numbers(model, found, names)
    slots = (found.X.U.at, found.rows.at, scales.at)
    common = table.client.submit(copy.copy, model, pure=False)  # a task: it can be made again
    models = tuple(
        table.client.submit(shard_model, part, state, slots, common, pure=False)
        for part, state in zip(table.parts, place.states, strict=True)
    )
    problem = Problem(fit.objective, NuclearBall(fit.objective.shape, model.radius_))
    model.shards_ = Shards(OnWorkers(table.client, models, table.numbers, table.count), problem, found.X)


def labels_of(part: Rows) -> Array:
    return part.labels
