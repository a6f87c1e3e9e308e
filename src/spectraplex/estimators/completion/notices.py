"""What the data tell about a fit that somebody should know: one sentence each, with a remedy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...places.numpy import Array
from ..input.observations import Observations
from .choose import Choice
from .recipe import Recipe
from .ridges import Alone

_SKEWED = 4.0  # the largest value is this many times as far above the median as nine in ten are
_HELPS = 0.95  # a logarithm helps where it makes the mean size of an error this much smaller


def of_data(recipe: Recipe, seen: Observations, logarithm: bool) -> list[str]:
    """What can be seen before a radius is chosen; the observations are as they were given."""
    said, (rows, cols) = [], (seen.counts()[0] > 0, seen.counts()[1] > 0)
    m, n, count = int(rows.sum()), int(cols.sum()), len(seen)
    if count > 1 and seen.values.min() == seen.values.max():
        value = f"{seen.values[0]:g}"
        if recipe.loss == "logistic":
            said.append(
                f"all {count} values are {value}: there is one class only, and every prediction will be close to it; "
                "add observations of the other class"
            )
        else:
            said.append(
                f"all {count} values are {value}, and so will be every prediction; look whether it is the right column"
            )
        return said
    for side, labels in (("row", m), ("column", n)):
        if 2 < labels == count:
            said.append(
                f"every {side} has one observation, so nothing can be learned about a {side} beyond it; choose another "
                f"{side} label if this one counts lines or is a time"
            )
    if not said and 2 < count < m + n:
        said.append(
            f"there are {count} observations of {m} rows and {n} columns, fewer than rows and columns together: most "
            "predictions will be close to a mean; leave out labels that come once, or gather more"
        )
    if not logarithm and recipe.loss != "logistic" and _log_helps(recipe, seen):
        said.append(
            "a few values are much larger than all others, and intercepts predict held-out ones better on the scale of "
            'log(1 + value); set target_transform="log1p"'
        )
    return said


def of_choice(choice: Choice) -> list[str]:
    """What the walk over radii tells."""
    radii = choice.path["radius"]
    if choice.edge:
        return [
            "the held-out error was still falling at the last of the radii that are tried, from "
            f"{radii[0]:.4g} to {radii[-1]:.4g}; give a radius, or look whether observations come twice"
        ]
    return []


def _log_helps(recipe: Recipe, seen: Observations) -> bool:
    """Whether intercepts alone predict each observation from the others with smaller errors after a logarithm."""
    values = seen.values
    if recipe.ridges is None or len(seen) < 20 or values.min() < 0.0:
        return False
    low, high, top = (float(each) for each in np.quantile(values, (0.5, 0.9, 1.0)))
    if not top - low > _SKEWED * (high - low) and not top > 20.0 * max(high, low):
        return False
    errors = []
    for given, back in ((values, _same), (np.log1p(values), np.expm1)):
        part = Observations(seen.rows, seen.cols, given, seen.weights, seen.shape)
        alone = Alone(replace(recipe, loss="squared"), part)
        predicted = back(np.clip(alone.without(recipe.ridges), given.min(), given.max()))
        errors.append(float(np.average(np.abs(predicted - back(alone.table.values)), weights=alone.table.weights)))
    return math.isfinite(errors[1]) and errors[1] < _HELPS * errors[0]


def _same(values: Array) -> Array:
    return values
