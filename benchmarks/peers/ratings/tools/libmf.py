"""LIBMF: factors by parallel stochastic gradients, without biases, through its Python wrapper."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Row, grid

TITLE = "LIBMF"
THREADED = True


def rows(name: str) -> list[Row]:
    tuned = grid(
        name,
        **{
            "100k": [_l2(80, 40, reg, 0.05) for reg in (0.09, 0.1, 0.11, 0.12)]
            + [_l2(80, 60, reg, 0.03) for reg in (0.1, 0.11)],
            "1m": [_l2(120, 40, reg, 0.05) for reg in (0.05, 0.06)]
            + [_l2(120, 60, reg, 0.03) for reg in (0.05, 0.06, 0.07)],
        },
    )
    return [Row("mf", "LIBMF", ({},)), Row("mf-tuned", "LIBMF, tuned", tuned)]


def _l2(factors: int, epochs: int, reg: float, rate: float) -> dict:
    """Squared norms as the penalty; the wrapper's own default is absolute values."""
    none = {"lambda_p1": 0.0, "lambda_q1": 0.0}
    return {"k": factors, "nr_iters": epochs, "lambda_p2": reg, "lambda_q2": reg, "eta": rate, **none}


def prepare(train: Any) -> np.ndarray:
    return np.column_stack([train.rows, train.cols, train.values]).astype(np.float32)


def fit(data: np.ndarray, setting: dict, threads: int) -> Any:
    from libmf import mf

    model = mf.MF(nr_threads=threads, quiet=True, **setting)
    model.fit(data)
    return model


def predict(model: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """From the factors, because the wrapper's ``predict`` misreads its pairs; the mean, as in LIBMF, for the unseen."""
    P, Q = model.p_factors(), model.q_factors()
    out = np.full(rows.size, np.nan)
    inside = (rows < len(P)) & (cols < len(Q))
    out[inside] = np.einsum("ij,ij->i", P[rows[inside]], Q[cols[inside]])
    return np.where(np.isnan(out), model.model.b, out)
