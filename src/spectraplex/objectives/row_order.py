"""The order of the rows of a table whose labels lie on many workers: by a hash of the label, then by the label.

It does not depend on how many shards there are: each shard holds the rows of one range of hashes. So factors, random
starts and fingerprints are the same for any number of shards, and on one machine that has the rows in this order.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..places.numpy import Array

SHARD = "spectraplex shard"  # the column that says where a row goes


def hashes(labels: Any) -> Array:
    """64 bits of every label, the same in every process; equal numbers have equal ones, of whatever type they are."""
    from pandas.api.types import infer_dtype
    from pandas.util import hash_array

    given = np.asarray(labels)
    if given.dtype == object:  # whole numbers that may be missing come as objects, too
        kind = {"integer": np.int64, "floating": np.float64, "boolean": np.int64}.get(infer_dtype(given, skipna=False))
        with contextlib.suppress(OverflowError):
            given = given if kind is None else given.astype(kind)
    if given.dtype.kind in "mM":
        given = given.astype(f"{given.dtype.kind}8[ns]").view(np.int64)
    if given.dtype.kind in "bi":
        given = given.astype(np.int64)
    if given.dtype.kind == "f":
        given = given.astype(np.float64)
        whole = (given == np.trunc(given)) & (np.abs(given) < 2.0**63)
        whole_ones = hash_array(np.where(whole, given, 0.0).astype(np.int64))
        return np.asarray(np.where(whole, whole_ones, hash_array(given)))
    if given.dtype.kind in "US":
        given = given.astype(object)
    return np.asarray(hash_array(given))


def shard_numbers(labels: Any, count: int) -> Array:
    """Which of ``count`` equal ranges of hashes each label lies in."""
    return np.asarray(((hashes(labels) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def with_shard(part: Any, row: str, count: int) -> Any:
    """A partition with one more column: the number of the shard of each row."""
    return part.assign(**{SHARD: shard_numbers(part[row], count)})


def shared_out(frame: Any, row: str, count: int) -> Any:
    """A Dask frame whose partition p has all rows whose labels lie in the p-th range of hashes."""
    return frame.map_partitions(with_shard, row, count).set_index(SHARD, divisions=list(range(count + 1)))


def ordered(labels: Any) -> tuple[Array, Array]:
    """Each label once, by (hash, label), and where every one of them is; TypeError where labels have no order."""
    from pandas import factorize

    codes, each = factorize(np.asarray(labels))
    each = np.asarray(each)
    by_label = np.argsort(each, kind="stable")
    order = by_label[np.argsort(hashes(each)[by_label], kind="stable")]
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return each[order], place[codes]
