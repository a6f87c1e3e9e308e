"""A fitted model as plain arrays and a plain document, for a folder of npz and JSON; never a pickle."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import files
from ...certificates.certificate import Certificate
from ...places.numpy import Array
from ...trace import Trace
from ..input.labels import Labels
from ..input.observations import OWNER, Observations
from . import featuring
from .intervals import Calibration
from .parameters import recipe_of
from .serving import of_fit

_FORMAT = 1
_ARRAYS = ("U_", "s_", "V_", "profiles_", "row_intercepts_", "column_intercepts_", "row_scales_", "column_scales_")
_NUMBERS = ("offset_", "radius_", "multiplier_", "row_mean_count_", "n_iter_", "rank_", "status_", "seed_")


class Stored:
    """``to_arrays`` and ``from_arrays`` for an estimator with the attributes named above."""

    def to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Everything learned: arrays by name (no objects among them), and a document that JSON can hold.

        The observations are among the arrays: ``recommend`` and ``partial_fit`` need them.
        """
        me: Any = self
        check_is_fitted(me, "s_")
        me._refuse_shards("to_arrays")
        arrays: dict[str, Array] = {name: getattr(me, name) for name in _ARRAYS}
        if "column_profiles_" in vars(me):  # columns were folded in
            arrays["column_profiles_"] = me.column_profiles_
        seen: Observations = me.observations_
        arrays |= {"rows": seen.rows, "cols": seen.cols, "values": seen.values}
        if seen.weights is not None:
            arrays["weights"] = seen.weights
        arrays |= {"row_labels": me.row_labels_.packed(), "column_labels": me.column_labels_.packed()}
        arrays |= {f"path.{name}": column for name, column in me.path_.items()}
        history = me.history_.as_dict()
        arrays |= {f"history.{name}": column for name, column in history.items() if name != "kind"}
        if vars(me).get("latest_") is not None:
            arrays["latest"] = me.latest_
        arrays |= featuring.packed(me)
        if "calibration_" in vars(me):
            arrays |= me.calibration_.packed()
        document = {
            "format": _FORMAT,
            "estimator": OWNER,
            "parameters": {name: plain(value) for name, value in me.get_params().items()},
            "numbers": {name: plain(getattr(me, name)) for name in _NUMBERS},
            "chosen": {"ridge": plain(me.ridge_), "delta": plain(me.delta_), "weighting": plain(me.weighting_)},
            "notices": list(me.notices_),
            "features": featuring.described(me),
            "range": list(me.range_),
            "shape": list(me.shape_),
            "counted": [me.row_labels_.counted, me.column_labels_.counted],
            "kinds": [str(kind) for kind in history["kind"]],
            "certificate": certified(me.certificate_),
            "feature_names": [str(name) for name in getattr(me, "feature_names_in_", ())],
        }
        return arrays, document

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array], document: dict[str, Any]) -> Any:
        """The model that ``to_arrays`` wrote down."""
        if not isinstance(document, dict) or not isinstance(arrays, dict):
            raise TypeError(f"{OWNER}: from_arrays needs the arrays and the document that to_arrays gave.")
        if document.get("format") != _FORMAT or document.get("estimator") != OWNER:
            raise ValueError(f"{OWNER}: from_arrays was given no model of format {_FORMAT}.")
        try:
            parameters = {name: restored(value) for name, value in document["parameters"].items()}
            model: Any = cls(**parameters)
            for name in _ARRAYS:
                setattr(model, name, np.asarray(arrays[name]))
            if "column_profiles_" in arrays:
                model.column_profiles_ = np.asarray(arrays["column_profiles_"])
            for name in _NUMBERS:
                setattr(model, name, restored(document["numbers"][name]))
            model.ridge_, model.delta_, model.weighting_ = _chosen(model, document)
            model.notices_ = [str(each) for each in document.get("notices", ())]
            low, high = document["range"]
            model.range_ = (float(low), float(high))
            model.shape_ = tuple(int(size) for size in document["shape"])
            row, column = document["counted"]
            model.row_labels_ = Labels.unpacked(np.asarray(arrays["row_labels"]), bool(row))
            model.column_labels_ = Labels.unpacked(np.asarray(arrays["column_labels"]), bool(column))
            shape = (len(model.row_labels_), len(model.column_labels_))
            places = (np.asarray(arrays["rows"]), np.asarray(arrays["cols"]))
            model.observations_ = Observations(*places, np.asarray(arrays["values"]), arrays.get("weights"), shape)
            model.path_, model.history_ = named(arrays, "path."), trace_of(arrays, document)
            model.certificate_ = certificate_of(document)
            _fit_together(model)
            model.latest_ = arrays.get("latest")
            if model.latest_ is not None and model.latest_.shape != (len(of_fit(model)),):
                raise ValueError("what is latest does not fit")
            featuring.unpack(model, arrays, document.get("features"))
            if "calibration.scales" in arrays:
                model.calibration_ = Calibration.unpacked(arrays)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"{OWNER}: the stored model is damaged (missing or unknown entry: {error}).") from error
        model.n_features_in_ = 2
        if document.get("feature_names"):
            model.feature_names_in_ = np.array(document["feature_names"], object)
        return model


def _fit_together(model: Any) -> None:
    """Refuse arrays and numbers that no fit could have left; whoever answers from them trusts."""
    m, n, rank = len(model.row_labels_), len(model.column_labels_), model.s_.size
    if len(model.shape_) != 2 or model.U_.shape[0] not in (model.shape_[0], sum(model.shape_)):
        raise ValueError("the shape does not fit")
    shapes = {
        **{"s_": (rank,), "V_": (model.shape_[1], rank), "profiles_": (m, rank), "U_": (model.U_.shape[0], rank)},
        **{"row_intercepts_": (m,), "column_intercepts_": (n,), "row_scales_": (m,), "column_scales_": (n,)},
    }
    if "column_profiles_" in vars(model) or model.shape_[1] != n:
        shapes["column_profiles_"] = (n, rank)
    for name, shape in shapes.items():
        array = getattr(model, name)
        if array.dtype.kind != "f" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} does not fit")
    for name in _NUMBERS:
        value = getattr(model, name)
        if not (isinstance(value, str) if name == "status_" else isinstance(value, int | float) and isfinite(value)):
            raise ValueError(f"{name} is {value!r}")
    sound(model.observations_)
    if not set(model.path_) >= {"radius", "score", "value", "rank", "n_iter"}:
        raise ValueError("the path is not whole")


def sound(seen: Observations) -> None:
    """Refuse observations that are not of a table of their shape."""
    for codes, count in zip((seen.rows, seen.cols), seen.shape, strict=True):
        if (
            codes.dtype.kind not in "iu"
            or codes.shape != seen.values.shape
            or not ((codes >= 0) & (codes < count)).all()
        ):
            raise ValueError("the observations do not fit")
    if seen.values.dtype.kind != "f" or not np.isfinite(seen.values).all():
        raise ValueError("the observed values do not fit")


def _chosen(model: Any, document: dict[str, Any]) -> tuple[tuple[float, float] | None, float, float]:
    """Ridges, scale of the loss, exponent; a model from before the data chose them has them among its settings."""
    known, recipe = document.get("chosen"), recipe_of(model)
    if known is None:
        return recipe.ridges, recipe.delta, recipe.exponent
    ridge, delta = restored(known["ridge"]), float(restored(known["delta"]))
    exponent = float(restored(known.get("weighting", recipe.exponent)))
    if not (isfinite(exponent) and exponent >= 0):
        raise ValueError(f"weighting is {exponent!r}")
    if ridge is not None and not (len(ridge) == 2 and all(isfinite(part) and part > 0 for part in ridge)):
        raise ValueError(f"ridge is {ridge!r}")
    return ridge, delta, exponent


def certified(certificate: Certificate) -> dict[str, Any]:
    """A certificate as a document; what it keeps beside it is left out."""
    names = (each.name for each in fields(certificate) if each.name != "evidence")
    return {name: plain(vars(certificate)[name]) for name in names}


def certificate_of(document: dict[str, Any]) -> Certificate:
    """As it was stored; one from before certificates stated their rounding can only be made anew."""
    known = {name: restored(value) for name, value in document["certificate"].items()}
    if "seal" not in known:
        return Certificate("none", 1.0, float(known["value"]), -np.inf, 0.0)
    return Certificate(**known)


def trace_of(arrays: dict[str, Array], document: dict[str, Any]) -> Trace:
    columns = {name: column.tolist() for name, column in named(arrays, "history.").items()}
    return Trace.of_columns(columns | {"kind": list(document["kinds"])})


def named(arrays: dict[str, Array], prefix: str) -> dict[str, Array]:
    """The arrays whose names begin so, by the rest of their names."""
    found = {name.removeprefix(prefix): np.asarray(value) for name, value in arrays.items() if name.startswith(prefix)}
    return found


def plain(value: Any, owner: str = OWNER) -> Any:
    """A value that JSON holds exactly: infinities as words, pairs as lists."""
    if isinstance(value, tuple):
        return {"pair": [plain(part, owner) for part in value]}
    value = files.plain(value)
    if value is None or isinstance(value, str | int | float | bool | list | dict):
        return value
    raise TypeError(f"{owner}: the setting {value!r} cannot be written down; give a plain number or word.")


def restored(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"pair"}:
        return tuple(restored(part) for part in value["pair"])
    return files.number(value)
