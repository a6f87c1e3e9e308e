"""Counts, from whatever they come in: dictionaries of bit strings, arrays, a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import numbers
from ...places.numpy import Array
from ..input.observations import as_frame
from .frames import from_frame, with_index
from .frequencies import counted, shots_of
from .outcomes import OWNER, Reader, spelling
from .settings import Setting, as_setting, word
from .signs import Spelling

Outcomes = Callable[[Setting], Reader]  # the reader of the outcomes of a setting
_MOST = 2**53  # shots of a setting: the next whole number is no floating-point number


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of all outcomes of distinct settings, flat; those of setting s are counts[starts[s] : starts[s + 1]]."""

    settings: tuple[Setting, ...]
    counts: Array
    starts: Array
    empty: int = 0  # settings that had no shots and were left out
    told: str = ""  # what signs of outcomes were taken to be, if they were not bits
    said: bool = False  # whether the shots were said

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


def read_counts(settings: Any, counts: Any, reader: Outcomes, shots: Any = None) -> Counted:
    """Whatever ``fit`` was given, checked: settings with counts, a dictionary of both, or a frame."""
    if counts is None:
        frame = as_frame(with_index(settings), OWNER)
        if frame is not None:
            columns = from_frame(frame)
            asked = columns.shots if shots is None else shots
            if columns.frequencies and asked is None:
                raise ValueError(
                    f"{OWNER}: the frame has no column 'count'; {columns.frequencies!r} are frequencies, which do not "
                    "say how sure they are. Say of how many shots: fit(frame, shots=100), or give a column 'shots'."
                )
            return collect(columns.settings, columns.outcomes, columns.counts, reader, shots=asked)
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
    return _merged([reader(setting).setting for setting in found], rows, reader, shots, spell.told)


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


def _row(setting: Setting, given: Any, reader: Outcomes, spell: Spelling) -> Array:
    """The counts of one setting, all outcomes in order."""
    read, name = reader(setting), f"setting {word(setting)!r}"
    row = np.zeros(read.total)
    if given is None:
        return row
    if isinstance(given, Mapping):
        for outcome, count in given.items():
            row[read.index(spell(outcome), name, outcome)] += _count(count, f"{name}, outcome {outcome!r}")
        return row
    array = numbers(OWNER, f"counts of {name}", given, ndim=1)
    if array.dtype.kind == "c":
        raise TypeError(f"{OWNER}: {name}: counts must be real, got complex numbers.")
    if array.size != read.total:
        raise ValueError(f"{OWNER}: {name} has {read.total} outcomes, but {array.size} counts were given.")
    if (array < 0).any():
        place = int(np.argmin(array >= 0))
        raise ValueError(
            f"{OWNER}: {name}: the count of outcome {place} is {array[place]:g}; counts are not negative "
            "(where a corrected readout made them so, give the raw counts and readout=)."
        )
    return array if read.plain else np.asarray(array[read.order()])


def _count(count: Any, where: str) -> float:
    try:
        number = float(count)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not (np.isfinite(number) and number >= 0.0):
        raise ValueError(f"{OWNER}: {where}: the count is {count!r}; counts are numbers that are not negative.")
    return number


def _hashable(column: list[Any]) -> list[Any]:
    return [tuple(one) if isinstance(one, list | np.ndarray) else one for one in column]


def collect(
    settings: Sequence[Any],
    outcomes: Sequence[Any],
    counts: Sequence[Any],
    reader: Outcomes,
    where: Callable[[int], str] | None = None,
    shots: Any = None,
) -> Counted:
    """From three columns of equal length; ``where`` says in sentences where the i-th of them stands."""
    rows: dict[Setting, Array] = {}
    named: dict[Any, tuple[Array, Reader]] = {}  # files have millions of lines and few words
    places: dict[tuple[Reader, Any], int] = {}
    settings, outcomes = _hashable(list(settings)), _hashable(list(outcomes))
    spell = spelling(set(outcomes), reader(as_setting(settings[0], 0))) if settings else Spelling(lambda given: given)

    def told(i: int) -> str:
        return f"{f'row {i + 1}' if where is None else where(i)} (setting {settings[i]!r})"

    for i, (given, outcome, count) in enumerate(zip(settings, outcomes, counts, strict=True)):
        if given not in named:
            read = reader(as_setting(given, i))
            named[given] = rows.setdefault(read.setting, np.zeros(read.total)), read
        row, read = named[given]
        place = places.get((read, outcome))
        if place is None:
            place = places[read, outcome] = read.index(spell(outcome), told(i), outcome)
        row[place] += _count(count, told(i))
    if not rows:
        raise ValueError(f"{OWNER}: there are no counts.")
    return _merged(list(rows), list(rows.values()), reader, shots, spell.told)


def _merged(settings: list[Setting], rows: list[Array], reader: Outcomes, shots: Any, told: str) -> Counted:
    """Every setting once, counts added up; those without shots left out."""
    each = shots_of(shots, settings, lambda key: reader(as_setting(_hashable([key])[0], 0)).setting)
    if each is not None:
        named = zip(settings, rows, each, strict=True)
        rows = [counted(row, some, f"setting {word(setting)!r}") for setting, row, some in named]
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
    return Counted(
        tuple(seen), np.concatenate(list(seen.values())), starts, len(held) - len(seen), told, shots is not None
    )
