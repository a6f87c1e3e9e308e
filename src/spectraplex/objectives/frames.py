"""A table of observations in a Dask frame, shared out by rows; labels are encoded on the workers.

Rows are brought together by a shuffle, so that each shard holds whole rows. The client learns the labels of the
columns, and of every shard how many rows and observations it has: nothing tall comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import whole as _whole
from ..measurements.entries import Entries
from ..places.dask import ClusterPlace
from .fit import Fit
from .row_order import ordered, shared_out
from .shard import Shard
from .sharded import ShardedFit


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one partition: their fit, None without any, and their labels in its order."""

    fit: Fit | None
    labels: Any


def sharded_completion(
    frame: Any, row: str, column: str, value: str, loss: Any, weight: str | None, shards: int | None, client: Any
) -> ShardedFit:
    """See ``Completion.from_dask``."""
    client = client_or_say(client)
    if not (hasattr(frame, "npartitions") and hasattr(frame, "columns")):
        raise TypeError(
            f"Completion.from_dask: frame must be a dask.dataframe, got {type(frame).__name__}; a table of this "
            "machine goes to Completion itself, or through dask.dataframe.from_pandas."
        )
    names = [row, column, value, *([] if weight is None else [weight])]
    missing = [name for name in names if name not in frame.columns]
    if missing:
        has = ", ".join(map(str, frame.columns))
        raise ValueError(f"Completion.from_dask: the frame has no column {missing[0]!r}; it has {has}.")
    count = (
        max(1, sum(client.nthreads().values())) if shards is None else _whole("Completion.from_dask", "shards", shards)
    )
    columns, _ = _each(column, frame[column].drop_duplicates().dropna().compute(), _sorted)
    parts = shared_out(frame[names], row, count).to_delayed()
    held = [
        client.submit(encoded, part, names, columns, loss, key=f"encode-{part.key[0]}-{p}", pure=False)
        for p, part in enumerate(client.compute(parts))
    ]
    sizes = client.gather(client.map(sizes_of, held, pure=False))
    some = [(part, size) for part, size in zip(held, sizes, strict=True) if size[1]]
    if not some:
        raise ValueError("Completion.from_dask: the frame holds no observation; there is nothing to fit.")
    cuts, ends = (np.concatenate([[0], np.cumsum([size[i] for _, size in some])]) for i in (0, 1))
    located = [
        client.submit(located_at, part, slice(int(a), int(b)), slice(int(c), int(d)), pure=False)
        for (part, _), a, b, c, d in zip(some, cuts[:-1], cuts[1:], ends[:-1], ends[1:], strict=True)
    ]
    place = ClusterPlace(client, located, int(cuts[-1]), columns.size)
    return ShardedFit(place, "Completion", int(ends[-1]), some[0][1][2], columns)


def client_or_say(client: Any) -> Any:
    """The client that was given, or the one that is connected already."""
    if client is not None:
        return client
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "Completion.from_dask needs the extra 'cluster' (dask, distributed, pyarrow): from a checkout, "
            "pip install '.[cluster]'."
        ) from None
    current: Any = distributed.default_client
    try:
        return current()
    except ValueError:
        raise ValueError(
            "Completion.from_dask: no cluster is connected; make one first, e.g. client = distributed.Client() for "
            "this machine, or Client('tcp://scheduler:8786')."
        ) from None


def encoded(part: Any, names: Sequence[str], columns: Any, loss: Any) -> Rows:
    """One partition as a fit of its own rows; refuses what no observation can be, in words of the frame."""
    row, column, value, *rest = names
    if not len(part):
        return Rows(None, np.empty(0))
    for name in names:
        if bool(part[name].isna().any()):
            raise ValueError(f"Completion.from_dask: column {name!r} has missing values; drop those rows.")
    labels, rows = _each(row, part[row], ordered)
    found = np.asarray(part[column])
    cols = np.searchsorted(columns, found)
    values = _numbers(part, value)
    twice = _twice(rows, cols)
    if twice is not None:
        raise ValueError(
            f"Completion.from_dask: {row} {labels[rows[twice]]!r} and {column} {found[twice]!r} come twice; keep one, "
            "or their mean."
        )
    weights = _numbers(part, rest[0]) if rest else None
    fit = Fit(Entries(rows, cols, (labels.size, columns.size)), values, loss, weights)
    return Rows(fit, labels)


def _each(name: str, labels: Any, order: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Each label once, in an order, and where every one of them is."""
    try:
        each, where = order(np.asarray(labels))
    except TypeError:
        raise ValueError(
            f"Completion.from_dask: labels in column {name!r} are of more than one kind and have no order; make all of "
            "them strings, or all numbers."
        ) from None
    return each, where.reshape(-1)


def _sorted(labels: Any) -> tuple[Any, Any]:
    return np.unique(labels, return_inverse=True)


def _numbers(part: Any, name: str) -> Any:
    try:
        return np.asarray(part[name], dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(
            f"Completion.from_dask: column {name!r} holds {part[name].dtype}, not numbers; convert it first."
        ) from None


def _twice(rows: Any, cols: Any) -> int | None:
    """An observation whose pair came before; None where every pair is there once."""
    order = np.lexsort((cols, rows))
    r, c = rows[order], cols[order]
    same = np.nonzero((r[1:] == r[:-1]) & (c[1:] == c[:-1]))[0]
    return int(order[same[0] + 1]) if same.size else None


def sizes_of(rows: Rows) -> tuple[int, int, str]:
    """Rows, observations, and the kind of the numbers."""
    fit = rows.fit
    return (0, 0, "float64") if fit is None else (fit.shape[0], int(fit.targets.size), fit.dtype)


def located_at(rows: Rows, where: slice, entries: slice) -> Shard:
    assert rows.fit is not None
    return Shard(rows.fit, where, entries, rows.labels)
