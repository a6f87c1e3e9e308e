"""A shard: some rows of a table as an ordinary fit, and what a worker does with it.

The functions are operations of a program (places/shards.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..losses.curves import Quadratic, Smoothly
from ..losses.protocol import Conjugate, LossFacts
from ..places.numpy import Array
from ..places.shards import known
from ..rounding import norm
from .table_parts import table_kind


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows of a table, and what is observed in them: the fit, and where its rows and observations lie in all."""

    fit: Any  # a ``Fit``, or an ``Intercepts``
    rows: slice
    entries: slice
    labels: Any = None  # of its rows
    aside: Any = None  # what is kept from the fit, to judge it by


#: Of every shard on this worker the slope that was multiplied last, and its operator, which holds a second copy of the
#: numbers by columns; it is in no state, so it takes no memory beyond the next evaluation.
_LAST: WeakKeyDictionary[Shard, tuple[Array, Any]] = WeakKeyDictionary()


def operator_of(shard: Shard, slope: Array) -> Any:
    """𝒜*(slope) on the rows of a shard."""
    last = _LAST.get(shard)
    if last is None or last[0] is not slope:
        last = _LAST[shard] = (slope, shard.fit.gradient(slope))
    return last[1]


def forget_operator(shard: Shard) -> None:
    """A new point is looked at: what was kept of the last slope goes first."""
    _LAST.pop(shard, None)


@known
def measure(shard: Shard, U: Array, s: Array, V: Array) -> Array:
    return np.asarray(shard.fit.measure(U, s, V))


@known
def combine(shard: Shard, a: float, z: Array, b: float, w: Array) -> Array:
    return np.asarray(shard.fit.combine(a, z, b, w))


@known
def slope_of(shard: Shard, z: Array) -> tuple[float, Array]:
    forget_operator(shard)
    value, slope = shard.fit.evaluate(z)
    return float(value), slope


@known
def itself(_shard: Shard, number: Any) -> Any:
    return number


@known
def paired(shard: Shard, slope: Array, z: Array) -> float:
    return float(shard.fit.pair(slope, z))


@known
def product(shard: Shard, slope: Array, V: Array) -> Array:
    return np.asarray(operator_of(shard, slope).matmat(V))


@known
def product_back(shard: Shard, slope: Array, U: Array) -> Array:
    return np.asarray(operator_of(shard, slope).rmatmat(U))


@known
def product_once(shard: Shard, slope: Array, U: Array) -> Array:
    """The same from a slope that is multiplied once: its numbers by columns, as many as observations, are not kept."""
    return np.asarray(shard.fit.gradient(slope).rmatmat(U))


@known
def scored(shard: Shard, slope: Array, P: Array, Q: Array, count: int) -> Array:
    return np.asarray(operator_of(shard, slope).scores(np.ascontiguousarray(P), np.ascontiguousarray(Q), count))


@known
def whole(shard: Shard, slope: Array) -> Array:
    return np.asarray(operator_of(shard, slope).dense())


@known
def line(shard: Shard, z: Array, dz: Array) -> tuple[float, float, float, float]:
    """Value, slope and bend of a quadratic along a line (NaN: it is none), and where it stops being finite."""
    curve = shard.fit.along(z, dz)
    if isinstance(curve, Quadratic):
        return curve.start, curve.slope, curve.bend, math.inf
    return math.nan, math.nan, math.nan, curve.edge if isinstance(curve, Smoothly) else math.inf


@known
def line_at(shard: Shard, z: Array, dz: Array, size: float) -> Array:
    curve = shard.fit.along(z, dz)
    return np.array(curve.at(size) if isinstance(curve, Smoothly) else (curve.value(size), curve.derivative(size)))


@known
def conjugate_facts(shard: Shard, slope: Array) -> tuple[float, float, tuple[float, float] | None, int, bool]:
    found = _conjugate(shard, slope)
    return found.limit, found.size, found.quadratic, found.count, found.sizes is not None


@known
def conjugate_at(shard: Shard, slope: Array, c: float) -> float:
    return float(_conjugate(shard, slope).at(c))


@known
def conjugate_sizes(shard: Shard, slope: Array, c: float) -> float:
    sizes = _conjugate(shard, slope).sizes
    assert sizes is not None
    return float(sizes(c))


def _conjugate(shard: Shard, slope: Array) -> Conjugate:
    found: Conjugate = shard.fit.conjugate(slope)
    return found


@known
def rounding_of(shard: Shard, value: float, slope: Array, size: float, terms: int) -> float:
    return float(shard.fit.rounding(value, slope, size, terms))


@known
def length_of(_shard: Shard, z: Array) -> float:
    return norm(z)


@known
def labels_of(shard: Shard) -> Any:
    return np.arange(shard.rows.start, shard.rows.stop) if shard.labels is None else shard.labels


@known
def told(shard: Shard) -> dict[str, Any]:
    """What a shard knows of itself."""
    fit = shard.fit
    return {
        "coverage": fit.coverage,
        "bend": fit.bend,
        "steepest": fit.steepest,
        "lower": fit.lower,
        "conjugate": fit.conjugate is not None,
        "cancels": LossFacts.of(fit.loss).terms is not None,  # its terms may, and rounding goes by their sizes
        "kind": table_kind(fit.loss, str(fit.targets.dtype), fit.weights is not None),
        "mark": fit.mark(shard.rows.start),
    }
