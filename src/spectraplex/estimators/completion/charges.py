"""How strongly the weights of features are held back: so that rows which were left out are predicted best.

Given the columns, each row has an effect that its own observations ask for, known as well as they are many. A ridge
regression of these effects on the features predicts every row from all the others, and how well follows from one
decomposition for every ridge (the leave-one-out formula of least squares). The same for columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...objectives.sides import SideFeatures, gram
from ...places.numpy import Array
from ..input.observations import Observations
from .recipe import Recipe
from .ridges import Alone, best_ridges

_FLAT = 1e-4  # of two ridges whose scores differ by less than this share the larger is taken
_LOW = -4  # of log₂ (ridge of weights / ridge of intercepts)
_HIGH = 8  # and beyond log₂ of the number of rows: there is no linear term then


def settled_charges(recipe: Recipe, seen: Observations, charge: bool, ridge: bool) -> Recipe:
    """The recipe with what is to be chosen chosen: ``charge`` and ``ridge`` say which.

    Where features explain effects, intercepts are what they leave, and have a larger ridge.
    """
    ridges, features = recipe.ridges, recipe.features
    if features is None or ridges is None:
        return recipe
    if charge:
        features = best_charges(Alone(replace(recipe, features=None), seen), ridges, features)
    if ridge:
        ridges = best_ridges(Alone(replace(recipe, features=features), seen), ridges)
    if charge and ridge:
        features = best_charges(Alone(replace(recipe, features=features), seen), ridges, features)
    return replace(recipe, ridges=ridges, features=features)


def best_charges(alone: Alone, ridges: tuple[float, float], features: SideFeatures) -> SideFeatures:
    """The same features, with the ridges that predict rows, and columns, best from the others."""
    table, loss = alone.table, alone.loss
    found = alone.fitted(ridges)
    z = table.observed.spread(np.full(table.values.size, alone.offset), found.rows, found.cols)
    bend = np.broadcast_to(loss.second(z, table.values, table.weights), z.shape)
    charges = list(features.charges)
    designs, codes, effects = (features.rows, features.cols), (alone.rows, alone.cols), (found.rows, found.cols)
    for side, design in enumerate(designs):
        if design is None:
            continue
        count = table.shape[side]
        pull, curve = (np.bincount(codes[side], each, count) for each in (found.slope, bend))
        there = curve > 0
        wanted = np.where(there, effects[side] - pull / np.where(there, curve, 1.0), 0.0)
        known = ridges[side] * curve / (curve + ridges[side])
        charges[side] = ridges[side] * _best(design, wanted, known / ridges[side])
    return replace(features, charges=(charges[0], charges[1]))


def _best(design: Any, wanted: Array, weights: Array) -> float:
    """The ridge with which each of the wanted numbers is best predicted from all the others."""
    values, vectors = np.linalg.eigh(gram(design, weights))
    values = np.maximum(values, 0.0)
    root = np.sqrt(weights)
    turned = root[:, None] * np.asarray(design @ vectors)
    target = root * wanted
    along, squares = turned.T @ target, turned**2
    tried = 2.0 ** np.arange(_LOW, np.log2(max(wanted.size, 2)) + _HIGH)
    scores = []
    for ridge in tried:
        left = target - turned @ (along / (values + ridge))
        lever = squares @ (1.0 / (values + ridge))
        scores.append(float(np.sum((left / np.maximum(1.0 - lever, 1e-9)) ** 2)))
    good = np.asarray(scores) <= (1.0 + _FLAT) * min(scores)
    return float(tried[np.flatnonzero(good)[-1]])
