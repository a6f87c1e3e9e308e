"""What a worker does for intercepts: best row intercepts of its own rows, sums over columns, curvature between columns.

Every row lies in one shard, so its intercept is found there, exactly, for any column intercepts that are sent. The
client is left with a problem in the columns alone (sharded_intercepts.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..losses.squared import Squared
from ..places.marks import rows_mark
from ..places.numpy import EPS, Array
from ..places.shards import known
from .inner import SLACK, Bends
from .intercepts import Intercepts
from .shard import Shard, forget_operator

_MOST = 120  # steps of Newton's method or bisection for the row intercepts


@dataclass(frozen=True, eq=False)
class Beside:
    """Row intercepts beside an image and column intercepts: their loss and ridge, the slope, and what is left over.

    ``total`` is the slope summed over columns; ``slack`` bounds what better row intercepts could still gain.
    """

    rows: Array
    value: float
    slope: Array
    total: Array
    slack: float


@known
def beside(shard: Shard, z: Array, columns: Array, observed: bool) -> Beside:
    """The best row intercepts; ``observed`` False is the same problem with all values and the offset zero."""
    forget_operator(shard)
    fit = _own(shard)
    problem, n = fit.beside, fit.shape[1]
    values = fit.values if observed else np.zeros_like(fit.values)
    base = problem.observed.spread(z + fit.offset if observed else z, np.zeros(fit.shape[0]), columns)
    none = np.zeros(n)

    def at(rows: Array) -> tuple[float, Array, Array, Array]:
        """Value, slope, its sums over rows with the ridge, and over columns."""
        loss, slope = fit.loss.evaluate(problem.observed.spread(base, rows, none), values, fit.weights)
        over_rows, over_columns = problem.observed.sums(problem.observed.entries(slope))
        return float(loss), slope, over_rows, over_columns

    rows = np.zeros(fit.shape[0])
    loss, slope, p, q = at(rows)
    if fit.ridges is None:
        return Beside(rows, loss, slope, q, 0.0)
    rho = fit.ridges[0]
    if isinstance(fit.loss, Squared):
        rows = -p / problem.curvature.R
        loss, slope, p, q = at(rows)
        p = p + rho * rows
    else:
        low, high = np.minimum(0.0, -p / rho), np.maximum(0.0, -p / rho)  # p grows by at least ρ a unit
        for _ in range(_MOST):
            value = loss + 0.5 * rho * float(rows @ rows)
            if 0.5 * float(p @ p) / rho <= max(0.1 * SLACK * abs(value), 0.1 * fit.floor):
                break
            low, high = np.where(p < 0.0, np.maximum(low, rows), low), np.where(p > 0.0, np.minimum(high, rows), high)
            if float(np.max(high - low)) <= EPS * float(np.max(np.abs(rows), initial=1e-300)):
                break
            seconds = fit.loss.second(problem.observed.spread(base, rows, none), values, fit.weights)
            bends = problem.observed.sums(problem.observed.entries(seconds))[0] + rho
            ahead = rows - p / bends
            rows = np.where((low < ahead) & (ahead < high), ahead, 0.5 * (low + high))
            loss, slope, p, q = at(rows)
            p = p + rho * rows
    value = loss + 0.5 * rho * float(rows @ rows)
    return Beside(rows, value, slope, q, 0.5 * float(p @ p) / rho)


@known
def beside_numbers(_shard: Shard, found: Beside) -> tuple[float, float]:
    return found.value, found.slack


@known
def beside_total(_shard: Shard, found: Beside) -> Array:
    return found.total


@known
def beside_slope(_shard: Shard, found: Beside) -> Array:
    return found.slope


@known
def beside_rows(_shard: Shard, found: Beside) -> Array:
    """A column of the left side."""
    return found.rows[:, None]


@known
def bends_of(shard: Shard, z: Array, found: Beside, columns: Array) -> Bends:
    """The second derivative at these intercepts."""
    fit = _own(shard)
    there = fit.beside.observed.spread(z + fit.offset, found.rows, columns)
    seconds = fit.loss.second(there, fit.values, fit.weights)
    return Bends(fit.beside.observed, seconds, fit.beside.sides)


@known
def bent(shard: Shard, bends: Bends | None, v: Array) -> Array:
    """HᵀR⁻¹H v: what eliminating the rows takes from the curvature of the columns."""
    bends = _own(shard).beside.curvature if bends is None else bends
    return bends.down(bends.across(v) / bends.R)


@known
def bent_whole(shard: Shard, bends: Bends | None) -> Array:
    """HᵀR⁻¹H itself, for few columns; the curvature of every column by itself in a line below it."""
    bends = _own(shard).beside.curvature if bends is None else bends
    return np.vstack([bends.eliminated(), bends.C - bends.kappa])


@known
def column_bends(shard: Shard, bends: Bends | None) -> Array:
    """The curvature of every column by itself, without the ridge."""
    bends = _own(shard).beside.curvature if bends is None else bends
    return np.asarray(bends.C - bends.kappa)


@known
def conjugate_of_table(shard: Shard, slope: Array) -> tuple[float, float, tuple[float, float] | None, int, Array]:
    """Limit, size, (linear, bend) where it is quadratic, count; and the slope summed over columns."""
    fit = _own(shard)
    own = fit.loss.conjugate(slope, fit.values, fit.weights)
    shift, extra = _charged(fit, slope)
    total = fit.beside.observed.sums(fit.beside.observed.entries(slope))[1]
    size = own.size + abs(fit.offset) * float(np.abs(slope).sum()) + 0.5 * extra
    quadratic = own.quadratic and (own.quadratic[0] + shift, own.quadratic[1] + extra)
    return own.limit, size, quadratic, own.count, total


@known
def conjugate_of_table_at(shard: Shard, slope: Array, c: float) -> float:
    fit = _own(shard)
    shift, extra = _charged(fit, slope)
    own = fit.loss.conjugate(slope, fit.values, fit.weights)
    return float(own.at(c) + c * shift + 0.5 * c * c * extra)


def _charged(fit: Intercepts, slope: Array) -> tuple[float, float]:
    """What offset and row intercepts add to the conjugate: −offset·Σy, and ‖row sums‖²/ρ."""
    shift, extra = -fit.offset * float(slope.sum()), 0.0
    if fit.ridges is not None:
        p = fit.beside.observed.sums(fit.beside.observed.entries(slope))[0]
        extra = float(p @ p) / fit.ridges[0]
    return shift, extra


@known
def told_of_table(shard: Shard) -> dict[str, Any]:
    """What a shard knows of itself."""
    fit, first = _own(shard), shard.rows.start
    return {
        "coverage": fit.coverage,
        "bend": fit.bend,
        "steepest": fit.steepest,
        "reach": fit.reach,
        "smoothness": fit.smoothness,
        "largest": fit.largest,
        "count": int(fit.values.size),
        "squares": fit.squares,
        "kinds": (fit.kind(False), fit.kind(True)),
        "weighted": fit.weights is not None,
        # of the observations without weights, and with them: other shards may have some
        "marks": (
            fit.mark(None, first),
            fit.mark(np.ones(fit.values.size) if fit.weights is None else fit.weights, first),
        ),
        "scales": None if fit.scales is None else rows_mark(fit.scales[0], first),
    }


def _own(shard: Shard) -> Intercepts:
    assert isinstance(shard.fit, Intercepts)
    return shard.fit
