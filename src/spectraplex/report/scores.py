"""How good the predictions are: on observations that were not fitted, and beside simple baselines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..estimators.completion import choose, first, parameters, serving
from ..estimators.completion.folds import asides
from ..estimators.completion.recipe import Recipe
from ..estimators.input.observations import Observations, pair_columns
from ..places.numpy import Array

_OWNER = "report"
_USUAL = (4.0, 2.0)  # ridges of the biases where the model itself has none

Measure = tuple[str, Callable[[Array, Array, Array | None], float]]


@dataclass(frozen=True)
class Scored:
    """One predictor and its errors, in the order of the measures."""

    name: str
    what: str
    errors: tuple[float, ...]
    ours: bool = False


@dataclass(frozen=True, eq=False)
class Judged:
    """Errors on ``count`` observations.

    ``how`` is "held out" (given, and not fitted), "validation" (those that chose the radius), or "none"; ``lines`` has
    the baselines first and the model last; ``known`` says whether the split could be made again for the baselines.
    ``new`` has which of the held-out pairs were not fitted, too.
    """

    how: str
    count: int
    measures: tuple[str, ...]
    lines: tuple[Scored, ...]
    known: bool = True
    folds: int = 0
    unseen: int = 0
    fitted: int = 0
    predicted: Array | None = None
    observed: Array | None = None
    places: tuple[Array, Array] | None = None
    pairs: tuple[Array, Array] | None = None
    new: Array | None = None

    @property
    def ours(self) -> float:
        return self.lines[-1].errors[0]

    @property
    def others(self) -> tuple[Scored, ...]:
        return self.lines[:-1]


# -------------------------------------------------------------------------------------------------------- measures


def measures(model: Any) -> tuple[Measure, ...]:
    """Errors of predictions against observed values; the first is the one that the model is judged by."""

    def rmse(p: Array, v: Array, w: Array | None) -> float:
        return math.sqrt(float(np.average((p - v) ** 2, weights=w)))

    def mae(p: Array, v: Array, w: Array | None) -> float:
        return float(np.average(np.abs(p - v), weights=w))

    def huber(p: Array, v: Array, w: Array | None) -> float:
        inside = np.minimum(np.abs(p - v), model.delta_)
        return float(np.average(inside * (np.abs(p - v) - 0.5 * inside), weights=w))

    if model.loss == "squared":
        return ("RMSE", rmse), ("MAE", mae)
    if model.loss == "huber":
        return ("mean Huber loss", huber), ("MAE", mae), ("RMSE", rmse)
    bottom = lowest(model)

    def surprise(p: Array, v: Array, w: Array | None) -> float:
        share = np.clip((p - bottom) / (1.0 - bottom), 1e-300, 1.0)
        other = np.clip((1.0 - p) / (1.0 - bottom), 1e-300, 1.0)
        return float(np.average(-np.log(np.where(v > bottom, share, other)), weights=w))

    def wrong(p: Array, v: Array, w: Array | None) -> float:
        return float(np.average((p > 0.5 * (1.0 + bottom)) != (v > bottom), weights=w))

    return ("log loss", surprise), ("share wrong", wrong)


def lowest(model: Any) -> float:
    """What the lower of two values is called: 0 or −1."""
    return -1.0 if model.range_[0] == -1.0 else 0.0


def seed_of(model: Any) -> int | None:
    """The seed that the fit drew from ``random_state``; None where it cannot be told any more."""
    if hasattr(model, "seed_"):
        return int(model.seed_)
    if isinstance(model.random_state, int | np.integer):
        return int(np.random.RandomState(model.random_state).randint(2**31 - 1))
    return None


# ------------------------------------------------------------------------------------------------------- baselines


@dataclass(frozen=True, eq=False)
class Biases:
    """offset + row intercept + column intercept, fitted alone; and the value they reach."""

    offset: float
    rows: Array
    cols: Array
    value: float

    @classmethod
    def of(cls, recipe: Recipe, seen: Observations) -> Biases:
        plain = replace(recipe, ridges=recipe.ridges or _USUAL, exponent=0.0, implicit=0.0)
        offset = plain.offset(seen)
        found = plain.objective(seen, offset).inner(np.zeros(len(seen)))
        return cls(offset, found.rows, found.cols, float(found.value))

    def at(self, rows: Array, cols: Array) -> Array:
        out = np.full(rows.size, self.offset)
        out[rows >= 0] += self.rows[rows[rows >= 0]]
        out[cols >= 0] += self.cols[cols[cols >= 0]]
        return out


def constant_name(model: Any) -> tuple[str, str]:
    if model.loss == "squared":
        return "Global mean", "the same prediction everywhere: the mean of the observed values"
    if model.loss == "huber":
        return "One constant", "the same prediction everywhere: the constant with the least Huber loss"
    return "Overall share", "the same probability everywhere: the share of ones among the observed values"


_BIASES = ("Biases", "one number for each row and each column, no interaction between them")


def as_used(model: Any) -> Observations:
    """The observations as the objective takes them."""
    seen: Observations = model.observations_
    return parameters.as_fitted(model, seen)


# ---------------------------------------------------------------------------------------------------------- judges


def judged(model: Any, held_out: Any, biases: Biases | None = None) -> Judged:
    """On what was held out, if given; else on what chose the radius, if anything did.

    ``biases`` are those of the data as fitted, where somebody has them already.
    """
    if held_out is not None:
        return _held_out(model, held_out, biases or Biases.of(parameters.fitted_recipe(model), as_used(model)))
    if model.path_["radius"].size:
        return _validation(model)
    return Judged("none", 0, (), ())


def _held_out(model: Any, held_out: Any, biases: Biases) -> Judged:
    try:
        pairs, values = held_out
    except (TypeError, ValueError):
        raise ValueError(f"{_OWNER}: held_out must be (pairs, values), like what fit takes.") from None
    first, second, _ = pair_columns(pairs, getattr(model, "feature_names_in_", None))
    observed = parameters.checked_values(np.asarray(values))
    if not first.size == second.size == observed.size:
        raise ValueError(f"{_OWNER}: held_out has {first.size} pairs and {observed.size} values; give one per pair.")
    if not observed.size:
        raise ValueError(f"{_OWNER}: held_out is empty; leave it out instead.")
    if model.loss == "logistic":
        low = lowest(model)
        if not np.isin(observed, (low, 1.0)).all():
            raise ValueError(f"{_OWNER}: the values of held_out must be {low:g} or 1, like those of the fit.")
    rows = model.row_labels_.codes(first, _OWNER, "row labels")
    cols = model.column_labels_.codes(second, _OWNER, "column labels")
    predicted = serving.linked(model, serving.linear(model, rows, cols))
    constant = np.full(observed.size, biases.offset)
    guesses = (
        (*constant_name(model), serving.linked(model, constant)),
        (*_BIASES, serving.linked(model, biases.at(rows, cols))),
        ("This model", "biases and the low-rank part together", predicted),
    )
    named = measures(model)
    lines = tuple(
        Scored(name, what, tuple(error(guess, observed, None) for _, error in named), name == "This model")
        for name, what, guess in guesses
    )
    known = (rows >= 0) & (cols >= 0)
    seen, wide = model.observations_, model.observations_.shape[1]
    new = np.ones(observed.size, bool)
    new[known] = ~np.isin(rows[known] * wide + cols[known], seen.rows * wide + seen.cols)
    return Judged(
        "held out",
        observed.size,
        tuple(name for name, _ in named),
        lines,
        unseen=int((~known).sum()),
        fitted=int((~new).sum()),
        predicted=predicted,
        observed=observed,
        places=(rows, cols),
        pairs=(first, second),
        new=new,
    )


def _validation(model: Any) -> Judged:
    """The score that chose the radius, and the baselines on the same folds, if they can be made again."""
    best = int(np.argmin(model.path_["score"]))
    mine = Scored("This model", "at the best radius", (float(model.path_["score"][best]),), True)
    name = measures(model)[0][0] + (" of log(1 + value)" if parameters.takes_log(model) else "")
    parts = split(model)
    if not parts:
        return Judged("validation", 0, (name,), (mine,), known=False)
    recipe = parameters.fitted_recipe(model)
    scores, valid = np.zeros((len(parts), 3)), sum(len(valid) for _, valid in parts)
    for k, (train, aside) in enumerate(parts):
        biases = Biases.of(recipe, train)
        scores[k] = (
            _loss(recipe, np.full(len(aside), biases.offset), aside),
            _loss(recipe, biases.at(aside.rows, aside.cols), aside),
            len(aside) if aside.weights is None else float(aside.weights.sum()),
        )
    constant, alone, total = (float(each) for each in scores.sum(axis=0))
    lines = (
        Scored(*constant_name(model), (choose.mean_score(recipe, constant, total),)),
        Scored(*_BIASES, (choose.mean_score(recipe, alone, total),)),
    )
    return Judged("validation", valid, (name,), (*lines, mine), folds=len(parts))


def _loss(recipe: Recipe, z: Array, valid: Observations) -> float:
    """As the walk over radii scores: nothing is clipped."""
    return float(recipe.losses().evaluate(z, valid.values, valid.weights)[0])


def split(model: Any) -> list[tuple[Observations, Observations]]:
    """Training and validation parts of the walk, fold by fold; none if they are not of the model's observations.

    Observations may have been added, or settings changed, since the radius was chosen. The walk begins at a radius that
    depends on every training value, so where that radius is on the path, the folds are the same.
    """
    used, recipe = as_used(model), parameters.fitted_recipe(model)
    recipe = replace(recipe, exponent=parameters.recipe_of(model).exponent)  # the walk's, not what came of it
    held = asides(used, float(model.validation), vars(model).get("latest_"))
    if held[0].size != len(used):
        return []
    parts = [(used.part(~aside), used.part(aside)) for aside in held]
    parts = [(train, valid) for train, valid in parts if len(train) and len(valid)]
    if not parts:
        return []
    start = first.first_tried(recipe.objective(parts[0][0], recipe.offset(parts[0][0])))
    return parts if np.isclose(model.path_["radius"], start, rtol=1e-4, atol=0.0).any() else []
