"""Rating files: any usual layout read fast; what is broken is named by file and line."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..places.numpy import Array
from .layout import ITEMS, RATINGS, USERS, Asked, first_lines, guessed, is_number, plain_names
from .opened import RATING_FILES, Opening, text_of
from .records import Layout, in_words, numbered_records, of_width

_NEEDED = "one rating a line is needed: user, item, rating"
_NAMES = {"user": USERS, "item": ITEMS, "rating": (*RATINGS, "value")}  # headers that mean a column
_INTEGER = re.compile(r"\+?(\d+)(?:\.0*)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Ratings:
    """A half-empty table: value k stands at (rows[k], cols[k]); the labels give the original ids."""

    rows: Array
    cols: Array
    values: Array
    shape: tuple[int, int]
    row_labels: Array
    col_labels: Array
    name: str

    def __len__(self) -> int:
        return int(self.values.size)


class Columns(NamedTuple):
    """What a file says, in its order: whole-number ids as they are written, and ratings."""

    users: Array
    items: Array
    values: Array


def read_ratings(path: str | os.PathLike[str], *, scale: tuple[float, float] | None = None) -> Ratings:
    """Ratings from a file of user, item, rating (and anything after), one rating a line.

    Columns are separated by a comma, a semicolon, '::', a tab or blanks. With a header they are found by name, in any
    order; without, the first three count. The file may be plain, gzipped, or in a zip archive. Users and items are
    whole numbers ≥ 0, kept as the labels of rows and columns, in increasing order. Windows line ends, a byte-order
    mark and empty lines do not matter. With ``scale=(low, high)`` a rating outside is refused. What cannot be read
    raises ValueError with the file and the line.
    """
    file = Path(path)
    (table,) = tables([read_columns(file, scale=scale)], [file.name])
    return table


def tables(parts: list[Columns], names: list[str]) -> list[Ratings]:
    """One table a part, all with the shape and the labels of the parts together."""
    row_labels, rows = np.unique(np.concatenate([part.users for part in parts]), return_inverse=True)
    col_labels, cols = np.unique(np.concatenate([part.items for part in parts]), return_inverse=True)
    shape = (int(row_labels.size), int(col_labels.size))
    ends = np.cumsum([part.values.size for part in parts])[:-1]
    return [
        Ratings(r, c, part.values, shape, row_labels, col_labels, name)
        for r, c, part, name in zip(np.split(rows, ends), np.split(cols, ends), parts, names, strict=True)
    ]


def read_columns(
    path: Path, wanted: tuple[str, ...] | None = None, scale: tuple[float, float] | None = None
) -> Columns:
    """The three columns of a file; in a zip archive, of the first member with one of the wanted names."""
    if scale is not None and not scale[0] <= scale[1]:
        raise ValueError(f"read_ratings: scale must be (low, high) with low ≤ high, got {scale}.")
    how = Opening(None, wanted or RATING_FILES, wanted is None, forgiving=True, empty=_NEEDED, binary=_NEEDED)
    with text_of(path, how) as (name, text):
        beginning = first_lines(text)
        layout = guessed(name, beginning, Asked(), empty=_NEEDED)
        where = _where(name, layout, next(k for k, line in enumerate(beginning, 1) if line.strip()))
        columns = _fast(layout, where, chain(beginning, text))
    if columns is None or not _plausible(columns, scale):
        with text_of(path, how) as (name, text):
            columns = _careful(name, text, layout, where, scale)
    return columns


def _where(name: str, layout: Layout, line: int) -> tuple[int, int, int]:
    """The places of user, item and rating: by the names in the header, or the first three."""
    if not layout.header:
        if len(layout.names) < 3:
            raise ValueError(
                f"{name} line {line}: {in_words(len(layout.names))}, but user, item and rating are needed."
            )
        return 0, 1, 2
    plain, places = plain_names(layout), []
    for column, names in _NAMES.items():
        place = next((plain.index(word) for word in names if word in plain), None)
        if place is None:
            there = ", ".join(repr(field) for field in layout.names)
            raise ValueError(
                f"{name} line {line}: no {column} column (one named {', '.join(names[:3])} …); "
                f"the columns there are {there[:300]}."
            )
        places.append(place)
    user, item, rating = places
    return user, item, rating


def _fast(layout: Layout, where: tuple[int, int, int], lines: Iterator[str]) -> Columns | None:
    """The columns by numpy's compiled reader, or None where it stumbles."""
    if layout.header:
        next(line for line in lines if line.strip())
    separator = None if layout.delimiter == " " else layout.delimiter
    if separator == "::":
        separator, lines = "\t", (line.replace("::", "\t") for line in lines)
    kinds: list[Any] = ["U1"] * len(layout.names)  # all are taken, so that a line with too few or many is noticed
    for place, kind in zip(where, (np.int64, np.int64, np.float64), strict=True):
        kinds[place] = kind
    dtype = np.dtype([(f"f{k}", kind) for k, kind in enumerate(kinds)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an id read by way of a float, an empty table
            table = np.loadtxt(lines, dtype, comments=None, delimiter=separator, ndmin=1)
    except (ValueError, Warning, OverflowError):
        return None
    user, item, rating = (np.ascontiguousarray(table[f"f{place}"]) for place in where)
    return Columns(user, item, rating)


def _plausible(columns: Columns, scale: tuple[float, float] | None) -> bool:
    users, items, values = columns
    if not values.size or min(users.min(), items.min()) < 0 or not np.isfinite(values).all():
        return False
    if scale is not None and not (scale[0] <= values.min() and values.max() <= scale[1]):
        return False
    return _repeated(users, items) is None


def _repeated(users: Array, items: Array) -> tuple[int, int] | None:
    """Two places with the same user and item, the second as early as can be."""
    widest = int(items.max()) + 1
    if int(users.max()) + 1 <= 2**62 // widest:  # one number a pair: sorting is enough to see that none repeats
        pairs = np.sort(users * widest + items)
        if not (pairs[1:] == pairs[:-1]).any():
            return None
    order = np.lexsort((items, users))  # stable: of equal pairs the earlier stands first
    same = (np.diff(users[order]) == 0) & (np.diff(items[order]) == 0)
    if not same.any():
        return None
    again = int(order[1:][same].min())
    earlier = np.flatnonzero((users[:again] == users[again]) & (items[:again] == items[again]))
    return int(earlier[0]), again


def _careful(
    name: str, text: IO[str], layout: Layout, where: tuple[int, int, int], scale: tuple[float, float] | None
) -> Columns:
    """The columns record by record: slow, and names the first line that cannot be."""
    users: list[int] = []
    items: list[int] = []
    values: list[float] = []
    places: list[int] = []
    for number, record in numbered_records(name, text, layout):
        if not layout.delimiter.join(record).strip():
            continue
        at = f"{name} line {number}"
        fields = of_width(at, record, layout)
        user, item, rating = (fields[place].strip() for place in where)
        users.append(_id(at, "user", user))
        items.append(_id(at, "item", item))
        values.append(_rating(at, rating, scale))
        places.append(number)
    if not values:
        raise ValueError(f"{name}: a header and no rating below it.")
    columns = Columns(np.array(users, np.int64), np.array(items, np.int64), np.array(values))
    twice = _repeated(columns.users, columns.items)
    if twice is not None:
        first, again = twice
        raise ValueError(
            f"{name} line {places[again]}: user {users[again]} has rated item {items[again]} already, in line "
            f"{places[first]}; keep one of the two."
        )
    return columns


def _id(place: str, column: str, field: str) -> int:
    whole = _INTEGER.fullmatch(field)
    if whole is None:
        why = "is negative" if _INTEGER.fullmatch(field.removeprefix("-")) else "is not a whole number"
        raise ValueError(f"{place}: {column} id {field!r} {why}; ids are whole numbers from 0.")
    if len(whole[1]) > 19 or int(whole[1]) > np.iinfo(np.int64).max:
        raise ValueError(f"{place}: {column} id {field!r} is larger than 2⁶³ − 1; number the {column}s anew.")
    return int(whole[1])


def _rating(place: str, field: str, scale: tuple[float, float] | None) -> float:
    if not is_number(field):
        raise ValueError(f"{place}: rating {field!r} is not a number.")
    value = float(field)
    if not np.isfinite(value):
        raise ValueError(f"{place}: rating {field!r} is not finite; leave the line out where there is no rating.")
    if scale is not None and not scale[0] <= value <= scale[1]:
        raise ValueError(f"{place}: rating {field!r} is outside the scale {scale[0]:g} … {scale[1]:g}.")
    return value
