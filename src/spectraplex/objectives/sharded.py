"""A fit whose rows are shared out over a cluster: f(Z) = Σ over shards of their own fits of their own rows.

A shard is an ordinary ``Fit`` of some rows of the table, so every loss of a table works here. Values, pairings and the
product with the right side of one point come back in one round (places/dask.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, cast

import numpy as np

from ..fingerprint import fingerprint
from ..losses.curves import Curve, Quadratic, Smoothly
from ..losses.protocol import Conjugate
from ..measurements.entries import Entries
from ..places.dask import ClusterPlace
from ..places.numpy import EPS, Array
from ..places.rounds import Held, Left
from ..places.tall import Tall
from ..rounding import plain
from .facts import facts_of
from .fit import Fit
from .shard import Shard
from .table_parts import TABLE, table_parts


class ShardImages:
    """Verbs on images and slopes that lie on the workers."""

    def __init__(self, place: ClusterPlace, count: int, dtype: str) -> None:
        self.place, self._count, self._dtype = place, count, dtype

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
        kind = np.dtype(self._dtype)
        return fingerprint(f"{kind.str}{(self._count,)}", self.place.total("mark_entries", z))

    def pack(self, z: Held) -> Tall:
        return Tall(self.place, z, "entries", (self._count,), self._dtype)

    def unpack(self, array: Any) -> Any:
        if isinstance(array, Tall) and array.place is self.place:
            return array.held
        return self.place.make("given", self.place.share_out(array, "entries"))


@dataclass(frozen=True, eq=False)
class ShardedOperator:
    """𝒜*(slope): left products stay on the workers, right ones are sums over all shards."""

    place: ClusterPlace
    slope: Held
    shape: tuple[int, int]
    dtype: str
    hermitian: bool = False

    def noise(self) -> float:
        return 0.0

    def matmat(self, V: Array) -> Left:
        _, known, product, _ = self.slope.extra.get("products", (None,) * 4)
        if known is not None and _same(known, V):
            return cast(Left, product)
        kind = np.result_type(np.dtype(self.dtype), V.dtype, np.float64)
        return self.place.left("product", self.slope, np.ascontiguousarray(V), width=V.shape[1], dtype=kind)

    def rmatmat(self, U: Left) -> Array:
        known, _, _, product = self.slope.extra.get("products", (None,) * 4)
        return np.asarray(product if known is U else self.place.total("product_back", self.slope, U))

    def scores(self, P: Left, Q: Array, count: int) -> Array:
        P, Q = self.place.columns(P, slice(0, count)), Q[:, :count]
        return np.asarray(self.place.total("scored", self.slope, P, Q, count))

    def dense(self) -> Array:
        return np.concatenate(self.place.ask(("whole", self.slope))[0], axis=0)


def _same(A: Array, B: Array) -> bool:
    """Whether two arrays are views of the same numbers."""
    one, two = A.__array_interface__, B.__array_interface__
    return A is B or all(one[name] == two[name] for name in ("data", "shape", "strides", "typestr"))


class ShardedFit:
    """The sum of the fits of all shards; see ``Fit``."""

    called = TABLE

    def __init__(self, place: ClusterPlace, fit: str, entries: int, dtype: str, columns: Any = None) -> None:
        self.place, self.fit, self.entries, self.dtype = place, fit, entries, dtype
        self.columns = columns  # labels, where there are any
        self.shape = (place.m, place.n)
        self.images = ShardImages(place, entries, dtype)
        self.single, self.dense, self.held, self.summed = True, False, 0, 0

    @property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖: an image holds entries of X."""
        return 1.0

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
        rides = U.extra.pop("rides", None)  # once: it holds on to what it asks about
        if rides is not None:
            z.extra["rides"] = rides, U, V
        return z

    def combine(self, a: float, z: Held, b: float, w: Held) -> Any:
        return self.place.make("combine", a, z, b, w)

    def evaluate(self, z: Held) -> tuple[float, Held]:
        """One round: the value and ⟨slope, z⟩; for a descent both products, and what it needs to know of them."""
        both = self.place.make("slope_of", z)
        value, slope = self.place.make("first_of", both), self.place.make("second_of", both)
        asked, tell = self.asked_of(slope, z)
        values, *answers = self.place.ask(("itself", value), *asked)
        slope.extra["value"] = value
        tell(answers)
        return float(sum(values)), slope

    def asked_of(self, slope: Held, z: Held) -> tuple[list[tuple[Any, ...]], Callable[[list[list[Any]]], None]]:
        """What will be asked of a slope, to be asked in the round that makes it; and who is told the answers."""
        asked: list[tuple[Any, ...]] = [("paired", slope, z)]
        rides, U, V = z.extra.pop("rides", (None, None, None))
        product = None if rides is None else self.gradient(slope).matmat(V)
        if product is not None:
            asked += [("product_once", slope, U), rides.question(product)]

        def tell(answers: list[list[Any]]) -> None:
            slope.pairs[z] = float(sum(answers[0]))
            if product is not None:
                slope.extra["products"] = (U, V, product, reduce(add, answers[1]))
                product.extra[rides.name] = answers[2]

        return asked, tell

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
        if z not in slope.pairs:
            slope.pairs[z] = float(self.place.total("paired", slope, z))
        return slope.pairs[z]

    def gradient(self, slope: Held) -> ShardedOperator:
        return ShardedOperator(self.place, slope, self.shape, self.dtype)

    @property
    def conjugate(self) -> Any:
        return self._conjugate if all(self._of("conjugate")) else None

    def _conjugate(self, slope: Held) -> Conjugate:
        limits, sizes, quadratics, counts, sized = zip(*self.place.ask(("conjugate_facts", slope))[0], strict=True)
        limit, size, count = min(limits), sum(sizes), sum(counts)
        if None not in quadratics:
            linear, bend = (float(sum(part)) for part in zip(*quadratics, strict=True))
            return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, limit, size, (linear, bend), count)

        def asked(name: str) -> Callable[[float], float]:
            return lambda c: float(self.place.total(name, slope, c))

        more = asked("conjugate_sizes") if all(sized) else None
        return Conjugate(asked("conjugate_at"), limit, size, count=count, sizes=more)

    # -------------------------------------------------------------------------------------------------------- facts

    @cached_property
    def coverage(self) -> tuple[Array, Array] | None:
        told = self._of("coverage")
        if any(each is None for each in told):
            return None
        rows, columns = zip(*told, strict=True)
        return np.concatenate(rows), reduce(add, columns)

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
        """As on one machine; where terms of the loss may cancel, every shard says how large its own are."""
        if not any(self._of("cancels")):
            return plain(facts_of(self), value, slope, size, terms)
        own = float(self.place.total("rounding_of", slope.extra.get("value", value), slope, size, terms))
        return own + EPS * len(self.place.shards) * abs(value)

    def require_hermitian(self) -> None:
        """Called at the door by a domain of Hermitian matrices: both of its sides would be shared out."""
        raise ValueError(
            "from_dask: rows are shared out and columns are not; use NuclearBall, or Penalized without psd."
        )

    def parts(self) -> tuple[Any, ...]:
        return table_parts(self.shape, self._of("kind")[0], self.entries, reduce(add, self._of("mark")))

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
    place = ClusterPlace(client, client.scatter(shards, hash=False), *fit.shape)
    return ShardedFit(place, type(fit).__name__, pattern.size, fit.dtype)
