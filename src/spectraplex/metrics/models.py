"""Figures of a fitted model's recommendations, beside what costs nothing: the most popular, and intercepts alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..checks import number, numbers, whole
from ..places.numpy import Array
from .ranking import Ranking, ranking

_SWEEPS = 30  # over row and column intercepts in turn: far beyond what an order of columns needs
_BLOCK = 4096  # rows asked for at a time


class Recommends(Protocol):
    """A fitted model of a table, such as ``MatrixCompletion`` and ``OneClassCompletion``."""

    row_labels_: Any
    column_labels_: Any
    observations_: Any

    def recommend(self, rows: Any, n: int = 10, *, min_support: Any = ...) -> Any:
        """For each row the n best columns that it has not seen, as (label, value), best first."""


def evaluate(
    model: Recommends,
    pairs: Any,
    values: Any = None,
    *,
    k: int = 10,
    relevant: float | None = None,
    min_support: Any = None,
) -> dict[str, Ranking]:
    """Rank all columns that a row has not seen, for every row of some pairs, and see where those pairs come.

    The model ranks in blocks of rows; no rows × columns array is ever made.

    Parameters
    ----------
    model : a fitted ``MatrixCompletion`` or ``OneClassCompletion``.
    pairs : (n, 2) row and column labels that the model was not fitted to. A pair that it was fitted to is left out, as
        nothing that a row has seen is recommended to it; one with a column that is not known counts, and is never met.
    values : n numbers, needed with ``relevant``.
    k : how many columns are recommended to a row.
    relevant : pairs with at least this value are the relevant ones; by default all pairs are.
    min_support : as in ``recommend``; by default what the model has there.

    Returns
    -------
    dict
        "model" and "most popular"; for ratings "biases alone" as well: the columns in the order of their intercepts,
        fitted with row intercepts and nothing else. A ``Ranking`` each.

    Examples
    --------
    >>> from spectraplex.estimators import OneClassCompletion
    >>> from spectraplex.metrics import evaluate
    >>> pairs = [("anna", "tea"), ("anna", "milk"), ("ben", "tea"), ("ben", "milk"), ("eva", "tea"), ("eva", "rice")]
    >>> model = OneClassCompletion(radius=2.0).fit(pairs)
    >>> evaluate(model, [("eva", "milk")], k=1)["model"].recall
    1.0
    """
    k = whole("evaluate", "k", k)
    if "observations_" not in vars(model):
        raise ValueError("evaluate: the model is not fitted, or its observations are not on this machine; fit it here.")
    first, second = _columns(model, pairs)
    if relevant is not None:
        given = np.empty(0) if values is None else numbers("evaluate", "values", values, ndim=1)
        if given.shape != (len(first),):
            raise ValueError("evaluate: relevant is a least value, so give values, one for every pair.")
        kept = given >= number("evaluate", "relevant", relevant, sign=True)
        first, second = _kept(first, kept), _kept(second, kept)
    seen = model.observations_
    labels = model.column_labels_.values.tolist()
    wanted = _wanted(model, first, second)
    if not wanted:
        raise ValueError("evaluate: no pair is relevant and new to the model; there is nothing to measure.")
    rows = list(wanted)
    lists: list[list[Any]] = []
    for begin in range(0, len(rows), _BLOCK):
        part = rows[begin : begin + _BLOCK]
        answers = model.recommend(part, k) if min_support is None else model.recommend(part, k, min_support=min_support)
        lists += [[label for label, _ in answer] for answer in answers]
    sets, columns = list(wanted.values()), len(labels)
    out = {"model": ranking(lists, sets, k, columns)}
    counts = np.bincount(seen.cols, minlength=columns).astype(float)
    orders = {"most popular": counts}
    if "column_intercepts_" in vars(model):  # values are ratings, not counts
        orders["biases alone"] = _intercepts(seen)
    known = _known(model, rows)
    for name, scores in orders.items():
        order = np.argsort(-scores, kind="stable").tolist()
        out[name] = ranking([_unseen(order, labels, taken, k) for taken in known], sets, k, columns)
    return out


def new_pairs(model: Recommends, pairs: list[tuple[Any, Any]]) -> bool:
    """Whether any of these pairs was not in the fit."""
    return bool(_wanted(model, [row for row, _ in pairs], [column for _, column in pairs]))


def _unseen(order: list[int], labels: list[Any], taken: set[int], k: int) -> list[Any]:
    """The first k of an order of all columns, without those that were taken."""
    return [labels[place] for place in order[: k + len(taken)] if place not in taken][:k]


def _known(model: Recommends, rows: list[Any]) -> list[set[int]]:
    """The columns that each row has observations of."""
    seen, places = model.observations_, _row_places(model, rows)
    order = np.argsort(seen.rows, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(seen.rows, minlength=len(model.row_labels_)))])
    cols = seen.cols[order]
    return [set() if place < 0 else set(cols[ends[place] : ends[place + 1]].tolist()) for place in places]


def _wanted(model: Recommends, first: list[Any], second: list[Any]) -> dict[Any, set[Any]]:
    """Row label ↦ its relevant column labels, without pairs of the fit; rows in the order they come in."""
    rows = list(dict.fromkeys(first))
    labels = model.column_labels_.values.tolist()
    known = dict(zip(rows, _known(model, rows), strict=True))
    wanted: dict[Any, set[Any]] = {row: set() for row in rows}
    for row, column in zip(first, second, strict=True):
        wanted[row].add(column)
    for row in rows:
        wanted[row] -= {labels[place] for place in known[row]}
    return {row: columns for row, columns in wanted.items() if columns}


def _row_places(model: Recommends, rows: list[Any]) -> list[int]:
    places = {label: place for place, label in enumerate(model.row_labels_.values.tolist())}
    return [places.get(row, -1) for row in rows]


def _intercepts(seen: Any) -> Array:
    """Column intercepts of Σ(value − mean − bᵢ − cⱼ)² + 2‖b‖² + 2‖c‖²: one row or column at a time, again and again."""
    from scipy.sparse import csr_matrix

    m, n = seen.shape
    rest, weights = seen.values - np.average(seen.values, weights=seen.weights), seen.weights
    weights = np.ones(rest.size) if weights is None else weights
    down, across = np.bincount(seen.cols, weights, n) + 2.0, np.bincount(seen.rows, weights, m) + 2.0
    in_rows, in_columns = np.bincount(seen.rows, weights * rest, m), np.bincount(seen.cols, weights * rest, n)
    W = csr_matrix((weights, (seen.rows, seen.cols)), shape=(m, n))
    c = np.zeros(n)
    for _ in range(_SWEEPS):
        b = (in_rows - W @ c) / across
        c = (in_columns - b @ W) / down
    return np.asarray(c)


def _columns(model: Recommends, pairs: Any) -> tuple[list[Any], list[Any]]:
    """The two columns of labels, as Python objects; of a frame those with the names of the fit, else its first two."""
    first, second = _of_frame(model, pairs) if not isinstance(pairs, np.ndarray | list | tuple) else _of_list(pairs)
    asked = np.empty(len(second), object)
    asked[:] = second
    model.column_labels_.codes(asked, "evaluate", "column labels")  # labels of another kind are refused
    return first, second


def _of_frame(model: Recommends, pairs: Any) -> tuple[list[Any], list[Any]]:
    import narwhals as nw

    frame = nw.from_native(pairs, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"evaluate: pairs must be a list of pairs, an array or a data frame, got {type(pairs).__name__}."
        )
    names, fitted = frame.columns, list(vars(model).get("feature_names_in_", ()))
    missing = [name for name in fitted if name not in names]
    if missing:
        raise ValueError(f"evaluate: the frame has no column {missing[0]!r}, which the fit had; rename its columns.")
    if len(names) < 2:
        raise ValueError(f"evaluate: pairs have {len(names)} column(s); give a row label and a column label.")
    row, column = fitted or names[:2]
    return frame.get_column(row).to_list(), frame.get_column(column).to_list()


def _of_list(pairs: Any) -> tuple[list[Any], list[Any]]:
    pairs = [pair.tolist() if isinstance(pair, np.ndarray) else pair for pair in pairs]
    for place, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(f"evaluate: pairs[{place}] is {pair!r}, not a row label and a column label.")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _kept(labels: list[Any], which: Array) -> list[Any]:
    return [label for label, yes in zip(labels, which, strict=True) if yes]
