"""A file with features: what is known of every row, or of every column, a line a label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.input.features import Known, are_names, of_columns, read
from ..estimators.input.labels import Labels, objects
from .given import given
from .layout import MISSING, Asked, kinds_of, laid_out
from .records import Layout, numbered, of_width
from .table import as_text


def read_features(path: Path, asked: Asked, labels: Labels, side: str, called: str) -> tuple[Known, str]:
    """Features of the labels of one side, "row" or "column", ``called`` so in the data; and what was made of the file.

    The labels are in the column that is called as in the data, else in the one that has most of them.
    """
    with given(path, "a CSV, TSV or Parquet file with features", arrays=False) as file:
        if file.suffix.lower() in (".parquet", ".pq"):
            return _of_frame(path, file, side, called)
        layout = laid_out(file, asked)[1]
        lines = [
            [field.strip() for field in of_width(f"{path} line {number}", record, layout)]
            for _, number, record in numbered(file, asked.encoding, layout)
        ]
    if not layout.header:
        raise ValueError(f"{path}: --{side}-features needs a first line that names the columns.")
    if not lines:
        raise ValueError(f"{path}: a header and nothing below it.")
    place = _place(path, layout, lines, labels, side, called)
    columns, left = _columns(layout, lines, place)
    if not columns:
        raise ValueError(f"{path}: beside the labels in {layout.names[place]!r} no column holds numbers or categories.")
    ids = [line[place] for line in lines]
    own = labels.values.tolist()
    if own and not isinstance(own[0], str):  # the data came as numbers: the same labels as they are written
        written = {as_text(label): label for label in own}
        ids = [written.get(each, each) for each in ids]
    known = of_columns(objects(ids), columns, side)
    told = f"{path}: {len(columns)} features of {len(lines):,} {side}s, labels from column {layout.names[place]!r}"
    return known, told + (f"; left out, being names or dates: {', '.join(map(repr, left[:5]))}" if left else "")


def _place(path: Path, layout: Layout, lines: list[list[str]], labels: Labels, side: str, called: str) -> int:
    if called in layout.names:
        return layout.names.index(called)
    own = {as_text(label) for label in labels.values.tolist()}
    shares = [len(own & {line[k] for line in lines}) for k in range(len(layout.names))]
    if not max(shares):
        shown = ", ".join(repr(label) for label in sorted(own)[:3])
        raise ValueError(
            f"{path}: no column of it holds {side} labels such as {shown}; --{side}-features needs one, "
            f"called {called!r} as in the data."
        )
    return int(np.argmax(shares))


def _columns(layout: Layout, lines: list[list[str]], place: int) -> tuple[dict[str, Any], list[str]]:
    """Numbers (NaN where nothing is), or words (None where nothing is); and columns that hold neither."""
    out: dict[str, Any] = {}
    left, kinds = [], kinds_of(layout)
    for k, word in enumerate(layout.names):
        if k == place:
            continue
        cells = [None if line[k].lower() in MISSING else line[k] for line in lines]
        plain = [None if cell is None else layout.digits.plain(cell) for cell in cells]
        if all((cell is None) == (number is None) for cell, number in zip(cells, plain, strict=True)):
            out[word] = np.array([np.nan if number is None else float(number) for number in plain])
        elif kinds[k] == "time" or are_names(cells):
            left.append(word)
        else:
            out[word] = cells
    return out, left


def _of_frame(path: Path, file: Path, side: str, called: str) -> tuple[Known, str]:
    from .formats import read_frame

    frame = read_frame(file)
    if called not in frame.columns:
        raise ValueError(f"{path}: --{side}-features needs a column {called!r} with labels, as in the data.")
    known = read(frame, side, called)
    return known, f"{path}: {len(frame.columns) - 1} features of {len(frame):,} {side}s, labels from column {called!r}"
