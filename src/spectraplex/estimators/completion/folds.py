"""Which observations are kept aside while a setting is chosen: folds that do not know what labels are called.

A label is known by the observations that it has: by how their values rank, and by which labels they are shared with.
From these every pair gets a number that looks random, and the folds are cut from the order of the numbers. So neither
names of labels nor the order of the data, nor the unit of the values, nor a seed decides which pairs are kept aside.
"""

from __future__ import annotations

import math

import numpy as np

from ...places.marks import mixed
from ...places.numpy import Array
from ..input.observations import Observations

_ENOUGH = 5000  # pairs kept aside, in all folds together: a radius is then known well enough
_MOST = 5  # folds
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def folds(seen: Observations, share: float) -> list[Array]:
    """Masks of observations to keep aside: one of so large a share of the *pairs*, more where those are few.

    A pair that comes twice is one.
    """
    pair, key = _keys(seen)
    held = _held(key.size, share)
    most = min(_MOST, max(1, math.floor(key.size / held)))
    count = min(most, math.ceil(_ENOUGH / held))
    if count == 1:
        chosen = key <= np.partition(key, held - 1)[held - 1]
        if np.count_nonzero(chosen) == held:  # no two numbers are the same there
            return [np.asarray(chosen[pair])]
    order = np.argsort(key, kind="stable")
    out = []
    for fold in range(count):
        chosen = np.zeros(key.size, bool)
        chosen[order[fold * held : (fold + 1) * held]] = True
        out.append(np.asarray(chosen[pair]))
    return out


def latest(seen: Observations, share: float, ranks: Array) -> Array:
    """A mask of so large a share of the *pairs*, the latest by the ranks of their times; ties as in ``folds``."""
    pair, key = _keys(seen)
    chosen = np.zeros(key.size, bool)
    chosen[np.lexsort((key, ranks))[key.size - _held(key.size, share) :]] = True
    return np.asarray(chosen[pair])


def asides(seen: Observations, share: float, late: Array | None) -> list[Array]:
    """What is kept aside: a mask of the latest observations where there is one, else ``folds``."""
    return folds(seen, share) if late is None else [late]


def _held(count: int, share: float) -> int:
    return min(max(1, round(share * count)), max(count - 1, 1))


def _keys(seen: Observations) -> tuple[Array, Array]:
    """The pair of every observation, and a number for every pair."""
    place = seen.rows.astype(np.int64) * seen.shape[1] + seen.cols
    if (np.diff(place) > 0).all():
        pair = np.arange(place.size)
    else:
        place, pair = np.unique(place, return_inverse=True)
        pair = pair.reshape(-1)
    rank = np.searchsorted(np.unique(seen.values), seen.values)
    value = _summed(pair, mixed(rank.astype(np.uint64)), place.size)  # of all observations of a pair
    rows, cols = place // seen.shape[1], place % seen.shape[1]
    row, col = (_summed(side, value, count) for side, count in zip((rows, cols), seen.shape, strict=True))
    row, col = (
        _summed(rows, mixed(value + mixed(col)[cols]), seen.shape[0]),
        _summed(cols, mixed(value ^ mixed(row)[rows]), seen.shape[1]),
    )
    return pair, mixed(mixed(row)[rows] + mixed(col + _GOLDEN)[cols] + mixed(value))


def _summed(places: Array, numbers: Array, count: int) -> Array:
    """Sums of whole numbers, modulo 2⁶⁴: their order makes no difference."""
    out = np.zeros(count, np.uint64)
    np.add.at(out, places, numbers)
    return out
