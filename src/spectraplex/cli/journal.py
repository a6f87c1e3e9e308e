"""Checkpoints: every solve of a fit is written down, so that a killed run goes on and ends where it would have.

A fit is a fixed sequence of solves, each decided by those before it. The journal keeps the answers of those that are
done and the state of the one under way; a run that goes on is given the former instead of solving again and takes up
the latter where it was. When to write is decided by the clock; nothing numerical is.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..fingerprint import data_fingerprint
from ..problem import Problem
from ..result import Result, load
from ..solve import solve
from ..stop import Status, Stop
from .store import versions
from .talk import Progress, say

FORMAT = "spectraplex checkpoint"
_VERSION = 1


def folder_of(out: Path) -> Path:
    """Where the checkpoint of a model that is to be written lies."""
    return out.with_name(f"{out.name}.checkpoint")


class Journal:
    """A solver for ``MatrixCompletion`` that keeps what it solved, in a folder, every so many seconds.

    ``every`` None writes only when Ctrl-C asks for it. ``document`` (what was asked, of which data) is written first.
    """

    def __init__(self, folder: Path, document: dict[str, Any], every: float | None, progress: Progress) -> None:
        self.folder, self.document, self.every, self.progress = folder, document, every, progress
        self.count = 0  # of solves so far
        self.finished: list[Result] = []
        self.written = 0  # of the finished ones
        self.interrupted = self.asked = self.failed = False
        self.last = time.monotonic()

    # ------------------------------------------------------------------------------------------------- solving

    def __call__(self, problem: Problem, *, stop: Stop, observers: Any = (), start: Any = None, **options: Any) -> Result:
        """What ``solve`` would return; from the folder where it is there."""
        number, self.count = self.count, self.count + 1
        done = self._load(f"solve-{number:03d}", problem)
        if done is not None:
            self.finished.append(done)
            self.written = len(self.finished)
            return done
        partial = self._load(self._partial(number), problem)
        if partial is not None:
            left = None if stop.max_steps is None else stop.max_steps - int(partial.state["step"])
            start, stop = partial, replace(stop, max_steps=left)
        if self.interrupted:
            stop = replace(stop, max_steps=0)
        last = options.get("certify", True)
        radius = f"{problem.domain.radius:.6g}" if hasattr(problem.domain, "radius") else "?"
        phase = f"fitting with radius {radius}" if last else f"trying radius {radius} (no. {number + 1})"
        self.progress.begin(phase, stop.relative_gap or 0.0)
        result = solve(problem, stop=stop, observers=(*observers, self.progress, self), start=start, **options)
        if result.status is Status.INTERRUPTED:  # Ctrl-C again: at once
            raise KeyboardInterrupt
        self.finished.append(replace(result, state={}))
        return result

    def __call_observer(self) -> None: ...
