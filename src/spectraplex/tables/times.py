"""The times of observations, from a column of the file that they stand in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..estimators.input.observations import frame_column
from ..estimators.input.times import ranked
from ..places.numpy import Array
from .given import ARRAYS
from .layout import MISSING, Asked, chosen, laid_out, place_of
from .records import numbered, of_width
from .table import Table


def ranks(path: Path, asked: Asked, table: Table) -> Array:
    """The rank of the time of every observation, in the order of the file."""
    assert asked.time is not None
    endings = [ending.lower() for ending in path.suffixes]
    if asked.matrix or any(ending in ARRAYS for ending in endings):
        raise ValueError(f"{path}: --time names a column of a file with one observation a line, and this is a matrix.")
    if endings and endings[-1] in (".parquet", ".pq"):
        times = _of_frame(path, asked, table)
    else:
        times = _of_text(path, asked)
    return ranked(times, len(table), f"--time {asked.time}", str(path))


def _of_text(path: Path, asked: Asked) -> list[str]:
    """A second way through the file: the first one reads what every file has."""
    name, layout = laid_out(path, asked)
    value, place = chosen(name, layout, asked)[2], place_of(name, layout, asked.time or "", "--time")
    out = []
    for _, number, record in numbered(path, asked.encoding, layout):
        fields = of_width(f"{name} line {number}", record, layout)
        if not (asked.drop_empty and fields[value].strip().lower() in MISSING):
            out.append(fields[place].strip())
    return out


def _of_frame(path: Path, asked: Asked, table: Table) -> Any:
    from .formats import read_frame, with_values

    if asked.time in table.names:
        raise ValueError(
            f"{path}: --time names {asked.time!r}, a column with labels or values; name the column that says when "
            "values were observed."
        )
    frame = with_values(read_frame(path), table.names[2], asked)[0]
    return frame_column(frame, asked.time)
