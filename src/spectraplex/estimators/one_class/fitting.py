"""How ``OneClassCompletion`` is fitted: choose what is left to the data, solve, keep what was found."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils import check_random_state

from ...hooks import Hooks
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ..callbacks import Told
from ..completion.first import stretched
from ..completion.fitting import keep_numbers, warn_of
from ..devices import solver_for
from ..input.labels import Labels
from ..input.observations import Observations
from . import parameters
from .choose import Choice, beside, choose, paths
from .parameters import OWNER
from .recipe import default_stop, factors, solved


def fit_columns(model: Any, first: Array, second: Array, values: Any, names: list[str] | None) -> Any:
    """Fit a model to pairs of labels, given as two columns."""
    parameters.recipe_of(model)
    return fit_observations(model, *parameters.observed(first, second, values), names)


def fit_observations(model: Any, seen: Observations, labels: tuple[Labels, Labels], names: list[str] | None) -> Any:
    recipe, radius, weight = parameters.recipe_of(model), parameters.radius_of(model), parameters.weight_of(model)
    solver = solver_for(OWNER, model.device, len(seen))
    model.seed_ = int(check_random_state(model.random_state).randint(2**31 - 1))
    with one_blas_thread, Told(model, Hooks()) as told:
        usual = parameters.usual_weight(recipe, seen)
        weights = beside(usual) if weight is None else [weight]
        choice = Choice(radius or 0.0, weights[0], paths([]), None)
        if radius is None:
            share = float(model.validation)
            choice = choose(recipe, seen, share, weights, model.seed_, told.observers, told.scored, solver)
        objective = recipe.objective(seen, choice.unobserved)
        start = None if choice.start is None else stretched(objective, choice.start, choice.radius)
        stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
        asked: Any = dict(start=start, seed=model.seed_, observers=told.observers, solver=solver)
        found = solved(objective, choice.radius, stop, **asked)
    model.radius_, model.unobserved_weight_, model.path_ = choice.radius, choice.unobserved, choice.path
    model.row_labels_, model.column_labels_ = labels
    model.observations_, model.shape_ = seen, seen.shape
    model.U_, model.s_, model.V_ = found.X.triple()
    model.row_factors_, model.column_factors_ = factors(objective, found.X)
    keep_numbers(model, found, names)
    if choice.edge:
        warnings.warn(
            f"{OWNER}, about the data: held-out pairs were still ranked higher at the last of the radii, or of the "
            "weights of unseen cells, that are tried (see path_); give radius and unobserved_weight, or look whether "
            "the same pairs come under several labels.",
            UserWarning,
            stacklevel=4,
        )
    warn_of(model, found, stop, owner=OWNER)
    return model
