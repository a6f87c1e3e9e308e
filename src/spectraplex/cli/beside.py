"""What goes with a model: values kept from the fit, titles of ids, the report."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..estimators import MatrixCompletion
from ..estimators.input.features import Known
from ..tables import features
from ..tables import reading as tables
from ..tables.layout import Asked
from ..tables.names import Names
from . import settings, testing
from .tell import titled, titles_for
from .words import shown, told

Features = tuple[Known | None, Known | None]


@dataclass(frozen=True, eq=False)
class Beside:
    """What is written beside a model: values kept from the fit, how it did on them, and titles."""

    held: testing.Held | None
    test: dict[str, Any] | None
    titles: Names | None


def held_out(job: Any, table: tables.Table, going_on: bool) -> testing.Held | None:
    """What is kept from the fit, read before it; a run that goes on goes on without, if the file is gone."""
    if "test" not in job.said:
        return None
    try:
        return testing.read(Path(job.said["test"]), settings.of_reading(job.said), table)
    except (OSError, ValueError) as error:
        if not going_on:
            raise
        what = told(error) if isinstance(error, OSError) else str(error)
        job.talk(f"{what} The run goes on without a test.")
        return None


def read_titles(job: Any, table: tables.Table, going_on: bool) -> Names | None:
    """The titles of ``--names``, read before the fit."""
    if "names" not in job.said:
        return None
    try:
        return titles_for(Path(job.said["names"]), (table.row_labels, table.column_labels), table.names, job.quiet)
    except (OSError, ValueError) as error:
        if not going_on:
            raise
        job.talk(f"{told(error) if isinstance(error, OSError) else error} The run goes on without titles.")
        return None


def read_features(job: Any, table: tables.Table) -> Features | None:
    """What ``--row-features`` and ``--column-features`` say, read before the fit; None where neither was given."""
    asked = replace(Asked(), decimal=job.said.get("decimal"), thousands=job.said.get("thousands"))
    found: list[Known | None] = [None, None]
    for k, (side, labels) in enumerate((("row", table.row_labels), ("column", table.column_labels))):
        file = job.said.get(f"{side}_features")
        if file is not None:
            found[k], words = features.read_features(Path(file), asked, labels, side, table.names[k])
            job.talk(f"{words}.")
    return None if found == [None, None] else (found[0], found[1])


def judged(job: Any, model: MatrixCompletion, held: testing.Held) -> dict[str, Any] | None:
    try:
        facts = testing.judge(model, held)
    except ValueError as error:  # a fit of hours must not be lost because of its test
        job.talk(f"{held.file} could not be used as a test: {error}")
        return None
    if facts["fitted_too"]:
        job.talk(f"{held.file}: {facts['fitted_too']:,} of its pairs were fitted, too; on them it is no test.")
    return facts


def reported(job: Any, model: MatrixCompletion, path: Path, beside: Beside) -> bool:
    """The page about the model; where it cannot be had, a sentence instead."""
    try:
        report = importlib.import_module("spectraplex.report")
        held, titles = beside.held, beside.titles
        kept = None if held is None else (held.pairs, held.values)
        if titles is not None:
            model, pairs = titled(model, titles, None if held is None else held.pairs)
            kept = None if held is None else (pairs, held.values)
        command, how = [shown(word) for word in job.command], "" if held is None else held.how
        known = testing.ranks_of(beside.test)
        asked = {"held_out": kept, "how": how, "command": command or None, "ranks": known}
        report.write(model, path, source=shown(job.file.name), **asked)
    except OSError:
        raise
    except Exception as error:  # a fit of hours must not be lost because of its page
        job.talk(f"No report was written: {str(error).rstrip('.')}.")
        return False
    return True
