"""The convex problem behind a filled table: what is fixed before it, the problem itself, and its solution's parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ...domains.sets import NuclearBall
from ...hooks import Solver
from ...matrices.factors import Rectangular
from ...objectives.completion import Completion
from ...objectives.in_metric import InMetric
from ...observers import Observer
from ...places.numpy import Array
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from .moments import Moments, Neighbours, fold_in, learn, some


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
    solver: Solver = solve


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
        return named(self.neighbours, self.radius)


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


def first_moments(table: Array, learned: bool, rng: np.random.Generator) -> Moments | None:
    return learn(table, rng) if learned else None


def staged(table: Array, first: Moments | None, neighbours: int, rng: np.random.Generator) -> Stage:
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


def problem_of(table: Array, stage: Stage, noise: float, radius: float | None) -> tuple[Problem, Rectangular | None]:
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


def solved(
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
    result = settings.solver(problem, stop=stop, start=start, seed=settings.seed, observers=watch.observers)
    if result.status is Status.INTERRUPTED:  # Ctrl-C is for all of it, not for this one
        raise KeyboardInterrupt
    return result


def named(neighbours: int, radius: float) -> str:
    return f"{neighbours} neighbour{'s' if neighbours != 1 else ''}, radius {radius:.4g}"


def parts_of(result: Result, problem: Problem, root: Array | None) -> tuple[Array, Array]:
    """The solution Z, and the factor F whose row problem it solves: the metric of the norm at Z is FFᵀ·λ."""
    assert isinstance(result.X, Rectangular)
    U, s, V = result.X.svd()
    objective = problem.objective
    image = objective.measure(U, s, V)
    _, slope = objective.evaluate(image)
    lam = max(-objective.pair(slope, image) / max(float(s.sum()), 1e-300), 1e-6 * float(s.max(initial=1e-300)))
    right = V if root is None else root @ V
    return (U * s) @ right.T, right * np.sqrt(s / lam)
