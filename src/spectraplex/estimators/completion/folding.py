"""Rows and columns that a model has not seen: each is fitted to its own observations, and nothing else moves."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..input.labels import Labels, as_column, distinct, objects
from ..input.observations import OWNER, Observations, pair_columns
from .parameters import as_fitted, checked_values, fitted_recipe, refuse_size
from .recipe import Recipe, mean_count
from .serving import column_factors, column_lines, of_fit, row_factors

_MOST = 50  # Newton steps for one new row


@dataclass(frozen=True, eq=False)
class Side:
    """The side that gets new labels, and the one whose labels it is known by."""

    name: str  # of what is new: row or column
    other: str
    method: str
    labels: Labels
    known: Labels
    factors: Array  # of the other side
    intercepts: Array
    ridge: float
    mean: float  # of the fit: observations of a line


def side_of(model: Any, name: str, recipe: Recipe) -> Side:
    ridges = recipe.ridges or (1.0, 1.0)
    rows, cols = model.row_labels_, model.column_labels_
    if name == "row":
        beside = (column_factors(model), model.column_intercepts_, ridges[0], model.row_mean_count_)
        return Side("row", "column", "fold_in", rows, cols, *beside)
    mean = mean_count(of_fit(model).counts()[1])
    return Side(
        "column", "row", "fold_in_columns", cols, rows, row_factors(model), model.row_intercepts_, ridges[1], mean
    )


def given(observed: Any, values: Any, name: str) -> tuple[Array, Array, Array]:
    """Labels of what is new, labels it is known by, and values: from a mapping of mappings, or pairs with values."""
    method, other = ("fold_in", "column") if name == "row" else ("fold_in_columns", "row")
    if isinstance(observed, Mapping):
        fresh: list[Any] = []
        known: list[Any] = []
        numbers: list[Any] = []
        for label, entries in observed.items():
            if not isinstance(entries, Mapping):
                raise TypeError(
                    f"{OWNER}: {method} needs {{{name}: {{{other}: value}}}}; {name} {label!r} has no mapping."
                )
            fresh += [label] * len(entries)
            known += list(entries)
            numbers += list(entries.values())
        if not fresh:
            raise ValueError(f"{OWNER}: {method} was given no observation.")
        both = as_column(objects(fresh), OWNER, f"{name} labels"), as_column(objects(known), OWNER, f"{other} labels")
        return (*both, checked_values(np.asarray(numbers)))
    if values is None:
        raise TypeError(f"{OWNER}: {method} needs {{{name}: {{{other}: value}}}}, or pairs and values.")
    first, second, _ = pair_columns(observed)
    if name == "column":
        first, second = second, first
    return first, second, checked_values(np.asarray(values))


def fold_in(model: Any, name: str, first: Array, second: Array, values: Array) -> Any:
    """A copy of a model with new rows, or new columns."""
    if not first.size == second.size == values.size:
        raise ValueError(f"{OWNER}: {first.size} pairs and {values.size} values; give one value per pair.")
    refuse_size(values)
    recipe = fitted_recipe(model)
    side = side_of(model, name, recipe)
    labels, new, count = _fresh(side, first)
    known = _known(side, second)
    new, values, known = new[known >= 0], values[known >= 0], known[known >= 0]
    counts = np.bincount(new, minlength=count)
    scales = recipe.scale(counts, side.mean) if recipe.exponent > 0 else np.ones(count)
    used = as_fitted(model, Observations(new, known, values, None, (count, len(side.known)))).values
    factors, intercepts = np.zeros((count, model.s_.size)), np.zeros(count)
    for line in range(count):
        here = new == line
        mine = known[here]
        given = _given(model, recipe, mine) if name == "row" else np.zeros(model.s_.size)
        near = scales[line] * side.factors[mine]
        base = model.offset_ + side.intercepts[mine] + near @ given
        own, intercepts[line] = _one_line(model, recipe, side.ridge, near, base, used[here])
        factors[line] = given + own
    places = (new + len(side.labels), known) if name == "row" else (known, new + len(side.labels))
    return _longer(model, side, labels, factors / np.sqrt(model.s_), intercepts, scales, (*places, values))


def _given(model: Any, recipe: Recipe, cols: Array) -> Array:
    """What the columns of a row contribute to it, whatever their values (``implicit``)."""
    roots = np.sqrt(model.s_)
    fitted = cols[cols < model.shape_[1]]  # one that was folded in contributes nothing
    if not recipe.implicit > 0 or not cols.size:
        return np.zeros(roots.size)
    lines = model.U_[model.shape_[0] + fitted].sum(axis=0)
    return np.asarray(recipe.implicit / np.sqrt(cols.size) * roots * lines)


def _fresh(side: Side, first: Array) -> tuple[Labels, Array, int]:
    """All labels, and the places of the new ones behind the old; one that is known already is refused."""
    known = side.labels.codes(first, OWNER, f"{side.name} labels") >= 0
    if known.any():
        label = first[known][:1].tolist()[0]
        raise ValueError(
            f"{OWNER}: {side.name} {label!r} is known already; partial_fit adds observations to known {side.name}s."
        )
    fresh, places = distinct(first)
    labels = side.labels.joined(fresh)
    order = labels.codes(fresh, OWNER, f"{side.name} labels")  # new labels lie behind the old ones, in some order
    return labels, order[places] - len(side.labels), fresh.size


def _known(side: Side, second: Array) -> Array:
    """Places on the other side; what it does not know is told."""
    known = side.known.codes(second, OWNER, f"{side.other} labels")
    if (known < 0).any():
        unknown = list(dict.fromkeys(second[known < 0].tolist()))
        shown = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        warnings.warn(
            f"{OWNER}: {side.method} leaves out {int((known < 0).sum())} observations of {side.other}s that the fit "
            f"did not know: {shown}; partial_fit takes new {side.other}s.",
            UserWarning,
            stacklevel=4,
        )
    return known


def _longer(
    model: Any,
    side: Side,
    labels: Labels,
    lines: Array,
    intercepts: Array,
    scales: Array,
    seen: tuple[Array, Array, Array],
) -> Any:
    more = copy.copy(model)
    setattr(more, f"{side.name}_labels_", labels)
    if side.name == "row":
        more.profiles_ = np.concatenate([model.profiles_, lines])
        more.row_scales_ = np.concatenate([model.row_scales_, scales])
        more.row_intercepts_ = np.concatenate([model.row_intercepts_, intercepts])
    else:
        more.column_profiles_ = np.concatenate([column_lines(model), lines])
        more.column_scales_ = np.concatenate([model.column_scales_, scales])
        more.column_intercepts_ = np.concatenate([model.column_intercepts_, intercepts])
    shape = (len(more.row_labels_), len(more.column_labels_))
    more.observations_ = model.observations_.joined(Observations(*seen, None, shape))
    return more


def _one_line(model: Any, recipe: Any, ridge: float, Q: Array, base: Array, target: Array) -> tuple[Array, float]:
    """min over p and b of Σ ℓ(base + b + ⟨q, p⟩) + ½λ‖p‖² + ½ρb², by Newton's method."""
    loss, count = recipe.losses(), Q.shape[1]
    A = Q if recipe.ridges is None else np.column_stack([Q, np.ones(target.size)])
    # nuclear norm without a price (an inactive ball) still needs a unique answer
    price = max(model.multiplier_, 1e-10)
    held = np.full(A.shape[1], price)
    if recipe.ridges is not None:
        held[-1] = ridge

    def value_and_slope(x: Array) -> tuple[float, Array]:
        value, slope = loss.evaluate(base + A @ x, target, None)
        return value + 0.5 * float(held @ x**2), slope

    x = np.zeros(A.shape[1])
    value, slope = value_and_slope(x)
    for _ in range(_MOST):
        gradient = A.T @ slope + held * x
        bends = loss.second(base + A @ x, target, None)
        step = np.linalg.solve((A.T * bends) @ A + np.diag(held), gradient)
        fall, size = float(gradient @ step), 1.0
        if fall <= 1e-20 * (1.0 + abs(value)):
            break
        while size > 1e-8:
            ahead, slope_ahead = value_and_slope(x - size * step)
            if ahead <= value - 1e-4 * size * fall:
                break
            size *= 0.5
        else:
            break
        x, value, slope = x - size * step, ahead, slope_ahead
    return x[:count], float(x[count]) if recipe.ridges is not None else 0.0
