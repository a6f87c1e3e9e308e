"""Checkpoint: an observer that saves a run while it goes on, so that another process can go on from there."""

from __future__ import annotations

import math
import os
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .checks import number, whole
from .problem import Point
from .result import Result
from .tall_files import STEP, newest
from .trace import Record


class Checkpoint:
    """Saves the run every so many seconds or steps into a folder; ``sx.solve(problem, start=sx.load(folder))`` goes on.

    The one before is removed only when the new one is complete, so a process may be killed at any moment. On a cluster
    blocks come through the client some megabytes at a time; the folder need not be seen by the workers, and another
    cluster with any number of workers can go on.

    Parameters
    ----------
    folder : made if missing; nothing else may be in it.
    seconds : how long to wait, at least, between two of them; None leaves it to ``steps``.
    steps : after how many steps there is one in any case; None leaves it to ``seconds``.

    Examples
    --------
    >>> import spectraplex as sx
    >>> sx.Checkpoint("run", seconds=600)
    Checkpoint('run', every 600 s)
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, seconds: float | None = 300.0, steps: int | None = None
    ) -> None:
        self.folder = Path(folder)
        self.seconds = None if seconds is None else number("Checkpoint", "seconds", seconds)
        self.steps = None if steps is None else whole("Checkpoint", "steps", steps)
        if self.seconds is None and self.steps is None:
            raise ValueError("Checkpoint: say after how many seconds or steps.")
        self._last, self._since = time.monotonic(), 0

    @property
    def newest(self) -> Path | None:
        """The last one that is complete."""
        found = newest(self.folder)
        return None if found == self.folder else found

    def __call__(self, record: Record, point: Point) -> None:
        """A step was taken."""
        self._since += 1

    def keep(self, result: Callable[[], Result]) -> None:
        """Save, if it is time."""
        late = time.monotonic() - self._last >= (math.inf if self.seconds is None else self.seconds)
        if late or (self.steps is not None and self._since >= self.steps):
            self.save(result())
            self._last, self._since = time.monotonic(), 0

    def save(self, result: Result) -> None:
        """Beside the others first, then renamed; only then they are removed."""
        steps = result.trace[-1].step if len(result.trace) else 0
        name = f"{STEP}{steps:08d}-{uuid.uuid4().hex[:8]}"
        aside = self.folder / f".{name}.part"
        try:
            result.save(aside)
            os.rename(aside, self.folder / name)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        for old in [*self.folder.glob(f"{STEP}*"), *self.folder.glob(f".{STEP}*.part")]:  # of a process that was killed
            if old.name != name:
                shutil.rmtree(old, ignore_errors=True)

    def __repr__(self) -> str:
        words = [] if self.seconds is None else [f"{self.seconds:g} s"]
        words += [] if self.steps is None else [f"{self.steps} steps"]
        return f"Checkpoint({str(self.folder)!r}, every {' or '.join(words)})"


def what_is_left(observers: Sequence[Any]) -> str:
    """To a user whose cluster is gone, and the best point with it."""
    found = [each.newest for each in observers if isinstance(each, Checkpoint)]
    kept = next((path for path in reversed(found) if path is not None), None)
    if kept is None:
        return "The best point lay on the workers; observers=[sx.Checkpoint(folder)] would have kept one."
    return f"The best point lay on the workers; the last checkpoint is {kept}: solve(…, start=sx.load(folder)) goes on."
