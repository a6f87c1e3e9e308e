"""Intercepts of a table whose rows are shared out: rows are eliminated on the workers, columns are solved for here.

    f(W) = min over c of  Σ over shards of [min over their b of their loss + ½ρ‖b‖²] + ½κ‖c‖²

For given column intercepts c the best row intercepts are found on each worker (shard_intercepts.py), and one round
brings the value and its derivative in c. Newton's method on c, by conjugate gradients of one round each, begins at the
c of the evaluation before: close by, most evaluations take a few rounds. See ``Intercepts`` for the whole function.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from ..losses.curves import Curve, Quadratic, Smoothly
from ..losses.protocol import Conjugate, Loss
from ..losses.squared import Squared
from ..places.dask import ClusterPlace
from ..places.marks import rows_mark
from ..places.numpy import EPS, Array
from ..places.rounds import Held, Left
from ..rounding import VANISHING, moved, of_image, of_sum
from . import shard_intercepts as _operations  # noqa: F401 (they are known then)
from .facts import facts_of
from .inner import SLACK
from .recycled import Recycled, Whole
from .sharded import ShardedFit
from .table_parts import table_parts

_FEW = 512  # columns up to which the curvature between them comes here as a matrix, in one round
_MOST = 200  # Newton steps: never reached but at rounding level
_TRIALS = 30  # halvings of a Newton step


@dataclass(frozen=True, eq=False)
class FarInner:
    """The intercepts that are best beside an image: those of rows on the workers, as a column of the left side."""

    rows: Left
    cols: Array
    value: float
    slope: Held


@dataclass(frozen=True, eq=False)
class _At:
    """What is known beside an image at some column intercepts."""

    found: Held
    slope: Held
    columns: Array
    value: float
    turn: Array  # the derivative in the columns
    slack: float  # what is still to be gained, at most
    bends: Held | None = None  # the second derivative, where it is not the same everywhere
    whole: Array | None = None  # and what it says of the columns, where those are few


class ShardedIntercepts(ShardedFit):
    """``Intercepts`` whose shards each are an ``Intercepts`` of their own rows; see there for the parameters."""

    called = "Intercepts"  # fingerprints are those of one machine
    inexact = True  # a value is a minimum over the intercepts, found to some accuracy: never less than it should be

    def __init__(
        self,
        place: ClusterPlace,
        entries: int,
        loss: Loss,
        offset: float,
        ridges: tuple[float, float] | None,
        columns: Any = None,
        scales: Array | None = None,
    ) -> None:
        super().__init__(place, "Intercepts", entries, "float64", columns)
        self.loss, self.offset, self.ridges = loss, offset, ridges
        self.column_scales = scales
        self._warm = np.zeros(self.shape[1])  # the column intercepts of the last evaluation

    @cached_property
    def _told(self) -> list[dict[str, Any]]:
        return [dict(each) for each in self.place.ask(("told_of_table",))[0]]

    # -------------------------------------------------------------------------------------------- f(W) = ℓ(𝒜(W))

    def evaluate(self, z: Held) -> tuple[float, Held]:
        found = self.inner(z)
        if z not in found.slope.pairs:
            asked, tell = self.asked_of(found.slope, z)
            tell(self.place.ask(*asked))
        return found.value, found.slope

    def inner(self, z: Held) -> FarInner:
        """The best intercepts beside an image; known where its slope is still held."""
        earlier = z.extra.get("slope")
        slope = None if earlier is None else earlier()
        if slope is None:
            at = self._solved(z, self._warm, True)
            self._warm, slope = at.columns, at.slope
            rows = self.place.left("beside_rows", at.found, width=1, dtype=np.float64)
            slope.extra["beside"] = (rows, at.columns, at.value)
            z.extra["slope"] = weakref.ref(slope)
        rows, columns, value = slope.extra["beside"]
        return FarInner(rows, columns, value, slope)

    def along(self, z: Held, dz: Held) -> Curve:
        if isinstance(self.loss, Squared):
            value, slope = self.evaluate(z)
            bend = self._solved(dz, np.zeros(self.shape[1]), False).value
            return Quadratic(value, self.pair(slope, dz), 2.0 * bend)

        def at(size: float) -> tuple[float, float]:
            value, slope = self.evaluate(self.combine(1.0, z, size, dz))
            return value, self.pair(slope, dz)

        return Smoothly(at)

    def _conjugate(self, slope: Held) -> Conjugate:
        limits, sizes, quadratics, counts, totals = zip(*self.place.ask(("conjugate_of_table", slope))[0], strict=True)
        total = reduce(add, totals)
        extra = 0.0 if self.ridges is None else float(total @ total) / self.ridges[1]
        limit, size, count = min(limits), sum(sizes) + 0.5 * extra, sum(counts)
        if None not in quadratics:
            linear, bend = (float(sum(part)) for part in zip(*quadratics, strict=True))
            bend += extra
            return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, limit, size, (linear, bend), count)

        def at(c: float) -> float:
            return float(self.place.total("conjugate_of_table_at", slope, c)) + 0.5 * c * c * extra

        return Conjugate(at, limit, size, count=count)

    @property
    def conjugate(self) -> Any:
        return self._conjugate

    # ------------------------------------------------------------------------------------------ the inner problem

    def _solved(self, z: Held, columns: Array, observed: bool) -> _At:
        at = self._at(z, columns, observed)
        if self.ridges is None:
            return at
        quadratic, floor = isinstance(self.loss, Squared), self._floor if observed else 0.0
        for _ in range(_MOST):
            if at.slack <= max(SLACK * abs(at.value), floor):
                break
            if quadratic:  # one step is the answer
                return self._at(z, at.columns - self._inverse.solve(at.turn, SLACK, at.value), observed, last=observed)
            curvature = self._curvature(at.bends) if at.whole is None else Whole(at.whole, self.ridges[1])
            step = curvature.solve(at.turn, 1e-4 * at.slack / abs(at.value), at.value)
            fall, size = float(at.turn @ step), 1.0
            for _ in range(_TRIALS):
                ahead = self._at(z, at.columns - size * step, observed)
                if ahead.value <= at.value - 1e-4 * size * fall:
                    break
                size *= 0.5
            done = not ahead.value < at.value - EPS * abs(at.value)  # at rounding level
            at = ahead
            if done:
                break
        return at

    def _at(self, z: Held, columns: Array, observed: bool, last: bool = False) -> _At:
        """One round: value and derivative at these column intercepts, the rows' at their best.

        ``last`` asks in the same round what will be asked of the slope.
        """
        place = self.place
        found = place.make("beside", z, columns, observed)
        slope = place.make("beside_slope", found)
        more, tell = self.asked_of(slope, z) if last else ([], None)
        bends, few = None, columns.size <= _FEW
        if self.ridges is not None and not isinstance(self.loss, Squared):
            bends = place.make("bends_of", z, found, columns)
            more = [("bent_whole", bends)] if few else more
        numbers, totals, *answers = place.ask(("beside_numbers", found), ("beside_total", found), *more)
        if tell is not None:
            tell(answers)
        value, slack = (float(sum(part)) for part in zip(*numbers, strict=True))
        if self.ridges is None:
            return _At(found, slope, columns, value, np.zeros_like(columns), 0.0)
        kappa = self.ridges[1]
        turn = np.asarray(reduce(add, totals) + kappa * columns)
        slack += 0.5 * float(turn @ turn) / kappa
        value += 0.5 * kappa * float(columns @ columns)
        whole = reduce(add, answers[0]) if bends is not None and few else None
        return _At(found, slope, columns, value, turn, slack, bends, whole)

    def _curvature(self, bends: Held | None) -> Recycled:
        """S = C + κ − HᵀR⁻¹H, the curvature in the columns once the rows are eliminated."""
        assert self.ridges is not None
        diagonal = np.asarray(self.place.total("column_bends", bends)) + self.ridges[1]

        def times(v: Array) -> Array:
            return np.asarray(diagonal * v - self.place.total("bent", bends, v))

        return Recycled(times, diagonal, self.ridges[1])

    @cached_property
    def _inverse(self) -> Recycled | Whole:
        """Of a squared loss: the same wherever it is."""
        assert self.ridges is not None
        if self.shape[1] > _FEW:
            return self._curvature(None)
        return Whole(np.asarray(self.place.total("bent_whole", None)), self.ridges[1])

    # -------------------------------------------------------------------------------------------------------- facts

    @property
    def reach(self) -> float:
        return float(max(self._of("reach")))

    @property
    def smoothness(self) -> float:
        """Of the loss without the intercepts, which only flatten it."""
        return float(max(self._of("smoothness")))

    lower = 0.0  # no loss of a table is negative, and no ridge

    @cached_property
    def _sizes(self) -> float:
        """About the norm of what is added up: offset, intercepts and observed values."""
        return float(np.sqrt(self.entries)) * (abs(self.offset) + self.largest)

    @cached_property
    def _floor(self) -> float:
        """What rounding of the predictions makes of a value of zero."""
        return 0.5 * float(self.bend or 0.0) * (8 * EPS * self._sizes) ** 2

    @property
    def squares(self) -> float:
        """The size of the values, as a squared loss sees it."""
        return float(sum(self._of("squares")))

    @property
    def largest(self) -> float:
        """The size of the largest value."""
        return float(max(self._of("largest")))

    def rounding(self, value: float, slope: Held, size: float, terms: int) -> float:
        """That of the loss, of offset and intercepts added to the image, and what the inner problem is left with."""
        facts = facts_of(self)
        blur = of_image(facts, size, terms) + 8 * EPS * self._sizes
        summed = of_sum(self.entries) * abs(value) + self.entries * VANISHING
        return summed + moved(facts, slope, blur) + 2 * SLACK * abs(value)

    def parts(self) -> tuple[Any, ...]:
        """As ``Intercepts`` says it of the whole table."""
        weighted = int(any(self._of("weighted")))
        marks = [reduce(add, (each[weighted] for each in self._of("marks")))]
        if self.column_scales is not None:
            marks += [reduce(add, self._of("scales")), rows_mark(self.column_scales)]
        return table_parts(self.shape, self._of("kinds")[0][weighted], self.entries, *marks)

    def __repr__(self) -> str:
        m, n = self.shape
        ridges = "without intercepts" if self.ridges is None else f"ridges {self.ridges[0]:g} and {self.ridges[1]:g}"
        what = f"{self.entries} observations of a {m}×{n} table in {len(self.place.shards)} shards"
        return f"ShardedIntercepts({what}, offset {self.offset!r}, {ridges})"
