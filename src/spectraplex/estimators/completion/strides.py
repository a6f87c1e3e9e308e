"""How a walk over radii goes: upwards while scores fall, downwards if the first was the best, then a parabola."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from ...matrices.factors import Rectangular

GROWTH = 2.0  # from one radius to the next
_ENOUGH = 1e-4  # a score better by less than this share is not worth a larger radius
_NOTHING = 1e-3  # and a radius with which it is worse than without any by less than this share is as good as none
_LESS = 0.1  # times the smallest radius is nothing where that was as good as none
_MOST = 16  # radii in one direction
_BEYOND = 1.07  # times the last radius: so far a parabola through three scores that differ little is believed
_STEEP = 1.1  # and these differ much: by a tenth
_CLOSER = 3  # radii that are tried between others where they do
_SAME = 1.05  # times a radius is as good as that
_POWER = 0.4  # of the radius, in which three falling scores show the same lowest one as three around it


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


def differ(*scores: float) -> bool:
    """Whether scores differ by much: more than a tenth."""
    return max(scores) > _STEEP * min(scores)


class Strides(ABC, Generic[P]):
    """Radii that were tried, and where to go next."""

    def __init__(self, dear: bool = False) -> None:
        self.dear = dear  # whether one more radius costs more than it is worth
        self.points: list[P] = []
        self.ended = False  # an observer has had enough
        self.edge = False  # the score was still falling at the last radius that is tried
        self.alone = math.inf  # the score of a radius of zero, where that is known
        self.usual = math.inf  # what a score is about, where a few misfits that nothing explains may be most of it

    @abstractmethod
    def visit(self, radius: float, starts: Sequence[Rectangular] = ()) -> P:
        """Try a radius, beginning at solutions of another one; it becomes one of the points."""

    @property
    def best(self) -> P:
        return min(self.points, key=lambda point: (point.score, point.radius))

    def there_and_back(self, first: float) -> None:
        """Grow from the first radius; if that was the best there may be a better one below.

        So there is where nothing was better than a radius of zero.
        """
        self.go(first, GROWTH)
        lowest = self.points[0]
        if (self.best is lowest or self.in_vain) and not self.ended:
            self.go(lowest.radius / GROWTH, 1.0 / GROWTH, lowest.starts)

    @property
    def in_vain(self) -> bool:
        """Whether no radius is better than zero by a share that counts."""
        return self.best.score >= self.alone - self._enough(self.alone)

    def go(self, radius: float, factor: float, starts: Sequence[Rectangular] = ()) -> None:
        """Change the radius by a factor again and again until the score is no better, or the ball no longer binds.

        Downwards, where nothing is better than a radius of zero, until a score is as good as that.
        """
        for _ in range(_MOST):
            best = self.best.score if self.points else math.inf
            here = self.visit(radius, starts)
            if here.score <= 0.0 or self.ended:
                return
            if factor < 1.0 and self.in_vain:
                if here.score <= self.alone + self._enough(self.alone, _NOTHING):
                    return
            elif here.score >= best - self._enough(best) or (factor > 1.0 and here.free) or self._turns(factor > 1.0):
                return
            starts, radius = here.starts, factor * here.radius
        self.edge = factor > 1.0 or not self.in_vain

    def _enough(self, score: float, share: float = _ENOUGH) -> float:
        """How much better than this a score has to be; nothing is better than infinity by too little."""
        return share * min(score, self.usual) if math.isfinite(score) else 0.0

    def _turns(self, up: bool) -> bool:
        """Whether the parabola through the last three points has its lowest point by the last one.

        Where the next radius is dear, one little beyond will do, too; where the last one was better by much, none will.
        """
        if len(self.points) < 3:
            return False
        last = sorted(self.points, key=lambda point: point.radius, reverse=not up)[-3:]
        if last[-2].score > _STEEP * last[-1].score:
            return False
        there = self._vertex(last if up else last[::-1])
        far = _BEYOND if self._shallow(last) else 1.0
        if there is None:
            return False
        return there <= far * last[-1].radius if up else there >= last[-1].radius / far

    def lowest(self) -> tuple[float, P]:
        """Where the parabola through the best score and its neighbours is lowest, and the point to begin from.

        Where nothing was better than a radius of zero, it is next to nothing.
        """
        points = sorted(self.points, key=lambda point: point.radius)
        if self.in_vain and not self.ended:  # what is lost beside a radius of zero goes about like the radius
            return _LESS * points[0].radius, points[0]
        around = self._around()
        there = self._vertex(around) if around else None
        if there is None:  # no parabola that opens upwards
            return self.best.radius, self.best
        there = min(max(there, around[0].radius), around[2].radius)
        above = [point for point in points if point.radius >= there]  # has all directions, and more
        return there, above[0] if above else points[-1]

    def closer(self) -> None:
        """Try radii between others, where scores around the best one differ too much for a parabola to be believed."""
        for _ in range(_CLOSER):
            there = self._between()
            if there is None:
                return
            near = min(self.points, key=lambda point: abs(math.log(point.radius / there)))
            if abs(math.log(near.radius / there)) < math.log(_SAME):
                return
            self.visit(there, near.starts)

    def _between(self) -> float | None:
        """Where a parabola is lowest, inside; None where scores differ little, or there is nothing to look for.

        The middle of a stride where none can be drawn: into a ball that does not bind, whose solution is that of some
        smaller one, or to the last radius, where none beyond it would be better.
        """
        points = sorted(self.points, key=lambda point: point.radius)
        around = self._around() or points[-3:]
        if self.ended or len(around) < 2 or not differ(*(point.score for point in around)):
            return None
        free = next((k for k, point in enumerate(points) if point.free), 0)
        if free and (self.best.free or self.best is points[free - 1]):
            return math.sqrt(points[free - 1].radius * points[free].radius)
        there = self._vertex(around) if len(around) == 3 else None
        if there is not None and around[0].radius < there < around[-1].radius:
            return there
        if self.edge or self.best is not around[-1]:
            return None
        return math.sqrt(around[-2].radius * around[-1].radius)

    def _around(self) -> list[P]:
        """The point with the best score and its neighbours; none where there are not three points."""
        points = sorted(self.points, key=lambda point: point.radius)
        if len(points) < 3 or self.ended:
            return []
        k = min(max(points.index(self.best), 1), len(points) - 2)
        return points[k - 1 : k + 2]

    def _shallow(self, points: Sequence[P]) -> bool:
        """Whether radii are dear, and noise decides among these: their scores fall on, and differ little."""
        scores = sorted(point.score for point in points)
        ends = (points[0].score, points[-1].score)
        return self.dear and scores[0] in ends and scores[-1] <= _STEEP * scores[0]

    def _vertex(self, points: Sequence[P]) -> float | None:
        """Where the parabola through three scores is lowest, by growing radius; None where it does not open upwards.

        It is one in the logarithm of the radius. Where there is no fourth score to go by, scores rise more steeply than
        they fell before, even in the logarithm, and it is one in a power.
        """
        power = _POWER if self._shallow(points) else 0.0
        x = [point.radius**power if power else math.log(point.radius) for point in points]
        y = [point.score for point in points]
        if min(y) > 0.0 and differ(*y):  # shares of what was left, not differences, are about even there
            y = [math.log(score) for score in y]
        left, right = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
        if not right > left:
            return None
        there = 0.5 * (x[0] + x[1]) - 0.5 * left * (x[2] - x[0]) / (right - left)
        there = min(max(there, 2.0 * x[0] - x[2], 0.5 * x[0] if power else -math.inf), 2.0 * x[2] - x[0])
        return float(there ** (1.0 / power)) if power else math.exp(there)
