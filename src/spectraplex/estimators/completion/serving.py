"""What a fitted model answers: predictions, recommendations, similar columns, and rows it has not seen."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ...checks import is_word, whole
from ...domains.sets import NuclearBall
from ...matrices.factors import Rectangular
from ...objectives.implicit import Implicit
from ...objectives.intercepts import Intercepts
from ...places.numpy import Array
from ...problem import Problem
from ..input.labels import as_column, distinct, objects
from ..input.observations import OWNER, Observations, pair_columns
from .parameters import as_fitted, checked_values, fitted_recipe, refuse_size, takes_log
from .recipe import default_stop

_BLOCK = 4_000_000  # scores worked out at a time
_USUAL = 0.5  # a column is recommended by itself if it is among those with this share of all observations
_LEAST = 100  # and the most observed ones, so many, always are
_FEW = 1000  # pairs whose lines are gathered
_LARGEST = 700.0  # the exponential of more is no number
_MOST = 50  # Newton steps for one new row


def no_path() -> dict[str, Array]:
    """The walk of a fit whose radius was given."""
    return {name: np.empty(0) for name in ("radius", "score", "value", "rank", "n_iter")}


def row_factors(model: Any) -> Array:
    """P with low-rank part PQᵀ."""
    return model.row_scales_[:, None] * model.profiles_ * np.sqrt(model.s_)


def column_factors(model: Any) -> Array:
    """Q with low-rank part PQᵀ."""
    return model.column_scales_[:, None] * model.V_ * np.sqrt(model.s_)


def taken(block: Array, places: Array) -> Array:
    """Lines of a block, zeros where the place is −1."""
    out = np.zeros((places.size, block.shape[1]))
    known = places >= 0
    out[known] = block[places[known]]
    return out


def linear(model: Any, rows: Array, cols: Array) -> Array:
    """offset + row intercept + column intercept + low-rank part; what is not known of a pair is left out."""
    out = np.full(rows.size, model.offset_)
    row, col = rows >= 0, cols >= 0
    out[row] += model.row_intercepts_[rows[row]]
    out[col] += model.column_intercepts_[cols[col]]
    both = row & col
    out[both] += _low_rank(model, rows[both], cols[both])
    return out


def _low_rank(model: Any, rows: Array, cols: Array) -> Array:
    """The low-rank part of pairs, from the lines of these alone where they are few."""
    if rows.size > _FEW:
        found = Rectangular(model.profiles_, model.s_, model.V_).entries(rows, cols)
    else:
        found = np.einsum("ij,j,ij->i", model.profiles_[rows], model.s_, model.V_[cols])
    return np.asarray(found * model.row_scales_[rows] * model.column_scales_[cols])


def linked(model: Any, z: Array) -> Array:
    """From the linear part to the scale of the values."""
    low, high = model.range_
    if model.loss == "logistic":
        from scipy.special import expit

        # one of two labels may never have been seen: 0/1 unless −1 was
        bottom = -1.0 if low == -1.0 else 0.0
        return np.asarray(bottom + (1.0 - bottom) * expit(z))
    if takes_log(model):
        z = np.expm1(np.minimum(z, _LARGEST))
    return np.clip(z, low, high) if model.clip else z


def allowed(model: Any, min_support: Any, candidates: Array | None, exclude: Array | None) -> Array:
    """Which columns may be recommended: a mask."""
    counts = vars(model).get("column_counts_")  # of a model in shards: of all of them
    if counts is None:
        counts = np.bincount(model.observations_.cols, minlength=len(model.column_labels_))
    out = counts >= _support(counts, min_support)
    if candidates is not None:
        among = np.zeros(out.size, bool)
        among[candidates[candidates >= 0]] = True
        out = among if is_word(min_support, "auto") else out & among  # who names candidates means them
    if exclude is not None:
        out[exclude[exclude >= 0]] = False
    return np.asarray(out)


def _support(counts: Array, asked: Any) -> int:
    """The least number of observations; "auto": what the columns have that hold half of all, and a hundred at least."""
    if not is_word(asked, "auto"):
        return whole(OWNER, "min_support", asked, least=0)
    ordered = np.sort(counts)[::-1]
    most = max(int(np.searchsorted(np.cumsum(ordered), _USUAL * ordered.sum())), _LEAST - 1)
    return int(ordered[min(most, ordered.size - 1)])


def recommend(model: Any, rows: Array, n: int, exclude_seen: bool, allow: Array) -> list[list[tuple[Any, float]]]:
    from scipy.sparse import csr_matrix

    P, Q, labels = taken(row_factors(model), rows), column_factors(model), model.column_labels_.values
    seen = model.observations_
    table = csr_matrix((np.ones(len(seen), np.int8), (seen.rows, seen.cols)), shape=seen.shape)
    common = np.where(allow, model.offset_ + model.column_intercepts_, -np.inf)
    answers = []
    block = max(1, _BLOCK // max(labels.size, 1))
    for first in range(0, rows.size, block):
        part = rows[first : first + block]
        scores = P[first : first + block] @ Q.T
        scores += common
        scores += np.where(part >= 0, model.row_intercepts_[np.maximum(part, 0)], 0.0)[:, None]
        for place, ranked in zip(part, scores, strict=True):
            if exclude_seen and place >= 0:
                ranked[table.indices[table.indptr[place] : table.indptr[place + 1]]] = -np.inf
            best = _top(ranked, n)
            predicted = linked(model, ranked[best])
            answers.append(list(zip(labels[best].tolist(), predicted.tolist(), strict=True)))
    return answers


def similar(model: Any, columns: Array, n: int, allow: Array) -> list[list[tuple[Any, float]]]:
    if (columns < 0).any():
        place = int(np.argmax(columns < 0))
        raise ValueError(f"{OWNER}: columns[{place}] was not in the fit; nothing is known to be similar to it.")
    Q, labels = column_factors(model), model.column_labels_.values
    sizes = np.linalg.norm(Q, axis=1)
    directions = Q / np.where(sizes > 0, sizes, 1.0)[:, None]
    answers = []
    for place in columns:
        cosines = directions @ directions[place]
        ranked = np.where(allow, cosines, -np.inf)
        ranked[place] = -np.inf
        best = _top(ranked, n)
        answers.append(list(zip(labels[best].tolist(), cosines[best].tolist(), strict=True)))
    return answers


def _top(scores: Array, n: int) -> Array:
    """Places of the n largest finite scores, largest first, ties in the order of the labels."""
    left = min(n, int(np.isfinite(scores).sum()))
    if left == 0:
        return np.empty(0, np.intp)
    worst = -np.partition(-scores, left - 1)[left - 1]
    some = np.flatnonzero(scores >= worst)  # all that tie with the last one, too
    return np.asarray(some[np.argsort(-scores[some], kind="stable")][:left])


def problem(model: Any, rows: Array, cols: Array, values: Array, weights: Array | None) -> Problem:
    """The convex problem of these observations, with the model's own labels, offset, settings and radius."""
    for side, codes, count in (("row", rows, model.shape_[0]), ("column", cols, model.shape_[1])):
        other = (codes < 0) | (codes >= count)  # rows that were folded in were not in the fit either
        if other.any():
            place = int(np.argmax(other))
            raise ValueError(f"{OWNER}: the {side} label at pairs[{place}] was not in the fit: these are other data.")
    recipe = fitted_recipe(model)
    seen = Observations(rows, cols, values, weights, model.shape_).tidy()
    objective = recipe.objective(as_fitted(model, seen), model.offset_)
    return Problem(objective, NuclearBall(objective.shape, model.radius_))


def allowed_gap(model: Any) -> float:
    """The gap that ``tolerance`` allows the fit of this model."""
    seen: Observations = model.observations_
    objective = cast("Intercepts | Implicit", problem(model, seen.rows, seen.cols, seen.values, seen.weights).objective)
    stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
    return stop.wanted(float(model.certificate_.value))


# ------------------------------------------------------------------------------------------------- rows never seen


def row_pairs(row_observations: Any, values: Any) -> tuple[Array, Array, Array]:
    """Row labels, column labels and values, from a mapping of mappings or from pairs with values."""
    if isinstance(row_observations, Mapping):
        rows: list[Any] = []
        cols: list[Any] = []
        numbers: list[Any] = []
        for row, entries in row_observations.items():
            if not isinstance(entries, Mapping):
                raise TypeError(f"{OWNER}: fold_in needs {{row: {{column: value}}}}; row {row!r} has no mapping.")
            rows += [row] * len(entries)
            cols += list(entries)
            numbers += list(entries.values())
        if not rows:
            raise ValueError(f"{OWNER}: fold_in was given no observation.")
        first, second = as_column(objects(rows), OWNER, "row labels"), as_column(objects(cols), OWNER, "column labels")
        return first, second, checked_values(np.asarray(numbers))
    if values is None:
        raise TypeError(f"{OWNER}: fold_in needs {{row: {{column: value}}}}, or pairs and values.")
    first, second, _ = pair_columns(row_observations)
    return first, second, checked_values(np.asarray(values))


def fold_in(model: Any, first: Array, second: Array, values: Array) -> Any:
    if not first.size == second.size == values.size:
        raise ValueError(f"{OWNER}: {first.size} pairs and {values.size} values; give one value per pair.")
    refuse_size(values)
    known = model.row_labels_.codes(first, OWNER, "row labels") >= 0
    if known.any():
        label = first[known][:1].tolist()[0]
        raise ValueError(f"{OWNER}: row {label!r} is known already; partial_fit adds observations to known rows.")
    fresh, rows = distinct(first)
    labels = model.row_labels_.joined(fresh)
    order = labels.codes(fresh, OWNER, "row labels")  # new labels lie behind the old ones, in some order
    rows, count = order[rows] - len(model.row_labels_), fresh.size
    cols = model.column_labels_.codes(second, OWNER, "column labels")
    if (cols < 0).any():
        unknown = list(dict.fromkeys(second[cols < 0].tolist()))
        shown = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        warnings.warn(
            f"{OWNER}: fold_in leaves out {int((cols < 0).sum())} observations of columns that the fit did not know: "
            f"{shown}; partial_fit takes new columns.",
            UserWarning,
            stacklevel=3,
        )
    rows, cols, values = rows[cols >= 0], cols[cols >= 0], values[cols >= 0]
    seen = Observations(rows, cols, values, None, (count, len(model.column_labels_)))
    recipe = fitted_recipe(model)
    used = as_fitted(model, seen)
    scales = np.ones(count)
    if recipe.exponent > 0:
        scales = recipe.scale(seen.counts()[0], model.row_mean_count_)
    factors, intercepts = np.zeros((count, model.s_.size)), np.zeros(count)
    Q, roots = column_factors(model), np.sqrt(model.s_)
    for row in range(count):
        here = rows == row
        mine = cols[here]
        given = np.zeros(roots.size)
        if recipe.implicit > 0 and mine.size:
            given = recipe.implicit / np.sqrt(mine.size) * roots * model.U_[model.shape_[0] + mine].sum(axis=0)
        near = scales[row] * Q[mine]
        base = model.offset_ + model.column_intercepts_[mine] + near @ given
        own, intercepts[row] = _one_row(model, recipe, near, base, used.values[here])
        factors[row] = given + own
    more = copy.copy(model)
    more.row_labels_ = labels
    more.profiles_ = np.concatenate([model.profiles_, factors / roots])
    more.row_scales_ = np.concatenate([model.row_scales_, scales])
    more.row_intercepts_ = np.concatenate([model.row_intercepts_, intercepts])
    moved = Observations(rows + len(model.row_labels_), cols, values, None, (len(labels), seen.shape[1]))
    more.observations_ = model.observations_.joined(moved)
    return more


def _one_row(model: Any, recipe: Any, Q: Array, base: Array, target: Array) -> tuple[Array, float]:
    """min over p and b of Σ ℓ(base + b + ⟨q, p⟩) + ½λ‖p‖² + ½ρb², by Newton's method."""
    loss, count = recipe.losses(), Q.shape[1]
    A = Q if recipe.ridges is None else np.column_stack([Q, np.ones(target.size)])
    # nuclear norm without a price (an inactive ball) still needs a unique answer
    price = max(model.multiplier_, 1e-10)
    ridge = np.full(A.shape[1], price)
    if recipe.ridges is not None:
        ridge[-1] = recipe.ridges[0]

    def value_and_slope(x: Array) -> tuple[float, Array]:
        value, slope = loss.evaluate(base + A @ x, target, None)
        return value + 0.5 * float(ridge @ x**2), slope

    x = np.zeros(A.shape[1])
    value, slope = value_and_slope(x)
    for _ in range(_MOST):
        gradient = A.T @ slope + ridge * x
        bends = loss.second(base + A @ x, target, None)
        step = np.linalg.solve((A.T * bends) @ A + np.diag(ridge), gradient)
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
