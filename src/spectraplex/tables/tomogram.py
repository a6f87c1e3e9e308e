"""Files of counts: one line an outcome, one line a setting, or JSON; outcomes stay text, so that no zero is lost."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

_ROLES = (("setting", "settings", "basis"), ("outcome", "outcomes", "bits", "bitstring"), ("count", "counts", "n"))
_CHANNEL = ("preparation", "prep", "input", "input_state", "preparation_setting")


def read_tomogram(path: Path, encoding: str | None = None) -> tuple[list[str], list[str], list[float], str]:
    """Settings, outcomes and counts, one each, and how the file was read."""
    try:
        text = path.read_text(encoding=encoding or "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; give --encoding if it is, or write the counts as CSV.") from None
    except LookupError:
        raise ValueError(f"The encoding {encoding!r} is not known; utf-8 and latin-1 are.") from None
    if path.suffix.lower() == ".json":
        return _from_json(path, text)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise ValueError(f"{path}: the file is empty.")
    mark = max(",;\t|", key=lines[0].count)
    mark = mark if mark in lines[0] else " "
    records = [
        [field.strip() for field in record]
        for record in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark, skipinitialspace=True)
    ]
    head = [field.lower() for field in records[0]]
    if any(name in head for name in _CHANNEL):
        raise ValueError(
            f"{path}: there is a column of prepared states: these are data of a channel, and process tomography is not "
            "here yet."
        )
    places = [next((head.index(name) for name in names if name in head), None) for names in _ROLES]
    if None not in places:
        return _long(path, records[1:], [int(place or 0) for place in places], first=2)
    begun = set(head[0]) <= set("xyz")  # the first line is a setting already: no header
    if len(head) == 3 and begun and _number(records[0][2]) is not None:
        return _long(path, records, [0, 1, 2], first=1)
    if len(head) > 2 and not begun and all(name.isdigit() for name in head[1:]):
        return _wide(path, records)
    raise ValueError(
        f"{path}: columns named setting, outcome and count are needed (or one line a setting, with the outcomes as the "
        f"names of columns); the first line is {', '.join(map(repr, records[0][:6]))}."
    )


def _long(path: Path, records: list[list[str]], places: list[int], first: int) -> Any:
    settings, outcomes, counts = [], [], []
    for line, record in enumerate(records, start=first):
        if len(record) <= max(places):
            raise ValueError(f"{path}: line {line} has {len(record)} fields; setting, outcome and count are needed.")
        setting, outcome, count = (record[place] for place in places)
        settings.append(setting)
        outcomes.append(outcome)
        counts.append(_count(path, line, count))
    return settings, outcomes, counts, f"{path.name}: one outcome a line, {len(counts):,} of them"


def _wide(path: Path, records: list[list[str]]) -> Any:
    names = records[0][1:]
    settings, outcomes, counts = [], [], []
    for line, record in enumerate(records[1:], start=2):
        if len(record) != len(names) + 1:
            raise ValueError(f"{path}: line {line} has {len(record)} fields, the first line {len(names) + 1}.")
        for outcome, field in zip(names, record[1:], strict=True):
            settings.append(record[0])
            outcomes.append(outcome)
            counts.append(_count(path, line, field or "0"))
    return settings, outcomes, counts, f"{path.name}: one setting a line, {len(records) - 1:,} of them"


def _from_json(path: Path, text: str) -> Any:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON ({error}).") from None
    if not isinstance(document, dict) or not all(isinstance(each, dict) for each in document.values()):
        raise ValueError(f'{path}: a dictionary of settings is needed, each with its counts: {{"XZ": {{"01": 12}}}}.')
    rows = [(setting, outcome, count) for setting, each in document.items() for outcome, count in each.items()]
    counts = [_count(path, i + 1, str(row[2])) for i, row in enumerate(rows)]
    words = f"{path.name}: {len(document):,} settings, JSON"
    return [row[0] for row in rows], [row[1] for row in rows], counts, words


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _count(path: Path, line: int, text: str) -> float:
    number = _number(text)
    if number is None or not 0.0 <= number < float("inf"):
        raise ValueError(f"{path}: line {line}: the count {text!r} is not a number that is at least zero.")
    return number
