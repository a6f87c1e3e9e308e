"""Features of rows and columns in a fit: taken from the data, kept in the model, written down with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...objectives.sides import Featured, SideFeatures
from ...places.numpy import Array
from ..input import features as given_features
from ..input.features import Known, compact
from ..input.labels import Labels
from ..input.observations import OWNER, Observations
from . import parameters
from .recipe import Recipe, Solution

Names = tuple[tuple[str, ...], tuple[str, ...]]
_SIDES = ("row", "column")


@dataclass(frozen=True, eq=False)
class Taken:
    """Features in the order of the labels, what they are called, and how many labels have none."""

    features: SideFeatures | None
    names: Names = ((), ())
    without: tuple[Array | None, Array | None] = (None, None)

    def said(self, seen: Observations) -> list[str]:
        """What somebody should know of them: rows and columns that are observed and have no features."""
        out = []
        for side, without, counts in zip(_SIDES, self.without, seen.counts(), strict=True):
            if without is not None and (without & (counts > 0)).any():
                number, total = int((without & (counts > 0)).sum()), int((counts > 0).sum())
                out.append(
                    f"{number} of {total} {side}s have no line in {side}_features and count as average; add them if "
                    "something is known of them"
                )
        return out


def read(given: tuple[Any, Any], names: list[str] | None) -> tuple[Known | None, Known | None] | None:
    """What was given for rows and for columns; None for neither."""
    if given[0] is None and given[1] is None:
        return None
    called = names or (None, None)
    row, column = (
        None if each is None else given_features.read(each, side, word)
        for each, side, word in zip(given, _SIDES, called, strict=True)
    )
    return row, column


def of_matrix(given: tuple[Any, Any], labels: tuple[Labels, Labels]) -> tuple[Known | None, Known | None] | None:
    """The same for a matrix: an array or a sparse matrix has a line for each of its rows, or columns, in order."""
    lines = [(own.values, each) if _without_labels(each) else each for each, own in zip(given, labels, strict=True)]
    return read((lines[0], lines[1]), None)


def _without_labels(given: Any) -> bool:
    from scipy.sparse import issparse

    return issparse(given) or isinstance(given, np.ndarray)


def taken(
    model: Any, labels: tuple[Labels, Labels], given: tuple[Known | None, Known | None] | None, goes_on: bool
) -> Taken:
    """Features for these labels: those given, or those of the fit that is gone on from."""
    charges = parameters.charges_of(model) or (1.0, 1.0)
    if given is not None:
        if not model.intercepts:
            raise ValueError(f"{OWNER}: features go with intercepts; leave intercepts=True, or give no features.")
        designs = [None if each is None else each.of(own) for each, own in zip(given, labels, strict=True)]
        words: list[tuple[str, ...]] = [() if each is None else each.names for each in given]
        missing = [
            None if each is None else _unknown(own, each.labels) for each, own in zip(given, labels, strict=True)
        ]
        return Taken(SideFeatures(designs[0], designs[1], charges), (words[0], words[1]), (missing[0], missing[1]))
    before: SideFeatures | None = vars(model).get("features_") if goes_on else None
    if before is None:
        return Taken(None)
    known = [
        None if design is None else Known(own.values[: design.shape[0]], design, words).of(new)
        for design, own, new, words in zip(
            (before.rows, before.cols),
            (model.row_labels_, model.column_labels_),
            labels,
            model.feature_names_,
            strict=True,
        )
    ]
    return Taken(SideFeatures(known[0], known[1], charges), model.feature_names_)


def _unknown(labels: Labels, known: Array) -> Array:
    out = np.ones(len(labels), bool)
    out[labels.codes(known, OWNER, "labels of features")] = False
    return out


def keep(model: Any, told: Taken, recipe: Recipe) -> None:
    """They become attributes of the model."""
    model.features_, model.feature_names_ = recipe.features, told.names
    model.feature_ridge_ = None if recipe.features is None else recipe.features.charges


def unseen(model: Any) -> tuple[Array, Array]:
    """Places of labels that have features and no observations."""
    features, counts = vars(model).get("features_") or SideFeatures(), model.observations_.counts()
    rows, cols = (
        np.flatnonzero(count == 0) if design is not None else np.empty(0, np.intp)
        for design, count in zip((features.rows, features.cols), counts, strict=True)
    )
    return rows, cols


def weights(model: Any) -> dict[str, dict[str, float]]:
    """The weight of every feature, from the whole effects."""
    features: SideFeatures | None = vars(model).get("features_")
    out: dict[str, dict[str, float]] = {"rows": {}, "columns": {}}
    if features is None:
        return out
    sides = zip(
        out,
        (features.rows, features.cols),
        (model.row_intercepts_, model.column_intercepts_),
        model.ridge_,
        strict=True,
    )
    for k, (side, design, effects, ridge) in enumerate(sides):
        if design is not None:
            found = Featured(ridge, design, features.charges[k]).split(effects[: design.shape[0]])[1]
            out[side] = dict(zip(model.feature_names_[k], found.tolist(), strict=True))
    return out


def spoken(objective: Any, found: Solution) -> tuple[Array, Array]:
    """What features alone say of every row and every column."""
    out = []
    sides = (None, None) if objective.ridges is None else objective.beside.sides
    for side, effects in zip(sides, (found.rows, found.cols), strict=True):
        said = np.zeros(effects.size)
        if isinstance(side, Featured):
            said = effects - side.split(effects)[0]
        out.append(said)
    return out[0], out[1]


# ------------------------------------------------------------------------------------------------------- written down


def packed(model: Any) -> dict[str, Array]:
    """Plain arrays, sparse by rows."""
    from scipy.sparse import csr_matrix

    features: SideFeatures | None = vars(model).get("features_")
    out: dict[str, Array] = {}
    for side, design in zip(_SIDES, (None, None) if features is None else (features.rows, features.cols), strict=True):
        if design is not None:
            held = csr_matrix(design)
            out |= {f"{side}_features.{name}": getattr(held, name) for name in ("data", "indices", "indptr")}
    return out


def described(model: Any) -> dict[str, Any] | None:
    """What is not an array: names and ridges."""
    features: SideFeatures | None = vars(model).get("features_")
    if features is None:
        return None
    return {"names": [list(words) for words in model.feature_names_], "ridge": list(features.charges)}


def unpack(model: Any, arrays: dict[str, Array], document: dict[str, Any] | None) -> None:
    """What ``packed`` and ``described`` gave; a ValueError where it does not fit together."""
    model.features_, model.feature_names_, model.feature_ridge_ = None, ((), ()), None
    if document is None:
        return
    names = tuple(tuple(str(word) for word in words) for words in document["names"])
    charges = tuple(float(each) for each in document["ridge"])
    if len(names) != 2 or len(charges) != 2 or not all(np.isfinite(each) and each > 0 for each in charges):
        raise ValueError("names or ridges of features do not fit")
    designs = [
        _matrix(arrays, side, count, len(words)) if words else None
        for side, count, words in zip(_SIDES, model.shape_, names, strict=True)
    ]
    model.feature_names_, model.feature_ridge_ = names, charges
    model.features_ = SideFeatures(designs[0], designs[1], (charges[0], charges[1]))


def _matrix(arrays: dict[str, Array], side: str, count: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    parts = [np.asarray(arrays[f"{side}_features.{name}"]) for name in ("data", "indices", "indptr")]
    held = csr_matrix((parts[0], parts[1], parts[2]), shape=(count, width))
    held.check_format(full_check=True)
    if held.data.dtype.kind != "f" or not np.isfinite(held.data).all():
        raise ValueError(f"{side}_features does not fit")
    return compact(held)
