"""Squared, Huber and Poisson losses of several tasks, targets missing here and there, with intercepts of their own.

Tasks do not share intercepts, so each is a problem in one number: of a squared loss one Newton step, of the logarithm
of a Poisson mean an equation in the sums over the samples, of the Huber loss some Newton steps kept between brackets.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ...losses.protocol import Conjugate
from ...places.numpy import EPS, Array
from .linear_data import in_rows, row_cuts
from .linear_inner import _MOST, ROUGH, SLACK, Best, searched

_SOME = 2000  # samples on which a search begins
_LARGEST = 700.0  # beyond what an exponential can hold


class Tasks:
    """Targets of samples × tasks; a weight of zero is a target that is missing.

    Parameters
    ----------
    targets : any numbers where the weight is zero.
    weights : samples × tasks, samples × 1, or None for all one.
    offset : what every prediction of a task begins with.
    """

    def __init__(self, targets: Array, weights: Array | None, offset: Array) -> None:
        self.targets, self.weights, self.offset = targets, weights, offset
        self.shape = (int(targets.shape[0]), int(targets.shape[1]))
        self.heaviest = 1.0 if weights is None else float(weights.max())
        each = np.ones(self.shape) if weights is None else np.broadcast_to(weights, self.shape)
        #: the sum of all weights of a task
        self.totals = each.sum(axis=0)
        self.total = float(self.totals.sum())
        reach = math.sqrt(targets.size) * float(np.abs(offset).max(initial=0.0))
        self.size = reach + float(np.linalg.norm(targets))

    def weight(self, low: int, high: int) -> Array | None:
        return None if self.weights is None else self.weights[low:high]

    def unweighed(self, y: Array, low: int, high: int) -> Array:
        """y/w; zero where a target is missing."""
        w = self.weight(low, high)
        return y if w is None else y / np.where(w > 0.0, w, 1.0)

    @cached_property
    def _rows(self) -> Array:
        """Some samples, which stand for all."""
        return np.sort(np.random.default_rng(0).choice(self.shape[0], min(_SOME, self.shape[0]), replace=False))

    def _scaled(self, rows: Array, more: float) -> Array:
        w = np.ones((rows.size, 1)) if self.weights is None else self.weights[rows]
        return np.asarray(more * w)

    def _mass(self) -> tuple[Any, ...]:
        return (self.targets, self.offset, *(() if self.weights is None else (self.weights,)))


class Residuals(Tasks):
    """½r² of r = z − y, or Huber's loss of it with a finite ``delta``."""

    curvature = 1.0

    def __init__(self, targets: Array, weights: Array | None, offset: Array, delta: float = math.inf) -> None:
        super().__init__(targets, weights, offset)
        self.delta, self.bends = delta, np.ones(self.shape[1])
        each = (
            math.sqrt(targets.size) if weights is None else float(np.linalg.norm(np.broadcast_to(weights, self.shape)))
        )
        self.steepest = delta * each

    def best(self, z: Array, ridge: float | None, slack: float = SLACK) -> Best:
        z = z.reshape(self.shape)
        b = np.zeros(self.shape[1])
        if ridge is not None and math.isfinite(self.delta) and self.shape[0] > 4 * _SOME:
            rows = self._rows
            b = self.some(rows, self.shape[0] / rows.size)._solve(z[rows], ridge, b, ROUGH).intercepts
        return self._solve(z, ridge, b, slack)

    def _solve(self, z: Array, ridge: float | None, b: Array, slack: float) -> Best:
        """Newton steps, each intercept between the brackets that its derivatives have shown."""
        low, high = np.full(b.size, -math.inf), np.full(b.size, math.inf)
        for _ in range(_MOST):
            value, pull, second, slope = self._pass(z, b)
            if ridge is None:
                break
            pull, value = pull + ridge * b, value + 0.5 * ridge * float(b @ b)
            if not float(pull @ pull) > 2.0 * ridge * slack * abs(value) or not math.isfinite(value):
                break
            low, high = np.where(pull < 0.0, b, low), np.where(pull > 0.0, b, high)
            ahead = b - pull / (second + ridge)
            beyond = ~((ahead > low) & (ahead < high)) & (pull != 0.0)
            between = np.isfinite(low) & np.isfinite(high)
            inside = 0.5 * (np.where(between, low, ahead) + np.where(between, high, ahead))
            ahead = np.where(beyond, inside, np.where(pull == 0.0, b, ahead))
            if (ahead == b).all():
                break
            b = ahead
        return Best(b, value, slope.reshape(-1))

    def _pass(self, z: Array, b: Array) -> tuple[float, Array, Array, Array]:
        """Value, its first and second derivative in every intercept, and the slope."""
        rows, width = z.shape
        slope, pieces = np.empty((rows, width)), len(row_cuts(rows, width))
        values, sums, seconds = np.zeros(pieces), np.zeros((pieces, width)), np.zeros((pieces, width))
        beside, cut = self.offset + b, math.isfinite(self.delta)

        def job(i: int, low: int, high: int) -> None:
            s, w = slope[low:high], self.weight(low, high)
            np.add(z[low:high], beside, out=s)
            s -= self.targets[low:high]
            if cut:
                r = s.copy()
                np.clip(s, -self.delta, self.delta, out=s)
                inside = (r == s).astype(float)
                seconds[i] = inside.sum(axis=0) if w is None else (w * inside).sum(axis=0)
                r -= 0.5 * s
            else:
                r = 0.5 * s
            if w is not None:
                s *= w
            values[i] = np.vdot(r, s)
            sums[i] = s.sum(axis=0)

        in_rows(rows, width, job)
        return float(values.sum()), sums.sum(axis=0), seconds.sum(axis=0) if cut else self.totals, slope

    def some(self, rows: Array, more: float = 1.0) -> Residuals:
        return Residuals(self.targets[rows], self._scaled(rows, more), self.offset, self.delta)

    def conjugate(self, slope: Array) -> Conjugate:
        """⟨y, targets − offset⟩ + ½Σ y²/w, for |y| ≤ w·delta."""
        y = slope.reshape(self.shape)
        pieces = len(row_cuts(*self.shape))
        linear, bend, sizes, top = (np.zeros(pieces) for _ in range(4))

        def job(i: int, low: int, high: int) -> None:
            own, base = y[low:high], self.targets[low:high] - self.offset
            u = self.unweighed(own, low, high)
            linear[i], bend[i] = np.vdot(own, base), np.vdot(own, u)
            sizes[i] = np.vdot(np.abs(own), np.abs(self.targets[low:high]) + np.abs(self.offset))
            top[i] = np.abs(u).max()

        in_rows(*self.shape, job)
        a, c2, most = float(linear.sum()), float(bend.sum()), float(top.max())
        limit = self.delta / most if most > 0 else math.inf
        size = float(sizes.sum()) + 0.5 * c2
        return Conjugate(lambda c: c * a + 0.5 * c * c * c2, limit, size, (a, c2), y.size)

    def blur(self, slope: Array) -> tuple[float, float]:
        return 0.0, self.heaviest

    def parts(self) -> tuple[Any, ...]:
        return ("residuals", float(self.delta).hex(), *self._mass())


class Counts(Tasks):
    """eᶻ − y·z − y + y·ln y, half the deviance: z is the logarithm of the mean of a count y, zero the least value."""

    curvature = math.inf
    steepest = math.inf

    def __init__(self, targets: Array, weights: Array | None, offset: Array) -> None:
        super().__init__(targets, weights, offset)
        self.seen = targets.sum(axis=0) if weights is None else (weights * targets).sum(axis=0)
        logs = targets * np.log(np.maximum(targets, 1.0)) - targets
        small = (targets > 0.0) & (targets < 1.0)
        logs[small] = targets[small] * (np.log(targets[small]) - 1.0)
        self.least = float(logs.sum() if weights is None else (weights * logs).sum())
        self._least_size = float(np.abs(logs).sum() if weights is None else (weights * np.abs(logs)).sum())
        self.bends = np.maximum(self.seen / np.maximum(self.totals, 1e-300), 1e-3)

    def best(self, z: Array, ridge: float | None, slack: float = SLACK) -> Best:
        """With the means of b = 0 summed over the samples, the equation of an intercept needs no sample again."""
        z = z.reshape(self.shape)
        rows, width = self.shape
        slope, pieces = np.empty(self.shape), len(row_cuts(rows, width))
        sums, pairs, tops = np.zeros((pieces, width)), np.zeros(pieces), np.zeros(pieces)

        def means(i: int, low: int, high: int) -> None:
            s, w, y = slope[low:high], self.weight(low, high), self.targets[low:high]
            np.add(z[low:high], self.offset, out=s)
            tops[i] = s.max()
            if not tops[i] <= _LARGEST:
                return
            pairs[i] = np.vdot(y if w is None else w * y, s)
            np.exp(s, out=s)
            if w is not None:
                s *= w
            sums[i] = s.sum(axis=0)

        in_rows(rows, width, means)
        if not float(tops.max()) <= _LARGEST:
            return Best(np.zeros(width), math.inf, np.full(slope.size, math.nan))
        whole = sums.sum(axis=0)
        b = np.zeros(width) if ridge is None else _equated(whole, self.seen, ridge)
        factor = np.exp(b)

        def slopes(i: int, low: int, high: int) -> None:
            s, w, y = slope[low:high], self.weight(low, high), self.targets[low:high]
            s *= factor
            s -= y if w is None else w * y

        in_rows(rows, width, slopes)
        price = 0.0 if ridge is None else 0.5 * ridge * float(b @ b)
        value = float(factor @ whole) - float(pairs.sum()) - float(b @ self.seen) + self.least + price
        return Best(b, value, slope.reshape(-1))

    def some(self, rows: Array, more: float = 1.0) -> Counts:
        return Counts(self.targets[rows], self._scaled(rows, more), self.offset)

    def conjugate(self, slope: Array) -> Conjugate:
        """Σ w(u + y)(ln(u + y) − 1) with u = slope/w ≥ −y; less ⟨slope, offset⟩."""
        own = self._conjugate(slope)
        rows = self._rows
        if self.shape[0] <= 4 * _SOME:
            return own
        share = self.shape[0] / rows.size
        few = self.some(rows, share)
        return searched(own, lambda: few._conjugate(share * slope.reshape(self.shape)[rows]))

    def _conjugate(self, slope: Array) -> Conjugate:
        y, pieces = slope.reshape(self.shape), len(row_cuts(*self.shape))
        limits, linear = np.full(pieces, math.inf), np.zeros(pieces)

        def look(i: int, low: int, high: int) -> None:
            u = self.unweighed(y[low:high], low, high)
            linear[i] = float((y[low:high] @ self.offset).sum())
            falling = u < 0.0
            limits[i] = float(np.min(self.targets[low:high][falling] / -u[falling], initial=math.inf))

        def summed(c: float, sized: bool) -> float:
            values = np.zeros(pieces)

            def job(i: int, low: int, high: int) -> None:
                mean = c * self.unweighed(y[low:high], low, high)
                mean += self.targets[low:high]
                np.maximum(mean, 1e-300, out=mean)
                each = np.log(mean)
                each = np.abs(each) + 1.0 if sized else each - 1.0
                each *= mean
                w = self.weight(low, high)
                values[i] = each.sum() if w is None else (w * each).sum()

            in_rows(*self.shape, job)
            return float(values.sum())

        in_rows(*self.shape, look)
        shift, top = float(linear.sum()), float(np.abs(self.offset).max(initial=0.0))
        added = top * float(np.abs(slope).sum())

        def at(c: float) -> float:
            return summed(c, False) - c * shift - self.least

        def sizes(c: float) -> float:
            return summed(c, True) + c * added + self._least_size

        limit = float(limits.min())
        return Conjugate(at, limit, sizes(min(1.0, limit)), count=y.size, sizes=sizes)

    def blur(self, slope: Array) -> tuple[float, float]:
        y, pieces = slope.reshape(self.shape), len(row_cuts(*self.shape))
        sizes, tops = np.zeros(pieces), np.zeros(pieces)

        def job(i: int, low: int, high: int) -> None:
            own = self.targets[low:high]
            mean = np.maximum(self.unweighed(y[low:high], low, high) + own, 0.0)
            logs = np.abs(np.log(np.maximum(mean, 1e-300))) + np.abs(self.offset)
            w = self.weight(low, high)
            w = np.ones((1, 1)) if w is None else w
            sizes[i], tops[i] = float((w * (mean + own * logs)).sum()), float((w * mean).max())

        in_rows(*self.shape, job)
        return float(sizes.sum()) + self._least_size, float(tops.max())

    def parts(self) -> tuple[Any, ...]:
        return ("poisson-log", *self._mass())


def _equated(S: Array, T: Array, ridge: float) -> Array:
    """b with S·eᵇ + κb = T, by Newton steps; from the right of the root, where they cannot leap over it."""
    b = np.where(T > 0.0, np.log(np.maximum(T, 1e-300) / np.maximum(S, 1e-300)), 0.0)
    for _ in range(100):
        mean = S * np.exp(b)
        step = (mean + ridge * b - T) / (mean + ridge)
        b = b - step
        if (np.abs(step) <= 4 * EPS * (1.0 + np.abs(b))).all():
            break
    return b
