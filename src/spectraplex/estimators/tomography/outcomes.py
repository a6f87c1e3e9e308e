"""Outcomes as people write them: strings of bits in either direction, numbers, tuples; and how many a setting has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...places.numpy import Array
from .signs import OWNER, Spelling, translated

PROCESS = (
    f"{OWNER}: these are data of a channel (states were prepared, too); process tomography is not here yet. Fit the "
    "counts of one prepared state, or use another tool for the channel."
)


@dataclass(frozen=True)
class Reader:
    """How outcomes of settings are read: sizes of the parts' outcomes, and whether bit strings run the other way.

    ``backwards``: the last bit of an outcome belongs to the first letter of a setting, as in qiskit's ``Counts`` where
    settings begin with qubit 0. ``setting`` is the setting by the name that it goes by: "zz" is "ZZ". ``signs``: the
    characters that stand for the outcomes 0, 1, …; with "10" numbers and arrays are turned, too.
    """

    sizes: tuple[int, ...]
    backwards: bool = False
    setting: tuple[str, ...] = field(default=(), compare=False)  # settings with equal outcomes are read alike
    signs: str | None = None

    @property
    def total(self) -> int:
        return int(np.prod(self.sizes))

    def index(self, outcome: Any, where: str, given: Any = None) -> int:
        """The place of an outcome among all of its setting, that of the last letter running fastest.

        ``given`` is how the user wrote it, for sentences.
        """
        given = outcome if given is None else given
        if isinstance(outcome, str):
            digits = self._text(outcome, where, given)
        elif isinstance(outcome, tuple | list):
            digits = [_digit(one) for one in outcome]
            if len(digits) != len(self.sizes):
                raise ValueError(f"{OWNER}: {where}: the outcome {given!r} has not one number a qubit.")
            digits = [self._turned(digit, size) for digit, size in zip(digits, self.sizes, strict=True)]
        else:
            number, sizes = self._number(outcome, where), self.sizes[::-1] if self.backwards else self.sizes
            digits = [int(one) for one in np.unravel_index(number, sizes)]
            digits = [self._turned(digit, size) for digit, size in zip(digits, sizes, strict=True)]
        digits = digits[::-1] if self.backwards else digits
        for digit, size in zip(digits, self.sizes, strict=True):
            if not 0 <= digit < size:
                raise ValueError(f"{OWNER}: {where}: the outcome {given!r} is impossible; each part has {size}.")
        return int(np.ravel_multi_index(digits, self.sizes))

    def _turned(self, digit: int, size: int) -> int:
        """What a digit means: another one where the signs are digits in another order."""
        return digit if self.signs is None or not 0 <= digit < size else _meaning(self.signs, size)[digit]

    def _text(self, outcome: str, where: str, given: Any) -> list[int]:
        """One digit a letter, one number a letter with spaces between, or all in one as in 0x1f and 0b11."""
        apart, text = outcome.split(), "".join(outcome.split())
        for some in (apart, list(text)):
            if len(some) == len(self.sizes) and all(_is_plain(one) for one in some):
                return [int(one) for one in some]
        try:
            number = int(text, 0) if text[:2].lower() in ("0x", "0b") else -1
        except ValueError:
            number = -1
        if not 0 <= number < self.total:
            if self.signs is not None:
                raise ValueError(
                    f"{OWNER}: {where}: the outcome {given!r} is impossible; {len(self.sizes)} of the characters "
                    f"{self.signs[: max(self.sizes)]} were expected, one a letter of the setting "
                    f"(outcomes={self.signs!r})."
                )
            kind = "bits" if set(self.sizes) == {2} else "digits"
            others = "" if text.isdigit() else " Other characters than digits: outcomes='DS' says that D is 0 and S 1."
            raise ValueError(
                f"{OWNER}: {where}: the outcome {given!r} is impossible; {len(self.sizes)} {kind} were expected, one a "
                f"letter of the setting (numbers go in as numbers, not as text).{others}"
            )
        sizes = self.sizes[::-1] if self.backwards else self.sizes
        return [int(one) for one in np.unravel_index(number, sizes)]

    def _number(self, outcome: Any, where: str) -> int:
        try:
            number = int(outcome)
        except (TypeError, ValueError, OverflowError):
            number = -1
        if number != outcome or not 0 <= number < self.total:
            raise ValueError(
                f"{OWNER}: {where}: the outcome {outcome!r} is impossible; numbers run from 0 to {self.total - 1}."
            )
        return number

    def order(self) -> Array:
        """order[place] is where an array of all counts, in the user's direction, has the outcome of that place."""
        digits = np.unravel_index(np.arange(self.total), self.sizes)
        if self.signs is not None:
            back = [np.argsort(_meaning(self.signs, size)) for size in self.sizes]
            digits = tuple(turn[each] for turn, each in zip(back, digits, strict=True))
        if self.backwards:
            return np.asarray(np.ravel_multi_index(digits[::-1], self.sizes[::-1]))
        return np.asarray(np.ravel_multi_index(digits, self.sizes))

    @property
    def plain(self) -> bool:
        """Whether arrays of counts are in order already."""
        return not self.backwards and (self.signs is None or not self.signs.isdigit())


def _meaning(signs: str, size: int) -> list[int]:
    """The outcome that each digit stands for; letters come in the order of the outcomes."""
    own = [str(digit) for digit in range(size)]
    return [signs.index(one) for one in own] if sorted(signs[:size]) == own else list(range(size))


def _is_plain(text: str) -> bool:
    """Digits 0 to 9 and nothing else; other scripts have digits of their own."""
    return text.isascii() and text.isdigit()


def _digit(one: Any) -> int:
    """A number of a tuple, −1 where it is none."""
    try:
        number = int(one)
    except (TypeError, ValueError, OverflowError):
        return -1
    return number if isinstance(one, str) or number == one else -1


def spelling(outcomes: Iterable[Any], reader: Reader) -> Spelling:
    """How the texts among all outcomes are meant; the function returned reads one of them.

    A single text such as "10" does not tell, of four qubits: the number ten, or the bits 0010 without their zeros.
    All of them together mostly do: numbers have other digits than 0 and 1 among them; bits without their leading zeros
    have some that kept all bits. Where neither is so, texts are left as they are and must have one digit a letter.
    """
    given = set(outcomes)
    marked = translated(given, reader.signs, len(reader.sizes))
    texts, parts = {one for one in map(marked, given) if isinstance(one, str)}, len(reader.sizes)
    plain = all(_is_plain(text) and (text == "0" or text[0] != "0") for text in texts)
    if not plain or all(len(text) == parts for text in texts):
        return marked
    if set(reader.sizes) != {2} or any(set(text) - {"0", "1"} for text in texts):
        return Spelling(lambda outcome: _each(marked(outcome), int), marked.told)
    if any(len(text) == parts for text in texts):
        return Spelling(lambda outcome: _each(marked(outcome), lambda text: text.zfill(parts)), marked.told)
    return marked


def _each(outcome: Any, read: Callable[[str], Any]) -> Any:
    return read(outcome) if isinstance(outcome, str) else outcome


def whole_outcomes(values: Array, qubits: int, where: str) -> list[Any]:
    """A column of whole numbers as outcomes: numbers, or bits that a reader of files has stripped of leading zeros."""
    texts = [str(int(value)) for value in values]
    bits = all(set(text) <= {"0", "1"} for text in texts)
    large = any(int(text) >= 1 << qubits for text in texts)
    if bits and large:
        return [text.zfill(qubits) for text in texts]
    if bits and any(int(text) > 1 for text in texts):
        raise ValueError(
            f"{OWNER}: {where} could be numbers or bits without their leading zeros; give bit strings as text."
        )
    return [int(text) for text in texts]
