"""Who is compared: each fits a table of ones and gives scores of all columns for blocks of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 0
Scores = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    fit: Callable[[Any, dict, int], Scores]
    grids: dict[str, tuple[dict, ...]]  # by set; "" for all others. One setting: nothing is chosen
    threaded: bool = True

    def settings(self, name: str) -> list[dict]:
        if name == "quick":
            return list(next(iter(self.grids.values()))[:2])
        return list(self.grids.get(name, self.grids.get("", ({},))))


def products(P: np.ndarray, Q: np.ndarray) -> Scores:
    return lambda rows: np.asarray(P[rows] @ Q.T, float)


def most_popular(train: Any, setting: dict, threads: int) -> Scores:
    counts = np.asarray(train.sum(axis=0), float).reshape(-1)
    return lambda rows: np.tile(counts, (rows.size, 1))


def ease(train: Any, setting: dict, threads: int) -> Scores:
    """Steck 2019: B = 1 − P·diag(1/diag P), P = (XᵀX + λ1)⁻¹; scores XB."""
    gram = np.asarray((train.T @ train).todense(), float)
    gram[np.diag_indices_from(gram)] += setting["ridge"]
    P = np.linalg.inv(gram)
    B = -P / np.diag(P)
    B[np.diag_indices_from(B)] = 0.0
    return lambda rows: np.asarray(train[rows] @ B, float)


def implicit_als(train: Any, setting: dict, threads: int) -> Scores:
    from implicit.als import AlternatingLeastSquares

    return _implicit(AlternatingLeastSquares(**setting, num_threads=threads, random_state=SEED), train)


def implicit_bpr(train: Any, setting: dict, threads: int) -> Scores:
    from implicit.bpr import BayesianPersonalizedRanking

    return _implicit(BayesianPersonalizedRanking(**setting, num_threads=threads, random_state=SEED), train)


def _implicit(model: Any, train: Any) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the number of BLAS threads
        model.fit(train.astype(np.float32), show_progress=False)
    return products(np.asarray(model.user_factors), np.asarray(model.item_factors))


def ours(train: Any, setting: dict, threads: int) -> Scores:
    from spectraplex.estimators import OneClassCompletion

    model = OneClassCompletion(**setting).fit(np.column_stack(train.nonzero()))
    P, Q = np.zeros((train.shape[0], model.s_.size)), np.zeros((train.shape[1], model.s_.size))
    P[model.row_labels_.values], Q[model.column_labels_.values] = model.row_factors_, model.column_factors_
    return products(P, Q)


def _als(factors: tuple[int, ...], pairs: tuple[tuple[float, float], ...]) -> tuple[dict, ...]:
    return tuple(
        {"factors": each, "alpha": alpha, "regularization": ridge, "iterations": 15}
        for each in factors
        for alpha, ridge in pairs
    )


_ALS_100K = ((1.0, 8.0), (1.0, 12.0), (2.0, 15.0), (5.0, 20.0), (5.0, 30.0), (5.0, 40.0), (10.0, 60.0), (40.0, 150.0))
_ALS_1M = ((2.0, 30.0), (5.0, 40.0), (5.0, 60.0), (10.0, 80.0), (10.0, 100.0), (10.0, 120.0), (20.0, 150.0))
_BPR = tuple(
    {"factors": factors, "learning_rate": rate, "regularization": ridge, "iterations": steps}
    for factors, ridge in ((16, 0.001), (32, 0.001), (32, 0.01), (64, 0.001))
    for rate, steps in ((0.01, 25), (0.01, 50), (0.01, 80), (0.003, 150))
)

TOOLS = (
    Tool("popular", "most popular", most_popular, {"": ({},)}, threaded=False),
    Tool("bpr", "implicit BPR, tuned", implicit_bpr, {"": _BPR}),
    Tool(
        "als",
        "implicit ALS, tuned",
        implicit_als,
        {"100k": _als((16, 32, 64, 128), _ALS_100K), "1m": _als((64, 128, 192), _ALS_1M)},
    ),
    Tool("ease", "EASE, tuned", ease, {"": tuple({"ridge": ridge} for ridge in (100, 200, 300, 500, 700, 1000, 1500))}),
    Tool("ours", "OneClassCompletion, nothing set", ours, {"": ({},)}),
)
