"""Choosing the radius and the weight of unseen cells: by how high pairs that were kept aside are ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...eigen.leading import leading
from ...hooks import Solver
from ...matrices.factors import Rectangular
from ...metrics.ranking import held_out
from ...objectives.all_cells import AllCells
from ...observers import Observer
from ...penalized import unit_ball, zero_image
from ...places.numpy import Array
from ...solve import solve
from ...stop import Status, Stop
from ..completion.first import stretched
from ..completion.folds import folds
from ..completion.strides import Strides
from ..input.observations import Observations
from .recipe import Recipe, factors, solved

RANKED = 50  # columns of a list that is judged: longer than people look at, and so less a matter of chance
_COLD = 4  # steps of the solver from nothing
_STEPS = 3  # and from the solution before
_FIRST = 2.0  # the walk begins at so many times the radius where something begins to happen
_GROWTH = 1.6  # from one radius to the next
_WORTH = 0.01  # share by which a ranking must be better, at least, for another weight than the usual one
_FARTHER = 4  # and so many more where the last one was the best
_BESIDE = 4.0  # the weights that are tried beside the usual one are so many times larger and smaller


@dataclass(frozen=True, eq=False)
class Choice:
    """A radius, a weight of unseen cells, the path to them, and a solution to start from."""

    radius: float
    unobserved: float
    path: dict[str, Array]
    start: Rectangular | None
    edge: bool = False


@dataclass(frozen=True, eq=False)
class Tried:
    """A setting that was tried: 1 − NDCG of what was kept aside, that of every fold, and the solutions of all folds."""

    radius: float
    unobserved: float
    score: float
    starts: tuple[Rectangular, ...]
    rank: int
    scores: tuple[float, ...]

    @property
    def free(self) -> bool:
        """Whether the ball no longer binds: a larger one has the same solution."""
        return _free(self.starts[0], self.radius)


def _free(X: Rectangular, radius: float) -> bool:
    return bool(X.s.sum() < 0.99 * radius)


@dataclass(frozen=True, eq=False)
class Fold:
    """Pairs to fit, as observations and as a table, and a table of those kept aside."""

    train: Observations
    seen: Any
    held: Any

    @property
    def rows(self) -> int:
        """How many rows something was kept aside of."""
        return int(np.count_nonzero(np.diff(self.held.indptr)))


class Walk(Strides[Tried]):
    """Radii for one weight of unseen cells, over all folds."""

    def __init__(
        self, recipe: Recipe, parts: list[Fold], unobserved: float, seed: int, told: Any, solver: Solver
    ) -> None:
        super().__init__()
        self.parts, self.unobserved, self.seed = parts, unobserved, seed
        (self.observers, self.told), self.solver = told, solver
        self.objectives = [recipe.objective(part.train, unobserved) for part in parts]

    def there_and_back(self, first: float) -> None:
        self.go(first, _GROWTH)
        if self.best is self.points[0] and not self.ended:
            inside = self.best.starts[0].s.sum() if self.best.free else first
            self.go(float(inside) / _GROWTH, 1.0 / _GROWTH, self.best.starts)

    def lowest(self) -> tuple[float, Tried]:
        """As for any walk; a ball that does not bind has no score that a parabola could pass through."""
        every = self.points
        try:
            self.points = [point for point in every if not point.free] or every
            return super().lowest()
        finally:
            self.points = every

    def visit(self, radius: float, starts: Sequence[Rectangular] = ()) -> Tried:
        """Solve roughly and rank what was kept aside.

        Where the ball does not bind, every cell has its own solution: all unseen cells of a table are zero, and what
        order they come in is rounding. Such a radius ranks as chance does.
        """
        found, scores, rows = [], [], []
        for k, (part, objective) in enumerate(zip(self.parts, self.objectives, strict=True)):
            start = stretched(objective, starts[k], radius) if len(starts) > k else None
            stop = Stop(max_steps=_COLD if start is None else _STEPS)
            asked: Any = dict(start=start, seed=self.seed, observers=self.observers, certify=False, solver=self.solver)
            solution = solved(objective, radius, stop, **asked)
            if solution.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            self.ended = self.ended or solution.status is Status.OBSERVER
            P, Q = factors(objective, solution.X)
            tied = _free(solution.X, radius)
            ranked = None if tied else held_out(partial(_scores, P, Q), part.seen, part.held, RANKED)
            scores.append(1.0 - (by_chance(part.seen, part.held, RANKED) if ranked is None else ranked.ndcg))
            rows.append(part.rows)
            found.append(solution.X)
        score = float(np.average(scores, weights=rows))
        here = Tried(radius, self.unobserved, score, tuple(found), found[0].s.size, tuple(scores))
        self.points.append(here)
        self.told(radius, here.score)
        return here


def _scores(P: Array, Q: Array, rows: Array) -> Array:
    return np.asarray(P[rows] @ Q.T)


def by_chance(seen: Any, held: Any, k: int) -> float:
    """The mean NDCG@k of lists in random order of what a row has not seen."""
    some = np.diff(held.indptr) > 0
    relevant = np.diff(held.indptr)[some]
    unseen = np.maximum(held.shape[1] - np.diff(seen.indptr)[some], relevant)
    gains = np.cumsum(1.0 / np.log2(np.arange(1, k + 1) + 1.0))
    ideal, random = (gains[np.minimum(count, k) - 1] for count in (relevant, unseen))
    return float((relevant / unseen * random / ideal).mean())


def choose(
    recipe: Recipe,
    seen: Observations,
    share: float,
    weights: Sequence[float],
    seed: int,
    observers: Sequence[Observer],
    told: Callable[[float, float], Any],
    solver: Solver = solve,
) -> Choice:
    """Keep shares of the pairs aside, walk over radii, then try weights of unseen cells beside the first one.

    The best radius goes about like one over the root of the weight, so one solve is enough for each.
    """
    parts = parts_of(seen, share)
    nothing = Choice(1.0, weights[0], paths([]), None)
    if not parts:
        return nothing
    walk = Walk(recipe, parts, weights[0], seed, (observers, told), solver)
    first = _FIRST * first_radius(walk.objectives[0])
    if not first > 0.0:
        return nothing
    walk.there_and_back(first)
    usual, near = walk.lowest()
    radius = usual
    tried, best, edge = list(walk.points), walk.best, walk.edge

    def visit(weight: float) -> bool:
        """Try a weight of unseen cells; whether it is better than all before."""
        nonlocal best, radius, near
        beside = Walk(recipe, parts, weight, seed, (observers, told), solver)
        here = beside.visit(usual * float(np.sqrt(weights[0] / weight)), walk.best.starts)
        tried.append(here)
        ahead = better(here, best)
        if ahead:
            best, radius, near = here, here.radius, here
        return ahead and not beside.ended

    for weight in weights[1:]:
        if visit(weight):
            edge = farther(visit, weight, weight / weights[0]) or edge
            break  # nothing is better on the other side as well
    more = np.sqrt(len(seen) / len(parts[0].train))  # as the norm of what was seen grows
    return Choice(float(more * radius), best.unobserved, paths(tried), near.starts[0], edge)


def parts_of(seen: Observations, share: float) -> list[Fold]:
    """Shares of the pairs kept aside, and the others."""
    from scipy.sparse import csr_matrix

    def table(part: Observations) -> Any:
        return csr_matrix((np.ones(len(part)), (part.rows, part.cols)), shape=part.shape)

    cuts = [(seen.part(~aside), seen.part(aside)) for aside in folds(seen, share)]
    return [Fold(train, table(train), table(held)) for train, held in cuts if len(train) and len(held)]


def farther(visit: Callable[[float], bool], weight: float, factor: float) -> bool:
    """Change a weight that was the best one by a factor as long as that is better; whether it still was at the last."""
    return all(visit(weight * factor**k) for k in range(1, _FARTHER + 1))


def better(here: Tried, best: Tried) -> bool:
    """Whether a ranking is better by more than a small share, and than the standard error of its folds."""
    gains = np.array(best.scores) - np.array(here.scores)
    error = float(gains.std(ddof=1)) / np.sqrt(gains.size) if gains.size > 1 else 0.0
    return bool(best.score - here.score > max(_WORTH * (1.0 - best.score), error))


def beside(weight: float) -> list[float]:
    """Weights of unseen cells to try, the usual one first."""
    return [weight, weight / _BESIDE, weight * _BESIDE]


def first_radius(objective: AllCells) -> float:
    """The best multiple of the leading singular pair of the gradient at zero: where something begins."""
    zero = zero_image(objective)
    slope, lifted = objective.evaluate(zero)[1], unit_ball(objective, False).lifted
    asked: Any = dict(accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0)
    vector = leading(lifted.pull(slope), **asked).vector
    curve = objective.along(zero, lifted.measure(vector, np.ones(1), vector))
    bend = curve.curvature(1.0)
    return max(-curve.derivative(0.0), 0.0) / bend if bend > 0.0 else 0.0


def paths(tried: Sequence[Tried]) -> dict[str, Array]:
    """One array per column, smallest radius first."""
    tried = sorted(tried, key=lambda each: (each.unobserved, each.radius))
    return {
        "radius": np.array([each.radius for each in tried], float),
        "unobserved_weight": np.array([each.unobserved for each in tried], float),
        "score": np.array([1.0 - each.score for each in tried], float),
        "rank": np.array([each.rank for each in tried], int),
    }
