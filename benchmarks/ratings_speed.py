"""How long people with ratings wait, beside what was promised them: one table, wall seconds on all cores."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from spectraplex import datasets
from spectraplex.estimators import MatrixCompletion

from .ratings import pairs
from .ratings_1m import split

GRID = {"weighting": ["plain", "frequency"]}


def seconds(job: Callable[[], Any], often: int = 1) -> float:
    """The least of some runs."""
    found = []
    for _ in range(often):
        began = time.perf_counter()
        job()
        found.append(time.perf_counter() - began)
    return min(found)


def line(name: str, took: float, limit: float) -> str:
    verdict = "met" if took <= limit else f"MISSED by {took - limit:.1f} s"
    return f"{name:<58}{limit:>8.1f}{took:>10.2f}   {verdict}"


def fit(model: Any, table: Any) -> Callable[[], Any]:
    return lambda: model.fit(pairs(table), table.values)


def skewed() -> datasets.Ratings:
    """56,000 ratings of a 1,300 × 14,700 table, a few columns with most of them."""
    rng = np.random.default_rng(0)
    m, n, count = 1300, 14_700, 56_000
    popular, active = (1.0 / np.arange(1, size + 1) ** power for size, power in ((n, 0.8), (m, 0.5)))
    rows = rng.choice(m, 4 * count, p=active / active.sum())
    cols = rng.choice(n, 4 * count, p=popular / popular.sum())
    first = np.unique(rows * n + cols, return_index=True)[1]
    first = np.sort(first)[:count]
    rows, cols = rows[first], cols[first]
    low = (rng.standard_normal((m, 3))[rows] * rng.standard_normal((n, 3))[cols]).sum(axis=1) / 3.0
    mean = 3.6 + 0.4 * rng.standard_normal(m)[rows] + 0.4 * rng.standard_normal(n)[cols]
    values = np.clip(np.round(mean + low + 0.8 * rng.standard_normal(count)), 1, 5)
    return datasets.Ratings(rows, cols, values, (m, n), np.arange(m), np.arange(n), "skewed")


def shell(table: datasets.Ratings) -> float:
    """`spectraplex complete` from a CSV of all ratings to the report, the start of the program included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        columns = np.column_stack([table.rows, table.cols, table.values])
        np.savetxt(path, columns, "%d,%d,%g", header="user,film,stars", comments="")
        words = [sys.executable, "-m", "spectraplex", "complete", str(path), "-o", str(Path(folder) / "model"), "-q"]
        return seconds(lambda: subprocess.run(words, check=True, capture_output=True, env=os.environ.copy()))


def search(table: Any, jobs: int) -> Callable[[], Any]:
    cv = KFold(2, shuffle=True, random_state=0)
    return fit(GridSearchCV(MatrixCompletion(), GRID, cv=cv, n_jobs=jobs, refit=False), table)


def run() -> Iterator[str]:
    warnings.simplefilter("ignore")
    try:
        small, large = datasets.movielens_split("100k", 1, download=False)[0], datasets.movielens("1m", download=False)
    except FileNotFoundError as missing:
        yield f"skipped: {missing}"
        return
    train = split(large)[0]
    MatrixCompletion(radius=100.0).fit(pairs(small), small.values)  # kernels compiled, caches filled
    yield f"{'':<58}{'at most':>8}{'seconds':>10}"
    yield line("100k (80,000 ratings), nothing set", seconds(fit(MatrixCompletion(), small), 3), 0.6)
    yield line("1M (900,000 ratings), nothing set", seconds(fit(MatrixCompletion(), train), 2), 7.0)
    yield line(
        "56,000 ratings of a 1,300 × 14,700 table, nothing set", seconds(fit(MatrixCompletion(), skewed()), 2), 2.0
    )
    given = MatrixCompletion(radius=5500.0, ridge=(4.0, 2.0))
    yield line("1M, radius 5500 and ridges given", seconds(fit(given, train), 2), 3.0)
    yield line("1M as CSV to model and report, in the shell", shell(large), 15.0)
    search(small, 2)()  # workers started
    alone = seconds(search(small, 1), 2)
    yield line("GridSearchCV on 100k, n_jobs=2 beside n_jobs=1", seconds(search(small, 2), 2), alone)
