"""What is worth knowing about counts beside their fit, as sentences."""

from __future__ import annotations

from typing import Any

from ...stop import Status
from .fitting import Task
from .information import told


def notices(task: Task, result: Any) -> list[str]:
    """Sentences on what the data do not tell."""
    data, found = task.data, []
    if data.told:
        found.append(data.told)
    if data.empty:
        found.append(f"{data.empty} of {data.empty + len(data.settings)} settings had no shots and were left out.")
    d = task.dimension
    known = told(task.measurements, data.starts)
    if known < d * d - 1:
        found.append(
            f"These settings tell at most {known} numbers of the {d * d - 1} that a state has: other states fit as "
            "well where the true one is not of low rank."
        )
    if data.counts.sum() < d:
        found.append(f"There are {data.counts.sum():g} shots for a state of dimension {d}; error bars will be wide.")
    if (data.counts % 1.0).any() and not data.said:
        found.append(
            "Some counts are not whole numbers. If they are frequencies, say of how many shots (shots=): the "
            "likelihood, its gap and error bars are about shots."
        )
    if result.status is not Status.GAP:
        found.append(f"The fit ended before the gap asked for, with {result.gap:.3g}: {result.status.value}")
    return found
