"""JSON, and what Python prints: dictionaries of settings, lists of records, one dictionary a line."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from ..count_names import CHANNEL, COUNT, FREQUENCY, OUTCOME, SETTING, SHOTS
from .held import Asked, Tomogram, bits, channel, count, letters_of, settings_of, shots_by_setting, unnamed, unsaid

_LINE = re.compile(r"(?P<setting>[^{]*?)[\s:=,;]*(?P<held>(?:[A-Za-z_][\w.]*\()?\{.*\}\)?)\s*[,;]?")
_HELD = (*COUNT, *FREQUENCY, "data", "results")


def is_document(path: Path, text: str) -> bool:
    return path.suffix.lower() in (".json", ".jsonl") or text.lstrip()[:1] in ("{", "[") or _a_line(text) is not None


def _a_line(text: str) -> re.Match[str] | None:
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return _LINE.fullmatch(first.strip())


def from_document(path: Path, text: str, asked: Asked) -> Tomogram:
    if text.lstrip()[:1] in ("{", "[") or path.suffix.lower() == ".json":
        try:
            return _read(path, _parsed(path, text), asked)
        except _Other as error:
            if _a_line(text) is None:
                raise ValueError(str(error)) from None
    return _by_line(path, text, asked)


class _Other(ValueError):
    """The text is not one document."""


def _parsed(path: Path, text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = Counter(name for name, _ in pairs)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"{path}: {twice!r} comes twice in the same dictionary; add its counts up.")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        wrong = error
    except RecursionError:
        raise ValueError(f"{path}: the JSON is nested too deeply; settings with their counts are needed.") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # what is wrong gets a sentence here
            return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise _Other(f"{path} is not JSON ({wrong}).") from None


def _value(node: ast.expr) -> Any:
    """What Python prints, without running anything: Counter({'00': np.int64(3)}) is its dictionary."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _value(node.args[0])
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.List | ast.Tuple):
        each = [_value(one) for one in node.elts]
        return each if isinstance(node, ast.List) else tuple(each)
    return ast.literal_eval(node)


def _by_line(path: Path, text: str, asked: Asked) -> Tomogram:
    """One dictionary a line, perhaps behind its setting."""
    settings, held, places = [], [], []
    for i, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise ValueError(f"{path}: line {i} has no dictionary of outcomes and counts, as the first line has.")
        try:
            held.append(_parsed(path, found["held"]))
        except _Other:
            raise ValueError(f"{path}: line {i} has no dictionary that can be read.") from None
        settings.append(found["setting"].strip(" '\""))
        places.append(i)
    if not any(settings):
        return _read(path, held, asked)
    wrong = next((i for i, setting in zip(places, settings, strict=True) if letters_of(setting) is None), None)
    if wrong is not None:
        raise ValueError(f"{path}: line {wrong} does not begin with a setting such as XZY.")
    return _rows(path, settings, held, "one setting a line")


def _read(path: Path, document: Any, asked: Asked) -> Tomogram:
    """By the names that are in it: settings with their counts, columns, records, or counts alone."""
    if isinstance(document, dict):
        known = {str(name).strip().lower(): value for name, value in document.items()}
        if any(name in known for name in CHANNEL):
            raise channel(path)
        setting, held = _first(known, SETTING), _first(known, _HELD)
        if setting is not None and _first(known, OUTCOME) is not None:
            return _columns(path, known, asked)
        if isinstance(held, dict) and setting is None:
            return _rows(path, list(held), list(held.values()), "", _shots(path, list(held), known))
        if setting is not None and isinstance(held, dict):
            held = [held.get(one) for one in setting]
        if isinstance(setting, list) and isinstance(held, list):
            if len(setting) != len(held):
                raise ValueError(f"{path}: there are {len(setting)} settings, but counts of {len(held)}.")
            words = [_word(one) for one in setting]
            return _rows(path, words, held, "", _shots(path, words, known))
        if document and all(isinstance(each, dict | list) for each in document.values()) and setting is None:
            return _rows(path, [_word(one) for one in document], list(document.values()), "")
    if isinstance(document, list) and document:
        if all(isinstance(each, dict) and _first(_lower(each), SETTING) is not None for each in document):
            return _records(path, [_lower(each) for each in document], asked)
        if all(isinstance(each, dict | list) for each in document):
            words = _unnamed(path, document, asked)
            return unnamed(_rows(path, words, document, ""), words)
    raise ValueError(
        f"{path}: a dictionary of settings is needed, each with its counts: "
        '{"XZ": {"01": 12}} or {"XZ": [0, 12, 0, 0]}.'
    )


def _lower(record: dict[Any, Any]) -> dict[str, Any]:
    return {str(name).strip().lower(): value for name, value in record.items()}


def _first(known: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((known[name] for name in names if name in known), None)


def _word(setting: Any) -> str:
    return " ".join(map(str, setting)) if isinstance(setting, tuple | list) else str(setting)


def _shots(path: Path, settings: list[str], known: dict[str, Any]) -> dict[str, float] | None:
    """Said beside frequencies: one number, one a setting, or a dictionary."""
    shots = _first(known, SHOTS)
    if shots is None or _first(known, COUNT) is not None:
        return None
    if isinstance(shots, dict):
        return {_word(name): count(f"{path}: shots of {name!r}", str(each)) for name, each in shots.items()}
    each = shots if isinstance(shots, list) else [shots] * len(settings)
    if len(each) != len(settings):
        raise ValueError(f"{path}: there are {len(settings)} settings, but {len(each)} numbers of shots.")
    return {setting: count(f"{path}: shots", str(one)) for setting, one in zip(settings, each, strict=True)}


def _columns(path: Path, known: dict[str, Any], asked: Asked) -> Tomogram:
    """Columns of equal length, as lists or, from pandas, dictionaries."""
    columns = {name: list(each.values()) if isinstance(each, dict) else each for name, each in known.items()}
    lengths = {len(each) for each in columns.values() if isinstance(each, list)}
    if len(lengths) != 1:
        raise ValueError(f"{path}: setting, outcome and count must be lists of one length.")
    records = [
        {name: each[i] if isinstance(each, list) else each for name, each in columns.items()}
        for i in range(lengths.pop())
    ]
    return _records(path, records, asked)


def _records(path: Path, records: list[dict[str, Any]], asked: Asked) -> Tomogram:
    """A list with a dictionary for each setting, for each outcome of one, or for each shot."""
    if any(name in records[0] for name in CHANNEL):
        raise channel(path)
    words = [_word(_first(record, SETTING)) for record in records]
    if all(_first(record, OUTCOME) is None for record in records):
        held = [_first(record, _HELD) for record in records]
        beside = [_shots(path, [word], record) for word, record in zip(words, records, strict=True)]
        merged = None if None in beside else {name: each for one in beside for name, each in (one or {}).items()}
        return _rows(path, words, held, "", merged)
    outcomes = [_word(_first(record, OUTCOME)) for record in records]
    counts = [_first(record, COUNT + FREQUENCY) for record in records]
    if all(name in SETTING + OUTCOME for record in records for name in record):  # one shot each
        counts = [1] * len(records)
    frequencies = all(_first(record, COUNT) is None for record in records) and _first(records[0], FREQUENCY) is not None
    shots: list[Any] = [_first(record, SHOTS) for record in records]
    if frequencies and None in shots and asked.shots is None:
        raise unsaid(path, next(name for name in FREQUENCY if name in records[0]))
    where = lambda i: f"{path}: entry {i + 1}"  # noqa: E731
    numbers = [count(where(i), str(each)) for i, each in enumerate(counts)]
    told = f"{path.name}: {len(records):,} records"
    each = None
    if frequencies and None not in shots:
        each = shots_by_setting(path, words, [count(where(i), str(one)) for i, one in enumerate(shots)])
    return Tomogram(words, outcomes, numbers, where, told, each)


def _unnamed(path: Path, rows: list[Any], asked: Asked) -> list[str]:
    """The settings of rows of counts that do not name any."""
    texts = {str(name) for row in rows if isinstance(row, dict) for name in row}
    bare = [text for text in texts if set(text) <= {"0", "1"}]
    if len(bare) == len(texts) and texts:
        width = 2 ** max(map(len, texts))
    elif texts and all(text.isascii() and text.isdigit() for text in texts):
        width = 2 ** max(int(text) for text in texts).bit_length()
    else:
        width = max((len(row) for row in rows), default=0)
    return settings_of(path, asked, len(rows), width, "rows")


def _rows(
    path: Path, settings: list[str], held: list[Any], told: str, shots: dict[str, float] | None = None
) -> Tomogram:
    """Settings with their counts, dictionaries or lists of all outcomes."""
    out: tuple[list[str], list[str], list[float]] = [], [], []
    for setting, each in zip(settings, held, strict=True):
        if not isinstance(each, dict | list):
            raise ValueError(f"{path}: setting {setting!r} has no counts: a dictionary or a list is needed.")
        for outcome, one in each.items() if isinstance(each, dict) else _named(path, setting, each):
            out[0].append(setting)
            out[1].append(_word(outcome))
            out[2].append(count(f"{path}: setting {setting!r}, outcome {outcome!r}", str(one)))
    words = f"{path.name}: {told or 'JSON'}, {len(settings):,} settings"
    return Tomogram(*out, lambda i: str(path), words, shots)


def _named(path: Path, setting: str, counts: list[Any]) -> list[tuple[str, Any]]:
    """A list with the counts of all outcomes of a setting, 00…0 first."""
    qubits = len(letters_of(setting) or setting)
    if len(counts) != 2**qubits:
        raise ValueError(
            f"{path}: setting {setting!r} has {2**qubits} outcomes, but a list of {len(counts)} counts was given."
        )
    return list(zip(bits(qubits), counts, strict=True))
