"""A fit whose rows are shared out over a cluster: f(Z) = Σ over shards of their own fits of their own rows.

A shard is an ordinary ``Fit`` of some rows of the table, so every loss of a table works here. Values, pairings and the
product with the right side of one point come back in one round (places/dask.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from ..fingerprint import fingerprint
from ..losses.curves import Curve, Quadratic, Smoothly
from ..losses.protocol import Conjugate
from ..measurements.entries import Entries
from ..places.dask import ClusterPlace
from ..places.numpy import Array
from ..places.rounds import Held, Left
from ..places.shards import known
from ..rounding import VANISHING, of_sum
from .fit import Fit


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows of a table, and what is observed in them: the fit, and where its rows and observations lie in all."""

    fit: Fit
    rows: slice
    entries: slice
    labels: Any = None  # of its rows


# ------------------------------------------------------------------------------------------- what the workers do


@known
def measure(shard: Shard, U: Array, s: Array, V: Array) -> Array:
    return shard.fit.measure(U, s, V)


@known
def combine(shard: Shard, a: float, z: Array, b: float, w: Array) -> Array:
    return shard.fit.combine(a, z, b, w)


@known
def slope_of(shard: Shard, z: Array) -> tuple[float, Array]:
    return shard.fit.evaluate(z)


@known
def itself(_shard: Shard, number: Any) -> Any:
    return number


@known
def paired(shard: Shard, slope: Array, z: Array) -> float:
    return shard.fit.pair(slope, z)


@known
def gradient(shard: Shard, slope: Array) -> Any:
    return shard.fit.gradient(slope)


@known
def product(_shard: Shard, G: Any, V: Array) -> Array:
    return np.asarray(G.matmat(V))


@known
def product_back(_shard: Shard, G: Any, U: Array) -> Array:
    return np.asarray(G.rmatmat(U))


@known
def scored(_shard: Shard, G: Any, P: Array, Q: Array, count: int) -> Array:
    return np.asarray(G.scores(np.ascontiguousarray(P), np.ascontiguousarray(Q), count))


@known
def whole(_shard: Shard, G: Any) -> Array:
    return np.asarray(G.dense())


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
    return np.array([curve.value(size), curve.derivative(size)])


@known
def conjugate_facts(shard: Shard, slope: Array) -> tuple[Any, ...]:
    found = shard.fit.loss.conjugate(slope, shard.fit.targets, shard.fit.weights)
    return found.limit, found.size, found.quadratic, found.count


@known
def conjugate_at(shard: Shard, slope: Array, c: float) -> Array:
    found = shard.fit.loss.conjugate(slope, shard.fit.targets, shard.fit.weights)
    return np.array([found.at(c), found.sizes(c) if found.sizes is not None else found.size * max(1.0, c * c)])


@known
def own_entries(shard: Shard, z: Array) -> Array:
    return np.ascontiguousarray(z[shard.entries])


@known
def length_of(_shard: Shard, z: Array) -> float:
    from ..rounding import norm

    return norm(z)


@known
def mark_of(_shard: Shard, z: Array) -> str:
    return fingerprint(z)


@known
def labels_of(shard: Shard) -> Any:
    return np.arange(shard.rows.start, shard.rows.stop) if shard.labels is None else shard.labels


@known
def told(shard: Shard) -> dict[str, Any]:
    """What a shard knows of itself."""
    fit, facts = shard.fit, shard.fit.coverage
    return {
        "rows": None if facts is None else facts[0],
        "columns": None if facts is None else facts[1],
        "bend": fit.bend,
        "steepest": fit.steepest,
        "lower": fit.lower,
        "conjugate": fit.conjugate is not None,
        "parts": fingerprint(*(part for part in fit.parts() if not isinstance(part, str))),
        "words": [part for part in fit.parts() if isinstance(part, str)][1:],
    }


# ------------------------------------------------------------------------------------------------- with the client


class ShardImages:
    """Verbs on images and slopes that lie on the workers."""

    def __init__(self, place: ClusterPlace, count: int) -> None:
        self.place, self._count = place, count

    def plain(self, z: Any) -> bool:
        return isinstance(z, Held) and not isinstance(z, Left)

    def blend(self, a: float, z: Held, b: float, w: Held) -> Any:
        return self.place.make("combine", a, z, b, w)

    def norm(self, z: Held) -> float:
        if "norm" not in z.extra:
            z.extra["norm"] = float(reduce(np.hypot, self.place.ask(("length_of", z))[0]))
        return float(z.extra["norm"])

    def count(self, z: Any) -> int:
        return self._count

    def mark(self, z: Held) -> str:
        return fingerprint(*self.place.ask(("mark_of", z))[0])

    def pack(self, z: Held) -> Array:
        return np.concatenate(self.place.ask(("itself", z))[0])

    def unpack(self, array: Array) -> Any:
        return self.place.make("own_entries", array)


@dataclass(frozen=True, eq=False)
class ShardedOperator:
    """𝒜*(slope): left products stay on the workers, right ones are sums over all shards."""

    place: ClusterPlace
    inside: Held
    slope: Held
    shape: tuple[int, int]
    dtype: str
    hermitian: bool = False

    def noise(self) -> float:
        return 0.0

    def matmat(self, V: Array) -> Left:
        kind = np.result_type(np.dtype(self.dtype), V.dtype, np.float64)
        return self.place.left("product", self.inside, np.ascontiguousarray(V), width=V.shape[1], dtype=kind)

    def rmatmat(self, U: Left) -> Array:
        known = self.slope.extra.get(U)
        return np.asarray(self.place.total("product_back", self.inside, U) if known is None else known)

    def scores(self, P: Left, Q: Array, count: int) -> Array:
        P, Q = self.place.columns(P, slice(0, count)), Q[:, :count]
        return np.asarray(self.place.total("scored", self.inside, P, Q, count))

    def dense(self) -> Array:
        return np.concatenate(self.place.ask(("whole", self.inside))[0], axis=0)


class ShardedFit:
    """The sum of the fits of all shards; see ``Fit``."""

    def __init__(self, place: ClusterPlace, fit: str, entries: int, dtype: str, columns: Any = None) -> None:
        self.place, self.fit, self.entries, self.dtype = place, fit, entries, dtype
        self.columns = columns  # labels, where there are any
        self.shape = (place.m, place.n)
        self.images = ShardImages(place, entries)
        self.single, self.dense, self.held, self.summed = True, False, 0, 0
        self.reach = 1.0

    @cached_property
    def _told(self) -> list[dict[str, Any]]:
        return [dict(each) for each in self.place.ask(("told",))[0]]

    def _of(self, name: str) -> list[Any]:
        return [each[name] for each in self._told]

    def row_labels(self) -> Array:
        """The labels of all rows, in the order of the matrix: as long as it, so mind its size."""
        return np.concatenate(self.place.ask(("labels_of",))[0])

    # -------------------------------------------------------------------------------------------- f(X) = ℓ(𝒜(X))

    def measure(self, U: Left, s: Array, V: Array) -> Held:
        z: Held = self.place.make("measure", U, s, V)
        z.extra["of"] = U
        return z

    def combine(self, a: float, z: Held, b: float, w: Held) -> Any:
        return self.place.make("combine", a, z, b, w)

    def evaluate(self, z: Held) -> tuple[float, Held]:
        """One round: the value, ⟨slope, z⟩, ‖slope‖, and the right product with what z was measured from."""
        place = self.place
        both = place.make("slope_of", z)
        value, slope = place.make("first_of", both), place.make("second_of", both)
        inside = slope.extra["inside"] = place.make("gradient", slope)
        asked: list[tuple[Any, ...]] = [("itself", value), ("paired", slope, z), ("length_of", slope)]
        U = z.extra.get("of")
        if U is not None:
            asked.append(("product_back", inside, U))
        answers = place.ask(*asked)
        slope.extra[z] = float(sum(answers[1]))
        slope.extra["norm"] = float(reduce(np.hypot, answers[2]))
        if U is not None:
            slope.extra[U] = reduce(add, answers[3])
        return float(sum(answers[0])), slope

    def along(self, z: Held, dz: Held) -> Curve:
        found = np.array(self.place.ask(("line", z, dz))[0])
        start, slope, bend = found[:, :3].sum(axis=0)
        if np.isfinite(bend):
            return Quadratic(float(start), float(slope), float(bend))

        def at(size: float) -> tuple[float, float]:
            value, derivative = self.place.total("line_at", z, dz, size)
            return float(value), float(derivative)

        return Smoothly(at, float(found[:, 3].min()))

    def pair(self, slope: Held, z: Held) -> float:
        if z not in slope.extra:
            slope.extra[z] = float(self.place.total("paired", slope, z))
        return float(slope.extra[z])

    def gradient(self, slope: Held) -> ShardedOperator:
        if "inside" not in slope.extra:
            slope.extra["inside"] = self.place.make("gradient", slope)
        return ShardedOperator(self.place, slope.extra["inside"], slope, self.shape, self.dtype)

    @property
    def conjugate(self) -> Any:
        return self._conjugate if all(self._of("conjugate")) else None

    def _conjugate(self, slope: Held) -> Conjugate:
        found = self.place.ask(("conjugate_facts", slope))[0]
        limit, size, count = min(each[0] for each in found), sum(each[1] for each in found), sum(e[3] for e in found)
        if all(each[2] is not None for each in found):
            linear, bend = (float(sum(part)) for part in zip(*(each[2] for each in found), strict=True))
            return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, limit, size, (linear, bend), count)

        def both(c: float) -> Array:
            return np.asarray(self.place.total("conjugate_at", slope, c))

        return Conjugate(lambda c: float(both(c)[0]), limit, size, count=count, sizes=lambda c: float(both(c)[1]))

    # -------------------------------------------------------------------------------------------------------- facts

    @cached_property
    def coverage(self) -> tuple[Array, Array] | None:
        rows, columns = self._of("rows"), self._of("columns")
        return None if any(each is None for each in rows) else (np.concatenate(rows), reduce(add, columns))

    @property
    def bend(self) -> float | None:
        bends = self._of("bend")
        return None if any(each is None for each in bends) else max(bends)

    @property
    def steepest(self) -> float:
        return float(reduce(np.hypot, self._of("steepest")))

    @property
    def lower(self) -> float | None:
        lowers = self._of("lower")
        return None if any(each is None for each in lowers) else float(sum(lowers))

    def rounding(self, value: float, slope: Held, size: float, terms: int) -> float:
        """As on one machine: a sum of positive terms, and an image that is known up to rounding."""
        eps = float(np.finfo(np.float64).eps)
        blur, bend = eps * (terms + 8) * size * self.reach, self.bend or 0.0
        steepest = self.steepest * blur if blur > 0.0 else 0.0
        moved = min(self.images.norm(slope) * blur + 0.5 * bend * blur * blur, steepest)
        return of_sum(self.entries) * abs(value) + moved + self.entries * VANISHING * max(1.0, bend or 1.0)

    def parts(self) -> tuple[Any, ...]:
        return (f"sharded {self.fit}", *self._of("words")[0], *self._of("parts"))

    def __repr__(self) -> str:
        m, n = self.shape
        return f"ShardedFit({self.entries} of {m * n} entries of a {m}×{n} table in {len(self.place.shards)} shards)"


def shard_rows(fit: Fit, client: Any, cuts: Sequence[int]) -> ShardedFit:
    """An ordinary fit of a table, its rows shared out at ``cuts`` (0 … m)."""
    entries = fit.measurements
    if not isinstance(entries, Entries):
        raise TypeError(f"shard: only fits of a table's entries are shared out, not of {type(entries).__name__}.")
    pattern, starts = entries.pattern, entries.pattern.indptr.astype(np.int64)
    shards = []
    for first, last in pairwise(cuts):
        low, high = int(starts[first]), int(starts[last])
        some = slice(low, high)
        rows, cols = pattern.rows[some].astype(np.int64) - first, pattern.indices[some].astype(np.int64)
        if low == high:
            raise ValueError(f"shard: rows {first} to {last} have no observation; choose other cuts.")
        part = Entries(rows, cols, (last - first, fit.shape[1]))
        weights = None if fit.weights is None else fit.weights[some]
        own = Fit(part, fit.targets[some], fit.loss, weights)
        shards.append(Shard(own, slice(first, last), some))
    place = ClusterPlace(client, client.scatter(shards, hash=False), cuts, fit.shape[1])
    return ShardedFit(place, type(fit).__name__, pattern.size, fit.dtype)
