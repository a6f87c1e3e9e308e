"""Answers of a model in one piece or in shards, of which one at a time is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators.completion import serving
from ..places.numpy import Array
from ..tables.table import codes_of


def predicted_of(model: Any, first: Sequence[Any], second: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Places of rows (those of a shard count as known) and columns, and predictions; a shard knows its own rows."""
    cols = codes_of(model.column_labels_, second)
    if "shards_" not in vars(model):
        rows = codes_of(model.row_labels_, first)
        return rows, cols, serving.linked(model, serving.linear(model, rows, cols))
    rows, predicted = np.full(len(first), -1), np.empty(len(first))
    predicted[:] = serving.linked(model, model.offset_ + np.where(cols >= 0, model.column_intercepts_[cols], 0.0))
    for own, found in model.shards_.source.each(_of_shard, first, cols):
        rows[own], predicted[own] = 0, found
    return rows, cols, predicted


def _of_shard(model: Any, first: Sequence[Any], cols: Array) -> tuple[Array, Array]:
    rows = codes_of(model.row_labels_, first)
    own = np.nonzero(rows >= 0)[0]
    return own, serving.linked(model, serving.linear(model, rows[own], cols[own]))


def row_labels(model: Any) -> list[Any]:
    """Of all rows, those of shards one after the other."""
    if "shards_" not in vars(model):
        return list(model.row_labels_.values.tolist())
    return [label for labels in model.shards_.source.each(row_labels) for label in labels]


def recommended_of(model: Any, labels: list[str], n: int, exclude_seen: bool, added: Array) -> tuple[Array, list[Any]]:
    """Places of rows, and what each is recommended; ``added`` are the handicaps of the columns."""
    if "shards_" not in vars(model):
        places = codes_of(model.row_labels_, labels)
        return places, serving.recommend(model, places, n, exclude_seen, added)
    places, answers, common = np.full(len(labels), -1), [None] * len(labels), None
    for known, found in model.shards_.source.each(recommended_of, labels, n, exclude_seen, added):
        for k, answer in enumerate(found):
            if known[k] >= 0:
                places[k], answers[k] = 0, answer
            else:
                common = answer
    return places, [common if answer is None else answer for answer in answers]
