"""spectraplex with its default method; gaps are certified by ``solve`` itself, inside the clock."""

from __future__ import annotations

import spectraplex as sx
from spectraplex.datasets import ratings_like

from ..problems import Table, table_of
from ..recorder import Recorder

TITLE = "spectraplex"
GRID = [{"relative_gap": gap} for gap in (1e-2, 1e-3, 1e-4, 1e-6)]  # what a user asks for; all else is default


def warm_up() -> Table:
    """Large enough that every compiled kernel of the real run is loaded before the clock starts (shown apart)."""
    return table_of(ratings_like(700, 500, 100_000, seed=7), 1500.0)


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    def watch(record: sx.Record, point: sx.Point) -> bool:
        return recorder.take(point.image, bound=record.lower_bound, rank=record.atoms)

    stop = sx.Stop(relative_gap=setting["relative_gap"], max_seconds=recorder.limit_seconds)
    result = sx.solve(table.problem(), stop=stop, observers=[watch])
    if result.status is not sx.Status.GAP:  # then solve certified once more at the end, inside its clock
        recorder.take(lambda: table.entries(*result.X.triple()), bound=result.lower_bound, last=True)
    return result.X.triple()
