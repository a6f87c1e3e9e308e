"""A fitted ``OneClassCompletion`` as plain arrays and a plain document, and as a folder of npz and JSON; no pickle."""

from __future__ import annotations

from math import isfinite
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...places.numpy import Array
from ..completion.saving import Saved
from ..completion.storage import certificate_of, certified, named, plain, restored, sound, trace_of
from ..input.labels import Labels
from ..input.observations import Observations
from .parameters import OWNER

_FORMAT = 1
_ARRAYS = ("U_", "s_", "V_", "row_factors_", "column_factors_")
_NUMBERS = ("radius_", "unobserved_weight_", "multiplier_", "n_iter_", "rank_", "seed_")
_PATH = {"radius": float, "unobserved_weight": float, "score": float, "rank": int}


class Stored(Saved):
    """``save`` and ``load``, ``to_arrays`` and ``from_arrays``."""

    _owner = OWNER

    def to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Everything learned: arrays by name (no objects among them), and a document that JSON can hold.

        The pairs are among the arrays: ``recommend`` leaves out what a row has seen.
        """
        me: Any = self
        check_is_fitted(me, "s_")
        arrays: dict[str, Array] = {name: vars(me)[name] for name in _ARRAYS}
        seen: Observations = me.observations_
        arrays |= {"rows": seen.rows, "cols": seen.cols, "values": seen.values}
        arrays |= {"row_labels": me.row_labels_.packed(OWNER), "column_labels": me.column_labels_.packed(OWNER)}
        arrays |= {f"path.{name}": column for name, column in me.path_.items()}
        history = me.history_.as_dict()
        arrays |= {f"history.{name}": column for name, column in history.items() if name != "kind"}
        return arrays, {
            "format": _FORMAT,
            "estimator": OWNER,
            "parameters": {name: plain(value, OWNER) for name, value in me.get_params().items()},
            "numbers": {name: plain(vars(me)[name]) for name in _NUMBERS},
            "status": me.status_,
            "kinds": [str(kind) for kind in history["kind"]],
            "certificate": certified(me.certificate_),
            "feature_names": [str(name) for name in vars(me).get("feature_names_in_", ())],
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array], document: dict[str, Any]) -> Self:
        """The model that ``to_arrays`` wrote down."""
        if not isinstance(document, dict) or not isinstance(arrays, dict):
            raise TypeError(f"{OWNER}: from_arrays needs the arrays and the document that to_arrays gave.")
        if document.get("format") != _FORMAT or document.get("estimator") != OWNER:
            raise ValueError(f"{OWNER}: from_arrays was given no model of format {_FORMAT}.")
        try:
            model: Any = cls(**{name: restored(value) for name, value in document["parameters"].items()})
            _fill(model, arrays, document)
            _fit_together(model)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"{OWNER}: the stored model is damaged (missing or unknown entry: {error}).") from error
        made: Self = model
        return made


def _fill(model: Any, arrays: dict[str, Array], document: dict[str, Any]) -> None:
    """Everything that a fit leaves, from what was written down."""
    for name in _ARRAYS:
        setattr(model, name, np.asarray(arrays[name]))
    for name in _NUMBERS:
        setattr(model, name, restored(document["numbers"][name]))
    model.status_ = document["status"]
    model.row_labels_ = Labels.unpacked(np.asarray(arrays["row_labels"]), False)
    model.column_labels_ = Labels.unpacked(np.asarray(arrays["column_labels"]), False)
    model.shape_ = (len(model.row_labels_), len(model.column_labels_))
    rows, cols, values = (np.asarray(arrays[name]) for name in ("rows", "cols", "values"))
    model.observations_ = Observations(rows, cols, values, None, model.shape_)
    path = named(arrays, "path.")
    model.path_ = {name: path[name].astype(kind) for name, kind in _PATH.items()}
    model.history_, model.certificate_ = trace_of(arrays, document), certificate_of(document)
    model.n_features_in_ = 2
    if document.get("feature_names"):
        model.feature_names_in_ = np.array(document["feature_names"], object)


def _fit_together(model: Any) -> None:
    """Refuse arrays and numbers that no fit could have left; whoever answers from them trusts."""
    (m, n), rank = model.shape_, model.s_.size
    shapes = {"s_": (rank,)} | dict.fromkeys(("U_", "row_factors_"), (m, rank))
    shapes |= dict.fromkeys(("V_", "column_factors_"), (n, rank))
    for name, shape in shapes.items():
        array = vars(model)[name]
        if array.dtype.kind != "f" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} does not fit")
    for name in _NUMBERS:
        value = vars(model)[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise ValueError(f"{name} is {value!r}")
    if not isinstance(model.status_, str):
        raise ValueError(f"status_ is {model.status_!r}")
    sound(model.observations_)
    if not (model.observations_.values > 0).all():
        raise ValueError("the observed values do not fit")
