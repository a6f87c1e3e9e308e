"""Where a walk over radii begins: near the radius where something begins to happen; and a solve: from another one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ...eigen.leading import leading
from ...losses.protocol import LossFacts
from ...matrices.factors import Rectangular
from ...objectives.facts import facts_of
from ...penalized import unit_ball, zero_image
from .recipe import Table, plainly

_FIRST = 1.5  # the walk begins at so many times the radius where something begins to happen
_FARTHER = 12  # times ten times as far, where a curve is straight


def first_tried(objective: Table) -> float:
    """Where the walk begins; zero where there is nothing to walk for. It depends on every value."""
    return _FIRST * first_radius(objective)


def first_radius(objective: Table) -> float:
    """The best multiple of the leading singular pair of the gradient at zero, alone: where something begins."""
    zero, images, table = zero_image(objective), facts_of(objective).images, plainly(objective)
    slope = objective.evaluate(zero)[1]
    count, steepest = math.sqrt(images.count(slope)), LossFacts.of(table.loss).steepest
    # rounding of the largest value; where a loss is a straight line no slope is off by that much
    if not images.norm(slope) > count * min(1e-12 * (table.largest + 1e-300), 1e-3 * steepest):
        return 0.0
    lifted = unit_ball(objective, False).lifted
    asked: dict[str, Any] = dict(accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0)
    vector = leading(lifted.pull(slope), **asked).vector
    ahead = lifted.measure(vector, np.ones(1), vector)
    curve = objective.along(zero, ahead)
    # close by, in the unit of the values, or of the misfits that count as squares
    size = 1e-6 * min(table.largest, steepest) * count / max(images.norm(ahead), 1e-300)
    bend = curve.curvature(size)
    for _ in range(_FARTHER):
        if bend > 0:
            break
        size *= 10.0  # a loss that is a straight line close by bends farther away
        bend = curve.curvature(size)
    return max(-curve.derivative(0.0), 0.0) / bend if bend > 0 else 0.0


def stretched(objective: Any, X: Rectangular, radius: float) -> Rectangular:
    """A solution of another radius, scaled as far towards this one as lowers the loss."""
    total = float(X.s.sum())
    if total == 0.0:
        return X
    image = objective.measure(*X.triple())
    ahead = radius / total - 1.0
    factor = 1.0 + (float(objective.along(image, image).minimize(ahead)) if ahead > 0 else ahead)
    return replace(X, s=factor * X.s)
