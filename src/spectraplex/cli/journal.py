"""Checkpoints: every solve of a fit is written down, so that a killed run goes on and ends where it would have.

A fit is a fixed sequence of solves, each decided by those before it. The journal keeps the answers of those that are
done and the state of the one under way; a run that goes on is given the former instead of solving again and takes up
the latter where it was. When to write is decided by the clock; nothing numerical is.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.completion.store_parts import versions
from ..files import aside
from ..fingerprint import data_fingerprint
from ..matrices.factors import Rectangular
from ..problem import Problem
from ..result import Result, load
from ..solve import solve
from ..stop import Status, Stop
from ..trace import Record
from .talk import StatusLine, say

try:
    import fcntl
except ImportError:  # no such thing as a claim on this system
    fcntl = None  # type: ignore[assignment]

FORMAT = "spectraplex checkpoint"
_CLAIM = ".claimed"
_SIGNALS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}  # and what they do the second time
_VERSION = 1


def folder_of(out: Path) -> Path:
    """Where the checkpoint of a model that is to be written lies."""
    return out.with_name(f"{out.name}.checkpoint")


class Journal:
    """A solver for ``MatrixCompletion`` that keeps what it solved, in a folder, every so many seconds.

    ``every`` None writes only when Ctrl-C asks for it. ``document`` (what was asked, of which data) is written first.
    """

    def __init__(self, folder: Path, document: dict[str, Any], every: float | None, progress: StatusLine) -> None:
        self.folder, self.document, self.every, self.progress = folder, document, every, progress
        self.count = 0  # of solves so far
        self.finished: list[Result] = []
        self.written = 0  # of the finished ones
        self.interrupted = self.asked = self.failed = False
        self.last = time.monotonic()

    # ------------------------------------------------------------------------------------------------- solving

    def solve(self, problem: Problem, *, stop: Stop, observers: Any = (), start: Any = None, **options: Any) -> Result:
        """What ``spectraplex.solve`` returns; taken from the folder where it is there."""
        number, self.count = self.count, self.count + 1
        done = self._load(f"solve-{number:03d}", problem)
        if done is not None:
            done = self.placed(done, problem)
            self.finished.append(done)
            self.written = len(self.finished)
            return done
        partial = self._load(self._partial(number), problem)
        if partial is not None:
            left = None if stop.max_steps is None else stop.max_steps - int(partial.state["step"])
            start, stop = partial, replace(stop, max_steps=left)
        if self.interrupted:
            stop = replace(stop, max_steps=0)
        radius = f"{getattr(problem.domain, 'radius', math.nan):.6g}"
        last = options.get("certify", True)
        phase = f"fitting with radius {radius}" if last else f"trying radius {radius} (no. {number + 1})"
        if not self.interrupted:
            self.progress.begin(phase, stop, last)
        result = solve(problem, stop=stop, observers=(*observers, self), start=start, **options)
        if result.status is Status.INTERRUPTED:  # Ctrl-C a second time: at once
            raise KeyboardInterrupt
        return self.kept(result, problem)

    def kept(self, result: Result, problem: Problem) -> Result:
        """A solve is done; its factors as they come back from a file: products then round the same way again."""
        U, s, V = (np.ascontiguousarray(part) for part in result.X.triple())
        self.finished.append(replace(result, X=Rectangular(U, s, V), state={}))
        return self.finished[-1]

    def placed(self, result: Result, problem: Problem) -> Result:
        """What comes from a file, where the problem is."""
        return result

    def __call__(self, record: Record, point: Any) -> None:
        """An observer that only keeps."""

    def keep(self, result: Callable[[], Result]) -> bool:
        """Write everything down if it is time, or if Ctrl-C was pressed: then the solve ends here."""
        if self.asked or (self.every is not None and time.monotonic() - self.last >= self.every):
            self.write(result())
            self.last = time.monotonic()
        if self.asked:
            self.interrupted = True
        return not self.asked

    # ------------------------------------------------------------------------------------------------- the folder

    def write(self, partial: Result) -> None:
        """The solves that are done and the state of the one under way, each aside first, then renamed."""
        try:
            begin(self.folder, self.document)
            for number in range(self.written, len(self.finished)):
                self._save(self.finished[number], f"solve-{number:03d}")
                self.written = number + 1
            name = f"partial-{len(self.finished):03d}-{int(partial.state['step']):06d}"
            self._save(partial, name)
            for old in self.folder.glob("partial-*"):
                if old.name != name:
                    shutil.rmtree(old, ignore_errors=True)
            self.failed = False
        except OSError as error:  # a run of hours must not end because of this
            if not self.failed:
                say(f"The checkpoint could not be written ({error.strerror or error}); the run goes on without.")
            self.failed = True

    def _save(self, result: Result, name: str) -> None:
        aside = self.folder / f".{name}"
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(self.folder / name, ignore_errors=True)
        try:
            result.save(aside)
            os.rename(aside, self.folder / name)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _partial(self, number: int) -> str:
        """The state furthest on of a solve; the name of one that is not there if there is none."""
        found = sorted(self.folder.glob(f"partial-{number:03d}-*"))
        return found[-1].name if found else "partial"

    def _load(self, name: str, problem: Problem) -> Result | None:
        folder = self.folder / name
        if not folder.is_dir():
            return None
        result = load(folder)
        if result.certificate.data != data_fingerprint(problem):
            raise ValueError(f"{self.folder} is a checkpoint of other data, or of another version; start anew.")
        return result

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within this context the first Ctrl-C (or SIGTERM) ends the fit at the next step, the second at once."""

        def heard(number: int, _: Any) -> None:
            self.asked = True
            for each, again in _SIGNALS.items():
                signal.signal(each, again)
            say("\nInterrupted: this step is finished and what there is is written; Ctrl-C again ends at once.")

        try:
            before = {each: signal.signal(each, heard) for each in _SIGNALS}
        except ValueError:  # not in the main thread: nobody presses Ctrl-C there
            yield
            return
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A checkpoint that no other process is at work on; the system forgets the claim of a process that was killed."""
    if fcntl is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _CLAIM).open("a") as claim:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"{folder}: another process is at work on this run; wait for it, or end it first."
            ) from None
        yield


def begin(folder: Path, document: dict[str, Any]) -> None:
    """Make the folder, with what was asked for; nothing is done where that is there already."""
    if (folder / "checkpoint.json").is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    whole = {FORMAT: _VERSION, **document, "versions": versions()}
    with aside(folder / "checkpoint.json") as part:
        part.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def abandoned(folder: Path) -> bool:
    """Whether a run was killed before it had written anything: there is nothing in the folder but a file half done."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else ["a file"]
    return all(name == _CLAIM or name.startswith(".checkpoint.json.part-") for name in names)


def read(folder: Path) -> dict[str, Any]:
    """What was asked for, of a folder that a run has left."""
    path = folder / "checkpoint.json"
    if not path.is_file():
        raise ValueError(f"{folder} is not a checkpoint: checkpoint.json is missing.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{folder}: checkpoint.json is damaged ({error}).") from None
    if not isinstance(document, dict) or document.get(FORMAT) != _VERSION:
        raise ValueError(f"{folder}: checkpoint.json is not of a format that this version reads ({_VERSION}).")
    if document.get("versions") != versions():
        say("The checkpoint was written with other versions; the end may differ in the last digits.")
    return document


@contextmanager
def under_way(kept: Journal, out: Path) -> Iterator[None]:
    """The checkpoint while a run is under way: it stays where that has an end other than the one wished for."""
    fresh = not kept.folder.exists() or abandoned(kept.folder)
    with ExitStack() as claims:
        if kept.every is not None or not fresh:
            claims.enter_context(alone(kept.folder))
        try:
            if kept.every is not None:
                begin(kept.folder, kept.document)
            yield
        except KeyboardInterrupt:
            if kept.folder.exists():
                say(f"`spectraplex resume {out}` goes on from the last checkpoint.")
            raise
        except (ValueError, TypeError, OSError):
            if fresh and not kept.written and not any(kept.folder.glob("partial-*")):
                shutil.rmtree(kept.folder, ignore_errors=True)  # there is nothing in it to go on with
            elif kept.folder.exists():
                say(f"What was solved is kept: `spectraplex resume {out}` goes on from the last checkpoint.")
            raise
