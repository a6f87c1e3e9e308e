"""One way to read a table with holes, whatever file it comes in, and what is checked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..estimators.input import repeats
from ..estimators.input.labels import Labels
from ..estimators.input.times import of_pairs
from .given import ARRAYS, given, name_of
from .layout import Asked
from .table import Table


def read(path: Path, asked: Asked, fitted: bool = True, tell: Callable[[str], None] = lambda guess: None) -> Table:
    """Any file we know, by its ending; what cannot be fitted is refused in a sentence, unless it will not be.

    ``tell`` is told how the file is read as soon as that is decided, before anything else can go wrong.
    """
    repeats.refuse_word(asked.duplicates, "--duplicates")
    with given(path) as file:
        table = _checked_in_time(file, asked, fitted, lambda guess: tell(guess.replace(str(file), name_of(path))))
    return replace(table, guess=table.guess.replace(str(file), name_of(path)))


def _checked_in_time(file: Path, asked: Asked, fitted: bool, tell: Callable[[str], None]) -> Table:
    """The table, checked, with the times of its pairs where these were asked for."""
    table = _read(file, asked, tell)
    if asked.time is not None and table.values.size:
        from .times import ranks

        table = replace(table, when=of_pairs(table.observations(), ranks(file, asked, table)))
    return checked(table, asked, fitted)


def _read(path: Path, asked: Asked, tell: Callable[[str], None]) -> Table:
    from . import formats, text, wide

    endings = [ending.lower() for ending in path.suffixes]
    kind = next((ending for ending in reversed(endings) if ending not in (".gz", ".zip")), "")
    if kind in ARRAYS:
        table = formats.read_array(path, kind, asked)
        tell(table.guess)
        return table
    if kind in (".parquet", ".pq"):
        return formats.read_parquet(path, asked, tell)
    return (wide.read_wide if asked.matrix else text.read_long)(path, asked, tell)


def checked(table: Table, asked: Asked, fitted: bool = True) -> Table:
    """Nothing twice, nothing empty, something to learn."""
    if not table.values.size:
        raise ValueError(f"{table.name}: no value is there at all; nothing can be learned from it.")
    if not np.isfinite(table.values).all():
        place = int(np.argmin(np.isfinite(table.values)))
        raise ValueError(
            f"{table.name}: {table.locate(place)}: the value {table.values[place]} is not a finite number."
        )
    if not fitted:
        return table
    table = without_repeats(table, asked.duplicates)
    table = without_empty(table, asked.drop_empty)
    for labels, side in ((table.row_labels, "row"), (table.column_labels, "column")):
        if len(labels) == 1:
            raise ValueError(
                f"{table.name}: there is only one {side}, {_shown(labels, 0)}; nothing can be learned from a table "
                f"with one {side}. Are the right columns taken ({', '.join(map(repr, table.names))})?"
            )
    if table.values.min() == table.values.max():
        raise ValueError(
            f"{table.name}: every value is {table.values[0]:g}; from a constant table nothing can be learned, and "
            "every prediction would be that."
        )
    return table


def without_repeats(table: Table, duplicates: str) -> Table:
    """A pair that comes more than once, settled as asked."""

    def refusal(pair: str, found: repeats.Repeated) -> str:
        return (
            f"{table.name}: {table.locate(found.again)}: the pair {pair} was there already, at "
            f"{table.locate(found.first)} ({found.count} such in all); give --duplicates mean or --duplicates last to "
            "settle them (sum, first and all do other things)."
        )

    seen = repeats.named(table.observations(), (table.row_labels, table.column_labels), duplicates, refusal)
    if len(seen) == len(table):
        return table
    return replace(table, rows=seen.rows, cols=seen.cols, values=seen.values)


def without_empty(table: Table, drop: bool) -> Table:
    """A row or column without any value is refused, or left out if that was asked for."""
    counts = np.bincount(table.rows, minlength=table.shape[0]), np.bincount(table.cols, minlength=table.shape[1])
    for labels, count, side in ((table.row_labels, counts[0], "row"), (table.column_labels, counts[1], "column")):
        if not drop and not count.all():
            empty = np.flatnonzero(count == 0)
            raise ValueError(
                f"{table.name}: {side} {_shown(labels, empty[0])} has no value at all ({empty.size} such in all); give "
                "--drop-empty to leave out what is empty."
            )
    if counts[0].all() and counts[1].all():
        return table
    kept = counts[0] > 0, counts[1] > 0
    rows, cols = ((np.cumsum(one) - 1)[codes] for one, codes in zip(kept, (table.rows, table.cols), strict=True))
    row_labels, column_labels = (
        Labels(labels.values[one]) for one, labels in zip(kept, (table.row_labels, table.column_labels), strict=True)
    )
    return replace(table, rows=rows, cols=cols, row_labels=row_labels, column_labels=column_labels)


def _shown(labels: Labels, place: int) -> str:
    return repr(labels.values[place : place + 1].tolist()[0])
