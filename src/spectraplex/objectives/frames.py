"""A table of observations in a Dask frame, shared out by rows; labels are encoded on the workers.

Rows are brought together by a shuffle, so that each shard holds whole rows. The client learns the labels of the
columns, and of every shard how many rows and observations it has: nothing tall comes here.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..checks import whole as _whole
from ..measurements.entries import Entries
from ..places.dask import ClusterPlace
from ..places.numpy import Array
from .fit import Fit
from .frame_faults import naming_files
from .frame_parts import Rows, all_columns, columns_of, merged, piece_of, sizes_of, split_part
from .shard import Shard
from .sharded import ShardedFit


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
    if not client.nthreads():
        raise ValueError(
            f"{owner}: the cluster has no workers; start some, e.g. dask worker {client.scheduler.address}."
        )
    count = max(1, sum(client.nthreads().values())) if shards is None else _whole(owner, "shards", shards)
    with naming_files(frame, wanted, client, owner):
        return _encoded(owner, frame[wanted], wanted, count, client, once)


def _encoded(owner: str, frame: Any, names: list[str], count: int, client: Any, once: bool) -> FarTable:
    """Every partition is split where it is read, and every shard merges its pieces (frame_parts.py)."""
    parts, mark = client.compute(frame.to_delayed()), uuid.uuid4().hex[:8]
    splits = [
        client.submit(split_part, part, owner, names, count, key=f"encode-{mark}-{p}", pure=False)
        for p, part in enumerate(parts)
    ]
    del parts  # each is let go when its pieces are there
    # a task like any other, and nothing that was sent: it is made again where all workers that had it are lost
    far = client.submit(all_columns, client.map(columns_of, splits, pure=False), owner, names[1], pure=False)
    columns = far.result()
    held = [
        client.submit(
            merged,
            [client.submit(piece_of, split, p, far, pure=False) for split in splits],
            owner,
            names,
            far,
            once,
            pure=False,
        )
        for p in range(count)
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
    fit = Fit(Entries.in_order(part.rows, part.cols, part.shape), part.values, loss, part.weights)
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
