"""How the report writes numbers and labels."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import numpy as np

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_LONGEST = 80  # characters of a label that are shown


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


def brief(value: Any) -> str:
    """A number that was given, not measured: no digit more than it needs."""
    number = float(value)
    return shown(int(number)) if number == int(number) and abs(number) < 1e9 else signed(f"{number:.6g}")


def decimals(low: float, high: float) -> int | None:
    """How many decimals values of this range are shown with; None: by their digits, each on its own."""
    if not high > low:
        return None
    after = 2 - math.floor(math.log10(high - low))
    return max(after, 0) if -6 <= after <= 6 else None


def fixed(value: float, after: int | None) -> str:
    """With so many decimals; without a number of them, by its digits."""
    if after is None:
        return shown(value, 3)
    words = f"{value:,.{after}f}"
    return signed(words) if float(words.replace(",", "")) else f"{0:.{after}f}"


def given(value: float, after: int | None) -> str:
    """An observed value: whole numbers as such."""
    return brief(value) if value == int(value) else fixed(value, after)


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


def label_text(label: Any) -> str:
    """A label as it can be shown: what has no shape is written out, and what is very long is cut."""
    words = label if isinstance(label, str) else str(label)
    words = words.encode("utf-8", "backslashreplace").decode("utf-8")  # half of a surrogate pair cannot be written
    if not words.strip():
        return repr(words)
    if len(words) > _LONGEST:
        words = words[: _LONGEST - 1] + "…"
    return "".join(_visible(letter) for letter in words)


def _visible(letter: str) -> str:
    # control characters and those that turn the direction of writing would act on the page instead of being seen
    if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") and letter not in "\u200c\u200d":
        return letter.encode("unicode_escape").decode("ascii")
    return letter
