"""The compiled passes of a quasi-Newton step over the flat arrays of one shard (shard_deck.py), entries [low, high).

In blocks that stay in the first-level cache: every array is read once a pass. Pairs are in single precision, sums are
in double. The pairs of all steps come as a tuple of one length, of which the first ``count`` are meant: so that a
function is compiled once, not once for every number of pairs.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled

_BLOCK = np.uint64(256)


@compiled
def mixed(low, high, g, D, S, T, count, mix, out):  # type: ignore[no-untyped-def]
    """out = Σ mixᵢ·(S, D·T, D·g)."""
    held = np.empty(_BLOCK, np.float64)
    for start in range(low, high, _BLOCK):
        size = min(_BLOCK, high - start)
        last = mix[2 * count]
        for e in range(size):
            held[e] = last * g[start + e]
        for i in range(count):
            row, factor = T[i], mix[count + i]
            for e in range(size):
                held[e] += factor * row[start + e]
        for e in range(size):
            held[e] *= D[start + e]
        for i in range(count):
            row, factor = S[i], mix[i]
            for e in range(size):
                held[e] += factor * row[start + e]
        for e in range(size):
            out[start + e] = held[e]


@compiled
def turned(low, high, product, ahead, lean, factor, g, new, change):  # type: ignore[no-untyped-def]
    """new = factor·(product − lean·ahead), change = new − g."""
    for e in range(low, high):
        wide = factor * (product[e] - lean * ahead[e])
        new[e] = wide
        change[e] = wide - g[e]


@compiled
def _against(row, start, size, X, out):  # type: ignore[no-untyped-def]
    """The inner products of a piece of a row with eight columns are added to ``out``."""
    a = b = c = d = e = f = g = h = 0.0
    for k in range(size):
        x = np.float64(row[start + k])
        a += x * X[0, k]
        b += x * X[1, k]
        c += x * X[2, k]
        d += x * X[3, k]
        e += x * X[4, k]
        f += x * X[5, k]
        g += x * X[6, k]
        h += x * X[7, k]
    out[0] += a
    out[1] += b
    out[2] += c
    out[3] += d
    out[4] += e
    out[5] += f
    out[6] += g
    out[7] += h


@compiled
def _of_pair(s, t, start, size, X, of_s, of_t):  # type: ignore[no-untyped-def]
    """The same of a pair, but for what nobody asks for: D² and D·d with s, and N itself with t."""
    a = b = c = d = e = f = g = h = i = j = m = o = 0.0
    for k in range(size):
        x, y = np.float64(s[start + k]), np.float64(t[start + k])
        a += x * X[0, k]
        b += x * X[1, k]
        c += x * X[2, k]
        d += x * X[3, k]
        e += x * X[6, k]
        f += y * X[1, k]
        g += y * X[2, k]
        h += y * X[3, k]
        i += y * X[4, k]
        j += y * X[5, k]
        m += y * X[6, k]
        o += y * X[7, k]
    of_s[0] += a
    of_s[1] += b
    of_s[2] += c
    of_s[3] += d
    of_s[6] += e
    of_t[1] += f
    of_t[2] += g
    of_t[3] += h
    of_t[4] += i
    of_t[5] += j
    of_t[6] += m
    of_t[7] += o


@compiled
def raw_products(low, high, P, A, g, D, S, d, T, count, lean, factor, out):  # type: ignore[no-untyped-def]
    """See shard_deck.py: rows are S, d, T, g, N, ahead; columns N, ahead, both times D and D², d and D·d."""
    X, nothing = np.empty((8, _BLOCK)), np.uint64(0)
    for start in range(low, high, _BLOCK):
        size = min(_BLOCK, high - start)
        own, scaled, twice = 0.0, 0.0, 0.0
        for k in range(size):
            a, weight, step = np.float64(A[start + k]), np.float64(D[start + k]), np.float64(d[start + k])
            n, slope = factor * (P[start + k] - lean * a), np.float64(g[start + k])
            X[0, k], X[1, k] = n, a
            X[2, k], X[3, k] = weight * n, weight * a
            X[4, k], X[5, k] = weight * weight * n, weight * weight * a
            X[6, k], X[7, k] = step, weight * step
            own += slope * slope
            scaled += slope * slope * weight
            twice += slope * slope * weight * weight
        for i in range(count):
            _of_pair(S[i], T[i], start, size, X, out[i], out[count + 1 + i])
        _against(d, start, size, X, out[count])
        last = 2 * count + 1
        _against(g, start, size, X, out[last])
        _against(X[0], nothing, size, X, out[last + 1])
        _against(X[1], nothing, size, X, out[last + 2])
        out[last, 8] += own
        out[last, 9] += scaled
        out[last, 10] += twice
