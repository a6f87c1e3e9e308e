"""From the partitions of a frame to the rows of shards, on the workers: labels are encoded where they are read.

A partition is split by the hashes of its row labels, one piece a shard; a shard merges its pieces. What travels are
whole numbers, values and each label once a piece. These are ordinary tasks: Dask may spill, move and repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..places.numpy import Array
from .row_order import ordered, shard_numbers

_EXACT = 2.0**53  # whole numbers up to here are themselves as floats


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
class Piece:
    """The observations of one partition in the rows of one shard, and the labels of those rows."""

    labels: Array
    rows: Array
    cols: Array
    values: Array
    weights: Array | None


@dataclass(frozen=True, eq=False)
class Split:
    """A partition in pieces; places of columns are among its own labels of columns."""

    columns: Array
    pieces: tuple[Piece, ...]


def split_part(part: Any, owner: str, names: Sequence[str], count: int) -> Split:
    """Encode a partition and split it by the hashes of its row labels; refuses what no observation can be."""
    row, column, value, *rest = names
    for name in names:
        if bool(part[name].isna().any()):
            raise ValueError(f"{owner}: column {name!r} has missing values; drop those rows.")
    codes, labels = _encoded(part[row])
    cols, columns = _encoded(part[column])
    values, weights = numbers(owner, part, value), numbers(owner, part, rest[0]) if rest else None
    number = shard_numbers(labels, count)
    which = number[codes].astype(np.uint16 if count < 2**16 else np.int64)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(count + 1))
    pieces = []
    for p in range(count):
        own, some = np.nonzero(number == p)[0], order[ends[p] : ends[p + 1]]
        place = np.zeros(labels.size, np.int32)
        place[own] = np.arange(own.size, dtype=np.int32)
        held = None if weights is None else weights[some]
        pieces.append(Piece(labels[own], place[codes[some]], cols[some].astype(np.int32), values[some], held))
    return Split(columns, tuple(pieces))


def columns_of(split: Split) -> Array:
    return split.columns


def piece_of(split: Split, number: int, columns: Array) -> Piece:
    """One piece; its columns become places among those of all."""
    piece, place = split.pieces[number], np.searchsorted(columns, split.columns).astype(np.int32)
    return Piece(piece.labels, piece.rows, place[piece.cols], piece.values, piece.weights)


def merged(pieces: Sequence[Piece], owner: str, names: Sequence[str], columns: Array, once: bool) -> Rows:
    """The rows of one shard; ``once`` refuses a pair that comes twice, in words of the frame."""
    labels, where = each_once(owner, names[0], [piece.labels for piece in pieces], ordered)
    starts = np.cumsum([0, *(piece.labels.size for piece in pieces)])
    rows = np.concatenate([where[start + piece.rows] for start, piece in zip(starts, pieces, strict=False)])
    cols = np.concatenate([piece.cols for piece in pieces])
    order = np.argsort(rows.astype(np.int64) * columns.size + cols, kind="stable")
    rows, cols = rows[order], cols[order]
    same = np.nonzero((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]))[0]
    if once and same.size:
        who, what = labels[rows[same[0]]], columns[cols[same[0]]]
        raise ValueError(f"{owner}: {names[0]} {who!r} and {names[1]} {what!r} come twice; keep one, or their mean.")
    values = np.concatenate([piece.values for piece in pieces])[order]
    weights = None
    if len(names) > 3:
        weights = np.concatenate([np.asarray(piece.weights) for piece in pieces])[order]
    return Rows(rows, cols, values, weights, labels, int(columns.size))


def sizes_of(part: Rows) -> tuple[int, int]:
    """Rows, and observations."""
    return int(part.labels.size), int(part.values.size)


def each_once(owner: str, name: str, labels: Sequence[Array], order: Any) -> tuple[Array, Array]:
    """Each label once, in an order, and where every one of them is."""
    some = [part for part in labels if part.size] or [np.empty(0)]  # an empty one may be of another type
    try:
        each, where = order(np.concatenate(some))
    except TypeError:
        raise ValueError(
            f"{owner}: labels in column {name!r} are of more than one kind and have no order; make all of them "
            "strings, or all numbers."
        ) from None
    return each, np.asarray(where).reshape(-1).astype(np.int32 if each.size < 2**31 else np.int64)


def all_columns(found: Sequence[Array], owner: str, name: str) -> Array:
    """The labels of the columns of all partitions, sorted."""
    return each_once(owner, name, found, _sorted)[0]


def _sorted(labels: Array) -> tuple[Array, Array]:
    return np.unique(labels, return_inverse=True)


def _encoded(column: Any) -> tuple[Array, Array]:
    """Where every label is among the distinct ones, and those: numbers, or Python objects such as strings."""
    from pandas import factorize

    codes, each = factorize(column)
    labels = np.asarray(each)
    if labels.dtype.kind == "f" and (labels == np.trunc(labels)).all() and np.abs(labels).max(initial=0.0) < _EXACT:
        labels = labels.astype(np.int64)  # a file where one is missing has all of them as floats
    return np.asarray(codes), labels


def numbers(owner: str, part: Any, name: str) -> Array:
    """A column of finite numbers."""
    try:
        found = np.asarray(part[name], dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(f"{owner}: column {name!r} holds {part[name].dtype}, not numbers; convert it first.") from None
    if not np.isfinite(found).all():
        raise ValueError(f"{owner}: column {name!r} holds infinity; leave such rows out.")
    return found
