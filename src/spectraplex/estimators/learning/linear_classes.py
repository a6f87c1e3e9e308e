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
from .linear_inner import _MOST, SLACK, Best, searched

_SOME = 2000  # samples on which the search for intercepts, and for the scale of a dual point, begins
_WIDE = 400  # classes from which the Hessian is taken from some samples only
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
        self._seen, self.total = total, float(total.sum())
        share = (total + 0.5) / (total.sum() + 0.5 * count)
        self.bends = share * (1.0 - share)
        each = np.ones(labels.size) if weights is None else weights
        self.steepest = math.sqrt(2.0) * float(np.linalg.norm(each))
        self.heaviest = 1.0 if weights is None else float(weights.max())
        self.size = math.sqrt(labels.size * count) * float(np.abs(offset).max(initial=0.0))

    # ------------------------------------------------------------------------------------------- value and slope

    def best(self, z: Array, ridge: float | None) -> Best:
        z = z.reshape(self.shape)
        if ridge is None:
            b = np.zeros(self.shape[1])
            value, _, slope, _ = self._pass(z, b, False)
            return Best(b, value, slope.reshape(-1))
        b = self._start(z, ridge)
        return self._newton(z, ridge, b, SLACK)

    def _start(self, z: Array, ridge: float) -> Array:
        """Where the search begins: at the answer of some samples, the same ones always."""
        if self.shape[0] <= 4 * _SOME:
            return np.zeros(self.shape[1])
        rows, some = self._some
        return some._newton(z[rows], ridge, np.zeros(self.shape[1]), 1e-6).intercepts

    def _newton(self, z: Array, ridge: float, b: Array, slack: float) -> Best:
        whole = self.shape[1] <= _WIDE
        value, pull, slope, hessian = self._pass(z, b, whole)
        pull, value = pull + ridge * b, value + 0.5 * ridge * float(b @ b)
        for _ in range(_MOST):
            if not float(pull @ pull) > 2.0 * ridge * slack * abs(value) or not math.isfinite(value):
                break
            H = hessian if hessian is not None else self._rough_hessian(z, b)
            H[np.diag_indices_from(H)] += ridge
            step = np.linalg.solve(H, pull)
            fall, share = float(pull @ step), 1.0
            for _ in range(_TRIALS):
                ahead = b - share * step
                reached, there, slope, hessian = self._pass(z, ahead, whole)
                reached += 0.5 * ridge * float(ahead @ ahead)
                if reached <= value - 1e-4 * share * fall + 4 * EPS * abs(value):
                    break
                share *= 0.5
            stuck = share < 1.0 and not reached < value - EPS * abs(value)
            b, value, pull = ahead, reached, there + ridge * ahead
            if stuck:
                break
        return Best(b, value, slope.reshape(-1))

    def _pass(self, z: Array, b: Array, curved: bool) -> tuple[float, Array, Array, Array | None]:
        """Value, its derivative in b, slope, and the second derivative in b if it is asked for."""
        rows, width = z.shape
        cuts = row_cuts(rows, width)
        slope, values, sums = np.empty((rows, width)), np.zeros(len(cuts)), np.zeros((len(cuts), width))
        beside = self.offset + b

        def job(i: int, second: Array | None) -> None:
            low, high = cuts[i]
            t, y = slope[low:high], self.labels[low:high]
            np.add(z[low:high], beside, out=t)
            t -= t.max(axis=1, keepdims=True)
            places = np.arange(high - low)
            own = t[places, y]
            np.exp(t, out=t)
            total = t.sum(axis=1)
            w = None if self.weights is None else self.weights[low:high]
            each = np.log(total) - own
            values[i] = each.sum() if w is None else w @ each
            t /= total[:, None]
            if second is not None:
                second -= t.T @ (t if w is None else w[:, None] * t)
            if w is not None:
                t *= w[:, None]
            sums[i] = t.sum(axis=0)
            t[places, y] -= 1.0 if w is None else w

        if not curved:
            workers.run(lambda i: job(i, None), len(cuts), 8 * z.size)
            return float(values.sum()), sums.sum(axis=0) - self._seen, slope, None
        lanes = min(len(cuts), _LANES)
        seconds = np.zeros((lanes, width, width))

        def lane(k: int) -> None:
            for i in range(k, len(cuts), lanes):
                job(i, seconds[k])

        workers.run(lane, lanes, 8 * z.size)
        shares, hessian = sums.sum(axis=0), seconds.sum(axis=0)
        hessian[np.diag_indices(width)] += shares
        return float(values.sum()), shares - self._seen, slope, hessian

    def _rough_hessian(self, z: Array, b: Array) -> Array:
        """From some samples; Newton steps with it take a few more."""
        rows, some = self._some
        H = some._pass(z[rows], b, True)[3]
        assert H is not None
        return H

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
