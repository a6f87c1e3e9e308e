"""impute: the holes of a wide table filled, everything else as it was written."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import NuclearNormImputer
from ..hooks import Hooks
from ..places.numpy import Array
from ..stop import Stop
from ..tables.given import given, name_of
from ..tables.layout import MISSING
from . import settings
from .aside import file_aside, refuse_file
from .out import csv_text, put, put_json
from .sheet import Sheet, read_frame_sheet, read_sheet
from .talk import StatusLine, number, say


def impute(file: Path, out: Path | None, said: dict[str, Any], quiet: bool, as_json: bool) -> None:
    """Read, fill, write; the certificate and what was done are said, or written as JSON if ``out`` takes the table."""
    if as_json and out is None:
        raise ValueError("--json needs --out for the table: standard output can hold only one of the two.")
    refuse_out(out, file)
    asked = settings.of_reading(said)
    began = time.perf_counter()
    with given(file, "a CSV, TSV or Parquet file", arrays=False) as read:

        def tell(guess: str) -> None:
            if not quiet:
                say(f"{guess.replace(str(read), name_of(file))}.")

        sheet = read_frame_sheet(read, asked) if _is_parquet(file) else read_sheet(read, asked, tell)
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
    counts = _empty(sheet)
    facts = {
        "rows": int(holes.shape[0]),
        "columns": int(holes.shape[1]),
        "filled": int((holes & ~np.isnan(filled)).sum()),
        "left_empty": int(np.isnan(filled).sum()) + sum(counts.values()),
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
        _left(sheet, [sheet.names[sheet.numeric[k]] for k in np.flatnonzero(~kept)], counts)
        for each in told:
            say(each)
        say(
            f"{facts['filled']:,} of {holes.size:,} numbers were missing and are filled, "
            f"{facts['left_empty']:,} are left empty; "
            f"radius {number(float(model.radius_))}, neighbours {facts['neighbors']}, rank {facts['rank']}."
        )
        if facts["certificate"]:
            say(str(facts["certificate"]))


def _empty(sheet: Sheet) -> dict[str, int]:
    """How many entries are missing in the columns that are left as they are."""
    others = {k: word for k, word in enumerate(sheet.names) if k not in sheet.numeric}
    found = {word: sum(line[k].strip().lower() in MISSING for line in sheet.fields) for k, word in others.items()}
    return {word: count for word, count in found.items() if count}


def _left(sheet: Sheet, empty: list[str], counts: dict[str, int]) -> None:
    """Say which columns are left as they are, and what is missing there."""
    words = [word for k, word in enumerate(sheet.names) if k not in sheet.numeric and word not in sheet.ids]
    for names, why in (
        (words, "being no numbers"),
        (sheet.ids, "being labels (--row none takes them as numbers)"),
        (empty, "having no value at all"),
    ):
        if names:
            say(f"Left as they are, {why}: {', '.join(map(repr, names[:10]))}{', …' * (len(names) > 10)}.")
    if counts:
        shown = ", ".join(f"{count:,} in {word!r}" for word, count in list(counts.items())[:10])
        say(f"Missing there, and left empty: {shown}.")


def _fitted(values: Array, asked: dict[str, Any], quiet: bool) -> tuple[NuclearNormImputer, list[str]]:
    """The imputer, and what it had to say."""
    settings.refuse_device(asked.get("device"))
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
    if out.is_file() and file.exists() and out.samefile(file):
        raise ValueError(f"{out} is the table itself, and would be replaced; name another file with --out.")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _write(out: Path | None, sheet: Sheet, holes: Array, filled: Array) -> None:
    if out is not None and _is_parquet(out):
        _write_parquet(out, sheet, filled)
        return
    for line, column in zip(*np.nonzero(holes & ~np.isnan(filled)), strict=True):
        text = f"{filled[line, column]:.6g}".replace(".", sheet.layout.digits.decimal)
        sheet.fields[line][sheet.numeric[column]] = text
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
