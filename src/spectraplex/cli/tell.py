"""Answers as tables: numbers with as many digits as are worth reading, titles beside ids, CSV or JSON."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..estimators.input.labels import Labels, objects
from ..tables.names import Names, read_names
from ..tables.table import as_text
from .out import csv_text, put, put_json
from .talk import say

_DIGITS = 6  # of the largest number


def as_texts(values: Sequence[float], ends: tuple[float, float]) -> list[str]:
    """Six digits of the largest value that was observed; all with the same number of decimals."""
    scale = max(abs(end) for end in ends)
    if not 1e-3 <= scale < 1e12:
        return [f"{value:.{_DIGITS}g}" for value in values]
    decimals = max(0, _DIGITS - 1 - math.floor(math.log10(scale)))
    return [f"{value:.{decimals}f}" for value in values]


def titles_of(
    model: Any, file: Path | None, names: Sequence[str], quiet: bool, sides: tuple[str, ...] = ("column", "row")
) -> Names | None:
    """The titles that a file has for the labels of a model, whose rows and columns the data call ``names``."""
    if file is None:
        return None
    sharded = "shards_" in vars(model)
    rows = model.row_labels_ if "row" in sides and not sharded else None
    return titles_for(file, (rows, model.column_labels_), names, quiet)


def titles_for(file: Path, labels: tuple[Labels | None, Labels], names: Sequence[str], quiet: bool) -> Names:
    """The same for labels of rows (or None) and of columns."""
    texts = {
        side: [as_text(label) for label in known.values.tolist()]
        for side, known in (("column", labels[1]), ("row", labels[0]))
        if known is not None
    }
    found = read_names(file, texts, {"row": names[0], "column": names[1]})
    if not quiet:
        say(f"{found.told}.")
    return found


def heading(titles: Names | None) -> list[str]:
    return [] if titles is None else ["title" if titles.side == "column" else "name"]


def beside(titles: Names | None, row: Any, column: Any) -> list[str]:
    """The title of a line, if there are titles."""
    return [] if titles is None else [titles.of(as_text(column if titles.side == "column" else row))]


def titled(model: Any, titles: Names, pairs: Any) -> tuple[Any, Any]:
    """A copy of a model for its report, and pairs of labels: ids replaced by titles; a title of several has its id."""
    side, more = titles.side, copy.copy(model)
    known: Labels = model.column_labels_ if side == "column" else model.row_labels_
    texts = [as_text(label) for label in known.values.tolist()]
    shown = [titles.of(text) or text for text in texts]
    often = {word for word in shown if shown.count(word) > 1} if len(set(shown)) < len(shown) else set()
    shown = [f"{word} ({text})" if word in often else word for word, text in zip(shown, texts, strict=True)]
    setattr(more, f"{side}_labels_", Labels.of(objects(list(shown))))
    if pairs is None:
        return more, None
    place = 1 if side == "column" else 0
    names = dict(zip(texts, shown, strict=True))
    pairs = pairs.copy()
    pairs[:, place] = [names.get(as_text(label), as_text(label)) for label in pairs[:, place].tolist()]
    return more, pairs


def table(
    out: Path | None,
    as_json: bool,
    names: list[str],
    lines: list[list[Any]],
    decimal: str | None = None,
    numbers: int = 1,
) -> None:
    """CSV with a header, or a JSON list of objects; to a file that is written aside, or to standard output.

    With a decimal comma the last fields, so many numbers, have one, and semicolons separate.
    """
    names = _distinct(names)
    if as_json:
        put_json([dict(zip(names, map(_plain, line), strict=True)) for line in lines], out)
        return
    comma = decimal in (",", "comma")
    texts = [["" if field is None else as_text(field) for field in line] for line in lines]
    if comma:
        texts = [[*line[:-numbers], *(each.replace(".", ",") for each in line[-numbers:])] for line in texts]
    put(csv_text([names, *texts], ";" if comma else ","), out)


def _distinct(names: list[str]) -> list[str]:
    """A name that a file has already gets a number."""
    out: list[str] = []
    for name in names:
        count = 2
        fresh = name
        while fresh in out:
            fresh, count = f"{name}_{count}", count + 1
        out.append(fresh)
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else as_text(value)
