"""What a quasi-Newton method does with the rows of one shard, piece by piece in the cache; see dask_deck.py.

Pairs are kept in single precision, sums are in double. The right side, which is with the client, is done by the same
functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .numpy import Array, in_pieces, pieces_of
from .operations import known

_PIECE = 1 << 13  # numbers that are made double at a time: twenty such rows stay in the second-level cache
_MANY = 2_000_000  # numbers of a block on the client from which compiled functions, of 110 MB, are worth their memory
_PAIRS = 8  # pairs are handed over in tuples as long as this, or a multiple


@known
def mixed(shard: Any, g: Array, scaling: Array, mix: Array, pairs: int, *blocks: Array) -> Array:
    """Σ mixᵢ·(S, D·T, D·g): a direction, in single precision."""
    if _plain(shard, g):
        return _mixed(g, scaling, mix, pairs, *blocks)
    from . import shard_passes

    out = np.empty(g.shape, _single(g))
    first, D, into, *flat = (_real(each) for each in (g, _spread(scaling, g), out, *blocks))
    S, T = _padded(flat[:pairs], into), _padded(flat[pairs:], into)
    in_pieces(into.size, lambda _, low, high: shard_passes.mixed(low, high, first, D, S, T, pairs, mix, into))
    return out


@known
def turned(shard: Any, product: Array, ahead: Array, lean: float, factor: float, g: Array) -> tuple[Array, Array]:
    """The gradient factor·(product − lean·ahead) as g is stored, and its change in single precision."""
    new, change = np.empty(g.shape, g.dtype), np.empty(g.shape, _single(g))
    P, A, before, N, T = (_real(np.asarray(each)) for each in (product, ahead, g, new, change))
    if _plain(shard, g):
        _turned(P, A, lean, factor, before, N, T)
        return new, change
    from . import shard_passes

    in_pieces(N.size, lambda _, low, high: shard_passes.turned(low, high, P, A, lean, factor, before, N, T))
    return new, change


@known
def products_of(_shard: Any, pairs: int, g: Array, scaling: Array, Y: Array, *blocks: Array) -> Array:
    """Inner products of S, D·T, D·g, Y with each other, then with g and T; below them ‖t‖² of the newest pair."""
    count = 2 * pairs + 2
    out = np.zeros((count + 1, count + 1 + pairs))
    first, here, *flat = (_real(each) for each in (g, Y, *blocks))
    D, T = _real(_spread(scaling, g)), flat[pairs:]
    rows, columns = np.empty((count, _PIECE)), np.empty((1 + pairs, _PIECE))
    for piece, size in _pieces(first.size):
        R, C = rows[:, :size], columns[:, :size]
        for into, each in zip(C, (first, *T), strict=True):
            into[:] = each[piece]
        for into, each in zip(R, flat[:pairs], strict=False):
            into[:] = each[piece]
        np.multiply(C[1:], D[piece], out=R[pairs : 2 * pairs])
        np.multiply(C[0], D[piece], out=R[-2])
        R[-1] = here[piece]
        out[:count, :count] += R @ R.T
        out[:count, count:] += R @ C.T
        if pairs:
            out[-1, 0] += C[-1] @ C[-1]
    return out


@known
def raw_products(
    shard: Any, product: Array, lean: float, factor: float, g: Array, scaling: Array, ahead: Array, *blocks: Array
) -> Array:
    """Inner products from which those of the next gradient follow, before it is known what lean and factor are.

    ``blocks`` are S, the direction d, T; ``lean`` and ``factor`` are a guess, and N = factor·(product − lean·ahead) is
    about the next gradient. Rows are the blocks, g, N, ahead; columns are N, ahead, both times D and D², d and D·d, and
    in the row of g alone its products with g, D·g, D²·g.
    """
    if _plain(shard, g):
        return _raw_products(product, lean, factor, g, scaling, ahead, *blocks)
    from . import shard_passes

    P, A, before, *flat = (_real(each) for each in (product, ahead, g, *blocks))
    D, pairs = _real(_spread(scaling, g)), len(blocks) // 2
    d = flat[pairs]
    S, T = _padded(flat[:pairs], d), _padded(flat[pairs + 1 :], d)
    out = np.zeros((pieces_of(d.size), len(blocks) + 3, 11))

    def job(i: int, low: Any, high: Any) -> None:
        shard_passes.raw_products(low, high, P, A, before, D, S, d, T, pairs, lean, factor, out[i])

    in_pieces(d.size, job)
    return np.asarray(out.sum(axis=0))


@known
def added(_shard: Any, Y: Array, d: Array) -> Array:
    return (Y + d).astype(Y.dtype, copy=False)


def _single(A: Array) -> Any:
    return np.complex64 if A.dtype.kind == "c" else np.float32


def _spread(scaling: Array, like: Array) -> Array:
    """One number for the real and the imaginary part."""
    return np.repeat(scaling, 2, axis=1) if like.dtype.kind == "c" else scaling


def _padded(flat: list[Array], like: Array) -> tuple[Array, ...]:
    """A tuple of one length for any number of pairs: the compiled functions are made once."""
    return (*flat, *[like] * (-len(flat) % _PAIRS or (0 if flat else _PAIRS)))


def _real(A: Array) -> Array:
    """All real numbers of a block in one row."""
    A = np.ascontiguousarray(A)
    return A.reshape(-1).view(A.real.dtype)


def _pieces(size: int) -> Iterator[tuple[slice, int]]:
    for low in range(0, size, _PIECE):
        yield slice(low, low + _PIECE), min(_PIECE, size - low)


# ------------------------------------------------------------------------------------- the same without compiled passes


def _plain(shard: Any, g: Array) -> bool:
    """The client does without compiled functions as long as they would take more memory than what they work on."""
    return shard is None and g.size < _MANY


def _mixed(g: Array, scaling: Array, mix: Array, pairs: int, *blocks: Array) -> Array:
    out = np.empty(g.shape, _single(g))
    D, into, *flat = (_real(each) for each in (_spread(scaling, g), out, *blocks, g))
    rows = np.empty((len(flat), _PIECE))
    for piece, size in _pieces(into.size):
        R = rows[:, :size]
        for row, each in zip(R, flat, strict=True):
            row[:] = each[piece]
        wide = mix[pairs:] @ R[pairs:]
        wide *= D[piece]
        if pairs:
            wide += mix[:pairs] @ R[:pairs]
        into[piece] = wide
    return out


def _turned(P: Array, A: Array, lean: float, factor: float, before: Array, N: Array, T: Array) -> None:
    room = np.empty((2, _PIECE))
    for piece, size in _pieces(before.size):
        wide, term = room[0, :size], room[1, :size]
        np.multiply(P[piece], factor, out=wide, dtype=np.float64)
        wide -= np.multiply(A[piece], factor * lean, out=term, dtype=np.float64)
        N[piece] = wide
        wide -= before[piece]
        T[piece] = wide


def _raw_products(
    product: Array, lean: float, factor: float, g: Array, scaling: Array, ahead: Array, *blocks: Array
) -> Array:
    P, A, before, *flat = (_real(each) for each in (product, ahead, g, *blocks))
    D, count, middle = _real(_spread(scaling, g)), len(blocks) + 1, len(blocks) // 2
    out = np.zeros((count + 2, 11))
    rows, columns, held = np.empty((count, _PIECE)), np.empty((8, _PIECE)), np.empty((2, _PIECE))
    for piece, size in _pieces(before.size):
        R, X, (d, own) = rows[:, :size], columns[:, :size], held[:, :size]
        for row, each in zip(R, (*flat, before), strict=True):
            row[:] = each[piece]
        X[0], X[1], d[:], X[6] = P[piece], A[piece], D[piece], R[middle]
        X[0] -= np.multiply(X[1], lean, out=own)
        X[0] *= factor
        np.multiply(X[:2], d, out=X[2:4])
        np.multiply(X[2:4], d, out=X[4:6])
        np.multiply(X[6], d, out=X[7])
        out[:count, :8] += R @ X.T
        out[count:, :8] += X[:2] @ X.T
        np.multiply(R[-1], d, out=own)
        out[count - 1, 8:] += R[-1] @ R[-1], R[-1] @ own, own @ own
    return out
