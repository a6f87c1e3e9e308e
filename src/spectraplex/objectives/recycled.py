"""Conjugate gradients that remember: systems with one matrix, whose products are dear, solved again and again.

Every direction d is kept with its product S·d, and all are made conjugate to each other. A new system is first solved
in their span, which takes no product at all, and then goes on from there. Written by hand because SciPy's ``cg`` begins
anew with every right side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..places.numpy import Array

_KEPT = 48  # directions that are kept
_MOST = 200  # products of one solve: never reached but at rounding level


class Recycled:
    """x ≈ S⁻¹r for a symmetric S ≥ ``least``, given by its products; ``diagonal`` is a preconditioner."""

    def __init__(self, times: Callable[[Array], Array], diagonal: Array, least: float) -> None:
        self.times, self.diagonal, self.least = times, diagonal, least
        self.W = np.empty((diagonal.size, 0))
        self.SW = np.empty((diagonal.size, 0))

    def solve(self, r: Array, share: float, value: float) -> Array:
        """A residual is worth at most ‖residual‖²/2·least: it ends where that is a share of the value reached."""
        along = self.W.T @ r
        x, r = self.W @ along, r - self.SW @ along
        left = value - 0.5 * float(along @ along)
        W, SW = self.W, self.SW
        for _ in range(_MOST):
            if float(r @ r) <= 2.0 * self.least * share * abs(left):
                break
            y = r / self.diagonal
            d = y - W @ (SW.T @ y)
            Sd = self.times(d)
            bend = float(d @ Sd)
            if not bend > 0.0:  # what is left is below what can be multiplied
                break
            d, Sd = d / np.sqrt(bend), Sd / np.sqrt(bend)
            step = float(d @ r)
            x, r, left = x + step * d, r - step * Sd, left - 0.5 * step * step
            W, SW = np.column_stack([W, d]), np.column_stack([SW, Sd])
        self.W, self.SW = W[:, :_KEPT], SW[:, :_KEPT]
        return np.asarray(x)


class Whole:
    """The same for few columns: S = diag(C + κ) − E as a matrix, from E with C in the line below it."""

    def __init__(self, eliminated: Array, ridge: float) -> None:
        from scipy.linalg import cho_factor

        self.factor = cho_factor(np.diag(eliminated[-1] + ridge) - eliminated[:-1])

    def solve(self, r: Array, share: float, value: float) -> Array:
        """As exact as rounding allows, whatever is asked for."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.factor, r))
