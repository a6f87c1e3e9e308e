"""spectraplex with its default method; gaps are certified by ``solve`` itself, inside the clock."""

from __future__ import annotations

import spectraplex as sx
from spectraplex.datasets import ratings_like

from ..problems import Table, table_of
from ..recorder import Recorder

TITLE = "spectraplex"
# what a user asks for; all else is default. "nothing" certifies nothing, as nobody else does either
GRID = [{"asked": "nothing"}, *({"relative_gap": gap} for gap in (1e-2, 1e-3, 1e-4, 1e-6))]


def warm_up() -> Table:
    """Large enough that every compiled kernel of the real run is loaded before the clock starts (shown apart)."""
    return table_of(ratings_like(700, 500, 100_000, seed=7), 1500.0)


def run(table: Table, recorder: Recorder, setting: dict) -> tuple:
    def watch(record: sx.Record, point: sx.Point) -> bool:
        return recorder.take(point.image, bound=record.lower_bound, rank=record.atoms)

    wanted = setting.get("relative_gap")
    stop = sx.Stop(relative_gap=wanted, max_seconds=recorder.limit_seconds)
    result = sx.solve(table.problem(), stop=stop, observers=[watch], certify=wanted is not None)
    if (
        wanted is not None and result.status is not sx.Status.GAP
    ):  # then solve certified once more at the end, inside its clock
        recorder.take(lambda: table.entries(*result.X.triple()), bound=result.lower_bound, last=True)
    return result.X.triple()
