"""Carries out an experiment's tasks: over the cores, resumable, with progress and time left.

Every finished task is one small file in ``OUT/runs/NAME``; a run that was killed goes on with those that are missing.
Each worker is a process of its own with one thread, whatever their number, so the results do not depend on it.
Written on ``concurrent.futures``: what is added is keeping, progress and tasks that want the machine to themselves.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from . import numerics
from .document import Document, Run, from_plain, machine, plain, to_json, versions, write_aside


@dataclass(frozen=True)
class Task:
    """One independent run.

    Parameters
    ----------
    key : its name, unique within the experiment.
    settings : everything it depends on, seed included; what JSON can hold.
    cost : expected work, in any unit (for the time left).
    alone : True for a timing: it waits until nothing else runs.
    """

    key: str
    settings: dict[str, Any]
    cost: float = 1.0
    alone: bool = False


class Failed(RuntimeError):
    """A task that ended with an error; what was finished before is kept."""


@dataclass
class TaskLine:
    """Says on a stream how far things are; one line that renews itself on a terminal, a line now and then elsewhere."""

    name: str
    total: int
    work: float
    out: TextIO = field(default_factory=lambda: sys.stderr)
    every_seconds: float = 10.0

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self.done, self.worked, self.said = 0, 0.0, -float("inf")

    def kept(self, tasks: Sequence[Task]) -> None:
        """Tasks finished by an earlier run."""
        self.total -= len(tasks)
        self.work -= sum(task.cost for task in tasks)
        if tasks:
            self._line(f"{self.name}: {len(tasks)} finished runs are kept, {self.total} to go")

    def finished(self, task: Task) -> None:
        self.done += 1
        self.worked += task.cost
        now = time.monotonic()
        terminal = self.out.isatty()
        if not terminal and now - self.said < self.every_seconds and self.done < self.total:
            return
        self.said = now
        left = (now - self.began) * (self.work - self.worked) / self.worked if self.worked else float("inf")
        words = f"{self.name}: {self.done} of {self.total} runs, about {in_words(left)} left ({task.key})"
        if terminal:
            self.out.write(f"\r\033[K{words}" + ("\n" if self.done == self.total else ""))
            self.out.flush()
        else:
            self._line(words)

    def _line(self, words: str) -> None:
        self.out.write(words + "\n")
        self.out.flush()


def in_words(seconds: float) -> str:
    """A duration as a person says it."""
    if seconds < 90:
        return f"{max(round(seconds), 0)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def run(
    name: str,
    out: Path,
    quick: bool = False,
    workers: int | None = None,
    stream: TextIO | None = None,
    outdated: bool = False,
) -> Document:
    """Carry out what is missing of an experiment and return all of it.

    Parameters
    ----------
    name : one of ``EXPERIMENTS``.
    out : folder of the results; finished runs are kept in its folder ``runs``.
    quick : the miniature.
    workers : number of processes; None takes one per core.
    stream : where progress is said, standard error unless told otherwise.
    outdated : use finished runs of other versions as well; the document names the sources of all.
    """
    tasks: list[Task] = numerics(name).tasks(quick)
    made_with = versions(name)
    folder = out / "runs" / (f"{name}-quick" if quick else name)
    found = {task.key: _kept(folder, task, made_with, outdated) for task in tasks}
    kept = {key: entry["outcome"] for key, entry in found.items() if entry is not None}
    sources = {entry["versions"]["solver"] for entry in found.values() if entry is not None} | {made_with["solver"]}
    left = [task for task in tasks if task.key not in kept]
    progress = TaskLine(
        name, len(tasks), sum(task.cost for task in tasks), stream if stream is not None else sys.stderr
    )
    progress.kept([task for task in tasks if task.key in kept])
    for task, outcome in _carry_out(name, left, workers or machine()["cores"] or 1):
        entry = {"key": task.key, "settings": task.settings, "versions": made_with, "outcome": outcome}
        write_aside(_place(folder, task), to_json(entry))
        kept[task.key] = outcome
        progress.finished(task)
    runs = tuple(Run(task.key, task.settings, from_plain(plain(kept[task.key]))) for task in tasks)
    return Document(name, quick, made_with | {"solver": ", ".join(sorted(sources))}, machine(), runs)


def _place(folder: Path, task: Task) -> Path:
    """Keys are for people; a few characters of their hash keep file names apart on any file system."""
    readable = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in task.key)
    return folder / f"{readable[:80]}-{hashlib.sha256(task.key.encode()).hexdigest()[:8]}.json"


def _kept(folder: Path, task: Task, made_with: dict[str, str], outdated: bool = False) -> dict[str, Any] | None:
    """A task that was finished earlier with the same settings and, unless outdated ones will do, the same versions."""
    try:
        entry = json.loads(_place(folder, task).read_text(encoding="utf-8"))
        same = entry["settings"] == plain(task.settings) and (outdated or entry["versions"] == made_with)
        return {"versions": entry["versions"], "outcome": from_plain(entry["outcome"])} if same else None
    except (OSError, ValueError, KeyError, TypeError):  # none, or the half of one: do it again
        return None


def _carry_out(name: str, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Each task with its outcome, as they come; those that want to be alone come last, one at a time."""
    together = [task for task in tasks if not task.alone]
    for group, count in ((together, workers), ([task for task in tasks if task.alone], 1)):
        if group:
            yield from _pool(name, sorted(group, key=lambda task: -task.cost), min(count, len(group)))


def _pool(name: str, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, dict[str, Any]]]:
    # spawned, not forked: threads and locks of this process must not reach the workers
    context = multiprocessing.get_context("spawn")
    with _one_thread(), ProcessPoolExecutor(workers, mp_context=context, initializer=_ready) as pool:
        waiting: dict[Future[dict[str, Any]], Task] = {}
        queue = list(reversed(tasks))
        try:
            while queue or waiting:
                while queue and len(waiting) < workers + 1:
                    task = queue.pop()
                    waiting[pool.submit(_perform, name, task.settings)] = task
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    task = waiting.pop(future)
                    yield task, _outcome(future, task)
        except BaseException:
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _outcome(future: Future[dict[str, Any]], task: Task) -> dict[str, Any]:
    try:
        return future.result()
    except BrokenProcessPool:
        raise Failed(
            f"{task.key}: its process was killed (out of memory?); the same command goes on from here."
        ) from None
    except Exception as error:
        raise Failed(f"{task.key}: {type(error).__name__}: {error}") from error


@contextmanager
def _one_thread() -> Iterator[None]:
    """Workers inherit the environment: BLAS reads these names before any of our code runs."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _ready() -> None:
    """In each worker: Ctrl-C belongs to the process that a person started, and nobody works on when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _perform(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    perform: Callable[[dict[str, Any]], dict[str, Any]] = numerics(name).perform
    outcome: dict[str, Any] = plain(perform(settings))
    return outcome
