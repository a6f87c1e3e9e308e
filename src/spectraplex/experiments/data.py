"""The ratings that experiments run on: MovieLens where it can be had, a generated table of the same size elsewhere."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .. import datasets
from ..places.numpy import Array

#: The sizes of the generated tables that stand in: users, items, ratings.
_SIZES = {"100k": (943, 1682, 100_000), "1m": (6040, 3706, 1_000_209), "quick": (120, 90, 3_000)}
REAL, GENERATED = "MovieLens", "generated"


@lru_cache
def source(name: str) -> str:
    """Whether a set is the real one here; it becomes part of a task's settings, so the two never mix."""
    if name == "quick":
        return GENERATED
    try:
        datasets.movielens(name)  # type: ignore[arg-type]
    except FileNotFoundError:
        return GENERATED
    return REAL


@lru_cache(maxsize=2)
def ratings(name: str, where: str, half: bool = False) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Rows, columns, values and shape; ``half`` keeps a random half, always the same one."""
    if where == REAL:
        table = datasets.movielens(name)  # type: ignore[arg-type]
    else:
        users, items, observed = _SIZES[name]
        table = datasets.ratings_like(users, items, observed, seed=0)
    keep = slice(None)
    if half:
        keep = np.sort(np.random.default_rng(0).permutation(len(table))[: len(table) // 2])  # type: ignore[assignment]
    return table.rows[keep], table.cols[keep], table.values[keep], table.shape


def words(name: str, where: str, half: bool = False) -> str:
    """What a figure says of its data."""
    if where == REAL:
        return f"{'half of ' if half else ''}MovieLens-{name.upper() if name == '1m' else name}"
    users, items, observed = _SIZES[name]
    table = f"a GENERATED {users} × {items} table of {observed:,} ratings"
    return f"half of {table}" if half else table
