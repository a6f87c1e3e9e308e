"""CVXPY with Clarabel, on small tables."""

from __future__ import annotations

from ..problems import Table
from ..recorder import Recorder

TITLE = "CVXPY with Clarabel"
GRID = [{"tol": tol} for tol in (1e-3, 1e-5, 1e-8)]
CONIC = True


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    from ._conic import conic

    tol = setting["tol"]
    return conic(table, recorder, "CLARABEL", {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol})
