"""Settings and data at the door: what was wrong, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ...checks import is_flag, is_real, is_word, number, numbers, whole
from ...places.numpy import Array
from ..input.labels import Labels, as_column, distinct
from ..input.observations import OWNER, Observations, refuse_masked
from ..input.times import ranked
from .recipe import Recipe

_LARGE = 1e50
_USUAL = (4.0, 2.0)  # ridges that are about right for films
LOSSES = ("squared", "huber", "logistic")


def recipe_of(model: Any) -> Recipe:
    """The settings, checked; where the data are to choose, what the choice begins with."""
    if model.loss not in LOSSES:
        raise ValueError(f"{OWNER}: unknown loss {model.loss!r}; known: {', '.join(map(repr, LOSSES))}.")
    for name in ("intercepts", "clip"):
        if not is_flag(getattr(model, name)):
            raise TypeError(f"{OWNER}: {name} must be True or False, got {getattr(model, name)!r}.")
    exponent = exponent_of("frequency" if chooses_weighting(model) else model.weighting)
    ridges = None
    if model.intercepts:
        given = _USUAL if chooses_ridge(model) else model.ridge
        given = given if isinstance(given, tuple | list) else (given, given)
        if len(given) != 2:
            raise ValueError(
                f"{OWNER}: ridge must be 'auto', a number, or one for rows and one for columns, got {model.ridge!r}."
            )
        ridges = (number(OWNER, "ridge", given[0], positive=True), number(OWNER, "ridge", given[1], positive=True))
    refuse_limits(model)
    takes_log(model)
    charges_of(model)
    delta = 1.0 if chooses_delta(model) else number(OWNER, "delta", model.delta, positive=True)
    return Recipe(model.loss, delta, ridges, exponent, number(OWNER, "implicit", model.implicit))


def exponent_of(weighting: Any, owner: str = OWNER) -> float:
    """The exponent that frequencies of rows and columns are taken to; where it is left to the data, the usual one."""
    if is_word(weighting, "frequency"):
        return 0.25
    if weighting is None or is_word(weighting, "plain"):
        return 0.0
    if is_real(weighting):
        return number(owner, "weighting", weighting)
    known = "'auto', " if owner == OWNER else ""
    raise ValueError(f"{owner}: weighting must be {known}'frequency', 'plain' or an exponent ≥ 0, got {weighting!r}.")


def refuse_limits(model: Any, owner: str = OWNER) -> None:
    """Refuse a share to choose by, a tolerance or a number of steps that is none."""
    if number(owner, "validation", model.validation, positive=True) >= 1:
        raise ValueError(f"{owner}: validation is a share between 0 and 1, got {model.validation!r}.")
    number(owner, "tolerance", model.tolerance, positive=True)
    whole(owner, "max_iter", model.max_iter)


def chooses_weighting(model: Any) -> bool:
    """Whether the exponent of frequencies is left to the data."""
    return is_word(model.weighting, "auto")


def chooses_ridge(model: Any) -> bool:
    """Whether the ridges are left to the data."""
    if isinstance(model.ridge, str) and not is_word(model.ridge, "auto"):
        raise ValueError(f"{OWNER}: ridge must be 'auto', a number, or a pair of numbers, got {model.ridge!r}.")
    return is_word(model.ridge, "auto")


def chooses_delta(model: Any) -> bool:
    """Whether the scale of the Huber loss is left to the data."""
    if isinstance(model.delta, str) and not is_word(model.delta, "auto"):
        raise ValueError(f"{OWNER}: delta must be 'auto' or a positive number, got {model.delta!r}.")
    return is_word(model.delta, "auto")


def charges_of(model: Any) -> tuple[float, float] | None:
    """The ridges of the weights of features; None where they are left to the data."""
    given = model.feature_ridge
    if is_word(given, "auto"):
        return None
    pair = given if isinstance(given, tuple | list) else (given, given)
    if isinstance(given, str) or len(pair) != 2:
        raise ValueError(
            f"{OWNER}: feature_ridge must be 'auto', a number, or one for rows and one for columns, got {given!r}."
        )
    row, column = (number(OWNER, "feature_ridge", each, positive=True) for each in pair)
    return row, column


def fitted_recipe(model: Any) -> Recipe:
    """The settings of a fitted model, with what its data chose, and its features."""
    recipe = recipe_of(model)
    ridges = None if recipe.ridges is None else model.ridge_
    features, exponent = vars(model).get("features_"), model.weighting_
    return replace(recipe, delta=model.delta_, ridges=ridges, features=features, exponent=exponent)


def kept_exponent(model: Any, recipe: Recipe) -> float:
    """The exponent of a fit that goes on from another one: its radius is in the unit of that one's factors."""
    return float(vars(model).get("weighting_", recipe.exponent)) if chooses_weighting(model) else recipe.exponent


def radius_of(model: Any) -> float | None:
    """The radius that was given; None for "auto"."""
    if isinstance(model.radius, str):
        if model.radius != "auto":
            raise ValueError(f"{OWNER}: radius must be 'auto' or a positive number, got {model.radius!r}.")
        return None
    return number(OWNER, "radius", model.radius, positive=True)


def present(y: Any, sample_weight: Any) -> None:
    """Refuse a fit without values, or with none that counts."""
    if y is None:
        raise ValueError(
            f"{OWNER}: requires y to be passed, but the target y is None: fit(pairs, values) needs a value for "
            "every pair."
        )
    weights = np.ones(1) if sample_weight is None else np.asarray(sample_weight)
    if weights.size and weights.dtype.kind in "buif" and not np.any(weights):
        raise ValueError(f"{OWNER}: every sample_weight is zero; there is nothing to fit.")


def checked(first: Array, second: Array, values: Any, sample_weight: Any) -> tuple[Array, Array, Array, Any]:
    """Labels, values and weights of one length, without observations of weight zero."""
    refuse_masked(values, "values")
    y = checked_values(column_or_1d(values, warn=True))
    if not first.size == second.size == y.size:
        raise ValueError(
            f"{OWNER}: Found input variables with inconsistent numbers of samples: {first.size} pairs, {y.size} "
            "values; give one value per pair."
        )
    if y.size == 0:
        raise ValueError(f"{OWNER}: 0 sample(s) while a minimum of 1 is required: no entry is observed.")
    weights = checked_weights(sample_weight, y.size)
    if weights is not None and not (weights > 0).all():
        kept = weights > 0
        first, second, y, weights = first[kept], second[kept], y[kept], weights[kept]
    return first, second, y, weights


def observed(
    first: Array, second: Array, values: Any, sample_weight: Any
) -> tuple[Observations, tuple[Labels, Labels]]:
    """Two columns of labels, values and weights as observations, and the labels of their rows and columns."""
    first, second, y, weights = checked(first, second, values, sample_weight)
    row_values, rows = distinct(first)
    column_values, cols = distinct(second)
    labels = (Labels(row_values), Labels(column_values))
    return Observations(rows, cols, y, weights, (len(labels[0]), len(labels[1]))), labels


def refuse_size(values: Array) -> None:
    """Refuse numbers whose squares are no numbers any more."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > _LARGE or 0.0 < largest < 1.0 / _LARGE:
        what, how = ("large", "divide") if largest > 1.0 else ("small", "multiply")
        raise ValueError(
            f"{OWNER}: the largest of the values is {largest:.3g} in size, too {what} to be squared; {how} all of them "
            "by one number."
        )


def checked_values(values: Array, owner: str = OWNER) -> Array:
    """One real number per pair."""
    if values.dtype == object:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            bad = next((i for i, v in enumerate(values.tolist()) if not isinstance(v, Real)), 0)
            raise ValueError(f"{owner}: values[{bad}] is {values[bad]!r}, which is not a number.") from None
    if values.dtype.kind == "c":
        raise ValueError(f"{owner}: Complex data not supported: values must be real.")
    array = np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        what = "NaN" if np.isnan(array[place]) else "infinity"
        raise ValueError(f"{owner}: Input values contain {what}: values[{place}]; leave it out, it is not observed.")
    return numbers(owner, "values", array, ndim=1)


def checked_weights(weights: Any, count: int) -> Array | None:
    """One weight ≥ 0 per observation, or None."""
    if weights is None:
        return None
    if isinstance(weights, Real):
        weights = np.full(count, float(weights))
    array = numbers(OWNER, "sample_weight", weights)
    if array.dtype.kind == "c":
        raise TypeError(f"{OWNER}: sample_weight must be real numbers, got complex ones.")
    if array.ndim != 1:
        raise ValueError(f"{OWNER}: Sample weights must be 1D array or scalar, got shape {array.shape}.")
    if array.size != count:
        raise ValueError(f"{OWNER}: sample_weight.shape == {array.shape}, expected ({count},): one per observation.")
    if (array < 0).any():
        place = int(np.argmax(array < 0))
        raise ValueError(f"{OWNER}: sample_weight[{place}] is {array[place]}; weights are not negative.")
    if array.max(initial=0.0) > _LARGE:
        raise ValueError(f"{OWNER}: sample_weight[{int(np.argmax(array))}] is {array.max():.3g}; divide all of them.")
    return None if (array == 1.0).all() else array


def checked_times(time: Any, count: int, sample_weight: Any) -> Array:
    """The ranks of times, one per observation, without those of weight zero."""
    ranks, weights = ranked(time, count), checked_weights(sample_weight, count)
    return ranks if weights is None else ranks[weights > 0]


def in_signs(seen: Observations) -> Observations:
    """Values 0/1 or −1/+1 as −1/+1."""
    values = seen.values
    if are_zero_one(np.unique(values)):
        values = 2.0 * values - 1.0
    return Observations(seen.rows, seen.cols, values, seen.weights, seen.shape)


def are_zero_one(words: Array) -> bool:
    """Whether the distinct values are 0 and 1; False where they are −1 and +1, and anything else is refused."""
    if np.isin(words, (0.0, 1.0)).all():
        return True
    if not np.isin(words, (-1.0, 1.0)).all():
        bad = words[~np.isin(words, (-1.0, 0.0, 1.0))]
        what = f"{bad[0]:g} is among them" if bad.size else "−1, 0 and 1 are all among them"
        raise ValueError(f"{OWNER}: the logistic loss needs values all 0/1 or all −1/+1, but {what}.")
    return False


def takes_log(model: Any) -> bool:
    """Whether log(1 + value) is fitted."""
    if model.target_transform is None or is_word(model.target_transform, "none"):
        return False
    if not is_word(model.target_transform, "log1p"):
        raise ValueError(f"{OWNER}: target_transform must be 'none' or 'log1p', got {model.target_transform!r}.")
    return True


def refuse_log_of_classes(model: Any) -> None:
    if takes_log(model):
        raise ValueError(
            f"{OWNER}: target_transform goes with numbers; the values of the logistic loss are two classes."
        )


def refuse_log_of(least: float) -> None:
    if least <= -1.0:
        raise ValueError(f"{OWNER}: target_transform='log1p' needs values above −1, and one is {least:g}.")


def as_fitted(model: Any, seen: Observations) -> Observations:
    """Observations as the objective takes them: 0/1 as signs, values on the scale of ``target_transform``."""
    if not len(seen):
        return seen
    if model.loss == "logistic":
        refuse_log_of_classes(model)
        return in_signs(seen)
    if not takes_log(model):
        return seen
    refuse_log_of(float(seen.values.min()))
    return Observations(seen.rows, seen.cols, np.log1p(seen.values), seen.weights, seen.shape)


def refuse_far(**given: Any) -> None:
    """Refuse what a fit on a cluster does not take."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{OWNER}: {name} is not there for a fit on a cluster; leave it out, or fit on this machine."
            )


def label_list(asked: Any, side: str, owner: str = OWNER) -> Array:
    """Labels as a column; a single string is most likely meant as one label."""
    if isinstance(asked, str):
        raise TypeError(f"{owner}: give a list of {side} labels, such as [{asked!r}].")
    try:
        labels = asked if isinstance(asked, np.ndarray) else list(asked)
    except TypeError:
        raise TypeError(f"{owner}: give a list of {side} labels, got {asked!r}.") from None
    return as_column(labels, owner, f"{side} labels")
