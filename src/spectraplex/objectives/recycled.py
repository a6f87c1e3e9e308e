"""Conjugate gradients that remember: systems with one matrix, whose products are dear, solved again and again.

The first directions d are kept with their products S·d, and all are made conjugate to each other. A new system is first
solved in their span, which takes no product at all, and then goes on from there. Written by hand because SciPy's ``cg``
begins anew with every right side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..places.numpy import Array

_KEPT = 48  # directions that are kept
_MOST = 200  # products of one solve: never reached but at rounding level


class Recycled:
    """x ≈ S⁻¹r for a symmetric S ≥ ``least``, given by its products; ``diagonal`` is a preconditioner.

    Products may come with ``more`` numbers behind them that are linear in the direction, too.
    """

    def __init__(self, times: Callable[[Array], Array], diagonal: Array, least: float, more: int = 0) -> None:
        self.times, self.diagonal, self.least = times, diagonal, least
        self.kept = 0
        self.W = np.empty((_KEPT, diagonal.size))  # directions, one a line,
        self.SW = np.empty((_KEPT, diagonal.size + more))  # and their products, with what comes behind

    def solve(self, r: Array, share: float, value: float) -> Array:
        """A residual is worth at most ‖residual‖²/2·least: it ends where that is a share of the value reached."""
        return self.solved(r, share, value)[0]

    def solved(self, left: Array, share: float, value: float) -> tuple[Array, Array]:
        """The same, and what is left: of r, and of the numbers that come behind it."""
        n = self.diagonal.size
        W, SW = self.W[: self.kept], self.SW[: self.kept]
        along = W @ left[:n]
        x, left = along @ W, left - along @ SW
        value -= 0.5 * float(along @ along)
        d, Sd = np.zeros(n), np.zeros(left.size)
        for _ in range(_MOST):
            r = left[:n]
            if float(r @ r) <= 2.0 * self.least * share * abs(value):
                break
            y = r / self.diagonal
            y -= float(y @ Sd[:n]) * d  # conjugate to the last direction, kept or not
            d = y - (self.SW[: self.kept, :n] @ y) @ self.W[: self.kept]
            Sd = self.times(d)
            bend = float(d @ Sd[:n])
            if not bend > 0.0:  # what is left is below what can be multiplied
                break
            d, Sd = d / np.sqrt(bend), Sd / np.sqrt(bend)
            step = float(d @ r)
            x, left, value = x + step * d, left - step * Sd, value - 0.5 * step * step
            if self.kept < _KEPT:
                self.W[self.kept], self.SW[self.kept] = d, Sd
                self.kept += 1
        return x, left


class Whole:
    """The same for few columns: S = diag(C + κ) − E as a matrix, from E with C in the line below it."""

    def __init__(self, eliminated: Array, ridge: float) -> None:
        from scipy.linalg import cho_factor

        self.factor = cho_factor(np.diag(eliminated[-1] + ridge) - eliminated[:-1])

    def solve(self, r: Array, share: float, value: float) -> Array:
        """As exact as rounding allows, whatever is asked for."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.factor, r))
