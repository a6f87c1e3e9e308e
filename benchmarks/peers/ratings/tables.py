"""The ratings: which sets, how they are split, and the one measure of error."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from spectraplex import datasets

from ...ratings_1m import split as nine_tenths

LOWEST, HIGHEST = 1.0, 5.0


@dataclass(frozen=True)
class Set:
    title: str
    splits: tuple[str, ...]
    repeats: int = 1  # of the fits whose times are compared: one split alone would give one ratio


SETS = {
    "100k": Set("MovieLens-100k, u1 … u5", ("u1", "u2", "u3", "u4", "u5")),
    "1m": Set("MovieLens-1M, random 90/10", ("random",), 3),
    "quick": Set("generated, 300×200, 8,000 ratings, random 90/10", ("random",)),
}
FULL = ("100k", "1m")


def load(name: str, split: str) -> tuple[Any, Any]:
    """Training and test ratings; each has rows, cols and values."""
    if name == "100k":
        return datasets.movielens_split("100k", int(split[1:]), download=False)
    return nine_tenths(small(300, 200, 8_000) if name == "quick" else datasets.movielens(name, download=False))


def known(name: str) -> dict:
    """What the document says about a set; FileNotFoundError where it is not here."""
    train, test = load(name, SETS[name].splits[0])
    shape = [int(max(a.max(), b.max())) + 1 for a, b in ((train.rows, test.rows), (train.cols, test.cols))]
    observed = int(train.values.size + test.values.size)
    return {"title": SETS[name].title, "shape": shape, "observed": observed, "splits": list(SETS[name].splits)}


def small(rows: int = 60, columns: int = 50, observed: int = 900) -> datasets.Ratings:
    """Generated; by default for the throw-away fit."""
    return datasets.ratings_like(rows, columns, observed, seed=7)


def inner(train: Any) -> tuple[Any, Any]:
    """90 % of the training ratings to fit, 10 % to choose by."""
    order = np.random.default_rng(1).permutation(train.values.size)
    cut = int(0.9 * order.size)

    def part(which: np.ndarray) -> Any:
        return SimpleNamespace(rows=train.rows[which], cols=train.cols[which], values=train.values[which])

    return part(np.sort(order[:cut])), part(np.sort(order[cut:]))  # sorted: the order of the training ratings is kept


def error(predicted: np.ndarray, test: Any) -> float:
    """Test RMSE after clipping: the same for everybody. A prediction that is no number is an error, not a number."""
    if not np.isfinite(predicted).all():
        raise ValueError(f"{int(np.sum(~np.isfinite(predicted)))} of {predicted.size} predictions are not finite")
    return float(np.sqrt(np.mean((np.clip(predicted, LOWEST, HIGHEST) - test.values) ** 2)))
