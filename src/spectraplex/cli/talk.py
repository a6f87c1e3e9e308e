"""What is said to a person, on standard error: sentences, and how a fit goes on."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

from ..hooks import Listener
from ..stop import Stop
from ..trace import Record

_EVERY = 2.0  # seconds between two lines where no terminal is


def say(words: str) -> None:
    """To a person, who may have gone: a run must not end because nobody listens."""
    try:
        sys.stderr.write(words + "\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends


def heard_of(warning: Any) -> str:
    """A warning of the estimator, as the shell says it."""
    words = str(warning.message).removeprefix("MatrixCompletion: ")
    return words.replace("MatrixCompletion, about the data:", "About the data:", 1)


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


class StatusLine(Listener):
    """Shows value, certified gap, rank and time left: one live line on a terminal, else a line now and then.

    An observer of ``solve``. Estimators tell it, too, which solve begins and how a setting scored on what was kept
    aside (called ``measure``). Time left is an estimate of the solve under way, where that has a gap to reach; while
    settings are tried there is none, as nobody knows how many it will be.
    """

    def __init__(self, quiet: bool = False, measure: str = "loss") -> None:
        self.quiet, self.measure = quiet, measure
        self.phase, self.stop, self.final = "reading", Stop(), False
        self.began = self.last = time.monotonic()
        self.seen: list[tuple[float, float]] = []
        self.record: Record | None = None
        self.tried, self.best, self.setting = 0, math.inf, ""
        self.live: Any = None

    def __enter__(self) -> StatusLine:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            if not console.is_dumb_terminal:  # one that cannot go back to the beginning of a line gets lines
                self.live = Live(console=console, get_renderable=self._shown, refresh_per_second=4, transient=True)
                self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None

    def _shown(self) -> Any:
        from rich.text import Text

        return Text(self.line(time.monotonic()))

    def begin(self, phase: str, stop: Stop, final: bool = True) -> None:
        """A new solve, when it will end, and whether it is the last one; if so, the settings are chosen."""
        self.phase, self.stop, self.final, self.seen, self.record = phase, stop, final, [], None
        if final and self.tried and not self.quiet:
            say(f"Chosen: {self.setting}, with {self.measure} {number(self.best)} the best of {self.tried}.")

    def scored(self, setting: str, score: float) -> None:
        """A setting was tried; the least score is the best."""
        self.tried += 1
        if score < self.best:
            self.best, self.setting = score, setting
        best = ", the best so far" if self.setting == setting and self.tried > 1 else ""
        self._now_and_then(f"{setting}: {self.measure} {number(score)}{best}")

    def __call__(self, record: Record, point: Any) -> None:
        """An observer of ``solve``."""
        if self.quiet:
            return
        now, wanted = time.monotonic(), self.stop.wanted(record.value)
        gap = record.gap if math.isfinite(record.gap) else record.estimated_gap
        if math.isfinite(gap) and gap > 0 and wanted > 0:
            self.seen.append((now, gap / wanted))
        self.record = record
        self._now_and_then(None, now)

    def _now_and_then(self, words: str | None, now: float | None = None) -> None:
        """A line, where no terminal shows it anyway and the last one is a while ago."""
        now = time.monotonic() if now is None else now
        if self.quiet or self.live is not None or now - self.last < _EVERY:
            return
        self.last = now
        say(words or self.line(now))

    def line(self, now: float) -> str:
        """Where it is."""
        parts, record = [], self.record
        if record is not None:
            parts = [f"step {record.step}", f"value {number(record.value)}"]
            if self.stop.wanted(record.value) > 0:
                certified = math.isfinite(record.gap)
                words = f"certified gap {share(record.gap, record.value)}" if certified else "gap not yet certified"
                parts.append(words)
            parts.append(f"rank {record.atoms}")
            if record.rounds:
                parts.append(f"{record.rounds} rounds of {1e-6 * record.bytes / record.rounds:.1f} MB")
        parts.append(f"{duration(now - self.began)} so far")
        left = self.left()
        if left is not None:
            parts.append(f"about {duration(left)} left")
        if self.tried and not self.final:
            parts.append(f"best so far {self.setting} with {self.measure} {number(self.best)}")
        return f"{self.phase}: {', '.join(parts)}"

    def left(self) -> float | None:
        """Seconds until the gap is where it has to be, if it goes on falling as it did over the last steps."""
        if not self.final or len(self.seen) < 3:
            return None
        (t, first), (u, last) = self.seen[max(0, len(self.seen) - 6)], self.seen[-1]
        if last <= 1.0 or last >= first or u <= t:
            return None
        return (u - t) * math.log(last) / math.log(first / last)
