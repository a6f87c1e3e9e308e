"""CVXPY with SCS, on small tables."""

from __future__ import annotations

from ..problems import Table
from ..recorder import Recorder

TITLE = "CVXPY with SCS"
GRID = [{"eps": eps} for eps in (1e-3, 1e-5, 1e-7)]
CONIC = True


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    from ._conic import conic

    eps = setting["eps"]
    return conic(table, recorder, "SCS", {"eps_abs": eps, "eps_rel": eps, "max_iters": 1_000_000})
