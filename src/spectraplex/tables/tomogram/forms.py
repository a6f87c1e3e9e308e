"""The forms that a table of counts has: one line an outcome, a shot or a setting, with names of columns or without."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from sys import intern

from ..count_names import CHANNEL, COUNT, FREQUENCY, OUTCOME, SETTING, SHOTS
from .held import (
    NEEDED,
    Asked,
    Tomogram,
    bits,
    channel,
    count,
    from_table,
    is_setting,
    letters_of,
    number,
    qubits_of,
    settings_of,
    shots_by_setting,
    unnamed,
    unsaid,
)
from .lines import Lines

_SIGNS = r"[01]+|\d+|[+\-−]+|[↑↓]+|[udUD]+|[SDsd]+|[bdBD]+|[geGE]+|[HVhv]+|(?:[+-]1\s*)+"
_BEFORE = r"(?:p|prob|probability|n|c|counts?|f|freq|frequency)"


def from_lines(lines: Lines, asked: Asked) -> Tomogram:
    """A table with names of columns, with names in its last remark, with none, or with a line that says nothing."""
    tries: list[Callable[[], Tomogram | None]] = [lambda: _named(lines, asked)]
    if len(lines.remark) == len(lines.records[0]):
        tries.append(lambda: _named(lines.headed(lines.remark), asked))
    tries.append(lambda: _nameless(lines, asked))
    if len(lines.records) > 1 and _says_nothing(lines.records[0]):
        tries.append(lambda: _without_first(_nameless(lines.after(1), asked)))
    for attempt in tries:
        found = attempt()
        if found is not None:
            return found
    raise ValueError(
        f"{lines.path}: {NEEDED} (or one line a setting, with the outcomes as the names of columns, or without names "
        f"and the counts of all outcomes); the first line is {', '.join(map(repr, lines.records[0][:6]))}."
    )


def _says_nothing(record: list[str]) -> bool:
    """Whether a line has no numbers and no setting: a title, or names that are not known."""
    return not any(re.search(r"\d[.,]?\d*$", field) for field in record) and not is_setting(record[0])


def _without_first(found: Tomogram | None) -> Tomogram | None:
    return None if found is None else replace(found, told=f"{found.told}; the first line was left out")


def outcome_of(name: str, signs: str | None) -> str | None:
    """The outcome that a column is named after: 00, SD, p(00), n_01, P|SD>; None where it is no such name."""
    own = _SIGNS if signs is None else f"{_SIGNS}|[{re.escape(signs)}]+"
    plain = name.strip().strip("|<>⟨⟩()[]{}").strip()
    if re.fullmatch(own, plain):
        return plain
    found = re.fullmatch(rf"{_BEFORE}(?:[\s_({{\[|]+|(?=\d))({own})[>⟩)\]}}\s]*", name.strip(), re.IGNORECASE)
    return None if found is None else found[1]


@dataclass(frozen=True)
class _Places:
    """Which columns have what."""

    setting: list[int]
    outcome: list[int]
    value: int | None
    shots: int | None


def _places(head: list[str]) -> _Places:
    def one(names: tuple[str, ...]) -> int | None:
        return next((head.index(name) for name in names if name in head), None)

    def several(names: tuple[str, ...]) -> list[int]:
        """The column of that name, or those of it with numbers: basis_0, basis_1."""
        alone = one(names)
        if alone is not None:
            return [alone]
        return [i for i, name in enumerate(head) if re.fullmatch(rf"(?:{'|'.join(names)})[ _]?\d+", name)]

    value, shots = one(COUNT + FREQUENCY), one(SHOTS)
    setting, outcome = several(SETTING), several(OUTCOME)
    if value is None and len(head) == len(setting) + len(outcome) + 1:  # nothing else could be the counts
        value, shots = shots, None
    return _Places(setting, outcome, value, shots)


def _named(lines: Lines, asked: Asked) -> Tomogram | None:
    """A table whose first line names its columns."""
    head = [field.lower() for field in lines.records[0]]
    if any(name in head for name in CHANNEL):
        raise channel(lines.path)
    found = _places(head)
    if found.setting and found.outcome and found.value is not None:
        name = head[found.value]
        frequencies = name in FREQUENCY
        if frequencies and found.shots is None and asked.shots is None:
            raise unsaid(lines.path, name)
        return _long(lines.after(1), found, "setting, outcome and count", frequencies)
    if found.setting and found.outcome and len(head) == len(found.setting) + len(found.outcome):
        return _long(lines.after(1), found, "setting and outcome")
    if len(head) < 3 or is_setting(head[0]) or all(number(field, lines.comma) is not None for field in head):
        return None
    return _wide(lines, asked, found) or _turned(lines, asked)


def _long(lines: Lines, at: _Places, names: str, frequencies: bool = False) -> Tomogram:
    """One line an outcome; or, where there is no column of counts, one line a shot."""
    most = max([*at.setting, *at.outcome, at.value or 0, (at.shots or 0) if frequencies else 0])
    settings, outcomes, counts, shots = [], [], [], []
    for i, record in enumerate(lines.records):
        if len(record) <= most:
            raise ValueError(f"{lines.where(i)} has {len(record)} fields; {names} are needed.")
        # words that come again are kept once: files have millions of lines and few words
        settings.append(intern(_joined(record, at.setting)))
        outcomes.append(intern(_joined(record, at.outcome)))
        counts.append(1.0 if at.value is None else count(lines.where(i), record[at.value], lines.comma))
        if frequencies and at.shots is not None:
            shots.append(count(lines.where(i), record[at.shots], lines.comma))
    told = f"{lines.path.name}: one outcome a line, {len(counts):,} of them"
    if at.value is None:
        told = f"{lines.path.name}: there is no column of counts, so every line is one shot, {len(counts):,} of them"
    each = shots_by_setting(lines.path, settings, shots) if shots else None
    return Tomogram(settings, outcomes, counts, lines.where, told, each)


def _joined(record: list[str], places: list[int]) -> str:
    if len(places) == 1:
        return record[places[0]]
    fields = [record[place] for place in places]
    return ("" if all(len(field) == 1 for field in fields) else " ").join(fields)


def _wide(lines: Lines, asked: Asked, at: _Places) -> Tomogram | None:
    """One line a setting, outcomes as the names of columns; other columns are left alone."""
    head, body = lines.records[0], lines.after(1)
    outcomes = {i: outcome_of(name, asked.outcomes) for i, name in enumerate(head)}
    places = [i for i, name in outcomes.items() if name is not None and i not in at.setting]
    if len(places) < 2 or not body.records:
        return None
    first = body.records[0]
    setting = at.setting
    if not setting:
        before = [i for i in range(places[0]) if i < len(first)]
        setting = [i for i in before if is_setting(first[i])] or [i for i in before if letters_of(first[i])]
        setting = setting if len(setting) == 1 or all(len(first[i]) == 1 for i in setting) else setting[:1]
    other = [name for i, name in enumerate(head) if i not in (*places, *setting, at.shots)]
    width = (
        2 ** len(letters_of(_joined(first, setting)) or "") if setting and max(setting) < len(first) else len(places)
    )
    if other and len(places) != width:
        raise ValueError(
            f"{lines.path}: the first line names {len(places)} of {width} outcomes, and {other[0]!r} is none that is "
            "known; name all of them, such as 00, 01, …; --outcomes DS says that D is 0 and S is 1."
        )
    for i, record in enumerate(body.records):
        if len(record) != len(head):
            raise ValueError(f"{body.where(i)} has {len(record)} fields, the first line {len(head)}.")
    names = [str(outcomes[i]) for i in places]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{lines.path}: two columns are named after the outcome {twice!r}; one is needed.")
    each = None
    if at.shots is not None:
        each = [count(body.where(i), record[at.shots], lines.comma) for i, record in enumerate(body.records)]
    rows = [[record[i] for i in places] for record in body.records]
    if setting:
        return _tabled(body, [_joined(record, setting) for record in body.records], names, rows, each)
    words = settings_of(lines.path, asked, len(rows), len(names), "lines")
    return unnamed(_tabled(body, words, names, rows, each), words)


def _turned(lines: Lines, asked: Asked) -> Tomogram | None:
    """One column a setting, one line an outcome."""
    head, body = lines.records[0], lines.after(1)
    outcomes = [outcome_of(record[0], asked.outcomes) for record in body.records]
    if not all(is_setting(name) for name in head[1:]) or not outcomes or None in outcomes:
        return None
    for i, record in enumerate(body.records):
        if len(record) != len(head):
            raise ValueError(f"{body.where(i)} has {len(record)} fields, the first line {len(head)}.")
    rows = [list(column) for column in zip(*(record[1:] for record in body.records), strict=True)]
    told = f"{lines.path.name}: one outcome a line, one setting a column, {len(rows):,} of them"
    names = [str(name) for name in outcomes]
    where = lambda i: f"{lines.path}: column {head[i + 1]!r}"  # noqa: E731
    return from_table(lines.path, head[1:], names, rows, where, told, comma=lines.comma)


def _nameless(lines: Lines, asked: Asked) -> Tomogram | None:
    """A table without names of columns."""
    fields = lines.records[0]
    numeric = [number(field, lines.comma) is not None for field in fields]
    for k in range(1, len(fields)):
        word = letters_of(" ".join(fields[:k]))
        if word is None:
            break
        if k > 1 and len(word) != k:
            continue
        found = _begun(lines, k, len(word), asked, digits=word.isdigit())
        if found is not None:
            return found
    if not all(numeric):
        return None
    rows = lines.records
    if 1 in (len(rows), len(fields)):  # all in one line or column
        flat = [field for record in rows for field in record]
        qubits = next((n for n in range(1, 14) if 6**n == len(flat)), None)
        if qubits is not None:
            rows = [flat[i : i + 2**qubits] for i in range(0, len(flat), 2**qubits)]
            lines = Lines(lines.path, rows, [lines.places[0]] * len(rows), lines.comma, [])
    if qubits_of(len(rows[0])) is None:
        return None
    _even(lines)
    words = settings_of(lines.path, asked, len(rows), len(rows[0]), "lines")
    return unnamed(_tabled(lines, words, bits(len(rows[0]).bit_length() - 1), rows), words)


def _begun(lines: Lines, k: int, n: int, asked: Asked, digits: bool) -> Tomogram | None:
    """Lines that begin with a setting in k fields, of n letters; ``digits``: it could be a number, too."""
    rest, here = lines.records[0][k:], list(range(k))
    numeric = [number(field, lines.comma) is not None for field in rest]
    if not rest or (digits and not all(numeric)):
        return None
    # of one qubit, X 0 12 is an outcome with its count, X 3 12 are the counts of both
    seconds = {record[k] for record in lines.records if len(record) > k}
    if len(rest) == 2**n and all(numeric) and (n > 1 or not seconds <= {"0", "1"}):
        _even(lines)
        words = [_joined(record, here) for record in lines.records]
        return _tabled(lines, words, bits(n), [record[k:] for record in lines.records])
    if len(rest) == 2 and numeric[1] and (len(rest[0]) == n or not (digits or k > 1)):
        return _long(lines, _Places(here, [k], k + 1, None), "setting, outcome and count")
    signs = [_is_sign(field, asked) for field in rest]
    if not digits and len(rest) == n + 1 and n > 1 and numeric[-1] and all(signs[:-1]):
        return _long(lines, _Places(here, list(range(k, k + n)), k + n, None), "setting, outcome and count")
    if not digits and len(rest) == 1 and len(rest[0]) == n and outcome_of(rest[0], asked.outcomes):
        return _long(lines, _Places(here, [k], None, None), "setting and outcome")
    if not digits and len(rest) == n > 1 and all(signs):
        return _long(lines, _Places(here, list(range(k, k + n)), None, None), "setting and outcome")
    return None


def _is_sign(field: str, asked: Asked) -> bool:
    """Whether a field is the outcome of one qubit."""
    return len(field) == 1 and field not in "23456789" and outcome_of(field, asked.outcomes) is not None


def _even(lines: Lines) -> None:
    """Every line has as many fields as the first."""
    for i, record in enumerate(lines.records):
        if len(record) != len(lines.records[0]):
            raise ValueError(f"{lines.where(i)} has {len(record)} fields, the first line {len(lines.records[0])}.")


def _tabled(
    lines: Lines, settings: list[str], outcomes: list[str], rows: list[list[str]], shots: list[float] | None = None
) -> Tomogram:
    told = f"{lines.path.name}: one setting a line, {len(rows):,} of them"
    return from_table(lines.path, settings, outcomes, rows, lines.where, told, shots, lines.comma)
