"""The compiled loops of expectation values of Pauli strings, one string after another. Importing this loads numba.

A Pauli string is i^|a∧b| XᵃZᵇ with bit masks a and b.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled


@compiled
def string_values(F, width, weights, flips, phases, turns, out):  # type: ignore[no-untyped-def]
    """out[i] = Σ_k weights[k] fₖᴴ P fₖ with P = i^turns X^flips Z^phases and f = x + iy (no y where turns is even)."""
    planes, size = F.shape
    for i in range(flips.size):
        total, turn = 0.0, turns[i]
        for j in range(size // width):
            at, part = j ^ flips[i], 0.0  # P|j⟩ = i^turns (−1)^{phases·j} |j^flips⟩
            there, here = slice(at * width, (at + 1) * width), slice(j * width, (j + 1) * width)
            if turn % 2 == 0:
                for plane in range(planes):
                    a, b = F[plane, there], F[plane, here]
                    for k in range(width):
                        part += weights[k] * np.float64(a[k]) * b[k]
            else:  # Re i·(x − iy)(u + iv) = yu − xv
                x, y, u, v = F[0, there], F[1, there], F[0, here], F[1, here]
                for k in range(width):
                    part += weights[k] * (np.float64(y[k]) * u[k] - np.float64(x[k]) * v[k])
            total += -part if _odd(phases[i] & j) else part
        out[i] = -total if turn >= 2 else total


@compiled
def string_products(F, width, slope, flips, phases, turns, total):  # type: ignore[no-untyped-def]
    """total += Σ_i slope[i] Pᵢ F."""
    planes, size = F.shape
    for i in range(flips.size):
        turn = turns[i]
        for j in range(size // width):
            at = j ^ flips[i]
            there, here = slice(at * width, (at + 1) * width), slice(j * width, (j + 1) * width)
            y = F.dtype.type(-slope[i] if (turn >= 2) != _odd(phases[i] & j) else slope[i])
            if turn % 2 == 0:
                for plane in range(planes):
                    a, b = total[plane, there], F[plane, here]
                    for k in range(width):
                        a[k] += y * b[k]
            else:  # i(u + iv) = −v + iu
                a, b, u, v = total[0, there], total[1, there], F[0, here], F[1, here]
                for k in range(width):
                    a[k] -= y * v[k]
                    b[k] += y * u[k]


@compiled
def _odd(bits):  # type: ignore[no-untyped-def]
    """Whether the number of ones is odd."""
    bits ^= bits >> 16
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    bits ^= bits >> 1
    return bits & 1 == 1
