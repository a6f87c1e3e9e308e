"""The compiled loops over an observed pattern, in rows [low, high).

Written by hand because neither NumPy nor SciPy has them: a sampled dense-dense product without an nnz × k
temporary, atom scores without an m × k temporary, and sparse × block products that release the GIL so that
``Pattern.sweep`` can share rows among threads. Importing this file loads numba; its users do that on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

# Reassociation lets a dot product use the vector units; nothing here may assume away NaN or infinity.
_MATH = {"reassoc", "contract"}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile, cached on disk where that is possible and uncached where it is not."""
    try:
        return numba.njit(cache=True, nogil=True, fastmath=_MATH)(function)
    except (RuntimeError, OSError):  # numba found no folder that it may write its cache to
        return numba.njit(cache=False, nogil=True, fastmath=_MATH)(function)


@compiled
def multiply_vector(low, high, indptr, indices, data, v, out):  # type: ignore[no-untyped-def]
    """out[r] = Σ_c data[r, c] v[c]."""
    for row in range(low, high):
        total = out.dtype.type(0)
        for entry in range(indptr[row], indptr[row + np.uint64(1)]):
            total += data[entry] * v[indices[entry]]
        out[row] = total


@compiled
def add_vector(low, high, indptr, indices, v, out):  # type: ignore[no-untyped-def]
    """out[r] = Σ_c v[c] over the observed positions: a product with ones, which need not be read."""
    for row in range(low, high):
        total = 0.0
        for entry in range(indptr[row], indptr[row + np.uint64(1)]):
            total += v[indices[entry]]
        out[row] = total


@compiled
def spread_sums(low, high, indptr, indices, b, c, z, out):  # type: ignore[no-untyped-def]
    """out[e] = z[e] + b[r] + c[k] at every stored entry e = (r, k)."""
    for row in range(low, high):
        left = b[row]
        for entry in range(indptr[row], indptr[row + np.uint64(1)]):
            out[entry] = z[entry] + (left + c[indices[entry]])


@compiled
def _accumulate(first, last, indices, data, V, columns, total):  # type: ignore[no-untyped-def]
    """total[k] = Σ data[e] V[indices[e], k] over entries first … last − 1, four at a time: a quarter of the stores."""
    for k in range(columns):
        total[k] = 0
    whole = first + (last - first) // np.uint64(4) * np.uint64(4)
    for e in range(first, whole, np.uint64(4)):
        a, b, c, d = data[e], data[e + np.uint64(1)], data[e + np.uint64(2)], data[e + np.uint64(3)]
        p, q = indices[e], indices[e + np.uint64(1)]
        r, s = indices[e + np.uint64(2)], indices[e + np.uint64(3)]
        for k in range(columns):
            total[k] += (a * V[p, k] + b * V[q, k]) + (c * V[r, k] + d * V[s, k])
    for e in range(whole, last):
        a, p = data[e], indices[e]
        for k in range(columns):
            total[k] += a * V[p, k]


@compiled
def multiply_block(low, high, indptr, indices, data, V, first, columns, out):  # type: ignore[no-untyped-def]
    """out[r, first + k] = Σ_c data[r, c] V[c, k] for ``columns`` columns; V and out are C-contiguous."""
    for row in range(low, high):
        into = out[row][first : first + columns]
        _accumulate(indptr[row], indptr[row + np.uint64(1)], indices, data, V, columns, into)


@compiled
def multiply_pair(low, high, indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
    """The same for two columns, in registers: what a Krylov chain from two residuals asks for."""
    for row in range(low, high):
        first, second = out.dtype.type(0), out.dtype.type(0)
        for entry in range(indptr[row], indptr[row + np.uint64(1)]):
            value, column = data[entry], indices[entry]
            first += value * V[column, 0]
            second += value * V[column, 1]
        out[row, 0] = first
        out[row, 1] = second


@compiled
def sample_vector(low, high, indptr, indices, u, v, out):  # type: ignore[no-untyped-def]
    """out[e] = u[r] conj(v[c]) at every stored entry e = (r, c)."""
    for row in range(low, high):
        left = u[row]
        for entry in range(indptr[row], indptr[row + np.uint64(1)]):
            out[entry] = left * np.conj(v[indices[entry]])


@compiled
def sample_block(low, high, indptr, indices, U, s, V, out):  # type: ignore[no-untyped-def]
    """out[e] += Σ_k U[r, k] s[k] conj(V[c, k]) at every stored entry e = (r, c), four entries at a time.

    Factors may be stored in single precision; every sum is in double.
    """
    columns = np.uint64(U.shape[1])
    left = np.empty(columns, out.dtype)
    for row in range(low, high):
        for k in range(columns):
            left[k] = s[k] * U[row, k]
        first, last = indptr[row], indptr[row + np.uint64(1)]
        whole = first + (last - first) // np.uint64(4) * np.uint64(4)
        for e in range(first, whole, np.uint64(4)):
            p, q = indices[e], indices[e + np.uint64(1)]
            r, t = indices[e + np.uint64(2)], indices[e + np.uint64(3)]
            a = b = c = d = out.dtype.type(0)
            for k in range(columns):
                u = left[k]
                a += u * np.conj(V[p, k])
                b += u * np.conj(V[q, k])
                c += u * np.conj(V[r, k])
                d += u * np.conj(V[t, k])
            out[e] += a
            out[e + np.uint64(1)] += b
            out[e + np.uint64(2)] += c
            out[e + np.uint64(3)] += d
        for e in range(whole, last):
            p, a = indices[e], out.dtype.type(0)
            for k in range(columns):
                a += left[k] * np.conj(V[p, k])
            out[e] += a


@compiled
def score_block(low, high, indptr, indices, data, P, Q, columns, work, out):  # type: ignore[no-untyped-def]
    """out[k] += Re conj(P[r, k]) Σ_c data[r, c] Q[c, k]: one number per atom, no image kept."""
    for row in range(low, high):
        _accumulate(indptr[row], indptr[row + np.uint64(1)], indices, data, Q, columns, work)
        for k in range(columns):
            out[k] += (np.conj(P[row, k]) * work[k]).real


@compiled
def gather(low, high, order, data, out):  # type: ignore[no-untyped-def]
    """out[e] = conj(data[order[e]])."""
    for entry in range(low, high):
        out[entry] = np.conj(data[order[entry]])


@compiled
def squared(low, high, z, target, slope):  # type: ignore[no-untyped-def]
    """slope = z − target; returns ½Σ|slope|²."""
    value = 0.0
    for e in range(low, high):
        r = z[e] - target[e]
        slope[e] = r
        value += 0.5 * (np.conj(r) * r).real
    return value


@compiled
def squared_weighted(low, high, z, target, weights, slope):  # type: ignore[no-untyped-def]
    """The same with weights."""
    value = 0.0
    for e in range(low, high):
        r, weight = z[e] - target[e], weights[e]
        slope[e] = weight * r
        value += 0.5 * weight * (np.conj(r) * r).real
    return value


@compiled
def blend(low, high, a, z, b, w, out):  # type: ignore[no-untyped-def]
    """out = a·z + b·w in one pass."""
    for e in range(low, high):
        out[e] = a * z[e] + b * w[e]


@compiled
def line_squared(low, high, z, target, dz):  # type: ignore[no-untyped-def]
    """½Σ|r|², Re Σ conj(r)dz, Σ|dz|² for r = z − target, without a temporary."""
    value, slope, bend = 0.0, 0.0, 0.0
    for e in range(low, high):
        r, step = z[e] - target[e], dz[e]
        value += 0.5 * (np.conj(r) * r).real
        slope += (np.conj(r) * step).real
        bend += (np.conj(step) * step).real
    return value, slope, bend


@compiled
def line_squared_weighted(low, high, z, target, weights, dz):  # type: ignore[no-untyped-def]
    """The same with weights."""
    value, slope, bend = 0.0, 0.0, 0.0
    for e in range(low, high):
        r, step, weight = z[e] - target[e], dz[e], weights[e]
        value += 0.5 * weight * (np.conj(r) * r).real
        slope += weight * (np.conj(r) * step).real
        bend += weight * (np.conj(step) * step).real
    return value, slope, bend


@compiled
def ways(low, high, slope, v, a, b, c, d, f, sums):  # type: ignore[no-untyped-def]
    """For the ways from a, b, c, d and f to v: ⟨slope, ·⟩, then their inner products, row by row."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    aa = ab = ac = ad = af = bb = bc = bd = bf = cc = cd = cf = dd = df = ff = 0.0
    for e in range(low, high):
        g = slope[e]
        i, j, k, m, n = v[e] - a[e], v[e] - b[e], v[e] - c[e], v[e] - d[e], v[e] - f[e]
        s0 += g * i
        s1 += g * j
        s2 += g * k
        s3 += g * m
        s4 += g * n
        aa += i * i
        ab += i * j
        ac += i * k
        ad += i * m
        af += i * n
        bb += j * j
        bc += j * k
        bd += j * m
        bf += j * n
        cc += k * k
        cd += k * m
        cf += k * n
        dd += m * m
        df += m * n
        ff += n * n
    sums[:] = (s0, s1, s2, s3, s4, aa, ab, ac, ad, af, bb, bc, bd, bf, cc, cd, cf, dd, df, ff)


@compiled
def mixture(low, high, sizes, a, b, c, d, e, f, out):  # type: ignore[no-untyped-def]
    """out = Σ sizes·(a, b, c, d, e, f) in one pass."""
    for i in range(low, high):
        some = sizes[0] * a[i] + sizes[1] * b[i] + sizes[2] * c[i]
        out[i] = some + sizes[3] * d[i] + sizes[4] * e[i] + sizes[5] * f[i]


@compiled
def ways_sampled(low, high, indptr, indices, slope, weights, U, V, z, sums):  # type: ignore[no-untyped-def]
    """``ways`` to the first of five rank-ones u·vᵀ from the other four and from z, in rows [low, high)."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    aa = ab = ac = ad = af = bb = bc = bd = bf = cc = cd = cf = dd = df = ff = 0.0
    for row in range(low, high):
        p, q, r, t, o = U[row, 0], U[row, 1], U[row, 2], U[row, 3], U[row, 4]
        for e in range(indptr[row], indptr[row + np.uint64(1)]):
            g, c = slope[e], indices[e]
            v = p * V[c, 0]
            i, j, k, m, n = v - q * V[c, 1], v - r * V[c, 2], v - t * V[c, 3], v - o * V[c, 4], v - z[e]
            s0 += g * i
            s1 += g * j
            s2 += g * k
            s3 += g * m
            s4 += g * n
            w = 1.0 if weights is None else weights[e]
            a, b, d, f, h = w * i, w * j, w * k, w * m, w * n
            aa += a * i
            ab += a * j
            ac += a * k
            ad += a * m
            af += a * n
            bb += b * j
            bc += b * k
            bd += b * m
            bf += b * n
            cc += d * k
            cd += d * m
            cf += d * n
            dd += f * m
            df += f * n
            ff += h * n
    sums[:] = (s0, s1, s2, s3, s4, aa, ab, ac, ad, af, bb, bc, bd, bf, cc, cd, cf, dd, df, ff)


@compiled
def mixture_sampled(low, high, indptr, indices, U, V, size, z, out):  # type: ignore[no-untyped-def]
    """out = size·z + Σ u·vᵀ over five rank-ones, in rows [low, high)."""
    for row in range(low, high):
        p, q, r, t, o = U[row, 0], U[row, 1], U[row, 2], U[row, 3], U[row, 4]
        for e in range(indptr[row], indptr[row + np.uint64(1)]):
            c = indices[e]
            out[e] = (size * z[e] + o * V[c, 4]) + (p * V[c, 0] + q * V[c, 1]) + (r * V[c, 2] + t * V[c, 3])
