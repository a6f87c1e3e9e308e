"""softImpute-ALS (Hastie, Mazumder, Lee, Zadeh 2015) in NumPy: alternating ridge regressions on sparse plus low rank.

It minimises ½Σ(Z−r)² + λ‖Z‖_* over Z of rank at most ``rank``. λ is the multiplier of our own answer, so that both
problems have one optimum; looking for it is not charged. An iterate is evaluated at its best multiple inside the ball.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..problems import Table
from ..recorder import Recorder

TITLE = "softImpute-ALS"
# rank.max; λ alone ("cold"), and once the paper's path of falling λ, warm starts (8 values from σ₁ of the data down)
GRID = [*({"rank": rank, "start": "cold"} for rank in (10, 60, 180, 400)), {"rank": 60, "start": "path"}]
_PATH, _LOOSE, _AT_MOST = 8, 1e-3, 20


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    m, n = table.shape
    rank = min(setting["rank"], m, n)
    residual = csr_matrix((table.values, (table.rows, table.cols)), shape=table.shape)
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((m, rank)))[0]
    V, d = np.zeros((n, rank)), np.ones(rank)  # Z = U diag(d) Vᵀ
    for penalty, at_most in _penalties(residual, table.multiplier, setting["start"]):
        for _ in range(at_most):
            before = (U, d, V)
            _refresh(residual, table, U, d, V)
            U, d, V = _half(residual.T, U, d, V, penalty)
            _refresh(residual, table, U, d, V)
            V, d, U = _half(residual, V, d, U, penalty)
            if not recorder.take(lambda U=U, d=d, V=V: table.inside(U, d, V)[0], rank=rank):
                return U, d * table.inside(U, d, V)[1], V
            if at_most < 10**9 and _change(before, (U, d, V)) < _LOOSE:
                break
    raise AssertionError("the last penalty has no end")


def _half(residual: csr_matrix, U: np.ndarray, d: np.ndarray, V: np.ndarray, penalty: float) -> tuple:
    """Ridge regression for the other side given U, then the rotation by its SVD: returns (U, d, V) turned."""
    W = (residual @ U + V * d) * (d / (d + penalty))
    left, d, turn = np.linalg.svd(W, full_matrices=False)
    return U @ turn.T, d, left


def _refresh(residual: csr_matrix, table: Table, U: np.ndarray, d: np.ndarray, V: np.ndarray) -> None:
    """The observed misfit r − Z; a chunk of rows at a time, so that the gathered factors stay in cache."""
    A = U * d
    for low in range(0, table.values.size, 8192):
        part = slice(low, low + 8192)
        fitted = np.einsum("ek,ek->e", A[table.rows[part]], V[table.cols[part]])
        residual.data[part] = table.values[part] - fitted


def _penalties(data: csr_matrix, multiplier: float, start: str) -> list[tuple[float, int]]:
    if start == "cold":
        return [(multiplier, 10**9)]
    from scipy.sparse.linalg import svds

    top = float(svds(data, k=1, return_singular_vectors=False, tol=1e-2)[0])
    path = np.geomspace(max(top, multiplier), multiplier, _PATH + 1)[1:]
    return [(float(penalty), _AT_MOST) for penalty in path[:-1]] + [(multiplier, 10**9)]


def _change(old: tuple, new: tuple) -> float:
    """‖Z_new − Z_old‖² / ‖Z_old‖², from the factors."""
    (U, d, V), (P, e, Q) = old, new
    cross = float(np.sum((U.T @ P) * ((V * d).T @ (Q * e))))
    size = float(d @ d) if np.any(V) else 0.0
    return (size + float(e @ e) - 2.0 * cross) / max(size, 1e-9)
