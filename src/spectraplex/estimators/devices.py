"""Where an estimator solves: on this machine, on a device that was asked for, or on a GPU where that pays."""

from __future__ import annotations

from typing import Any

from ..hooks import Solver
from ..objectives.devices import on_device
from ..places.devices import place_for, sees_cuda
from ..problem import Problem
from ..result import Result
from ..solve import solve

#: Observations from which ``device="auto"`` takes a GPU. A first fit there also compiles kernels, some seconds: 100,000
#: observations took 3.1 s the first time and 0.5 s after it on an H200, and 2.1 s on two cores; a million took 12, 2.1
#: and 37 s (``python -m benchmarks gpu 4``).
PAYS = 200_000


class OnDevice:
    """A solver whose problems are moved to a device first; what comes back is on this machine."""

    def __init__(self, owner: str, solver: Solver, device: str) -> None:
        self.owner, self.solver, self.device = owner, solver, device
        self._last: tuple[Any, Any] = (None, None)  # an objective and the same one there: a walk asks for it often

    def there(self, problem: Problem) -> Problem:
        if self._last[0] is not problem.objective:
            self._last = (problem.objective, on_device(self.owner, problem.objective, self.device))
        return Problem(self._last[1], problem.domain)

    def __call__(self, problem: Problem, **asked: Any) -> Result:
        return self.solver(self.there(problem), **asked)


def solver_for(owner: str, device: Any, count: int, solver: Solver = solve) -> Solver:
    """The solver of a fit to so many observations; what is missing for a device gets a sentence, and "auto" none."""
    if device is None:
        return solver
    if isinstance(device, str) and device == "auto":
        return OnDevice(owner, solver, "cuda") if count >= PAYS and sees_cuda() else solver
    if not isinstance(device, str):
        raise TypeError(f"{owner}: device must be None, 'auto', 'cuda', 'cuda:1' or 'cpu', got {device!r}.")
    place_for(owner, device)  # refused before any work
    return OnDevice(owner, solver, device)


def at(problem: Problem, solver: Solver) -> Problem:
    """The problem where the solver works."""
    return solver.there(problem) if isinstance(solver, OnDevice) else problem
