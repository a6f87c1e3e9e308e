"""Stop and Status: the only judge of when to end, and the sentence that says why."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from .checks import as_float, is_real


class Status(Enum):
    """Why a run ended; the value is a sentence with a remedy."""

    GAP = "Reached the gap asked for: the certified distance to the optimum is small enough."
    FLOOR = "Reached rounding level: the certified gap is as small as float64 can show; a smaller one cannot be had."
    VALUE = "Reached the value asked for."
    STALLED = "No step makes progress any more: at rounding level for this method; another method may certify more."
    STEP_LIMIT = "Stopped after max_steps; raise max_steps or loosen the gap."
    TIME_LIMIT = "Stopped after max_seconds; raise max_seconds or loosen the gap."
    PRODUCT_LIMIT = "Stopped after max_products; raise max_products or loosen the gap."
    OBSERVER = "Stopped because an observer returned False."
    INTERRUPTED = "Interrupted; the best point so far is returned, and solve(…, start=result) goes on from it."
    MEMORY = (
        "The device ran out of memory; the best point so far is returned. Free some there, ask for a looser gap or a "
        "smaller radius (fewer atoms), or use a cluster (docs/cluster.md)."
    )
    NOT_FINITE = "The objective returned NaN or infinity; the last good point is returned. Run spectraplex.check on it."
    INCONSISTENT = (
        "The objective contradicts itself: its image is not linear, it is not convex, or its gradient is wrong. "
        "Run spectraplex.check on it."
    )


@dataclass(frozen=True)
class Stop:
    """When to end. Whatever comes first counts; gaps are certified ones, never estimates.

    Parameters
    ----------
    gap : end when the certified gap value − lower_bound is at most this.
    relative_gap : end when gap ≤ relative_gap·|value|.
    start_gap : end when gap ≤ start_gap·|value at the start|: for problems whose optimum may be zero, where no gap is
        small beside the value. The start is where the run began (a continued one: the first).
    max_steps, max_seconds, max_products : limits of this call (a continued run starts counting anew).
    value : end when the value is at most this.
    """

    gap: float | None = None
    relative_gap: float | None = None
    max_steps: int | None = 10_000
    max_seconds: float | None = None
    max_products: float | None = None
    value: float | None = None
    start_gap: float | None = None

    def __post_init__(self) -> None:
        for name in ("gap", "relative_gap", "max_steps", "max_seconds", "max_products", "value", "start_gap"):
            asked = getattr(self, name)
            if asked is None:
                continue
            least, words = (-math.inf, "a number") if name == "value" else (0.0, "a number ≥ 0")
            number = as_float(asked) if is_real(asked) else math.nan
            if math.isnan(number) or number < least:
                raise ValueError(f"Stop: {name} must be {words} or None, got {asked!r}.")
            if name == "max_steps" and (math.isinf(number) or number != int(number)):
                raise ValueError(f"Stop: max_steps must be a whole number, got {asked!r}; None is no limit.")
            object.__setattr__(self, name, int(number) if name == "max_steps" else number)

    def begun(self, value: float) -> Stop:
        """The same for a run that began at this value: ``start_gap`` becomes part of ``gap``."""
        if self.start_gap is None:
            return self
        asked = self.start_gap * abs(value)
        return replace(self, gap=asked if self.gap is None else max(self.gap, asked), start_gap=None)

    def wanted(self, value: float) -> float:
        """The gap that would end the run at this value; −inf when no gap was asked for."""
        asked = -math.inf if self.gap is None else self.gap
        return asked if self.relative_gap is None else max(asked, self.relative_gap * abs(value))

    def reached(self, value: float, gap: float, floor: float = 0.0) -> Status | None:
        """Judge what has been certified; ``floor`` is a gap that is all rounding: none smaller can be shown."""
        if self.value is not None and value <= self.value:
            return Status.VALUE
        if gap <= self.wanted(value):
            return Status.GAP
        return Status.FLOOR if gap <= floor else None

    def spent(self, steps: int, seconds: float, products: float) -> Status | None:
        """Judge what has been used up."""
        if self.max_steps is not None and steps >= self.max_steps:
            return Status.STEP_LIMIT
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return Status.TIME_LIMIT
        if self.max_products is not None and products >= self.max_products:
            return Status.PRODUCT_LIMIT
        return None


def stop_or_say(owner: str, stop: Any) -> Stop:
    """Refuse what is no ``Stop``."""
    if not isinstance(stop, Stop):
        raise TypeError(f"{owner}: stop must be a Stop such as Stop(relative_gap=0.01), got {type(stop).__name__}.")
    return stop
