"""complete on a cluster: files that its workers read, a fit where the rows are, and the model folder."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..estimators import MatrixCompletion
from ..estimators.completion.far_fit import fit_far, refuse_far
from ..estimators.completion.saving import described
from ..hooks import Hooks
from ..objectives.frames import far_table
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Stop
from ..tables.far import FarFiles, address, read_far
from . import settings, store
from .aside import folder_aside, refuse_folder
from .beside import reported
from .complete import Done, Job, refuse_settings
from .talk import StatusLine, say
from .words import shown

_NOT_THERE = {
    "test": "--test is for one machine; predict the pairs of a file with the model, then compare",
    "checkpoint": "--checkpoint is for one machine",
    "duplicates": "--duplicates is for one machine; on a cluster a pair that comes twice counts twice",
    "drop_empty": "--drop-empty is for one machine; on a cluster a missing value is refused",
}

# what lies on a worker is in use all the time, so nothing is written to its disk
_MEMORY = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")}


def complete(job: Job, cluster: str) -> Done:
    """Read, fit, write; refuses before any work where the model could not be written."""
    refuse_folder(job.out, job.force)
    for name, words in _NOT_THERE.items():
        if job.said.get(name) is not None:
            raise ValueError(f"{words}.")
    model = MatrixCompletion(**settings.of_model(job.said))
    refuse_settings(model, None)
    refuse_far(model)
    found = read_far(job.file, settings.of_reading(job.said))
    with connected(job, cluster) as client:
        return _fit(job, model, found, client)


@contextmanager
def connected(job: Job, cluster: str) -> Iterator[Any]:
    """A client of a scheduler that runs somewhere, or of workers on this machine, one a core."""
    try:
        import dask
        import distributed
    except ImportError:
        raise ValueError(
            "--cluster needs the extra 'cluster' (dask, distributed, pyarrow): from a checkout, "
            "pip install '.[cluster]'."
        ) from None
    if cluster == "local":
        with dask.config.set(_MEMORY), _uninterrupted():
            own = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0", silence_logs=50)
        with own as made, distributed.Client(made) as client:
            workers = len(client.nthreads())
            job.talk(f"A cluster of {workers} processes on this machine; its dashboard is {client.dashboard_link}.")
            yield client
        return
    if "://" not in cluster:
        raise ValueError(
            f"--cluster is 'local' or the address of a scheduler such as tcp://host:8786, got {cluster!r}."
        )
    try:
        client = distributed.Client(cluster, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"--cluster {cluster}: no scheduler answers there ({str(error).splitlines()[0].rstrip('.')}); start one "
            "with `dask scheduler`, and workers with `dask worker`."
        ) from None
    with client:
        workers = len(client.nthreads())
        if not workers:
            raise ValueError(
                f"--cluster {cluster}: the scheduler has no workers; start some with `dask worker {cluster}`."
            )
        job.talk(f"A cluster of {workers} workers at {cluster}.")
        yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; those that start here leave it to this one."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _fit(job: Job, model: MatrixCompletion, found: FarFiles, client: Any) -> Done:
    began = time.perf_counter()
    job.talk(f"{found.guess}.")
    table = far_table("complete", found.frame, (*found.names, None), None, client, once=False)
    seconds = {"reading": time.perf_counter() - began}
    rows, columns = table.shape
    job.talk(f"{len(table):,} values of {rows:,} rows and {columns:,} columns; read in {seconds['reading']:.1f} s.")
    progress = StatusLine(job.quiet, "held-out RMSE" if model.loss == "squared" else "held-out loss")
    began = time.perf_counter()
    with progress, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fit_far(model, table, list(found.names[:2]), Hooks(_told(progress), (progress,), progress))
    for each in heard:
        if not issubclass(each.category, RuntimeWarning):
            job.talk(str(each.message).removeprefix("MatrixCompletion: "))
    seconds["fitting"] = time.perf_counter() - began
    status = "interrupted" if model.status_ == "INTERRUPTED" else "finished"
    report = _write(job, model, found, (rows, columns, len(table)), status, seconds)
    if "shards_" in vars(model):
        say(f"The rows of this model lie in {len(model.shards_.source.models)} files of {job.out}.")
    return Done(model, table, status, report, seconds, job.out, goes_on=False)


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
) -> bool:
    data = {
        "file": shown(address(job.file)),
        "fingerprint": model.certificate_.data,
        "names": list(found.names),
        "shape": list(size[:2]),
        "observations": size[2],
        "reading": {},
    }
    facts = described(status, seconds, data)
    with folder_aside(job.out, job.force) as part:
        store.write(part, model, facts)
        if "shards_" in vars(model):
            return False  # a report looks at every observation
        return bool(job.said.get("report", True)) and reported(job, model, part / "report.html", None)
