"""How a text file is laid out: which mark separates its columns, whether it has a header, which column is which."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from .digits import asked_for
from .opened import NOTHING, Opening, text_of
from .records import UNCLOSED, Layout, records
from .roles import AMOUNTS, MISSING, TIMES, eligible, is_number, kind, label_places, value_places

_MARKS = ("\t", ";", ",", "|")
_WORDS = {
    "tab": "\t",
    "comma": ",",
    "semicolon": ";",
    "colons": "::",
    "pipe": "|",
    "blanks": " ",
}
_SAMPLE = 20  # lines that the layout is guessed from
# headers that mean something, in lower case without blanks, '_' and '-'; those of rating files first
USERS = ("user", "userid", "uid", "u")
ITEMS = ("item", "itemid", "iid", "i", "movie", "movieid", "product", "productid", "book", "bookid")
RATINGS = ("rating", "ratings", "stars", "score")
_KNOWN = {
    "row": ("row", "rows", *USERS, "customer", "customerid", "person", "reader", "reviewerid"),
    "column": ("column", "columns", "col", *ITEMS, "isbn", "asin", "song", "songid", "film", "title"),
    "value": ("value", "values", *RATINGS, "overall", "y"),
}


@dataclass(frozen=True)
class Asked:
    """What a person said about a file; None is for us to guess."""

    row: str | None = None
    column: str | None = None
    value: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    matrix: bool = False
    duplicates: str = "error"
    drop_empty: bool = False
    decimal: str | None = None
    thousands: str | None = None
    time: str | None = None

    def over(self, earlier: dict[str, Any]) -> Asked:
        """This where something was said, else what was known earlier."""
        plain = Asked()
        known = {name: value for name, value in earlier.items() if name in asdict(plain)}
        said = {name: value for name, value in asdict(self).items() if value != getattr(plain, name)}
        return replace(plain, **(known | said))


def laid_out(path: Path, asked: Asked) -> tuple[str, Layout]:
    """The name of a file and its layout, from its first lines."""
    with text_of(path, Opening(asked.encoding)) as (name, text):
        return name, guessed(name, first_lines(text), asked)


def first_lines(text: IO[str]) -> list[str]:
    """As many as a layout is guessed from, empty ones among them."""
    return list(islice(text, 10 * _SAMPLE))


def guessed(name: str, beginning: Sequence[str], asked: Asked, empty: str = NOTHING) -> Layout:
    """The layout of a file that begins with these lines."""
    lines = [line for line in beginning if line.strip()][:_SAMPLE]
    if not lines:
        raise ValueError(f"{name} is empty; {empty}.")
    delimiter = _delimiter(lines, asked)
    bare = Layout(delimiter, False, (), False, ())
    padded = delimiter in _MARKS[1:] and _padded(lines[1:] or lines, delimiter)  # a header may be otherwise
    try:
        sample = _records(lines, replace(bare, padded=padded))
    except csv.Error as error:
        raise ValueError(f"{name}: cannot be read as a table ({error}){UNCLOSED}.") from None
    first = tuple(field.strip() for field in sample[0])
    digits = asked_for(asked.decimal, asked.thousands, sample[1:] or sample)
    header = _headed([tuple(digits.plainly(line)) for line in sample], asked)
    names = first if header else tuple(str(k) for k in range(1, len(first) + 1))
    return Layout(delimiter, header, names, padded, tuple(sample[1 if header else 0 :]), digits)


def _records(lines: Sequence[str], layout: Layout) -> list[tuple[str, ...]]:
    """The records of the first lines; not the last one where these end within quotes."""
    found = [tuple(fields) for fields in records(io.StringIO("".join(lines), newline=""), layout)]
    cut = len(found) > 1 and any(end in "".join(found[-1][-1:]) for end in "\r\n")
    return found[:-1] if cut else found


def _delimiter(lines: Sequence[str], asked: Asked) -> str:
    if asked.delimiter is not None:
        mark = _WORDS.get(asked.delimiter.lower(), asked.delimiter.replace("\\t", "\t"))
        if len(mark) != 1 and mark != "::":
            raise ValueError(
                f"--delimiter {asked.delimiter!r} must be one character, '::', or one of {', '.join(_WORDS)}."
            )
        return mark
    if all("::" in line for line in lines):
        return "::"
    best, most = " ", 0
    for mark in _MARKS:
        try:  # as records, not lines: what is within quotes separates nothing, be it a comma or the end of a line
            count = min(len(fields) for fields in _records(lines, Layout(mark, False, (), False, ()))) - 1
        except csv.Error:
            continue
        if count > most:
            best, most = mark, count
    if best == " " and not any(" " in line.strip() for line in lines):
        best = ","  # one column, whatever its mark would be
    return best


def _padded(lines: Sequence[str], delimiter: str) -> bool:
    after = [part for line in lines for part in line.rstrip("\r\n").split(delimiter)[1:]]
    return bool(after) and all(part.startswith(" ") for part in after)


def _headed(sample: list[tuple[str, ...]], asked: Asked) -> bool:
    if asked.header is not None:
        return asked.header
    first = [field.strip() for field in sample[0]]
    if not asked.matrix:
        return not any(is_number(field) for field in first)
    names = first[1:] or first
    if not all(is_number(field) or field.lower() in MISSING for field in names):
        return True
    # columns may be named by numbers; a corner that is empty or a word over lines that begin with numbers tells
    return not is_number(first[0]) and len(sample) > 1 and (not first[0] or is_number(sample[1][0].strip()))


def chosen(name: str, layout: Layout, asked: Asked) -> tuple[int, int, int]:
    """Places of the row, column and value columns, asked for or guessed."""
    places: dict[str, int] = {}
    when = None if asked.time is None else place_of(name, layout, asked.time, "--time")  # is nothing else
    for role in ("row", "column", "value"):
        wanted = getattr(asked, role)
        if wanted is not None:
            places[role] = place_of(name, layout, wanted, f"--{role}")
    plain = plain_names(layout)
    for role, words in _KNOWN.items():
        found = next((plain.index(word) for word in words if word in plain), None)
        if layout.header and role not in places and found is not None and found not in (when, *places.values()):
            places[role] = found
    open_ones = [k for k in range(len(plain)) if k not in (when, *places.values())]
    kinds = eligible(kinds_of(layout), open_ones, 3 - len(places))
    for role in ("value", "row", "column") if layout.header else ("row", "column", "value"):
        if role in places:
            continue
        free = [k for k in range(len(layout.names)) if k not in (when, *places.values())]
        wanted = sum(each not in places for each in ("row", "column"))
        if role == "value":
            likely = value_places(plain, kinds, _after_labels(kinds, free, wanted))
        else:
            likely = label_places(kinds, free, wanted)
        free = likely or free
        if not free:
            raise ValueError(
                f"{name}: no column is left for the {role}s; three are needed (row, column, value), and it has "
                f"{_listed(layout)}. For a wide table give --matrix."
            )
        places[role] = free[0]
    if when in places.values():
        role = next(role for role, place in places.items() if place == when)
        raise ValueError(
            f"{name}: --time names the column with {'values' if role == 'value' else f'{role} labels'}; name the "
            "column that says when values were observed."
        )
    if len(set(places.values())) < 3:
        raise ValueError(f"{name}: --row, --column and --value must name three different columns.")
    return places["row"], places["column"], places["value"]


def kinds_of(layout: Layout) -> list[str]:
    """What every column holds, from the first lines."""
    columns = ([line[k] for line in layout.sample if len(line) > k] for k in range(len(layout.names)))
    return [
        kind(word, layout.digits.plainly(column)) for word, column in zip(plain_names(layout), columns, strict=True)
    ]


def looks_wide(layout: Layout, asked: Asked) -> bool:
    """Whether it is rather a line for every row: many columns of numbers, no usual header, no label twice."""
    if asked.row or asked.column or asked.value or len(layout.names) < 4:
        return False
    names = plain_names(layout)[1:]
    columns = [[line[k] for line in layout.sample if len(line) > k] for k in range(1, len(layout.names))]
    holes = sum(any(field.strip().lower() in MISSING for field in column) for column in columns)
    if layout.header and any(usual(word) or (holes < 2 and word in TIMES + AMOUNTS) for word in names):
        return False
    first = [line[0] for line in layout.sample if line and line[0].strip().lower() not in MISSING]
    kinds = kinds_of(layout)
    if kinds[0] == "counter" and "text" in kinds:  # a number and a name of the line
        kinds.remove("text")
    numbers = len(kinds) > 3 and all(each in ("whole", "number", "") for each in kinds[1:])
    if not layout.header:
        return numbers and len(layout.names) > 4
    return numbers and len(first) > 1 and len(set(first)) == len(first)


def _after_labels(kinds: Sequence[str], free: list[int], wanted: int) -> list[int]:
    """What is left for the values once labels that are still to be found had their choice."""
    labels = label_places(kinds, free, wanted)[:wanted]
    return [k for k in free if k not in labels]


def usual(word: str) -> bool:
    """Whether a word is what headers usually say."""
    return any(_plain(word) in words for words in _KNOWN.values())


def plain_names(layout: Layout) -> list[str]:
    """The names of the columns in lower case, without blanks, '_' and '-'."""
    return [_plain(word) for word in layout.names]


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).lower()


def place_of(name: str, layout: Layout, wanted: str, option: str) -> int:
    """The place of a column that was asked for by its name, or by its position counted from one."""
    if layout.names.count(wanted) > 1:
        places = [str(k) for k, word in enumerate(layout.names, 1) if word == wanted]
        which = f"{option} {' or '.join(places)}"
        raise ValueError(f"{name}: {len(places)} columns are called {wanted!r}; say which by position: {which}.")
    if wanted in layout.names:
        return layout.names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(layout.names):
        return int(wanted) - 1
    raise ValueError(f"{name} has no column {wanted!r} ({option}); it has {_listed(layout)}.")


def name_of(layout: Layout, place: int) -> str:
    """What ``place_of`` finds this column by: its name, or its position where others have that name, too."""
    word = layout.names[place]
    return word if layout.names.count(word) == 1 else str(place + 1)


def how_read(layout: Layout, asked: Asked) -> dict[str, Any]:
    """How the text was understood, for a model's document and its report."""
    return {
        "delimiter": layout.delimiter,
        "header": layout.header,
        "encoding": asked.encoding,
        "decimal": layout.digits.decimal,
        "thousands": layout.digits.thousands,
        "drop_empty": asked.drop_empty,
    }


def _listed(layout: Layout) -> str:
    if not layout.names:
        return "no column at all"
    if not layout.header:
        return f"no header but {len(layout.names)} columns; say which by position, from 1"
    return ", ".join(repr(word) for word in layout.names[:40]) + (", …" if len(layout.names) > 40 else "")
