"""Intercepts: observed entries explained by row and column intercepts and a scaled low-rank part, fitted together.

    f(W) = min over b, c of  Σ wₑ ℓ(offset + bᵢ + cⱼ + sᵢtⱼWᵢⱼ; vₑ) + ½ρ‖b‖² + ½κ‖c‖²

With ``features``, bᵢ + xᵢᵀα stands in place of bᵢ, with ½ν‖α‖² beside, and the same for columns (sides.py).

The intercepts are minimised inside, so f is a convex function of W alone and the problem on the nuclear-norm ball is
the joint one: any gap certified for it is a gap in W, b and c together. Its conjugate is that of the loss and two
squares, f*(y) = ℓ*(y) + ‖row sums of y‖²/2ρ + ‖column sums of y‖²/2κ, and *any* y gives a true bound, so nothing hangs
on how finely the inner problem was solved: what is left there is part of the gap.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np

from ..losses.curves import Curve, Quadratic, Smoothly
from ..losses.protocol import Conjugate, Loss, LossFacts
from ..losses.separable import steepest
from ..losses.squared import Squared
from ..matrices.operators import Sparse
from ..places.marks import pattern_mark, rows_mark
from ..places.numpy import EPS, Array, blend, inner
from ..places.pattern import Pattern
from ..rounding import VANISHING, moved, of_image, of_sum
from .facts import facts_of
from .inner import SLACK, Inner, InnerProblem, Observed
from .sides import SideFeatures
from .table_parts import table_kind, table_parts


class Intercepts:
    """Observations of an m × n table, a loss, ridges for the intercepts, and scales of rows and columns.

    Parameters
    ----------
    rows, cols : positions, counted from zero and known to be inside ``shape``; a pair may come more than once, and then
        counts as often.
    values : the observed numbers (±1 for the logistic loss).
    shape : (m, n).
    loss : one of ``spectraplex.losses``.
    weights : positive, one per observation, or None.
    offset : a constant that every prediction begins with.
    ridges : (ρ, κ), both positive, or None for no intercepts at all.
    features : what is known of rows and of columns, with the ridges of its weights, or None; ``inner`` then gives whole
        effects, intercepts and linear terms together.
    scales : (s, t), positive, one per row and one per column, or None.
    slack : the share of a value that the intercepts may leave it above the least; more of it saves time where a rough
        answer will do.
    recycled : whether intercepts begin with what was learned from earlier ones. It saves time, and the last bits of a
        value then depend on what was evaluated before: nothing that others are to verify is written down by it.
    """

    inexact = True  # a value is a minimum over the intercepts, found to some accuracy: never less than it should be
    single = True  # factors may come in single precision: every sum is in double
    dtype = "float64"

    def __init__(
        self,
        rows: Array,
        cols: Array,
        values: Array,
        shape: tuple[int, int],
        loss: Loss,
        *,
        weights: Array | None = None,
        offset: float = 0.0,
        ridges: tuple[float, float] | None = None,
        features: SideFeatures | None = None,
        scales: tuple[Array, Array] | None = None,
        slack: float = SLACK,
        recycled: bool = False,
    ) -> None:
        self.slack, self.features, self.recycled = slack, features, recycled
        self._last: tuple[ref[Array], float, ref[Array]] | None = None  # the image seen last, its value and slope
        self.shape, self.loss, self.offset, self.ridges = shape, loss, offset, ridges
        key = rows.astype(np.int64) * shape[1] + cols
        order = np.arange(key.size) if (np.diff(key) >= 0).all() else np.argsort(key, kind="stable")
        key = key[order]
        fresh = np.ones(key.size, bool)
        fresh[1:] = key[1:] != key[:-1]
        rows, cols = rows[order], cols[order]
        self.order = order  # entry e of an image is observation order[e] of the user
        #: the place of every observation in the pattern, or None where no pair comes twice
        self.which = None if fresh.all() else np.cumsum(fresh) - 1
        self.pattern = Pattern.from_sorted(rows[fresh], cols[fresh], shape)
        self.observed = Observed(self.pattern, self.which)
        self.values = values[order]
        self.weights = None if weights is None else weights[order]
        self.scales = scales
        self.scale = None if scales is None else scales[0][rows[fresh]] * scales[1][cols[fresh]]

    # -------------------------------------------------------------------------------------------- f(W) = ℓ(𝒜(W))

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        """sᵢtⱼWᵢⱼ at every observation."""
        entries = self.pattern.sample(U, V, s)
        if self.scale is not None:
            entries *= self.scale
        return entries if self.which is None else entries[self.which]

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        found = self.inner(z)
        self._last = (ref(z), found.value, ref(found.slope))
        return found.value, found.slope

    def _known(self, z: Array) -> tuple[float, Array]:
        """Value and slope of an image: those of the last one if it is that and still there."""
        if self._last is not None and self._last[0]() is z:
            slope = self._last[2]()
            if slope is not None:
                return self._last[1], slope
        return self.evaluate(z)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": None}

    def along(self, z: Array, dz: Array) -> Curve:
        if isinstance(self.loss, Squared):
            value, slope = self._known(z)
            beside = self.beside
            flat = beside.squares(dz, None, 0.0) if beside.plain else beside.solve(dz, np.zeros_like(self.values))
            bend = flat.value
            return Quadratic(value, inner(slope, dz), 2.0 * bend)

        def at(size: float) -> tuple[float, float]:
            value, slope = self.evaluate(blend(1.0, z, size, dz))
            return value, inner(slope, dz)

        return Smoothly(at)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Sparse:
        entries = self.observed.entries(slope)
        return Sparse(self.pattern, entries if self.scale is None else entries * self.scale)

    def conjugate(self, slope: Array) -> Conjugate:
        """ℓ*(c·y) − c·offset·Σy + c²(‖row sums‖²/2ρ + ‖column sums‖²/2κ), and what features add to the squares."""
        own = self.loss.conjugate(slope, self.values, self.weights)
        shift, extra, terms = -self.offset * float(slope.sum()), 0.0, 0.0
        if self.ridges is not None:
            p, q = self.observed.sums(self.observed.entries(slope))
            row, col = self.beside.sides
            extra, terms = row.dual(p) + col.dual(q), row.terms(p) + col.terms(q)
        size = own.size + abs(self.offset) * float(np.abs(slope).sum()) + 0.5 * terms
        quadratic = own.quadratic and (own.quadratic[0] + shift, own.quadratic[1] + extra)

        def at(c: float) -> float:
            return own.at(c) + c * shift + 0.5 * c * c * extra

        return replace(own, at=at, size=size, quadratic=quadratic)

    @cached_property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖: the largest scale, as often as a pair comes."""
        often = 1 if self.which is None else int(np.bincount(self.which).max())
        return (1.0 if self.scale is None else float(self.scale.max(initial=0.0))) * float(np.sqrt(often))

    @property
    def bend(self) -> float:
        """The largest curvature of the loss of an image."""
        return LossFacts.of(self.loss).curvature * (1.0 if self.weights is None else float(self.weights.max()))

    def rounding(self, value: float, slope: Array, size: float, terms: int) -> float:
        """That of the loss, of offset and intercepts added to the image, and what the inner problem is left with."""
        return rounding_of(self, value, slope, size, terms, self._sizes, self.slack)

    @cached_property
    def steepest(self) -> float:
        """The largest norm of a slope."""
        return steepest(LossFacts.of(self.loss).steepest, self.values.size, self.weights)

    @property
    def largest(self) -> float:
        """The size of the largest value."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def squares(self) -> float:
        """The size of the values, as a squared loss sees it."""
        return float(np.sum((1.0 if self.weights is None else self.weights) * self.values**2))

    @cached_property
    def floor(self) -> float:
        """What rounding of the predictions makes of a value of zero."""
        return 0.5 * self.bend * (8 * EPS * self._sizes) ** 2

    @cached_property
    def _sizes(self) -> float:
        """About the norm of what is added up: offset, intercepts and observed values."""
        return float(np.sqrt(self.values.size)) * (abs(self.offset) + float(np.abs(self.values).max(initial=0.0)))

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        marks = [self.mark(self.weights)]
        marks += [] if self.scales is None else [rows_mark(side) for side in self.scales]
        marks += [] if self.features is None else self.features.marks()
        return table_parts(self.shape, self.kind(self.weights is not None), self.values.size, *marks)

    def kind(self, weighted: bool) -> str:
        """The loss, the settings, and what is observed."""
        return table_kind([self.loss, float(self.offset), self.ridges], self.dtype, weighted)

    def mark(self, weights: Array | None, first_row: int = 0) -> Array:
        """Of the observations, whose rows lie behind others; see places/marks.py."""
        return pattern_mark(self.pattern, self.values, weights, first_row, self.which)

    # ------------------------------------------------------------------------------------------ the inner problem

    def inner(self, z: Array) -> Inner:
        """The best intercepts beside an image."""
        if self.beside.plain:
            return self.beside.squares(z, self.values, self.offset)
        return self.beside.solve(z + self.offset, self.values)

    @cached_property
    def beside(self) -> InnerProblem:
        """The problem of the intercepts alone."""
        return InnerProblem(
            self.observed,
            self.loss,
            self.weights,
            self.ridges,
            self.floor,
            self.slack,
            recycled=self.recycled,
            features=self.features,
        )

    # ------------------------------------------------------------------------------------------------- constants

    @cached_property
    def _bends(self) -> Array:
        """The largest curvature at every entry of the pattern."""
        entries = self.observed.entries(self.observed.ones() if self.weights is None else self.weights)
        return LossFacts.of(self.loss).curvature * (entries if self.scale is None else entries * self.scale**2)

    @cached_property
    def smoothness(self) -> float:
        """Of the loss without the intercepts, which only flatten it."""
        return float(self._bends.max())

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """Curvature of the loss at its largest, summed over every row, and over every column."""
        return self.observed.sums(self._bends)

    def __repr__(self) -> str:
        m, n = self.shape
        ridges = "without intercepts" if self.ridges is None else f"ridges {self.ridges[0]:g} and {self.ridges[1]:g}"
        scaled = "" if self.scales is None else ", scaled"
        what = f"{self.values.size} observations of a {m}×{n} table, {self.loss!r}"
        return f"Intercepts({what}, offset {self.offset!r}, {ridges}{scaled})"


def rounding_of(
    objective: Any, value: float, slope: Array, size: float, terms: int, sizes: float, slack: float
) -> float:
    """Of a value beside intercepts: ``sizes`` is the norm of what is added to images, ``slack`` what is left."""
    facts = facts_of(objective)
    blur = of_image(facts, size, terms) + 8 * EPS * sizes
    summed = of_sum(slope.size) * abs(value) + slope.size * VANISHING
    return summed + moved(facts, slope, blur) + 2 * slack * abs(value)
