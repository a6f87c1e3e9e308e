"""The compiled loops of marks.py. Importing this file loads numba; its users do that on first use."""

from __future__ import annotations

import numpy as np

from .kernels import compiled

_U = np.uint64
_STEP, _A, _B = _U(0x9E3779B97F4A7C15), _U(0x243F6A8885A308D3), _U(0x13198A2E03707344)  # as in marks.py


@compiled
def _first(state, word):  # type: ignore[no-untyped-def]
    """One word more, by the finaliser of splitmix64."""
    state = (state ^ _U(word)) + _STEP
    state = (state ^ (state >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> _U(27))) * _U(0x94D049BB133111EB)
    return state ^ (state >> _U(31))


@compiled
def _second(state, word):  # type: ignore[no-untyped-def]
    """One word more, by the finaliser of MurmurHash3."""
    state = (state ^ _U(word)) + _STEP
    state = (state ^ (state >> _U(33))) * _U(0xFF51AFD7ED558CCD)
    state = (state ^ (state >> _U(33))) * _U(0xC4CEB9FE1A85EC53)
    return state ^ (state >> _U(33))


@compiled
def entries(low, high, first_row, rows, cols, words, more, out):  # type: ignore[no-untyped-def]
    """out = sums over entries [low, high); what a row makes is worked out once where its entries lie together."""
    one, two = _U(0), _U(0)
    last = _U(rows[low]) + first_row
    a, b = _first(_A, last), _second(_B, last)
    for e in range(low, high):
        row = _U(rows[e]) + first_row
        if row != last:
            last, a, b = row, _first(_A, row), _second(_B, row)
        x, y = _first(a, cols[e]), _second(b, cols[e])
        for k in range(words.shape[1]):
            x, y = _first(x, words[e, k]), _second(y, words[e, k])
        for k in range(more.shape[1]):
            x, y = _first(x, more[e, k]), _second(y, more[e, k])
        one += x
        two += y
    out[0], out[1] = one, two


@compiled
def numbers(low, high, first_row, width, words, out):  # type: ignore[no-untyped-def]
    """out = sums over the words [low, high) of a block whose rows have ``width`` words."""
    one, two = _U(0), _U(0)
    row, column = low // width, low % width
    a, b = _first(_A, row + first_row), _second(_B, row + first_row)
    for e in range(low, high):
        one += _first(_first(a, column), words[e])
        two += _second(_second(b, column), words[e])
        column += _U(1)
        if column == width:
            row, column = row + _U(1), _U(0)
            a, b = _first(_A, row + first_row), _second(_B, row + first_row)
    out[0], out[1] = one, two
