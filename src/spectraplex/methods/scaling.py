"""The diagonal scaling of a descent on a factor Y: one over the diagonal of a Gauss-Newton Hessian.

For a squared loss the entry at (i, k) is about (how much row i is observed) · (how much column k weighs), plus the
multiplier λ = −⟨∇f, X⟩ of the trace constraint.
"""

from __future__ import annotations

import numpy as np

from ..places.protocol import Block
from ..problem import Problem

_HUGE = 1e290  # a curvature beyond this is no curvature
_FLOOR = 1e-3  # smallest curvature in the scaling, as a share of the largest


def inverse_curvature(
    problem: Problem, Y: Block, norm: float, multiplier: float, curvature: float, times: float = 1.0
) -> Block:
    """The diagonal scaling at Y/‖Y‖, ``norm`` being ‖Y‖², multiplied by a number.

    ``curvature`` is the mean one of the loss, for objectives that cannot say more.
    """
    lifted, objective, place = problem.lifted.corner, problem.objective, problem.place
    m, n = objective.shape
    if not float(curvature) * m * n * lifted.scale**2 < _HUGE:  # of a step that cancelled to nothing
        curvature = 0.0
    told = problem.facts.coverage
    rows, cols = (np.full(m, curvature * n), np.full(n, curvature * m)) if told is None else told
    total = max(float(rows.sum()), np.finfo(float).tiny)
    left, right = place.rows(Y, lifted.left), place.rows(Y, lifted.right)
    unit = lifted.scale**2 / norm
    above, below = unit * place.dots(right, right, cols / total), unit * place.dots(left, left, rows / total)
    bend = place.outer(slice(0, place.length(Y)), [(lifted.left, rows, above), (lifted.right, cols, below)])
    floor = max(multiplier, _FLOOR * place.largest(bend))
    return place.reciprocal(bend, 0.5 * times, floor if floor > 0.0 else abs(multiplier) or 1.0)  # f may be linear
