"""cornac's MF: biases and factors by stochastic gradients, the ratings shared out to threads without locks.

With a seed it keeps to one thread; it gets its threads here, so that its answer differs a little from run to run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import SEED, Row, grid

TITLE = "cornac"
THREADED = True


def rows(name: str) -> list[Row]:
    tuned = grid(
        name,
        **{
            "100k": [
                _mf(200, *rest) for rest in ((20, 0.04), (30, 0.05), (30, 0.06), (40, 0.07), (50, 0.08), (60, 0.09))
            ],
            "1m": [_mf(200, *rest) for rest in ((15, 0.02), (20, 0.03), (25, 0.035), (30, 0.04), (40, 0.05))],
        },
    )
    return [Row("mf", "cornac MF", ({},)), Row("mf-tuned", "cornac MF, tuned", tuned)]


def _mf(factors: int, epochs: int, reg: float) -> dict:
    return {"k": factors, "max_iter": epochs, "learning_rate": 0.01, "lambda_reg": reg}


def prepare(train: Any) -> Any:
    from cornac.data import Dataset

    return Dataset.from_uir(zip(train.rows.tolist(), train.cols.tolist(), train.values.tolist(), strict=True))


def fit(data: Any, setting: dict, threads: int) -> Any:
    from cornac.models import MF

    np.random.seed(SEED)  # noqa: NPY002 - what it draws from when it has no seed of its own
    return MF(num_threads=threads, **setting).fit(data)


def predict(model: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """``rate`` of every pair; numbers beyond the known stand for what was not seen."""
    users = [model.uid_map.get(row, model.num_users) for row in rows.tolist()]
    items = [model.iid_map.get(col, model.num_items) for col in cols.tolist()]
    return np.array([model.rate(*pair, clipping=False) for pair in zip(users, items, strict=True)], dtype=float)
