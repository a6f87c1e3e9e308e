"""The clock and what is written down: a peer calls ``take`` after each of its steps and stops when it returns False."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .problems import Table

_SPACING = 1.02  # one point of the curve per 2 % of time is enough
_KEPT = 1.1  # one image per 10 % of time is kept for certifying it later


class Recorder:
    """Stands still while it evaluates. ``goal``: below this value nothing is left to be measured."""

    def __init__(self, table: Table, limit_seconds: float, goal: float = -np.inf, folder: Path | None = None) -> None:
        self.table, self.limit_seconds, self.goal, self.folder = table, limit_seconds, goal, folder
        self.curve: list[list[float]] = []
        self.certified: list[list[float]] = []
        self.saved: list[tuple[float, float, Path]] = []
        self.rank: int | None = None
        self.going = True
        self.image: np.ndarray | None = None  # the last one evaluated
        self.stopped_at, self.steps = 0.0, 0
        self._next = self._next_kept = 0.0
        self._standing = 0.0
        self._began = time.perf_counter()

    def start(self) -> None:
        self._began, self._standing = time.perf_counter(), 0.0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began - self._standing

    def take(
        self,
        image: np.ndarray | Callable[[], np.ndarray],
        *,
        bound: float | None = None,
        rank: int | None = None,
        last: bool = False,
    ) -> bool:
        """Note an iterate by its observed entries (or a function that computes them, not charged); False means stop."""
        here = time.perf_counter()
        now = here - self._began - self._standing
        late = now >= self.limit_seconds
        if now >= self._next or late or last or bound is not None:
            image = image() if callable(image) else image
            self.image = image
            value = self.table.value(image)
            self.curve.append([now, value])
            self._next = now * _SPACING
            self.rank = rank if self.rank is None else max(self.rank, rank or 0)
            if bound is not None and np.isfinite(bound):
                self.certified.append([now, value, bound])
            finished = late or last or value <= self.goal
            if self.folder is not None and (now >= self._next_kept or finished):
                path = self.folder / f"{len(self.saved)}.npy"  # on disk, so that it does not count as the peer's memory
                np.save(path, image)
                self.saved.append((now, value, path))
                self._next_kept = now * _KEPT
            self.going = not finished
        self.stopped_at, self.steps = now, self.steps + 1
        self._standing += time.perf_counter() - here
        return self.going


def resident_mb(peak: bool) -> float:
    """Resident memory now, or its peak. From /proc where there is one: getrusage also remembers the parent's peak."""
    try:
        with open("/proc/self/status") as lines:
            wanted = "VmHWM:" if peak else "VmRSS:"
            return next(int(line.split()[1]) for line in lines if line.startswith(wanted)) / 1024
    except (OSError, StopIteration):
        import resource

        scale = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def forget_peak() -> None:
    """Let the peak start anew from what is resident now, where the system can do that."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
