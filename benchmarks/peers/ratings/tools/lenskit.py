"""LensKit's BiasedMF: damped biases first, then factors of the rest by alternating least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import SEED, Row, grid

TITLE = "LensKit"
THREADED = True


def rows(name: str) -> list[Row]:
    tuned = grid(
        name,
        **{
            "100k": [_als(k, 10, reg) for k in (50, 100) for reg in (0.1, 0.12, 0.15)],
            "1m": [_als(50, 10, reg) for reg in (0.06, 0.07, 0.08)] + [_als(100, epochs, 0.07) for epochs in (10, 20)],
        },
    )
    return [Row("als", "LensKit BiasedMF", ({},)), Row("als-tuned", "LensKit BiasedMF, tuned", tuned)]


def _als(factors: int, epochs: int, reg: float) -> dict:
    return {"embedding_size": factors, "epochs": epochs, "regularization": reg}


def prepare(train: Any) -> Any:
    import pandas as pd
    from lenskit.data import from_interactions_df

    frame = pd.DataFrame({"user_id": train.rows, "item_id": train.cols, "rating": train.values})
    return from_interactions_df(frame)


def fit(data: Any, setting: dict, threads: int) -> Any:
    """The threads come from LK_NUM_THREADS and its likes, which every process of the comparison has."""
    from lenskit.als import BiasedMFScorer
    from lenskit.training import TrainingOptions

    model = BiasedMFScorer(**setting)
    model.train(data, TrainingOptions(rng=SEED))
    return model


def predict(model: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Its scores, user by user; where it has none, its biases, as in LensKit's own rating pipeline."""
    from lenskit.data import ItemList

    out = np.empty(rows.size)
    order = np.argsort(rows, kind="stable")
    users, starts = np.unique(rows[order], return_index=True)
    for user, which in zip(users.tolist(), np.split(order, starts[1:]), strict=True):
        items = ItemList(item_ids=cols[which])
        scores = np.asarray(model(user, items).scores(), dtype=float)
        biases, _ = model.bias.compute_for_items(items, user)
        out[which] = np.where(np.isnan(scores), biases, scores)
    return out
