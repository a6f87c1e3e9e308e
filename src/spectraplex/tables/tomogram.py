"""Files of counts: one line an outcome, a setting or a shot, or JSON; outcomes stay text, so that no zero is lost."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

_ROLES = (("setting", "settings", "basis"), ("outcome", "outcomes", "bits", "bitstring"), ("count", "counts", "n"))
_CHANNEL = ("preparation", "prep", "prepared", "input", "input_state", "prepared_state", "preparation_setting")


@dataclass(frozen=True)
class Tomogram:
    """Settings, outcomes and counts, one each; where the i-th stands in the file, and how the file was read."""

    settings: list[str]
    outcomes: list[str]
    counts: list[float]
    where: Callable[[int], str]
    told: str


def read_tomogram(path: Path, encoding: str | None = None) -> Tomogram:
    """A file of counts."""
    try:
        text = path.read_text(encoding=encoding or "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; give --encoding if it is, or write the counts as CSV.") from None
    except LookupError:
        raise ValueError(f"The encoding {encoding!r} is not known; utf-8 and latin-1 are.") from None
    if path.suffix.lower() == ".json":
        return _from_json(path, text)
    records, places_of = _records(path, text)
    head = [field.lower() for field in records[0]]
    if any(name in head for name in _CHANNEL):
        raise ValueError(
            f"{path}: there is a column of prepared states: these are data of a channel, and process tomography is not "
            "here yet."
        )
    places = [next((head.index(name) for name in names if name in head), None) for names in _ROLES]
    if None not in places:
        return _long(path, records[1:], places_of[1:], [int(place or 0) for place in places])
    if None not in places[:2] and len(head) == 2:
        return _shots(path, records[1:], places_of[1:], [int(place or 0) for place in places[:2]])
    begun = set(head[0]) <= set("xyz")  # the first line is a setting already: no header
    if len(head) == 3 and begun and _number(records[0][2]) is not None:
        return _long(path, records, places_of, [0, 1, 2])
    if begun and len(head) == 1 + 2 ** len(head[0]):
        names = [format(outcome, f"0{len(head[0])}b") for outcome in range(len(head) - 1)]
        return _wide(path, names, records, places_of)
    if len(head) > 2 and not begun and all(name.isdigit() for name in head[1:]):
        return _wide(path, records[0][1:], records[1:], places_of[1:])
    raise ValueError(
        f"{path}: columns named setting, outcome and count are needed (or one line a setting, with the outcomes as the "
        f"names of columns, or without names and the counts of all outcomes); the first line is "
        f"{', '.join(map(repr, records[0][:6]))}."
    )


def _records(path: Path, text: str) -> tuple[list[list[str]], list[int]]:
    """The fields of every line that is neither empty nor a remark, and which line of the file that is."""
    kept = [
        (i, line)
        for i, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not kept:
        raise ValueError(f"{path}: the file is empty.")
    first = kept[0][1]
    mark = max(",;\t|", key=first.count)
    mark = mark if mark in first else " "
    found, lines = [], []
    reader = csv.reader(io.StringIO("\n".join(line for _, line in kept)), delimiter=mark, skipinitialspace=True)
    try:
        for record in reader:
            found.append([field.strip() for field in record])
            lines.append(kept[reader.line_num - 1][0])
    except csv.Error as error:
        raise ValueError(f"{path}: line {kept[reader.line_num - 1][0]} is no line of a table ({error}).") from None
    return found, lines


def _fields(path: Path, record: list[str], line: int, places: list[int], names: str) -> list[str]:
    """Those at some places. Words that come again are kept once: files have millions of lines and few words."""
    if len(record) <= max(places):
        raise ValueError(f"{path}: line {line} has {len(record)} fields; {names} are needed.")
    return [intern(record[place]) for place in places]


def _long(path: Path, records: list[list[str]], lines: list[int], places: list[int]) -> Tomogram:
    settings, outcomes, counts = [], [], []
    for line, record in zip(lines, records, strict=True):
        setting, outcome, count = _fields(path, record, line, places, "setting, outcome and count")
        settings.append(setting)
        outcomes.append(outcome)
        counts.append(_count(f"{path}: line {line}", count))
    told = f"{path.name}: one outcome a line, {len(counts):,} of them"
    return Tomogram(settings, outcomes, counts, lambda i: f"{path}: line {lines[i]}", told)


def _shots(path: Path, records: list[list[str]], lines: list[int], places: list[int]) -> Tomogram:
    """A table of settings and outcomes alone: every line is one shot."""
    found = [
        _fields(path, record, line, places, "setting and outcome") for line, record in zip(lines, records, strict=True)
    ]
    told = f"{path.name}: there is no column of counts, so every line is one shot, {len(found):,} of them"
    settings, outcomes = [each[0] for each in found], [each[1] for each in found]
    return Tomogram(settings, outcomes, [1.0] * len(found), lambda i: f"{path}: line {lines[i]}", told)


def _wide(path: Path, names: list[str], records: list[list[str]], lines: list[int]) -> Tomogram:
    """Every line has a setting and a count for each of these outcomes. A zero says nothing and is left out, but the
    first line names all outcomes, and a setting without shots is one."""
    settings, outcomes, counts, of = [], [], [], []
    for line, record in zip(lines, records, strict=True):
        if len(record) != len(names) + 1:
            raise ValueError(f"{path}: line {line} has {len(record)} fields, the first line {len(names) + 1}.")
        for place, (outcome, field) in enumerate(zip(names, record[1:], strict=True)):
            number = 0.0 if field in ("", "0") else _count(f"{path}: line {line}", field)
            if number or place == 0 or line == lines[0]:
                settings.append(record[0])
                outcomes.append(outcome)
                counts.append(number)
                of.append(line)
    told = f"{path.name}: one setting a line, {len(records):,} of them"
    return Tomogram(settings, outcomes, counts, lambda i: f"{path}: line {of[i]}", told)


def _from_json(path: Path, text: str) -> Tomogram:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = Counter(name for name, _ in pairs)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"{path}: {twice!r} comes twice in the same dictionary; add its counts up.")
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON ({error}).") from None
    except RecursionError:
        raise ValueError(f"{path}: the JSON is nested too deeply; settings with their counts are needed.") from None
    if not isinstance(document, dict) or not all(isinstance(each, dict | list) for each in document.values()):
        raise ValueError(
            f"{path}: a dictionary of settings is needed, each with its counts: "
            '{"XZ": {"01": 12}} or {"XZ": [0, 12, 0, 0]}.'
        )
    rows = [
        (setting, outcome, _count(f"{path}: setting {setting!r}, outcome {outcome!r}", str(count)))
        for setting, each in document.items()
        for outcome, count in (each.items() if isinstance(each, dict) else _named(path, setting, each))
    ]
    words = f"{path.name}: {len(document):,} settings, JSON"
    settings, outcomes, counts = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    return Tomogram(settings, outcomes, counts, lambda i: str(path), words)


def _named(path: Path, setting: str, counts: list[Any]) -> list[tuple[str, Any]]:
    """A list with the counts of all outcomes of a setting, 00…0 first."""
    qubits = len(setting.split()) if " " in setting.strip() else len(setting.strip())
    if len(counts) != 2**qubits:
        raise ValueError(
            f"{path}: setting {setting!r} has {2**qubits} outcomes, but a list of {len(counts)} counts was given."
        )
    return [(format(outcome, f"0{qubits}b"), count) for outcome, count in enumerate(counts)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _count(where: str, text: str) -> float:
    number = _number(text)
    if number is None or not 0.0 <= number < float("inf"):
        raise ValueError(f"{where}: the count {text!r} is not a number that is at least zero.")
    return number
