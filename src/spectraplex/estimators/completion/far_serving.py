"""Answers for every line of a Dask frame, worked out where its partitions are: frames, to be written as Parquet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..input.labels import as_column
from ..input.observations import OWNER
from . import serving
from .shards import OnWorkers


def predict_frame(model: Any, frame: Any) -> Any:
    """The frame's labels with a column ``prediction``."""
    row, column = _named(model, frame, 2)
    meta = frame[[row, column]]._meta.assign(prediction=np.empty(0))
    return _answered(model, frame[[row, column]], row, predicted, meta, row, column)


def embed_frame(model: Any, frame: Any) -> Any:
    """The frame's row labels with the columns ``factor_0`` …."""
    (row,) = _named(model, frame, 1)
    factors = {f"factor_{k}": np.empty(0) for k in range(model.s_.size)}
    return _answered(model, frame[[row]], row, embedded, frame[[row]]._meta.assign(**factors), row)


def recommend_frame(model: Any, frame: Any, n: int, exclude_seen: bool, allow: Array) -> Any:
    """For every row label n lines: its place (1 is the best), the column and its prediction."""
    (row,) = _named(model, frame, 1)
    labels = model.column_labels_.values
    column = _column_name(model)
    kind = labels.dtype if labels.dtype != object else np.dtype(object)
    more = {"place": np.empty(0, np.int64), column: np.empty(0, kind), "prediction": np.empty(0)}
    meta = frame[[row]]._meta.assign(**more)
    return _answered(model, frame[[row]], row, recommended, meta, row, column, n, exclude_seen, allow)


def _answered(model: Any, frame: Any, row: str, function: Callable[..., Any], meta: Any, *arguments: Any) -> Any:
    shards = vars(model).get("shards_")
    if shards is None:
        return frame.map_partitions(function_of, model, function, *arguments, meta=meta)
    if not isinstance(shards.source, OnWorkers):
        raise ValueError(
            f"{OWNER}: this model lies in a folder, a file for each shard; ask for pairs or rows in memory, or use "
            "`spectraplex predict`."
        )
    return shards.source.answered(frame, row, function, meta, *arguments)


def function_of(part: Any, model: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """``map_partitions`` gives the partition first."""
    return function(model, part, *arguments)


def predicted(model: Any, part: Any, row: str, column: str) -> Any:
    part = part[[row, column]]
    first, second = (as_column(np.asarray(part[name]), OWNER, name) for name in (row, column))
    rows = model.row_labels_.codes(first, OWNER, "row labels")
    cols = model.column_labels_.codes(second, OWNER, "column labels")
    return part.assign(prediction=serving.linked(model, serving.linear(model, rows, cols)))


def embedded(model: Any, part: Any, row: str) -> Any:
    part = part[[row]]
    codes = model.row_labels_.codes(as_column(np.asarray(part[row]), OWNER, row), OWNER, "row labels")
    factors = serving.taken(serving.row_factors(model), codes)
    return part.assign(**{f"factor_{k}": factors[:, k] for k in range(factors.shape[1])})


def recommended(model: Any, part: Any, row: str, column: str, n: int, exclude_seen: bool, allow: Array) -> Any:
    import pandas as pd

    labels = as_column(np.asarray(part[row]), OWNER, row)
    found = serving.recommend(model, model.row_labels_.codes(labels, OWNER, "row labels"), n, exclude_seen, allow)
    counts = [len(each) for each in found]
    told = {
        row: np.repeat(np.asarray(part[row]), counts),
        "place": np.concatenate([np.arange(1, count + 1) for count in counts] or [np.empty(0, np.int64)]),
        column: [label for each in found for label, _ in each],
        "prediction": np.array([value for each in found for _, value in each], float),
    }
    return pd.DataFrame(told)


def _named(model: Any, frame: Any, count: int) -> list[str]:
    """The columns of the frame that hold labels: by the names of the fit, else the first."""
    known = list(getattr(model, "feature_names_in_", ()))[:count]
    if known and all(name in frame.columns for name in known):
        return known
    names = list(frame.columns)[:count]
    if len(names) < count:
        raise ValueError(f"{OWNER}: the frame has {len(frame.columns)} column(s); {count} with labels are needed.")
    return names


def _column_name(model: Any) -> str:
    return str(list(getattr(model, "feature_names_in_", ("row", "column")))[1])
