"""A table of observations in a Dask frame, shared out by rows; labels are encoded on the workers.

Rows are brought together by a shuffle, so that each shard holds whole rows. The client learns the labels of the
columns, and of every shard how many rows and observations it has: nothing tall comes here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..checks import whole as _whole
from ..measurements.entries import Entries
from ..places.dask import ClusterPlace
from ..places.numpy import Array
from .fit import Fit
from .row_order import ordered, shared_out
from .shard import Shard
from .sharded import ShardedFit


@dataclass(frozen=True, eq=False)
class Rows:
    """What was observed in the rows of one shard: places counted from zero, values, weights, and the rows' labels.

    Sorted by row, then column. ``columns`` is how many there are in all.
    """

    rows: Array
    cols: Array
    values: Array
    weights: Array | None
    labels: Array
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return (int(self.labels.size), self.columns)


@dataclass(frozen=True, eq=False)
class FarTable:
    """A table whose rows are shared out: a future of ``Rows`` for each shard, where its rows and observations begin."""

    client: Any
    parts: tuple[Any, ...]
    cuts: tuple[int, ...]
    ends: tuple[int, ...]
    columns: Array  # labels
    numbers: tuple[int, ...]  # which range of hashes each part has the rows of,
    count: int  # and of how many

    @property
    def shape(self) -> tuple[int, int]:
        return (self.cuts[-1], int(self.columns.size))

    def __len__(self) -> int:
        return self.ends[-1]

    def located(self) -> list[tuple[Any, slice, slice]]:
        """Every part, with the slice of its rows and that of its observations."""
        rows, entries = ([slice(a, b) for a, b in pairwise(ends)] for ends in (self.cuts, self.ends))
        return list(zip(self.parts, rows, entries, strict=True))

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What a function says of every part."""
        asked = [self.client.submit(function, part, *arguments, pure=False) for part in self.parts]
        return list(self.client.gather(asked))


def far_table(
    owner: str,
    frame: Any,
    names: Sequence[str | None],
    shards: int | None,
    client: Any,
    *,
    once: bool,
) -> FarTable:
    """The columns row, column, value and weight (or None) of a Dask frame; ``once`` refuses a pair that comes twice."""
    client = client_or_say(owner, client)
    if not is_far(frame):
        raise TypeError(
            f"{owner}: frame must be a dask.dataframe, got {type(frame).__name__}; a table of this machine needs no "
            "cluster, or goes through dask.dataframe.from_pandas."
        )
    wanted = [name for name in names if name is not None]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        has = ", ".join(map(str, frame.columns))
        raise ValueError(f"{owner}: the frame has no column {missing[0]!r}; it has {has}.")
    row, column = wanted[:2]
    if row == column:
        raise ValueError(f"{owner}: row and column must be two columns, got {row!r} for both.")
    count = max(1, sum(client.nthreads().values())) if shards is None else _whole(owner, "shards", shards)
    columns, _ = _each(owner, column, frame[column].drop_duplicates().dropna().compute(), _sorted)
    parts = shared_out(frame[wanted], row, count).to_delayed()
    held = [
        client.submit(encoded, part, owner, wanted, columns, once, key=f"encode-{part.key[0]}-{p}", pure=False)
        for p, part in enumerate(client.compute(parts))
    ]
    sizes = client.gather(client.map(sizes_of, held, pure=False))
    numbers = tuple(p for p, size in enumerate(sizes) if size[1])
    some = [(held[p], sizes[p]) for p in numbers]
    if not some:
        raise ValueError(f"{owner}: the frame holds no observation; there is nothing to fit.")
    cuts, ends = ((0, *itertools.accumulate(size[i] for _, size in some)) for i in (0, 1))
    return FarTable(client, tuple(part for part, _ in some), cuts, ends, columns, numbers, count)


def is_far(frame: Any) -> bool:
    """Whether this is a Dask frame, without importing Dask."""
    return type(frame).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(frame, "npartitions")


def sharded_completion(
    frame: Any, row: str, column: str, value: str, loss: Any, weight: str | None, shards: int | None, client: Any
) -> ShardedFit:
    """See ``Completion.from_dask``."""
    table = far_table("Completion.from_dask", frame, (row, column, value, weight), shards, client, once=True)
    located = [
        table.client.submit(fitted, part, loss, rows, entries, pure=False) for part, rows, entries in table.located()
    ]
    kinds = table.client.gather([table.client.submit(kind_of, shard, pure=False) for shard in located])
    place = ClusterPlace(table.client, located, *table.shape)
    return ShardedFit(place, "Completion", len(table), kinds[0], table.columns)


def fitted(part: Rows, loss: Any, rows: slice, entries: slice) -> Shard:
    fit = Fit(Entries(part.rows, part.cols, part.shape), part.values, loss, part.weights)
    return Shard(fit, rows, entries, part.labels)


def kind_of(shard: Shard) -> str:
    return str(shard.fit.dtype)


def client_or_say(owner: str, client: Any) -> Any:
    """The client that was given, or the one that is connected already."""
    if client is not None:
        return client
    try:
        import distributed
    except ImportError:
        raise ImportError(
            f"{owner} needs the extra 'cluster' (dask, distributed, pyarrow): from a checkout, "
            "pip install '.[cluster]'."
        ) from None
    current: Any = distributed.default_client
    try:
        return current()
    except ValueError:
        raise ValueError(
            f"{owner}: no cluster is connected; make one first, e.g. client = distributed.Client() for "
            "this machine, or Client('tcp://scheduler:8786')."
        ) from None


def encoded(part: Any, owner: str, names: Sequence[str], columns: Any, once: bool) -> Rows:
    """One partition as observations of its own rows; refuses what none can be, in words of the frame."""
    row, column, value, *rest = names
    for name in names:
        if bool(part[name].isna().any()):
            raise ValueError(f"{owner}: column {name!r} has missing values; drop those rows.")
    labels, rows = _each(owner, row, part[row], ordered) if len(part) else (np.empty(0), np.empty(0, np.int64))
    cols = np.searchsorted(columns, np.asarray(part[column])) if len(part) else np.empty(0, np.int64)
    values, weights = _numbers(owner, part, value), _numbers(owner, part, rest[0]) if rest else None
    order = np.lexsort((cols, rows))
    rows, cols, values = rows[order], cols[order], values[order]
    same = np.nonzero((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]))[0]
    if once and same.size:
        who, what = labels[rows[same[0]]], columns[cols[same[0]]]
        raise ValueError(f"{owner}: {row} {who!r} and {column} {what!r} come twice; keep one, or their mean.")
    weights = None if weights is None else weights[order]
    return Rows(rows, cols, values, weights, labels, int(columns.size))


def _each(owner: str, name: str, labels: Any, order: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Each label once, in an order, and where every one of them is."""
    try:
        each, where = order(np.asarray(labels))
    except TypeError:
        raise ValueError(
            f"{owner}: labels in column {name!r} are of more than one kind and have no order; make all of them "
            "strings, or all numbers."
        ) from None
    return each, where.reshape(-1)


def _sorted(labels: Any) -> tuple[Any, Any]:
    return np.unique(labels, return_inverse=True)


def _numbers(owner: str, part: Any, name: str) -> Any:
    try:
        numbers = np.asarray(part[name], dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(f"{owner}: column {name!r} holds {part[name].dtype}, not numbers; convert it first.") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"{owner}: column {name!r} holds infinity; leave such rows out.")
    return numbers


def sizes_of(part: Rows) -> tuple[int, int]:
    """Rows, and observations."""
    return int(part.labels.size), int(part.values.size)
