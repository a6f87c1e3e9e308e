"""predict, recommend and info: what a model folder answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.completion import serving
from ..places.numpy import Array
from ..tables.given import given, name_of
from ..tables.layout import Asked
from ..tables.table import as_text, codes_of
from . import store
from .out import csv_text, put, put_json, put_words
from .talk import number, say
from .testing import words


def predict(folder: Path, pairs: Path, out: Path | None, asked: Asked, quiet: bool, as_json: bool) -> None:
    stored = store.read(folder)
    model = stored.model
    first, second, told = _pairs(pairs, asked, stored)
    rows, cols, predicted = _predicted(model, first, second)
    if not quiet:
        say(f"{told}.")
        _unknown(rows, cols)
        if "no header" in told and rows[0] < 0 and cols[0] < 0 and len(rows) > 1:
            say("The first line was taken for a pair; if it names the columns, say --header.")
    _table(out, as_json, [*stored.names, "prediction"], zip(first, second, predicted.tolist(), strict=True))


def _predicted(model: Any, first: Sequence[Any], second: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Places of rows (those of a shard count as known) and columns, and predictions; a shard knows its own rows."""
    cols = codes_of(model.column_labels_, second)
    if "shards_" not in vars(model):
        rows = codes_of(model.row_labels_, first)
        return rows, cols, serving.linked(model, serving.linear(model, rows, cols))
    rows, predicted = np.full(len(first), -1), np.empty(len(first))
    predicted[:] = serving.linked(model, model.offset_ + np.where(cols >= 0, model.column_intercepts_[cols], 0.0))
    for own, found in model.shards_.source.each(_of_shard, first, cols):
        rows[own], predicted[own] = 0, found
    return rows, cols, predicted


def _of_shard(model: Any, first: Sequence[Any], cols: Array) -> tuple[Array, Array]:
    rows = codes_of(model.row_labels_, first)
    own = np.nonzero(rows >= 0)[0]
    return own, serving.linked(model, serving.linear(model, rows[own], cols[own]))


def _row_labels(model: Any) -> list[Any]:
    """Of all rows, those of shards one after the other."""
    if "shards_" not in vars(model):
        return list(model.row_labels_.values.tolist())
    return [label for labels in model.shards_.source.each(_row_labels) for label in labels]


def _recommended(model: Any, labels: list[str], n: int, exclude_seen: bool, allow: Array) -> tuple[Array, list[Any]]:
    """Places of rows, and what each is recommended."""
    if "shards_" not in vars(model):
        places = codes_of(model.row_labels_, labels)
        return places, serving.recommend(model, places, n, exclude_seen, allow)
    places, answers, common = np.full(len(labels), -1), [None] * len(labels), None
    for known, found in model.shards_.source.each(_recommended, labels, n, exclude_seen, allow):
        for k, answer in enumerate(found):
            if known[k] >= 0:
                places[k], answers[k] = 0, answer
            else:
                common = answer
    return places, [common if answer is None else answer for answer in answers]


def _pairs(pairs: Path, asked: Asked, stored: store.Stored) -> tuple[Sequence[Any], Sequence[Any], str]:
    with given(pairs, "a CSV, TSV or Parquet file with pairs of labels", arrays=False) as file:
        first, second, told = _read_pairs(file, asked, stored)
    return first, second, told.replace(str(file), name_of(pairs))


def _read_pairs(pairs: Path, asked: Asked, stored: store.Stored) -> tuple[Sequence[Any], Sequence[Any], str]:
    from ..tables.text import read_pairs

    if pairs.suffix.lower() not in (".parquet", ".pq"):
        return read_pairs(pairs, asked, stored.names)
    from ..estimators.input.observations import frame_column
    from ..tables.formats import read_frame

    frame = read_frame(pairs)
    named = [
        wanted or (known if known in frame.columns else frame.columns[k])
        for k, (wanted, known) in enumerate(zip((asked.row, asked.column), stored.names, strict=True))
        if wanted or known in frame.columns or k < len(frame.columns)
    ]
    if len(named) < 2:
        raise ValueError(f"{pairs}: row and column labels are needed, and there is one column only.")
    first, second = (frame_column(frame, name).tolist() for name in named)
    return first, second, f"{pairs}: rows from {named[0]!r}, columns from {named[1]!r}"


def _unknown(rows: Array, cols: Array) -> None:
    for codes, side in ((rows, "row"), (cols, "column")):
        count = int((codes < 0).sum())
        if count:
            say(f"{count:,} of {codes.size:,} pairs have a {side} label that the model does not know: intercepts only.")


def recommend(
    folder: Path,
    labels: list[str] | None,
    n: int,
    exclude_seen: bool,
    min_support: str,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """For these rows, or for all of them."""
    stored = store.read(folder)
    model = stored.model
    if labels is None:
        labels = [as_text(label) for label in _row_labels(model)]
    allow = serving.allowed(model, _support(min_support), None, None)
    places, answers = _recommended(model, labels, n, exclude_seen, allow)
    unknown = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if unknown and not quiet:
        say(f"The model does not know row {unknown[0]!r}: it gets the columns that are best on the whole.")
    lines = (
        (label, rank, column, value)
        for label, found in zip(labels, answers, strict=True)
        for rank, (column, value) in enumerate(found, 1)
    )
    row, column = stored.names
    _table(out, as_json, [row, "place", column, "prediction"], lines)


def similar(folder: Path, labels: list[str], n: int, min_support: str, out: Path | None, as_json: bool) -> None:
    stored = store.read(folder)
    model = stored.model
    places = codes_of(model.column_labels_, labels)
    unknown = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if unknown:
        raise ValueError(f"The model does not know column {unknown[0]!r}; nothing is known to be similar to it.")
    allow = serving.allowed(model, _support(min_support), None, None)
    lines = (
        (label, rank, column, value)
        for label, found in zip(labels, serving.similar(model, places, n, allow), strict=True)
        for rank, (column, value) in enumerate(found, 1)
    )
    column = stored.names[1]
    _table(out, as_json, [column, "place", "similar", "cosine"], lines)


def _support(word: str) -> Any:
    """A number of observations, or "auto"."""
    if word == "auto" or word.isdecimal():
        return word if word == "auto" else int(word)
    raise ValueError(f"--min-support must be auto or a whole number, got {word!r}.")


def _table(out: Path | None, as_json: bool, names: list[str], lines: Iterable[Sequence[Any]]) -> None:
    """CSV with a header, or a JSON list of objects; to a file that is written aside, or to standard output."""
    if as_json:
        put_json([dict(zip(names, map(_plain, line), strict=True)) for line in lines], out)
        return
    texts = ([as_text(field) if not isinstance(field, float) else repr(field) for field in line] for line in lines)
    put(csv_text([names, *texts]), out)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else as_text(value)


def info(folder: Path, as_json: bool) -> None:
    stored = store.read(folder)
    model, document, data = stored.model, stored.document, stored.data
    if as_json:
        facts = {
            name: document.get(name)
            for name in ("test", "status", "created", "seconds", "data", "settings", "versions", "seed")
        }
        numbers = {
            "radius": model.radius_,
            "rank": model.rank_,
            "steps": model.n_iter_,
            "value": model.certificate_.value,
        }
        gap = model.certificate_.gap
        put_json(facts | numbers | {"gap": gap if math.isfinite(gap) else None, "certificate": document["certificate"]})
        return
    rows, columns = data["shape"]
    chosen = "given" if not model.path_["radius"].size else f"chosen among {model.path_['radius'].size}"
    lines = {
        "status": document["status"],
        "created": f"{document['created']} with spectraplex {document['versions'].get('spectraplex', '?')}",
        "data": f"{data['file']}: {data['observations']:,} values of {rows:,} rows and {columns:,} columns",
        "filled": f"{100 * data['observations'] / (rows * columns):.3g} % of the table",
        "labels": f"{stored.names[0]} × {stored.names[1]}",
        "radius": f"{number(model.radius_)} ({chosen})",
        "rank": f"{model.rank_}, largest singular values {', '.join(number(each) for each in model.s_[:3]) or 'none'}",
        "steps": str(model.n_iter_),
        "certificate": str(model.certificate_),
        "settings": ", ".join(f"{name}={value!r}" for name, value in document["settings"].items()),
        "files": "all there, checksums agree",
    }
    if document.get("test"):
        lines["test"] = words(document["test"], number)
    put_words("".join(f"{name:<12} {text}\n" for name, text in lines.items()))
    if not np.isfinite(model.certificate_.gap):
        say("Nothing is certified of this model.")
    if document["status"] == "interrupted":
        say(f"The fit was interrupted; `spectraplex resume {folder}` goes on.")
