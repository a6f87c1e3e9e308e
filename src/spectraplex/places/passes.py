"""The three compiled passes of a quasi-Newton step over flat arrays (deck.py), entries [low, high).

In blocks that stay in the first-level cache: every array is read once a pass. History and scaling are kept in single
precision, sums are in double.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled

_BLOCK = np.uint64(1024)


@compiled
def back(low, high, g, T, slots, a, scaling, out, dots):  # type: ignore[no-untyped-def]
    """out = scaling·(g − Σ aᵢTᵢ); dotsᵢ = ⟨Tᵢ, out⟩."""
    held = np.empty(_BLOCK, np.float64)
    for start in range(low, high, _BLOCK):
        size = min(_BLOCK, high - start)
        for e in range(size):
            held[e] = g[start + e]
        for i in range(slots.size):
            row, factor = T[slots[i]], a[i]
            for e in range(size):
                held[e] -= factor * row[start + e]
        for e in range(size):
            held[e] *= scaling[start + e]
            out[start + e] = held[e]
        for i in range(slots.size):
            row, total = T[slots[i]], 0.0
            for e in range(size):
                total += row[start + e] * held[e]
            dots[i] += total


@compiled
def forth(low, high, r, factor, S, slots, c, g, Y, d, ahead):  # type: ignore[no-untyped-def]
    """d = −(factor·r + Σ cᵢSᵢ), ahead = Y + d; returns ⟨d, g⟩, ‖d‖² and ‖ahead‖²."""
    held = np.empty(_BLOCK, np.float64)
    fall, length, norm = 0.0, 0.0, 0.0
    for start in range(low, high, _BLOCK):
        size = min(_BLOCK, high - start)
        for e in range(size):
            held[e] = -factor * r[start + e]
        for i in range(slots.size):
            row, each = S[slots[i]], c[i]
            for e in range(size):
                held[e] -= each * row[start + e]
        for e in range(size):
            d[start + e] = held[e]
            step = np.float64(d[start + e])
            fall += step * g[start + e]
            length += step * step
            ahead[start + e] = Y[start + e] + step
            norm += np.float64(ahead[start + e]) * ahead[start + e]
    return fall, length, norm


@compiled
def turn(low, high, product, ahead, lean, factor, g, S, slots, d, scaling, t, dots):  # type: ignore[no-untyped-def]
    """The new gradient factor·(product − lean·ahead) into g, its change into t.

    dots: ⟨Sᵢ, g⟩ for every slot, then ⟨d, g⟩, ⟨d, t⟩, ⟨t, scaling·t⟩, ‖t‖².
    """
    count = slots.size
    for start in range(low, high, _BLOCK):
        size = min(_BLOCK, high - start)
        along, bend, scaled, norm = 0.0, 0.0, 0.0, 0.0
        for e in range(size):
            new = factor * (product[start + e] - lean * ahead[start + e])
            t[start + e] = new - g[start + e]
            g[start + e] = new
            turn, step = np.float64(t[start + e]), np.float64(d[start + e])
            along += step * new
            bend += step * turn
            scaled += turn * turn * scaling[start + e]
            norm += turn * turn
        dots[count] += along
        dots[count + 1] += bend
        dots[count + 2] += scaled
        dots[count + 3] += norm
        for i in range(count):
            row, total = S[slots[i]], 0.0
            for e in range(size):
                total += row[start + e] * np.float64(g[start + e])
            dots[i] += total
