"""Choosing a radius by cross-validation: every fold walks the same radii, each solution starts the next one.

The walk knows nothing of what is fitted: a ``Fold`` makes the problem of a radius and scores a solution.
"""

from __future__ import annotations

import math
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
from ..completion.strides import GROWTH, Strides

_HALFWAY = math.sqrt(GROWTH)
_LOOSE = 0.99 / GROWTH  # share of a radius below which the one before was large enough
_STEPS = 20  # most of the solver, of one fold at one radius
_SAME = 1e-4  # scores nearer than this share of them are one
_NOTHING = 1e-6  # a loss below this share of that of X = 0 is as good as none
_NEARLY = 0.01  # a solution of a fold need not be nearer to its optimum than this share of the loss kept aside


class Fold(Protocol):
    """One part of the data to fit, and one to judge by."""

    @property
    def weight(self) -> float:
        """That of what is fitted: a mean loss times this is of the size of the problem's value."""

    def problem(self, radius: float) -> Problem: ...
    def loss(self, X: Any) -> tuple[float, float]:
        """The loss of what was kept aside, and its weight."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A radius, the mean loss of what was kept aside, and the solutions of the folds."""

    radius: float
    score: float
    starts: tuple[Any, ...]
    free: bool  # no solution comes near half of it: a ball that binds may be far from filled by a rough one


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

    Two more radii halve the distances around the best one: a factor of two is coarse where a score has a narrow valley.
    The radius is that of the lowest point of a parabola through the best score and its neighbours. ``told`` hears of
    every radius and its mean held-out loss.
    """
    going = _Walk(folds, seed, observers, told, partial(solver, method=method))
    going.there_and_back(first)
    going.between()
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

    @property
    def best(self) -> Tried:
        """The smallest radius of those whose scores are as good as the lowest."""
        lowest = min(point.score for point in self.points)
        fine = [point for point in self.points if point.score <= lowest + _SAME * abs(lowest)]
        return min(fine, key=lambda point: point.radius)

    def visit(self, radius: float, starts: Sequence[Any] = ()) -> Tried:
        """Solve roughly on every fold and score what was kept aside."""
        loss, weight, ends, free = 0.0, 0.0, [], True
        for k, fold in enumerate(self.folds):
            start = within(starts[k], radius) if k < len(starts) else None
            result = self._solved(fold, radius, start)
            more, much = fold.loss(result.X)
            loss, weight = loss + more, weight + much
            ends.append(result.X)
            free = free and size_of(result.X) < _LOOSE * radius
            self.ended = self.ended or result.status is Status.OBSERVER
        here = Tried(radius, loss / max(weight, 1e-300), tuple(ends), free)
        self.points.append(here)
        self.told(radius, here.score)
        return here

    def between(self) -> None:
        """Try the radii halfway to the neighbours of the best one."""
        best = self.best
        if len(self.points) < 2 or best.score <= 0.0:
            return
        for factor in (_HALFWAY, 1.0 / _HALFWAY):
            if not self.ended:
                self.visit(factor * best.radius, best.starts)

    def _turns(self, up: bool) -> bool:
        """Never guessed: the loss of classes that can be told apart falls steeply, and then flattens for long."""
        return False

    def _solved(self, fold: Fold, radius: float, start: Any) -> Result:
        """So near to the optimum that what is kept aside can tell radii apart.

        Where all is fitted almost exactly the value says little of that: then the least loss kept aside so far does.
        """
        problem = fold.problem(radius)
        near = _NOTHING * max(problem.objective.evaluate(zero_image(problem.objective))[0], 0.0)
        if self.points:
            near = max(near, _NEARLY * self.best.score * fold.weight)
        stop = Stop(relative_gap=_NEARLY, gap=near, max_steps=_STEPS)
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
