"""What a program around a fit may add to it: a solver of its own, observers of every step, somebody who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .observers import Observer
from .result import Result
from .solve import solve
from .stop import Stop

Solver = Callable[..., Result]  # like ``solve``; another one may keep what was solved, or show it


class Listener:
    """Who is told how a fit goes on; this one does not listen."""

    def begin(self, phase: str, stop: Stop, final: bool = True) -> None:
        """A solve begins: what it is for, when it will end, and whether it is the last one."""

    def scored(self, setting: str, score: float) -> None:
        """A setting was tried; the least score is the best."""


@dataclass(frozen=True)
class Hooks:
    """The defaults add nothing."""

    solver: Solver = solve
    observers: tuple[Observer, ...] = ()
    listener: Listener = field(default_factory=Listener)
