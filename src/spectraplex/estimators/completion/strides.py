"""How a walk over radii goes: upwards while scores fall, downwards if the first was the best, then a parabola."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from ...matrices.factors import Rectangular

GROWTH = 2.0  # from one radius to the next
_ENOUGH = 1e-4  # a score better by less than this share is not worth a larger radius
_MOST = 16  # radii in one direction


class Point(Protocol):
    """A radius that was tried."""

    @property
    def radius(self) -> float: ...
    @property
    def score(self) -> float: ...
    @property
    def starts(self) -> tuple[Rectangular, ...]: ...
    @property
    def free(self) -> bool: ...


P = TypeVar("P", bound=Point)


class Strides(ABC, Generic[P]):
    """Radii that were tried, and where to go next."""

    def __init__(self) -> None:
        self.points: list[P] = []
        self.ended = False  # an observer has had enough
        self.edge = False  # the score was still falling at the last radius that is tried

    @abstractmethod
    def visit(self, radius: float, starts: Sequence[Rectangular] = ()) -> P:
        """Try a radius, beginning at solutions of another one; it becomes one of the points."""

    @property
    def best(self) -> P:
        return min(self.points, key=lambda point: (point.score, point.radius))

    def there_and_back(self, first: float) -> None:
        """Grow from the first radius; if that was the best there may be a better one below."""
        self.go(first, GROWTH)
        if self.best is self.points[0] and not self.ended:
            self.go(self.best.radius / GROWTH, 1.0 / GROWTH, self.best.starts)

    def go(self, radius: float, factor: float, starts: Sequence[Rectangular] = ()) -> None:
        """Change the radius by a factor again and again until the score is no better, or the ball no longer binds."""
        for _ in range(_MOST):
            best = self.best.score if self.points else math.inf
            here = self.visit(radius, starts)
            if here.score >= best * (1.0 - _ENOUGH) or here.score <= 0.0 or self.ended:
                return
            if (factor > 1.0 and here.free) or self._turns(factor > 1.0):
                return
            starts, radius = here.starts, factor * radius
        self.edge = True

    def _turns(self, up: bool) -> bool:
        """Whether the parabola through the last three points rises already at the last one."""
        if len(self.points) < 3:
            return False
        ahead = sorted(self.points, key=lambda point: point.radius, reverse=not up)
        a, b, c = (point.score for point in ahead[-3:])
        return 3.0 * c - 4.0 * b + a >= 0.0 and c - 2.0 * b + a > 0.0

    def lowest(self) -> tuple[float, P]:
        """Where the parabola through the best score and its neighbours is lowest, and the point to begin from."""
        points = sorted(self.points, key=lambda point: point.radius)
        if len(points) < 3 or self.ended:
            return self.best.radius, self.best
        k = min(max(points.index(self.best), 1), len(points) - 2)
        x = [math.log(point.radius) for point in points[k - 1 : k + 2]]
        y = [point.score for point in points[k - 1 : k + 2]]
        left, right = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
        if not right > left:  # no parabola that opens upwards
            return self.best.radius, self.best
        bend = (right - left) / (x[2] - x[0])
        there = 0.5 * (x[0] + x[1]) - 0.5 * left / bend
        there = min(max(there, x[0]), x[2])
        above = [point for point in points if math.log(point.radius) >= there]  # has all directions, and more
        return math.exp(there), above[0] if above else points[-1]
