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
            "100k": [_svd(k, 100, reg) for k in (100, 200) for reg in (0.08, 0.1, 0.12)],
            "1m": [_svd(k, epochs, reg) for k, epochs in ((100, 40), (200, 60)) for reg in (0.05, 0.07)],
        },
    )
    return [
        Row("baseline", "Surprise BaselineOnly", ({"algorithm": "BaselineOnly"},)),
        Row("svd", "Surprise SVD", ({"algorithm": "SVD"},), timed=True),
        Row("svdpp", "Surprise SVD++", ({"algorithm": "SVDpp"},), long=name == "1m"),
        Row("svd-tuned", "Surprise SVD, tuned", tuned),
    ]


def _svd(factors: int, epochs: int, reg: float) -> dict:
    return {"algorithm": "SVD", "n_factors": factors, "n_epochs": epochs, "lr_all": 0.005, "reg_all": reg}


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
