"""What a fitted model answers: predictions, recommendations, similar columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...checks import is_word, whole
from ...domains.sets import NuclearBall
from ...matrices.factors import Rectangular
from ...metrics.ranking import top
from ...objectives.implicit import Implicit
from ...objectives.intercepts import Intercepts
from ...places.numpy import Array
from ...problem import Problem
from ..input.observations import OWNER, Observations
from .parameters import as_fitted, fitted_recipe, takes_log
from .recipe import default_stop

_BLOCK = 4_000_000  # scores worked out at a time
_USUAL = 0.5  # a column is recommended by itself if it is among those with this share of all observations
_LEAST = 100  # and the most observed ones, so many, always are
_FEW = 1000  # pairs whose lines are gathered
_LARGEST = 700.0  # the exponential of more is no number


def no_path() -> dict[str, Array]:
    """The walk of a fit whose radius was given."""
    return {name: np.empty(0) for name in ("radius", "score", "value", "rank", "n_iter")}


def row_factors(model: Any) -> Array:
    """P with low-rank part PQᵀ."""
    return model.row_scales_[:, None] * model.profiles_ * np.sqrt(model.s_)


def column_factors(model: Any) -> Array:
    """Q with low-rank part PQᵀ."""
    return model.column_scales_[:, None] * column_lines(model) * np.sqrt(model.s_)


def column_lines(model: Any) -> Array:
    """The right factors of all columns: those of the fit, and below them those that were folded in."""
    found: Array = vars(model).get("column_profiles_", model.V_)
    return found


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
        found = Rectangular(model.profiles_, model.s_, column_lines(model)).entries(rows, cols)
    else:
        found = np.einsum("ij,j,ij->i", model.profiles_[rows], model.s_, column_lines(model)[cols])
    return np.asarray(found * model.row_scales_[rows] * model.column_scales_[cols])


def linked(model: Any, z: Array) -> Array:
    """From the linear part to the scale of the values."""
    low, high = model.range_
    if model.loss == "logistic":
        from scipy.special import expit

        least = bottom(model)
        return np.asarray(least + (1.0 - least) * expit(z))
    if takes_log(model):
        z = np.expm1(np.minimum(z, _LARGEST))
    return np.clip(z, low, high) if model.clip else z


def bottom(model: Any) -> float:
    """The lower of two classes: one may never have been seen, so 0 unless −1 was."""
    return -1.0 if model.range_[0] == -1.0 else 0.0


def allowed(
    model: Any, min_support: Any, candidates: Array | None, exclude: Array | None, *, owner: str = OWNER
) -> Array:
    """Which columns may be recommended: a mask."""
    counts = _counts(model)
    out = counts >= _support(counts, min_support, owner)
    if candidates is not None:
        among = np.zeros(out.size, bool)
        among[candidates[candidates >= 0]] = True
        out = among if is_word(min_support, "auto") else out & among  # who names candidates means them
    if exclude is not None:
        out[exclude[exclude >= 0]] = False
    return np.asarray(out)


def _counts(model: Any) -> Array:
    """How many observations every column has."""
    counts = vars(model).get("column_counts_")  # of a model in shards: of all of them
    if counts is None:
        counts = np.bincount(model.observations_.cols, minlength=len(model.column_labels_))
    return np.asarray(counts)


def handicaps(model: Any, min_support: Any, candidates: Array | None = None, exclude: Array | None = None) -> Array:
    """What is added to the predictions that columns are ranked by: −∞ where one is not allowed, zero elsewhere.

    Where the support is "auto" and nobody names candidates, less √(2 ln N)·σ/√(n + ridge) for one of N columns, with n
    observations: about as much as the largest of N normal errors is above zero. σ is the size of what the fit leaves
    of an observation.
    """
    allow = allowed(model, min_support, candidates, exclude)
    careful = candidates is None and is_word(min_support, "auto")
    counts, seen = _counts(model).astype(float), vars(model).get("observations_")
    out = np.where(allow, 0.0, -np.inf)
    if not careful or not allow.any():
        return out
    weights = None if seen is None else seen.weights
    total = counts.sum() if weights is None else float(weights.sum())
    # a step of the logistic loss has curvature ¼ at most, so one observation leaves two units open
    spread = 2.0 if model.loss == "logistic" else np.sqrt(2.0 * max(model.certificate_.value, 0.0) / max(total, 1e-300))
    ridge = 0.0 if model.ridge_ is None else model.ridge_[1]
    most = np.sqrt(2.0 * np.log(np.count_nonzero(allow)))
    return np.asarray(out - most * spread / np.sqrt(np.maximum(counts + ridge, 1.0)))


def _support(counts: Array, asked: Any, owner: str) -> int:
    """The least number of observations; "auto": what the columns have that hold half of all, and a hundred at least."""
    if not is_word(asked, "auto"):
        return whole(owner, "min_support", asked, least=0)
    ordered = np.sort(counts)[::-1]
    most = max(int(np.searchsorted(np.cumsum(ordered), _USUAL * ordered.sum())), _LEAST - 1)
    return int(ordered[min(most, ordered.size - 1)])


def recommend(model: Any, rows: Array, n: int, exclude_seen: bool, added: Array) -> list[list[tuple[Any, float]]]:
    """``added`` are the handicaps of the columns: what is told of those that are best are predictions, without them."""
    P, Q = taken(row_factors(model), rows), column_factors(model)
    common = model.offset_ + model.column_intercepts_
    own = np.where(rows >= 0, model.row_intercepts_[np.maximum(rows, 0)], 0.0)
    return lists(
        model,
        rows,
        lambda part: P[part] @ Q.T + common + own[part, None],
        lambda predictions: linked(model, predictions),
        n,
        exclude_seen,
        added,
    )


def lists(
    model: Any,
    rows: Array,
    scores: Callable[[slice], Array],
    told: Callable[[Array], Array],
    n: int,
    exclude_seen: bool,
    added: Array,
) -> list[list[tuple[Any, float]]]:
    """For each row the n columns whose scores are largest with what is ``added``, and what is ``told`` of those scores.

    ``scores`` of a slice of the rows are a block with a number for every column.
    """
    from scipy.sparse import csr_matrix

    labels, seen, answers = model.column_labels_.values, model.observations_, []
    table = csr_matrix((np.ones(len(seen), np.int8), (seen.rows, seen.cols)), shape=seen.shape)
    block = max(1, _BLOCK // max(labels.size, 1))
    for first in range(0, rows.size, block):
        part = slice(first, first + block)
        for place, found in zip(rows[part], scores(part), strict=True):
            ranked = found + added
            if exclude_seen and place >= 0:
                ranked[table.indices[table.indptr[place] : table.indptr[place + 1]]] = -np.inf
            best = _best(ranked, n)
            answers.append(list(zip(labels[best].tolist(), told(found[best]).tolist(), strict=True)))
    return answers


def similar(
    model: Any, Q: Array, columns: Array, n: int, allow: Array, owner: str = OWNER
) -> list[list[tuple[Any, float]]]:
    """For each column those with the most similar factors, lines of Q."""
    if (columns < 0).any():
        place = int(np.argmax(columns < 0))
        raise ValueError(f"{owner}: columns[{place}] was not in the fit; nothing is known to be similar to it.")
    labels, sizes, answers = model.column_labels_.values, np.linalg.norm(Q, axis=1), []
    there = sizes > 1e-12 * sizes.max(initial=0.0)
    directions = Q / np.where(there, sizes, 1.0)[:, None]
    for place in columns:
        if not there[place]:
            raise ValueError(
                f"{owner}: the column {labels[place : place + 1].tolist()[0]!r} has no low-rank part in this model, "
                "only an intercept, so no other is known to be similar to it; a larger radius may give it one."
            )
        cosines = np.where(allow & there, directions @ directions[place], -np.inf)
        cosines[place] = -np.inf
        best = _best(cosines, n)
        answers.append(list(zip(labels[best].tolist(), cosines[best].tolist(), strict=True)))
    return answers


def _best(scores: Array, n: int) -> Array:
    """Places of the n largest finite scores, largest first, ties in the order of the labels."""
    found = top(scores[None], n)[0]
    return np.asarray(found[np.isfinite(scores[found])])


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


def of_fit(model: Any) -> Observations:
    """The observations of the fit: without those of rows and columns that were folded in."""
    seen: Observations = model.observations_
    if seen.shape == model.shape_:
        return seen
    mine = seen.part((seen.rows < model.shape_[0]) & (seen.cols < model.shape_[1]))
    return Observations(mine.rows, mine.cols, mine.values, mine.weights, model.shape_)


def allowed_gap(model: Any) -> float:
    """The gap that ``tolerance`` allows the fit of this model."""
    seen = of_fit(model)
    objective = cast("Intercepts | Implicit", problem(model, seen.rows, seen.cols, seen.values, seen.weights).objective)
    stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
    return stop.wanted(float(model.certificate_.value))
