"""What a file of counts holds, and what all its kinds have in common: names of columns, settings, tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ..count_names import SETTING

NEEDED = "columns named setting, outcome and count are needed"
_BETWEEN = re.compile(r"[\s,;_\-*·.⊗]+")
_AROUND = str.maketrans(dict.fromkeys("()[]{}'\"", " "))
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class Asked:
    """What was said about a file: its encoding, the characters of outcomes, which basis each digit is, where the
    settings of its rows are, and shots."""

    encoding: str | None = None
    outcomes: str | None = None
    bases: str | None = None
    settings: Path | None = None
    shots: float | None = None


@dataclass(frozen=True)
class Tomogram:
    """Settings, outcomes and counts, one each; where the i-th stands in the file, and how the file was read.

    ``shots`` of each setting, where the file has frequencies and says so.
    """

    settings: list[str]
    outcomes: list[str]
    counts: list[float]
    where: Callable[[int], str]
    told: str
    shots: dict[str, float] | None = None


def channel(path: Path) -> ValueError:
    return ValueError(
        f"{path}: there is a column of prepared states: these are data of a channel, and process tomography is not "
        "here yet."
    )


def unsaid(path: Path, name: str) -> ValueError:
    """Frequencies without shots."""
    return ValueError(
        f"{path}: {NEEDED}; {name!r} are frequencies, which do not say how sure they are. Say of how many shots: "
        "--shots 100, or a column named shots."
    )


def letters_of(text: str) -> str | None:
    """The letters or digits of a setting without what stands between them; None of what is no setting."""
    plain = "".join(_BETWEEN.split(re.sub(r"σ[_^]?", " ", text).translate(_AROUND).strip())).upper()
    return plain if plain and (set(plain) <= set("XYZ") or set(plain) <= set("0123")) else None


def is_setting(text: str) -> bool:
    """Whether a text is a setting in letters; one in digits could be a number."""
    plain = letters_of(text)
    return plain is not None and plain.isalpha()


def number(text: str, comma: bool = False) -> float | None:
    """A number, with a comma for the point where columns are not separated by commas."""
    try:
        return float(text)
    except ValueError:
        pass
    if comma and text.count(",") == 1 and _THOUSANDS.fullmatch(text) is None:
        return number(text.replace(",", "."))
    return None


def count(where: str, text: str, comma: bool = False) -> float:
    found = number(text, comma)
    if found is None or not 0.0 <= found < float("inf"):
        more = "; where a corrected readout made it negative, give the raw counts" if found is not None else ""
        raise ValueError(f"{where}: the count {text!r} is not a number that is at least zero{more}.")
    return found


def qubits_of(width: int) -> int | None:
    """n of 2ⁿ outcomes."""
    return width.bit_length() - 1 if width >= 2 and width & (width - 1) == 0 else None


def bits(qubits: int) -> list[str]:
    return [format(outcome, f"0{qubits}b") for outcome in range(2**qubits)]


def settings_of(path: Path, asked: Asked, rows: int, width: int, what: str) -> list[str]:
    """The settings of rows that do not name any: from a file of settings, or all of them in order."""
    if asked.settings is not None:
        found = _listed(asked.settings)
        if len(found) != rows:
            raise ValueError(f"{asked.settings} has {len(found)} settings, {path} {rows} {what}; one each is needed.")
        return found
    qubits = qubits_of(width) or 0
    if asked.bases is not None and rows == 3**qubits:
        order = asked.bases.upper().replace("I", "")
        return ["".join(word) for word in product(order, repeat=qubits)]
    hint = f" Where they are all {3**qubits} settings in order, --bases XYZ says that this is {'X' * qubits}, "
    hint += f"{'X' * (qubits - 1)}Y, …, {'Z' * qubits} (--bases ZXY: that Z comes first)."
    raise ValueError(
        f"{path}: {NEEDED}; here are {rows} {what} of {width} outcomes, and nothing says which settings they are. "
        f"--settings FILE names a file with one a line.{hint if qubits and rows == 3**qubits else ''}"
    )


def unnamed(found: Tomogram, words: Sequence[str]) -> Tomogram:
    """The same, saying that its rows named no settings, and which they were taken to be."""
    some = ", ".join(words[:3]) + (f", …, {words[-1]}" if len(words) > 3 else "")
    return replace(found, told=f"{found.told}; they name no settings and were taken as {some}, in this order")


def _listed(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; it needs one setting a line.") from None
    found = [line.strip() for line in lines if line.strip() and line.lstrip()[0] not in "#%"]
    wrong = next((line for line in found if letters_of(line) is None), None)
    if wrong is not None:
        if found and wrong == found[0] and wrong.lower() in SETTING:
            return found[1:]
        raise ValueError(f"{path}: {wrong!r} is no setting; one a line is needed, such as XZY.")
    return found


def from_table(
    path: Path,
    settings: Sequence[str],
    outcomes: Sequence[str],
    rows: Sequence[Sequence[Any]],
    where: Callable[[int], str],
    told: str,
    shots: Sequence[float] | None = None,
    comma: bool = False,
) -> Tomogram:
    """A table of settings and outcomes; ``where`` says where a row stands.

    A zero says nothing and is left out, but the first row names all outcomes, and a setting without shots is one.
    """
    of: list[int] = []
    words: list[str] = []
    names: list[str] = []
    counts: list[float] = []
    for row, (setting, fields) in enumerate(zip(settings, rows, strict=True)):
        for place, (outcome, field) in enumerate(zip(outcomes, fields, strict=True)):
            value = (0.0 if field in ("", "0") else number(field, comma)) if isinstance(field, str) else float(field)
            if value is None or not 0.0 <= value < float("inf"):
                value = count(where(row), str(field), comma)  # which says what is wrong
            if value or place == 0 or row == 0:
                words.append(setting)
                names.append(outcome)
                counts.append(value)
                of.append(row)
    fractions = any(value % 1.0 for value in counts)
    each = None if shots is None or not fractions else shots_by_setting(path, settings, shots)
    return Tomogram(words, names, counts, lambda i: where(of[i]), told, each)


def shots_by_setting(path: Path, settings: Sequence[str], shots: Sequence[float]) -> dict[str, float]:
    """One number a setting; a setting that has two of them is refused."""
    held: dict[str, float] = {}
    for setting, each in zip(settings, shots, strict=True):
        if held.setdefault(setting, each) != each:
            raise ValueError(
                f"{path}: setting {setting!r} has {held[setting]:g} shots on one line, {each:g} on another."
            )
    return held
