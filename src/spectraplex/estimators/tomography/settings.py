"""Settings as people write them: words of letters, letters with something between them, tuples, digits."""

from __future__ import annotations

import re
from typing import Any

from .outcomes import PROCESS
from .signs import OWNER

Setting = tuple[str, ...]
_AROUND = str.maketrans(dict.fromkeys("()[]{}'\",;⊗", " "))
_LETTERS = "XYZxyz0123"


def word(setting: Setting) -> str:
    return "".join(setting) if all(len(one) == 1 for one in setting) else " ".join(setting)


def as_setting(given: Any, i: int) -> Setting:
    """A word of letters, or a tuple of names."""
    pair = isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(one, str) for one in given)
    if pair and len(given[0]) == len(given[1]) > 1 and set(given[0] + given[1]) <= set("XYZxyz"):
        raise ValueError(PROCESS)  # what was prepared and what was measured
    if isinstance(given, str) and given.strip():
        return _split(given)
    if isinstance(given, tuple | list) and given:
        return tuple(str(one) for one in given)
    raise TypeError(f"{OWNER}: settings[{i}] must be a word such as 'XZY' or a tuple of names, got {given!r}.")


def _split(given: str) -> Setting:
    """The letters of "XZY", "X Z Y", "(X, Z, Y)", "X-Z-Y", "σxσzσy"; names with blanks between them."""
    text = re.sub(r"σ[_^]?", " ", given).translate(_AROUND).strip() or given.strip()
    dashed = re.split(r"[\s\-_*·.]+", text)
    if len(dashed) > 1 and all(len(one) == 1 and one in _LETTERS for one in dashed):
        return tuple(dashed)
    apart = text.split()
    return tuple(apart) if len(apart) > 1 else tuple(text)


def bases_or_say(bases: Any) -> str | None:
    """Which basis each digit of a setting is: "XYZ" (0 is X), "ZXY" as in qiskit, "IXYZ" (1 is X)."""
    if bases is None:
        return None
    text = bases.upper() if isinstance(bases, str) else ""
    if sorted(text.replace("I", "", 1)) != list("XYZ") or ("I" in text and text[0] != "I"):
        raise ValueError(
            f"{OWNER}: bases must say which basis the digits 0, 1, 2 are: 'XYZ', 'ZXY' …, or 'IXYZ' where 1 is X; got "
            f"{bases!r}."
        )
    return text


def letters(setting: Setting, bases: str | None) -> Setting:
    """X, Y and Z for whatever a setting says, or a sentence."""
    found = []
    for one in setting:
        letter = one.upper()
        if bases is not None and letter in "0123"[: len(bases)]:
            letter = bases[int(letter)]
        if letter not in ("X", "Y", "Z"):
            digits = " (digits need bases='XYZ', which says that 0 is X; 'IXYZ' that 1 is)" if one.isdigit() else ""
            raise ValueError(
                f"{OWNER}: setting {word(setting)!r}: {one!r} is no basis; letters must be X, Y or Z (give povms for "
                f"measurements of your own){digits}."
            )
        found.append(letter)
    return tuple(found)
