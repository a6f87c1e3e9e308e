"""How ``MatrixCompletion`` is fitted: choose a radius, solve, keep what was found, warn where the gap is too large."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...hooks import Hooks
from ...matrices.factors import Rectangular
from ...places.numpy import EPS, Array
from ...places.threads import one_blas_thread
from ...stop import Status, Stop
from ..callbacks import Told
from ..devices import solver_for
from ..input import repeats
from ..input.features import Known, with_labels
from ..input.labels import Labels, distinct
from ..input.observations import OWNER, Observations, as_frame, frame_column, frame_numbers
from ..input.times import of_pairs
from . import featuring, notices, parameters, serving
from .charges import settled_charges
from .choose import choose
from .first import stretched
from .folds import latest
from .recipe import Solution, default_stop, grown, mean_count, plainly, solved
from .ridges import settled

NO_HOOKS = Hooks()
_ENDS = {
    Status.STEP_LIMIT: "raise max_iter or tolerance",
    Status.INTERRUPTED: "it was interrupted",
    Status.NOT_FINITE: "numbers overflowed, so the radius (or implicit) is too large for these values",
}


def frame_columns(
    frame: Any, row: str, column: str, value: str, sample_weight: str | None, time: str | None = None
) -> dict[str, Any]:
    """What ``fit_columns`` takes, from the named columns of a data frame."""
    table = as_frame(frame)
    if table is None:
        raise TypeError(f"{OWNER}: from_frame needs a data frame (pandas, polars, arrow), got {type(frame).__name__}.")
    if row == column:
        raise ValueError(f"{OWNER}: row and column must be two columns, got {row!r} for both.")
    first, second = frame_column(table, row), frame_column(table, column)
    weights = None if sample_weight is None else frame_numbers(table, sample_weight)
    when = None if time is None else frame_column(table, time)
    columns = {"first": first, "second": second, "values": frame_numbers(table, value), "sample_weight": weights}
    return columns | {"names": [row, column], "time": when}


def joined(
    model: Any, first: Array, second: Array, y: Any, sample_weight: Any
) -> tuple[Observations, tuple[Labels, Labels], Rectangular]:
    """The observations of a fit with more of them, all labels, and the fitted low-rank part as a start."""
    first, second, numbers, weights = parameters.checked(first, second, y, sample_weight)
    labels = (model.row_labels_.joined(first), model.column_labels_.joined(second))
    new = Observations(
        labels[0].codes(first, OWNER, "row labels"),
        labels[1].codes(second, OWNER, "column labels"),
        numbers,
        weights,
        (len(labels[0]), len(labels[1])),
    )
    start = grown(Rectangular(model.U_, model.s_, model.V_), model.shape_, new.shape)
    return model.observations_.joined(new), labels, start


def named(places: Array, called: Array | None, count: int, what: str) -> tuple[Labels, Array]:
    """Labels of a matrix's rows or columns, and the places of observations among them."""
    if called is None:
        return Labels.range(count), places
    values, codes = distinct(called)
    if values.size < count:
        twice = called[np.bincount(codes)[codes] > 1][:1].tolist()[0]
        raise ValueError(f"{OWNER}: the frame's {what} has {twice!r} more than once; labels must be distinct.")
    return Labels(values), codes[places]


def fit_columns(
    model: Any,
    first: Array,
    second: Array,
    values: Any,
    sample_weight: Any,
    names: list[str] | None,
    hooks: Hooks = NO_HOOKS,
    duplicates: Any = "all",
    time: Any = None,
    features: tuple[Any, Any] = (None, None),
) -> Any:
    """Fit a model to values at pairs of labels, given as two columns; ``features`` are those of rows and columns."""
    repeats.refuse_word(duplicates, f"{OWNER}: duplicates")
    seen, labels = parameters.observed(first, second, values, sample_weight)
    known = featuring.read(features, names)
    if known is not None:
        seen, labels = with_labels(seen, labels, known)
    ranks = None if time is None else parameters.checked_times(time, first.size, sample_weight)
    when = None if ranks is None else of_pairs(seen, ranks)
    if duplicates != "all":
        seen = repeats.named(seen, labels, duplicates, _twice)
    return fit_observations(model, seen, labels, names, hooks=hooks, when=when, features=known)


def _twice(pair: str, found: repeats.Repeated) -> str:
    return (
        f"{OWNER}: the pair {pair} at pairs[{found.again}] was there already, at pairs[{found.first}] ({found.count} "
        "such in all); duplicates='mean', 'sum', 'first', 'last' or 'all' settles them."
    )


def fit_observations(
    model: Any,
    seen: Observations,
    labels: tuple[Labels, Labels],
    names: list[str] | None,
    known: tuple[float, Rectangular] | None = None,
    hooks: Hooks = NO_HOOKS,
    when: Array | None = None,
    features: tuple[Known | None, Known | None] | None = None,
) -> Any:
    """Fit a model to observations of a table; ``known`` is a radius and a start, in place of a choice.

    ``when`` orders pairs by time (input/times.py): then the latest are kept aside, not random ones. ``features`` are
    what is known of rows and columns; a fit that goes on from another one keeps its.
    """
    recipe, radius = parameters.recipe_of(model), parameters.radius_of(model)
    seen = seen.tidy()
    late = None if when is None else latest(seen, float(model.validation), when)
    parameters.refuse_size(seen.values)
    used = parameters.as_fitted(model, seen)
    solver = solver_for(OWNER, model.device, len(used), hooks.solver)
    told_of = featuring.taken(model, labels, features, known is not None)
    # nothing is refused from here on: a model that was fitted before stays as it was until then
    model.seed_ = int(check_random_state(model.random_state).randint(2**31 - 1))
    model.range_ = (float(seen.values.min()), float(seen.values.max()))
    recipe = replace(recipe, features=told_of.features)
    with one_blas_thread, Told(model, hooks) as told:
        said = notices.of_data(recipe, seen, parameters.takes_log(model)) + told_of.said(used)
        recipe = settled(recipe, used, parameters.chooses_ridge(model), parameters.chooses_delta(model))
        recipe = settled_charges(recipe, used, parameters.charges_of(model) is None, parameters.chooses_ridge(model))
        start = None
        path = serving.no_path()
        if known is not None:
            (radius, start), path = known, getattr(model, "path_", path)
            recipe = replace(recipe, exponent=parameters.kept_exponent(model, recipe))
        elif radius is None:
            weigh = parameters.chooses_weighting(model)
            asked: Any = dict(observers=told.observers, told=told.scored, solver=solver, late=late, weigh=weigh)
            choice = choose(recipe, used, float(model.validation), model.seed_, **asked)
            radius, path, start = choice.radius, choice.path, choice.start
            recipe = replace(recipe, exponent=choice.exponent)
            said += notices.of_choice(choice)
        model.offset_ = recipe.offset(used)
        objective = recipe.objective(used, model.offset_)
        if start is not None:
            start = stretched(objective, start, radius)
        stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
        asked = dict(start=start, seed=model.seed_, observers=told.observers, solver=solver)
        found = solved(objective, radius, stop, **asked)
    model.ridge_, model.delta_, model.weighting_ = recipe.ridges, recipe.delta, recipe.exponent
    model.radius_, model.path_, model.observations_, model.latest_ = radius, path, seen, late
    model.row_labels_, model.column_labels_ = labels
    scales = plainly(objective).scales or (np.ones(seen.shape[0]), np.ones(seen.shape[1]))
    model.row_scales_, model.column_scales_ = scales
    keep(model, found, names)
    featuring.keep(model, told_of, recipe)
    model.notices_ = said
    for each in said:
        warnings.warn(f"{OWNER}, about the data: {each}.", UserWarning, stacklevel=4)
    warn_of(model, found, stop)
    return model


def warn_of(model: Any, found: Any, stop: Stop, owner: str = OWNER) -> None:
    """Say so where the certified gap is larger than was asked for."""
    if found.status not in (Status.GAP, Status.FLOOR, Status.OBSERVER):
        ended = _ENDS.get(found.status, found.status.value.rstrip("."))
        warnings.warn(
            f"{owner}: the certified gap is {found.certificate.gap:.3g} of {found.certificate.value:.3g} after "
            f"{model.n_iter_} steps (tolerance allows {stop.wanted(found.certificate.value):.3g}); {ended}.",
            ConvergenceWarning,
            stacklevel=5,
        )


def keep(model: Any, found: Solution, names: list[str] | None) -> None:
    """What was found becomes attributes of the model."""
    # an earlier fit may have left its rows on a cluster, had columns folded in, or given intervals
    for name in ("shards_", "column_counts_", "column_profiles_", "calibration_"):
        vars(model).pop(name, None)
    model.U_, model.s_, model.V_ = found.X.triple()
    model.profiles_, model.shape_ = found.profiles, model.observations_.shape
    model.row_intercepts_, model.column_intercepts_ = found.rows, found.cols
    model.row_mean_count_ = mean_count(model.observations_.counts()[0])
    keep_numbers(model, found, names)


def keep_numbers(model: Any, found: Any, names: list[str] | None) -> None:
    """What is as small for any number of rows."""
    model.multiplier_, model.certificate_, model.history_ = found.multiplier, found.certificate, found.trace
    model.n_iter_, model.status_ = max(1, found.steps), found.status.name
    model.rank_ = int(np.count_nonzero(model.s_ > EPS * model.radius_))  # what is less is rounding
    model.n_features_in_ = 2
    if names is not None:
        model.feature_names_in_ = np.array(names, object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
