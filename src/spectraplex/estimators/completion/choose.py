"""Choosing the radius: a warm-started walk over growing radii, judged on observations that were kept aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...eigen.leading import leading
from ...hooks import Solver
from ...matrices.factors import Rectangular
from ...objectives.implicit import Implicit
from ...objectives.intercepts import Intercepts
from ...observers import Observer
from ...penalized import unit_ball, zero_image
from ...places.numpy import Array
from ...solve import solve
from ...stop import Status, Stop
from ..input.observations import Observations
from .recipe import Recipe, Solution, plainly, solved

_GROWTH = 1.5  # from one radius to the next
_COLD = 6  # steps of the solver from nothing: predictions settle long before the gap does
_STEPS = 2  # and from the solution before
_FIRST = 3.0  # the walk begins at so many times the radius where something begins to happen
_ENOUGH = 1e-4  # a score better by less than this share is not worth a larger radius
_MOST = 40  # radii of one walk


@dataclass(frozen=True, eq=False)
class Choice:
    """The radius with the least held-out loss, the path to it, and a solution near it to start from."""

    radius: float
    path: dict[str, Array]
    start: Rectangular | None


def choose(
    recipe: Recipe,
    seen: Observations,
    share: float,
    seed: int,
    observers: Sequence[Observer] = (),
    told: Callable[[float, float], Any] = lambda radius, score: None,
    solver: Solver = solve,
) -> Choice:
    """Keep a share of the observations aside and walk: grow the radius until the held-out loss rises, then refine.

    ``told`` hears of every radius and its score.
    """
    aside = kept_aside(seen, share, seed)
    train, valid = seen.part(~aside), seen.part(aside)
    if not len(train) or not len(valid):
        return no_choice()
    offset = recipe.offset(train)
    objective = recipe.objective(train, offset)
    first = first_tried(objective)
    if not first > 0:
        return no_choice()
    return Walk(recipe, objective, valid, seed, observers, told, solver).chosen(first)


def no_choice() -> Choice:
    """Where there is nothing to walk for."""
    return Choice(1.0, _table([]), None)


def kept_aside(seen: Observations, share: float, seed: int) -> Array:
    """Which observations are kept aside: a share of the *pairs*, in the order of their labels.

    So neither the order of the data nor whether a pair comes twice or has weight two makes a difference.
    """
    _, pair = np.unique(seen.rows * seen.shape[1] + seen.cols, return_inverse=True)
    count = int(pair.max()) + 1
    held = min(max(1, round(share * count)), count - 1)
    chosen = np.zeros(count, bool)
    chosen[np.random.default_rng([seed, 3]).permutation(count)[:held]] = True
    return np.asarray(chosen[pair.reshape(-1)])


def first_tried(objective: Intercepts | Implicit) -> float:
    """Where the walk begins; zero where there is nothing to walk for. It depends on every value."""
    return _FIRST * first_radius(objective)


def first_radius(objective: Intercepts | Implicit) -> float:
    """The best multiple of the leading singular pair of the gradient at zero, alone: where something begins."""
    zero = zero_image(objective)
    slope = objective.evaluate(zero)[1]
    lifted = unit_ball(objective, False).lifted
    if not np.abs(slope).max(initial=0.0) > 1e-12 * (np.abs(plainly(objective).values).max(initial=0.0) + 1e-300):
        return 0.0
    asked: dict[str, Any] = dict(accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0)
    vector = leading(lifted.pull(slope), **asked).vectors[:, :1]
    ahead = lifted.measure(vector, np.ones(1), vector)
    curve = objective.along(zero, ahead)
    size = np.abs(plainly(objective).values).max() / max(float(np.abs(ahead).max(initial=0.0)), 1e-300)
    bend = curve.curvature(1e-6 * size)  # close by, in the unit that the values are in
    return max(-curve.derivative(0.0), 0.0) / bend if bend > 0 else 0.0


@dataclass(frozen=True, eq=False)
class _Visited:
    radius: float
    score: float
    solution: Solution


class Walk:
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
    ) -> None:
        self.recipe, self.objective, self.valid, self.seed = recipe, objective, valid, seed
        self.observers, self.told, self.solver = observers, told, solver
        self.points: list[_Visited] = []
        self.ended = False  # an observer has had enough

    @property
    def best(self) -> _Visited:
        return min(self.points, key=lambda point: (point.score, point.radius))

    def chosen(self, first: float) -> Choice:
        """Walk from a first radius to the best one."""
        self.go(first, _GROWTH)
        if self.best is self.points[0] and not self.ended:  # the first was the best: there may be a better one below
            self.go(self.best.radius / _GROWTH, 1.0 / _GROWTH, self.best.solution.X)
        self.refine()
        best = self.best
        self.points.sort(key=lambda point: point.radius)
        return Choice(best.radius, _table(self.points), best.solution.X)

    def go(self, radius: float, factor: float, start: Rectangular | None = None) -> None:
        """Change the radius by a factor again and again until the score is no better, or the ball no longer binds."""
        for _ in range(_MOST):
            best = self.best.score if self.points else math.inf
            here = self.visit(radius, start)
            free = factor > 1.0 and here.solution.X.s.sum() < 0.99 * radius
            if here.score >= best * (1.0 - _ENOUGH) or free or here.score <= 0.0 or self.ended:
                break
            start, radius = here.solution.X, factor * radius

    def refine(self) -> None:
        """One more radius where the parabola through the best score and its neighbours has its lowest point."""
        self.points.sort(key=lambda point: point.radius)
        k = self.points.index(self.best)
        if self.ended or not 0 < k < len(self.points) - 1:
            return
        x = [math.log(point.radius) for point in self.points[k - 1 : k + 2]]
        y = [point.score for point in self.points[k - 1 : k + 2]]
        a, b = (y[0] - y[1]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])  # both are not negative
        if not a + b > 0:
            return
        lowest = x[1] + 0.5 * (a * (x[2] - x[1]) - b * (x[1] - x[0])) / (a + b)
        before = self.points[k - 1 if lowest < x[1] else k]
        if abs(lowest - x[1]) > 0.01:  # else it has been there
            self.visit(math.exp(lowest), before.solution.X)

    def visit(self, radius: float, start: Rectangular | None) -> _Visited:
        """Solve roughly and score what was kept aside."""
        stop = Stop(max_steps=_COLD if start is None else _STEPS)
        given = None if start is None else self._stretched(start, radius)
        solution = solved(
            self.objective,
            radius,
            stop,
            start=given,
            seed=self.seed,
            observers=self.observers,
            certify=False,
            solver=self.solver,
        )
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        here = _Visited(radius, self.score(solution), solution)
        self.ended = solution.status is Status.OBSERVER
        self.points.append(here)
        self.told(radius, here.score)
        return here

    def _stretched(self, X: Rectangular, radius: float) -> Rectangular:
        """The last solution, scaled as far towards the new radius as lowers the loss."""
        total = float(X.s.sum())
        if total == 0.0:
            return X
        image = self.objective.measure(*X.triple())
        ahead = radius / total - 1.0
        factor = 1.0 + (float(self.objective.along(image, image).minimize(ahead)) if ahead > 0 else ahead)
        return replace(X, s=factor * X.s)

    def score(self, solution: Solution) -> float:
        """Mean loss on what was kept aside; its root mean square for the squared loss."""
        valid, objective = self.valid, plainly(self.objective)
        z = Rectangular(solution.profiles, solution.X.s, solution.X.V).entries(valid.rows, valid.cols)
        if objective.scales is not None:
            z = z * objective.scales[0][valid.rows] * objective.scales[1][valid.cols]
        z = z + objective.offset + solution.rows[valid.rows] + solution.cols[valid.cols]
        loss = self.recipe.losses().evaluate(z, valid.values, valid.weights)[0]
        return self.recipe.score(loss, len(valid) if valid.weights is None else float(valid.weights.sum()))


def _table(points: list[_Visited]) -> dict[str, Array]:
    """One array per column, smallest radius first."""
    return {
        "radius": np.array([point.radius for point in points], float),
        "score": np.array([point.score for point in points], float),
        "value": np.array([point.solution.certificate.value for point in points], float),
        "rank": np.array([point.solution.X.s.size for point in points], int),
        "n_iter": np.array([point.solution.steps for point in points], int),
    }
