"""What a worker of a cluster does: a program of verbs on the blocks of one shard, and nothing else.

The state of a shard is a dictionary of numbered slots: its rows of every left block, its images and slopes. ``advance``
is a pure function of the state before, so a lost state is computed again from the last one that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import shard_deck as _deck  # noqa: F401 (its operations are known then)
from .here import HERE
from .marks import rows_mark
from .numpy import Array
from .operations import known, operation, qualified

__all__ = [
    "Advanced",
    "Call",
    "Own",
    "Sent",
    "Slot",
    "State",
    "adopted",
    "advance",
    "bytes_of",
    "known",
    "operation",
    "qualified",
    "rows_of",
    "small_of",
]

State = dict[int, Any]
Advanced = tuple[State, list[Any]]


@dataclass(frozen=True)
class Slot:
    """An argument that lies in the state of a shard."""

    at: int


@dataclass(frozen=True)
class Sent:
    """An argument that was sent to the workers beforehand, by its place among those."""

    at: int


@dataclass(frozen=True)
class Own:
    """An argument of which every shard was sent its own part, by its place among those."""

    at: int


@dataclass(frozen=True)
class Call:
    """One operation: its name, its arguments, and the slot for what it makes; None for something small."""

    name: str
    arguments: tuple[Any, ...]
    into: int | None = None


def advance(
    shard: Any,
    before: Advanced,
    calls: Sequence[Call],
    kept: frozenset[int],
    sent: Sequence[Any],
    own: Sequence[Any] = (),
) -> Advanced:
    """Run a program: the new state, which holds the slots that are still wanted, and the small results in order."""
    state, small = dict(before[0]), []
    last = {each.at: i for i, call in enumerate(calls) for each in call.arguments if isinstance(each, Slot)}
    state = {slot: value for slot, value in state.items() if slot in kept or slot in last}
    for i, call in enumerate(calls):
        if call.into is not None and call.into not in kept and call.into not in last:
            continue
        given = [_found(each, state, sent, own) for each in call.arguments]
        for each in call.arguments:  # what nobody wants any more goes before the next thing is made
            if isinstance(each, Slot) and last[each.at] == i and each.at not in kept:
                state.pop(each.at, None)
        result = operation(call.name)(shard, *given)
        if call.into is None:
            small.append(result)
        else:
            state[call.into] = result
    return state, small


def adopted(mine: Advanced, theirs: Advanced, slot: int, at: int) -> Advanced:
    """A state with one slot more, from another one."""
    return {**mine[0], at: theirs[0][slot]}, []


def bytes_of(advanced: Advanced) -> int:
    """What a state takes, as far as it is made of arrays."""
    return sum(each.nbytes for each in advanced[0].values() if isinstance(each, np.ndarray))


def small_of(advanced: Advanced) -> list[Any]:
    return advanced[1]


def rows_of(advanced: Advanced, slot: int, low: int, high: int) -> Array:
    return np.ascontiguousarray(advanced[0][slot][low:high])


def _found(argument: Any, state: State, sent: Sequence[Any], own: Sequence[Any]) -> Any:
    if isinstance(argument, Slot):
        return state[argument.at]
    if isinstance(argument, Own):
        return own[argument.at]
    return sent[argument.at] if isinstance(argument, Sent) else argument


# ------------------------------------------------------------------------------------------------------ operations


@known
def own_rows(shard: Any, columns: Array) -> Array:
    """The rows of this shard of columns that were sent whole."""
    return np.ascontiguousarray(columns[shard.rows])


@known
def normal(shard: Any, count: int, dtype: str, key: Sequence[int], chunk: int = 4096) -> Array:
    """Random rows that depend on the key and on where they are, not on how rows are shared out."""
    first, last = shard.rows.start, shard.rows.stop
    parts = []
    for at in range(first // chunk, -(-last // chunk)):
        rng = np.random.default_rng([*key, at])
        block = rng.standard_normal((chunk, count))
        if np.dtype(dtype).kind == "c":
            block = block + 1j * rng.standard_normal((chunk, count))
        parts.append(block[max(first - at * chunk, 0) : last - at * chunk])
    return np.concatenate(parts).astype(dtype) if parts else np.zeros((0, count), dtype)


@known
def zeros(shard: Any, count: int, dtype: str, at: int) -> Array:
    """Columns of zeros; a one in row ``at`` of the first, where that is one of ours."""
    out = np.zeros((shard.rows.stop - shard.rows.start, count), dtype)
    if shard.rows.start <= at < shard.rows.stop:
        out[at - shard.rows.start, 0] = 1.0
    return out


@known
def row_of(shard: Any, A: Array, at: int) -> Array:
    inside = shard.rows.start <= at < shard.rows.stop
    return A[at - shard.rows.start] if inside else np.zeros(A.shape[1], A.dtype)


@known
def spans_of(shard: Any) -> dict[str, tuple[int, int]]:
    """Where our rows and entries lie among all."""
    return {"rows": (shard.rows.start, shard.rows.stop), "entries": (shard.entries.start, shard.entries.stop)}


@known
def given(_shard: Any, own: Array) -> Array:
    """What was sent to this shard alone."""
    return own


@known
def mark_rows(shard: Any, A: Array) -> Array:
    """The mark of our rows, which lie behind those of the shards before."""
    return rows_mark(A, shard.rows.start)


@known
def mark_entries(shard: Any, z: Array) -> Array:
    """The same of numbers at our entries."""
    return rows_mark(z, shard.entries.start)


@known
def outer_own(shard: Any, rows: Array, columns: Array) -> Array:
    return np.outer(rows[shard.rows], columns)


@known
def dots_own(shard: Any, A: Array, B: Array, weights: Array | None) -> Array:
    return HERE.dots(A, B, None if weights is None else weights[shard.rows])


@known
def first_of(_shard: Any, pair: tuple[Any, Any]) -> Any:
    return pair[0]


@known
def second_of(_shard: Any, pair: tuple[Any, Any]) -> Any:
    return pair[1]
