"""Settings and data at the door: what was wrong, and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ...checks import is_word, number
from ...places.numpy import Array
from ..completion.parameters import checked_values, exponent_of, refuse_limits
from ..input.labels import Labels, distinct
from ..input.observations import Observations, refuse_masked
from .recipe import Recipe

OWNER = "OneClassCompletion"
_SEEN = 5.0  # the usual weight of unseen cells: all cells together weigh so many times what was seen does
_LARGE = 1e12


def recipe_of(model: Any) -> Recipe:
    """The settings, checked."""
    if not any(is_word(model.confidence, word) for word in ("log", "linear")):
        raise ValueError(f"{OWNER}: confidence must be 'log' or 'linear', got {model.confidence!r}.")
    exponent = exponent_of(model.weighting, OWNER)
    refuse_limits(model, OWNER)
    radius_of(model)
    weight_of(model)
    return Recipe(str(model.confidence), exponent)


def radius_of(model: Any) -> float | None:
    """The radius that was given; None for "auto"."""
    return _auto("radius", model.radius)


def weight_of(model: Any) -> float | None:
    """The weight of unseen cells that was given; None for "auto"."""
    return _auto("unobserved_weight", model.unobserved_weight)


def _auto(name: str, given: Any) -> float | None:
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f"{OWNER}: {name} must be 'auto' or a positive number, got {given!r}.")
        return None
    return number(OWNER, name, given, positive=True)


def usual_weight(recipe: Recipe, seen: Observations) -> float:
    """Where nobody says: unseen cells together weigh a few times what was seen does, however sparse the table is."""
    m, n = seen.shape
    return _SEEN * float(recipe.weights(seen.values).sum()) / (m * n)


def counted(values: Any, count: int) -> Array:
    """How often each pair came: ones, or numbers ≥ 0."""
    if values is None:
        return np.ones(count)
    refuse_masked(values, "values", OWNER)
    array = checked_values(column_or_1d(values, warn=True), OWNER)
    if array.size != count:
        raise ValueError(
            f"{OWNER}: Found input variables with inconsistent numbers of samples: {count} pairs, {array.size} values; "
            "give one value per pair, or none."
        )
    if (array < 0).any():
        place = int(np.argmax(array < 0))
        raise ValueError(
            f"{OWNER}: Negative values in data: values[{place}] is {array[place]:g}, but values are counts (plays, "
            "purchases, hours); for ratings use MatrixCompletion, or leave out what was disliked."
        )
    if array.max(initial=0.0) > _LARGE:
        raise ValueError(f"{OWNER}: values[{int(np.argmax(array))}] is {array.max():.3g}; divide all of them.")
    return np.asarray(array, float)


def observed(first: Array, second: Array, values: Any) -> tuple[Observations, tuple[Labels, Labels]]:
    """Pairs of labels, each once, with what they count in all; those that count nothing are left out."""
    counts = counted(values, first.size)
    if first.size == 0:
        raise ValueError(f"{OWNER}: 0 sample(s) while a minimum of 1 is required: no pair was seen.")
    kept = counts > 0
    if not kept.any():
        raise ValueError(f"{OWNER}: every value is zero (n_samples={counts.size}), so no pair was seen.")
    row_values, rows = distinct(first[kept])
    column_values, cols = distinct(second[kept])
    labels = (Labels(row_values), Labels(column_values))
    return summed(rows, cols, counts[kept], (len(labels[0]), len(labels[1]))), labels


def summed(rows: Array, cols: Array, counts: Array, shape: tuple[int, int]) -> Observations:
    """In the order of the table, each pair once with the sum of its counts."""
    key = rows.astype(np.int64) * shape[1] + cols
    places, inverse = np.unique(key, return_inverse=True)
    total = np.bincount(inverse.reshape(-1), counts, places.size)
    return Observations(places // shape[1], places % shape[1], total, None, shape)
