"""Wide tables with blanks: a line for every row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..estimators.input.labels import Labels
from ..places.numpy import Array
from .digits import POINT, Digits, almost_number, remedy
from .layout import MISSING, Asked, how_read, laid_out, place_of
from .records import Layout, numbered
from .table import Table
from .text import Codes


def read_wide(path: Path, asked: Asked, tell: Callable[[str], None]) -> Table:
    """A table with blanks: a line for every row, a header with column labels, a column with row labels, or neither."""
    name, layout = laid_out(path, asked)
    labelled = label_column(name, layout, asked)
    kept = [k for k in range(len(layout.names)) if k != labelled]
    if not kept:
        raise ValueError(f"{name}: no column is left besides the one with row labels; is --delimiter right?")
    where = "row labels counted from 1" if labelled is None else f"row labels from column {labelled + 1}"
    guess = f"{name}: a wide table, {layout.words}; {where}, {len(kept)} columns"
    tell(guess)
    labels: list[str] = []
    lines: list[int] = []
    cells: list[list[float]] = []
    for _, number, record in numbered(path, asked.encoding, layout):
        record = padded(name, number, record, layout)
        labels.append(record[labelled] if labelled is not None else str(len(labels) + 1))
        lines.append(number)
        cells.append([_cell(f"{name} line {number}", record[k], layout.names[k], layout.digits) for k in kept])
    names = [layout.names[k] for k in kept]
    _unlike(name, labels, "rows", lines)
    _unlike(name, names, "columns", [1] * len(names))
    array = np.array(cells).reshape(len(labels), len(names))
    rows, cols = np.nonzero(~np.isnan(array))
    corner = layout.names[labelled] if labelled is not None and layout.header else ""
    place = {"row": layout.names[labelled]} if labelled is not None else {}
    reading = {
        **place,
        **how_read(layout, asked),
        "matrix": True,
    }
    ordered = [_ordered(labels), _ordered(names)]
    return Table(
        rows=ordered[0][1][rows],
        cols=ordered[1][1][cols],
        values=array[rows, cols],
        row_labels=ordered[0][0],
        column_labels=ordered[1][0],
        names=(corner or "row", "column", "value"),
        name=name,
        reading=reading,
        guess=guess,
        locate=lambda place: f"line {lines[rows[place]]}",
    )


def _ordered(labels: list[str]) -> tuple[Labels, Array]:
    codes = Codes()
    codes.take(labels)
    return codes.sorted()


def label_column(name: str, layout: Layout, asked: Asked) -> int | None:
    """Which column of a wide table holds the labels of its rows: as asked for, or the first if it cannot be values."""
    if asked.row is not None:
        return None if asked.row.lower() == "none" else place_of(name, layout, asked.row, "--row")
    first = [line[0].strip() for line in layout.sample if line]
    words = any(layout.digits.plain(field) is None and field.lower() not in MISSING for field in first)
    corner = layout.header and layout.names[0].lower() in ("", "id", "row", "rows", "name", "user", "userid", "user_id")
    return 0 if words or corner else None


def padded(name: str, number: int, record: list[str], layout: Layout) -> list[str]:
    """A record as wide as the header; blanks at its end may have been left away."""
    width = len(layout.names)
    if len(record) > width and not any(field.strip() for field in record[width:]):
        record = record[:width]
    if len(record) > width:
        raise ValueError(f"{name} line {number}: {len(record)} columns where the first line has {width}.")
    return record + [""] * (width - len(record))


def _cell(at: str, field: str, column: str, digits: Digits) -> float:
    if field.strip().lower() in MISSING:
        return np.nan
    plain = digits.plain(field)
    if plain is None:
        what = remedy(field) if digits == POINT and almost_number(field) else digits.aside
        raise ValueError(
            f"{at}: {field[:60]!r} in column {column!r} is not a number{what}; a hole is empty or NA. If it is the "
            "label of the row, say --row; if it is neither, leave the column out of the file."
        )
    value = float(plain)
    if not np.isfinite(value):
        raise ValueError(f"{at}: {field!r} in column {column!r} is not finite.")
    return value


def _unlike(name: str, labels: list[str], side: str, lines: list[int]) -> None:
    seen: dict[str, int] = {}
    for label, line in zip(labels, lines, strict=True):
        if label in seen:
            place = f"lines {seen[label]} and {line}" if side == "rows" else "the header"
            raise ValueError(f"{name}: two {side} are called {label!r} ({place}); labels must differ.")
        seen[label] = line
