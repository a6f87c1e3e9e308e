"""Observers: functions that see every step of a run, and may end it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .problem import Point
from .result import Result
from .trace import Record

Observer = Callable[[Record, Point], Any]


@runtime_checkable
class Keeping(Protocol):
    """An observer that may ask, wherever the run goes on, for what it takes to go on later."""

    def keep(self, result: Callable[[], Result]) -> Any: ...


@dataclass(frozen=True)
class Observers:
    """All observers of a run."""

    each: tuple[Any, ...]

    @classmethod
    def of(cls, owner: str, given: Any) -> Observers:
        """Refuse what is no list of functions."""
        try:
            each: tuple[Any, ...] = tuple(given)
        except TypeError:
            each = (None,)
        if not all(callable(observer) and not isinstance(observer, type) for observer in each):
            raise TypeError(
                f"{owner}: observers must be a list of functions observer(record, point), e.g. [Progress()]."
            )
        return cls(each)

    def end(self, record: Record, point: Point) -> bool:
        """Whether one of them ends the run at this step; the others after it do not see the step."""
        return bool(self.each) and any(_says_stop(observer(record, point)) for observer in self.each)

    def end_keeping(self, result: Callable[[], Result]) -> bool:
        """The same of those that may keep what there is so far."""
        if not self.each:
            return False
        keepers = (observer.keep for observer in self.each if isinstance(observer, Keeping))
        return any(_says_stop(keep(result)) for keep in keepers)


def _says_stop(answer: Any) -> bool:
    """False alone stops, also NumPy's (a comparison of numbers gives that one); None and zero do not."""
    return isinstance(answer, bool | np.bool_) and not answer
