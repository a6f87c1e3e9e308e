"""The pairs of a limited-memory quasi-Newton method on this machine, and three passes over memory per step.

Written by hand because the usual two-loop recursion reads every stored pair twice and in sequence, which at millions
of numbers costs more than the function itself. Pairs are stored in single precision: they only choose a direction;
every sum is in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .numpy import Array, in_pieces, pieces_of

_LARGEST = 3e38  # of single precision
_SHORT = 20_000  # arrays up to this length stay with NumPy, where nobody else has loaded the compiled kernels


class NumPyDeck:
    """See ``Deck``. ``compiled`` uses the compiled passes for short arrays, too."""

    def __init__(self, Y: Array, gradient: Array, scaling: Array, history: int, compiled: bool) -> None:
        self._Y, self._ahead = Y, np.empty_like(Y)
        self.g = flat(gradient)
        self.scaling = self._spread(scaling)
        size = self.scaling.size
        self.slots = history
        self.S = np.empty((history, size), np.float32)
        self.T = np.empty((history, size), np.float32)
        self._work = np.empty(size, np.float32)
        self._plain = size < _SHORT and not compiled

    @property
    def here(self) -> Array:
        return self._Y

    @property
    def ahead(self) -> Array:
        return self._ahead

    def rescale(self, scaling: Array) -> None:
        self.scaling[:] = self._spread(scaling)

    def back(self, slots: list[int], a: Array) -> Array:
        at = np.array(slots, dtype=np.int64)
        return back(self.g, self.T, at, a, self.scaling, self._work, self._plain)

    def forth(self, slots: list[int], c: Array, factor: float, free: int) -> tuple[float, float, float]:
        at, Y, ahead = np.array(slots, dtype=np.int64), flat(self._Y), flat(self._ahead)
        return forth(self._work, factor, self.S, at, c, self.g, Y, self.S[free], ahead, self._plain)

    def shorten(self, free: int, share: float) -> float:
        self.S[free] *= np.float32(share)
        flat(self._ahead)[:] = flat(self._Y) + self.S[free]
        wide = flat(self._ahead).astype(np.float64)
        return float(wide @ wide)

    def turn(self, slots: list[int], free: int, product: Array, lean: float, factor: float) -> Array:
        at, S, T = np.array(slots, dtype=np.int64), self.S, self.T
        ahead, product = flat(self._ahead), flat(product)
        dots = turned(product, ahead, lean, factor, self.g, S, at, S[free], self.scaling, T[free], self._plain)
        self._Y, self._ahead = self._ahead, self._Y
        return dots

    def _spread(self, scaling: Array) -> Array:
        """One number for the real and the imaginary part."""
        wide = np.repeat(scaling, 2, axis=1) if self._Y.dtype.kind == "c" else scaling
        return wide.astype(np.float32).reshape(-1)


def flat(Y: Array) -> Array:
    """All real numbers of Y, as one vector that shares its memory."""
    return Y.reshape(-1).view(Y.real.dtype)


def back(g: Array, T: Array, at: Array, a: Array, scaling: Array, out: Array, plain: bool) -> Array:
    """out = scaling·(g − Σ aᵢTᵢ); returns ⟨Tᵢ, out⟩."""
    if plain:
        out[:] = scaling * (g - a @ T[at])
        return np.asarray(T[at] @ out.astype(np.float64))
    from . import passes

    dots = np.zeros((pieces_of(g.size), at.size))
    in_pieces(g.size, lambda i, low, high: passes.back(low, high, g, T, at, a, scaling, out, dots[i]))
    return np.asarray(dots.sum(axis=0))


def forth(
    r: Array, factor: float, S: Array, at: Array, c: Array, g: Array, Y: Array, d: Array, ahead: Array, plain: bool
) -> tuple[float, float, float]:
    """d = −(factor·r + Σ cᵢSᵢ), ahead = Y + d; returns ⟨d, g⟩, ‖d‖² and ‖ahead‖²."""
    if plain:
        d[:] = np.clip(-(factor * r.astype(np.float64) + c @ S[at]), -_LARGEST, _LARGEST)
        ahead[:] = Y + d
        step, there = d.astype(np.float64), ahead.astype(np.float64)
        return float(step @ g), float(step @ step), float(there @ there)
    from . import passes

    sums = np.zeros((pieces_of(g.size), 3))

    def job(i: int, low: Any, high: Any) -> None:
        sums[i] = passes.forth(low, high, r, factor, S, at, c, g, Y, d, ahead)

    in_pieces(g.size, job)
    fall, length, norm = sums.sum(axis=0)
    return float(fall), float(length), float(norm)


def turned(
    product: Array,
    ahead: Array,
    lean: float,
    factor: float,
    g: Array,
    S: Array,
    at: Array,
    d: Array,
    scaling: Array,
    t: Array,
    plain: bool,
) -> Array:
    """The new gradient factor·(product − lean·ahead) into g and its change into t; returns inner products.

    ⟨Sᵢ, g⟩ for every pair, then ⟨d, g⟩, ⟨d, t⟩, ⟨t, scaling·t⟩, ‖t‖².
    """
    if plain:
        new = factor * (product - lean * ahead)
        t[:] = np.clip(new - g, -_LARGEST, _LARGEST)
        g[:] = np.clip(new, -_LARGEST, _LARGEST)
        step, change = d.astype(np.float64), t.astype(np.float64)
        own = [step @ g, step @ change, change @ (scaling * change), change @ change]
        return np.concatenate([S[at] @ g.astype(np.float64), own])
    from . import passes

    dots = np.zeros((pieces_of(g.size), at.size + 4))
    in_pieces(
        g.size,
        lambda i, low, high: passes.turn(low, high, product, ahead, lean, factor, g, S, at, d, scaling, t, dots[i]),
    )
    return np.asarray(dots.sum(axis=0))
