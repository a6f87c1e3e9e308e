"""The inner problem of ``Intercepts``: the row and column intercepts that are best beside an image z,

    min over b, c of  Σ wₑ ℓ(zₑ + bᵢ + cⱼ; vₑ) + ½ρ‖b‖² + ½κ‖c‖²,

by Newton steps, each a linear system in the columns alone; a squared loss takes one. Where features are known, b and c
are the whole effects of rows and columns, and what holds them back is that of ``sides.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..losses.protocol import Loss
from ..losses.squared import Squared
from ..matrices.operators import Sparse
from ..places.numpy import EPS, Array, brought
from ..places.pattern import Pattern
from ..places.sums import side_sums, what_is_left
from .recycled import Recycled
from .sides import Diagonal, Side, SideFeatures, sides

SLACK = 1e-12  # share of the value that the inner problem may be off by: it blurs gaps by about its root
_MOST = 200  # conjugate-gradient iterations, or Newton steps: never reached but at rounding level
_TRIALS = 30  # halvings of a Newton step
_SLOW = 4  # directions in which rows and columns are confounded most, worked out once: 4 iterations instead of 7
_DISTINCT = 0.999999  # as confounded as a direction is taken to be, at most


@dataclass(frozen=True, eq=False)
class Inner:
    """The intercepts that are best beside an image, and what the loss says there."""

    rows: Array
    cols: Array
    value: float
    slope: Array


@dataclass(frozen=True, eq=False)
class Observed:
    """Observations of a table: where they are; ``which`` is the entry of each, or None where no entry comes twice."""

    pattern: Pattern
    which: Array | None

    @property
    def count(self) -> int:
        return self.pattern.size if self.which is None else self.which.size

    def ones(self) -> Array:
        return np.ones_like(self.pattern.indices, dtype=np.float64, shape=self.count)

    def entries(self, numbers: Array) -> Array:
        """Numbers of observations summed over the entries of the pattern."""
        return numbers if self.which is None else np.bincount(self.which, numbers, self.pattern.size)

    def sums(self, entries: Array) -> tuple[Array, Array]:
        """Over every row and every column."""
        return self.pattern.sums(entries)

    def spread(self, z: Array, b: Array, c: Array) -> Array:
        """z + bᵢ + cⱼ at every observation."""
        if self.which is None:
            return self.pattern.spread(z, b, c)
        none = np.zeros_like(z, shape=self.pattern.size)
        return z + self.pattern.spread(none, b, c)[self.which]


@dataclass(frozen=True, eq=False)
class InnerProblem:
    """Where the observations are, how a misfit is paid for, the ridges, and a value (``floor``) that counts as zero.

    ``slack`` is the share of the value that an answer may be off by; ``often`` says that many will be asked for.
    ``recycled`` begins each answer with the directions of earlier ones: the last bits then depend on what came before.
    """

    observed: Observed
    loss: Loss
    weights: Array | None
    ridges: tuple[float, float] | None
    floor: float
    slack: float = SLACK
    often: bool = True
    recycled: bool = False
    features: SideFeatures | None = None

    @property
    def plain(self) -> bool:
        """Whether all that is asked for are squares that count alike, of entries that come once."""
        return isinstance(self.loss, Squared) and self.weights is None and self.observed.which is None

    def squares(self, z: Array, values: Array | None, offset: float) -> Inner:
        """The same as ``solve`` of z + offset where all is ``plain``, in two passes; None stands for values of zero."""
        pattern, (m, n) = self.observed.pattern, self.observed.pattern.shape
        b, c, price = np.zeros_like(z, shape=m), np.zeros_like(z, shape=n), 0.0
        if self.ridges is not None:
            row, col = self.sides
            value, p, q = side_sums(pattern, z, values, offset)
            if 0.5 * (row.dual(p) + col.dual(q)) > max(self.slack * abs(value), self.floor):
                db, dc = self.curvature.solve(p, q, self.slack, value)
                b, c = -db, -dc
                price = row.price(b) + col.price(c)
        value, slope = what_is_left(pattern, z, values, offset, b, c)
        return Inner(b, c, value + price, slope)

    def solve(self, z: Array, values: Array) -> Inner:
        if self.plain:
            return self.squares(z, values, 0.0)
        observed, (m, n) = self.observed, self.observed.pattern.shape
        value, slope = self.loss.evaluate(z, values, self.weights)
        b, c = np.zeros_like(z, shape=m), np.zeros_like(z, shape=n)
        if self.ridges is None:
            return Inner(b, c, value, slope)
        row, col = self.sides
        quadratic = isinstance(self.loss, Squared)
        for _ in range(_MOST):
            p, q = observed.sums(observed.entries(slope))
            p += row.pull(b)
            q += col.pull(c)
            slack = 0.5 * (row.dual(p) + col.dual(q))
            if slack <= max(self.slack * abs(value), self.floor):
                break
            if quadratic:  # one step is the answer: exact in the rows, and finer than asked for in the columns
                db, dc = self.curvature.solve(p, q, self.slack, value)
            else:
                second = self.loss.second(observed.spread(z, b, c), values, self.weights)
                db, dc = Bends(observed, second, self.sides).solve(p, q, 1e-4 * slack / abs(value), value)
            fall, step = float(p @ db + q @ dc), 1.0
            for _ in range(_TRIALS):
                ahead = (b - step * db, c - step * dc)
                loss, slope = self.loss.evaluate(observed.spread(z, *ahead), values, self.weights)
                reached = loss + (row.price(ahead[0]) + col.price(ahead[1]))
                if quadratic or reached <= value - 1e-4 * step * fall:
                    break
                step *= 0.5
            done = quadratic or not reached < value - EPS * abs(value)  # or at rounding level
            (b, c), value = ahead, reached
            if done:
                break
        return Inner(b, c, value, slope)

    @cached_property
    def curvature(self) -> Bends:
        """Of a squared loss: the same wherever it is."""
        return Bends(self.observed, self.weights, self.sides, often=self.often, recycled=self.recycled)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """What holds the effects of rows and of columns back."""
        assert self.ridges is not None
        return sides(self.ridges, self.features)


class Bends:
    """The second derivative of the inner problem: [[R, H], [Hᵀ, C]] with R and C diagonal, solved on one side.

    With features R and C are blocks that are solved as readily; the attributes are then their diagonals.

    ``often`` says that many systems with it will be solved: then the few directions that conjugate gradients find last
    are worked out first.
    """

    def __init__(
        self,
        observed: Observed,
        bends: Array | None,
        held: tuple[Side, Side],
        often: bool = False,
        recycled: bool = False,
    ) -> None:
        self.pattern, self.held = observed.pattern, held
        entries = observed.entries(observed.ones() if bends is None else bends)
        p, q = observed.sums(entries)
        #: None where every entry of H is one: nothing to read
        self.H = None if bends is None and observed.which is None else entries
        self.row, self.col = held[0].block(p), held[1].block(q)
        self.R, self.C, self.kappa = self.row.diagonal, self.col.diagonal, held[1].ridge
        diagonal = isinstance(self.row, Diagonal) and isinstance(self.col, Diagonal)
        self.often, self.recycled = often and diagonal, recycled and diagonal

    def solve(self, p: Array, q: Array, share: float, value: float) -> tuple[Array, Array]:
        """(db, dc) with residual zero in the rows; that in the columns leaves ½·dual(residual) ≤ share·value.

        Conjugate gradients on what is left once the rows are eliminated; the preconditioner is C, and exact in the
        ``_slow`` directions. Few iterations are needed: most singular values of a scaled H are well below one. The
        value meant is the one reached at the end.
        """
        row, col, dual = self.row, self.col, self.held[1].dual
        first = row.solve(p)
        r = q - self.down(first)
        least = value - 0.5 * float(p @ first)  # what the rows alone will gain
        if self.recycled and isinstance(p, np.ndarray):
            x, left = self._kept.solved(np.concatenate([r, p]), share, least)
            return row.solve(left[r.size :]), x
        x = np.zeros_like(r)
        y = self._eased(r)
        d, ry = y, float(r @ y)
        for _ in range(_MOST):
            if dual(r) <= 2.0 * share * abs(least) or ry == 0.0:
                break
            Sd = col.times(d) - self.down(row.solve(self.across(d)))
            bend = float(d @ Sd)
            if not bend > 0.0:  # what is left is below what can be multiplied
                break
            size = ry / bend
            least -= 0.5 * size * ry
            x = x + size * d
            r = r - size * Sd
            y = self._eased(r)
            new = float(r @ y)
            d, ry = y + (new / ry) * d, new
        return row.solve(p - self.across(x)), x

    @cached_property
    def _kept(self) -> Recycled:
        """Its products come with Hd behind them: what is left of p is p − Hx."""

        def times(d: Array) -> Array:
            Hd = self.across(d)
            return np.concatenate([self.col.times(d) - self.down(self.row.solve(Hd)), Hd])

        return Recycled(times, self.C, self.kappa, self.R.size)

    def _eased(self, r: Array) -> Array:
        """C⁻¹r, and what is missing from it along the slow directions."""
        y = self.col.solve(r)
        if not self.often:
            return y
        W, more = self._slow
        eased: Array = y + W @ (more * (r @ W))
        return eased

    @cached_property
    def _slow(self) -> tuple[Array, Array]:
        """W with WᵀCW = 1 and HᵀR⁻¹HW ≈ CW diag(θ), the largest θ; and θ/(1 − θ). They only save iterations."""
        size = self.C.size
        if size <= 8 * _SLOW:
            return np.zeros((size, 0)), np.zeros(0)
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        root = np.sqrt(self.C)

        def alike(v: Array) -> Array:
            return brought(self.down(self.across(v.reshape(-1) / root) / self.R) / root)

        try:
            asked = LinearOperator((size, size), alike, dtype=np.float64)
            theta, W = eigsh(asked, _SLOW, v0=brought(root), ncv=4 * _SLOW, tol=0.1, maxiter=5)
        except ArpackNoConvergence as partial:
            theta, W = partial.eigenvalues, partial.eigenvectors
        theta = np.clip(theta, 0.0, _DISTINCT)
        return W / root[:, None], theta / (1.0 - theta)

    def eliminated(self) -> Array:
        """HᵀR⁻¹H as an ordinary matrix, columns × columns."""
        from scipy.sparse import csr_matrix, diags

        pattern = self.pattern
        entries = np.ones(pattern.size) if self.H is None else self.H
        place = (pattern.indices.astype(np.int64), pattern.indptr.astype(np.int64))
        H = csr_matrix((entries, *place), shape=pattern.shape)
        return np.asarray((H.T @ diags(1.0 / self.R) @ H).toarray())

    def across(self, v: Array) -> Array:
        """Hv: from columns to rows."""
        return self.pattern.add(v) if self.H is None else self.pattern.multiply(self.H, v)

    def down(self, v: Array) -> Array:
        """Hᵀv: from rows to columns."""
        if self.H is None:
            return self.pattern.transposed[0].add(v)
        return self._turned.rmatmat(v)

    @cached_property
    def _turned(self) -> Sparse:
        assert self.H is not None
        return Sparse(self.pattern, self.H)
