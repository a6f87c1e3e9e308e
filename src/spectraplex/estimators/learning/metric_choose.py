"""Choosing the radius, and how much is whitened: warm-started walks along the radius, judged on what was kept aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...matrices.factors import Symmetric
from ...paths.point import rank_of
from ...paths.walk import path
from ...places.numpy import Array
from ...stop import Stop
from .metric_frame import Frame
from .metric_recipe import MARGIN, Recipe, embedded, framed, neighbours
from .metric_triplets import closest

RADII = (2.0, 8.0, 32.0)  # in units of the frame
SHARES = (0.0, 0.5)  # of the scatter within classes that is made round
_FOLDS = 3
_VOTES = (1, 3, 5)  # neighbours that vote: three counts together are less a matter of chance than one
_MANY = 5_000  # points that radii are compared on; more of them say the same at a higher price
_ROUGH = 0.1  # gap of a solve that is only compared


@dataclass(frozen=True)
class Tried:
    """A setting and how often what was kept aside was judged wrongly."""

    radius: float
    whitening: float
    error: float
    rank: int


@dataclass(frozen=True, eq=False)
class Choice:
    """The setting with the least error, and all that were tried."""

    radius: float
    whitening: float
    path: dict[str, Array]


Told = Callable[[float, float], Any]


def choose(
    recipe: Recipe, standard: Frame, Z: Array, codes: Array, shares: Sequence[float], seed: int, told: Told
) -> Choice:
    """By labels: the radius and share with which neighbours vote best on points that were kept aside."""
    rough, rng = replace(recipe, tolerance=max(_ROUGH, recipe.tolerance)), np.random.default_rng(seed)
    parts = folds(codes, rng)
    tried: dict[tuple[float, float], list[tuple[float, float, int]]] = {}
    for held, rest in parts:
        for share in shares:
            frame, points = framed(standard, Z[rest], codes[rest], share, recipe.targets)
            away = Z[held] @ frame.turn
            fit = rough.objective(points, neighbours(recipe, embedded(points, None, recipe.keep), codes[rest]))
            for size, X in walk(rough, fit, RADII, seed):
                left, right = (embedded(each, X, recipe.keep) for each in (points, away))
                error = wrong(left, codes[rest], right, codes[held])
                tried.setdefault((share, size), []).append((error, held.size, rank_of(X)))
    return least(tried, told)


def walk(recipe: Recipe, fit: Any, radii: Sequence[float], seed: int) -> list[tuple[float, Symmetric]]:
    """The solutions along the radius, each from the one before."""
    stop: Stop = recipe.stop(fit)
    found = path(recipe.problem(fit, radii[-1]), radii, stop=stop, seed=seed)
    if len(found) < len(radii):
        raise KeyboardInterrupt
    return [(size, point.X) for size, point in zip(radii, found, strict=True) if isinstance(point.X, Symmetric)]


def least(tried: dict[tuple[float, float], list[tuple[float, float, int]]], told: Told) -> Choice:
    """The setting with the least mean error; of equal ones the least whitened, and then the smallest radius."""
    table = []
    for (share, size), rows in sorted(tried.items()):
        weight = sum(many for _, many, _ in rows)
        error = sum(error * many for error, many, _ in rows) / weight
        table.append(Tried(size, share, error, max(rank for *_, rank in rows)))
        told(size, error)
    best = min(table, key=lambda row: row.error)
    names = ("radius", "whitening", "error", "rank")
    return Choice(best.radius, best.whitening, {n: np.array([getattr(row, n) for row in table]) for n in names})


def folds(codes: Array, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Points kept aside and those that are left, every class spread evenly over the folds."""
    some = rng.permutation(codes.size)[:_MANY]
    order = some[np.argsort(codes[some], kind="stable")]
    count = max(2, min(_FOLDS, int(np.bincount(codes[some]).max())))
    place = np.arange(order.size) % count
    return [(np.sort(order[place == k]), np.sort(order[place != k])) for k in range(count)]


def wrong(left: Array, codes: Array, right: Array, truth: Array) -> float:
    """How often votes of the nearest neighbours are wrong, one, three and five of them voting."""
    count = max(_VOTES)
    near = closest(right, left, count)[0]
    errors = []
    for votes in _VOTES:
        classes = codes[near[:, :votes]]
        table = np.zeros((len(right), int(codes.max()) + 1))
        for k in range(classes.shape[1]):
            table[np.arange(len(right)), classes[:, k]] += 1.0 + 1e-3 * (count - k)  # the nearest decides ties
        errors.append(float(np.mean(table.argmax(axis=1) != truth)))
    return float(np.mean(errors))


def choose_given(
    recipe: Recipe, Z: Array, triplets: Array, bounds: Array | float, limit: float, seed: int, told: Told
) -> Choice:
    """By triplets or pairs that were given: the radius with which those kept aside are judged best."""
    rough, rng = replace(recipe, tolerance=max(_ROUGH, recipe.tolerance)), np.random.default_rng(seed)
    order, count = rng.permutation(len(triplets)), min(_FOLDS, len(triplets))
    tried: dict[tuple[float, float], list[tuple[float, float, int]]] = {}
    for k in range(count if count > 1 else 0):
        held, rest = np.sort(order[k::count]), np.sort(np.delete(order, np.s_[k::count]))
        some = bounds if isinstance(bounds, float) else bounds[rest]
        aside = recipe.objective(Z, triplets[held])
        zero = MARGIN - aside.targets  # what the kept identity measures
        edge = np.sign(bounds[held]) * limit if isinstance(bounds, np.ndarray) else 0.0
        for size, X in walk(rough, rough.objective(Z, triplets[rest], some), RADII, seed):
            measured = zero + (aside.measure(*X.triple()) if X.weights.size else 0.0)
            tried.setdefault((0.0, size), []).append((float(np.mean(measured <= edge)), held.size, rank_of(X)))
    if not tried:
        return Choice(RADII[1], 0.0, {name: np.zeros(0) for name in ("radius", "whitening", "error", "rank")})
    return least(tried, told)
