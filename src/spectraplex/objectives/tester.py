"""What the testers of objectives, measurements and losses share: sentences about what is wrong, and the report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..places.numpy import Array


@dataclass(frozen=True)
class Report:
    """What was tested and what was wrong; true when nothing was."""

    tested: tuple[str, ...]
    wrong: tuple[str, ...]
    trials: int = 0
    moved: int = 0  # trials that were moved to where the function is finite
    skipped: int = 0  # trials that could not be: they tested nothing
    because: str = ""  # why they could not be

    @property
    def ok(self) -> bool:
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            lines = [f"All {len(self.tested)} properties hold: {', '.join(self.tested)}."]
        else:
            lines = [f"{len(self.wrong)} of {len(self.tested)} properties fail:", *self.wrong]
        if self.moved:
            lines.append(f"{self.moved} of {self.trials} trials were moved to where the function is finite.")
        if self.skipped:
            lines.append(f"{self.skipped} of {self.trials} trials were skipped: {self.because}.")
        return "\n".join(lines)


class _Over(Exception):
    """What comes next rests on what was wrong."""


class Tester(ABC):
    """Collects what was tested and the first thing that was wrong under each name."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.wrong: dict[str, str] = {}
        self.tested: dict[str, None] = {}
        self.moved = self.skipped = 0
        self.because = "the function is not finite there"

    @abstractmethod
    def trial(self) -> None:
        """One random test of everything."""

    def run(self, trials: int) -> Report:
        try:
            for _ in range(trials):
                self.trial()
            self.finish(trials)
        except _Over:
            pass
        except Exception as error:
            self.fail("evaluation", f"it raised {type(error).__name__}: {error}")
        wrong = tuple(f"{name}: {text}" for name, text in self.wrong.items())
        return Report(tuple(self.tested), wrong, trials, self.moved, self.skipped, self.because)

    def finish(self, trials: int) -> None:  # noqa: B027 (most testers have nothing left to do)
        """After the last trial."""

    def fail(self, name: str, text: str) -> None:
        self.tested[name] = None
        self.wrong.setdefault(name, text)

    def expect(self, name: str, holds: bool, text: str) -> None:
        self.tested[name] = None
        if not holds:
            self.wrong.setdefault(name, text)

    def need(self, name: str, holds: bool, text: str) -> None:
        """Where this does not hold nothing more is tested; where it does, it is not worth a word."""
        if not holds:
            self.fail(name, text)
            raise _Over

    def close(self, name: str, got: float, want: float, scale: float, text: str, tolerance: float = 1e-7) -> None:
        error = abs(got - want)
        self.expect(
            name,
            bool(error <= tolerance * max(scale, abs(want), 1e-300)),
            f"{text}: {got:.10g}, not {want:.10g}.",
        )

    def normal(self, shape: tuple[int, ...], dtype: str = "float64") -> Array:
        out = self.rng.standard_normal(shape)
        return out + 1j * self.rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else out
