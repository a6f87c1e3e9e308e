"""Intercepts: observed entries explained by row and column intercepts and a scaled low-rank part, fitted together.

    f(W) = min over b, c of  Σ wₑ ℓ(offset + bᵢ + cⱼ + sᵢtⱼWᵢⱼ; vₑ) + ½ρ‖b‖² + ½κ‖c‖²

The intercepts are minimised inside, so f is a convex function of W alone and the problem on the nuclear-norm ball is
the joint one: any gap certified for it is a gap in W, b and c together. Its conjugate is that of the loss and two
squares, f*(y) = ℓ*(y) + ‖row sums of y‖²/2ρ + ‖column sums of y‖²/2κ, and *any* y gives a true bound, so nothing hangs
on how finely the inner problem was solved: what is left there is part of the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..fingerprint import identity
from ..losses.curves import Curve, Quadratic, Smoothly
from ..losses.protocol import Conjugate, Loss
from ..losses.separable import steepest
from ..losses.squared import Squared
from ..matrices.operators import Sparse
from ..places.numpy import EPS, Array, blend, inner
from ..places.pattern import Pattern
from ..rounding import VANISHING, moved, of_image, of_sum
from .facts import facts_of

_SLACK = 1e-12  # share of the value that the inner problem may be off by: it blurs gaps by about its root
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
    scales : (s, t), positive, one per row and one per column, or None.
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
        scales: tuple[Array, Array] | None = None,
    ) -> None:
        self.shape, self.loss, self.offset, self.ridges = shape, loss, offset, ridges
        key = rows.astype(np.int64) * shape[1] + cols
        order = np.arange(key.size) if (np.diff(key) >= 0).all() else np.argsort(key, kind="stable")
        key = key[order]
        fresh = np.ones(key.size, bool)
        fresh[1:] = key[1:] != key[:-1]
        rows, cols = rows[order], cols[order]
        self.order = order  # entry e of an image is observation order[e] of the user
        #: the place of every observation in the pattern, or None where no pair comes twice
        self.place = None if fresh.all() else np.cumsum(fresh) - 1
        self.pattern = Pattern.from_sorted(rows[fresh], cols[fresh], shape)
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
        return entries if self.place is None else entries[self.place]

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        found = self.inner(z)
        return found.value, found.slope

    def along(self, z: Array, dz: Array) -> Curve:
        if isinstance(self.loss, Squared):
            value, slope = self.evaluate(z)
            bend = self.inner(dz, np.zeros_like(self.values)).value
            return Quadratic(value, inner(slope, dz), 2.0 * bend)

        def at(size: float) -> tuple[float, float]:
            value, slope = self.evaluate(blend(1.0, z, size, dz))
            return value, inner(slope, dz)

        return Smoothly(at)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Sparse:
        entries = self._entries(slope)
        return Sparse(self.pattern, entries if self.scale is None else entries * self.scale)

    def conjugate(self, slope: Array) -> Conjugate:
        """ℓ*(c·y) − c·offset·Σy + c²(‖row sums‖²/2ρ + ‖column sums‖²/2κ)."""
        own = self.loss.conjugate(slope, self.values, self.weights)
        shift, extra = -self.offset * float(slope.sum()), 0.0
        if self.ridges is not None:
            p, q = self._sums(self._entries(slope))
            extra = float(p @ p) / self.ridges[0] + float(q @ q) / self.ridges[1]
        size = own.size + abs(self.offset) * float(np.abs(slope).sum()) + 0.5 * extra
        quadratic = own.quadratic and (own.quadratic[0] + shift, own.quadratic[1] + extra)

        def at(c: float) -> float:
            return own.at(c) + c * shift + 0.5 * c * c * extra

        return replace(own, at=at, size=size, quadratic=quadratic)

    @cached_property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖: the largest scale, as often as a pair comes."""
        often = 1 if self.place is None else int(np.bincount(self.place).max())
        return (1.0 if self.scale is None else float(self.scale.max(initial=0.0))) * float(np.sqrt(often))

    @property
    def bend(self) -> float:
        """The largest curvature of the loss of an image."""
        return self.loss.curvature * (1.0 if self.weights is None else float(self.weights.max()))

    def rounding(self, value: float, slope: Array, size: float, terms: int) -> float:
        """That of the loss, of offset and intercepts added to the image, and what the inner problem is left with."""
        facts = facts_of(self)
        blur = of_image(facts, size, terms) + 8 * EPS * self._sizes
        summed = of_sum(slope.size) * abs(value) + slope.size * VANISHING
        return summed + moved(facts, slope, blur) + 2 * _SLACK * abs(value)

    @cached_property
    def steepest(self) -> float:
        """The largest norm of a slope."""
        return steepest(self.loss, self.values.size, self.weights)

    @cached_property
    def _floor(self) -> float:
        """What rounding of the predictions makes of a value of zero."""
        return 0.5 * self.bend * (8 * EPS * self._sizes) ** 2

    @cached_property
    def _sizes(self) -> float:
        """About the norm of what is added up: offset, intercepts and observed values."""
        return float(np.sqrt(self.values.size)) * (abs(self.offset) + float(np.abs(self.values).max(initial=0.0)))

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        held = (self.place, self.weights, *(self.scales or ()))
        given = (part for part in held if part is not None)
        name = f"Intercepts {self.shape[0]}×{self.shape[1]}"
        settings = identity([self.loss, float(self.offset), self.ridges])
        return (name, settings, self.pattern.indptr, self.pattern.indices, self.values, *given)

    # ------------------------------------------------------------------------------------------ the inner problem

    def inner(self, z: Array, values: Array | None = None) -> Inner:
        """The best intercepts beside an image; ``values`` other than the observed ones start without the offset."""
        if values is None:
            z, values = z + self.offset, self.values
        value, slope = self.loss.evaluate(z, values, self.weights)
        b, c = np.zeros(self.shape[0]), np.zeros(self.shape[1])
        if self.ridges is None:
            return Inner(b, c, value, slope)
        rho, kappa = self.ridges
        quadratic = isinstance(self.loss, Squared)
        for _ in range(_MOST):
            p, q = self._sums(self._entries(slope))
            p += rho * b
            q += kappa * c
            slack = 0.5 * (float(p @ p) / rho + float(q @ q) / kappa)
            if slack <= max(_SLACK * abs(value), self._floor):
                break
            if quadratic:  # one step is the answer: exact in the rows, and finer than asked for in the columns
                db, dc = self._curvature.solve(p, q, _SLACK, value)
            else:
                bends = _Bends(self, self.loss.second(self._spread(z, b, c), values, self.weights))
                db, dc = bends.solve(p, q, 1e-4 * slack / abs(value), value)
            fall, step = float(p @ db + q @ dc), 1.0
            for _ in range(_TRIALS):
                ahead = (b - step * db, c - step * dc)
                loss, slope = self.loss.evaluate(self._spread(z, *ahead), values, self.weights)
                reached = loss + 0.5 * (rho * float(ahead[0] @ ahead[0]) + kappa * float(ahead[1] @ ahead[1]))
                if quadratic or reached <= value - 1e-4 * step * fall:
                    break
                step *= 0.5
            done = quadratic or not reached < value - EPS * abs(value)  # or at rounding level
            (b, c), value = ahead, reached
            if done:
                break
        return Inner(b, c, value, slope)

    @cached_property
    def _curvature(self) -> _Bends:
        return _Bends(self, self.weights, often=True)

    def _entries(self, slope: Array) -> Array:
        """Numbers of observations summed over the entries of the pattern."""
        return slope if self.place is None else np.bincount(self.place, slope, self.pattern.size)

    def _sums(self, entries: Array) -> tuple[Array, Array]:
        """Over every row and every column."""
        rows = self.pattern.multiply(entries, np.ones(self.shape[1]))
        return rows, np.bincount(self.pattern.indices, entries, self.shape[1])

    def _spread(self, z: Array, b: Array, c: Array) -> Array:
        """z + bᵢ + cⱼ at every observation."""
        if self.place is None:
            return self.pattern.spread(z, b, c)
        return z + self.pattern.spread(np.zeros(self.pattern.size), b, c)[self.place]

    # ------------------------------------------------------------------------------------------------- constants

    @cached_property
    def _bends(self) -> Array:
        """The largest curvature at every entry of the pattern."""
        entries = self._entries(np.ones(self.values.size) if self.weights is None else self.weights)
        return self.loss.curvature * (entries if self.scale is None else entries * self.scale**2)

    @cached_property
    def smoothness(self) -> float:
        """Of the loss without the intercepts, which only flatten it."""
        return float(self._bends.max())

    @cached_property
    def coverage(self) -> tuple[Array, Array]:
        """Curvature of the loss at its largest, summed over every row, and over every column."""
        return self._sums(self._bends)

    def __repr__(self) -> str:
        m, n = self.shape
        ridges = "without intercepts" if self.ridges is None else f"ridges {self.ridges[0]:g} and {self.ridges[1]:g}"
        scaled = "" if self.scales is None else ", scaled"
        what = f"{self.values.size} observations of a {m}×{n} table, {self.loss!r}"
        return f"Intercepts({what}, offset {self.offset!r}, {ridges}{scaled})"


class _Bends:
    """The second derivative of the inner problem: [[R, H], [Hᵀ, C]] with R and C diagonal, solved on one side.

    ``often`` says that many systems with it will be solved: then the few directions that conjugate gradients find last
    are worked out first.
    """

    def __init__(self, owner: Intercepts, bends: Array | None, often: bool = False) -> None:
        assert owner.ridges is not None
        self.pattern, self.often = owner.pattern, often
        entries = owner._entries(np.ones(owner.values.size) if bends is None else bends)
        p, q = owner._sums(entries)
        #: None where every entry of H is one: nothing to read
        self.H = None if bends is None and owner.place is None else entries
        self.R, self.C = p + owner.ridges[0], q + owner.ridges[1]
        self.kappa = owner.ridges[1]

    def solve(self, p: Array, q: Array, share: float, value: float) -> tuple[Array, Array]:
        """(db, dc) with residual zero in the rows; that in the columns leaves ‖residual‖²/2κ ≤ share·value.

        Conjugate gradients on what is left once the rows are eliminated; the preconditioner is C, and exact in the
        ``_slow`` directions. Few iterations are needed: most singular values of a scaled H are well below one. The
        value meant is the one reached at the end.
        """
        R, C = self.R, self.C
        r = q - self._down(p / R)
        least = value - 0.5 * float(p @ (p / R))  # what the rows alone will gain
        x = np.zeros_like(r)
        y = self._eased(r)
        d, ry = y, float(r @ y)
        for _ in range(_MOST):
            if float(r @ r) <= 2.0 * self.kappa * share * abs(least) or ry == 0.0:
                break
            Sd = C * d - self._down(self._across(d) / R)
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
        return (p - self._across(x)) / R, x

    def _eased(self, r: Array) -> Array:
        """C⁻¹r, and what is missing from it along the slow directions."""
        y = r / self.C
        if not self.often:
            return y
        W, more = self._slow
        return y + W @ (more * (r @ W))

    @cached_property
    def _slow(self) -> tuple[Array, Array]:
        """W with WᵀCW = 1 and HᵀR⁻¹HW ≈ CW diag(θ), the largest θ; and θ/(1 − θ). They only save iterations."""
        size = self.C.size
        if size <= 8 * _SLOW:
            return np.zeros((size, 0)), np.zeros(0)
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        root = np.sqrt(self.C)
        alike = LinearOperator((size, size), lambda v: self._down(self._across(v.reshape(-1) / root) / self.R) / root)
        try:
            theta, W = eigsh(alike, _SLOW, v0=root, ncv=4 * _SLOW, tol=0.1, maxiter=5)
        except ArpackNoConvergence as partial:
            theta, W = partial.eigenvalues, partial.eigenvectors
        theta = np.clip(theta, 0.0, _DISTINCT)
        return W / root[:, None], theta / (1.0 - theta)

    def _across(self, v: Array) -> Array:
        return self.pattern.add(v) if self.H is None else self.pattern.multiply(self.H, v)

    def _down(self, v: Array) -> Array:
        if self.H is None:
            return self.pattern.transposed[0].add(v)
        return self._turned.rmatmat(v)

    @cached_property
    def _turned(self) -> Sparse:
        assert self.H is not None
        return Sparse(self.pattern, self.H)
