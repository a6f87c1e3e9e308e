"""How strongly frequencies weigh, chosen where a table is so large that held-out observations can tell.

A walk over radii begins with the usual exponent. A solution of it is also one for any other exponent, with other
factors: rows and columns are scaled anew, and its nuclear norm is then the radius that goes with it. So one step of the
solver from there tells whether the other exponent predicts better, and whether by more than chance.
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

Solver = Callable[[Any, float, int, Rectangular | None], Solution]  # objective, radius, steps, start


@dataclass(frozen=True, eq=False)
class Weighed:
    """A recipe with some exponent, its objective, a radius and a solution, and how it predicts what was kept aside.

    ``less`` is how much less it loses there than the recipe it is compared with, solved as far.
    """

    recipe: Recipe
    objective: Intercepts
    radius: float
    solution: Solution
    loss: float
    predictions: Array
    slopes: Array
    less: float = 0.0


def weighed(
    solve: Solver,
    objective: Any,
    recipe: Recipe,
    train: Observations,
    valid: Observations,
    X: Rectangular,
    radius: float,
) -> Weighed | None:
    """Another exponent that predicts better than the recipe's for sure, from its solution X; None where none does.

    The next larger one is tried; where that is worse for sure, the next smaller one, too. All get one more step of the
    solver, so that none looks better for being solved further.
    """
    if X.s.sum() == 0.0:
        return None
    before = plainly(objective)
    usual = _tried(solve, before, recipe, valid, X, radius)
    for exponent in (recipe.exponent + _NEXT, max(recipe.exponent - _NEXT, 0.0)):
        other = replace(recipe, exponent=exponent)
        after = plainly(other.objective(train, before.offset, SLACK))
        anew = _scaled_anew(X, before, after)
        found = _tried(solve, after, other, valid, anew, float(radius * anew.s.sum() / X.s.sum()))
        gain = _gain(usual, found)
        if gain > -_SURE:
            return replace(found, less=usual.loss - found.loss) if gain > _SURE else None
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


def _tried(
    solve: Solver, objective: Intercepts, recipe: Recipe, valid: Observations, X: Rectangular, radius: float
) -> Weighed:
    """One step from X, and what it predicts."""
    found = solve(objective, radius, 1, X)
    z = predicted(objective, valid, (found.profiles, found.X.s, found.X.V), found.rows, found.cols)
    loss, slopes = objective.loss.evaluate(z, valid.values, valid.weights)
    return Weighed(recipe, objective, radius, found, float(loss), z, slopes)


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
