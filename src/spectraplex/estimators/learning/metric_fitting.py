"""How a MetricLearner is fitted: read what was given, choose what is left to the data, solve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...places.numpy import Array
from ...problem import Problem
from . import metric_frame as frames
from .metric_choose import COLUMNS, Choice, choose, choose_given
from .metric_frame import Frame
from .metric_input import OWNER, codes_of, pairs_of, recipe_of, shares_of, size_of, triplets_of
from .metric_recipe import MARGIN, PAIRED, Found, Recipe, framed, labelled, solved

_APART = 0.5  # similar pairs are to lie this much below the squared distance that parts, dissimilar ones above


@dataclass(frozen=True, eq=False)
class Fitted:
    """A metric found, and with which settings."""

    found: Found
    recipe: Recipe
    size: float
    whitening: float
    path: dict[str, Array]
    classes: Array | None = None
    plain: Frame | None = None  # where points stay as they are, because no metric is of more use than none


def nothing_tried() -> dict[str, Array]:
    return {name: np.zeros(0) for name in COLUMNS}


def fit_labelled(model: Any, table: Array, y: Any, seed: int, told: Any) -> Fitted:
    recipe, size, shares = recipe_of(model), size_of(model), shares_of(model)
    classes, codes = labels_of(table, y)
    standard = frames.standardised(table)
    Z = standard.standard(table)
    choice = Choice(size or 0.0, shares[0], nothing_tried())
    if size is None:
        choice = choose(recipe, standard, Z, codes, shares, seed, told.scored)
    frame, points = framed(standard, Z, codes, choice.whitening, recipe.targets)
    found = labelled(recipe, frame, points, codes, choice.radius, seed, told.observers, choice.start)
    plain = framed(standard, Z, codes, shares[0], recipe.targets)[0] if choice.plain else None
    return Fitted(found, recipe, choice.radius, choice.whitening, choice.path, classes, plain)


def labels_of(table: Array, y: Any) -> tuple[Array, Array]:
    """Classes, and which of them each point has."""
    classes, codes = codes_of(y)
    if codes.size != len(table):
        raise ValueError(
            f"{OWNER}: Found input variables with inconsistent numbers of samples: {len(table)} points, {codes.size} "
            "labels; give one label a point."
        )
    return classes, codes


def fit_given(model: Any, table: Array, y: Any, triplets: Any, pairs: Any, seed: int, told: Any) -> Fitted:
    """From triplets or pairs, as they are: one problem, one solution."""
    recipe, size, shares = recipe_of(model), size_of(model), shares_of(model)
    triplets, alike = given_of(y, triplets, pairs, len(table))
    if len(shares) == 1 and shares[0] != 0.0:
        raise ValueError(f"{OWNER}: whitening needs labels; leave it at 'auto' with triplets or pairs.")
    recipe, standard = replace(recipe, rounds=1), frames.standardised(table)
    near = triplets if alike is None else triplets[alike]
    frame, points = frames.in_units(standard, standard.standard(table), near[:, 0], near[:, 1])
    bounds = bounds_of(alike)
    choice = Choice(size or 0.0, 0.0, nothing_tried())
    if size is None:
        choice = choose_given(recipe, points, triplets, bounds, PAIRED, seed, told.scored)
    fit = recipe.objective(points, triplets, bounds)
    problem = recipe.problem(fit, choice.radius)
    result = solved(recipe, problem, fit, seed, told.observers, None)
    return Fitted(Found(frame, points, triplets, bounds, problem, result, 1), recipe, choice.radius, 0.0, choice.path)


def given_of(y: Any, triplets: Any, pairs: Any, points: int) -> tuple[Array, Array | None]:
    """Triplets, or pairs as triplets with the places of the similar ones."""
    if triplets is not None and pairs is not None:
        raise ValueError(f"{OWNER}: give triplets or pairs, not both; fit twice to compare them.")
    if pairs is not None:
        return pairs_of(pairs, y, points)
    if y is not None:
        raise ValueError(f"{OWNER}: give y or triplets, not both; triplets say all that labels would.")
    return triplets_of(triplets, points), None


def bounds_of(alike: Array | None) -> Array | float:
    """How far each difference is to be above what it is compared with."""
    return MARGIN if alike is None else np.where(alike, _APART - PAIRED, PAIRED + _APART)


def problem_of(model: Any) -> Problem:
    """The problem whose solution a fitted model has."""
    recipe: Recipe = model.recipe_
    size = model.penalty_ if recipe.priced else model.radius_
    return recipe.problem(recipe.objective(model.points_, model.triplets_, model.bounds_), size)
