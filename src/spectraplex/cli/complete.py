"""complete and resume: from a file to a model folder."""

from __future__ import annotations

import errno
import itertools
import math
import shutil
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.utils import check_random_state

from ..estimators import MatrixCompletion
from ..estimators.completion import parameters
from ..estimators.completion.fitting import fit_observations
from ..estimators.completion.saving import described
from ..estimators.input.features import with_labels
from ..hooks import Hooks
from ..tables import reading as tables
from . import journal, settings, store, testing
from .aside import folder_aside, refuse_folder
from .beside import Beside, Features, held_out, judged, read_features, read_titles, reported
from .journal import Journal
from .talk import StatusLine, heard_of, say
from .words import shown


@dataclass(frozen=True)
class Job:
    """What was asked for; enough to do it, and to do it again."""

    file: Path
    out: Path
    said: dict[str, Any]
    force: bool = False
    quiet: bool = False
    command: tuple[str, ...] = ()

    def talk(self, words: str) -> None:
        if not self.quiet:
            say(words)


@dataclass(frozen=True, eq=False)
class Done:
    """What came out."""

    model: MatrixCompletion
    table: Any
    status: str
    report: bool
    seconds: dict[str, float]
    out: Path
    test: dict[str, Any] | None = None
    goes_on: bool = True  # whether `spectraplex resume` can


def complete(job: Job) -> Done:
    """Read, fit, write; refuses before any work where the model could not be written."""
    refuse_folder(job.out, job.force)
    refuse_left(job)
    return _fit(job)


def refuse_left(job: Job) -> None:
    """An unfinished run is only given up if that was asked for."""
    left = journal.folder_of(job.out)
    if left.exists() and not journal.abandoned(left):
        if not job.force:
            raise ValueError(
                f"{left} holds an unfinished run; `spectraplex resume {job.out}` goes on with it, --force starts anew."
            )
        journal.read(left)  # only what is a checkpoint is ever removed
        with journal.alone(left):
            shutil.rmtree(left)


@dataclass(frozen=True)
class Left:
    """A run that was killed or interrupted: what was asked for, of which data, and on which cluster if on one."""

    job: Job
    mark: str
    cluster: str | None


def unfinished(given: Path, file: Path | None, quiet: bool, command: tuple[str, ...]) -> Left:
    """What a checkpoint is of."""
    folder = journal.folder_of(given) if not (given / "checkpoint.json").is_file() else given
    if not folder.exists():
        what = "is finished" if store.status_of(given) == "finished" else "does not exist"
        raise ValueError(f"There is nothing to resume: {given} {what}, and there is no checkpoint {folder}.")
    document = journal.read(folder)
    try:
        out = folder.with_name(folder.name.removesuffix(".checkpoint"))
        if not folder.name.endswith(".checkpoint"):
            out = folder.with_name(document["out"])
        said = {name: tuple(value) if isinstance(value, list) else value for name, value in document["said"].items()}
        job = Job(Path(file or document["file"]), out, said, store.status_of(out) == "interrupted", quiet, command)
        left = Left(job, str(document["fingerprint"]), document.get("cluster"))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{folder}: checkpoint.json is damaged (missing or unknown entry: {error}).") from None
    refuse_folder(out, job.force)
    return left


def resume(left: Left) -> Done:
    """Go on with a run on one machine."""
    if not left.job.file.exists():
        raise ValueError(f"{left.job.file} does not exist any more; --data FILE says where the data are now.")
    return _fit(left.job, left.mark)


def _fit(job: Job, mark: str | None = None) -> Done:
    model, every = MatrixCompletion(**settings.of_model(job.said)), job.said.get("checkpoint")
    refuse_settings(model, every)
    began = time.perf_counter()
    table = tables.read(job.file, settings.of_reading(job.said), tell=lambda guess: job.talk(f"{guess}."))
    seconds = {"reading": time.perf_counter() - began}
    rows, columns = table.shape
    job.talk(
        f"{table.values.size:,} values of {rows:,} rows and {columns:,} columns; read in {seconds['reading']:.1f} s."
    )
    if mark is not None and mark != table.mark:
        raise ValueError(f"{job.file} is not the data that the checkpoint is of (its fingerprint differs).")
    going_on = mark is not None
    whole, share = table, testing.share_of(job.said)
    files = ["names", "row_features", "column_features"] + (["test"] if share is None else [])
    if share is None:
        held = held_out(job, table, going_on)
    else:
        table, held = testing.cut(job.file, table, share)
        job.talk(f"{held.values.size:,} values are kept from the fit as a test: {held.how}.")
    titles, known = read_titles(job, table, going_on), read_features(job, table)
    aside = {name: str(Path(job.said[name]).resolve()) for name in files if name in job.said}
    document = {
        "file": str(job.file.resolve()),
        "out": job.out.name,
        "said": job.said | aside,
        "fingerprint": whole.mark,
    }
    measure = "held-out RMSE" if model.loss == "squared" else "held-out loss"
    progress = StatusLine(job.quiet, measure)
    kept = Journal(journal.folder_of(job.out), document, every, progress)
    with kept.listening(), journal.under_way(kept, job.out):
        began = time.perf_counter()
        with progress:
            fit(model, table, kept, job, known)
        seconds["fitting"] = time.perf_counter() - began
        status = "interrupted" if kept.interrupted else "finished"
        began = time.perf_counter()
        test = None if held is None else judged(job, model, held)
        report = None
        while report is None:
            job = _elsewhere(job)
            try:
                report = _write(job, model, table, status, seconds, Beside(held, test, titles))
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise  # else somebody was there first, a moment ago
        seconds["writing"] = time.perf_counter() - began
        if status == "finished":
            shutil.rmtree(kept.folder, ignore_errors=True)
    return Done(model, table, status, report, seconds, job.out, test)


def _elsewhere(job: Job) -> Job:
    """A place for a model that was computed: beside the one wished for, if something came to be there meanwhile."""
    try:
        refuse_folder(job.out, job.force)
    except ValueError:
        places = (job.out.with_name(f"{job.out.name}-{number}") for number in itertools.count(2))
        free = next(place for place in places if not place.exists())
        say(f"{job.out} was written by somebody else meanwhile; this model is {free}.")
        return replace(job, out=free)
    return job


def refuse_settings(model: MatrixCompletion, every: Any) -> None:
    """Before anything is read or written."""
    parameters.recipe_of(model)
    parameters.radius_of(model)
    check_random_state(model.random_state)
    settings.refuse_device(model.device)
    if every is not None and not 0 <= every < math.inf:
        raise ValueError(f"--checkpoint is a number of seconds ≥ 0, got {every:g}.")


def fit(model: MatrixCompletion, table: tables.Table, kept: Journal, job: Job, known: Features | None = None) -> None:
    """Fit, keeping what is solved; ``known`` are features of rows and columns."""
    hooks = Hooks(kept.solve, (kept.progress,), kept.progress)
    names = list(table.names[:2]) if table.names[0] != table.names[1] else None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        seen, labels = table.observations(), (table.row_labels, table.column_labels)
        if known is not None:
            seen, labels = with_labels(seen, labels, known)
        fit_observations(model, seen, labels, names, hooks=hooks, when=table.when, features=known)
    for each in heard:
        if not kept.interrupted and not issubclass(each.category, RuntimeWarning):  # NumPy's own are no sentences
            job.talk(heard_of(each))


def _write(
    job: Job,
    model: MatrixCompletion,
    table: tables.Table,
    status: str,
    seconds: dict[str, float],
    beside: Beside,
) -> bool:
    data = {
        "file": shown(job.file.name),
        "fingerprint": table.mark,
        "names": list(table.names),
        "shape": list(table.shape),
        "observations": len(table),
        "reading": table.reading,
    }
    facts = described(status, seconds, data, beside.test)
    with folder_aside(job.out, job.force) as part:
        store.write(part, model, facts)
        return job.said.get("report", True) and reported(job, model, part / "report.html", beside)
