"""Accelerated projected gradient (FISTA with restart), a dense decomposition a step, plain NumPy."""

from __future__ import annotations

import numpy as np

from ..problems import Table
from ..recorder import Recorder

TITLE = "accelerated projected gradient"
# "svd": LAPACK's divide and conquer. "gram": eigenvectors of the smaller Gram matrix, faster, half the digits.
GRID = [{"decomposition": "svd"}, {"decomposition": "gram"}]


def run(table: Table, recorder: Recorder, setting: dict) -> np.ndarray:
    project = _by_svd if setting["decomposition"] == "svd" else _by_gram
    tall = table.shape[0] < table.shape[1]  # the Gram matrix is that of the shorter side
    shape, rows, cols = (table.shape, table.rows, table.cols)
    if tall:
        shape, rows, cols = (shape[1], shape[0]), cols, rows
    Z = np.zeros(shape)
    Y, momentum = Z.copy(), 1.0
    while True:
        step = Y.copy()  # f is 1-smooth: a step of one is the longest that is safe
        step[rows, cols] -= Y[rows, cols] - table.values
        new = project(step, table.radius)
        if np.vdot(Y - new, new - Z) > 0:  # the gradient scheme of O'Donoghue and Candès: momentum uphill, start anew
            momentum = 1.0
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        Y = new + (momentum - 1.0) / grown * (new - Z)
        Z, momentum = new, grown
        if not recorder.take(Z[rows, cols]):
            return Z.T if tall else Z


def _by_svd(A: np.ndarray, radius: float) -> np.ndarray:
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    s = _onto_ball(s, radius)
    kept = s > 0
    return (U[:, kept] * s[kept]) @ Vt[kept]


def _by_gram(A: np.ndarray, radius: float) -> np.ndarray:
    squares, V = np.linalg.eigh(A.T @ A)
    s = np.sqrt(np.maximum(squares, 0.0))
    new = _onto_ball(s, radius)
    kept = new > 0
    V = V[:, kept]
    return (A @ V) * (new[kept] / s[kept]) @ V.T


def _onto_ball(s: np.ndarray, radius: float) -> np.ndarray:
    if s.sum() <= radius:
        return s
    ordered = np.sort(s)[::-1]
    excess = (np.cumsum(ordered) - radius) / np.arange(1, s.size + 1)
    return np.maximum(s - excess[np.nonzero(ordered > excess)[0][-1]], 0.0)
