"""What stands for the outcomes 0 and 1: bits, kets, arrows, plus and minus, letters such as S and D."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

OWNER = "StateTomography"

# What is read without being asked, outcome 0 first. Ions: D is dark and S is bright, and a bright ion is a 1, as in
# the W state of one S among D. Spins: up is the eigenvalue +1, which is outcome 0.
PAIRS = ("+-", "↑↓", "ud", "DS", "DB", "ge", "HV")
_KET = str.maketrans(dict.fromkeys("|<>⟨⟩〈〉()[]{}'\"", " ") | {",": " ", "−": "-", "–": "-"})
_SPINS = re.compile(r"(?:[+-]1){2,}")
_NUMBER = re.compile(r"0[xXbB][0-9a-fA-F]+")


@dataclass(frozen=True)
class Spelling:
    """How outcomes are meant; called, it reads one of them. ``told`` says what was taken to be what, if anything."""

    read: Callable[[Any], Any]
    told: str = ""

    def __call__(self, outcome: Any) -> Any:
        return self.read(outcome)


def signs_or_say(signs: Any) -> str | None:
    """The characters that stand for the outcomes 0, 1, …; None where they are to be found out."""
    if signs is None:
        return None
    joined = "".join(signs) if isinstance(signs, tuple | list) and all(isinstance(s, str) for s in signs) else signs
    if not isinstance(joined, str) or len(joined) < 2 or len(set(joined)) != len(joined):
        raise ValueError(
            f"{OWNER}: outcomes must be the characters that stand for the outcomes 0 and 1, such as 'DS' or '10'; got "
            f"{signs!r}."
        )
    return str(joined)


def bare(outcome: Any) -> Any:
    """A text without the marks of kets, lists and quotes; other things as they are."""
    if isinstance(outcome, tuple | list) and any(isinstance(one, str) for one in outcome):
        outcome = " ".join(map(str, outcome))
    if not isinstance(outcome, str) or _NUMBER.fullmatch(outcome.strip()):
        return outcome
    return " ".join(outcome.translate(_KET).split())


def translated(outcomes: Iterable[Any], signs: str | None, parts: int) -> Spelling:
    """The function that turns all these outcomes, of so many parts, into bits, numbers or tuples of digits."""
    plain = [bare(outcome) for outcome in outcomes]
    if signs is not None:
        return Spelling(lambda outcome: _by_signs(bare(outcome), signs))
    plain = [(one,) if parts == 1 and _same(one, -1) else one for one in plain]
    lists = [each for each in map(_apart, plain) if each is not None]
    if any(_same(one, -1) for each in lists for one in each) and all(
        len(each) == parts and all(_same(one, 1) or _same(one, -1) for one in each) for each in lists
    ):
        return Spelling(lambda outcome: _spins(bare(outcome)), "The outcomes +1 and −1 were read as 0 and 1.")
    found = set("".join(text for text in plain if isinstance(text, str))) - {" "}
    if not found or found & set("0123456789"):
        return Spelling(bare)
    pair = _pair(found)
    if pair is None:
        return Spelling(bare)
    told = f"The outcomes {pair[0]} and {pair[1]} were read as 0 and 1; outcomes={pair[::-1]!r} turns that."
    return Spelling(lambda outcome: _by_signs(bare(outcome), pair), told)


def _pair(found: set[str]) -> str | None:
    """The pair that these characters are of, as it is written here; None where there is no such pair."""
    exact = [pair for pair in PAIRS if found <= set(pair)]
    cased = [turn(pair) for pair in PAIRS for turn in (str.upper, str.lower) if found <= set(turn(pair))]
    fitting = exact or cased
    meant = {tuple(pair.index(one) for one in sorted(found)) for pair in fitting}
    # of a single letter both cases count: d may be a spin that is down or an ion that is dark
    if len(found) == 1:
        meant |= {(pair.upper().index(one.upper()),) for pair in PAIRS for one in found if one.upper() in pair.upper()}
    if len(meant) > 1:
        raise ValueError(
            f"{OWNER}: all outcomes are made of {', '.join(map(repr, sorted(found)))} alone, which could be 0 or 1; "
            "say outcomes='DS' (D is outcome 0 and S is 1), 'ud', …"
        )
    return fitting[0] if fitting else None


def _by_signs(outcome: Any, signs: str) -> Any:
    """Digits for signs; what has other signs is left for the sentence that refuses it."""
    if not isinstance(outcome, str):
        return outcome
    known = {one: str(k) for k, one in enumerate(signs)}
    for turn in (str.upper, str.lower):
        cased = {turn(one): str(k) for k, one in enumerate(signs)}
        if len(cased) == len(signs):
            known = cased | known
    letters = outcome.replace(" ", "")
    if any(one not in known for one in letters):
        return f"{outcome} (none of {signs})"
    digits = [known[one] for one in letters]
    return " ".join(digits) if len(signs) > 10 else "".join(digits)


def _apart(outcome: Any) -> list[Any] | None:
    """The numbers of a tuple, or of a text such as "+1 -1" and "+1-1"; None of what is no such thing."""
    if isinstance(outcome, str):
        if set(outcome) == {"1"}:  # a reader of files has joined the single characters of (1, 1)
            return list(outcome)
        return re.findall(r"[+-]1", outcome) if _SPINS.fullmatch(outcome) else outcome.split()
    return list(outcome) if isinstance(outcome, tuple | list) else None


def _spins(outcome: Any) -> Any:
    given = [outcome] if _same(outcome, 1) or _same(outcome, -1) else _apart(outcome)
    return outcome if given is None else tuple(0 if _same(one, 1) else 1 for one in given)


def _same(one: Any, number: int) -> bool:
    try:
        return bool(float(one) == number)
    except (TypeError, ValueError, OverflowError):
        return False
