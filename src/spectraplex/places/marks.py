"""Marks: 128 bits that stand for numbers and for where they are, added up over all of them.

Each number is mixed with its position to two words of 64 bits, by two functions that have nothing in common, and the
words are summed modulo 2⁶⁴. So the mark of a table, a block or an image is the sum of the marks of its parts, in
whatever parts of rows it comes; a number that was changed, or two rows that were swapped, make another mark. They are
whole numbers: every machine and any number of threads gives the same. ``fingerprint`` makes a SHA-256 of them.
"""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from .numpy import Array, in_pieces, pieces_of
from .pattern import Pattern

_SHORT = 20_000  # words up to which NumPy does it, and no compiled loop is loaded
_MIDDLING = 2_000_000  # and up to which it does so while no compiled loop is loaded: that takes 35 MB
STEP = np.uint64(0x9E3779B97F4A7C15)
SEEDS = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
FIRST = tuple(map(np.uint64, (30, 0xBF58476D1CE4E5B9, 27, 0x94D049BB133111EB, 31)))  # of splitmix64
SECOND = tuple(map(np.uint64, (33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33)))  # of MurmurHash3
_LANES: Array = np.array(SEEDS)[:, None]
_CONSTANTS: Array = np.array([FIRST, SECOND]).T[:, :, None]


def mixed(words: Array) -> Array:
    """Words of 64 bits, well stirred: numbers that look random, the same in every process (splitmix64)."""
    a, b, c, d, e = FIRST
    state = words + STEP
    state = (state ^ (state >> a)) * b
    state = (state ^ (state >> c)) * d
    return np.asarray(state ^ (state >> e))


def nothing() -> Array:
    """The mark of no numbers at all."""
    return np.zeros(2, np.uint64)


def entries_mark(rows: Array, cols: Array, values: Array, weights: Array | None = None, first_row: int = 0) -> Array:
    """Of the entries of a table: rows (``first_row`` is added to them), columns, numbers, and weights if there are any.

    The order does not matter, and a pair may come more than once.
    """
    words, more = _words(values), np.empty((rows.size, 0), np.uint64) if weights is None else _words(weights)
    first = np.uint64(first_row)
    if rows.size * (words.shape[1] + more.shape[1] + 1) < _SHORT:
        place = [rows.astype(np.uint64) + first, cols.astype(np.uint64)]
        return _summed([*place, *words.T, *more.T])
    from . import mark_kernels

    sums = np.zeros((pieces_of(rows.size), 2), np.uint64)
    in_pieces(rows.size, lambda i, low, high: mark_kernels.entries(low, high, first, rows, cols, words, more, sums[i]))
    return np.asarray(sums.sum(axis=0))


def pattern_mark(
    pattern: Pattern, values: Array, weights: Array | None = None, first_row: int = 0, which: Array | None = None
) -> Array:
    """Of the entries at the positions of a pattern; ``which`` says the position of each where some come twice."""
    if which is not None:
        return entries_mark(pattern.rows[which], pattern.indices[which], values, weights, first_row)
    total, cuts = nothing(), np.searchsorted(pattern.indptr, np.arange(0, pattern.size, 1 << 22).astype(np.uint64))
    for low, high in zip(cuts, [*cuts[1:], pattern.shape[0]], strict=True):  # the row of every entry is not kept
        count = np.diff(pattern.indptr[low : high + 1]).astype(np.int64)
        some = slice(int(pattern.indptr[low]), int(pattern.indptr[high]))
        own = None if weights is None else weights[some]
        rows = np.repeat(np.arange(low, high, dtype=np.uint64), count)
        total = total + entries_mark(rows, pattern.indices[some], values[some], own, first_row)
    return total


def rows_mark(block: Array, first_row: int = 0) -> Array:
    """Of a block, or of numbers in a row: each with its row (``first_row`` is added) and its column."""
    block = block.reshape(block.shape[0], math.prod(block.shape[1:]))
    total, many = nothing(), max(1, (1 << 22) // max(1, block.shape[1]))
    for low in range(0, block.shape[0], many):  # a file that is mapped to memory is read piece by piece
        words = _words(block[low : low + many])
        total = total + _rows_mark(words, first_row + low)
    return total


def _rows_mark(words: Array, first_row: int) -> Array:
    m, k = words.shape
    if words.size < _SHORT:
        return _summed([words.reshape(-1)], _places(first_row, m, k))
    if words.size < _MIDDLING and f"{__package__}.mark_kernels" not in sys.modules:
        rows = max(1, _SHORT // k)
        parts = [(low, words[low : low + rows]) for low in range(0, m, rows)]
        marks = [_summed([part.reshape(-1)], _stirred_places(first_row + low, *part.shape)) for low, part in parts]
        return np.asarray(np.sum(marks, axis=0, dtype=np.uint64))
    from . import mark_kernels

    sums, first = np.zeros((pieces_of(words.size), 2), np.uint64), np.uint64(first_row)
    flat, width = words.reshape(-1), np.uint64(k)
    in_pieces(flat.size, lambda i, low, high: mark_kernels.numbers(low, high, first, width, flat, sums[i]))
    return np.asarray(sums.sum(axis=0))


@lru_cache(maxsize=8)
def _places(first_row: int, m: int, k: int) -> Array:
    """The rows and columns of a small block, stirred: blocks of the same shape come again and again."""
    state = _stirred_places(first_row, m, k)
    state.flags.writeable = False
    return state


def _stirred_places(first_row: int, m: int, k: int) -> Array:
    rows = np.repeat(np.arange(first_row, first_row + m, dtype=np.uint64), k)
    cols = np.tile(np.arange(k, dtype=np.uint64), m)
    return _stirred([rows, cols], _LANES)


def _words(numbers: Array) -> Array:
    """The bits of numbers as words, one row a number (or a row of a block); -0.0 is not 0.0."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind in "biu":
        numbers = numbers.astype(np.int64)
    elif numbers.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        numbers = numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64)
    numbers = np.ascontiguousarray(numbers)
    single = numbers.dtype in (np.float32, np.complex64)
    words: Any = numbers.view(np.uint32 if single else np.uint64)
    return np.asarray(words.reshape(numbers.shape[0], int(words.size // max(1, numbers.shape[0]))))


def _summed(words: list[Array], state: Array = _LANES) -> Array:
    """What the compiled loops do, by NumPy."""
    return np.asarray(_stirred(words, state).sum(axis=1, dtype=np.uint64))


def _stirred(words: list[Array], state: Array) -> Array:
    """Every word is mixed into what came before it, by both functions at once: one in each row."""
    a, b, c, d, e = _CONSTANTS
    for word in words:
        state = (state ^ word) + STEP
        state = (state ^ (state >> a)) * b
        state = (state ^ (state >> c)) * d
        state ^= state >> e
    return state
