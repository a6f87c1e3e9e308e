"""A pair that was observed more than once: the same words in Python and in the shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...places.numpy import Array
from .observations import Observations

#: What to do where a pair comes more than once; "all" lets every one of them count.
WORDS = ("error", "mean", "sum", "first", "last", "all")


def refuse_word(how: Any, where: str) -> None:
    if not isinstance(how, str) or how not in WORDS:
        raise ValueError(f"{where} must be one of {', '.join(WORDS)}, got {how!r}.")


class Repeated(ValueError):
    """A pair comes twice and must not: the places of the first such one, and how many there are."""

    def __init__(self, first: int, again: int, count: int) -> None:
        super().__init__(f"observation {again} has the pair of observation {first} ({count} such in all)")
        self.first, self.again, self.count = first, again, count


def settled(seen: Observations, how: str) -> Observations:
    """Every pair once, in the order in which they came; "error" raises ``Repeated``."""
    key = seen.rows.astype(np.int64) * seen.shape[1] + seen.cols
    order = np.argsort(key, kind="stable")
    same = np.diff(key[order]) == 0
    if how == "all" or not same.any():
        return seen
    if how == "error":
        again = int(order[1:][same].min())
        raise Repeated(int(np.flatnonzero(key == key[again])[0]), again, int(same.sum()))
    begins = np.concatenate([[0], np.flatnonzero(~same) + 1])
    ends = np.concatenate([begins[1:], [order.size]])
    kept = order[ends - 1] if how == "last" else order[begins]
    values, weights = seen.values[kept], None if seen.weights is None else seen.weights[kept]
    if how in ("mean", "sum"):
        values, weights = _together(seen, order, begins, ends - begins, how)
    place = np.argsort(order[begins], kind="stable")
    return Observations(
        seen.rows[kept][place], seen.cols[kept][place], values[place], _taken(weights, place), seen.shape
    )


def _together(seen: Observations, order: Array, begins: Array, counts: Array, how: str) -> tuple[Array, Array | None]:
    """Sums, or means by weight; the weight of a pair is then the mean of its weights."""
    values = seen.values[order]
    if seen.weights is None:
        total = np.add.reduceat(values, begins)
        return (total if how == "sum" else total / counts), None
    weights = seen.weights[order]
    weight = np.add.reduceat(weights, begins)
    if how == "sum":
        return np.add.reduceat(values, begins), weight / counts
    return np.add.reduceat(values * weights, begins) / weight, weight / counts


def _taken(weights: Array | None, place: Array) -> Array | None:
    return None if weights is None else weights[place]


def named(seen: Observations, labels: tuple[Any, Any], how: str, refusal: Callable[[str, Repeated], str]) -> Any:
    """The same; where a pair must not come twice the refusal is told its name."""
    try:
        return settled(seen, how)
    except Repeated as found:
        row, col = seen.rows[found.again], seen.cols[found.again]
        pair = tuple(each.values[place : place + 1].tolist()[0] for each, place in zip(labels, (row, col), strict=True))
        raise ValueError(refusal(f"({pair[0]!r}, {pair[1]!r})", found)) from None
