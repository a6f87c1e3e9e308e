"""Choosing the radius, and how much is whitened: warm-started walks along the radius, judged on what was kept aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...matrices.factors import Symmetric
from ...paths.point import rank_of
from ...paths.walk import path
from ...places.numpy import Array
from ...stop import Stop
from .metric_frame import Frame
from .metric_recipe import MARGIN, ROUGHLY, Recipe, embedded, framed, neighbours
from .metric_triplets import closest

SHARES = (0.0, 0.9)  # of the scatter within classes that is made round
_SIZES = (0.125, 0.5, 2.0)  # traces that are tried, in features: see ``radii``
_FOLDS = 3
_JUDGED = 900  # points that are judged at least, in two folds or more: few are folded again, up to _FOLDINGS times
_FOLDINGS = 4
_NEAR = 5  # neighbours that are looked at
_MANY = 5_000  # points that radii are compared on; more of them say the same at a higher price
_COLUMNS = ("radius", "whitening", "error", "rank")
_ROUGH = 0.1  # gap of a solve that is only compared


@dataclass(frozen=True)
class Tried:
    """A setting and how much of what was kept aside was judged wrongly."""

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


def radii(Z: Array) -> tuple[float, ...]:
    """Traces to try: shares of the number of features that vary.

    The frame brings target neighbours to a mean squared distance of one over all features together. Features that say
    nothing so shrink those that do, and what X needs to stretch them again grows with the number of features.
    """
    varying = max(1, int(np.count_nonzero(np.ptp(Z, axis=0) > 0.0)))
    return tuple(size * varying for size in _SIZES)


def choose(
    recipe: Recipe, standard: Frame, Z: Array, codes: Array, shares: Sequence[float], seed: int, told: Told
) -> Choice:
    """By labels: the radius and share with which the neighbours of points that were kept aside are of their class."""
    rough, rng = replace(recipe, tolerance=max(_ROUGH, recipe.tolerance)), np.random.default_rng(seed)
    sizes = radii(Z)[1:]
    tried: dict[tuple[float, float], list[tuple[float, float, int]]] = {}
    for held, rest in parts(codes, rng):
        for share in shares:
            frame, points = framed(standard, Z[rest], codes[rest], share, recipe.targets)
            triplets = neighbours(recipe, embedded(points, None, recipe.keep), codes[rest])
            if not len(triplets):  # of few points, none of a class may be left
                continue
            away = Z[held] @ frame.turn
            for size, X in walk(rough, rough.objective(points, triplets), sizes, seed):
                left, right = (embedded(each, X, recipe.keep) for each in (points, away))
                error = foreign(left, codes[rest], right, codes[held])
                tried.setdefault((share, size), []).append((error, held.size, rank_of(X)))
    return least(tried, told) if tried else untried(Z, shares)


def untried(Z: Array, shares: Sequence[float]) -> Choice:
    """Where nothing can be kept aside."""
    return Choice(radii(Z)[1], shares[0], {name: np.zeros(0) for name in _COLUMNS})


def walk(recipe: Recipe, fit: Any, sizes: Sequence[float], seed: int) -> list[tuple[float, Symmetric]]:
    """The solutions along the radius, each from the one before."""
    stop: Stop = recipe.stop(fit)
    found = path(recipe.problem(fit, sizes[-1]), sizes, stop=stop, method=ROUGHLY, seed=seed)
    if len(found) < len(sizes):
        raise KeyboardInterrupt
    return [(size, point.X) for size, point in zip(sizes, found, strict=True) if isinstance(point.X, Symmetric)]


def least(tried: dict[tuple[float, float], list[tuple[float, float, int]]], told: Told) -> Choice:
    """The setting with the least mean error; of equal ones the least whitened, and then the smallest radius."""
    table = []
    for (share, size), rows in sorted(tried.items()):
        weight = sum(many for _, many, _ in rows)
        error = sum(error * many for error, many, _ in rows) / weight
        table.append(Tried(size, share, error, max(rank for *_, rank in rows)))
        told(size, error)
    best = min(table, key=lambda row: row.error)
    return Choice(best.radius, best.whitening, {n: np.array([getattr(row, n) for row in table]) for n in _COLUMNS})


def parts(codes: Array, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Folds until enough points were kept aside: of many points not all folds are needed, of few more than all."""
    judged = count = 0
    for _ in range(_FOLDINGS):
        for held, rest in folds(codes, rng):
            if count >= 2 and judged >= _JUDGED:
                return
            yield held, rest
            judged, count = judged + held.size, count + 1


def folds(codes: Array, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Points kept aside and those that are left, every class spread evenly over the folds."""
    some = rng.permutation(codes.size)[:_MANY]
    order = some[np.argsort(codes[some], kind="stable")]
    count = max(2, min(_FOLDS, int(np.bincount(codes[some]).max())))
    place = np.arange(order.size) % count
    return [(np.sort(order[place == k]), np.sort(order[place != k])) for k in range(count)]


def foreign(left: Array, codes: Array, right: Array, truth: Array) -> float:
    """How many of the nearest neighbours are of another class, as a share.

    It says more of few points than how often a vote is wrong: a vote of three to two counts as what it is.
    """
    return float(np.mean(codes[closest(right, left, _NEAR)[0]] != truth[:, None]))


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
        for size, X in walk(rough, rough.objective(Z, triplets[rest], some), radii(Z), seed):
            measured = zero + (aside.measure(*X.triple()) if X.weights.size else 0.0)
            tried.setdefault((0.0, size), []).append((float(np.mean(measured <= edge)), held.size, rank_of(X)))
    return least(tried, told) if tried else untried(Z, (0.0,))
