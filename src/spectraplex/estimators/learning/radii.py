"""Choosing a radius by cross-validation: every fold walks the same radii, each solution starts the next one.

The walk knows nothing of what is fitted: a ``Fold`` makes the problem of a radius and scores a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...eigen.leading import leading
from ...hooks import Solver
from ...objectives import Objective
from ...observers import Observer
from ...penalized import unit_ball, zero_image
from ...places.numpy import Array
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from ..completion.strides import Strides

_COLD = 4  # steps of the solver from nothing: predictions settle long before the gap does
_STEPS = 2  # and from the solution before
_NEARLY = 0.01  # a solution of a fold need not be nearer to its optimum than this share of the value


class Fold(Protocol):
    """One part of the data to fit, and one to judge by."""

    def problem(self, radius: float) -> Problem: ...
    def loss(self, X: Any) -> tuple[float, float]:
        """The loss of what was kept aside, and its weight."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A radius, the mean loss of what was kept aside, and the solutions of the folds."""

    radius: float
    score: float
    starts: tuple[Any, ...]
    free: bool  # the ball no longer binds: a larger one has the same solutions


@dataclass(frozen=True, eq=False)
class Walked:
    """The radius where the scores are lowest, the radii tried with their scores, and a solution nearby (or None)."""

    radius: float
    path: dict[str, Array]
    start: Any = None


def walk(
    folds: Sequence[Fold],
    first: float,
    *,
    seed: int = 0,
    observers: Sequence[Observer] = (),
    told: Callable[[float, float], Any] = lambda radius, score: None,
    solver: Solver = solve,
    method: Any = "hybrid",
) -> Walked:
    """Double the radius from ``first`` on until the held-out loss rises; back below it if the first was the best.

    The radius is that of the lowest point of a parabola through the best score and its neighbours. ``told`` hears of
    every radius and its mean held-out loss.
    """
    going = _Walk(folds, seed, observers, told, partial(solver, method=method))
    going.there_and_back(first)
    radius, near = going.lowest()
    points = sorted(going.points, key=lambda point: point.radius)
    path = {name: np.array([getattr(point, name) for point in points], float) for name in ("radius", "score")}
    return Walked(radius, path, within(near.starts[0], radius))


class _Walk(Strides[Tried]):
    """Radii that were tried on all folds."""

    def __init__(
        self,
        folds: Sequence[Fold],
        seed: int,
        observers: Sequence[Observer],
        told: Callable[[float, float], Any],
        solver: Solver,
    ) -> None:
        super().__init__()
        self.folds, self.seed, self.observers, self.told, self.solver = folds, seed, observers, told, solver

    def visit(self, radius: float, starts: Sequence[Any] = ()) -> Tried:
        """Solve roughly on every fold and score what was kept aside."""
        loss, weight, ends, free = 0.0, 0.0, [], True
        for k, fold in enumerate(self.folds):
            start = within(starts[k], radius) if k < len(starts) else None
            result = self._solved(fold.problem(radius), start)
            more, much = fold.loss(result.X)
            loss, weight = loss + more, weight + much
            ends.append(result.X)
            free = free and size_of(result.X) < 0.99 * radius
            self.ended = self.ended or result.status is Status.OBSERVER
        here = Tried(radius, loss / max(weight, 1e-300), tuple(ends), free)
        self.points.append(here)
        self.told(radius, here.score)
        return here

    def _turns(self, up: bool) -> bool:
        """Never guessed: the loss of classes that can be told apart falls steeply, and then flattens for long."""
        return False

    def _solved(self, problem: Problem, start: Any) -> Result:
        stop = Stop(relative_gap=_NEARLY, max_steps=_COLD if start is None else _STEPS)
        asked: dict[str, Any] = dict(stop=stop, start=start, seed=self.seed, observers=self.observers, certify=False)
        result = self.solver(problem, **asked)
        if result.status is Status.INTERRUPTED:  # Ctrl-C is for all of it, not for this one
            raise KeyboardInterrupt
        return result


def size_of(X: Any) -> float:
    """The nuclear norm (the trace) of factors of a solution, or a bound on it."""
    return float(np.abs(X.triple()[1]).sum())


def within(X: Any, radius: float) -> Any:
    """A solution of another radius as a start: scaled down where it is too large, None where it is zero."""
    size = size_of(X)
    if size == 0.0 or size <= radius:
        return X if size > 0.0 else None
    share = (1.0 - 1e-12) * radius / size
    names = ("s",) if hasattr(X, "s") else ("weights",)
    return replace(X, **{name: share * getattr(X, name) for name in names})


def first_radius(objective: Objective, psd: bool = False) -> float:
    """The best multiple of the leading rank-one of the gradient at zero: where something begins to happen.

    Zero where the gradient at zero is.
    """
    zero = zero_image(objective)
    lifted = unit_ball(objective, psd).lifted
    slope = objective.evaluate(zero)[1]
    if not np.any(slope):
        return 0.0
    asked: dict[str, Any] = dict(accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0)
    vector = leading(lifted.pull(slope), **asked).vector
    ahead = lifted.measure(vector, np.ones(1), vector)
    curve = objective.along(zero, ahead)
    size = 1.0 / max(float(np.abs(ahead).max()), 1e-300)  # brings the image to size one
    while size > 1e-30 and not np.isfinite(curve.value(size)):
        size *= 0.1
    bend = curve.curvature(1e-3 * size)
    return max(-curve.derivative(0.0), 0.0) / bend if bend > 0 else 0.0
