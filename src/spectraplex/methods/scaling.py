"""The diagonal scaling of a descent on a factor Y: one over the diagonal of a Gauss-Newton Hessian.

For a squared loss the entry at (i, k) is about (how much row i is observed) · (how much column k weighs), plus the
multiplier λ = −⟨∇f, X⟩ of the trace constraint.
"""

from __future__ import annotations

import numpy as np

from ..places.numpy import Array
from ..problem import Problem

_HUGE = 1e290  # a curvature beyond this is no curvature
_FLOOR = 1e-3  # smallest curvature in the scaling, as a share of the largest


def inverse_curvature(problem: Problem, Y: Array, multiplier: float, curvature: float) -> Array:
    """The diagonal scaling at Y; ``curvature`` is the mean one of the loss, for objectives that cannot say more."""
    lifted, objective = problem.lifted.block, problem.objective
    m, n = objective.shape
    if not float(curvature) * m * n * lifted.scale**2 < _HUGE:  # of a step that cancelled to nothing
        curvature = 0.0
    told = problem.facts.coverage
    rows, cols = (np.full(m, curvature * n), np.full(n, curvature * m)) if told is None else told
    total = max(float(rows.sum()), np.finfo(float).tiny)
    squares = np.abs(Y) ** 2
    bend = np.zeros(Y.shape)
    bend[lifted.left] += np.outer(rows, (cols / total) @ squares[lifted.right])
    bend[lifted.right] += np.outer(cols, (rows / total) @ squares[lifted.left])
    bend *= lifted.scale**2
    floor = max(multiplier, _FLOOR * float(bend.max()))
    whole = bend + (floor if floor > 0.0 else abs(multiplier) or 1.0)  # a loss may be linear
    return np.asarray(0.5 / np.maximum(whole, 1e-290))
