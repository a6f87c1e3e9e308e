"""A wide table as impute reads it: its fields as they are written, and which of its columns are measurements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..places.numpy import Array
from ..tables.digits import POINT, almost_number, remedy
from ..tables.layout import MISSING, Asked, laid_out, place_of
from ..tables.records import Layout, numbered
from ..tables.roles import TIMES
from ..tables.wide import padded

_NUMBERS = ("id", "index", "no", "nr", "number", "rownumber", "key", "unnamed:0")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A wide table: its fields as they are written, and its columns of numbers, NaN where nothing is."""

    name: str
    names: tuple[str, ...]
    fields: list[list[str]]
    numeric: list[int]
    values: Array
    layout: Layout
    ids: tuple[str, ...] = ()  # columns of numbers that are labels rather than measurements
    frame: Any = None  # where it came as one


def read_sheet(path: Path, asked: Asked, tell: Callable[[str], None]) -> Sheet:
    """A text file; columns that hold words are left as they are, and a word among numbers is an error."""
    name, layout = laid_out(path, replace(asked, matrix=True))
    tell(f"{name}: a wide table, {layout.words}; {len(layout.names)} columns")
    lines: list[int] = []
    fields: list[list[str]] = []
    for _, line, record in numbered(path, asked.encoding, layout):
        lines.append(line)
        fields.append(padded(name, line, record, layout))
    if not fields:
        raise ValueError(f"{name}: a header and nothing below it.")
    label = _label(name, layout, asked)
    numeric, columns, ids, digits = [], [], [], layout.digits
    for k, word in enumerate(layout.names):
        cells = [record[k] for record in fields]
        missing = [cell.strip().lower() in MISSING for cell in cells]
        plain = [None if gone else digits.plain(cell) for cell, gone in zip(cells, missing, strict=True)]
        words = [place for place, cell in enumerate(plain) if cell is None and not missing[place]]
        almost = bool(words) and all(almost_number(cells[place]) for place in words)
        if k == label or (words and not almost and 2 * len(words) >= len(cells) - sum(missing)):
            continue
        if words:
            hint = digits.aside if digits != POINT else remedy(cells[words[0]])
            what = f"{hint}. If it is no number, but a label, say --row" if almost else "; a hole is empty or NA"
            raise ValueError(
                f"{name} line {lines[words[0]]}: {cells[words[0]][:60]!r} in column {word!r} is not a number{what}."
            )
        column = np.array([np.nan if cell is None else float(cell) for cell in plain])
        if np.isinf(column).any():
            raise ValueError(f"{name} line {lines[int(np.argmax(np.isinf(column)))]}: column {word!r} is not finite.")
        if asked.row is None and is_id(word, column, first=k == 0):
            ids.append(word)
            continue
        numeric.append(k)
        columns.append(column)
    if not columns:
        raise ValueError(f"{name}: no column holds numbers; is --delimiter right?")
    return Sheet(name, layout.names, fields, numeric, np.column_stack(columns), layout, tuple(ids))


def is_id(word: str, column: Array, first: bool) -> bool:
    """Whether whole numbers, all different and none missing, name the lines: by their header, or by counting them."""
    if not np.isfinite(column).all() or (column != np.floor(column)).any() or np.unique(column).size < column.size:
        return False
    plain = re.sub(r"[\s_-]", "", word).lower()
    called = plain in _NUMBERS or re.search(r"(^|[a-z0-9])(ID|Id)$|(^|[\s_-])id$", word) is not None
    return called or (first and column.size > 3 and plain not in TIMES and bool((np.diff(column) == 1).all()))


def read_frame_sheet(path: Path, asked: Asked) -> Sheet:
    """A Parquet file: its columns of numbers, but for one that was named as labels."""
    from ..tables.formats import read_frame

    frame = read_frame(path)
    names = tuple(frame.columns)
    layout = Layout(",", True, names, False, ())
    label = _label(str(path), layout, asked)
    numeric = [k for k, word in enumerate(names) if k != label and frame.get_column(word).dtype.is_numeric()]
    if not numeric:
        raise ValueError(f"{path}: no column holds numbers.")
    held = {k: np.asarray(frame.get_column(names[k]).cast(_double()).to_numpy(), float) for k in numeric}
    ids = [k for k in numeric if asked.row is None and is_id(names[k], held[k], first=k == 0)]
    numeric = [k for k in numeric if k not in ids]
    if not numeric:
        raise ValueError(f"{path}: no column holds numbers but for labels; --row none takes those as numbers, too.")
    columns = [held[k] for k in numeric]
    for k, column in zip(numeric, columns, strict=True):
        if np.isinf(column).any():
            raise ValueError(f"{path}: entry {int(np.argmax(np.isinf(column))) + 1} of {names[k]!r} is not finite.")
    texts = [["" if cell is None else str(cell) for cell in frame.get_column(word).to_list()] for word in names]
    fields = [list(record) for record in zip(*texts, strict=True)]
    called = tuple(names[k] for k in ids)
    return Sheet(str(path), names, fields, numeric, np.column_stack(columns), layout, called, frame)


def _label(name: str, layout: Layout, asked: Asked) -> int | None:
    """The column that was named as labels; "none" says that there is none."""
    if asked.row is None or asked.row.lower() == "none":
        return None
    return place_of(name, layout, asked.row, "--row")


def _double() -> Any:
    import narwhals as nw

    return nw.Float64
