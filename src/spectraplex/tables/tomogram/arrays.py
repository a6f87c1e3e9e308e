"""Arrays of counts: npy, npz and MATLAB files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..count_names import COUNT, FREQUENCY, OUTCOME, SETTING, SHOTS
from .held import (
    NEEDED,
    Asked,
    Tomogram,
    bits,
    from_table,
    is_setting,
    qubits_of,
    settings_of,
    shots_by_setting,
    unnamed,
    unsaid,
)

ARRAYS = (".npy", ".npz", ".mat")
_HELD = (*COUNT, *FREQUENCY, "data", "results", "outcomes")


def from_arrays(path: Path, asked: Asked) -> Tomogram:
    """A table of settings and outcomes; in an npz or mat file, arrays that are named as columns are."""
    held = _loaded(path)
    known = {name.strip().lower(): each for name, each in held.items()}
    settings, shots = _first(known, SETTING), _first(known, SHOTS)
    words = None if settings is None else _texts(settings)
    outcome = None if words is None else _first(known, OUTCOME)
    if words is not None and outcome is not None and np.size(outcome) == len(words):
        return _columns(path, known, words, _texts(outcome), asked)
    if words is None and all(is_setting(name) for name in held):
        words, table = list(held), np.array([each.reshape(-1) for each in held.values()])
    else:
        table = _table(path, known)
    where = lambda i: f"{path}: row {i + 1}"  # noqa: E731
    named = words is not None
    words = settings_of(path, asked, table.shape[0], table.shape[1], "rows") if words is None else words
    if len(words) != table.shape[0] and len(words) == table.shape[1]:
        table = table.T
    if len(words) != table.shape[0] or qubits_of(table.shape[1]) is None:
        raise ValueError(
            f"{path}: {len(words)} settings, and a table of {table.shape[0]} × {table.shape[1]} counts; a row for each "
            "setting and a column for each of 2ⁿ outcomes are needed."
        )
    each = None if shots is None else _each(path, shots, len(words))
    names = bits(table.shape[1].bit_length() - 1)
    told = f"{path.name}: a table of {table.shape[0]:,} settings and {table.shape[1]:,} outcomes"
    found = from_table(path, words, names, table.tolist(), where, told, each)
    return found if named else unnamed(found, words)


def _first(known: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((known[name] for name in names if name in known), None)


def _texts(given: Array) -> list[str]:
    """Words of an array of text, of MATLAB's cells, or of one letter or digit a column."""
    flat = [_text(one) for one in given.reshape(-1)]
    if given.ndim == 2 and min(given.shape) > 1 and all(len(one) == 1 for one in flat):
        return ["".join(flat[i : i + given.shape[1]]) for i in range(0, len(flat), given.shape[1])]
    return flat


def _text(one: Any) -> str:
    while isinstance(one, np.ndarray) and one.size == 1:
        one = one.reshape(-1)[0]
    if isinstance(one, np.ndarray):
        return "".join(map(_text, one.reshape(-1)))
    if isinstance(one, bytes):
        return one.decode("utf-8", "replace")
    return str(int(one)) if isinstance(one, float | np.floating) and one % 1 == 0 else str(one).strip()


def _columns(path: Path, known: dict[str, Any], words: list[str], outcomes: list[str], asked: Asked) -> Tomogram:
    """Three columns of one length, or two where every entry is a shot."""
    name = next((name for name in COUNT + FREQUENCY if name in known), None)
    counts = np.ones(len(words)) if name is None else np.asarray(known[name]).reshape(-1)
    if counts.size != len(words) or counts.dtype.kind not in "buif":
        raise ValueError(f"{path}: {len(words)} settings, but {counts.size} counts; columns must be of one length.")
    shots = _first(known, SHOTS)
    if name in FREQUENCY and shots is None and asked.shots is None:
        raise unsaid(path, str(name))
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError(f"{path}: counts must be numbers that are not negative.")
    held = None
    if name in FREQUENCY and shots is not None:
        held = shots_by_setting(path, words, _each(path, shots, len(words)))
    told = f"{path.name}: one outcome an entry, {len(words):,} of them"
    return Tomogram(words, outcomes, counts.astype(float).tolist(), lambda i: f"{path}: entry {i + 1}", told, held)


def _table(path: Path, known: dict[str, Any]) -> Array:
    """The one table of numbers that is there."""
    numeric = {name: each for name, each in known.items() if each.dtype.kind in "buif" and name not in SHOTS}
    named = _first(numeric, _HELD)
    tables = [each for each in numeric.values() if each.ndim == 2 and qubits_of(each.shape[1]) is not None]
    found = named if named is not None else tables[0] if len(tables) == 1 else None
    if found is None and len(numeric) == 1:
        found = next(iter(numeric.values()))
    if found is None:
        raise ValueError(
            f"{path}: {NEEDED}, or a table of counts with a row for each setting; the file has "
            f"{', '.join(f'{name} {each.dtype}{list(each.shape)}' for name, each in known.items()) or 'nothing'}."
        )
    if 1 in found.shape or found.ndim == 1:  # all outcomes of all settings in a row
        qubits = next((n for n in range(1, 14) if 6**n == found.size), None)
        found = found if qubits is None else found.reshape(3**qubits, 2**qubits)
    if found.ndim != 2:
        raise ValueError(
            f"{path}: the array has shape {found.shape}; a table of settings × outcomes is needed, that of one state."
        )
    return np.asarray(found)


def _loaded(path: Path) -> dict[str, Array]:
    with path.open("rb"):  # a file that is not there says so itself
        pass
    try:
        return _matlab(path) if path.suffix.lower() == ".mat" else _numpy(path)
    except Exception as error:  # readers of damaged files raise what they come across
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        why = "it holds something else than arrays of numbers and text" if "pickle" in why else why[:200]
        raise ValueError(
            f"{path} cannot be read as {path.suffix[1:]} ({why}); write the counts as CSV: setting, outcome, count."
        ) from None


def _matlab(path: Path) -> dict[str, Array]:
    from scipy.io import loadmat

    return {name: each for name, each in loadmat(path).items() if isinstance(each, np.ndarray)}


def _numpy(path: Path) -> dict[str, Array]:
    loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        with loaded as file:
            return {name: file[name] for name in file.files}
    if loaded.dtype.names:
        return {name: loaded[name] for name in loaded.dtype.names}
    return {"counts": loaded}


def _each(path: Path, shots: Array, count: int) -> list[float]:
    """The shots of so many settings, or of all of them the same."""
    flat = shots.reshape(-1)
    if flat.dtype.kind not in "buif" or flat.size not in (1, count):
        raise ValueError(f"{path}: shots must be one number, or one for each of {count}; there are {flat.size}.")
    return [float(one) for one in np.broadcast_to(flat, (count,))]
