"""The compiled loops of Pauli measurements of a factor: its rows are rotated, one qubit after another, and back.

Settings with the same first letters share rotations; nothing as large as ρ is ever made. Rotations are left
unnormalised (no multiplications), and powers of two mend that at the end, exactly. Importing this file loads numba.

Digits of a letter are I = 0, Z = 1, X = 2, Y = 3.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled


@compiled
def _rotate(source, digit, run, out):  # type: ignore[no-untyped-def]
    """Runs of rows become those of the outcomes + and − of a letter, times √2 unless it is Z.

    ``source`` and ``out`` hold the real parts of all rows and then, unless no letter is Y, the imaginary ones.
    """
    planes, size = source.shape
    for low in range(0, size, 2 * run):
        if digit == 3:  # ⟨±i| = (1, ∓i)/√2, and −i(x + iy) = y − ix
            a, b = source[0, low : low + run], source[1, low : low + run]
            x, y = source[0, low + run : low + 2 * run], source[1, low + run : low + 2 * run]
            p, q = out[0, low : low + run], out[1, low : low + run]
            r, t = out[0, low + run : low + 2 * run], out[1, low + run : low + 2 * run]
            for e in range(run):
                p[e], q[e], r[e], t[e] = a[e] + y[e], b[e] - x[e], a[e] - y[e], b[e] + x[e]
            continue
        for plane in range(planes):
            a, x = source[plane, low : low + run], source[plane, low + run : low + 2 * run]
            p, r = out[plane, low : low + run], out[plane, low + run : low + 2 * run]
            if digit == 2:
                for e in range(run):
                    p[e], r[e] = a[e] + x[e], a[e] - x[e]
            else:
                for e in range(run):
                    p[e], r[e] = a[e], x[e]


@compiled
def _turn(block, digit, run, back):  # type: ignore[no-untyped-def]
    """``_rotate`` in place, or its adjoint: i((a + ib) − (x + iy)) = (y − b) + i(a − x).

    A loop that may write where it reads would not be vectorised.
    """
    planes, size = block.shape
    if digit == 1:
        return
    for low in range(0, size, 2 * run):
        if digit == 3:
            a, b = block[0, low : low + run], block[1, low : low + run]
            x, y = block[0, low + run : low + 2 * run], block[1, low + run : low + 2 * run]
            if back:
                for e in range(run):
                    p, q, r, t = a[e], b[e], x[e], y[e]
                    a[e], b[e], x[e], y[e] = p + r, q + t, t - q, p - r
            else:
                for e in range(run):
                    p, q, r, t = a[e], b[e], x[e], y[e]
                    a[e], b[e], x[e], y[e] = p + t, q - r, p - t, q + r
        else:
            for plane in range(planes):
                a, x = block[plane, low : low + run], block[plane, low + run : low + 2 * run]
                for e in range(run):
                    p, r = a[e], x[e]
                    a[e], x[e] = p + r, p - r


@compiled
def _copy(source, out):  # type: ignore[no-untyped-def]
    planes, size = source.shape
    for plane in range(planes):
        a, b = source[plane], out[plane]
        for e in range(size):
            b[e] = a[e]


@compiled
def _add(source, out):  # type: ignore[no-untyped-def]
    planes, size = source.shape
    for plane in range(planes):
        a, b = source[plane], out[plane]
        for e in range(size):
            b[e] += a[e]


@compiled
def rotated_chances(F, width, weights, digits, shared, depth, scale, out):  # type: ignore[no-untyped-def]
    """out[s, o] = scale[s]·Σ_k weights[k]·|(R_s F)[o, k]|²; F has one or two planes, real and imaginary parts, flat.

    digits[s, l] is the letter of the l-th qubit from the left. Of those a setting has in common with the one before,
    the first shared[s] ≤ depth are not rotated again; what comes after ``depth`` is done on pieces that stay in the
    cache.
    """
    count, n = digits.shape
    planes, size = F.shape
    work = np.empty((depth, planes, size), F.dtype)
    part = size >> depth
    piece = np.empty((planes, part), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            _rotate(F if level == 0 else work[level - 1], digits[s, level], size >> (level + 1), work[level])
        whole, to = F if depth == 0 else work[depth - 1], out[s]
        for low in range(0, size, part):
            _copy(whole[:, low : low + part], piece)
            for level in range(depth, n):
                _turn(piece, digits[s, level], size >> (level + 1), False)
            for j in range(part // width):
                total = 0.0
                for plane in range(planes):
                    row = piece[plane, j * width : (j + 1) * width]
                    for k in range(width):
                        x = np.float64(row[k])
                        total += weights[k] * (x * x)
                to[low // width + j] = scale[s] * total


@compiled
def rotated_products(F, width, slope, digits, shared, depth, scale, total):  # type: ignore[no-untyped-def]
    """total += Σ_s scale[s]·R_sᴴ diag(slope[s]) R_s F."""
    count, n = digits.shape
    planes, size = F.shape
    work = np.empty((depth, planes, size), F.dtype)
    sums = np.zeros((depth, planes, size), F.dtype)
    part = size >> depth
    piece = np.empty((planes, part), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            _rotate(F if level == 0 else work[level - 1], digits[s, level], size >> (level + 1), work[level])
        whole, given = F if depth == 0 else work[depth - 1], slope[s]
        target = total if depth == 0 else sums[depth - 1]
        for low in range(0, size, part):
            _copy(whole[:, low : low + part], piece)
            for level in range(depth, n):
                _turn(piece, digits[s, level], size >> (level + 1), False)
            for j in range(part // width):
                y = F.dtype.type(given[low // width + j] * scale[s])
                for plane in range(planes):
                    row = piece[plane, j * width : (j + 1) * width]
                    for k in range(width):
                        row[k] *= y
            for level in range(depth, n):
                _turn(piece, digits[s, level], size >> (level + 1), True)
            _add(piece, target[:, low : low + part])
        ahead = 0 if s == count - 1 else shared[s + 1]
        for level in range(depth, ahead, -1):
            held = sums[level - 1]
            _turn(held, digits[s, level - 1], size >> level, True)
            _add(held, total if level == 1 else sums[level - 2])
            held[:] = 0
