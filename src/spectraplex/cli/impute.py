"""impute: the holes of a wide table filled, everything else as it was written."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import NuclearNormImputer
from ..hooks import Hooks
from ..places.numpy import Array
from ..stop import Stop
from ..tables.given import given
from ..tables.layout import ALMOST, MISSING, Asked, almost_number, is_number, laid_out, place_of
from ..tables.records import Layout, numbered
from ..tables.wide import padded
from . import settings
from .aside import file_aside, refuse_file
from .out import csv_text, put, put_json
from .talk import StatusLine, number, say


@dataclass(frozen=True, eq=False)
class Sheet:
    """A wide table: its fields as they are written, and its columns of numbers, NaN where nothing is."""

    name: str
    names: tuple[str, ...]
    fields: list[list[str]]
    numeric: list[int]
    values: Array
    layout: Layout
    frame: Any = None  # where it came as one


def impute(file: Path, out: Path | None, said: dict[str, Any], quiet: bool, as_json: bool) -> None:
    """Read, fill, write; the certificate and what was done are said, or written as JSON if ``out`` takes the table."""
    if as_json and out is None:
        raise ValueError("--json needs --out for the table: standard output can hold only one of the two.")
    refuse_out(out, file)
    asked = settings.of_reading(said)
    began = time.perf_counter()
    with given(file, "a CSV, TSV or Parquet file", arrays=False) as read:
        sheet = read_frame_sheet(read, asked) if _is_parquet(file) else read_sheet(read, asked)
    holes = np.isnan(sheet.values)
    kept = ~holes.all(axis=0)
    if not kept.all() and not asked.drop_empty:
        column = sheet.names[sheet.numeric[int(np.argmin(kept))]]
        raise ValueError(
            f"{sheet.name}: column {column!r} has no value at all ({int((~kept).sum())} such in all); give "
            "--drop-empty to leave such columns as they are."
        )
    if kept.sum() < 2 or sheet.values.shape[0] < 2:
        what = "rows" if sheet.values.shape[0] < 2 else "columns with numbers"
        raise ValueError(f"{sheet.name}: at least two {what} are needed to learn one from another.")
    seconds = {"reading": time.perf_counter() - began}
    began = time.perf_counter()
    model, told = _fitted(sheet.values[:, kept], settings.of_imputer(said), quiet)
    seconds["fitting"] = time.perf_counter() - began
    filled = sheet.values.copy()
    filled[:, kept] = model.completed_
    scores = model.path_["score"]
    facts = {
        "rows": int(holes.shape[0]),
        "columns": int(holes.shape[1]),
        "filled": int((holes & ~np.isnan(filled)).sum()),
        "radius": float(model.radius_),
        "neighbors": int(model.n_neighbors_),
        "rank": int(model.rank_),
        "held_out_score": float(scores.min()) if scores.size else None,
        "certificate": None if model.certificate_ is None else str(model.certificate_),
    }
    _write(out, sheet, holes, filled)
    if as_json:
        put_json(facts | {"out": str(out), "seconds": seconds})
    if not quiet:
        left = [word for k, word in enumerate(sheet.names) if k not in sheet.numeric]
        if left:
            say(f"Left as they are, being no numbers: {', '.join(map(repr, left[:10]))}{', …' * (len(left) > 10)}.")
        for each in told:
            say(each)
        say(
            f"{facts['filled']:,} of {holes.size:,} entries were empty and are filled; "
            f"radius {number(float(model.radius_))}, neighbours {facts['neighbors']}, rank {facts['rank']}."
        )
        if facts["certificate"]:
            say(str(facts["certificate"]))


def _fitted(values: Array, asked: dict[str, Any], quiet: bool) -> tuple[NuclearNormImputer, list[str]]:
    """The imputer, and what it had to say."""
    model = NuclearNormImputer(**asked)
    with StatusLine(quiet, "held-out RMSE") as progress, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        progress.begin("learning how the columns vary", Stop(), False)
        model._fit(values, None, Hooks(observers=(progress,), listener=progress))
    heard = [each for each in told if not issubclass(each.category, RuntimeWarning)]  # NumPy's own are no sentences
    return model, [str(each.message).removeprefix("NuclearNormImputer: ") for each in heard]


def refuse_out(out: Path | None, file: Path) -> None:
    """Before any work is done: a place where the table cannot be written, or not as what its name says."""
    if out is None:
        return
    if _is_parquet(out) and not _is_parquet(file):
        raise ValueError(f"{out}: a table from a text file is written as text; name a CSV file.")
    if not _is_parquet(out) and out.suffix.lower() not in ("", ".csv", ".tsv", ".txt", ".dat", ".data"):
        raise ValueError(f"{out}: the table can be written as CSV, or as Parquet where it came as that.")
    refuse_file(out)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def read_sheet(path: Path, asked: Asked) -> Sheet:
    """A text file; columns that hold words are left as they are, and a word among numbers is an error."""
    name, layout = laid_out(path, replace(asked, matrix=True))
    lines: list[int] = []
    fields: list[list[str]] = []
    for _, line, record in numbered(path, asked.encoding, layout):
        lines.append(line)
        fields.append(padded(name, line, record, layout))
    if not fields:
        raise ValueError(f"{name}: a header and nothing below it.")
    label = None if asked.row is None else place_of(name, layout, asked.row, "--row")
    numeric, columns = [], []
    for k, word in enumerate(layout.names):
        cells = [record[k] for record in fields]
        missing = [cell.strip().lower() in MISSING for cell in cells]
        words = [place for place, cell in enumerate(cells) if not missing[place] and not is_number(cell)]
        almost = bool(words) and all(almost_number(cells[place]) for place in words)
        if k == label or (words and not almost and 2 * len(words) >= len(cells) - sum(missing)):
            continue
        if words:
            what = f"{ALMOST}. If it is no number, but a label, say --row" if almost else "; a hole is empty or NA"
            raise ValueError(
                f"{name} line {lines[words[0]]}: {cells[words[0]][:60]!r} in column {word!r} is not a number{what}."
            )
        column = np.array([np.nan if gone else float(cell) for cell, gone in zip(cells, missing, strict=True)])
        if np.isinf(column).any():
            raise ValueError(f"{name} line {lines[int(np.argmax(np.isinf(column)))]}: column {word!r} is not finite.")
        numeric.append(k)
        columns.append(column)
    if not columns:
        raise ValueError(f"{name}: no column holds numbers; is --delimiter right?")
    return Sheet(name, layout.names, fields, numeric, np.column_stack(columns), layout)


def read_frame_sheet(path: Path, asked: Asked) -> Sheet:
    """A Parquet file: its columns of numbers, but for one that was named as labels."""
    from ..tables.formats import read_frame

    frame = read_frame(path)
    names = tuple(frame.columns)
    layout = Layout(",", True, names, False, ())
    label = None if asked.row is None else place_of(str(path), layout, asked.row, "--row")
    numeric = [k for k, word in enumerate(names) if k != label and frame.get_column(word).dtype.is_numeric()]
    if not numeric:
        raise ValueError(f"{path}: no column holds numbers.")
    columns = [np.asarray(frame.get_column(names[k]).cast(_double()).to_numpy(), float) for k in numeric]
    for k, column in zip(numeric, columns, strict=True):
        if np.isinf(column).any():
            raise ValueError(f"{path}: entry {int(np.argmax(np.isinf(column))) + 1} of {names[k]!r} is not finite.")
    texts = [["" if cell is None else str(cell) for cell in frame.get_column(word).to_list()] for word in names]
    fields = [list(record) for record in zip(*texts, strict=True)]
    return Sheet(str(path), names, fields, numeric, np.column_stack(columns), layout, frame)


def _double() -> Any:
    import narwhals as nw

    return nw.Float64


def _write(out: Path | None, sheet: Sheet, holes: Array, filled: Array) -> None:
    if out is not None and _is_parquet(out):
        _write_parquet(out, sheet, filled)
        return
    for line, column in zip(*np.nonzero(holes & ~np.isnan(filled)), strict=True):
        sheet.fields[line][sheet.numeric[column]] = f"{filled[line, column]:.10g}"
    delimiter = sheet.layout.delimiter if len(sheet.layout.delimiter) == 1 else "\t"
    header = [list(sheet.names)] if sheet.layout.header else []
    put(csv_text(header + sheet.fields, delimiter), out)


def _write_parquet(out: Path, sheet: Sheet, filled: Array) -> None:
    """The same table with its columns of numbers complete: whole numbers become real ones where a hole was."""
    import narwhals as nw

    frame = sheet.frame
    for place, k in enumerate(sheet.numeric):
        word = sheet.names[k]
        series = frame.get_column(word)
        holes = int(series.null_count()) or np.isnan(series.cast(nw.Float64).to_numpy()).any()
        if holes and not np.isnan(filled[:, place]).all():
            fresh = nw.new_series(word, filled[:, place], backend=frame.implementation)
            frame = frame.with_columns(fresh)
    with file_aside(out) as part:
        frame.write_parquet(part)
