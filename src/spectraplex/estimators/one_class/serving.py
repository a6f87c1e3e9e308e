"""What a fitted model answers: scores, recommendations, similar columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...domains.sets import NuclearBall
from ...places.numpy import Array
from ...problem import Problem
from ..completion.serving import lists, taken
from .parameters import OWNER, recipe_of, summed


def predict(model: Any, rows: Array, cols: Array) -> Array:
    """The score of every pair; a row that is not known has the mean row's, a column that is not known zero."""
    return np.asarray(np.einsum("ij,ij->i", profiles(model, rows), taken(model.column_factors_, cols)))


def profiles(model: Any, rows: Array) -> Array:
    """Factors of rows; one that is not known has those of the mean row."""
    out = taken(model.row_factors_, rows)
    out[rows < 0] = model.row_factors_.mean(axis=0)
    return out


def recommend(model: Any, rows: Array, n: int, exclude_seen: bool, allow: Array) -> list[list[tuple[Any, float]]]:
    P, Q, added = profiles(model, rows), model.column_factors_, np.where(allow, 0.0, -np.inf)
    return lists(model, rows, lambda part: P[part] @ Q.T, lambda scores: scores, n, exclude_seen, added)


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
