"""What fills a standardised table: local means, plus a part of bounded nuclear norm in the metric of its columns.

    tableᵢⱼ ≈ baseᵢⱼ + Zᵢⱼ,    minimise ½Σ (tableᵢⱼ − baseᵢⱼ − Zᵢⱼ)² over the observed entries, ‖Z S^(−½)‖_* ≤ radius

The base is the mean of the columns, or of the rows nearest to a row. S is the covariance that the residual has by
expectation maximisation. Were S^(−½) to make all directions alike, the solution's own row problem would be the
conditional mean of a normal distribution with covariance S and some noise: the radius says how much noise. Knowing
nothing of scikit-learn, this room gets arrays that were checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ...domains.sets import NuclearBall
from ...matrices.factors import Rectangular
from ...objectives.completion import Completion
from ...objectives.in_metric import InMetric
from ...observers import Observer
from ...paths.point import rank_of
from ...places.numpy import Array
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from .moments import Moments, Neighbours, fold_in, learn, some

NOISES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)  # in units of a column's variance, strongest shrinkage first
_MIDDLE = 0.3
_NEIGHBOURS = (20, 120)  # tried beside none: a close look and a wide one
_COARSE = 0.05  # accuracy of the solutions that are only compared with each other, in standard deviations
_ENTRIES = 120_000  # entries that a choice is made on: more would not change it
_JUDGED = 400  # held-out entries that a choice should rest on; more splits where one has fewer
_SPLITS, _SPLITS_SMALL = 3, 8  # most of them; the latter in tables of fewer than 300 entries


@dataclass(frozen=True)
class Settings:
    """What was asked for; None is "choose by validation"."""

    radius: float | None
    neighbours: int | None
    learned: bool  # whether the metric is, or all columns count alike
    tol: float
    max_steps: int
    held: float
    seed: int


@dataclass(frozen=True)
class Tried:
    """One row of the path: a setting, the radius it means, and how well it predicts entries held out."""

    neighbours: int
    noise: float
    radius: float
    score: float
    rank: int
    gap: float

    def __str__(self) -> str:
        return _named(self.neighbours, self.radius)


class Watch:
    """Who is told how it goes; this one tells nobody."""

    observers: tuple[Observer, ...] = ()  # of every step of every solve

    def begin(self, what: str, stop: Stop, last: bool) -> None:
        """A solve begins."""

    def solved(self, tried: Tried | None) -> None:
        """A point of the path is done, or (None) the last solve."""


@dataclass(frozen=True, eq=False)
class Stage:
    """All that is fixed before the convex problem: where the table is expected to be, and the metric of the rest."""

    near: Neighbours | None
    mean: Array
    base: Array
    root: Array | None  # of the metric; None: the identity
    norm: float = 0.0  # nuclear norm of the zero-filled residual, asked for where there is no metric


@dataclass(frozen=True, eq=False)
class Model:
    """What is learned: predictions for the rows of any table with the same columns."""

    near: Neighbours | None
    mean: Array
    factor: Array

    def predict(self, table: Array) -> Array:
        """Every entry as the model sees it, observed or not; each row on its own."""
        base = self.mean if self.near is None else self.mean + self.near.around(table)
        return np.asarray(base + fold_in(table - base, self.factor))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, the solution it came from, and how its settings were found."""

    model: Model
    predicted: Array
    problem: Problem
    result: Result
    radius: float
    neighbours: int
    path: tuple[Tried, ...]


def fit(table: Array, settings: Settings, watch: Watch | None = None) -> Fitted:
    """Choose what is left open, then solve once on everything."""
    watch = Watch() if watch is None else watch
    # a stream of its own: holes made by default_rng(seed).random(shape) would otherwise be the very entries to hide
    rng = np.random.default_rng([settings.seed, 6])
    path: tuple[Tried, ...] = ()
    noise, neighbours = 1.0, settings.neighbours
    if settings.radius is None or neighbours is None:
        path = _choose(table, settings, rng, watch)
        best = min(path, key=lambda tried: tried.score, default=None)  # none where too little is observed to hide any
        noise = 1.0 if best is None else best.noise
        neighbours = (neighbours or 0) if best is None else best.neighbours
    first = _first(table, settings.learned, rng)
    stage = _stage(table, first, neighbours, rng)
    problem, start = _problem(table, stage, noise, settings.radius)
    what = f"filling with {_named(neighbours, problem.domain.size)}"
    result = _solve(problem, start, settings.tol, settings, watch, what, last=True)
    watch.solved(None)
    Z, factor = _parts(result, problem, stage.root)
    model = Model(stage.near, stage.mean, factor)
    return Fitted(model, stage.base + Z, problem, result, problem.domain.size, neighbours, path)


def _first(table: Array, learned: bool, rng: np.random.Generator) -> Moments | None:
    return learn(table, rng) if learned else None


def _stage(table: Array, first: Moments | None, neighbours: int, rng: np.random.Generator) -> Stage:
    if first is None:
        seen = ~np.isnan(table)
        mean = np.where(seen, table, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        norm = float(np.linalg.norm(np.where(seen, table - mean, 0.0), "nuc"))
        return Stage(None, mean, np.broadcast_to(mean, table.shape), None, norm)
    near, local, own = None, np.zeros(table.shape), first
    if neighbours:
        near = Neighbours(first, first.fill(table)[some(len(table), rng)], neighbours)
        local = near.around(table)
        own = learn(table - local, rng)
    values, vectors = np.linalg.eigh(own.covariance)
    root = (vectors * np.sqrt(values)) @ vectors.T
    return Stage(near, own.mean, local + own.mean, 0.5 * (root + root.T))


def _problem(table: Array, stage: Stage, noise: float, radius: float | None) -> tuple[Problem, Rectangular | None]:
    """The convex problem at a radius, or the one that a noise means; and a start, the normal distribution's answer."""
    residual = table - stage.base
    rows, cols = np.nonzero(~np.isnan(residual))
    completion = Completion(rows, cols, residual[rows, cols], table.shape)
    if stage.root is None:  # the zero-filled residual, shrunk, has the radius; it is no start worth decomposing for
        radius = max(stage.norm / (1.0 + noise), 1e-9) if radius is None else radius
        return Problem(completion, NuclearBall(table.shape, radius)), None
    share = 1.0 if radius is not None else noise
    z = fold_in(residual, stage.root / np.sqrt(share))
    U, s, Vh = np.linalg.svd(np.linalg.solve(stage.root, z.T).T, full_matrices=False)
    size = float(s.sum())
    radius = max(size, 1e-9) if radius is None else radius
    s = s * min(1.0, radius / max(size, 1e-300))
    kept = s > 1e-12 * radius
    start = Rectangular(np.ascontiguousarray(U[:, kept]), s[kept], np.ascontiguousarray(Vh[kept].T))
    problem = Problem(InMetric(completion, stage.root), NuclearBall(table.shape, radius))
    return problem, start if kept.any() else None


def _solve(
    problem: Problem,
    start: Rectangular | None,
    tol: float,
    settings: Settings,
    watch: Watch,
    what: str,
    last: bool = False,
) -> Result:
    """To a gap that keeps the fitted entries within ``tol`` of the minimiser's, in mean square: ½‖z − z*‖² ≤ gap."""
    objective = cast("Completion | InMetric", problem.objective)
    count = (objective.completion if isinstance(objective, InMetric) else objective).values.size
    stop = Stop(gap=0.5 * tol**2 * count, max_steps=settings.max_steps)
    watch.begin(what, stop, last)
    result = solve(problem, stop=stop, start=start, seed=settings.seed, observers=watch.observers)
    if result.status is Status.INTERRUPTED:  # Ctrl-C is for all of it, not for this one
        raise KeyboardInterrupt
    return result


def _named(neighbours: int, radius: float) -> str:
    return f"{neighbours} neighbour{'s' if neighbours != 1 else ''}, radius {radius:.4g}"


def _parts(result: Result, problem: Problem, root: Array | None) -> tuple[Array, Array]:
    """The solution Z, and the factor F whose row problem it solves: the metric of the norm at Z is FFᵀ·λ."""
    assert isinstance(result.X, Rectangular)
    U, s, V = result.X.svd()
    objective = problem.objective
    image = objective.measure(U, s, V)
    _, slope = objective.evaluate(image)
    lam = max(-objective.pair(slope, image) / max(float(s.sum()), 1e-300), 1e-6 * float(s.max(initial=1e-300)))
    right = V if root is None else root @ V
    return (U * s) @ right.T, right * np.sqrt(s / lam)


# ------------------------------------------------------------------------------------------------------ the choice


def _choose(table: Array, settings: Settings, rng: np.random.Generator, watch: Watch) -> tuple[Tried, ...]:
    """Hide some observed entries, walk the path without them, see how well they are predicted; a few times if few."""
    table = table[some(len(table), rng, max(200, _ENTRIES // table.shape[1]))]
    observed = int((~np.isnan(table)).sum())
    most = _SPLITS if observed >= 300 else _SPLITS_SMALL
    splits = int(np.clip(np.ceil(_JUDGED / max(1.0, settings.held * observed)), 1, most))
    counts = [0] if settings.neighbours is None else [settings.neighbours]
    if settings.neighbours is None:
        half = len(table) // 2
        counts += [count for count in _NEIGHBOURS if count <= half] or [half] * (half > 0)
    masks = [hidden for _ in range(splits) if (hidden := _hide(table, settings.held, rng)).any()]
    parts = [_Part(np.where(hidden, np.nan, table), hidden) for hidden in masks]
    firsts = [_first(part.seen, settings.learned, rng) for part in parts]
    path: list[Tried] = []
    for count in counts:
        pairs = zip(parts, firsts, strict=True)
        stages = [_stage(part.seen, first, count, rng) for part, first in pairs]
        found: dict[int, Tried] = {}
        here = NOISES.index(_MIDDLE)
        while parts:  # from the middle of the path to where the neighbours on both sides are worse
            near = [here] if settings.radius is not None else [here, here + 1, here - 1]
            for place in near:
                if 0 <= place < len(NOISES) and place not in found:
                    found[place] = _try(table, parts, stages, count, NOISES[place], settings, watch)
                    watch.solved(found[place])
            best = min(found, key=lambda place: found[place].score)
            if best == here:
                break
            here = best
        path += [found[place] for place in sorted(found)]
    return tuple(path)


@dataclass(frozen=True, eq=False)
class _Part:
    """A table with some of its entries hidden."""

    seen: Array
    hidden: Array


def _try(
    table: Array,
    parts: list[_Part],
    stages: list[Stage],
    count: int,
    noise: float,
    settings: Settings,
    watch: Watch,
) -> Tried:
    """One point of the path, on every split."""
    squares, radii, gaps, rank = [], [], [], 0
    for part, stage in zip(parts, stages, strict=True):
        problem, start = _problem(part.seen, stage, noise, settings.radius)
        what = f"trying {_named(count, problem.domain.size)}"
        result = _solve(problem, start, max(_COARSE, settings.tol), settings, watch, what)
        Z, _ = _parts(result, problem, stage.root)
        squares.append((stage.base + Z - table)[part.hidden] ** 2)
        radii.append(problem.domain.size)
        gaps.append(result.gap)
        rank = max(rank, rank_of(result.X))
    score = float(np.sqrt(np.mean(np.concatenate(squares))))
    noise = noise if settings.radius is None else np.nan
    return Tried(count, noise, float(np.mean(radii)), score, rank, float(max(gaps)))


def _hide(table: Array, share: float, rng: np.random.Generator) -> Array:
    """Observed entries to hide: so large a share of them, but every column keeps two."""
    observed = ~np.isnan(table)
    hidden = observed & (rng.random(table.shape) < share)
    poor = (observed & ~hidden).sum(axis=0) < 2
    hidden[:, poor] = False
    return np.asarray(hidden)
