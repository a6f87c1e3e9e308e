"""The records of a text file whose layout is known, with the lines they stand on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .digits import POINT, Digits
from .opened import Opening, text_of

#: What is most often wrong where a record cannot be read, or is of many lines.
UNCLOSED = " (is a quotation mark not closed?)"


@dataclass(frozen=True)
class Layout:
    """The guess, or what was asked for."""

    delimiter: str
    header: bool
    names: tuple[str, ...]  # of the columns; their positions, counted from one, where there is no header
    padded: bool  # a blank after every separator, which is no part of a label
    sample: tuple[tuple[str, ...], ...]  # the first lines below the header
    digits: Digits = POINT  # how numbers are written

    @property
    def words(self) -> str:
        """Such as 'separated by commas, with a header'."""
        marks = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "'|'", "::": "'::'", " ": "blanks"}
        mark = marks.get(self.delimiter, repr(self.delimiter))
        return f"separated by {mark}, {'with a' if self.header else 'no'} header{self.digits.words}"


def records(text: IO[str], layout: Layout) -> Any:
    """The records of a file, header included, as lists of fields; an empty line is an empty list."""
    if layout.delimiter == " ":
        return _Counted(str.split, text)
    if layout.delimiter == "::":
        return _Counted(lambda line: line.split("::") if (line := line.rstrip("\r\n")) else [], text)
    return csv.reader(text, delimiter=layout.delimiter, skipinitialspace=layout.padded)


class _Counted:
    """Lines split by a function, with the number of the last one, as ``csv.reader`` has it."""

    def __init__(self, split: Any, lines: IO[str]) -> None:
        self.split, self.lines, self.line_num = split, lines, 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> list[str]:
        self.line_num += 1
        fields: list[str] = self.split(next(self.lines))
        return fields


def numbered(path: Path, encoding: str | None, layout: Layout) -> Iterator[tuple[str, int, list[str]]]:
    """Name of the file, line, and record, for every one that is not empty; the header is left out."""
    with text_of(path, Opening(encoding)) as (name, text):
        for number, record in numbered_records(name, text, layout):
            yield name, number, record


def numbered_records(name: str, text: IO[str], layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Line and record of a file that is open, for every record that is not empty; the header is left out."""
    lines, header, before = records(text, layout), layout.header, 0
    try:
        for record in lines:
            number, before = before + 1, lines.line_num  # a record may span lines; its first one counts
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if header:
                header = False
                continue
            yield number, record
    except csv.Error as error:
        raise ValueError(f"{name} line {before + 1}: cannot be read ({error}){UNCLOSED}.") from None


def of_width(at: str, record: list[str], layout: Layout) -> list[str]:
    """A record with as many fields as the first line; separators at its end do not count."""
    width = len(layout.names)
    while len(record) > width and not record[-1].strip():
        record.pop()
    if len(record) != width:
        whole = layout.delimiter.join(record)
        hint = UNCLOSED if "\n" in whole or "\r" in whole else ""
        raise ValueError(f"{at}: {in_words(len(record))} where the first line has {width}: {whole[:60]!r}{hint}.")
    return record


def in_words(width: int) -> str:
    """So many columns."""
    return f"{width} column{'s' if width != 1 else ''}"
