"""Loaders and generators: ratings as (rows, cols, values, shape), ready for ``Completion``."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array

_FOLDERS = {"100k": "ml-100k", "1m": "ml-1m", "latest-small": "ml-latest-small"}
_FILES = {"100k": ("u.data",), "1m": ("ratings.csv.gz", "ratings.csv"), "latest-small": ("ratings.csv",)}


@dataclass(frozen=True, eq=False)
class Ratings:
    """A half-empty table: value k stands at (rows[k], cols[k]); the labels give the original ids."""

    rows: Array
    cols: Array
    values: Array
    shape: tuple[int, int]
    row_labels: Array
    col_labels: Array
    name: str

    def __len__(self) -> int:
        return int(self.values.size)


def folder() -> Path | None:
    """Where data is looked for: SPECTRAPLEX_DATA, else the user's cache folder; None when neither is there."""
    named = os.environ.get("SPECTRAPLEX_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spectraplex"
    place = Path(named) if named else cache
    return place if place.is_dir() else None


def movielens(name: str = "100k") -> Ratings:
    """The MovieLens ratings "100k", "1m" or "latest-small", from ``SPECTRAPLEX_DATA`` or the cache folder.

    Their licence forbids redistribution, so nothing is bundled: put GroupLens's folder ``ml-100k`` (or ``ml-1m``,
    ``ml-latest-small``) there.
    """
    if name not in _FOLDERS:
        raise ValueError(f"movielens: unknown set {name!r}; known: {', '.join(_FOLDERS)}.")
    place = folder()
    tried = [place / _FOLDERS[name] / file for file in _FILES[name]] if place else []
    found = next((path for path in tried if path.is_file()), None)
    if found is None:
        raise FileNotFoundError(
            f"movielens: no {_FOLDERS[name]} in {place or 'SPECTRAPLEX_DATA (not set) or the cache folder'}; get it "
            "from GroupLens, unpack it, and set SPECTRAPLEX_DATA to the folder that holds it."
        )
    users, items, values = _read(found)
    row_labels, rows = np.unique(users, return_inverse=True)
    col_labels, cols = np.unique(items, return_inverse=True)
    shape = (int(row_labels.size), int(col_labels.size))
    return Ratings(rows, cols, values, shape, row_labels, col_labels, f"MovieLens-{name}")


def _read(path: Path) -> tuple[Array, Array, Array]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        first = lines.readline()
        separator = "\t" if "\t" in first else ","
        header = not first.split(separator)[0].strip().isdigit()
        table = np.loadtxt(lines, delimiter=separator, usecols=(0, 1, 2), ndmin=2)
    if not header:
        table = np.concatenate([np.array([[float(word) for word in first.split(separator)[:3]]]), table])
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


def ratings_like(
    users: int = 943,
    items: int = 1682,
    observed: int = 100_000,
    rank: int = 10,
    noise: float = 0.9,
    seed: int = 0,
) -> Ratings:
    """A generated table that looks like real ratings: skewed popularity, biases, a low-rank taste, stars 1 … 5.

    Popularity falls like a power of the rank of a user or item, as it does in MovieLens; every user and every item
    has at least one rating when ``observed`` allows it.
    """
    if users < 1 or items < 1:
        raise ValueError(f"ratings_like: users and items must be positive, got {users} and {items}.")
    if not 1 <= observed <= users * items:
        raise ValueError(f"ratings_like: observed must lie in 1 … {users * items}, got {observed}.")
    rng = np.random.default_rng(seed)
    row_share, col_share = _popularity(users, 0.9, rng), _popularity(items, 1.1, rng)
    cell = _draw_cells(row_share, col_share, observed, rng)
    rows, cols = cell // items, cell % items
    user_bias, item_bias = 0.45 * rng.standard_normal(users), 0.5 * rng.standard_normal(items)
    P, Q = rng.standard_normal((users, rank)), rng.standard_normal((items, rank))
    taste = np.zeros(observed)
    for k in range(rank):  # one column at a time: no observed × rank temporary
        taste += P[rows, k] * Q[cols, k]
    score = 3.55 + user_bias[rows] + item_bias[cols] + 0.5 * taste / np.sqrt(rank)
    values = np.clip(np.rint(score + noise * rng.standard_normal(observed)), 1.0, 5.0)
    return Ratings(rows, cols, values, (users, items), np.arange(users), np.arange(items), "generated ratings")


def _popularity(count: int, power: float, rng: np.random.Generator) -> Array:
    share = 1.0 / (np.arange(count) + 0.05 * count + 1.0) ** power
    share = rng.permutation(share)
    return share / share.sum()


def _draw_cells(row_share: Array, col_share: Array, observed: int, rng: np.random.Generator) -> Array:
    """Distinct cells, drawn with probability rows × columns, sorted."""
    users, items = row_share.size, col_share.size
    if observed > 0.3 * users * items:  # rejection would crawl: draw without replacement by exponential clocks
        clocks = rng.exponential(size=users * items) / np.outer(row_share, col_share).ravel()
        return np.sort(np.argpartition(clocks, observed - 1)[:observed])
    cells = np.empty(0, np.int64)
    if observed >= users + items:
        once = np.arange(users) * items + rng.choice(items, users, p=col_share)
        cells = np.concatenate([once, rng.choice(users, items, p=row_share) * items + np.arange(items)])
    row_edges, col_edges = np.cumsum(row_share), np.cumsum(col_share)
    cells = _distinct(cells)
    while cells.size < observed:
        more = int(1.3 * (observed - cells.size)) + 16
        r = np.minimum(_place(row_edges, rng.random(more)), users - 1)
        c = np.minimum(_place(col_edges, rng.random(more)), items - 1)
        fresh = _without(_distinct(r * items + c), cells)
        wanted = observed - cells.size
        if fresh.size > wanted:
            kept = np.zeros(fresh.size, bool)
            kept[rng.choice(fresh.size, wanted, replace=False)] = True
            fresh = fresh[kept]
        cells = np.sort(np.concatenate([cells, fresh]), kind="stable")  # two sorted runs: one merge
    return cells


def _distinct(numbers: Array) -> Array:
    """np.unique by sorting: its hash table is several times slower on millions of nearly distinct numbers."""
    numbers = np.sort(numbers)
    return numbers[np.concatenate([np.ones(min(numbers.size, 1), bool), numbers[1:] != numbers[:-1]])]


def _without(numbers: Array, others: Array) -> Array:
    """The numbers that are not among the others; both sorted and distinct. The fewer are sought in the more."""
    if not numbers.size or not others.size:
        return numbers
    few, many = (others, numbers) if others.size < numbers.size else (numbers, others)
    place = np.minimum(np.searchsorted(many, few), many.size - 1)
    found = many[place] == few
    return np.delete(numbers, place[found]) if few is others else numbers[~found]


def _place(edges: Array, draws: Array) -> Array:
    """np.searchsorted(edges, draws) for draws in [0, 1): a table of starts leaves a step or two to go."""
    bits = int(edges.size).bit_length() + 3
    start = np.searchsorted(edges, np.arange(2**bits) / 2**bits)  # a power of two: the products below are exact
    place = start[(draws * 2**bits).astype(np.int64)]
    ends = np.append(edges, np.inf)
    behind = np.flatnonzero(ends[place] < draws)
    while behind.size:
        place[behind] += 1
        behind = behind[ends[place[behind]] < draws[behind]]
    return place
