"""Frank-Wolfe in 20 lines, open-loop step 2/(t + 2)."""

from __future__ import annotations

from ..problems import Table
from ..recorder import Recorder

TITLE = "Frank-Wolfe, 2/(t+2)"
GRID = [{"tolerance": 0.0}, {"tolerance": 0.1}]  # of svds, as in frank_wolfe.py


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    from ._frank_wolfe import frank_wolfe

    return frank_wolfe(table, recorder, setting["tolerance"], line_search=False)
