"""A fit that goes on with other observations: pairs that come twice, values that change, pairs that are forgotten.

Each is a fit of its own, to the same certified tolerance, that begins with the factors of the last one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...matrices.factors import Rectangular
from ...places.numpy import Array
from ..input import repeats
from ..input.labels import Labels
from ..input.observations import OWNER, Observations, pair_columns
from . import featuring, fitting, parameters
from .recipe import grown


def more(model: Any, pairs: tuple[Array, Array, list[str] | None], y: Any, sample_weight: Any, how: Any) -> Any:
    """Observations of a fitted model and new ones, which come last; fitted with the radius of the last fit."""
    repeats.refuse_word(how, f"{OWNER}: duplicates")
    _say_that_times_go(model)
    first, second, names = pairs
    before = len(model.observations_)
    seen, labels, start = fitting.joined(model, first, second, y, sample_weight)

    def known(pair: str, found: repeats.Repeated) -> str:
        what = "is known already" if found.first < before else "comes twice"
        return (
            f"{OWNER}: the pair {pair} at pairs[{found.again - before}] {what}; duplicates='last' replaces its value, "
            "'mean', 'sum', 'first' and 'all' do other things (docs/estimators.md)."
        )

    if how == "error":  # what the model has twice is not at issue
        new = seen.part(np.arange(before, len(seen)))
        old = seen.part(np.arange(before)).tidy()
        once = np.unique(old.rows.astype(np.int64) * seen.shape[1] + old.cols, return_index=True)[1]
        tried, before = old.part(once).joined(new), once.size
        repeats.named(tried, labels, how, known)
    else:
        seen = repeats.settled(seen, how)
    if names is None and "feature_names_in_" in vars(model):
        names = list(model.feature_names_in_)  # pairs without names are in the order of the fit
    return fitting.fit_observations(model, seen, labels, names, (model.radius_, start))


def fewer(model: Any, pairs: Any, rows: Any, columns: Any) -> Any:
    """The fit without some observations; a row or column that has none left is forgotten altogether."""
    if pairs is None and rows is None and columns is None:
        raise TypeError(f"{OWNER}: forget needs pairs, rows=[…] or columns=[…].")
    seen: Observations = model.observations_
    gone, named = np.zeros(len(seen), bool), []
    for asked, side, labels, codes in (
        (rows, "row", model.row_labels_, seen.rows),
        (columns, "column", model.column_labels_, seen.cols),
    ):
        named.append(_places(labels, parameters.label_list([] if asked is None else asked, side), side))
        gone |= np.isin(codes, named[-1])
    if pairs is not None:
        gone |= _of_pairs(model, pairs)
    if gone.all():
        raise ValueError(f"{OWNER}: forget would leave no observation; there is nothing to fit.")
    _say_that_times_go(model)
    kept = seen.part(~gone)
    # a label that had features only is still known by them, unless it is the one to be forgotten
    row_places, column_places = (
        np.union1d(codes, np.setdiff1d(unseen, forgotten))
        for codes, unseen, forgotten in zip((kept.rows, kept.cols), featuring.unseen(model), named, strict=True)
    )
    new_rows, new_cols = np.searchsorted(row_places, kept.rows), np.searchsorted(column_places, kept.cols)
    shape = (row_places.size, column_places.size)
    labels = tuple(
        Labels.of(each.values[places])
        for each, places in ((model.row_labels_, row_places), (model.column_labels_, column_places))
    )
    left = Observations(new_rows, new_cols, kept.values, kept.weights, shape)
    names = list(model.feature_names_in_) if "feature_names_in_" in vars(model) else None
    known = (model.radius_, _start(model, row_places, column_places))
    return fitting.fit_observations(model, left, labels, names, known)


def _say_that_times_go(model: Any) -> None:
    if vars(model).get("latest_") is not None:
        warnings.warn(
            f"{OWNER}: a model does not keep times, so intervals now come from random observations in place of the "
            "latest; fit all observations anew with time= where that matters.",
            UserWarning,
            stacklevel=4,
        )


def _places(labels: Labels, asked: Array, side: str) -> Array:
    places = labels.codes(asked, OWNER, f"{side} labels")
    if (places < 0).any():
        label = asked[places < 0][:1].tolist()[0]
        raise ValueError(f"{OWNER}: the model does not know {side} {label!r}; there is nothing to forget.")
    return places


def _of_pairs(model: Any, pairs: Any) -> Array:
    seen: Observations = model.observations_
    first, second, _ = pair_columns(pairs, vars(model).get("feature_names_in_"))
    rows = model.row_labels_.codes(first, OWNER, "row labels")
    cols = model.column_labels_.codes(second, OWNER, "column labels")
    held = seen.rows.astype(np.int64) * seen.shape[1] + seen.cols
    asked = np.where((rows >= 0) & (cols >= 0), rows * seen.shape[1] + cols, -1)
    other = ~np.isin(asked, held)
    if other.any():
        place = int(np.argmax(other))
        pair = f"({first[place : place + 1].tolist()[0]!r}, {second[place : place + 1].tolist()[0]!r})"
        raise ValueError(
            f"{OWNER}: the pair {pair} at pairs[{place}] was not observed ({int(other.sum())} such in all); forget "
            "takes pairs that the model was fitted to."
        )
    return np.isin(held, asked)


def _start(model: Any, rows: Array, cols: Array) -> Rectangular:
    """The low-rank part of the lines that stay, with orthonormal factors again."""
    whole = (len(model.row_labels_), len(model.column_labels_))
    X = grown(Rectangular(model.U_, model.s_, model.V_), model.shape_, whole)
    lines = rows if X.U.shape[0] == whole[0] else np.concatenate([rows, whole[0] + cols])
    (left, above), (right, beside) = np.linalg.qr(X.U[lines]), np.linalg.qr(X.V[cols])
    inner, s, outer = np.linalg.svd((above * X.s) @ beside.T)
    rank = min(above.shape[0], beside.shape[0])
    return Rectangular(left @ inner[:, :rank], s[:rank], right @ outer[:rank].T)
