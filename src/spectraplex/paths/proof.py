"""Every size between two: a proof that a promised gap holds on a whole interval, not only where it was looked at.

On a ball the values of ``Between.primal`` are convex in the radius, so a chord lies above them; the lower bounds are
straight lines. On a piece between two radii the gap is therefore at most (chord − the better of the two ends' lines),
which is largest at an end or where the lines cross: three numbers prove the whole piece. Long pieces are halved.
With a penalty it is the other way round: one matrix is worth ℓ + λ·norm at every λ, a straight line above, and the
optimal value is concave in λ, so that a chord of lower bounds lies below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..places.numpy import EPS
from .between import Between
from .family import Solved

_FINEST = 1e-7  # pieces shorter than this share of the radius are not halved any more


@dataclass(frozen=True)
class Promise:
    """gap ≤ relative·value, where values below ``floor`` count as that."""

    relative: float
    floor: float

    def allowed(self, value: float) -> float:
        return self.relative * max(value, self.floor)

    def kept(self, upper: list[float], lower: list[float]) -> bool:
        """Whether it holds along straight lines that pass through these numbers, in this order.

        Each of the two forms is linear there, so the corners prove it; and what holds for values that are too large
        holds for smaller ones.
        """
        pairs = list(zip(upper, lower, strict=True))
        if all(high - low <= self.relative * self.floor for high, low in pairs):
            return True
        return all(high > 0 and (1 - self.relative) * high <= low for high, low in pairs)


@dataclass(frozen=True)
class Line:
    """The optimal value lies at every size above (a penalty: below) value + slope·(size − this size)."""

    size: float
    value: float
    slope: float
    above: bool = False

    def at(self, size: float) -> float:
        rounding = 4 * EPS * abs(self.slope) * (size + self.size)
        return self.value + self.slope * (size - self.size) + (rounding if self.above else -rounding)


@dataclass(frozen=True)
class Node:
    """A size that was looked at: the best line there, and numbers (one for each kind of point) that chords may join."""

    size: float
    chords: tuple[float, ...]
    line: Line

    @classmethod
    def at(cls, between: Between, size: float) -> Node:
        (lower, slope), values = max(between.dual(size)), between.primal(size)
        if not between.family.penalized:
            return cls(size, values, Line(size, lower, slope))
        value, norm = min(zip(values, between.norms(size), strict=True))
        return cls(size, (lower,), Line(size, value, norm, above=True))

    @property
    def value(self) -> float:
        return self.line.value if self.line.above else min(self.chords)

    @property
    def lower(self) -> float:
        return max(self.chords) if self.line.above else self.line.value

    @property
    def gap(self) -> float:
        return self.value - self.lower


@dataclass(frozen=True)
class Coverage:
    """The nodes that prove an interval; or the size ``missing`` where a solution of its own is needed."""

    nodes: tuple[Node, ...]
    missing: float | None
    worst: float  # the largest share of what is allowed that was met

    @property
    def whole(self) -> bool:
        return self.missing is None


def cover(between: Between, promise: Promise, late: Callable[[], bool] = lambda: False) -> Coverage:
    """Prove the promise for all sizes from a to b, or say where it fails (or where it was when ``late`` said so)."""
    ends = (Node.at(between, between.a.size), Node.at(between, between.b.size))
    nodes, worst = [ends[0]], 0.0
    todo = [ends]
    while todo:
        left, right = todo.pop()
        if _proven(left, right, promise):
            nodes.append(right)
            continue
        size = math.sqrt(left.size) * math.sqrt(right.size)
        middle = Node.at(between, size)
        share = middle.gap / promise.allowed(middle.value)
        worst = max(worst, share)
        if share > 1.0 or abs(right.size - left.size) < _FINEST * right.size or late():
            return Coverage(tuple(nodes), size, worst)
        todo += [(middle, right), (left, middle)]
    return Coverage(tuple(nodes), None, max([worst, *(n.gap / promise.allowed(n.value) for n in nodes[1:-1])]))


def _proven(left: Node, right: Node, promise: Promise) -> bool:
    first, second = left.line, right.line
    sizes = [left.size, right.size]
    if first.slope != second.slope:
        crossing = left.size + (second.at(left.size) - first.at(left.size)) / (first.slope - second.slope)
        if min(sizes) < crossing < max(sizes):
            sizes = [left.size, crossing, right.size]
    better = min if first.above else max
    line = [better(first.at(size), second.at(size)) for size in sizes]
    share = [(size - left.size) / (right.size - left.size) for size in sizes]
    for start, end in zip(left.chords, right.chords, strict=True):
        chord = [(1 - t) * start + t * end for t in share]
        if promise.kept(line, chord) if first.above else promise.kept(chord, line):
            return True
    return False


def reach(known: Solved, end: float, promise: Promise) -> float:
    """The farthest size towards ``end`` where this solution alone keeps the promise (a guess, by bisection)."""
    curve = known.family.objective.along(known.image, known.image)

    def keeps(size: float) -> bool:
        ahead = size / known.size - 1.0
        if known.family.penalized:
            value = known.loss + size * known.norm
        else:
            value = curve.value(float(curve.minimize(ahead)) if ahead > 0 else 0.0)
        return value - known.bound(size)[0] <= promise.allowed(value)

    if keeps(end):
        return end
    near, far = known.size, end
    for _ in range(12):
        middle = math.sqrt(near) * math.sqrt(far)
        near, far = (middle, far) if keeps(middle) else (near, middle)
    return near
