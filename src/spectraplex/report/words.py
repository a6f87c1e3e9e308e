"""How the report writes numbers and labels."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from ..numerals import counted, percent, shown, signed

__all__ = ["brief", "counted", "decimals", "fixed", "given", "label_text", "percent", "shown", "signed"]

_LONGEST = 80  # characters of a label that are shown


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
