"""What a worker does for ``MatrixCompletion``: sums over its part of a table, what is kept aside, its objective."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...objectives.frame_parts import Rows
from ...objectives.row_order import hashes
from ...objectives.shard import Shard
from ...places.marks import mixed
from ...places.numpy import Array
from ...places.shards import known
from ..input.observations import OWNER, Observations
from ..input.repeats import settled
from .choose import held_out_loss
from .recipe import Recipe


@dataclass(frozen=True, eq=False)
class Sums:
    """Of one part, and by addition of all: observations, values, and weights of every column."""

    count: int
    weight: float
    total: float  # of weight times value
    low: float
    high: float
    words: frozenset[float]  # values where they are at most three: classes
    columns: Array
    counts: Array  # observations of every column
    rows: int  # that have an observation

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.count + other.count,
            self.weight + other.weight,
            self.total + other.total,
            min(self.low, other.low),
            max(self.high, other.high),
            frozenset(sorted(self.words | other.words)[:4]),
            self.columns + other.columns,
            self.counts + other.counts,
            self.rows + other.rows,
        )


def checked(part: Rows, duplicates: str = "all") -> Rows:
    """Observations of weight zero left out, pairs that come twice settled, those of one value as one of double weight.

    All observations of a row lie in one part, in the order of the frame.
    """
    weights = part.weights
    if weights is not None:
        if (weights < 0).any():
            raise ValueError(f"{OWNER}: sample_weight {weights.min():g} is negative; weights are not.")
        part = _some(part, weights > 0)
    seen = settled(observed(part), duplicates).tidy()
    return replace(part, rows=seen.rows, cols=seen.cols, values=seen.values, weights=seen.weights)


def mark_of(part: Rows) -> int:
    """A number that says which observations these are; over all parts it has the same sum, however many there are."""
    rows, cols = hashes(part.labels)[part.rows], mixed(part.cols.astype(np.uint64))
    values = mixed(np.ascontiguousarray(part.values, np.float64).view(np.uint64))
    return int(np.sum(mixed(rows ^ mixed(cols) ^ values), dtype=np.uint64))


def observed(part: Rows) -> Observations:
    return Observations(part.rows, part.cols, part.values, part.weights, part.shape)


def sums_of(part: Rows) -> Sums:
    weights = np.ones(part.values.size) if part.weights is None else part.weights
    rows, columns = observed(part).counts()
    counts = np.bincount(part.cols, minlength=part.columns)
    words = frozenset(np.unique(part.values[:100_000])[:4].tolist())
    if len(words) <= 3:
        words = frozenset(np.unique(part.values)[:4].tolist())
    ends = (float(part.values.min(initial=np.inf)), float(part.values.max(initial=-np.inf)))
    weight, total = float(weights.sum()), float(weights @ part.values)
    return Sums(part.values.size, weight, total, *ends, words, columns, counts, int(np.count_nonzero(rows)))


def in_signs(part: Rows) -> Rows:
    """0/1 as −1/+1."""
    return replace(part, values=2.0 * part.values - 1.0)


def logged(part: Rows) -> Rows:
    return replace(part, values=np.log1p(part.values))


def first_rows(part: Rows, share: float) -> Observations:
    """The first rows, with about a share of the observations."""
    count = part.values.size
    if share < 1.0:  # up to where a row begins
        count = int(np.searchsorted(part.rows, part.rows[int(share * count)])) if count else 0
    rows = int(part.rows[count - 1]) + 1 if count else 0
    return replace(observed(_some(part, slice(0, count))), shape=(rows, part.columns))


def bends_at(part: Rows, recipe: Recipe, here: float) -> tuple[float, float]:
    return recipe.bends(observed(part), here)


def split(part: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """What is fitted and what is kept aside: pairs by a hash of their labels, however rows are shared out."""
    aside = drawn(hashes(part.labels)[part.rows], part.cols, seed) < share
    return _some(part, ~aside), _some(part, aside)


def drawn(rows: Array, cols: Array, seed: int) -> Array:
    """Numbers in [0, 1), one a pair, that look random."""
    stirred = mixed(rows ^ mixed(cols.astype(np.uint64)) ^ mixed(np.full(1, seed, np.uint64)))
    return np.asarray((stirred >> np.uint64(11)) * 2.0**-53)


def _some(part: Rows, which: Array | slice) -> Rows:
    weights = None if part.weights is None else part.weights[which]
    return replace(part, rows=part.rows[which], cols=part.cols[which], values=part.values[which], weights=weights)


def shard_of(
    part: Rows,
    aside: Rows | None,
    rows: slice,
    entries: slice,
    recipe: Recipe,
    offset: float,
    mean: float,
    column_scales: Array | None,
) -> Shard:
    """The objective of one part; ``mean`` is that of the rows' counts in the whole table."""
    seen, scales = observed(part), None
    if column_scales is not None:
        scales = (recipe.scale(seen.counts()[0], mean), column_scales)
    return Shard(recipe.table(seen, offset, scales), rows, entries, part.labels, aside)


# -------------------------------------------------------------------------------------------- operations of a round


@known
def held_out(
    shard: Shard, U: Array | None, s: Array | None, V: Array | None, rows: Array, columns: Array
) -> tuple[float, float]:
    """Loss and weight of what is kept aside, predicted by these factors and intercepts."""
    low = None if U is None or s is None or V is None else (U, s, V)
    return held_out_loss(shard.fit, shard.aside, low, rows[:, 0], columns)


@known
def row_scales(shard: Shard) -> Array:
    """A column of the left side."""
    fit = shard.fit
    return np.ones((fit.shape[0], 1)) if fit.scales is None else fit.scales[0][:, None]
