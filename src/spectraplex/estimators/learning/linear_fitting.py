"""Fitting a linear model of bounded nuclear norm: the radius by cross-validation, then one certified solve."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...checks import is_word
from ...domains.sets import NuclearBall
from ...hooks import Hooks
from ...matrices.factors import Rectangular
from ...methods.hybrid import Hybrid
from ...paths.point import rank_of
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ...problem import Problem
from ...result import Result
from ...stop import Status, Stop
from ..callbacks import Told
from .linear_data import Design, Moments, moments_of
from .linear_folds import Parted, splits
from .linear_inner import SLACK, Outputs
from .linear_objective import LinearFit
from .radii import Walked, first_radius, walk

_SMALL = 1e-3  # of the value at zero: no gap is small beside a value below that
_FINE = 1e-6  # share of the gap asked for that intercepts may leave
_ROUGH = 0.01  # what is asked for where radii are only compared
_WIDE = 16  # eigenvectors of a first escape
_ROUGHLY = 1e-3  # a gap, as a share of the value, that counts as rough
_BLOCK = 4096  # samples whose answers are computed at a time


class Recipe(Parted, Protocol):
    """Everything that makes a certified problem of some samples."""

    @property
    def ridge(self) -> float | None: ...
    @property
    def standardize(self) -> bool: ...

    def outputs(self, rows: Array | None) -> Outputs:
        """Their targets; all of them for None."""
        ...

    def judged(self, rows: Array, offset: Array) -> Outputs:
        """The targets of samples that were kept aside, after what was learned without them."""
        ...


@dataclass(frozen=True, eq=False)
class Model:
    """W in factors, what features were centred and scaled by, and the intercepts."""

    moments: Moments
    U: Array
    s: Array
    V: Array
    intercept: Array

    def scores(self, data: Any) -> Array:
        """X̃W + intercepts, some samples at a time."""
        left = self.U / self.moments.scale[:, None]
        shift, right = self.moments.mean @ left, (self.V * self.s).T
        out = np.empty((data.shape[0], self.V.shape[0]))
        for low in range(0, data.shape[0], _BLOCK):
            out[low : low + _BLOCK] = (data[low : low + _BLOCK] @ left - shift) @ right + self.intercept
        return out

    def coefficients(self) -> tuple[Array, Array]:
        """(outputs × features, outputs) with scores = X·coefᵀ + intercept, in the units of X."""
        coef = ((self.U / self.moments.scale[:, None]) * self.s) @ self.V.T
        return coef.T, self.intercept - self.moments.mean @ coef


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found."""

    model: Model
    result: Result
    radius: float
    path: dict[str, Array]

    def attributes(self) -> dict[str, Any]:
        """What an estimator shows of it."""
        result, X = self.result, self.result.X
        assert isinstance(X, Rectangular)
        U, s, V = X.svd()
        shown = {
            "solution_": X,
            "certificate_": result.certificate,
            "status_": result.status,
            "U_": U,
            "s_": s,
            "V_": V,
        }
        found = {"radius_": self.radius, "path_": self.path, "rank_": rank_of(X)}
        return shown | found | {"n_iter_": max(1, result.trace[-1].step), "_model": self.model}


def objective_of(recipe: Recipe, tol: float, rows: Array | None = None) -> LinearFit:
    """The objective of all samples, or of some."""
    data = recipe.data if rows is None else recipe.data[rows]
    weights = recipe.weights if rows is None or recipe.weights is None else recipe.weights[rows]
    moments = moments_of(data, weights, recipe.ridge is not None, recipe.standardize)
    slack = max(SLACK, _FINE * tol)
    return LinearFit(Design(data, moments), recipe.outputs(rows), recipe.ridge, slack)


def problem_of(objective: LinearFit, radius: float) -> Problem:
    return Problem(objective, NuclearBall(objective.shape, radius))


def fit(model: Any, recipe: Recipe, hooks: Hooks) -> Fitted:
    """Choose the radius where it is not given, and solve; ``model`` has the settings, and its callbacks are told."""
    owner, seed, path = type(model).__name__, int(model.random_state), {"radius": np.empty(0), "score": np.empty(0)}
    with one_blas_thread, Told(model, hooks) as told:
        objective, start = objective_of(recipe, float(model.tol)), None
        if is_word(model.radius, "auto"):
            walked = chosen(model, recipe, objective, told, hooks)
            radius, path, start = walked.radius, walked.path, walked.start
        else:
            radius = float(model.radius)
        zero = objective.evaluate(np.zeros(math.prod(objective.outputs.shape)))[0]
        stop = Stop(relative_gap=float(model.tol), gap=float(model.tol) * _SMALL * zero, max_steps=int(model.max_iter))
        hooks.listener.begin(f"fitting with radius {radius:.4g}", stop, True)
        problem = problem_of(objective, radius)
        method = method_for(objective, float(model.tol))
        how: dict[str, Any] = dict(stop=stop, start=start, seed=seed, observers=told.observers)
        result = hooks.solver(problem, method=method, **how)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.status not in (Status.GAP, Status.FLOOR):
        asked = f"Here that is max_iter={model.max_iter} and tol={model.tol:g}."
        warnings.warn(f"{owner}: {result.status.value} {asked}", ConvergenceWarning, stacklevel=5)
    return Fitted(model_of(objective, result.X), result, radius, path)


def method_for(objective: LinearFit, tol: float) -> Hybrid:
    """Many eigenvectors at once and little polishing where a rough answer will do: passes over the samples are dear."""
    wide = max(2, min(_WIDE, *objective.shape))
    return Hybrid(block=wide, share=0.1, balance=False, polish=10) if tol >= _ROUGHLY else Hybrid()


def model_of(objective: LinearFit, X: Any) -> Model:
    U, s, V = (np.asarray(part) for part in X.triple())
    intercept = objective.outputs.offset + objective.best(objective.measure(U, s, V)).intercepts
    return Model(objective.design.moments, U, s, V, intercept)


# -------------------------------------------------------------------------------------------------- cross-validation


def chosen(model: Any, recipe: Recipe, objective: LinearFit, told: Told, hooks: Hooks) -> Walked:
    """The radius by cross-validation; one where there is nothing to choose by."""
    first = first_radius(objective)
    folds = [_Fold.of(recipe, train, valid) for train, valid in splits(type(model).__name__, recipe, model.cv)]
    if not first > 0.0 or not folds:
        return Walked(max(first, 1.0), {"radius": np.empty(0), "score": np.empty(0)})
    asked: dict[str, Any] = dict(observers=told.observers, told=told.scored, solver=hooks.solver)
    asked["method"] = method_for(objective, _ROUGH)
    return walk(folds, first, seed=int(model.random_state), **asked)


@dataclass(frozen=True, eq=False)
class _Fold:
    """Some samples to fit, and others to judge by."""

    objective: LinearFit
    design: Design
    outputs: Outputs

    @classmethod
    def of(cls, recipe: Recipe, train: Array, valid: Array) -> _Fold:
        objective = objective_of(recipe, _ROUGH, train)
        design = Design(recipe.data[valid], objective.design.moments)
        return cls(objective, design, recipe.judged(valid, objective.outputs.offset))

    @property
    def weight(self) -> float:
        return self.objective.outputs.total

    def problem(self, radius: float) -> Problem:
        return problem_of(self.objective, radius)

    def loss(self, X: Any) -> tuple[float, float]:
        U, s, V = X.triple()
        b = self.objective.best(self.objective.measure(U, s, V)).intercepts
        z = (self.design.times(U) * s) @ V.T + b
        return self.outputs.best(z.reshape(-1), None).value, self.outputs.total
