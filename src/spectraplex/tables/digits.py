"""How numbers are written: with a decimal point or comma, and with or without marks between thousands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .roles import MISSING, is_number

_WORDS = {"comma": ",", "point": ".", "dot": ".", "apostrophe": "'", "blank": " ", "space": " ", "none": ""}
_ALIKE = {" ": " \u00a0\u202f\u2009", "'": "'\u2019"}  # marks that look the same


@dataclass(frozen=True)
class Digits:
    """The marks in numbers; ``thousands`` is empty where there are none."""

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        mark = f"[{re.escape(_ALIKE.get(self.thousands, self.thousands))}]" if self.thousands else "(?!)"
        whole = rf"(\d+|\d{{1,3}}({mark}\d{{3}})+)"
        point = re.escape(self.decimal)
        return re.compile(rf"[+-]?({whole}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?")

    def plain(self, field: str) -> str | None:
        """A text that ``float`` reads, or None where the field is no number."""
        if self == POINT:
            return field if is_number(field) else None
        field = field.strip()
        if not self._pattern.fullmatch(field):
            return None
        for mark in _ALIKE.get(self.thousands, self.thousands):
            field = field.replace(mark, "")
        return field.replace(self.decimal, ".")

    def plainly(self, fields: Sequence[str]) -> list[str]:
        """Fields with numbers as ``float`` reads them, and the others as they are."""
        if self == POINT:
            return list(fields)
        return [field if (found := self.plain(field)) is None else found for field in fields]

    @property
    def words(self) -> str:
        """Such as ', decimal commas'; nothing for the usual."""
        mark = {",": "commas", ".": "points"}
        decimal = "" if self.decimal == "." else f", decimal {mark.get(self.decimal, repr(self.decimal))}"
        return decimal + (f", thousands marked by {self.thousands!r}" if self.thousands else "")

    @property
    def aside(self) -> str:
        """For a message about a field that is no number."""
        return "" if self == POINT else f" (they are read with{self.words.removeprefix(',')})"


POINT = Digits()


def asked_for(decimal: str | None, thousands: str | None, sample: Sequence[Sequence[str]]) -> Digits:
    """As was said, or as the first lines show: marks are taken for what they are where they can be nothing else."""
    if decimal is None and thousands is None:
        return _shown_by(sample)
    between = _mark("--thousands", thousands, "")
    point = _mark("--decimal", decimal, "," if between == "." else ".")
    if point == between or not point:
        raise ValueError(
            f"--decimal {decimal or point!r} and --thousands {thousands!r} must be different marks; for 1.234,5 give "
            "--decimal , --thousands ."
        )
    return Digits(point, between)


def _mark(option: str, said: str | None, usual: str) -> str:
    if said is None:
        return usual
    mark = _WORDS.get(said.lower(), said)
    mark = next((plain for plain, alike in _ALIKE.items() if mark and mark in alike), mark)
    if len(mark) > 1 or mark.isalnum() or mark in ("+", "-", '"'):
        raise ValueError(f"{option} {said!r} must be one mark, or one of {', '.join(_WORDS)}.")
    return mark


def _shown_by(sample: Sequence[Sequence[str]]) -> Digits:
    """The marks that some column shows beyond doubt, unless another column speaks against them."""
    found: set[Digits] = set()
    points = False
    for place in range(max(map(len, sample), default=0)):
        column = [line[place].strip() for line in sample if len(line) > place]
        column = [field for field in column if field.lower() not in MISSING]
        points |= any(re.fullmatch(r"[+-]?\d*\.\d+", field) for field in column) and not _dotted(column)
        found |= {digits for digits in _CANDIDATES if column and _shows(digits, column)}
    if len(found) > 1:
        found -= {Digits(",")}  # 3,5 in one column and 1.234,5 in another
    (digits, *others) = found or {POINT}
    return POINT if others or (points and digits.decimal == ",") else digits


_CANDIDATES = (Digits(","), *(Digits(*marks) for marks in (",.", ".,", ".'", ",'", ", ", ". ")))


def _dotted(column: Sequence[str]) -> bool:
    """Whether points stand between thousands, since some number has a comma behind them."""
    return _shows(Digits(",", "."), column)


def _shows(digits: Digits, column: Sequence[str]) -> bool:
    """Whether all are numbers with these marks, and one of them can be nothing else."""
    if any(digits.plain(field) is None for field in column):
        return False
    if not digits.thousands:  # 1,234 may be a thousand
        return any("," in field and len(field.partition(",")[2]) != 3 for field in column)
    alike = _ALIKE.get(digits.thousands, digits.thousands)
    return any(digits.decimal in field and any(mark in field for mark in alike) for field in column)


_SIGNS = "$€£¥₹"  # of money
_ALMOST = re.compile(rf"[+-]?[{_SIGNS}]?\s?(\d+|\d{{1,3}}([ ,.'_\u2019\u00a0\u202f]\d{{3}})+)([.,]\d+)?\s?[%{_SIGNS}]?")
_ANSWERS = frozenset(("true", "false", "yes", "no", "t", "f", "y", "n"))


def almost_number(field: str) -> bool:
    """Whether people would read it as a number, and we do not: 3,5 or 1'000 or 50% or $5."""
    return not is_number(field) and _ALMOST.fullmatch(field.strip()) is not None


def remedy(field: str) -> str:
    """What to do about such, or about an answer that could be one; nothing for any other text."""
    field = field.strip()
    if field.lower() in _ANSWERS:
        return "; write 1 and 0"
    if not almost_number(field):
        return ""
    sign = next((mark for mark in field if mark in "%" + _SIGNS), None)
    if sign is not None:
        return f"; leave the mark {sign} away"
    tail = re.split(r"\d+", field.lstrip("+-"))
    marks = [mark for mark in tail if mark]
    if marks and marks[-1] == "," and (len(field.rpartition(",")[2]) != 3 or len(set(marks)) > 1):
        more = f" --thousands {_shown(marks[0])}" if len(set(marks)) > 1 else ""
        return f"; if it is one, give --decimal ,{more}"
    decimal = " --decimal ," if marks and marks[0] == "." else ""
    return f"; if its marks are between thousands, give --thousands {_shown(marks[0])}{decimal}" if marks else ""


def _shown(mark: str) -> str:
    return "blank" if mark.isspace() or mark in _ALIKE[" "] else "apostrophe" if mark in _ALIKE["'"] else mark
