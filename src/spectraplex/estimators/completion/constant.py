"""The best constant for a convex loss that may be a straight line nearly everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable

_MOST = 200  # evaluations; about ten where values are alike
_CLOSE = 1e-12  # share of the constant


def best_constant(here: float, unit: float, bends: Callable[[float], tuple[float, float]]) -> float:
    """Newton's method on a convex function of one number, kept between two ends.

    ``bends`` gives slope and curvature, ``unit`` is how far one can see by these. Far from the values it is a
    straight line, or nearly one: there a step is no longer than the unit, then twice as long as the one before. Once
    the slope has turned no step leaves what lies between, and each is less than half of the one before.
    """
    low, high, step, before = -math.inf, math.inf, unit, math.inf
    for _ in range(_MOST):
        slope, bend = bends(here)
        if slope == 0.0:
            break
        low, high = (low, here) if slope > 0 else (here, high)
        move = slope / bend if bend > 0 else math.copysign(math.inf, slope)
        newton = True
        if math.isinf(high - low):
            newton = abs(move) <= step
            move = move if newton else math.copysign(step, slope)
            step *= 2.0
        elif not low < here - move < high or abs(move) > 0.5 * before:
            move = here - 0.5 * (low + high)
        before, here = abs(move), here - move
        if newton and before <= _CLOSE * (abs(here) + unit):
            break
    return here
