"""What a fitted model answers: scores, recommendations, similar columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...domains.sets import NuclearBall
from ...metrics.ranking import top
from ...places.numpy import Array
from ...problem import Problem
from ..completion.serving import taken
from ..input.observations import Observations
from .parameters import OWNER, recipe_of, summed

_BLOCK = 4_000_000  # scores worked out at a time


def predict(model: Any, rows: Array, cols: Array) -> Array:
    """The score of every pair; a row that is not known has the mean row's, a column that is not known zero."""
    return np.asarray(np.einsum("ij,ij->i", profiles(model, rows), taken(model.column_factors_, cols)))


def profiles(model: Any, rows: Array) -> Array:
    """Factors of rows; one that is not known has those of the mean row."""
    out = taken(model.row_factors_, rows)
    out[rows < 0] = model.row_factors_.mean(axis=0)
    return out


def table(seen: Observations) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(seen), np.int8), (seen.rows, seen.cols)), shape=seen.shape)


def recommend(model: Any, rows: Array, n: int, exclude_seen: bool, allow: Array) -> list[list[tuple[Any, float]]]:
    P, Q, labels = profiles(model, rows), model.column_factors_, model.column_labels_.values
    known, common, answers = table(model.observations_), np.where(allow, 0.0, -np.inf), []
    block = max(1, _BLOCK // max(labels.size, 1))
    for first in range(0, rows.size, block):
        part = rows[first : first + block]
        scores = P[first : first + block] @ Q.T + common
        if exclude_seen:
            for line in np.flatnonzero(part >= 0):
                place = part[line]
                scores[line, known.indices[known.indptr[place] : known.indptr[place + 1]]] = -np.inf
        best = top(scores, n)
        found = np.take_along_axis(scores, best, axis=1)
        for places, values in zip(best, found, strict=True):
            kept = np.isfinite(values)
            answers.append(list(zip(labels[places[kept]].tolist(), values[kept].tolist(), strict=True)))
    return answers


def similar(model: Any, columns: Array, n: int, allow: Array) -> list[list[tuple[Any, float]]]:
    if (columns < 0).any():
        place = int(np.argmax(columns < 0))
        raise ValueError(f"{OWNER}: columns[{place}] was not in the fit; nothing is known to be similar to it.")
    Q, labels = model.column_factors_, model.column_labels_.values
    sizes = np.linalg.norm(Q, axis=1)
    directions = Q / np.where(sizes > 0, sizes, 1.0)[:, None]
    answers = []
    for place in columns:
        cosines = np.where(allow, directions @ directions[place], -np.inf)
        cosines[place] = -np.inf
        best = top(cosines[None], n)[0]
        best = best[np.isfinite(cosines[best])]
        answers.append(list(zip(labels[best].tolist(), cosines[best].tolist(), strict=True)))
    return answers


def problem(model: Any, rows: Array, cols: Array, counts: Array) -> Problem:
    """The convex problem of these pairs with the model's own labels, settings, radius and weight of unseen cells."""
    for side, codes in (("row", rows), ("column", cols)):
        if (codes < 0).any():
            place = int(np.argmax(codes < 0))
            raise ValueError(f"{OWNER}: the {side} label at pairs[{place}] was not in the fit: these are other data.")
    kept = counts > 0
    seen = summed(rows[kept], cols[kept], counts[kept], model.shape_)
    objective = recipe_of(model).objective(seen, model.unobserved_weight_)
    return Problem(objective, NuclearBall(objective.shape, model.radius_))
