"""From λ, the price that other tools ask for, to the radius that ``MatrixCompletion`` asks for."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ...checks import number
from ...penalized import Penalized, counterpart, largest, zero_image
from ...places.threads import one_blas_thread
from ...solve import solve
from ...stop import Status, Stop
from ..input.observations import Observations, matrix_entries, pair_columns
from . import parameters
from .estimator import MatrixCompletion
from .ridges import settled

OWNER = "radius_for"


def radius_for(
    model: MatrixCompletion, lam: Any, X: Any, y: Any = None, sample_weight: Any = None, *, tolerance: float = 1e-5
) -> float:
    """The radius at which a model has the solution that λ times the nuclear norm gives it: one certified solve.

    Minimises what ``model`` minimises (its loss, intercepts, weighting and ``implicit``), but with λ‖W‖_* added instead
    of ‖W‖_* ≤ radius, and returns ‖W‖_*. Fitted with that radius, the model predicts the same, and its ``multiplier_``
    is λ, both as exactly as the two solves are. The way back, from a radius to λ, is ``multiplier_``.

    Parameters
    ----------
    model : a ``MatrixCompletion``, fitted or not; only its settings are used, and not its radius.
    lam : λ > 0, the price of a unit of nuclear norm beside ½ the sum of squares (or the sum of the other losses).
    X, y, sample_weight : pairs of labels, values and weights, as ``MatrixCompletion.fit`` takes them; or, without
        ``y``, a matrix as ``MatrixCompletion.fit_matrix`` takes it.
    tolerance : the solve ends at a certified gap of this share of its value. The radius is more accurate than that
        on most data, but nothing promises it.

    Returns
    -------
    float
        The nuclear norm of the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from spectraplex.estimators import MatrixCompletion, radius_for
    >>> model = MatrixCompletion(intercepts=False, weighting="plain")
    >>> round(radius_for(model, 2.0, np.diag([5.0, 3.0, 1.0])), 3)  # singular values less 2, or zero
    4.0
    """
    if not isinstance(model, MatrixCompletion):
        raise TypeError(f"{OWNER}: the model must be a MatrixCompletion, got {type(model).__name__}.")
    lam = number(OWNER, "lam", lam, positive=True)
    tolerance = number(OWNER, "tolerance", tolerance, positive=True)
    recipe, seen = parameters.recipe_of(model), _observed(model, X, y, sample_weight)
    used = parameters.as_fitted(model, seen)
    recipe = settled(recipe, used, parameters.chooses_ridge(model), parameters.chooses_delta(model))
    with one_blas_thread:
        objective = recipe.objective(used, recipe.offset(used))
        problem = Penalized(objective, lam)
        result = solve(problem, stop=Stop(relative_gap=tolerance, max_steps=int(model.max_iter)))
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not result.X.triple()[1].sum() > 0:
            most = largest(objective, zero_image(objective))
            remedy = f"choose λ below {most:.6g}" if most > 1e-9 * lam else "without it everything is fitted"
            raise ValueError(f"{OWNER}: at λ = {lam:g} the low-rank part is zero; {remedy}.")
    if result.status is Status.STEP_LIMIT:
        warnings.warn(
            f"{OWNER}: the certified gap is {result.gap:.3g} of {result.value:.3g} after {int(model.max_iter)} steps; "
            "raise the model's max_iter, or tolerance.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return counterpart(problem, result).domain.size


def _observed(model: MatrixCompletion, X: Any, y: Any, sample_weight: Any) -> Observations:
    """The data as ``fit`` or ``fit_matrix`` would have them."""
    if y is None:
        if sample_weight is not None:
            raise ValueError(f"{OWNER}: sample_weight goes with pairs and values; a matrix has none.")
        rows, cols, values, shape = matrix_entries(X)
        return Observations(rows, cols, values, None, shape).tidy()
    parameters.present(y, sample_weight)
    first, second, _ = pair_columns(X, getattr(model, "feature_names_in_", None))
    return parameters.observed(first, second, y, sample_weight)[0].tidy()
