"""MatrixCompletion on MovieLens-1M, a random 90 % to fit and 10 % to test; takes some minutes."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit

from spectraplex import datasets
from spectraplex.estimators import MatrixCompletion

from .ratings import error, fitted, memory, tuned, verdict

GRID = {"implicit": [0.0, 0.2, 0.4, 0.6]}


def split(table: datasets.Ratings) -> tuple[Any, Any]:
    """The first 90 % of a fixed permutation, and the rest."""
    order = np.random.default_rng(0).permutation(table.values.size)
    cut = int(0.9 * order.size)

    def part(which: np.ndarray) -> Any:
        return SimpleNamespace(rows=table.rows[which], cols=table.cols[which], values=table.values[which])

    return part(order[:cut]), part(order[cut:])


def search() -> Any:
    return tuned(ShuffleSplit(1, test_size=0.1, random_state=0), GRID)


def run() -> Iterator[str]:
    try:
        train, test = split(datasets.movielens("1m", download=False))
    except FileNotFoundError as missing:
        yield f"skipped: {missing}"
        return
    model, seconds = fitted(MatrixCompletion(), train)
    yield verdict("1M, nothing set", error(model, test), 0.8435) + (
        f" in {seconds:.0f} s (limit 7 s: {'met' if seconds <= 7 else 'MISSED'}), radius {model.radius_:.0f}, "
        f"rank {model.rank_}, certified within {model.certificate_.gap / model.certificate_.value:.1%}, {memory()}"
    )
    model, seconds = fitted(MatrixCompletion(radius=5500.0), train)
    yield f"1M, radius 5500 given: test RMSE {error(model, test):.4f} in {seconds:.0f} s, rank {model.rank_}"
    chosen, seconds = fitted(search(), train)
    yield verdict(f"1M, tuned over {GRID} on training ratings", error(chosen, test), 0.8345) + f" in {seconds:.0f} s"
    yield f"chosen: {chosen.best_params_}; {memory()}"
