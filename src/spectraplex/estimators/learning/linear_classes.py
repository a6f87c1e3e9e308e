"""The softmax loss of classes, one a sample, with intercepts found by Newton steps."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ...losses.protocol import Conjugate
from ...places.numpy import EPS, Array
from ...places.threads import workers
from .linear_data import in_rows, row_cuts
from .linear_inner import _MOST, ROUGH, SLACK, Best, searched

_SOME = 2000  # samples on which the search for intercepts, and for the scale of a dual point, begins
_FAR = 200.0  # intercepts farther from where the powers were taken would lose digits
_TRIALS = 30
_LANES = 8  # second derivatives are added up in as many places, whatever the number of threads


class Classes:
    """Targets 0 … k − 1, with the weight of each sample (None: all one).

    Parameters
    ----------
    labels : the class of every sample.
    count : k.
    weights : positive, one a sample, or None.
    offset : the logarithm of the share of each class; zeros where there are no intercepts.
    """

    curvature = 0.5

    def __init__(self, labels: Array, count: int, weights: Array | None, offset: Array) -> None:
        self.labels, self.weights, self.offset = labels, weights, offset
        self.shape = (labels.size, count)
        total = np.bincount(labels, weights, count).astype(float)
        self.seen, self.total = total, float(total.sum())
        share = (total + 0.5) / (total.sum() + 0.5 * count)
        self.bends = share * (1.0 - share)
        each = np.ones(labels.size) if weights is None else weights
        self.steepest = math.sqrt(2.0) * float(np.linalg.norm(each))
        self.heaviest = 1.0 if weights is None else float(weights.max())
        self.size = math.sqrt(labels.size * count) * float(np.abs(offset).max(initial=0.0))

    # ------------------------------------------------------------------------------------------- value and slope

    def best(self, z: Array, ridge: float | None, slack: float = SLACK) -> Best:
        z = z.reshape(self.shape)
        none = np.zeros(self.shape[1])
        if ridge is None:
            powers = _Powers(self, z, none)
            value = powers.at(none)[0]
            return Best(none, value, powers.slope().reshape(-1))
        if self.shape[0] <= 4 * _SOME:
            powers, b, value, _ = self._newton(z, ridge, none, slack)
        else:  # the answer of some samples, the same ones always, and steps with their second derivative from there
            rows, some = self._some
            few, start, _, _ = some._newton(z[rows], ridge, none, ROUGH)
            powers, b, value = self._secant(z, ridge, start, few.second() + ridge * np.eye(none.size), slack)
        return Best(b, value, powers.slope().reshape(-1))

    def _newton(self, z: Array, ridge: float, b: Array, slack: float) -> tuple[_Powers, Array, float, Array]:
        """Newton steps from b; where they end: powers, intercepts, value and its derivative."""
        powers = _Powers(self, z, b)
        value, pull = powers.charged(b, ridge)
        for _ in range(_MOST):
            if not float(pull @ pull) > 2.0 * ridge * slack * abs(value):
                break
            H = powers.second()
            H[np.diag_indices_from(H)] += ridge
            found = powers.search(b, value, pull, np.linalg.solve(H, pull), ridge)
            if found is None:
                break
            b, value, pull = found
        return powers, b, value, pull

    def _secant(self, z: Array, ridge: float, b: Array, H: Array, slack: float) -> tuple[_Powers, Array, float]:
        """Quasi-Newton steps (BFGS) from b: none needs the second derivative of all samples."""
        powers, inverse = _Powers(self, z, b), np.linalg.inv(H)
        value, pull = powers.charged(b, ridge)
        for _ in range(_MOST):
            if not float(pull @ pull) > 2.0 * ridge * slack * abs(value):
                break
            found = powers.search(b, value, pull, inverse @ pull, ridge)
            if found is None:
                break
            step, change = found[0] - b, found[2] - pull
            b, value, pull = found
            along = float(step @ change)
            if along > 0.0:
                mixed = inverse @ change
                bend = (1.0 + float(change @ mixed) / along) / along
                inverse += bend * np.outer(step, step) - (np.outer(mixed, step) + np.outer(step, mixed)) / along
        return powers, b, value

    @cached_property
    def _some(self) -> tuple[Array, Classes]:
        """Some samples, which stand for all."""
        count = min(_SOME, self.shape[0])
        rows = np.sort(np.random.default_rng(0).choice(self.shape[0], count, replace=False))
        return rows, self.some(rows, self.shape[0] / count)

    def some(self, rows: Array, more: float = 1.0) -> Classes:
        weights = np.full(rows.size, more) if self.weights is None else more * self.weights[rows]
        return Classes(self.labels[rows], self.shape[1], weights, self.offset)

    # ---------------------------------------------------------------------------------------------- certificates

    def conjugate(self, slope: Array) -> Conjugate:
        """wΣ q ln q with q = c·y/w + [own class], at least zero and with sum one; less ⟨c·y, offset⟩."""
        own = self._conjugate(slope)
        if self.shape[0] <= 4 * _SOME:
            return own
        rows, some = self._some
        share = self.shape[0] / rows.size
        return searched(own, lambda: some._conjugate(share * slope.reshape(self.shape)[rows]))

    def _conjugate(self, slope: Array) -> Conjugate:
        rows, width = self.shape
        share = slope.reshape(self.shape)
        pieces = len(row_cuts(rows, width))
        limits, sums, offs, sizes = np.full(pieces, math.inf), np.zeros(pieces), np.zeros(pieces), np.zeros(pieces)

        def look(i: int, low: int, high: int) -> None:
            y = share[low:high]
            offs[i], sizes[i] = float((y @ self.offset).sum()), float(np.abs(y).sum())
            u = self._unweighed(y, low, high)
            own = u[np.arange(high - low), self.labels[low:high]]
            sums[i] = float(np.abs(u.sum(axis=1)).max())
            falling = u < 0.0
            falling[np.arange(high - low), self.labels[low:high]] = False
            limits[i] = 0.0 if falling.any() else 1.0 / max(float((-own).max()), 1e-300)

        def at(c: float) -> float:
            values = np.zeros(pieces)

            def job(i: int, low: int, high: int) -> None:
                q = c * self._unweighed(share[low:high], low, high)
                q[np.arange(high - low), self.labels[low:high]] += 1.0
                np.maximum(q, 1e-300, out=q)  # 0·ln 0 is zero, and this is less than any rounding
                each = np.einsum("ij,ij->i", q, np.log(q))
                values[i] = each.sum() if self.weights is None else self.weights[low:high] @ each

            in_rows(rows, width, job)
            return float(values.sum()) - c * linear

        in_rows(rows, width, look)
        linear = float(offs.sum())
        limit = float(limits.min()) if float(sums.max()) <= 64 * EPS * width else 0.0
        weight = float(rows) if self.weights is None else float(self.weights.sum())
        top = float(np.abs(self.offset).max(initial=0.0))
        size = math.log(max(width, 2)) * weight + (1.0 + top) * float(sizes.sum())
        return Conjugate(at, limit, size, count=share.size)

    def _unweighed(self, y: Array, low: int, high: int) -> Array:
        return y if self.weights is None else y / self.weights[low:high, None]

    def blur(self, slope: Array) -> tuple[float, float]:
        return 0.0, self.curvature * self.heaviest

    def parts(self) -> tuple[Any, ...]:
        return ("softmax", self.labels, self.offset, *(() if self.weights is None else (self.weights,)))


class _Powers:
    """exp(z + offset + b) of all samples, once: other intercepts b + δ need no exponential but those of δ."""

    def __init__(self, out: Classes, z: Array, b: Array) -> None:
        self.out, self.z = out, z
        self.cuts = row_cuts(*z.shape)
        self._begin(b)

    def _begin(self, b: Array) -> None:
        """Powers at b, those of the largest score of a sample being one."""
        self.b, z = b, self.z
        self.E, self.own, self.sums = np.empty(z.shape), np.empty(z.shape[0]), np.empty(z.shape[0])
        beside = self.out.offset + b

        def job(i: int) -> None:
            low, high = self.cuts[i]
            t = self.E[low:high]
            np.add(z[low:high], beside, out=t)
            t -= t.max(axis=1, keepdims=True)
            self.own[low:high] = t[np.arange(high - low), self.out.labels[low:high]]
            np.exp(t, out=t)

        workers.run(job, len(self.cuts), 8 * z.size)

    def at(self, b: Array) -> tuple[float, Array]:
        """Value and its derivative at intercepts b; what is asked for next is about them."""
        delta = b - self.b
        if float(np.abs(delta).max()) > _FAR:
            self._begin(b)
            delta = b - self.b
        self.factor, weights = np.exp(delta), self.out.weights
        values, columns = np.zeros(len(self.cuts)), np.zeros((len(self.cuts), b.size))

        def job(i: int) -> None:
            low, high = self.cuts[i]
            total = self.E[low:high] @ self.factor
            self.sums[low:high] = total
            each = np.log(total) - self.own[low:high]
            w = None if weights is None else weights[low:high]
            values[i] = each.sum() if w is None else w @ each
            columns[i] = (1.0 / total if w is None else w / total) @ self.E[low:high]

        workers.run(job, len(self.cuts), 2 * self.z.size)
        self.shares = self.factor * columns.sum(axis=0)
        return float(values.sum()) - float(delta @ self.out.seen), self.shares - self.out.seen

    def charged(self, b: Array, ridge: float) -> tuple[float, Array]:
        """The same with the ridge of the intercepts."""
        value, pull = self.at(b)
        return value + 0.5 * ridge * float(b @ b), pull + ridge * b

    def search(
        self, b: Array, value: float, pull: Array, step: Array, ridge: float
    ) -> tuple[Array, float, Array] | None:
        """Along a step down, as far as it lowers the value; None at rounding level."""
        fall, share = float(pull @ step), 1.0
        for _ in range(_TRIALS):
            ahead = b - share * step
            reached, there = self.charged(ahead, ridge)
            if reached <= value - 1e-4 * share * fall:
                return ahead, reached, there
            if float(there @ there) <= 0.25 * float(pull @ pull) and reached <= value + 64 * EPS * abs(value):
                return ahead, reached, there  # values differ by rounding alone, derivatives do not
            share *= 0.5
        self.at(b)
        return None

    def second(self) -> Array:
        """The second derivative in the intercepts: Σ w (diag p − ppᵀ)."""
        width, weights = self.z.shape[1], self.out.weights
        lanes = min(len(self.cuts), _LANES)
        parts = np.zeros((lanes, width, width))

        def lane(k: int) -> None:
            for i in range(k, len(self.cuts), lanes):
                low, high = self.cuts[i]
                each = 1.0 / self.sums[low:high] ** 2
                w = each if weights is None else weights[low:high] * each
                parts[k] += self.E[low:high].T @ (w[:, None] * self.E[low:high])

        workers.run(lane, lanes, 8 * self.z.size)
        H = -self.factor[:, None] * parts.sum(axis=0) * self.factor
        H[np.diag_indices(width)] += self.shares
        return H

    def slope(self) -> Array:
        """w(p − [own class]), in place of the powers."""
        weights = self.out.weights

        def job(i: int) -> None:
            low, high = self.cuts[i]
            t, y, w = self.E[low:high], self.out.labels[low:high], None if weights is None else weights[low:high]
            t *= self.factor
            each = t.sum(axis=1)  # not the sums kept: shares add up to one as exactly as they can
            t *= (1.0 / each if w is None else w / each)[:, None]
            t[np.arange(high - low), y] -= 1.0 if w is None else w

        workers.run(job, len(self.cuts), 4 * self.z.size)
        return self.E
