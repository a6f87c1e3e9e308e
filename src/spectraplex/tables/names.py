"""A file with names of ids: for every film, book or customer a title that people can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .given import given
from .layout import Asked, kinds_of, laid_out, plain_names
from .records import Layout, numbered

_TITLES = ("title", "name", "titel", "titre", "titulo", "label", "description", "productname", "itemname", "movietitle")


@dataclass(frozen=True, eq=False)
class Names:
    """Titles of the columns of a model, or of its rows: text of a label → title."""

    side: str
    titles: dict[str, str]
    told: str

    def of(self, label: str) -> str:
        return self.titles.get(label, "")


def read_names(path: Path, labels: Mapping[str, Sequence[str]], called: Mapping[str, str]) -> Names:
    """Titles for the columns of a model; for its rows where no column is found, or the file calls its ids like them.

    ``labels`` and ``called`` are the labels of columns and rows, and what the data call them.
    """
    with given(path, "a CSV or TSV file with ids and titles", arrays=False) as file:
        if file.suffix.lower() in (".parquet", ".pq"):
            raise ValueError(f"{path}: --names reads text; write the ids and titles as CSV.")
        try:
            layout, lines = _lines(file, None)
        except ValueError as error:
            if "is not a text file in utf-8" not in str(error):
                raise
            layout, lines = _lines(file, "latin-1")  # such as MovieLens's u.item
    return _matched(path, layout, lines, labels, called)


def _lines(file: Path, encoding: str | None) -> tuple[Layout, list[list[str]]]:
    asked = Asked(encoding=encoding)
    layout = laid_out(file, asked)[1]
    lines = [record for _, _, record in numbered(file, encoding, layout)]
    if layout.header:  # or the first line is one like the others; then its id is known
        lines = [list(layout.names), *lines]
    if len(layout.names) < 2:
        raise ValueError(f"{file}: --names needs two columns, ids and titles, and there is one only.")
    return layout, lines


def _matched(
    path: Path, layout: Layout, lines: list[list[str]], labels: Mapping[str, Sequence[str]], called: Mapping[str, str]
) -> Names:
    best, found = 0.0, ("column", 0)
    named = [side for side in labels if layout.header and called.get(side) in layout.names]
    for side in named if len(named) == 1 else labels:
        held = set(labels[side])
        for place in range(len(layout.names)):
            ids = {line[place].strip() for line in lines if len(line) > place}
            share = len(held & ids) / max(1, len(held))
            if share > best:
                best, found = share, (side, place)
        if best:
            break  # columns come first
    if not best:
        shown = ", ".join(repr(label) for label in list(labels["column"])[:3])
        first = ", ".join(repr(field[:30]) for field in lines[-1][:3])
        raise ValueError(
            f"{path}: no id in it is a label of the model, whose columns are {shown}, …; its last line begins {first}."
        )
    side, place = found
    title = _title(layout, place)
    titles = {line[place].strip(): line[title].strip() for line in lines if len(line) > max(place, title)}
    mine = set(labels[side])
    titles = {label: word for label, word in titles.items() if label in mine and word}
    told = (
        f"{path}: titles of {len(titles):,} of {len(mine):,} {side}s, ids from column {place + 1}, titles from column"
    )
    return Names(side, titles, f"{told} {title + 1}")


def _title(layout: Layout, place: int) -> int:
    """By its header, or the first column of words, or the one beside the ids."""
    others = [k for k in range(len(layout.names)) if k != place]
    if layout.header:
        plain = plain_names(layout)
        called = next((plain.index(word) for word in _TITLES if word in plain and plain.index(word) != place), None)
        if called is not None:
            return called
    kinds = kinds_of(layout)
    words = [k for k in others if kinds[k] in ("text", "prose")]
    return (words or [k for k in others if k > place] or others)[0]
