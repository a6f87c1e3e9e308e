"""Frank-Wolfe in 20 lines, exact line search."""

from __future__ import annotations

from ..problems import Table
from ..recorder import Recorder

TITLE = "Frank-Wolfe, line search"
# svds' own tolerance (0 is machine precision, its default); every svds starts from the last singular vector
GRID = [{"tolerance": 0.0}, {"tolerance": 0.1}, {"tolerance": 1.0}]


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    from ._frank_wolfe import frank_wolfe

    return frank_wolfe(table, recorder, setting["tolerance"], line_search=True)
