"""Surprise: biases alone, Funk's SVD, SVD++, and a tuned SVD."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import SEED, Row, grid

TITLE = "Surprise"
THREADED = False


def rows(name: str) -> list[Row]:
    tuned = grid(
        name,
        **{
            "100k": [_svd(100, *rest) for rest in ((30, 0.05), (40, 0.06), (40, 0.07), (50, 0.08), (60, 0.1))]
            + [_svd(200, 50, 0.08)],
            "1m": [_svd(100, *rest) for rest in ((20, 0.03), (30, 0.04), (40, 0.05))] + [_svd(200, 30, 0.04)],
        },
    )
    return [
        Row("baseline", "Surprise BaselineOnly", ({"algorithm": "BaselineOnly"},)),
        Row("svd", "Surprise SVD", ({"algorithm": "SVD"},), timed=True),
        Row("svdpp", "Surprise SVD++", ({"algorithm": "SVDpp"},), long=name == "1m"),
        Row("svd-tuned", "Surprise SVD, tuned", tuned),
    ]


def _svd(factors: int, epochs: int, reg: float) -> dict:
    """A start a tenth as large as its own is what helps it most."""
    start = {"lr_all": 0.01, "init_std_dev": 0.01}
    return {"algorithm": "SVD", "n_factors": factors, "n_epochs": epochs, "reg_all": reg, **start}


def prepare(train: Any) -> Any:
    import pandas as pd
    from surprise import Dataset, Reader

    frame = pd.DataFrame({"row": train.rows, "column": train.cols, "rating": train.values})
    return Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()


def fit(data: Any, setting: dict, threads: int) -> Any:
    import surprise

    options = {key: value for key, value in setting.items() if key != "algorithm"}
    random = {"random_state": SEED} if setting["algorithm"] != "BaselineOnly" else {"verbose": False}
    return getattr(surprise, setting["algorithm"])(**options, **random).fit(data)


def predict(model: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    return np.array([model.predict(*pair).est for pair in zip(rows.tolist(), cols.tolist(), strict=True)])
