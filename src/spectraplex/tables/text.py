"""Text files with one observation, or one pair of labels, a line."""

from __future__ import annotations

import csv
import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from operator import itemgetter
from pathlib import Path

import numpy as np

from ..estimators.input.labels import Labels, objects
from ..places.numpy import Array
from .digits import POINT, remedy
from .layout import MISSING, Asked, chosen, how_read, laid_out, looks_wide, name_of
from .opened import Opening, text_of
from .records import Layout, numbered, of_width, records
from .table import Table

_CHUNK = 1 << 16  # records at a time: few enough to stay in cache and memory, enough that the loop over them is nothing


class _Stumbled(Exception):
    """The fast way met something; the careful one says where and what."""


def read_long(path: Path, asked: Asked, tell: Callable[[str], None]) -> Table:
    """One observation a line: row label, column label, value, in columns named or guessed."""
    name, layout = laid_out(path, asked)
    where = chosen(name, layout, asked)
    names = tuple(layout.names[k] for k in where)
    roles = ("row", "column", "value")
    if layout.header:
        told = ", ".join(f"{role}s from {word!r}" for role, word in zip(roles, names, strict=True))
    else:
        told = ", ".join(f"{role}s from column {k + 1}" for role, k in zip(roles, where, strict=True))
    guess = f"{name}: {layout.words}; {told}"
    if looks_wide(layout, asked):
        guess += ". It looks like a wide table, a line for every row; if it is one, give --matrix"
    tell(guess)
    codes = Codes(), Codes()
    try:
        values = _fast(path, asked, layout, where, codes)
    except _Stumbled:
        codes = Codes(), Codes()
        values = _careful(path, asked, layout, where, codes)
    (row_labels, rows), (column_labels, cols) = (each.sorted() for each in codes)
    reading = {
        **{role: name_of(layout, place) for role, place in zip(roles, where, strict=True)},
        **how_read(layout, asked),
        "matrix": False,
        "duplicates": asked.duplicates,
    }
    return Table(
        rows=rows,
        cols=cols,
        values=values,
        row_labels=row_labels,
        column_labels=column_labels,
        names=names if layout.header else roles,  # type: ignore[arg-type]
        name=name,
        reading=reading,
        guess=guess,
        locate=lambda place: f"line {_line(path, asked, layout, where, place)}",
    )


class Codes:
    """Numbers for labels, in the order in which they come; the loop is in C."""

    def __init__(self) -> None:
        self.places: defaultdict[str, int] = defaultdict(count().__next__)
        self.parts: list[Array] = []

    def take(self, labels: tuple[str, ...] | list[str]) -> None:
        self.parts.append(np.fromiter(map(self.places.__getitem__, labels), np.int64, len(labels)))

    def sorted(self) -> tuple[Labels, Array]:
        """Labels in their own order, and the place of every one that was taken."""
        labels = list(self.places)
        order = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(labels), np.int64)
        rank[order] = np.arange(len(labels))
        codes = np.concatenate(self.parts) if self.parts else np.empty(0, np.int64)
        return Labels(objects([labels[k] for k in order])), rank[codes]


@contextmanager
def _no_collector() -> Iterator[None]:
    """A million short lists hold no cycles, and looking for some takes as long as reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _fast(path: Path, asked: Asked, layout: Layout, where: tuple[int, int, int], codes: tuple[Codes, Codes]) -> Array:
    picks, width, parts = [itemgetter(place) for place in where], len(layout.names), []
    with text_of(path, Opening(asked.encoding)) as (_, text), _no_collector():
        lines = records(text, layout)
        if layout.header:
            next(line for line in lines if line)
        while True:
            try:
                chunk = list(islice(lines, _CHUNK))
            except csv.Error:
                raise _Stumbled from None
            if not chunk:
                break
            if set(map(len, chunk)) != {width}:
                chunk = [record for record in chunk if record]
                if set(map(len, chunk)) - {width}:
                    raise _Stumbled
                if not chunk:
                    continue
            rows, cols, values = (list(map(pick, chunk)) for pick in picks)
            codes[0].take(rows)
            codes[1].take(cols)
            if layout.digits != POINT:
                values = layout.digits.plainly(values)
            try:
                numbers = np.fromiter(map(float, values), np.float64, len(values))
            except ValueError:
                raise _Stumbled from None
            if not np.isfinite(numbers).all() or "_" in "".join(values):
                raise _Stumbled
            parts.append(numbers)
    for each in codes:
        if "" in each.places or any("\0" in label for label in each.places):
            raise _Stumbled
    return np.concatenate(parts) if parts else np.empty(0)


def _careful(
    path: Path, asked: Asked, layout: Layout, where: tuple[int, int, int], codes: tuple[Codes, Codes]
) -> Array:
    """Record by record: names the first line that cannot be, and leaves out what was asked to be left out."""
    rows: list[str] = []
    cols: list[str] = []
    values: list[float] = []
    for _, row, col, value in _kept(path, asked, layout, where):
        rows.append(row)
        cols.append(col)
        values.append(value)
    codes[0].take(rows)
    codes[1].take(cols)
    return np.array(values)


def _kept(
    path: Path, asked: Asked, layout: Layout, where: tuple[int, int, int]
) -> Iterator[tuple[int, str, str, float]]:
    """Line, row label, column label and value of every observation."""
    for name, number, record in numbered(path, asked.encoding, layout):
        if not any(field.strip() for field in record):
            continue  # spreadsheets write lines of nothing but separators
        at = f"{name} line {number}"
        fields = of_width(at, record, layout)
        row, col, field = (fields[k] for k in where)
        if field.strip().lower() in MISSING:
            if asked.drop_empty:
                continue
            what = repr(field) if field.strip() else "empty"
            raise ValueError(
                f"{at}: the value is {what}; delete the line, or give --drop-empty to leave out lines without a value."
            )
        plain = layout.digits.plain(field)
        if plain is None:
            raise ValueError(f"{at}: the value {field[:60]!r} is not a number{_hint(field, layout, where[2])}.")
        value = float(plain)
        if not np.isfinite(value):
            raise ValueError(f"{at}: the value {field!r} is not finite; delete the line.")
        for label, side in ((row, "row"), (col, "column")):
            if not label:
                raise ValueError(f"{at}: the {side} label is empty; an observation needs one.")
            if "\0" in label:
                raise ValueError(f"{at}: the {side} label {label[:60]!r} has a zero byte in it; the file is damaged.")
        yield number, row, col, value


def _hint(field: str, layout: Layout, place: int) -> str:
    if layout.digits != POINT:
        return layout.digits.aside
    return remedy(field) or f" (column {layout.names[place]!r}; --value names another)"


def _line(path: Path, asked: Asked, layout: Layout, where: tuple[int, int, int], place: int) -> int:
    """The line of an observation, found again only when a message needs it."""
    return next(islice(_kept(path, asked, layout, where), place, None))[0]
