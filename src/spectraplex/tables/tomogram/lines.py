"""A text file of counts as lines of fields: whatever separates them, with remarks and kets."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from .held import number

_REMARKS = ("#", "%", "//")
_KET = re.compile(r"\|([^|<>⟩\n]*)[>⟩]")
_TUPLE = re.compile(r"[(\[]([^()\[\]\n]*)[)\]]")


@dataclass(frozen=True)
class Lines:
    """The fields of every line that is neither empty nor a remark, and which line of the file that is.

    ``comma``: whether a comma can be a decimal one. ``remark``: the fields of the last remark before the first line.
    """

    path: Path
    records: list[list[str]]
    places: list[int]
    comma: bool
    remark: list[str]

    def where(self, i: int) -> str:
        return f"{self.path}: line {self.places[i]}"

    def after(self, first: int) -> Lines:
        return Lines(self.path, self.records[first:], self.places[first:], self.comma, [])

    def headed(self, names: list[str]) -> Lines:
        """With names of columns in front."""
        return Lines(self.path, [names, *self.records], [0, *self.places], self.comma, [])


def lines_of(path: Path, text: str) -> Lines:
    kept: list[tuple[int, str]] = []
    remark = ""
    for i, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if not bare or re.fullmatch(r'"?sep=.?"?', bare, re.IGNORECASE):
            continue
        if bare.startswith(_REMARKS):
            remark = remark if kept else bare.lstrip("#%/ \t")
            continue
        kept.append((i, _plain(line)))
    if not kept:
        raise ValueError(f"{path}: the file is empty.")
    mark = _mark([line for _, line in kept[:2]])
    records, places = [], []
    for i, fields in _split(path, kept, mark):
        records.append([field.strip() for field in fields])
        places.append(i)
    if all(len(record) > 1 and not record[-1] for record in records):  # every line ends with the separator
        records = [record[:-1] for record in records]
    head = [
        field.strip() for _, fields in _split(path, [(0, _plain(remark))], _mark([_plain(remark)])) for field in fields
    ]
    return Lines(path, records, places, mark != ",", head)


def _split(path: Path, kept: list[tuple[int, str]], mark: str) -> list[tuple[int, list[str]]]:
    if mark == " " and not any('"' in line for _, line in kept):
        return [(i, line.split()) for i, line in kept]
    found = []
    reader = csv.reader(io.StringIO("\n".join(line for _, line in kept)), delimiter=mark, skipinitialspace=True)
    try:
        for record in reader:
            found.append((kept[reader.line_num - 1][0], record))
    except csv.Error as error:
        raise ValueError(f"{path}: line {kept[reader.line_num - 1][0]} is no line of a table ({error}).") from None
    return found


def _mark(lines: list[str]) -> str:
    """What separates fields: the most frequent of the usual ones in the last of these lines (commas last, for they may
    be decimal), else blanks."""
    marked = [line for line in lines if any(mark in line for mark in ";\t|,")]
    if not marked:
        return " "
    mark = max(";\t|,", key=marked[-1].count)
    if mark == "," and _decimal(marked[-1]):
        return " "
    return mark


def _decimal(line: str) -> bool:
    """Whether all commas stand between digits, and there are blanks to separate the fields."""
    return len(re.findall(r"\d,\d", line)) == line.count(",") and len(line.split()) > line.count(",")


def _plain(line: str) -> str:
    """Kets and tuples without their marks: |01⟩ and (0, 1) are 01."""
    if "|" in line:
        line = _KET.sub(_joined, line)
    if "(" in line or "[" in line:
        line = _TUPLE.sub(_joined, line)
    return line


def _joined(found: re.Match[str]) -> str:
    pieces = [piece.strip(" '\"") for piece in re.split(r"[,\s]+", found[1].strip())]
    if all(len(piece) == 1 for piece in pieces):
        return "".join(pieces)
    if len(pieces) > 1 and all(number(piece) is not None for piece in pieces):
        return '"' + " ".join(pieces) + '"'
    return found[1] if found[0].startswith("|") else found[0]
