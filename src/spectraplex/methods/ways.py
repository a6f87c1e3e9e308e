"""Ways from a few rank-ones and from X to a new one uuᴴ, and how far to go each of them at once.

Of a quadratic the objective itself works out all slopes and bends at once (``ObjectiveFacts.hull``); of any other
function each way has its curve, and what is between two ways comes from the curve along their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..losses.curves import Curve, Quadratic
from ..objectives.hulls import Hull
from ..places.numpy import Array
from ..places.protocol import Block
from ..problem import Point, Problem
from .small_shares import best_sizes

_MOST = 10.0  # times the rest of X, what it grows by in one step at the most


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways to u: from a second new vector if there is one, from chosen atoms, and last from X, if it has others."""

    problem: Problem
    point: Point
    curves: list[Curve]
    slope: Array
    bend: Array  # between the ways; of a quadratic it is the same everywhere, else at X; not known of a single way then
    weights: Array  # of new vectors and chosen atoms before the step, one for all the rest, how much that may grow
    change: Array  # of these, a column for each way
    others: bool
    hull: Hull | None
    images: list[Any]  # of u, and of where each way begins, where there is no hull

    def best(self) -> tuple[Array, Any]:
        """How far to go each way, and the image of X there: the model's minimum, or the last way alone if better."""
        count, last = len(self.curves), self.curves[-1]
        alone = np.zeros(count)
        alone[-1] = last.minimize(1.0 if self.others else float(self.weights[-1]))
        if count == 1 or not (np.isfinite(self.slope).all() and np.isfinite(self.bend).all()):
            return alone, self._ahead(alone)
        sizes, least = best_sizes(self.slope, self.bend, self.weights, self.change), last.value(float(alone[-1]))
        if self.hull is not None:
            value = self.point.value + float(sizes @ self.slope) + 0.5 * float(sizes @ self.bend @ sizes)
            sizes = sizes if value <= least else alone
            return sizes, self._ahead(sizes)
        direction = self._toward(sizes)
        curve = self.problem.curve(self.point, direction)
        share = curve.minimize(1.0)
        if curve.value(share) <= least:
            return share * sizes, self.problem.lifted.combine(1.0, self.point.image, share, direction)
        return alone, self._ahead(alone)

    def _toward(self, sizes: Array) -> Any:
        """The image of going so far each way."""
        combine = self.problem.lifted.combine
        direction = combine(float(sizes.sum()), self.images[0], -float(sizes[0]), self.images[1])
        for size, image in zip(sizes[1:], self.images[2:], strict=True):
            direction = combine(1.0, direction, -float(size), image)
        return direction

    def _ahead(self, sizes: Array) -> Any:
        """The image of X after going so far each way."""
        if self.hull is None:
            return self.problem.lifted.combine(1.0, self.point.image, 1.0, self._toward(sizes))
        shares = [float(sizes.sum()), *(-sizes).tolist()]
        if self.others:  # the last of the images is that of X itself
            shares[-1] += 1.0
            return self.hull.mixture(shares)
        return self.problem.lifted.combine(1.0, self.point.image, 1.0, self.hull.mixture(shares))


def ways_to(problem: Problem, point: Point, chosen: list[int], vectors: list[Block]) -> Ways:
    """To the first of the vectors; the last of them are those of the chosen atoms, the others have no weight yet."""
    count, others = len(vectors) - 1, len(point.atoms) > 1
    ways, limits = count + others, 1 + count + 2 * others
    weights, change = np.zeros(limits), np.zeros((limits, ways))
    first = 1 + count - len(chosen)
    given = weights[first : 1 + count] = point.atoms.weights[chosen]
    change[0] = 1.0
    np.fill_diagonal(change[1 : 1 + count, :count], -1.0)
    if others:
        change[first : 1 + count, -1] = -given
        # the rest may grow so much: where it is next to nothing the ways are all but dependent
        change[-2:, -1], weights[-2:] = (-1.0, 1.0), (1.0, _MOST)
    hull, images = _hull(problem, vectors, point.image if others else None), []
    if hull is not None:
        slope, bend = hull.ways(point.slope)
        curves: list[Curve] = [
            Quadratic(point.value, g, c) for g, c in zip(slope.tolist(), bend.diagonal().tolist(), strict=True)
        ]
    else:
        images = [*(problem.image_of(x) for x in vectors), *([point.image] if others else [])]
        curves, slope, bend = _one_by_one(problem, point, images)
    return Ways(problem, point, curves, slope, bend, weights, change, others, hull, images)


def _hull(problem: Problem, vectors: list[Block], image: Any) -> Hull | None:
    """That of the rank-ones and an image; None where the function is not a quadratic of images alone."""
    made, corner = problem.facts.hull, problem.lifted.corner
    if made is None or problem.lifted.penalty or problem.lifted.objective is not problem.objective:
        return None  # a domain may look at the block through a map of its own
    X = problem.place.join(*vectors)
    U = problem.place.rows(X, corner.left)
    return made(corner.scale, U, U if corner.left == corner.right else problem.place.rows(X, corner.right), image)


def _one_by_one(problem: Problem, point: Point, images: list[Any]) -> tuple[list[Curve], Array, Array]:
    """The curves along all ways, and slopes and bends at X: those between two ways from the curve along their sum."""
    combine = problem.lifted.combine
    ways = [combine(1.0, images[0], -1.0, image) for image in images[1:]]
    curves, count = [problem.curve(point, way) for way in ways], len(ways)
    if count == 1:
        return curves, np.zeros(1), np.zeros((1, 1))
    slope = np.array([curve.derivative(0.0) for curve in curves])
    bend = np.diag([curve.curvature(0.0) for curve in curves])
    for i in range(count):
        for j in range(i):
            both = problem.curve(point, combine(1.0, ways[i], 1.0, ways[j])).curvature(0.0)
            bend[i, j] = bend[j, i] = 0.5 * (both - bend[i, i] - bend[j, j])
    return curves, slope, bend
