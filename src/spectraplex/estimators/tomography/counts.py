"""Counts, from whatever they come in: dictionaries of bit strings, arrays, a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import is_real, numbers
from ...places.numpy import Array
from ..input.observations import as_frame
from .outcomes import OWNER, PROCESS, Reader, spelling, whole_outcomes

Setting = tuple[str, ...]
Outcomes = Callable[[Setting], Reader]  # the reader of the outcomes of a setting
_NAMES = {"setting": ("setting", "settings", "basis"), "outcome": ("outcome", "outcomes", "bits", "bitstring")}
_NAMES["count"] = ("count", "counts", "shots", "n")
_MOST = 2**53  # shots of a setting: the next whole number is no floating-point number
_CHANNEL = ("preparation", "prep", "prepared", "input", "input_state", "prepared_state", "preparation_setting")


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of all outcomes of distinct settings, flat; those of setting s are counts[starts[s] : starts[s + 1]]."""

    settings: tuple[Setting, ...]
    counts: Array
    starts: Array
    empty: int = 0  # settings that had no shots and were left out

    @property
    def shots(self) -> Array:
        return np.add.reduceat(self.counts, self.starts[:-1])

    @property
    def words(self) -> list[str]:
        return [word(setting) for setting in self.settings]

    def spread(self, each: Array) -> Array:
        """One number a setting, repeated for each of its outcomes."""
        return np.repeat(each, np.diff(self.starts))

    def with_counts(self, counts: Array) -> Counted:
        return Counted(self.settings, counts, self.starts)


def word(setting: Setting) -> str:
    return "".join(setting) if all(len(one) == 1 for one in setting) else " ".join(setting)


def read_counts(settings: Any, counts: Any, reader: Outcomes) -> Counted:
    """Whatever ``fit`` was given, checked: settings with counts, a dictionary of both, or a frame."""
    if counts is None:
        frame = as_frame(settings, OWNER)
        if frame is not None:
            return _collected(*_from_frame(frame), reader)
        if not isinstance(settings, Mapping):
            raise TypeError(
                f"{OWNER}: counts are missing; give fit(settings, counts), a dictionary setting → counts, or a frame "
                "with the columns setting, outcome, count."
            )
        settings, counts = list(settings), list(settings.values())
    settings = _hashable(_listed(settings))
    found = [as_setting(one, i) for i, one in enumerate(settings)]
    if not found:
        raise ValueError(f"{OWNER}: there are no settings; give at least one, with its counts.")
    counts = _by_setting(settings, counts)
    if len(counts) != len(found):
        raise ValueError(f"{OWNER}: {len(found)} settings but counts for {len(counts)}; give one each.")
    keys = [outcome for given in counts if isinstance(given, Mapping) for outcome in given]
    spell = spelling(keys, reader(found[0]))
    rows: list[Any] = [_row(setting, given, reader, spell) for setting, given in zip(found, counts, strict=True)]
    return _merged([reader(setting).setting for setting in found], rows)


def asked_settings(settings: Any, parts: int) -> tuple[Setting, ...]:
    """Settings to predict or to score, of as many parts as the fitted state has."""
    found = tuple(as_setting(one, i) for i, one in enumerate(_listed(settings)))
    if not found:
        raise ValueError(f"{OWNER}: there are no settings; give at least one.")
    of_parts(found, parts)
    return found


def of_parts(settings: Sequence[Setting], parts: int) -> None:
    wrong = next((setting for setting in settings if len(setting) != parts), None)
    if wrong is not None:
        raise ValueError(
            f"{OWNER}: setting {word(wrong)!r} has {len(wrong)} letters, the fitted state {parts} parts; give one each."
        )


def _by_setting(settings: list[Any], counts: Any) -> list[Any]:
    """A list with the counts of each setting."""
    if isinstance(counts, Mapping):  # of settings by name, or of one setting alone
        if len(settings) == 1 and settings[0] not in counts:
            return [counts]
        unknown = next((name for name in counts if name not in settings), None)
        if unknown is not None:
            raise ValueError(f"{OWNER}: there are counts for {unknown!r}, which is none of the settings; add it there.")
        return [counts.get(one) for one in settings]
    if isinstance(counts, str) or not isinstance(counts, Iterable) or as_frame(counts, OWNER) is not None:
        raise TypeError(
            f"{OWNER}: counts must be a list with one dictionary or array a setting, got {type(counts).__name__}; a "
            "frame with the columns setting, outcome, count goes in alone, numbers of one as frame.to_numpy()."
        )
    if isinstance(counts, np.ndarray) and counts.ndim == 0:
        return [counts]
    return list(counts)


def _listed(settings: Any) -> list[Any]:
    if isinstance(settings, str):
        raise TypeError(f"{OWNER}: settings must be a list, got the one word {settings!r}; write [{settings!r}].")
    if not isinstance(settings, Iterable):
        raise TypeError(f"{OWNER}: settings must be a list of words such as ['XZ', 'YY'], got {settings!r}.")
    return list(settings)


def as_setting(given: Any, i: int) -> Setting:
    """A word of letters, or a tuple of names."""
    pair = isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(one, str) for one in given)
    if pair and len(given[0]) == len(given[1]) > 1 and set(given[0] + given[1]) <= set("XYZxyz"):
        raise ValueError(PROCESS)  # what was prepared and what was measured
    if isinstance(given, str) and given.strip():
        return tuple(given.split()) if " " in given.strip() else tuple(given.strip())
    if isinstance(given, tuple | list) and given:
        return tuple(str(one) for one in given)
    raise TypeError(f"{OWNER}: settings[{i}] must be a word such as 'XZY' or a tuple of names, got {given!r}.")


def _row(setting: Setting, given: Any, reader: Outcomes, spell: Callable[[Any], Any]) -> Array:
    """The counts of one setting, all outcomes in order."""
    read, name = reader(setting), f"setting {word(setting)!r}"
    row = np.zeros(read.total)
    if given is None:
        return row
    if isinstance(given, Mapping):
        for outcome, count in given.items():
            row[read.index(spell(outcome), name)] += _count(count, f"{name}, outcome {outcome!r}")
        return row
    array = numbers(OWNER, f"counts of {name}", given, ndim=1)
    if array.dtype.kind == "c":
        raise TypeError(f"{OWNER}: {name}: counts must be real, got complex numbers.")
    if array.size != read.total:
        raise ValueError(f"{OWNER}: {name} has {read.total} outcomes, but {array.size} counts were given.")
    if (array < 0).any():
        place = int(np.argmin(array >= 0))
        raise ValueError(f"{OWNER}: {name}: the count of outcome {place} is {array[place]:g}; counts are not negative.")
    return np.asarray(array[read.order()]) if read.backwards else array


def _count(count: Any, where: str) -> float:
    try:
        number = float(count)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not (np.isfinite(number) and number >= 0.0):
        raise ValueError(f"{OWNER}: {where}: the count is {count!r}; counts are numbers that are not negative.")
    return number


def _from_frame(frame: Any) -> tuple[list[Any], list[Any], list[Any]]:
    known = {str(name).lower(): name for name in frame.columns}
    if any(name in known for name in _CHANNEL):
        raise ValueError(PROCESS)
    columns = []
    for role, names in _NAMES.items():
        name = next((known[name] for name in names if name in known), None)
        if name is None and role == "count" and len(known) == 2:
            break  # settings and outcomes alone: every row is one shot
        if name is None:
            raise ValueError(
                f"{OWNER}: the frame has no column {role!r}; it needs setting, outcome and count, and has "
                f"{', '.join(map(str, frame.columns))}."
            )
        columns.append(frame[name])
    settings = columns[0].to_list()
    outcomes = columns[1].to_list()
    if outcomes and all(is_real(one) and one % 1 == 0 for one in outcomes):
        outcomes = whole_outcomes(np.asarray(outcomes), len(as_setting(settings[0], 0)), "the column of outcomes")
    return settings, outcomes, columns[2].to_list() if len(columns) > 2 else [1.0] * len(settings)


def _hashable(column: list[Any]) -> list[Any]:
    return [tuple(one) if isinstance(one, list | np.ndarray) else one for one in column]


def collect(
    settings: Sequence[Any],
    outcomes: Sequence[Any],
    counts: Sequence[Any],
    reader: Outcomes,
    where: Callable[[int], str] | None = None,
) -> Counted:
    """From three columns of equal length; ``where`` says in sentences where the i-th of them stands."""
    return _collected(list(settings), list(outcomes), list(counts), reader, where)


def _collected(
    settings: list[Any],
    outcomes: list[Any],
    counts: list[Any],
    reader: Outcomes,
    where: Callable[[int], str] | None = None,
) -> Counted:
    rows: dict[Setting, Array] = {}
    named: dict[Any, tuple[Array, Reader]] = {}  # files have millions of lines and few words
    places: dict[tuple[Reader, Any], int] = {}
    settings, outcomes = _hashable(settings), _hashable(outcomes)
    spell = spelling(set(outcomes), reader(as_setting(settings[0], 0))) if settings else None

    def told(i: int) -> str:
        return f"{f'row {i + 1}' if where is None else where(i)} (setting {settings[i]!r})"

    for i, (given, outcome, count) in enumerate(zip(settings, outcomes, counts, strict=True)):
        if given not in named:
            read = reader(as_setting(given, i))
            named[given] = rows.setdefault(read.setting, np.zeros(read.total)), read
        row, read = named[given]
        place = places.get((read, outcome))
        if place is None:
            place = places[read, outcome] = read.index(spell(outcome) if spell else outcome, told(i))
        row[place] += _count(count, told(i))
    if not rows:
        raise ValueError(f"{OWNER}: there are no counts.")
    return _merged(list(rows), list(rows.values()))


def _merged(settings: list[Setting], rows: list[Array]) -> Counted:
    """Every setting once, counts added up; those without shots left out."""
    held: dict[Setting, Array] = {}
    for setting, row in zip(settings, rows, strict=True):
        held[setting] = held[setting] + row if setting in held else row
    lengths = {len(setting) for setting in held}
    if len(lengths) > 1:
        short = next(setting for setting in held if len(setting) != len(settings[0]))
        raise ValueError(
            f"{OWNER}: setting {word(short)!r} has {len(short)} letters, the first has {len(settings[0])}; give one a "
            "qubit."
        )
    seen = {setting: row for setting, row in held.items() if row.any()}
    if not seen:
        raise ValueError(f"{OWNER}: all counts are zero; there is nothing to fit.")
    most = max(seen, key=lambda setting: seen[setting].sum())
    if not seen[most].sum() <= _MOST:
        raise ValueError(
            f"{OWNER}: setting {word(most)!r} has {seen[most].sum():.3g} shots; more than {_MOST:.0e} are not counted "
            "exactly in floating point. Divide all counts by the same number."
        )
    starts = np.concatenate([[0], np.cumsum([row.size for row in seen.values()])])
    return Counted(tuple(seen), np.concatenate(list(seen.values())), starts, len(held) - len(seen))
