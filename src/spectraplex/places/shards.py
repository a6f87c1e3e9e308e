"""What a worker of a cluster does: a program of verbs on the blocks of one shard, and nothing else.

The state of a shard is a dictionary of numbered slots: its rows of every left block, its images and slopes. ``advance``
is a pure function of the state before, so a lost state is computed again from the last one that was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .here import HERE
from .marks import rows_mark
from .numpy import Array

_PIECE = 1 << 16  # numbers that are made double at a time

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
class Call:
    """One operation: its name, its arguments, and the slot for what it makes; None for something small."""

    name: str
    arguments: tuple[Any, ...]
    into: int | None = None


def advance(shard: Any, before: Advanced, calls: Sequence[Call], kept: frozenset[int], sent: Sequence[Any]) -> Advanced:
    """Run a program: the new state, which holds the slots that are still wanted, and the small results in order."""
    state, small = dict(before[0]), []
    for call in calls:
        given = [_found(each, state, sent) for each in call.arguments]
        result = operation(call.name)(shard, *given)
        if call.into is None:
            small.append(result)
        else:
            state[call.into] = result
    return {slot: value for slot, value in state.items() if slot in kept}, small


def small_of(advanced: Advanced) -> list[Any]:
    return advanced[1]


def rows_of(advanced: Advanced, slot: int, low: int, high: int) -> Array:
    return np.ascontiguousarray(advanced[0][slot][low:high])


def _found(argument: Any, state: State, sent: Sequence[Any]) -> Any:
    if isinstance(argument, Slot):
        return state[argument.at]
    return sent[argument.at] if isinstance(argument, Sent) else argument


# ------------------------------------------------------------------------------------------------------ operations

OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(name: str) -> Callable[..., Any]:
    """An operation by its name; every verb of this machine's place is one, on the rows of the shard."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    verb = getattr(HERE, name)
    return lambda _shard, *arguments: verb(*arguments)


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function an operation: its first argument is the shard itself."""
    OPERATIONS[function.__name__] = function
    return function


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


# What a quasi-Newton method does, row by row; see dask_deck.py. Pairs are kept in single precision.


def _single(A: Array) -> Array:
    return A.astype(np.complex64 if A.dtype.kind == "c" else np.float32)


@known
def mixed(_shard: Any, g: Array, scaling: Array, mix: Array, pairs: int, *blocks: Array) -> Array:
    """Σ mixᵢ·(S, D·T, D·g): a direction, in single precision."""
    S, T = blocks[:pairs], blocks[pairs:]
    wide = mix[-1] * g.astype(np.complex128 if g.dtype.kind == "c" else np.float64)
    for share, each in zip(mix[pairs:-1], T, strict=True):
        wide = wide + share * each
    wide = scaling * wide
    for share, each in zip(mix[:pairs], S, strict=True):
        wide = wide + share * each
    return _single(wide)


@known
def products_of(_shard: Any, pairs: int, g: Array, scaling: Array, Y: Array, *blocks: Array) -> Array:
    """Inner products of S, D·T, D·g, Y with each other, then with g and T; below them ‖t‖² of the newest pair."""
    S, T = blocks[:pairs], blocks[pairs:]
    count = 2 * pairs + 2
    out = np.zeros((count + 1, count + 1 + pairs))
    flat = [_real(each) for each in (g, Y, *S, *T)]
    D = _real(np.repeat(scaling, 2, axis=1) if g.dtype.kind == "c" else scaling)
    for low in range(0, D.size, _PIECE):
        piece = slice(low, low + _PIECE)
        wide = [each[piece].astype(np.float64) for each in flat]
        first, here, steps, changes = wide[0], wide[1], wide[2 : 2 + pairs], wide[2 + pairs :]
        d = D[piece].astype(np.float64)
        rows = np.stack([*steps, *(d * t for t in changes), d * first, here])
        columns = np.stack([first, *changes])
        out[:count, :count] += rows @ rows.T
        out[:count, count:] += rows @ columns.T
        if pairs:
            out[-1, 0] += changes[-1] @ changes[-1]
    return out


def _real(A: Array) -> Array:
    """All real numbers of a block in one row."""
    A = np.ascontiguousarray(A)
    return A.reshape(-1).view(A.real.dtype)


@known
def added(_shard: Any, Y: Array, d: Array) -> Array:
    return (Y + d).astype(Y.dtype)


@known
def turned(_shard: Any, product: Array, ahead: Array, lean: float, factor: float) -> Array:
    return factor * (product - lean * ahead)


@known
def change(_shard: Any, new: Array, g: Array) -> Array:
    return _single(new - g)


@known
def first_of(_shard: Any, pair: tuple[Any, Any]) -> Any:
    return pair[0]


@known
def second_of(_shard: Any, pair: tuple[Any, Any]) -> Any:
    return pair[1]
