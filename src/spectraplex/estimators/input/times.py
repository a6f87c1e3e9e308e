"""When observations were made: any numbers or dates, of which only the order counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from ...places.numpy import Array
from .observations import OWNER, Observations


def ranked(times: Any, count: int, name: str = "time", owner: str = OWNER) -> Array:
    """The rank of every time, as whole numbers from zero; equal times have equal ranks."""
    try:
        array = np.asarray(times if hasattr(times, "dtype") else list(times))
    except TypeError:
        raise TypeError(f"{owner}: {name} must be a list of numbers or dates, got {times!r}.") from None
    if array.shape != (count,):
        raise ValueError(f"{owner}: {name} has shape {array.shape}, expected ({count},): one for every observation.")
    if array.dtype.kind in "OUST":
        array = _parsed(array.tolist(), name, owner)
    if array.dtype.kind not in "biufM":
        raise TypeError(f"{owner}: {name} must be numbers or dates, got dtype {array.dtype}.")
    missing = np.isnat(array) if array.dtype.kind == "M" else ~np.isfinite(array)
    if missing.any():
        place = int(np.argmax(missing))
        raise ValueError(f"{owner}: {name}[{place}] is missing or not finite; leave such observations out.")
    distinct, ranks = np.unique(array, return_inverse=True)
    if distinct.size == 1 and count > 1:
        raise ValueError(
            f"{owner}: {name} is {distinct[0]} for every observation, so none is the latest; leave it out, or give "
            "another."
        )
    return np.asarray(ranks.reshape(-1), np.int64)


def _parsed(held: list[Any], name: str, owner: str) -> Array:
    """Text and objects: numbers, or dates as 2020-05-31 or 2020-05-31T12:00."""
    if all(isinstance(each, str) for each in held):
        try:
            return np.array([float(each) for each in held])
        except ValueError:
            pass
    out = np.empty(len(held), "datetime64[us]")
    for place, each in enumerate(held):
        try:
            out[place] = np.datetime64(_plain(each), "us")
        except (ValueError, TypeError):
            raise ValueError(
                f"{owner}: {name}[{place}] is {each!r}, which is neither a number nor a date such as 2020-05-31 or "
                "2020-05-31T12:00."
            ) from None
    return out


def _plain(each: Any) -> Any:
    """A date without a time zone: what had one is in UTC."""
    if isinstance(each, str):
        words = each.strip()
        each = datetime.fromisoformat(words) if words[10:].count("+") or words.endswith("Z") else words
    if isinstance(each, datetime) and each == each and each.tzinfo is not None:
        each = each.astimezone(UTC).replace(tzinfo=None)
    return each if each == each else None  # NaT and NaN do not equal themselves


def of_pairs(seen: Observations, ranks: Array) -> Array:
    """The rank of the latest observation of every pair, in the order of the table."""
    pair = np.unique(seen.rows.astype(np.int64) * seen.shape[1] + seen.cols, return_inverse=True)[1].reshape(-1)
    out = np.zeros(int(pair.max(initial=-1)) + 1, np.int64)
    np.maximum.at(out, pair, ranks)
    return out
