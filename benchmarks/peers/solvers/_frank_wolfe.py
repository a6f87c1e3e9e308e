"""Frank-Wolfe as most people write it: scipy's svds on the sparse gradient, one atom a step."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from ..problems import Table
from ..recorder import Recorder


def frank_wolfe(table: Table, recorder: Recorder, tolerance: float, line_search: bool) -> tuple:
    z, left, right, weights = np.zeros(table.values.size), [], [], np.zeros(0)
    start = np.random.default_rng(0).standard_normal(min(table.shape))
    residual = csr_matrix((table.values - z, (table.rows, table.cols)), shape=table.shape)
    for t in range(10**9):
        residual.data = table.values - z
        u, _, vt = svds(residual, k=1, tol=tolerance, v0=start)
        u, v = u[:, 0], vt[0]
        start = u if table.shape[0] <= table.shape[1] else v
        dz = table.radius * u[table.rows] * v[table.cols] - z
        step = min(1.0, max(0.0, (residual.data @ dz) / (dz @ dz))) if line_search else 2.0 / (t + 2.0)
        z = z + step * dz
        left.append(u)
        right.append(v)
        weights = np.append((1.0 - step) * weights, step * table.radius)
        if not recorder.take(z, rank=len(left)):
            break
    return np.array(left).T, weights, np.array(right).T
