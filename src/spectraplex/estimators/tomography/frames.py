"""Counts in data frames: one row an outcome, one row a shot, or one row a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import is_real
from ...tables.count_names import CHANNEL, COUNT, FREQUENCY, OUTCOME, SETTING, SHOTS
from .outcomes import PROCESS, whole_outcomes
from .settings import as_setting
from .signs import OWNER


@dataclass(frozen=True)
class Columns:
    """Settings, outcomes and counts of equal length; beside frequencies their name, and the shots of each setting."""

    settings: list[Any]
    outcomes: list[Any]
    counts: list[Any]
    shots: dict[Any, Any] | None = None
    frequencies: str = ""  # the name of the column that has frequencies for counts


def with_index(frame: Any) -> Any:
    """A frame of pandas whose index has the settings, with a column for them; anything else as it is."""
    names = getattr(getattr(frame, "index", None), "names", None)
    if names is None or not hasattr(frame, "reset_index") or not hasattr(frame, "columns"):
        return frame
    if any(str(name).strip().lower() in SETTING for name in frame.columns):
        return frame
    if len(names) == 1 and len(frame) and isinstance(frame.index[0], str | tuple):
        return frame.rename_axis("setting").reset_index()
    return frame.reset_index() if any(str(name).lower() in SETTING for name in names) else frame


def from_frame(frame: Any) -> Columns:
    """Columns by their names; where settings are the index or outcomes the columns, those."""
    known = {str(name).strip().lower(): name for name in frame.columns}
    if any(name in known for name in CHANNEL):
        raise ValueError(PROCESS)

    def column(names: tuple[str, ...]) -> list[Any] | None:
        name = next((known[name] for name in names if name in known), None)
        return None if name is None else frame[name].to_list()

    settings, outcomes = column(SETTING), column(OUTCOME)
    if settings is not None and outcomes is None and len(known) > 2:
        wide = _wide(frame, settings, known)
        if wide is not None:
            return wide
    counts, shots = column(COUNT), column(SHOTS)
    frequencies = column(FREQUENCY) if counts is None else None
    if frequencies is not None:
        counts = frequencies
    elif counts is None and len(known) == 3:  # nothing else could be the counts
        counts, shots = shots, None
    if counts is None and settings is not None and outcomes is not None and len(known) == 2:
        counts = [1.0] * len(settings)  # settings and outcomes alone: every row is one shot
    missing = [role for role, one in (("setting", settings), ("outcome", outcomes), ("count", counts)) if one is None]
    if missing or settings is None or outcomes is None or counts is None:
        raise ValueError(
            f"{OWNER}: the frame has no column {missing[0]!r}; it needs setting, outcome and count, and has "
            f"{', '.join(map(str, frame.columns))}."
        )
    if outcomes and all(is_real(one) and one % 1 == 0 for one in outcomes):
        outcomes = whole_outcomes(np.asarray(outcomes), len(as_setting(settings[0], 0)), "the column of outcomes")
    if frequencies is None:
        return Columns(settings, outcomes, counts)
    held = None if shots is None else shots_by_setting(settings, shots)
    return Columns(settings, outcomes, counts, held, next(str(known[word]) for word in FREQUENCY if word in known))


def _wide(frame: Any, settings: list[Any], known: dict[str, Any]) -> Columns | None:
    """A column of settings and one for each outcome; None where there are other columns beside."""
    names = [name for word, name in known.items() if word not in SETTING + SHOTS]
    parts = len(as_setting(settings[0], 0)) if settings else 0
    if len(names) != 2**parts:
        return None
    outcomes, rows = [str(name) for name in names], [frame[name].to_list() for name in names]
    shots = next((frame[known[word]].to_list() for word in SHOTS if word in known), None)
    flat = [(s, o, row[i]) for i, s in enumerate(settings) for o, row in zip(outcomes, rows, strict=True)]
    columns = [each[0] for each in flat], [each[1] for each in flat], [each[2] for each in flat]
    fractions = any(is_real(one) and one % 1 for one in columns[2])
    return Columns(*columns, shots_by_setting(settings, shots) if shots is not None and fractions else None)


def shots_by_setting(settings: list[Any], shots: list[Any]) -> dict[Any, Any]:
    """One number a setting; a setting that has two of them is refused."""
    held: dict[Any, Any] = {}
    for setting, each in zip(settings, shots, strict=True):
        key = tuple(setting) if isinstance(setting, list) else setting
        if held.setdefault(key, each) != each:
            raise ValueError(f"{OWNER}: setting {setting!r} has {held[key]} shots in one row and {each} in another.")
    return held
