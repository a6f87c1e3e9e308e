"""spectraplex with its default method; gaps are certified by ``solve`` itself, inside the clock."""

from __future__ import annotations

import spectraplex as sx

from ..problems import Table
from ..recorder import Recorder

TITLE = "spectraplex"
GRID = [{"relative_gap": gap} for gap in (1e-2, 1e-3, 1e-4, 1e-6)]  # what a user asks for; all else is default


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    def watch(record: sx.Record, point: sx.Point) -> bool:
        return recorder.take(point.image, bound=record.lower_bound, rank=record.atoms)

    stop = sx.Stop(relative_gap=setting["relative_gap"], max_seconds=recorder.limit_seconds)
    result = sx.solve(table.problem(), stop=stop, observers=[watch])
    return result.X.triple()
