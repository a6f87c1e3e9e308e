"""copt's Frank-Wolfe with its backtracking line search over the trace-norm ball."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np

from ..problems import Table
from ..recorder import Recorder

TITLE = "copt, backtracking"
# "table": copt's own oracle, which wants all m·n numbers of the gradient. "observed": the same minimisation over the
# observed entries alone, with an oracle of ours handed to copt (it takes any function): svds on the sparse gradient,
# tolerance 0.1 and started from the last vector, as in the 20 lines.
GRID = [{"variable": "table"}, {"variable": "observed"}]


def run(table: Table, recorder: Recorder, setting: dict) -> Any:
    import copt

    minimise = _on_observed if setting["variable"] == "observed" else _on_table
    # copt prints its first estimate of the Lipschitz constant, and numpy warns about its use of old names
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return minimise(copt, table, recorder)


def _on_table(copt: Any, table: Table, recorder: Recorder) -> np.ndarray:
    place = table.rows * table.shape[1] + table.cols

    def value_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        misfit = x[place] - table.values
        gradient = np.zeros(x.size)
        gradient[place] = misfit
        return 0.5 * float(misfit @ misfit), gradient

    def watch(now: dict) -> bool:
        def ahead() -> np.ndarray:  # copt calls back before it moves
            return now["x"][place] + now["step_size"] * now["update_direction"][place]

        return recorder.going and recorder.take(ahead)

    ball = copt.constraint.TraceBall(table.radius, table.shape)
    start = np.zeros(table.shape[0] * table.shape[1])
    options = {"jac": True, "step": "backtracking", "max_iter": 10**9, "tol": 0.0, "callback": watch}
    found = copt.minimize_frank_wolfe(value_and_gradient, start, ball.lmo, **options)
    return found.x.reshape(table.shape)


def _on_observed(copt: Any, table: Table, recorder: Recorder) -> None:
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    matrix = csr_matrix((table.values, (table.rows, table.cols)), shape=table.shape)
    start = np.random.default_rng(0).standard_normal(min(table.shape))

    def value_and_gradient(z: np.ndarray) -> tuple[float, np.ndarray]:
        misfit = z - table.values
        return 0.5 * float(misfit @ misfit), misfit

    def oracle(direction: np.ndarray, z: np.ndarray, active: Any) -> tuple:
        nonlocal start
        matrix.data = direction
        u, _, vt = svds(matrix, k=1, tol=0.1, v0=start)
        start = u[:, 0] if table.shape[0] <= table.shape[1] else vt[0]
        return table.radius * u[table.rows, 0] * vt[0, table.cols] - z, None, None, 1.0

    def watch(now: dict) -> bool:
        return recorder.going and recorder.take(lambda: now["x"] + now["step_size"] * now["update_direction"])

    options = {"jac": True, "step": "backtracking", "max_iter": 10**9, "tol": 0.0, "callback": watch}
    copt.minimize_frank_wolfe(value_and_gradient, np.zeros(table.values.size), oracle, **options)
