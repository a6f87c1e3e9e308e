"""Rating files: any usual layout read fast; what is broken is named by file and line."""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..places.numpy import Array
from .unpack import lines_of

RATING_FILES = ("u.data", "ratings.dat", "ratings.csv")
_NAMES = {  # headers that mean a column, in lower case without blanks, '_' and '-'
    "user": ("user", "userid", "uid", "u"),
    "item": ("item", "itemid", "iid", "i", "movie", "movieid", "product", "productid", "book", "bookid"),
    "rating": ("rating", "ratings", "stars", "score", "value"),
}
_MARKS = ("\t", ";", ",")
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


class _Layout(NamedTuple):
    separator: str | None  # None: blanks
    header: bool
    width: int
    where: dict[str, int]  # user, item, rating → column


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
    with lines_of(path, wanted or RATING_FILES, lone=wanted is None) as (name, lines):
        layout, first = _layout(name, lines)
        columns = _fast(layout, chain([] if layout.header else [first], lines))
    if columns is None or not _plausible(columns, scale):
        with lines_of(path, wanted or RATING_FILES, lone=wanted is None) as (name, lines):
            columns = _careful(name, layout, lines, scale)
    return columns


def _layout(name: str, lines: Iterator[str]) -> tuple[_Layout, str]:
    """How the columns are laid out, from the first line that is not empty; and that line."""
    number, first = next(((k, line) for k, line in enumerate(lines, 1) if line.strip()), (0, ""))
    if not first:
        raise ValueError(f"{name} is empty; one rating a line is needed: user, item, rating.")
    separator = next((mark for mark in ("::", *_MARKS) if mark in first), None)
    fields = _split(first, separator)
    if any(_is_number(field) for field in fields):
        if len(fields) < 3:
            raise ValueError(f"{name} line {number}: {_count(fields)}, but user, item and rating are needed.")
        return _Layout(separator, False, len(fields), {"user": 0, "item": 1, "rating": 2}), first
    plain = [re.sub(r"[\s_-]", "", field).lower() for field in fields]
    where = {}
    for column, names in _NAMES.items():
        place = next((plain.index(word) for word in names if word in plain), None)
        if place is None:
            there = ", ".join(repr(field) for field in fields)
            raise ValueError(
                f"{name} line {number}: no {column} column (one named {', '.join(names[:3])} …); "
                f"the columns there are {there[:300]}."
            )
        where[column] = place
    return _Layout(separator, True, len(fields), where), first


def _fast(layout: _Layout, lines: Iterator[str]) -> Columns | None:
    """The columns by numpy's compiled reader, or None where it stumbles."""
    separator = layout.separator
    if separator == "::":
        separator, lines = "\t", (line.replace("::", "\t") for line in lines)
    kinds: list[Any] = ["U1"] * layout.width  # every column is taken, so that a line with too few or many is noticed
    for column, kind in (("user", np.int64), ("item", np.int64), ("rating", np.float64)):
        kinds[layout.where[column]] = kind
    dtype = np.dtype([(f"f{k}", kind) for k, kind in enumerate(kinds)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an id read by way of a float, an empty table
            table = np.loadtxt(lines, dtype, comments=None, delimiter=separator, ndmin=1)
    except (ValueError, Warning, OverflowError):
        return None
    user, item, rating = (np.ascontiguousarray(table[f"f{layout.where[column]}"]) for column in _NAMES)
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


def _careful(name: str, layout: _Layout, lines: Iterator[str], scale: tuple[float, float] | None) -> Columns:
    """The columns line by line: slow, and names the first line that cannot be."""
    users: list[int] = []
    items: list[int] = []
    values: list[float] = []
    places: list[int] = []
    header = layout.header
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if header:
            header = False
            continue
        place = f"{name} line {number}"
        fields = _split(line, layout.separator)
        while len(fields) > layout.width and not fields[-1]:
            fields.pop()
        if len(fields) != layout.width:
            raise ValueError(
                f"{place}: {_count(fields)} where the first line has {layout.width}: {line.strip()[:60]!r}."
            )
        users.append(_id(place, "user", fields[layout.where["user"]]))
        items.append(_id(place, "item", fields[layout.where["item"]]))
        values.append(_rating(place, fields[layout.where["rating"]], scale))
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
    if not _is_number(field):
        raise ValueError(f"{place}: rating {field!r} is not a number.")
    value = float(field)
    if not np.isfinite(value):
        raise ValueError(f"{place}: rating {field!r} is not finite; leave the line out where there is no rating.")
    if scale is not None and not scale[0] <= value <= scale[1]:
        raise ValueError(f"{place}: rating {field!r} is outside the scale {scale[0]:g} … {scale[1]:g}.")
    return value


def _split(line: str, separator: str | None) -> list[str]:
    line = line.strip("\r\n ")
    fields = next(csv.reader([line], delimiter=separator)) if '"' in line and separator in _MARKS else None
    return [field.strip() for field in fields or line.split(separator)]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # Python's own thousands mark is no part of a rating file


def _count(fields: list[str]) -> str:
    return f"{len(fields)} column{'s' if len(fields) != 1 else ''}"
