"""Settings that the data choose before any low-rank part is fitted: the two ridges, and the scale of the Huber loss.

Offset and intercepts alone are a small problem. How well they predict an observation that they were not fitted to is
known without fitting again: leaving out one observation moves its own row and its own column, and how far follows from
the curvature of the problem in these two numbers. So one fit gives a leave-one-out score, the same for every seed,
every order of the data and every name of a label, and a handful of fits find the ridges with the least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...losses import Loss
from ...objectives.inner import Inner, InnerProblem
from ...objectives.intercepts import Intercepts
from ...places.numpy import Array
from ...places.sums import left_out
from ..input.observations import Observations
from .recipe import Recipe

_LOW, _HIGH = -3.0, 10.0  # of log₂ ridge: 1/8 holds nothing back, 1024 leaves no intercept
_STEP = 2.0  # first distance between two tries, in log₂
_PRIOR = 2.0  # ridges differ from the usual ones by so many powers of two: what a table of a few numbers goes by
_MOST = 24  # fits of one search: on most tables it takes ten
_ENOUGH = 2e-5  # a better score by less than this share is not worth another fit
_ROUGH = 1e-7  # share of the value that these fits may be off by
_EFFICIENT = 1.345  # times the scale of the residuals: 95 % as good as squares where these are normal
_FAR = 1e3  # times delta: a misfit that is larger counts as one of this size while settings are chosen
_NORMAL = 1.4826  # a standard deviation is so many times the median size of normal residuals
_MEAN = 1.2533  # and so many times their mean size


def settled(recipe: Recipe, seen: Observations, ridge: bool, delta: bool) -> Recipe:
    """The recipe with what is to be chosen chosen: ``ridge`` and ``delta`` say which."""
    if recipe.loss == "huber":
        start = _start_delta(seen)
        seen = _near(seen, start if delta else max(start, recipe.delta))
        if delta:
            recipe = replace(recipe, delta=start)
            recipe = replace(recipe, delta=_delta(Alone(recipe, seen), recipe))
    if ridge and recipe.ridges is not None:
        recipe = replace(recipe, ridges=best_ridges(Alone(recipe, seen), recipe.ridges))
    return recipe


class Alone:
    """Offset and intercepts without a low-rank part, for any ridges."""

    def __init__(self, recipe: Recipe, seen: Observations) -> None:
        self.loss: Loss = recipe.losses()
        self.offset = recipe.offset(seen)
        self.table = Intercepts(
            seen.rows, seen.cols, seen.values, seen.shape, self.loss, weights=seen.weights, offset=self.offset
        )
        self.features = None if recipe.features is None else recipe.features.sized(seen.shape)
        which = self.table.which
        rows, cols = self.table.pattern.rows.astype(np.intp), self.table.pattern.indices.astype(np.intp)
        self.rows: Array = rows if which is None else rows[which]
        self.cols: Array = cols if which is None else cols[which]

    def predicted(self, ridges: tuple[float, float] | None) -> Array:
        """What offset and intercepts say of every observation."""
        table, found = self.table, self.fitted(ridges)
        return table.observed.spread(np.full(table.values.size, self.offset), found.rows, found.cols)

    def fitted(self, ridges: tuple[float, float] | None) -> Inner:
        """The intercepts, roughly."""
        return self._beside(ridges).solve(np.full(self.table.values.size, self.offset), self.table.values)

    def _beside(self, ridges: tuple[float, float] | None) -> InnerProblem:
        table, asked = self.table, {"slack": _ROUGH, "often": False, "features": self.features}
        return InnerProblem(table.observed, self.loss, table.weights, ridges, 0.0, **asked)  # type: ignore[arg-type]

    def score(self, ridges: tuple[float, float]) -> float:
        """Mean loss of every observation as it is predicted without it."""
        table, beside = self.table, self._beside(ridges)
        total = table.values.size if table.weights is None else float(table.weights.sum())
        if beside.plain:  # no array of all observations but one
            found = beside.squares(np.full(table.values.size, self.offset), table.values, 0.0)
            held = beside.curvature
            return left_out(table.pattern, found.slope, held.R, held.C) / total
        return float(self.loss.evaluate(self.without(ridges), table.values, table.weights)[0]) / total

    def without(self, ridges: tuple[float, float]) -> Array:
        """What offset and intercepts say of every observation when they have not seen it."""
        table = self.table
        z = self.predicted(ridges)
        slope = self.loss.evaluate(z, table.values, table.weights)[1]
        bend = np.broadcast_to(self.loss.second(z, table.values, table.weights), z.shape)
        lever = self._lever(bend, ridges)
        return np.asarray(z + lever * slope / np.maximum(1.0 - lever * bend, 1e-6))

    def _lever(self, bend: Array, ridges: tuple[float, float]) -> Array:
        """How far a prediction moves when its own observation pulls with force one: from its row and its column.

        The others are eliminated to first order: exact where the pattern is a tree, and close where it is sparse.
        """
        (m, n), r, c = self.table.shape, self.rows, self.cols
        R, C = np.bincount(r, bend, m) + ridges[0], np.bincount(c, bend, n) + ridges[1]
        square = bend * bend
        across, down = square / C[c], square / R[r]
        a = (R - np.bincount(r, across, m))[r] + across
        b = (C - np.bincount(c, down, n))[c] + down
        return (a + b - 2.0 * bend) / np.maximum(a * b - square, 1e-300)


def best_ridges(alone: Alone, start: tuple[float, float]) -> tuple[float, float]:
    """The ridges with the least leave-one-out score: parabolas in their logarithms, both sides at once."""
    search = _Search(alone, (math.log2(start[0]), math.log2(start[1])))
    here = search.run()
    return (round(2.0 ** here[0], 3), round(2.0 ** here[1], 3))


@dataclass
class _Search:
    """A search by coordinates in a box, which remembers what it has tried."""

    alone: Alone
    here: tuple[float, float]

    def __post_init__(self) -> None:
        self.tried: dict[tuple[float, float], float] = {}
        self.usual = self.here

    def at(self, x: tuple[float, float]) -> float:
        """The score, a little more away from the usual ridges: n times its logarithm is about a likelihood."""
        if x not in self.tried:
            score = self.alone.score((2.0 ** x[0], 2.0 ** x[1]))
            self.tried[x] = score * (1.0 + self._away(x) / self.alone.table.values.size)
        return self.tried[x]

    def _away(self, x: tuple[float, float]) -> float:
        return ((x[0] - self.usual[0]) ** 2 + (x[1] - self.usual[1]) ** 2) / _PRIOR**2

    def run(self) -> tuple[float, float]:
        step = _STEP
        while len(self.tried) < _MOST and step >= 0.25:
            before, here = self.at(self.here), self.here
            lowest = (self._along(0, step), self._along(1, step))
            if lowest != here:
                self.at(lowest)
            self.here = min(self.tried, key=lambda x: (self.tried[x], self._away(x), x))
            gain = before - self.at(self.here)
            if gain <= _ENOUGH * abs(before):
                break
            far = max(abs(self.here[0] - here[0]), abs(self.here[1] - here[1]))
            if far < step:  # bracketed: look closer
                step = max(0.5 * step, 0.25) if far < 0.5 * step else step
        return self.here

    def _along(self, side: int, step: float) -> float:
        """Where the parabola through three tries along one side has its lowest point, at most a step away."""
        x = self.here[side]
        low, high = max(x - step, _LOW), min(x + step, _HIGH)
        left, right = x - low, high - x
        middle = self.at(self.here)
        below = self.at(self._moved(side, low)) if left > 0 else math.inf
        above = self.at(self._moved(side, high)) if right > 0 else math.inf
        if below <= middle or above <= middle:
            if below == above == middle:
                return x
            return low if below < above else high
        if not (left > 0 and right > 0):
            return x
        p, q = (below - middle) / left, (above - middle) / right
        return x + 0.5 * (p * right - q * left) / (p + q)

    def _moved(self, side: int, x: float) -> tuple[float, float]:
        return (x, self.here[1]) if side == 0 else (self.here[0], x)


def _start_delta(seen: Observations) -> float:
    """A scale before anything is fitted: that of the distances from the median."""
    return _scale(seen.values - float(np.median(seen.values)), seen.values)


def _near(seen: Observations, delta: float) -> Observations:
    """Values that are very far from the median are nearer, so that they are not most of a loss.

    They pull as before, being on the straight parts of the loss; and how much a few values that nothing explains add to
    a score says nothing of a setting.
    """
    middle = float(np.median(seen.values))
    values = np.clip(seen.values, middle - _FAR * delta, middle + _FAR * delta)
    return replace(seen, values=values)


def _delta(alone: Alone, recipe: Recipe) -> float:
    """Where the Huber loss becomes linear: about one and a third times the scale of what the intercepts leave."""
    table = alone.table
    return _scale(alone.predicted(recipe.ridges) - table.values, table.values)


def _scale(residuals: Array, values: Array) -> float:
    """From the median size, which no few large ones change; one where all are nothing.

    Where more than half are nothing, from the median of the others, or from the mean of all if that is less, as it is
    where none of them is much larger than the rest.
    """
    size, blur = np.abs(residuals), 1e-9 * _middle(np.abs(values))
    scales = [_NORMAL * float(np.median(size))]
    if not scales[0] > blur:
        some = size[size > blur]
        scales = [_NORMAL * _middle(some), _MEAN * float(np.mean(some)) * some.size / size.size] if some.size else []
    return float(f"{_EFFICIENT * min(scales):.4g}") if scales else 1.0


def _middle(sizes: Array) -> float:
    """The median of those that are not zero."""
    some = sizes[sizes > 0.0]
    return float(np.median(some)) if some.size else 0.0
