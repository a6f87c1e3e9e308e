"""MatrixCompletion: nothing set, a radius given, and tuned by GridSearchCV over the grids of our own benchmarks."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from spectraplex.datasets import Ratings
from spectraplex.estimators import MatrixCompletion

from .... import ratings, ratings_1m
from ..tables import small
from . import Row

TITLE = "spectraplex MatrixCompletion"
THREADED = True
RADII = {"100k": 1000.0, "1m": 5500.0, "quick": 100.0}


def _benchmark(name: str) -> Any:
    """The benchmark of ours whose search is used; the two sets have grids of their own."""
    return ratings_1m if name == "1m" else ratings


def rows(name: str) -> list[Row]:
    return [
        Row("auto", "MatrixCompletion, nothing set", ({},)),
        Row("given", "MatrixCompletion, radius given", ({"radius": RADII[name]},), timed=True),
        Row("tuned", "MatrixCompletion, tuned", tuple(ParameterGrid(_benchmark(name).GRID))),
    ]


def warm_up() -> Ratings:
    """Large enough that every kernel of the real fit is compiled."""
    return small(700, 500, 30_000)


def prepare(train: Any) -> tuple[np.ndarray, np.ndarray]:
    return ratings.pairs(train), train.values


def fit(data: tuple[np.ndarray, np.ndarray], setting: dict, threads: int) -> MatrixCompletion:
    return MatrixCompletion(**setting).fit(*data)


def tune(data: tuple[np.ndarray, np.ndarray], name: str) -> tuple[Any, dict, float, float]:
    search = _benchmark(name).search()
    began = time.perf_counter()
    search.fit(*data)
    seconds = time.perf_counter() - began
    return search, search.best_params_, seconds - search.refit_time_, search.refit_time_


def predict(model: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    return model.predict(np.column_stack([rows, cols]))
