"""Whether a run still gets anywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_PATIENCE = 20  # steps without any progress before a run counts as stalled
_STILL = 200  # steps that move, but neither value nor bound beyond rounding, before it does, too


@dataclass
class Stall:
    """Counts of steps that led nowhere."""

    idle: int = 0  # steps in a row that neither moved nor found a better value
    still: int = 0  # steps since the best value or a better gap
    highest: float = -math.inf  # the largest value in those
    shown: float = math.inf  # the gap when they began

    def count(self, better: bool, size: float, value: float) -> None:
        """A step of this size came to this value; was that the best so far?"""
        self.idle = 0 if better or size > 0 else self.idle + 1
        self.still, self.highest = (0, -math.inf) if better else (self.still + 1, max(self.highest, value))

    def stalled(self, atoms: int, best: float, gap: float, rounding: Callable[[], float]) -> bool:
        """Whether there were too many such steps; ``rounding`` is that of the best value."""
        return self.idle >= max(_PATIENCE, atoms) or self._stands_still(best, gap, rounding)

    def _stands_still(self, best: float, gap: float, rounding: Callable[[], float]) -> bool:
        """Whether the run only moves within rounding: many steps, no better value, no better bound."""
        if gap < 0.99 * self.shown:
            self.still, self.highest, self.shown = 0, -math.inf, gap
        if self.still < _STILL:
            return False
        if self.highest - best <= rounding():
            return True
        self.still, self.highest = 0, -math.inf
        return False
