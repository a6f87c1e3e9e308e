"""Choosing the radius: warm-started walks over growing radii, judged on observations that were kept aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...hooks import Solver
from ...matrices.factors import Rectangular
from ...objectives.intercepts import Intercepts
from ...observers import Observer
from ...places.numpy import Array
from ...solve import solve
from ...stop import Status, Stop
from ..input.observations import Observations
from .exponents import SLACK, predicted, weighed
from .first import first_tried, stretched
from .folds import asides
from .recipe import Recipe, Solution, plainly, solved
from .strides import Strides, differ

_COLD = 2  # steps of the solver from nothing, one more where tables are small: seeds move what follows;
_STEPS = 1  # and from the solution before,
_FURTHER = 4  # so many times more where little is left to explain: each of them may then change a score by much
_WEIGH = 2  # the radius at which other exponents are tried: the first tells little, later ones are dear
_EXACT = 0.01  # of the loss on what was kept aside: what was fitted with less is fitted exactly, noise and all
_MANY = 50_000  # held-out observations from which a radius more is dear: there are ten times as many


@dataclass(frozen=True, eq=False)
class Choice:
    """The radius with the least held-out loss, the path to it, and a solution near it to start from.

    ``alone`` is the held-out score without a low-rank part, ``edge`` whether the score was still falling at the last
    radius, ``held`` how many observations were kept aside, in all folds together, ``exponent`` how frequencies weigh:
    as the recipe says, but where another exponent was found to predict better.
    """

    radius: float
    path: dict[str, Array]
    start: Rectangular | None
    alone: float = math.nan
    edge: bool = False
    held: int = 0
    exponent: float = 0.0


def choose(
    recipe: Recipe,
    seen: Observations,
    share: float,
    seed: int,
    observers: Sequence[Observer] = (),
    told: Callable[[float, float], Any] = lambda radius, score: None,
    solver: Solver = solve,
    late: Array | None = None,
    weigh: bool = False,
) -> Choice:
    """Keep shares of the observations aside and walk: grow the radius until the held-out loss rises.

    The radius is that of the lowest point of a parabola through the scores, larger since all observations are more than
    those that were left. ``told`` hears of every radius and its score. ``late`` is a mask of the latest observations,
    to be kept aside in place of random ones. With ``weigh`` other exponents are tried where so much is kept aside, in
    one fold, that small differences can be told from chance.
    """
    parts = [(seen.part(~aside), seen.part(aside)) for aside in asides(seen, share, late)]
    parts = [(train, valid) for train, valid in parts if len(train) and len(valid)]
    if not parts:
        return no_choice(recipe)
    fitted = [recipe.objective(train, recipe.offset(train), SLACK) for train, _ in parts]
    first = first_tried(fitted[0])
    if not first > 0:
        return no_choice(recipe)
    walks = [
        Walk(recipe, objective, valid, seed, observers, nobody, solver, _weight(train))
        for objective, (train, valid) in zip(fitted, parts, strict=True)
    ]
    held = sum(len(valid) for _, valid in parts)
    train = parts[0][0] if weigh and len(parts) == 1 and held >= _MANY and not recipe.implicit else None
    return together(walks, told, first, len(seen) / len(parts[0][0]), held, train)


def together(
    walks: list[Walk],
    told: Callable[[float, float], Any],
    first: float,
    more: float,
    held: int,
    train: Observations | None = None,
) -> Choice:
    """Walk from a first radius; there are ``more`` observations in all than were fitted, and ``held`` kept aside.

    Where other exponents are to be tried ``train`` is what the only walk is fitted to.
    """
    dear = held >= _MANY and not walks[0].recipe.implicit  # with what else a row has, scores go flat more slowly
    walk = _Together(walks, told, dear, train)
    walk.there_and_back(first)
    walk.closer()
    radius, near = walk.lowest()
    exponent = walks[0].recipe.exponent
    return Choice(
        radius * walk.growth(radius, more),
        table([*walk.before, *walk.points]),
        near.solution.X,
        walk.alone,
        walk.edge,
        held,
        exponent,
    )


def no_choice(recipe: Recipe) -> Choice:
    """Where there is nothing to walk for."""
    return Choice(1.0, table([]), None, exponent=recipe.exponent)


@dataclass(frozen=True, eq=False)
class Visited:
    """A radius, its score, the solution there (of the first fold), and those to go on from.

    ``lost`` is the loss of what was kept aside, and its weight.
    """

    radius: float
    score: float
    solution: Solution
    starts: tuple[Rectangular, ...]
    lost: tuple[float, float]
    exact: bool

    @property
    def free(self) -> bool:
        """Whether the ball no longer binds: a larger one has the same solution, or fits no better what is fitted."""
        return self.exact or bool(self.solution.X.s.sum() < 0.99 * self.radius)


class Walk(Strides[Visited]):
    """The state of one walk."""

    def __init__(
        self,
        recipe: Recipe,
        objective: Any,
        valid: Any,
        seed: int,
        observers: Sequence[Observer],
        told: Callable[[float, float], Any],
        solver: Solver,
        fitted: float,
    ) -> None:
        super().__init__()
        self.fitted = fitted  # the weight of what is fitted
        self.recipe, self.objective, self.valid, self.seed = recipe, objective, valid, seed
        self.observers, self.told, self.solver = observers, told, solver
        self.cold = _COLD

    def visit(self, radius: float, starts: Sequence[Rectangular] = ()) -> Visited:
        """Solve roughly and score what was kept aside."""
        near = starts[0] if starts else None
        solution = self.solved(self.objective, radius, near, self.cold if near is None else _STEPS)
        before, here = self._score_near(radius), self.visited(radius, solution)
        for _ in range(_FURTHER):
            if solution.status is Status.OBSERVER or not differ(before, here.score):
                break
            solution = self.solved(self.objective, radius, solution.X)
            before, here = here.score, self.visited(radius, solution)
        self.ended = solution.status is Status.OBSERVER
        self.points.append(here)
        self.told(radius, here.score)
        return here

    def _score_near(self, radius: float) -> float:
        """That of the nearest radius that was tried; without a low-rank part where there is none."""
        if not self.points:
            return mean_score(self.recipe, *self.loss(None))
        return min(self.points, key=lambda point: abs(math.log(point.radius / radius))).score

    def solved(self, objective: Any, radius: float, near: Rectangular | None, steps: int = _STEPS) -> Solution:
        """A rough solution, from that of another radius where there is one."""
        start = None if near is None else stretched(objective, near, radius)
        asked: dict[str, Any] = dict(start=start, seed=self.seed, observers=self.observers, solver=self.solver)
        solution = solved(objective, radius, Stop(max_steps=steps), certify=False, **asked)
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return solution

    def visited(self, radius: float, solution: Solution) -> Visited:
        """A radius with its solution, judged on what was kept aside.

        What is fitted far better than that is fitted exactly: a rough solution of such a problem may fill any ball, so
        that its norm does not say it.
        """
        lost, weight = self.loss(solution)
        exact = bool(solution.certificate.value * weight < _EXACT * lost * self.fitted)
        score = mean_score(self.recipe, lost, weight)
        return Visited(radius, score, solution, (solution.X,), (lost, weight), exact)

    def loss(self, solution: Solution | None) -> tuple[float, float]:
        """The loss of what was kept aside, and its weight."""
        objective = plainly(self.objective)
        found = objective.inner(np.zeros(objective.values.size)) if solution is None else solution
        low = None if solution is None else (solution.profiles, solution.X.s, solution.X.V)
        return held_out_loss(objective, self.valid, low, found.rows, found.cols)


def held_out_loss(
    objective: Intercepts, valid: Any, low: tuple[Array, Array, Array] | None, rows: Array, cols: Array
) -> tuple[float, float]:
    """The loss of observations that were not fitted, and their weight: from factors (if any) and intercepts."""
    z = predicted(objective, valid, low, rows, cols)
    loss = objective.loss.evaluate(z, valid.values, valid.weights)[0]
    return float(loss), float(valid.values.size if valid.weights is None else valid.weights.sum())


class _Together(Strides[Visited]):
    """Walks over the same radii, one for each fold, judged by what all of them kept aside."""

    def __init__(
        self,
        walks: list[Walk],
        told: Callable[[float, float], Any],
        dear: bool,
        train: Observations | None = None,
    ) -> None:
        super().__init__(dear)
        self.walks, self.told, self.train = walks, told, train
        for walk in walks:
            walk.cold = _COLD + (len(walks) > 1)
        self.before: list[Visited] = []  # points with another exponent, which no parabola goes through
        #: the score without a low-rank part
        alone = [walk.loss(None) for walk in walks]
        self.alone = mean_score(walks[0].recipe, sum(loss for loss, _ in alone), sum(weight for _, weight in alone))
        if walks[0].recipe.loss == "huber":
            self.usual = 0.5 * walks[0].recipe.delta ** 2

    def visit(self, radius: float, starts: Sequence[Rectangular] = ()) -> Visited:
        visited = []
        for k, walk in enumerate(self.walks):
            visited.append(walk.visit(radius, starts[k : k + 1]))
            if walk.ended:
                break
        lost = (sum(each.lost[0] for each in visited), sum(each.lost[1] for each in visited))
        here = replace(
            visited[0],
            score=mean_score(self.walks[0].recipe, *lost),
            starts=tuple(each.starts[0] for each in visited),
            lost=lost,
            exact=all(each.exact for each in visited),
        )
        self.ended = any(walk.ended for walk in self.walks)
        if self.train is not None and len(self.points) + 1 == _WEIGH and not self.ended:
            here, self.train = self._weighed(here, self.train, starts[0]), None
        self.points.append(here)
        self.told(radius, here.score)
        return here

    def _weighed(self, here: Visited, train: Observations, X: Rectangular) -> Visited:
        """The same point, or one with another exponent: the walk begins anew with it."""
        walk = self.walks[0]
        data = (train, walk.valid)
        found = weighed(walk.solved, walk.objective, walk.recipe, data, X, here.radius, here.solution)
        if found is None:
            return here
        walk.recipe, walk.objective = found.recipe, found.objective
        self.before, self.points = self.points, []
        return walk.visited(found.radius, found.solution)

    def growth(self, radius: float, more: float) -> float:
        """How much larger the radius is with ``more`` times as many observations.

        What noise adds to a singular value of the slope goes like the root of their number, and so does the multiplier
        that holds it back: beside what the observations say, less by that root. What radius goes with a multiplier is
        seen along the walk. Noise that is most of the data makes both grow alike, and no radius grows more than that.
        """
        points = sorted(self.points, key=lambda point: point.radius)
        if len(points) < 2:
            return more
        k = min(max(sum(point.radius < radius for point in points), 1), len(points) - 1)
        below, above = points[k - 1], points[k]
        if not below.solution.multiplier > above.solution.multiplier > 0.0:
            return 1.0  # the ball hardly binds any more
        fall = math.log(below.solution.multiplier / above.solution.multiplier)
        return more ** min(0.5 * math.log(above.radius / below.radius) / fall, 1.0)


def mean_score(recipe: Recipe, loss: float, weight: float) -> float:
    """The mean loss; its root mean square for the squared loss."""
    return math.sqrt(2.0 * loss / weight) if recipe.loss == "squared" else loss / weight


def _weight(seen: Observations) -> float:
    return float(len(seen) if seen.weights is None else seen.weights.sum())


def nobody(radius: float, score: float) -> None:
    """Who walks in company is not heard alone."""


def table(points: Sequence[Visited]) -> dict[str, Array]:
    """One array per column, smallest radius first."""
    points = sorted(points, key=lambda point: point.radius)
    return {
        "radius": np.array([point.radius for point in points], float),
        "score": np.array([point.score for point in points], float),
        "value": np.array([point.solution.certificate.value for point in points], float),
        "rank": np.array([point.solution.X.s.size for point in points], int),
        "n_iter": np.array([point.solution.steps for point in points], int),
    }
