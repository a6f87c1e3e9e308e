"""The problem in CVXPY's words; one call, one answer, so every tolerance is a run of its own."""

from __future__ import annotations

import numpy as np

from ..problems import Table
from ..recorder import Recorder


def conic(table: Table, recorder: Recorder, solver: str, options: dict) -> tuple:
    import cvxpy

    Z = cvxpy.Variable(table.shape)
    misfit = Z[table.rows, table.cols] - table.values
    goal = cvxpy.Minimize(0.5 * cvxpy.sum_squares(misfit))
    cvxpy.Problem(goal, [cvxpy.normNuc(Z) <= table.radius]).solve(solver=solver, **options)
    if Z.value is None:
        raise RuntimeError(f"{solver} returned no answer")
    U, s, Vt = np.linalg.svd(Z.value, full_matrices=False)
    recorder.take(lambda: table.inside(U, s, Vt.T)[0], last=True)
    return U, table.inside(U, s, Vt.T)[1] * s, Vt.T
