"""How strongly frequencies weigh, chosen where a table is so large that held-out observations can tell.

A walk over radii begins with the usual exponent. A solution of it is also one for any other exponent, with other
factors: rows and columns are scaled anew, and its nuclear norm is then the radius that goes with it. So where the walk
goes on from a solution to a larger radius, it may as well go on with another exponent: one solve more tells whether
that predicts better, and whether by more than chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...matrices.factors import Rectangular
from ...objectives.intercepts import Intercepts
from ...places.numpy import Array
from ..input.observations import Observations
from .recipe import Recipe, Solution, plainly

SLACK = 1e-8  # share of the value that intercepts may leave while radii are compared: slopes are exact to its root
_NEXT = 0.1  # to the next exponent
_SURE = 2.0  # standard errors by which another one has to be better

Solver = Callable[[Any, float, Rectangular], Solution]  # objective, radius, a solution of another radius to start from


@dataclass(frozen=True, eq=False)
class Weighed:
    """A recipe with some exponent, its objective, a radius and a solution, and how it predicts what was kept aside."""

    recipe: Recipe
    objective: Intercepts
    radius: float
    solution: Solution
    loss: float
    predictions: Array
    slopes: Array


def weighed(
    solve: Solver,
    objective: Any,
    recipe: Recipe,
    data: tuple[Observations, Observations],
    X: Rectangular,
    radius: float,
    solution: Solution,
) -> Weighed | None:
    """Another exponent that predicts better than the recipe's for sure; None where none does.

    ``solution`` is the recipe's at a radius, solved from that of another one, X. ``data`` are what is fitted and what
    is kept aside. The next larger exponent is solved from the same X, as far; where it is worse for sure, the next
    smaller one, too.
    """
    if X.s.sum() == 0.0:
        return None
    train, valid = data
    before = plainly(objective)
    usual = _judged(before, recipe, valid, radius, solution)
    for exponent in (recipe.exponent + _NEXT, max(recipe.exponent - _NEXT, 0.0)):
        other = replace(recipe, exponent=exponent)
        after = plainly(other.objective(train, before.offset, SLACK))
        anew = _scaled_anew(X, before, after)
        size = float(radius * anew.s.sum() / X.s.sum())
        found = _judged(after, other, valid, size, solve(after, size, anew))
        gain = _gain(usual, found)
        if gain > -_SURE:
            return found if gain > _SURE else None
    return None


def predicted(
    objective: Intercepts, valid: Any, low: tuple[Array, Array, Array] | None, rows: Array, cols: Array
) -> Array:
    """What factors (if any) and intercepts say of observations that were not fitted."""
    z: Array = objective.offset + rows[valid.rows] + cols[valid.cols]
    if low is not None:
        entries = Rectangular(*low).entries(valid.rows, valid.cols)
        scales = objective.scales
        z += entries if scales is None else entries * scales[0][valid.rows] * scales[1][valid.cols]
    return z


def _judged(objective: Intercepts, recipe: Recipe, valid: Observations, radius: float, solution: Solution) -> Weighed:
    """What a solution predicts."""
    z = predicted(objective, valid, (solution.profiles, solution.X.s, solution.X.V), solution.rows, solution.cols)
    loss, slopes = objective.loss.evaluate(z, valid.values, valid.weights)
    return Weighed(recipe, objective, radius, solution, float(loss), z, slopes)


def _scaled_anew(X: Rectangular, before: Intercepts, after: Intercepts) -> Rectangular:
    """Factors of the same matrix where rows and columns have other scales."""
    one = (np.ones(1), np.ones(1))
    (s, t), (u, v) = before.scales or one, after.scales or one
    U, sizes, V = replace(X, U=X.U * (s / u)[:, None], V=X.V * (t / v)[:, None]).svd()
    return replace(X, U=U, s=sizes, V=V)


def _gain(one: Weighed, other: Weighed) -> float:
    """How much less another one loses on what was kept aside, in standard errors of the difference.

    The losses of one observation differ by its mean slope times the difference of its predictions.
    """
    apart = 0.5 * (one.slopes + other.slopes) * (other.predictions - one.predictions)
    noise = float(np.sqrt(np.sum((apart - apart.mean()) ** 2)))
    return (one.loss - other.loss) / noise if noise > 0 else 0.0
