"""More to know a table by, on MovieLens 100k: coverage of intervals, genres and years of films, films never rated."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spectraplex import datasets
from spectraplex.estimators import MatrixCompletion

from .ratings import LEVEL, coverage, covered, error, fitted, pairs

_GENRES = slice(5, 24)  # of u.item: zeros and ones; the first of them says that no genre is known


def films(table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places of films among the columns, and genres and year of each; nothing of them is in the ratings."""
    home = os.environ.get("SPECTRAPLEX_DATA") or datasets.cache_folder()
    with (Path(home) / "ml-100k" / "u.item").open(encoding="latin-1", newline="") as file:
        lines = [line for line in csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE) if line]
    place = {int(label): k for k, label in enumerate(np.asarray(table.col_labels).tolist())}
    known = [line for line in lines if int(line[0]) in place]
    years = [[float(line[2][-4:]) if line[2] else np.nan] for line in known]
    numbers = np.hstack([np.array([line[_GENRES] for line in known], float), np.array(years)])
    return np.array([place[int(line[0])] for line in known]), numbers


def run() -> Iterator[str]:
    try:
        splits = [datasets.movielens_split("100k", fold, download=False) for fold in range(1, 6)]
        whole = datasets.movielens("100k", download=False)
    except FileNotFoundError as missing:
        yield f"skipped: {missing}"
        return
    shares = []
    for fold, (train, test) in enumerate(splits, 1):
        share, width = covered(MatrixCompletion().fit(pairs(train), train.values), test)
        shares.append(share)
        yield f"u{fold}: {share:.4f} of the test values inside 90 % intervals, of width {width:.2f} stars on the mean"
    yield coverage(shares)
    train, test = splits[0]
    for words, known in (("without features", None), ("with genres and years", films(train))):
        model, seconds = fitted(MatrixCompletion(), train) if known is None else _told(train, known)
        yield f"u1, {words}: test RMSE {error(model, test):.4f} in {seconds:.1f} s"
    yield from _cold(whole)


def _told(train: Any, known: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    model = MatrixCompletion().fit(pairs(train), train.values, column_features=known)
    return model, time.perf_counter() - began


def _cold(table: Any) -> Iterator[str]:
    """A fifth of the films without a single rating, and all of theirs as a test."""
    new = np.isin(table.cols, np.random.default_rng(0).permutation(table.shape[1])[: table.shape[1] // 5])
    where, values = pairs(table), table.values
    mean = float(np.sqrt(np.mean((values[new] - values[~new].mean()) ** 2)))
    yield f"films never rated, {int(new.sum())} ratings: RMSE of the mean {mean:.4f}"
    for words, known in (("without features", None), ("with genres and years", films(table))):
        model = MatrixCompletion().fit(where[~new], values[~new], column_features=known)
        _, low, high = model.predict(where[new], interval=LEVEL)
        reached = float(np.sqrt(np.mean((model.predict(where[new]) - values[new]) ** 2)))
        inside = float(np.mean((low <= values[new]) & (values[new] <= high)))
        yield f"films never rated, {words}: RMSE {reached:.4f}, {inside:.4f} of them inside 90 % intervals"
