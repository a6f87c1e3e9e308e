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
_SIZES = (0.125, 0.5, 2.0)  # traces that are tried, in features: see ``radii``; with labels the smaller two
_FOLDS = 3
_JUDGED = 900  # points that are judged at least, in two folds or more: few are folded again, up to _FOLDINGS times
_FOLDINGS = 4
_NEAR = 5  # neighbours that are looked at
_MANY = 5_000  # points that radii are compared on; more of them say the same at a higher price
COLUMNS = ("radius", "whitening", "error", "wrong", "rank")
_ROUGH = 0.1  # gap of a solve that is only compared


@dataclass(frozen=True)
class Tried:
    """A setting and how much of what was kept aside was judged wrongly: neighbours (or triplets, pairs), and votes."""

    radius: float
    whitening: float
    error: float
    wrong: float
    rank: int


@dataclass(frozen=True, eq=False)
class Choice:
    """A setting, all that were tried, a metric that was found with it, and whether no metric does better than none."""

    radius: float
    whitening: float
    path: dict[str, Array]
    start: Symmetric | None = None
    plain: bool = False


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
    sizes, plain = radii(Z)[:2], Judged()
    tried: dict[tuple[float, float], Judged] = {}
    for held, rest in parts(codes, rng):
        for share in shares:
            frame, points = framed(standard, Z[rest], codes[rest], share, recipe.targets)
            triplets = neighbours(recipe, embedded(points, None, recipe.keep), codes[rest])
            if not len(triplets):  # of few points, none of a class may be left
                continue
            away = Z[held] @ frame.turn
            if share == shares[0]:
                plain.add(*judged(points, codes[rest], away, codes[held], recipe.targets))
            for size, X in walk(rough, rough.objective(points, triplets), sizes, seed):
                left, right = (embedded(each, X, recipe.keep) for each in (points, away))
                found = judged(left, codes[rest], right, codes[held], recipe.targets)
                tried.setdefault((share, size), Judged()).add(*found, X)
    return decided(tried, plain, shares[0], told) if tried else untried(Z, shares)


def untried(Z: Array, shares: Sequence[float]) -> Choice:
    """Where nothing can be kept aside."""
    return Choice(radii(Z)[1], shares[0], {name: np.zeros(0) for name in COLUMNS})


def walk(recipe: Recipe, fit: Any, sizes: Sequence[float], seed: int) -> list[tuple[float, Symmetric]]:
    """The solutions along the radius, each from the one before."""
    stop: Stop = recipe.stop(fit)
    found = path(recipe.problem(fit, sizes[-1]), sizes, stop=stop, method=ROUGHLY, seed=seed)
    if len(found) < len(sizes):
        raise KeyboardInterrupt
    return [(size, point.X) for size, point in zip(sizes, found, strict=True) if isinstance(point.X, Symmetric)]


@dataclass
class Judged:
    """Of one setting: foreign neighbours and wrong votes (summed shares) of so many points, and the last metric."""

    foreign: float = 0.0
    wrong: float = 0.0
    many: int = 0
    rank: int = 0
    last: Symmetric | None = None

    def add(self, shares: Array, votes: Array, X: Symmetric | None = None) -> None:
        self.foreign += float(shares.sum())
        self.wrong += float(votes.sum())
        self.many += len(shares)
        if X is not None:
            self.rank, self.last = max(self.rank, rank_of(X)), X

    def row(self, radius: float, whitening: float) -> Tried:
        return Tried(radius, whitening, self.foreign / self.many, self.wrong / self.many, self.rank)


def decided(tried: dict[tuple[float, float], Judged], plain: Judged, share: float, told: Told) -> Choice:
    """The setting with the fewest foreign neighbours; of equal ones the least whitened, and then the smallest radius.

    They tell metrics apart that were learned. Against none they are a poor judge, because to have few is what a metric
    is made for: so votes decide whether it is of use. Where they are not more often right, features stay as they are.
    """
    table = [plain.row(0.0, share)]
    for (whitening, size), each in sorted(tried.items()):
        table.append(each.row(size, whitening))
        told(size, table[-1].error)
    (whitening, size), found = min(sorted(tried.items()), key=lambda pair: pair[1].foreign)
    return Choice(size, whitening, columns(table), found.last, not found.wrong < plain.wrong)


def columns(table: list[Tried]) -> dict[str, Array]:
    return {name: np.array([getattr(row, name) for row in table]) for name in COLUMNS}


def least(tried: dict[float, list[tuple[float, int, int]]], told: Told) -> Choice:
    """The radius with the least mean error; of equal ones the smallest."""
    table = []
    for size, rows in sorted(tried.items()):
        error = sum(error * many for error, many, _ in rows) / sum(many for _, many, _ in rows)
        table.append(Tried(size, 0.0, error, error, max(rank for *_, rank in rows)))
        told(size, error)
    return Choice(min(table, key=lambda row: row.error).radius, 0.0, columns(table))


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


def judged(left: Array, codes: Array, right: Array, truth: Array, voters: int) -> tuple[Array, Array]:
    """Of each point: the share of its nearest neighbours that are foreign, and whether the nearest few vote wrongly.

    The share says more of few points than votes do: one of three to two counts as what it is.
    """
    near = codes[closest(right, left, max(_NEAR, voters))[0]]
    foreign = np.mean(near[:, :_NEAR] != truth[:, None], axis=1)
    classes = int(max(codes.max(), truth.max())) + 1
    place = np.arange(len(near))[:, None] * classes + near[:, :voters]
    votes = np.bincount(place.reshape(-1), minlength=len(near) * classes).reshape(len(near), classes)
    first = votes == votes.max(axis=1, keepdims=True)
    return foreign, 1.0 - first[np.arange(len(near)), truth] / first.sum(axis=1)  # a tie is decided by lot


def choose_given(
    recipe: Recipe, Z: Array, triplets: Array, bounds: Array | float, limit: float, seed: int, told: Told
) -> Choice:
    """By triplets or pairs that were given: the radius with which those kept aside are judged best."""
    rough, rng = replace(recipe, tolerance=max(_ROUGH, recipe.tolerance)), np.random.default_rng(seed)
    order, count = rng.permutation(len(triplets)), min(_FOLDS, len(triplets))
    tried: dict[float, list[tuple[float, int, int]]] = {}
    for k in range(count if count > 1 else 0):
        held, rest = np.sort(order[k::count]), np.sort(np.delete(order, np.s_[k::count]))
        some = bounds if isinstance(bounds, float) else bounds[rest]
        aside = recipe.objective(Z, triplets[held])
        zero = MARGIN - aside.targets  # what the kept identity measures
        edge = np.sign(bounds[held]) * limit if isinstance(bounds, np.ndarray) else 0.0
        for size, X in walk(rough, rough.objective(Z, triplets[rest], some), radii(Z), seed):
            measured = zero + (aside.measure(*X.triple()) if X.weights.size else 0.0)
            tried.setdefault(size, []).append((float(np.mean(measured <= edge)), held.size, rank_of(X)))
    return least(tried, told) if tried else untried(Z, (0.0,))
