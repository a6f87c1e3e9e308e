"""What NuclearNormImputer may be asked for: every parameter checked, and the bounds on what is filled in."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from ...checks import is_flag, is_real, is_whole, is_word, radius_setting, setting, share, whole
from ...places.numpy import Array


def is_nan(value: Any) -> bool:
    """Whether a marker of holes is NaN, of whatever kind."""
    return isinstance(value, Real) and bool(value != value)


def check(imputer: Any) -> None:
    """Refuse a parameter that makes no sense, naming it."""
    owner = type(imputer).__name__
    wants, count = partial(setting, imputer), imputer.n_neighbors
    radius_setting(imputer)
    wants("n_neighbors", "a whole number ≥ 0 or 'auto'", is_word(count, "auto") or (is_whole(count) and count >= 0))
    wants("metric", "'auto', 'learned' or 'identity'", imputer.metric in ("auto", "learned", "identity"))
    if imputer.metric == "identity" and not is_word(count, "auto") and count > 0:
        raise ValueError(f"{owner}: neighbours need metric='learned'; say n_neighbors=0 with metric='identity'.")
    wants("missing_values", "NaN or a number", is_real(imputer.missing_values))
    for name in ("standardize", "add_indicator", "keep_empty_features"):
        wants(name, "True or False", is_flag(getattr(imputer, name)))
    for name in ("min_value", "max_value"):
        asked = getattr(imputer, name)
        wants(
            name,
            "a number, one for each column, None or 'observed'",
            not isinstance(asked, str) or is_word(asked, "observed"),
        )
    wants("tol", "a positive number", is_real(imputer.tol) and 0 < imputer.tol < np.inf)
    whole(owner, "max_iter", imputer.max_iter)
    share(owner, "validation_fraction", imputer.validation_fraction)


def bounds(imputer: Any, table: Array) -> tuple[Array, Array]:
    """Least and largest value to fill in, for every column; a bound that was given goes before one observed."""
    least = _limit(imputer, "min_value", table, -np.inf)
    most = _limit(imputer, "max_value", table, np.inf)
    if is_word(imputer.min_value, "observed"):
        return np.minimum(least, most), most
    if is_word(imputer.max_value, "observed"):
        return least, np.maximum(least, most)
    wrong = np.nonzero(least > most)[0]
    if wrong.size:
        raise ValueError(
            f"{type(imputer).__name__}: min_value {least[wrong[0]]:g} is larger than max_value {most[wrong[0]]:g} "
            f"in column {wrong[0]}."
        )
    return least, most


def _limit(imputer: Any, name: str, table: Array, none: float) -> Array:
    asked = getattr(imputer, name)
    if asked is None:
        return np.full(table.shape[1], none)
    if isinstance(asked, str):
        found = np.where(np.isnan(table), -none, table)  # min over +inf, max over −inf: holes do not count
        limit = found.min(axis=0) if none < 0 else found.max(axis=0)
        return np.where(np.isinf(limit), none, limit)
    try:
        given = np.asarray(asked, dtype=float)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.shape not in ((), (table.shape[1],)) or np.isnan(given).any():
        raise ValueError(
            f"{type(imputer).__name__}: {name} must be a number, one for each of the {table.shape[1]} columns, None or "
            f"'observed', got {asked!r}."
        )
    return np.broadcast_to(given, table.shape[1])
