"""AllCells: some entries of a table are seen, and every cell, seen or not, is drawn towards zero.

    f(W) = ½ Σ_seen wₑ (σₑWₑ − bₑ)² + ½ Σ_all (aᵢdⱼWᵢⱼ)²,   σₑ = sᵢtⱼ

For clicks, plays and purchases: a seen pair should be one, and a pair that nobody saw is more likely zero than not. The
second sum is about all m·n cells and costs only products of factors: with W = U diag(s) Vᵀ it is sᵀ(UᵀA²U ∘ VᵀD²V)s,
and its gradient A²WD² has the rank of W. Nothing m × n is ever formed. Both sums are squares, so the conjugate is

    f*(y, S) = Σ (yₑbₑ + yₑ²/2wₑ) + ½‖S‖²,   with the gradient Σ σₑyₑeᵢeⱼᵀ + A S D,

and any (y, S) gives a true lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..losses.curves import Curve, Quadratic
from ..losses.protocol import Conjugate
from ..losses.squared import Squared
from ..matrices.operators import LowRank, Sparse, Sum
from ..places.here import HERE
from ..places.marks import pattern_mark, rows_mark
from ..places.numpy import EPS, Array, blend, inner
from ..places.pattern import Pattern
from ..rounding import VANISHING, norm, of_sum
from .distance import Factored
from .table_parts import table_kind, table_parts

_SERIAL = iter(range(2**62))  # one number for every block that was measured


@dataclass(frozen=True, eq=False)
class Covered(Factored):
    """The image of W: its factors, ``square`` = ‖AWD‖² carried along, and σₑWₑ at the seen entries.

    The columns of U and V lie in blocks, each as it was measured once: ``marks`` names them, ``widths`` counts their
    columns. A sum of two images adds the weights of blocks that both have, so its columns do not double.
    """

    entries: Array
    marks: Array
    widths: Array


@dataclass(frozen=True, eq=False)
class CoveredSlope(Factored):
    """The slope at W: that of the seen entries, and W itself for that of all cells."""

    entries: Array


class AllCells:
    """The function above.

    Parameters
    ----------
    rows, cols : seen positions, sorted by row, then column, each once and inside ``shape``.
    targets, weights : b and w, one per seen entry; weights are positive.
    shape : (m, n).
    everywhere : (a, d), positive, one per row and one per column: the weight of a cell is (aᵢdⱼ)².
    scales : (s, t), positive, one per row and one per column, or None for ones.
    """

    dtype = "float64"
    single = True  # factors may come in single precision: every sum is in double

    def __init__(
        self,
        rows: Array,
        cols: Array,
        targets: Array,
        weights: Array,
        shape: tuple[int, int],
        everywhere: tuple[Array, Array],
        scales: tuple[Array, Array] | None = None,
    ) -> None:
        self.shape, self.targets, self.weights = shape, targets, weights
        self.pattern = Pattern.from_sorted(rows, cols, shape)
        self.everywhere, self.scales = everywhere, scales
        self.scale = None if scales is None else scales[0][rows] * scales[1][cols]
        self._place = HERE  # on a device it is the place there
        self._squares = (everywhere[0][:, None] ** 2, everywhere[1][:, None] ** 2)

    # -------------------------------------------------------------------------------------------- f(W) = ℓ(𝒜(W))

    def measure(self, U: Array, s: Array, V: Array) -> Covered:
        entries = self.pattern.sample(U, V, s)
        if self.scale is not None:
            entries *= self.scale
        U, V = U.astype(np.float64), V.astype(np.float64)  # copies: a descent goes on writing to its block
        square = max(self._cross(U, s, V, U, s, V), 0.0)
        return Covered(U, s, V, square, 0.0, entries, np.array([next(_SERIAL)]), np.array([s.size]))

    def combine(self, a: float, z: Any, b: float, w: Any) -> Any:
        square = max(a * a * z.square + 2.0 * a * b * self._inner(z, w) + b * b * w.square, 0.0)
        if isinstance(z, CoveredSlope):  # a path mixes dual points
            U, V = np.concatenate([z.U, w.U], axis=1), np.concatenate([z.V, w.V], axis=1)
            entries = blend(a, z.entries, b, w.entries)
            return CoveredSlope(U, np.concatenate([a * z.s, b * w.s]), V, square, 0.0, entries)
        s, new, begins = a * z.s, np.ones(w.marks.size, bool), np.concatenate([[0], np.cumsum(z.widths)])
        ends = np.cumsum(w.widths)
        for k, mark in enumerate(w.marks):
            held = np.flatnonzero(z.marks == mark)
            if held.size:
                new[k] = False
                first, width = int(begins[held[0]]), int(w.widths[k])
                s[first : first + width] += b * w.s[ends[k] - width : ends[k]]
        which = np.repeat(new, w.widths)
        U, V = z.U, z.V
        if which.any():
            U, V = np.concatenate([U, w.U[:, which]], axis=1), np.concatenate([V, w.V[:, which]], axis=1)
            s = np.concatenate([s, b * w.s[which]])
        marks, widths = np.concatenate([z.marks, w.marks[new]]), np.concatenate([z.widths, w.widths[new]])
        return Covered(U, s, V, square, 0.0, blend(a, z.entries, b, w.entries), marks, widths)

    def evaluate(self, z: Covered) -> tuple[float, CoveredSlope]:
        value, slope = Squared().evaluate(z.entries, self.targets, self.weights)
        return float(value) + 0.5 * z.square, CoveredSlope(z.U, z.s, z.V, z.square, 0.0, slope)

    def along(self, z: Covered, dz: Covered) -> Curve:
        value, slope = self.evaluate(z)
        bend = inner(dz.entries, self.weights * dz.entries) + dz.square
        return Quadratic(value, self.pair(slope, dz), bend)

    def pair(self, slope: CoveredSlope, z: Covered) -> float:
        return inner(slope.entries, z.entries) + self._inner(slope, z)

    def gradient(self, slope: CoveredSlope) -> Sum:
        A, D = self._squares
        entries = slope.entries if self.scale is None else slope.entries * self.scale
        low_rank = LowRank(A * slope.U, slope.s, D * slope.V, place=self._place)
        return Sum((1.0, 1.0), (Sparse(self.pattern, entries), low_rank), self._place)

    def conjugate(self, slope: CoveredSlope) -> Conjugate:
        """c·Σyb + ½c²(Σy²/w + ‖AWD‖²); the last one afresh, as what was carried along has drifted."""
        linear, bend = inner(slope.entries, self.targets), inner(slope.entries, slope.entries / self.weights)
        square, size = self._cross(slope.U, slope.s, slope.V, slope.U, slope.s, slope.V), self._size(slope)
        bend += max(square, 0.0)
        sizes = norm(slope.entries) * norm(self.targets) + 0.5 * bend + size * size
        count = slope.entries.size + sum(self.shape) + 2 * slope.s.size
        return Conjugate(lambda c: c * linear + 0.5 * c * c * bend, np.inf, sizes, (linear, bend), count)

    def _inner(self, z: Factored, w: Factored) -> float:
        """⟨AZD, AWD⟩."""
        if z.U is w.U and z.V is w.V and z.s is w.s:
            return z.square
        return self._cross(z.U, z.s, z.V, w.U, w.s, w.V)

    def _cross(self, U: Array, s: Array, V: Array, P: Array, t: Array, Q: Array) -> float:
        A, D = self._squares
        return float(s @ ((U.T @ (A * P)) * (V.T @ (D * Q))) @ t)

    # ------------------------------------------------------------------------------------------------- constants

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        kind = "all cells, " + table_kind(Squared(), "float64", True)
        mark = pattern_mark(self.pattern, self.targets, self.weights, 0)
        sides = (*self.everywhere, *(self.scales or ()))
        return table_parts(self.shape, kind, self.targets.size, mark, *(rows_mark(side) for side in sides))

    @cached_property
    def _heaviest(self) -> float:
        return float(self.everywhere[0].max() * self.everywhere[1].max())

    @cached_property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖: an image holds σₑWₑ at the seen entries and all of AWD."""
        seen = 1.0 if self.scale is None else float(self.scale.max())
        return float(np.hypot(seen, self._heaviest)) * (1 + 1e-9)

    @cached_property
    def bend(self) -> float:
        """The largest curvature of the loss of an image."""
        return max(float(self.weights.max()), 1.0)

    @cached_property
    def smoothness(self) -> float:
        """An upper bound: the largest curvature of a seen entry, and that of the heaviest cell."""
        each = self.weights if self.scale is None else self.weights * self.scale**2
        return float(each.max()) + self._heaviest**2

    @cached_property
    def strong_convexity(self) -> float:
        """At least the weight of the lightest cell."""
        return float(self.everywhere[0].min() * self.everywhere[1].min()) ** 2

    @property
    def summed(self) -> int:
        return sum(self.shape)

    lower = 0.0

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """Curvature summed over every row, and over every column."""
        (m, n), each = self.shape, self.weights if self.scale is None else self.weights * self.scale**2
        (a, d), (rows, cols) = (side**2 for side in self.everywhere), (self.pattern.rows, self.pattern.indices)
        seen = np.bincount(rows.astype(np.intp), each, m), np.bincount(cols.astype(np.intp), each, n)
        return seen[0] + a * d.sum(), seen[1] + d * a.sum()

    def rounding(self, value: float, slope: CoveredSlope, size: float, terms: int) -> float:
        """That of the seen entries, and of a square that is a sum of terms of either sign, as large as ``_size``²."""
        seen = 1.0 if self.scale is None else float(self.scale.max())
        blur, count = EPS * (terms + 8) * size * seen, slope.entries.size
        own = of_sum(count) * abs(value) + norm(slope.entries) * blur + 0.5 * self.bend * blur * blur
        whole = self._size(slope)
        return own + of_sum(sum(self.shape) + 2 * terms) * whole * whole + count * VANISHING * self.bend

    def _size(self, slope: Factored) -> float:
        """Σ|sₖ|‖Auₖ‖‖Dvₖ‖: its square is the sum of the sizes of all terms of ‖AWD‖²."""
        left, right = (
            np.sqrt(np.einsum("ik,ik->k", side, squares * side))
            for side, squares in zip((slope.U, slope.V), self._squares, strict=True)
        )
        return float(np.abs(slope.s) @ (left * right))

    def __repr__(self) -> str:
        (m, n), scaled = self.shape, "" if self.scales is None else ", scaled"
        return f"AllCells({self.pattern.size} seen of {m * n} cells of a {m}×{n} table{scaled})"
