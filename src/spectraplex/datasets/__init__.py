"""Loaders and generators: ratings as (rows, cols, values, shape), ready for ``Completion``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from ..places.numpy import Array
from ..tables.ratings import Ratings, read_columns, read_ratings, tables
from . import download as _download

__all__ = ["Ratings", "cache_folder", "movielens", "movielens_split", "ratings_like", "read_ratings"]


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]


_FOLDERS = {"100k": "ml-100k", "1m": "ml-1m", "latest-small": "ml-latest-small"}
_FILES = {"100k": ("u.data",), "1m": ("ratings.dat", "ratings.csv"), "latest-small": ("ratings.csv",)}
_SCALES = {"100k": (1.0, 5.0), "1m": (1.0, 5.0), "latest-small": (0.5, 5.0)}
_LICENCE = (
    "GroupLens's licence, in the README of each set, allows research use with acknowledgement and forbids handing the "
    "data on"
)


def cache_folder() -> Path:
    """Where downloads are kept: ``spectraplex`` in XDG_CACHE_HOME, or in ``~/.cache``; nothing else is written to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spectraplex"


def movielens(
    name: Literal["100k", "1m", "latest-small"] = "100k", *, download: bool | Literal["auto"] = "auto"
) -> Ratings:
    """The MovieLens ratings "100k", "1m" or "latest-small"; rows are users, columns are films.

    They are looked for in the folder named by ``SPECTRAPLEX_DATA``, or, where that is not set, in the cache folder:
    as GroupLens's folder (``ml-100k``, ``ml-1m``, ``ml-latest-small``), its ratings file plain or gzipped, or as
    the zip archive it comes in. ``download="auto"`` fetches the archive into the cache when it is not there and
    ``SPECTRAPLEX_DATA`` is not set: a folder you name is all there is, and is never written to. True fetches in any
    case, False never does. What is neither here nor to be had raises FileNotFoundError.

    GroupLens's licence, in the README of each set, allows research use with acknowledgement (F. M. Harper and J. A.
    Konstan, "The MovieLens Datasets: History and Context", ACM TiiS 5(4), 2015) and forbids redistribution, so nothing
    is bundled.
    """
    if name not in _FOLDERS:
        raise ValueError(f"movielens: unknown set {name!r}; known: {', '.join(_FOLDERS)}.")
    path = _find(name, _FILES[name], download)
    (table,) = tables([read_columns(path, _FILES[name], _SCALES[name])], [f"MovieLens-{name}"])
    return table


def movielens_split(
    name: Literal["100k"] = "100k", fold: int = 1, *, download: bool | Literal["auto"] = "auto"
) -> tuple[Ratings, Ratings]:
    """Training and test ratings of one of the five splits that come with "100k" (``u1.base``, ``u1.test``, …).

    Both have the shape and the labels of the two together. Found and fetched like ``movielens``.
    """
    if name != "100k":
        raise ValueError(f"movielens_split: only '100k' comes with splits, got {name!r}.")
    if fold not in range(1, 6):
        raise ValueError(f"movielens_split: fold must be 1, 2, 3, 4 or 5, got {fold!r}.")
    parts = [f"u{fold}.base", f"u{fold}.test"]
    columns = [read_columns(_find(name, (part,), download), (part,), _SCALES[name]) for part in parts]
    train, test = tables(columns, [f"MovieLens-{name} {part}" for part in parts])
    return train, test


def _find(name: str, files: tuple[str, ...], download: bool | str) -> Path:
    """The file or archive that holds one of these files of a set, fetched if it may be."""
    if download not in (True, False, "auto"):
        raise ValueError(f"movielens: download must be True, False or 'auto', got {download!r}.")
    named, cache = os.environ.get("SPECTRAPLEX_DATA"), cache_folder()
    places = [Path(named)] if named else [cache]
    if named and download is True:
        places.append(cache)
    folder = _FOLDERS[name]
    for place in places:
        held = [place / folder / f"{file}{packed}" for file in files for packed in ("", ".gz")]
        for path in (*held, place / f"{folder}.zip"):
            if path.is_file():
                return path
    where = " or ".join(str(place) for place in places)
    looked = f"movielens: no {' or '.join(files)} of {folder} in {where} (plain or .gz in {folder}, or in {folder}.zip)"
    target = str(places[0]) if named else f"{cache}, or in a folder named by the environment variable SPECTRAPLEX_DATA"
    remedy = f"Get {_download.ADDRESS}{folder}.zip and put it, as it is or unpacked, in {target}. {_LICENCE}."
    if download is False or (named and download == "auto"):
        asked = "download=False" if download is False else "SPECTRAPLEX_DATA is set"
        raise FileNotFoundError(f"{looked}; nothing was fetched, as {asked}. {remedy}")
    try:
        return _download.fetch(f"{folder}.zip", cache)
    except _download.NotDownloaded as error:
        raise _download.NotDownloaded(f"{looked}. {error} {remedy}") from error


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
