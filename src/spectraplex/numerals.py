"""How numbers are written for people: in the report, in drawings and in notebooks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def shown(value: Any, digits: int = 4) -> str:
    """A number for reading: thousands apart, about so many digits, powers of ten where it is far from one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return signed(f"{int(value):,}")
    number = float(value)
    if not math.isfinite(number):
        return "not finite" if math.isnan(number) else ("∞" if number > 0 else "−∞")
    size = abs(number)
    if size == 0.0:
        return "0"
    if number == int(number) and size < 1e4:
        return signed(str(int(number)))
    if size >= 1e9 or size < 1e-4:
        lead, power = f"{number:.{digits - 1}e}".split("e")
        lead = lead.rstrip("0").rstrip(".") if "." in lead else lead
        return signed(f"{lead}×10{str(int(power)).translate(_RAISED)}")
    after = max(digits - 1 - math.floor(math.log10(size)), 0)
    return signed(f"{number:,.{after}f}")


def signed(words: str) -> str:
    return words.replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    return f"{shown(100.0 * share, digits)} %" if share else "0 %"


def tick(value: float, step: float) -> str:
    """A number beside an axis whose ticks are a step apart."""
    size = max(abs(value), abs(step))
    if abs(value) < 1e-9 * step:
        return "0"
    if size >= 1e6:
        for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
            if size >= unit:
                return signed(f"{value / unit:,.4g} {letter}") if size < 1e15 else shown(value, 2)
    if size < 1e-3:
        return shown(value, 2)
    after = max(0, -math.floor(math.log10(step) + 1e-9))
    words = f"{value:,.{after + 1}f}"
    words = words.rstrip("0").rstrip(".")
    return signed(words)


def counted(count: int, one: str, many: str | None = None) -> str:
    """ "1 row", "2 rows"."""
    return f"{shown(count)} {one if count == 1 else many or one + 's'}"
