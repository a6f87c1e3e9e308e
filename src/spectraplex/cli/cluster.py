"""complete on a cluster: files that its workers read, a fit where the rows are, and the model folder."""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import MatrixCompletion
from ..estimators.completion import far_parts
from ..estimators.completion.far_fit import fit_far, refuse_far
from ..estimators.completion.saving import described
from ..estimators.input.repeats import refuse_word
from ..fingerprint import fingerprint
from ..hooks import Hooks
from ..objectives.frames import far_table
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Stop
from ..tables import reading as tables
from ..tables.far import FarFiles, address, read_far
from ..tables.layout import Asked
from . import journal, settings, store, testing
from .aside import folder_aside, refuse_folder
from .beside import Beside, reported
from .complete import Done, Job, Left, refuse_left, refuse_settings
from .connected import connected
from .far_journal import FarJournal
from .talk import StatusLine, heard_of, say
from .tell import titles_of
from .words import shown, told


def complete(job: Job, cluster: str) -> Done:
    """Read, fit, write; refuses before any work where the model could not be written."""
    refuse_folder(job.out, job.force)
    refuse_left(job)
    return _begun(job, cluster)


def resume(left: Left, cluster: str) -> Done:
    """Go on with a run, on the same cluster or on another one."""
    return _begun(left.job, cluster, left)


def _begun(job: Job, cluster: str, left: Left | None = None) -> Done:
    for name in ("row_features", "column_features"):
        if name in job.said:
            raise ValueError(f"--{name.replace('_', '-')} is for one machine; leave --cluster away, or the features.")
    device = job.said.get("device", "auto") != "auto"
    if device or "time" in job.said or testing.share_of(job.said) is not None:
        what = "--device" if device else "--time" if "time" in job.said else "A share as --test"
        raise ValueError(f"{what} is for one machine; leave it out, or leave out --cluster.")
    model = MatrixCompletion(**settings.of_model(job.said))
    refuse_settings(model, job.said.get("checkpoint"))
    refuse_far(model)
    asked = settings.of_reading(job.said)
    refuse_word(asked.duplicates, "--duplicates")
    found = read_far(job.file, asked)
    job.talk(f"{found.guess}.")
    test = _test(job, replace(asked, row=found.names[0], column=found.names[1], value=found.names[2]), left is not None)
    with connected(cluster, job.talk) as client:
        return _fit(job, model, found, Around(client, cluster, asked, test, left))


def _test(job: Job, asked: Asked, going_on: bool) -> tables.Table | None:
    """Values kept from the fit, read before it; a run that goes on goes on without, if the file is gone."""
    if "test" not in job.said:
        return None
    try:
        return tables.read(Path(job.said["test"]), asked, fitted=False)
    except (OSError, ValueError) as error:
        if not going_on:
            raise
        job.talk(f"{told(error) if isinstance(error, OSError) else error} The run goes on without a test.")
        return None


@dataclass(frozen=True, eq=False)
class Around:
    """What a fit has around it."""

    client: Any
    cluster: str
    asked: Asked
    test: tables.Table | None
    left: Left | None  # the run that goes on


def _fit(job: Job, model: MatrixCompletion, found: FarFiles, around: Around) -> Done:
    began = time.perf_counter()
    asked, frame = around.asked, found.frame
    if asked.drop_empty:
        frame = frame.dropna(subset=[found.names[2]])
    once = asked.duplicates == "error"
    table = far_table("complete", frame, (*found.names, None), None, around.client, once=once)
    seconds = {"reading": time.perf_counter() - began}
    rows, columns = table.shape
    job.talk(f"{len(table):,} values of {rows:,} rows and {columns:,} columns; read in {seconds['reading']:.1f} s.")
    every = job.said.get("checkpoint")
    mark = "" if every is None else _mark(table)
    if around.left is not None and around.left.mark != mark:
        raise ValueError(f"{address(job.file)} is not the data that the checkpoint is of (its fingerprint differs).")
    progress = StatusLine(job.quiet, "held-out RMSE" if model.loss == "squared" else "held-out loss")
    kept = FarJournal(journal.folder_of(job.out), _document(job, around) | {"fingerprint": mark}, every, progress)
    solver = _told(progress) if every is None else kept.solve
    watched = nullcontext() if every is None else kept.listening()
    held = None if every is None else journal.under_way(kept, job.out)
    with watched, held or nullcontext():
        began = time.perf_counter()
        with progress, warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            hooks = Hooks(solver, (progress,), progress)
            fit_far(model, table, list(found.names[:2]), hooks, "all" if once else asked.duplicates)
        for each in heard:
            if not kept.interrupted and not issubclass(each.category, RuntimeWarning):
                job.talk(heard_of(each))
        seconds["fitting"] = time.perf_counter() - began
        status = "interrupted" if kept.interrupted or model.status_ == "INTERRUPTED" else "finished"
        judged = None if around.test is None else _judged(job, model, around.test)
        report = _write(job, model, found, (rows, columns, len(table)), status, seconds, judged)
        if status == "finished":
            shutil.rmtree(kept.folder, ignore_errors=True)
    if "shards_" in vars(model):
        say(f"The rows of this model lie in {len(model.shards_.source.models)} files of {job.out}.")
    test = None if judged is None else judged[1]
    return Done(model, table, status, report, seconds, job.out, test, goes_on=every is not None)


def _mark(table: Any) -> str:
    """Which data these are, in any number of shards."""
    total = sum(table.each(far_parts.mark_of)) % 2**64
    labels = [str(label) for label in np.asarray(table.columns).tolist()]
    return fingerprint(*labels, f"{table.shape} {len(table)} {total}")


def _document(job: Job, around: Around) -> dict[str, Any]:
    """What a checkpoint is of; local files by their whole paths."""
    where = address(job.file)
    where = where if "://" in where else str(Path(where).absolute())
    aside = {name: str(Path(job.said[name]).resolve()) for name in ("test", "names") if name in job.said}
    return {
        "file": where,
        "out": job.out.name,
        "said": job.said | aside,
        "cluster": around.cluster,
    }


def _judged(job: Job, model: MatrixCompletion, test: Any) -> tuple[testing.Held | None, dict[str, Any]] | None:
    """How good predictions are on values that were kept from the fit."""
    file = Path(job.said["test"])
    try:
        if "shards_" in vars(model):
            return None, testing.judge_far(model, file, test)
        held = testing.known(file, test, model.row_labels_, model.column_labels_)
        facts = testing.judge(model, held)
        if facts["fitted_too"]:
            job.talk(f"{file}: {facts['fitted_too']:,} of its pairs were fitted, too; on them it is no test.")
        return held, facts
    except ValueError as error:  # a fit of hours must not be lost because of its test
        job.talk(f"{file} could not be used as a test: {error}")
        return None


def _told(progress: StatusLine) -> Callable[..., Result]:
    """``solve``, whose beginning is told."""

    def solver(problem: Problem, *, stop: Stop, **options: Any) -> Result:
        last, radius = options.get("certify", True), f"{problem.domain.size:.6g}"
        progress.begin(f"fitting with radius {radius}" if last else f"trying radius {radius}", stop, last)
        return solve(problem, stop=stop, **options)

    return solver


def _write(
    job: Job,
    model: MatrixCompletion,
    found: FarFiles,
    size: tuple[int, int, int],
    status: str,
    seconds: dict[str, float],
    judged: tuple[testing.Held | None, dict[str, Any]] | None,
) -> bool:
    held, test = (None, None) if judged is None else judged
    data = {
        "file": shown(address(job.file)),
        "fingerprint": model.certificate_.data,
        "names": list(found.names),
        "shape": list(size[:2]),
        "observations": size[2],
        "reading": dict(zip(("row", "column", "value"), found.names, strict=True)),
    }
    facts = described(status, seconds, data, test)
    with folder_aside(job.out, job.force) as part:
        store.write(part, model, facts)
        if "shards_" in vars(model):
            return False  # a report looks at every observation
        if not job.said.get("report", True):
            return False
        titles = None
        if "names" in job.said:
            try:
                titles = titles_of(model, Path(job.said["names"]), found.names, job.quiet)
            except (OSError, ValueError) as error:
                job.talk(f"{error} The report is without titles.")
        return reported(job, model, part / "report.html", Beside(held, test, titles))
