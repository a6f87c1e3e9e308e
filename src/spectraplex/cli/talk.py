"""What is said to a person, on standard error: sentences, and how a fit goes on."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from ..trace import Record

_EVERY = 2.0  # seconds between two lines where no terminal is


def say(words: str) -> None:
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


def number(value: float) -> str:
    """Six digits are enough for people."""
    return f"{value:.6g}"


def share(part: float, whole: float) -> str:
    return f"{100 * part / abs(whole):.3g} %" if whole and math.isfinite(part) else "unknown"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


class Progress:
    """Shows value, certified gap, rank and time left: one live line on a terminal, else a line now and then."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.phase, self.target = "", 0.0
        self.began = self.last = time.monotonic()
        self.seen: list[tuple[float, float]] = []
        self.live: Any = None

    def __enter__(self) -> Progress:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self.live = Live(console=Console(stderr=True), refresh_per_second=4, transient=True)
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None

    def begin(self, phase: str, target: float) -> None:
        """A new solve; ``target`` is the share of the value that its gap has to reach, zero if none is asked for."""
        self.phase, self.target, self.seen = phase, target, []

    def __call__(self, record: Record, point: Any) -> None:
        """An observer of ``solve``."""
        if self.quiet:
            return
        now = time.monotonic()
        gap = record.gap if math.isfinite(record.gap) else record.estimated_gap
        if math.isfinite(gap) and gap > 0 and record.value:
            self.seen.append((now, gap / abs(record.value)))
        if self.live is None and now - self.last < _EVERY:
            return
        self.last = now
        line = self.line(record, now)
        if self.live is not None:
            from rich.text import Text

            self.live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        else:
            say(line)

    def line(self, record: Record, now: float) -> str:
        certified = math.isfinite(record.gap)
        gap = f"certified gap {share(record.gap, record.value)}" if certified else "gap not yet certified"
        parts = [f"{self.phase}: step {record.step}", f"value {number(record.value)}"]
        parts += ([gap] if self.target else []) + [f"rank {record.atoms}", f"{duration(now - self.began)} so far"]
        left = self.left()
        return ", ".join(parts) + (f", about {duration(left)} left" if left is not None else "")

    def left(self) -> float | None:
        """Seconds until the gap is where it has to be, if it goes on falling as it did over the last steps."""
        if not self.target or len(self.seen) < 3:
            return None
        (t, first), (u, last) = self.seen[max(0, len(self.seen) - 6)], self.seen[-1]
        if last <= self.target or last >= first or u <= t:
            return None
        return (u - t) * math.log(last / self.target) / math.log(first / last)
