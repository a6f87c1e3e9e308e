"""predict, recommend and info: what a model folder answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.completion import intervals, serving
from ..places.numpy import Array
from ..tables.layout import Asked
from ..tables.pairs import read_pairs
from ..tables.table import as_text, codes_of
from . import store
from .out import put_json, put_words
from .sharded import predicted_of, recommended_of, row_labels
from .talk import number, say
from .tell import as_texts, beside, heading, table, titles_of
from .testing import ranking_words, words


def predict(
    folder: Path,
    pairs: Path,
    out: Path | None,
    asked: Asked,
    names: Path | None,
    quiet: bool,
    as_json: bool,
    interval: float | None = None,
) -> None:
    """The lines of a file with a prediction behind each, and the ends of an interval if that was asked for."""
    stored = store.read(folder)
    model = stored.model
    level = None if interval is None else intervals.level_of(interval)
    found = read_pairs(pairs, asked, stored.names)
    if not quiet:
        say(f"{found.told}.")
    titles = titles_of(model, names, stored.names, quiet)
    first, second = found.first, found.second
    rows, cols, predicted = predicted_of(model, first, second)
    if (rows < 0).all() and (cols < 0).all():
        other = predicted_of(model, second, first)
        if ((other[0] >= 0) & (other[1] >= 0)).any():
            if asked.row is not None or asked.column is not None:
                raise ValueError(
                    f"{pairs}: no label is known as it was read, but they are the other way round; exchange --row and "
                    "--column."
                )
            first, second, (rows, cols, predicted) = second, first, other
            if not quiet:
                say("No label is known that way, but they are the other way round: so they were taken.")
    if not quiet:
        _unknown(rows, cols)
        if "no header" in found.told and rows[0] < 0 and cols[0] < 0 and len(rows) > 1:
            say("The first line was taken for a pair; if it names the columns, say --header.")
    numbers = [predicted, *(() if level is None else intervals.asked(model, rows, cols, level)[1:])]
    told = [each.tolist() if as_json else as_texts(each.tolist(), model.range_) for each in numbers]
    lines = [
        [*line, *beside(titles, row, column), *values]
        for line, row, column, *values in zip(found.lines, first, second, *told, strict=True)
    ]
    behind = ["prediction", "lower", "upper"][: len(numbers)]
    table(out, as_json, [*found.names, *heading(titles), *behind], lines, asked.decimal, len(numbers))


def _unknown(rows: Array, cols: Array) -> None:
    for codes, side in ((rows, "row"), (cols, "column")):
        count = int((codes < 0).sum())
        if count:
            say(f"{count:,} of {codes.size:,} pairs have a {side} label that the model does not know: intercepts only.")


def recommend(
    folder: Path,
    labels: list[str] | None,
    how: Ranked,
    out: Path | None,
    names: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """For these rows, or for all of them."""
    stored = store.read(folder)
    model = stored.model
    if labels is None:
        labels = [as_text(label) for label in row_labels(model)]
    added = serving.handicaps(model, _support(how.min_support))
    titles = titles_of(model, names, stored.names, quiet)
    places, answers = recommended_of(model, labels, how.n, how.exclude_seen, added)
    unknown = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if unknown and not quiet:
        meant = _meant(unknown[0], row_labels(model))
        say(f"The model does not know row {unknown[0]!r}{meant}: it gets the columns that are best on the whole.")
    lines = [
        [label, rank, column, *beside(titles, label, column), value]
        for label, found in zip(labels, answers, strict=True)
        for rank, (column, value) in enumerate(found, 1)
    ]
    row, column = stored.names
    _ranked(out, as_json, [row, "place", column, *heading(titles), "prediction"], lines, model.range_)


@dataclass(frozen=True)
class Ranked:
    """How columns are ranked."""

    n: int
    min_support: str
    exclude_seen: bool = True


def similar(
    folder: Path, labels: list[str], how: Ranked, out: Path | None, names: Path | None, quiet: bool, as_json: bool
) -> None:
    stored = store.read(folder)
    model = stored.model
    places = codes_of(model.column_labels_, labels)
    unknown = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if unknown:
        meant = _meant(unknown[0], model.column_labels_.values.tolist())
        raise ValueError(f"The model does not know column {unknown[0]!r}{meant}; nothing is known to be similar to it.")
    answers = model.similar(model.column_labels_.values[places], how.n, min_support=_support(how.min_support))
    titles = titles_of(model, names, stored.names, quiet, ("column",))
    lines = [
        [label, rank, column, *beside(titles, label, column), value]
        for label, found in zip(labels, answers, strict=True)
        for rank, (column, value) in enumerate(found, 1)
    ]
    _ranked(out, as_json, [stored.names[1], "place", "similar", *heading(titles), "cosine"], lines, (-1.0, 1.0))


def _ranked(
    out: Path | None, as_json: bool, names: list[str], lines: list[list[Any]], ends: tuple[float, float]
) -> None:
    """Numbers at the end of every line."""
    if not as_json:
        texts = as_texts([line[-1] for line in lines], ends)
        lines = [[*line[:-1], text] for line, text in zip(lines, texts, strict=True)]
    table(out, as_json, names, lines)


def _meant(label: str, known: list[Any]) -> str:
    """The label that is the same but for blanks around it and the case of letters, if there is one."""
    plain = label.strip().casefold()
    found = next((as_text(each) for each in known if as_text(each).strip().casefold() == plain), None)
    return "" if found is None else f" (is {found!r} meant?)"


def _support(word: str) -> Any:
    """A number of observations, or "auto"."""
    if word == "auto" or word.isdecimal():
        return word if word == "auto" else int(word)
    raise ValueError(f"--min-support must be auto or a whole number, got {word!r}.")


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
        ranking = ranking_words(document["test"], number)
        if ranking is not None:
            lines["ranking"] = ranking
    put_words("".join(f"{name:<12} {text}\n" for name, text in lines.items()))
    if not np.isfinite(model.certificate_.gap):
        say("Nothing is certified of this model.")
    if document["status"] == "interrupted":
        say(f"The fit was interrupted; `spectraplex resume {folder}` goes on.")
