"""Limited-memory BFGS on flat arrays, in three passes over memory per step.

Written by hand because the usual two-loop recursion reads every stored pair twice and in sequence, which at millions
of numbers costs more than the function itself. Here the recursion runs on inner products kept from earlier passes
(Chen, Wang & Zhou, "Large-scale L-BFGS using MapReduce", 2014), with a diagonal initial inverse Hessian. Pairs are
stored in single precision: they only choose a direction; every sum is in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..places.numpy import Array, in_pieces, pieces_of

_LARGEST = 3e38  # of single precision
_SHORT = 20_000  # arrays up to this length stay with NumPy, where nobody else has loaded the compiled kernels


class LimitedMemory:
    """The last pairs (s, t) of steps and gradient changes, and directions from them.

    Parameters
    ----------
    scaling : the diagonal of the initial inverse Hessian, up to a factor that the last pair decides.
    history : pairs kept.
    compiled : use the compiled passes for short arrays, too; their NumPy twins serve those who need no other kernel.
    """

    def __init__(self, scaling: Array, history: int, compiled: bool = False) -> None:
        self.scaling = scaling.astype(np.float32).reshape(-1)
        size = self.scaling.size
        self.S = np.empty((history + 1, size), np.float32)  # one slot more: the direction under trial
        self.T = np.empty((history + 1, size), np.float32)
        self.history, self.factor = history, 1.0
        self._plain = size < _SHORT and not compiled
        self.slots: list[int] = []  # oldest first
        self.ST = np.zeros((history + 1, history + 1))  # ⟨Sᵢ, Tⱼ⟩ for j not older than i
        self.SG = np.zeros(history + 1)  # ⟨Sᵢ, g⟩
        self._work = np.empty(size, np.float32)

    def forget(self) -> None:
        self.slots, self.factor = [], 1.0

    def direction(self, g: Array, Y: Array, ahead: Array) -> tuple[Array, float, float, float]:
        """d ≈ −H⁻¹g, and Y + d in ``ahead``; returns d, ⟨d, g⟩, ‖d‖² and ‖Y + d‖²."""
        slots, ST = self.slots, self.ST
        count, at = len(slots), np.array(slots, dtype=np.int64)
        a, c = np.zeros(count), np.zeros(count)
        for i in reversed(range(count)):
            known = sum(a[j] * ST[slots[i], slots[j]] for j in range(i + 1, count))
            a[i] = (self.SG[slots[i]] - known) / ST[slots[i], slots[i]]
        dots = self.factor * back(g, self.T, at, a, self.scaling, self._work, self._plain)
        for i in range(count):
            known = sum(c[j] * ST[slots[j], slots[i]] for j in range(i))
            c[i] = a[i] - (dots[i] + known) / ST[slots[i], slots[i]]
        d = self.S[self._free]
        return d, *forth(self._work, self.factor, self.S, at, c, g, Y, d, ahead, self._plain)

    def turn(self, product: Array, ahead: Array, lean: float, factor: float, g: Array, length: float) -> None:
        """The step d (of ``length``) was taken: g becomes factor·(product − lean·ahead), and the pair is kept.

        A pair without positive curvature is left out.
        """
        slot, at = self._free, np.array(self.slots, dtype=np.int64)
        dots = turned(
            product, ahead, lean, factor, g, self.S, at, self.S[slot], self.scaling, self.T[slot], self._plain
        )
        along, bend, scaled, norm = dots[at.size :]
        change = dots[: at.size] - self.SG[at]
        self.SG[at] = dots[: at.size]
        if not bend > 1e-10 * length * np.sqrt(norm):
            return
        self.ST[at, slot] = change
        self.ST[slot, slot], self.SG[slot], self.factor = bend, along, bend / scaled
        self.slots = [*self.slots, slot][-self.history :]

    @property
    def _free(self) -> int:
        return next(slot for slot in range(self.history + 1) if slot not in self.slots)


def back(g: Array, T: Array, at: Array, a: Array, scaling: Array, out: Array, plain: bool) -> Array:
    """out = scaling·(g − Σ aᵢTᵢ); returns ⟨Tᵢ, out⟩."""
    if plain:
        out[:] = scaling * (g - a @ T[at])
        return np.asarray(T[at] @ out.astype(np.float64))
    from ..places import kernels

    dots = np.zeros((pieces_of(g.size), at.size))
    in_pieces(g.size, lambda i, low, high: kernels.quasi_back(low, high, g, T, at, a, scaling, out, dots[i]))
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
    from ..places import kernels

    sums = np.zeros((pieces_of(g.size), 3))

    def job(i: int, low: Any, high: Any) -> None:
        sums[i] = kernels.quasi_forth(low, high, r, factor, S, at, c, g, Y, d, ahead)

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
    from ..places import kernels

    dots = np.zeros((pieces_of(g.size), at.size + 4))
    in_pieces(
        g.size,
        lambda i, low, high: kernels.quasi_turn(
            low, high, product, ahead, lean, factor, g, S, at, d, scaling, t, dots[i]
        ),
    )
    return np.asarray(dots.sum(axis=0))
