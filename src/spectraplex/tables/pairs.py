"""A file with pairs of labels that a model is asked about; whatever else stands in it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..estimators.input.observations import frame_column
from .formats import read_frame
from .given import given, name_of
from .layout import Asked, laid_out, place_of, usual
from .records import in_words, numbered
from .wide import padded


@dataclass(frozen=True, eq=False)
class Pairs:
    """The lines of a file, the names of its columns, and which of them have labels of rows and of columns."""

    names: list[str]
    lines: list[list[Any]]
    where: tuple[int, int]
    told: str
    delimiter: str = ","

    @property
    def first(self) -> list[Any]:
        return [line[self.where[0]] for line in self.lines]

    @property
    def second(self) -> list[Any]:
        return [line[self.where[1]] for line in self.lines]


def read_pairs(path: Path, asked: Asked, named: tuple[str, str]) -> Pairs:
    """Any file with pairs; two columns of labels, those named as in the model if they are there, else the first two."""
    with given(path, "a CSV, TSV or Parquet file with pairs of labels", arrays=False) as file:
        frame = file.suffix.lower() in (".parquet", ".pq")
        found = (_of_frame if frame else _of_text)(file, asked, named)
    return replace(found, told=found.told.replace(str(file), name_of(path)))


def _of_text(path: Path, asked: Asked, named: tuple[str, str]) -> Pairs:
    """A first line is a header only if it says so: by a name of the model's, or one that is usual for a header."""
    name, layout = laid_out(path, asked)
    if asked.header is None:
        headed = laid_out(path, replace(asked, header=True))[1]
        says = set(named) & set(headed.names) or all(usual(word) for word in headed.names[:2])
        layout = headed if says else laid_out(path, replace(asked, header=False))[1]
    known = named if layout.header else ("", "")
    where = _where(name, list(layout.names), asked, known, lambda word, option: place_of(name, layout, word, option))
    lines: list[list[Any]] = []
    for _, number, record in numbered(path, asked.encoding, layout):
        if not any(field.strip() for field in record):
            continue
        if len(record) <= max(where):
            raise ValueError(f"{name} line {number}: {in_words(len(record))}; row and column labels are needed.")
        lines.append(padded(name, number, record, layout))
    if not lines:
        raise ValueError(f"{name}: no pair is there.")
    names = list(layout.names)
    if not layout.header:
        names[where[0]], names[where[1]] = named
    told = f"{name}: {layout.words}; rows from column {where[0] + 1}, columns from column {where[1] + 1}"
    return Pairs(names, lines, where, told, layout.delimiter)


def _of_frame(path: Path, asked: Asked, named: tuple[str, str]) -> Pairs:
    frame = read_frame(path)
    names = list(frame.columns)

    def find(word: str, option: str) -> int:
        if word not in names:
            raise ValueError(f"{path} has no column {word!r} ({option}); it has {', '.join(map(repr, names[:40]))}.")
        return names.index(word)

    chosen = [names[place] for place in _where(str(path), names, asked, named, find)]
    labels = {name: frame_column(frame, name).tolist() for name in chosen}
    columns = [labels.get(name) or frame.get_column(name).to_list() for name in names]
    told = f"{path}: rows from {chosen[0]!r}, columns from {chosen[1]!r}"
    lines = [list(line) for line in zip(*columns, strict=True)]
    return Pairs(names, lines, (names.index(chosen[0]), names.index(chosen[1])), told)


def _where(
    name: str, names: list[str], asked: Asked, named: tuple[str, str], find: Callable[[str, str], int]
) -> tuple[int, int]:
    """Places of the row and column labels: those asked for, then those named as in the model, then the first free."""
    places: dict[int, int] = {}
    for side, (word, option) in enumerate(((asked.row, "--row"), (asked.column, "--column"))):
        if word is not None:
            places[side] = find(word, option)
    for side in (0, 1):
        if side not in places and named[side] in names and names.index(named[side]) not in places.values():
            places[side] = names.index(named[side])
    for side in (0, 1):
        free = [place for place in range(len(names)) if place not in places.values()]
        if side not in places and not free:
            raise ValueError(f"{name}: row and column labels are needed, and there is one column only.")
        if side not in places:
            places[side] = free[0]
    if places[0] == places[1]:
        raise ValueError(f"{name}: --row and --column must name two different columns.")
    return places[0], places[1]
