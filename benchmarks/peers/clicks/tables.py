"""The clicks: which sets, and how they are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from spectraplex import datasets

STARS = 4.0  # a click
SHARE = 0.2  # of every user's clicks that is kept aside
K = 10


@dataclass(frozen=True)
class Set:
    title: str
    splits: tuple[int, ...]


SETS = {
    "100k": Set("MovieLens-100k, four stars and more", (0, 1, 2)),
    "1m": Set("MovieLens-1M, four stars and more", (0,)),
    "quick": Set("generated", (0,)),
}
FULL = ("100k", "1m")


def load(name: str, split: int) -> tuple[Any, Any]:
    """Training and test clicks, as tables of ones."""
    ratings = datasets.ratings_like(300, 200, 8_000, seed=7) if name == "quick" else _movielens(name)
    liked = ratings.values >= STARS
    rows = np.unique(ratings.rows[liked], return_inverse=True)[1].reshape(-1)
    cols = np.unique(ratings.cols[liked], return_inverse=True)[1].reshape(-1)
    table = csr_matrix((np.ones(rows.size), (rows, cols)))
    return cut(table, split)


def _movielens(name: str) -> Any:
    return datasets.movielens(name, download=False)


def cut(table: Any, seed: int) -> tuple[Any, Any]:
    """A fifth of every row's entries, rounded down, is kept aside: what is left, and what was kept."""
    rows, cols = table.nonzero()
    counts = np.diff(table.indptr)
    order = np.lexsort((np.random.default_rng(seed).random(rows.size), rows))
    place = np.empty(rows.size, np.int64)
    place[order] = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    held = place < np.floor(SHARE * counts)[rows]

    def part(which: np.ndarray) -> Any:
        return csr_matrix((np.ones(int(which.sum())), (rows[which], cols[which])), shape=table.shape)

    return part(~held), part(held)
