"""Words of Pauli letters, read once: "XZY" is X on the first qubit, Z on the second, Y on the third."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..places.numpy import Array

DIGITS = {"I": 0, "Z": 1, "X": 2, "Y": 3}
MOST = 24  # qubits; a single vector of 2²⁵ complex numbers is half a gigabyte


def read_words(owner: str, words: Any, identity: bool = False) -> tuple[list[str], Array]:
    """The words in capital letters, and their digits, one row a word."""
    if isinstance(words, str):
        raise TypeError(f"{owner}: settings must be a list of words, got the one word {words!r}; write [{words!r}].")
    if not isinstance(words, Iterable):
        raise TypeError(f"{owner}: settings must be a list of words such as ['XZ', 'YY'], got {words!r}.")
    found = []
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"{owner}: settings[{i}] must be a word such as 'XZY', got {word!r}.")
        found.append(str(word).upper())
    if not found:
        raise ValueError(f"{owner}: there are no settings; give at least one word such as 'XZY'.")
    n, allowed = len(found[0]), "IXYZ" if identity else "XYZ"
    if not 1 <= n <= MOST:
        raise ValueError(f"{owner}: settings[0] has {n} letters; between 1 and {MOST} qubits can be measured.")
    for i, word in enumerate(found):
        if len(word) != n:
            raise ValueError(
                f"{owner}: settings[{i}] is {word!r} with {len(word)} letters, the first has {n}; give one a qubit."
            )
        wrong = next((letter for letter in word if letter not in allowed), None)
        if wrong == "I":
            raise ValueError(
                f"{owner}: settings[{i}] is {word!r}, and I is no basis; with expectations=True strings may have it."
            )
        if wrong is not None:
            raise ValueError(f"{owner}: settings[{i}] is {word!r}; its letters must be among {', '.join(allowed)}.")
    table = np.zeros(128, np.int64)
    for letter, digit in DIGITS.items():
        table[ord(letter)] = digit
    flat = np.frombuffer("".join(found).encode("ascii"), np.uint8)
    return found, table[flat].reshape(len(found), n)


def read_outcomes(owner: str, outcomes: Any, count: int, n: int) -> Array:
    """One outcome a setting as a number; a string of bits has that of the first qubit first."""
    given = list(outcomes)
    if len(given) != count:
        raise ValueError(f"{owner}: {count} settings but {len(given)} outcomes; give one outcome each, or none at all.")
    out = np.empty(count, np.int64)
    for i, outcome in enumerate(given):
        out[i] = as_index(owner, f"outcomes[{i}]", outcome, n)
    return out


def as_index(owner: str, name: str, outcome: Any, n: int) -> int:
    """An outcome of n qubits, bits or a number, as a number."""
    if isinstance(outcome, str):
        if len(outcome) != n or set(outcome) - {"0", "1"}:
            raise ValueError(f"{owner}: {name} is {outcome!r}; it must be {n} bits, 0 or 1, one a qubit.")
        return int(outcome, 2)
    try:
        number = int(outcome)
    except (TypeError, ValueError):
        number = -1
    if isinstance(outcome, bool) or number != outcome or not 0 <= number < 1 << n:
        raise ValueError(f"{owner}: {name} is {outcome!r}; it must be {n} bits or a number from 0 to {(1 << n) - 1}.")
    return number
