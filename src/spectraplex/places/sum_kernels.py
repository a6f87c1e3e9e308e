"""The compiled passes of plain squares beside intercepts, in rows [low, high): what is left at an entry is

    z[e] + offset − target[e] + b[row] + c[column],

never kept where only its sums are asked for.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled


@compiled
def side_sums(low, high, indptr, indices, z, target, bare, offset, p, q):  # type: ignore[no-untyped-def]
    """p[row] = Σ z + offset − target, q[column] += the same; returns half the sum of squares. Bare: no target."""
    value = 0.0
    for row in range(low, high):
        total = 0.0
        for e in range(indptr[row], indptr[row + np.uint64(1)]):
            left = z[e] + offset
            if not bare:
                left -= target[e]
            total += left
            q[indices[e]] += left
            value += 0.5 * left * left
        p[row] = total
    return value


@compiled
def what_is_left(low, high, indptr, indices, z, target, bare, offset, b, c, slope):  # type: ignore[no-untyped-def]
    """slope[e] = z + offset − target + b[row] + c[column]; returns half the sum of squares."""
    value = 0.0
    for row in range(low, high):
        shift = b[row] + offset
        for e in range(indptr[row], indptr[row + np.uint64(1)]):
            left = z[e] + (shift + c[indices[e]])
            if not bare:
                left -= target[e]
            slope[e] = left
            value += 0.5 * left * left
    return value


@compiled
def left_out(low, high, indptr, indices, slope, A, B, C, R):  # type: ignore[no-untyped-def]
    """½Σ of the squares that are left where an observation was not fitted.

    Its own pull moves a prediction by (a + b − 2)/(ab − 1), with a = A[row] + 1/C[column], b = B[column] + 1/R[row].
    """
    value = 0.0
    for row in range(low, high):
        first, down = A[row], 1.0 / R[row]
        for e in range(indptr[row], indptr[row + np.uint64(1)]):
            column = indices[e]
            a, b = first + 1.0 / C[column], B[column] + down
            lever = (a + b - 2.0) / max(a * b - 1.0, 1e-300)
            left = slope[e] * (1.0 + lever / max(1.0 - lever, 1e-6))
            value += 0.5 * left * left
    return value
