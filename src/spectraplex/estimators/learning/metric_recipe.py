"""The convex problem behind a metric, and its rounds: which triplets, what is charged, over which matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...domains.sets import TraceBall
from ...matrices.factors import Symmetric
from ...measurements.differences import Differences
from ...methods.hybrid import Hybrid
from ...objectives.fit import Fit
from ...penalized import Penalized
from ...places.numpy import Array
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from . import metric_frame as frames
from .metric_frame import Frame
from .metric_loss import loss_of
from .metric_triplets import Near, compared, joined, nearest

MARGIN = 1.0  # how much farther n is to be than p: the mean squared distance of target neighbours
PAIRED = 1.0  # the squared distance that parts similar pairs from dissimilar ones
_WIDTH = 0.5  # the rounded part of the hinge, in margins: a triplet at half of it still pulls
_ROUGH = 0.01  # gap down to which weights that are balanced after every descent only take time: a third more
ROUGHLY = Hybrid(balance=False)
_SMALL = 0.05  # a gap is a share of the value, or of this share of the value of X = 0


@dataclass(frozen=True)
class Recipe:
    """What the problem is made of besides the data; ``size`` is the radius, or λ where ``priced``."""

    loss: str
    keep: float
    targets: int
    impostors: int
    rounds: int
    tolerance: float
    most: int
    priced: bool = False

    def objective(self, Z: Array, triplets: Array, bounds: Array | float = MARGIN) -> Fit:
        """The mean charge of what the triplets fall short of, when keep·I is a part of the metric already."""
        measured = Differences(Z, triplets)
        offset = self.keep * plain(Z, triplets) if self.keep > 0.0 else 0.0
        weights = np.full(len(triplets), 1.0 / len(triplets))
        return Fit(measured, bounds - offset, loss_of(self.loss, _WIDTH * MARGIN), weights)

    def problem(self, fit: Fit, size: float) -> Problem:
        return Penalized(fit, size, psd=True) if self.priced else Problem(fit, TraceBall(fit.shape[0], size))

    def stop(self, fit: Fit) -> Stop:
        """A certified gap of so much of the value, or of a twentieth of what X = 0 has."""
        zero = fit.evaluate(np.zeros(fit.targets.size))[0]
        return Stop(relative_gap=self.tolerance, gap=self.tolerance * _SMALL * zero, max_steps=self.most)


@dataclass(frozen=True, eq=False)
class Found:
    """A metric: the frame, the points in it, the triplets and bounds of its problem, and the problem's solution."""

    frame: Frame
    points: Array
    triplets: Array
    bounds: Array | float
    problem: Problem
    result: Result
    rounds: int

    @property
    def X(self) -> Symmetric:
        assert isinstance(self.result.X, Symmetric)
        return self.result.X


def plain(Z: Array, triplets: Array) -> Array:
    """How much farther n is than p before anything is learned; by blocks."""
    out = np.empty(len(triplets))
    step = max(1, 2_000_000 // max(1, Z.shape[1]))
    for low in range(0, len(triplets), step):
        a, p, n = (Z[triplets[low : low + step, k]] for k in range(3))
        far, near = a - n, a - p
        out[low : low + step] = np.einsum("ij,ij->i", far, far) - np.einsum("ij,ij->i", near, near)
    return out


def framed(standard: Frame, Z: Array, codes: Array, share: float, targets: int) -> tuple[Frame, Array]:
    """The frame of labelled points: whitened by a share of the scatter within classes, target neighbours at one."""
    frame = frames.whitened(standard, Z, frames.within(Z, codes), share)
    turned = Z if share == 0.0 else Z @ frame.turn
    near = nearest(turned, codes, targets, same=True)
    rows, cols = np.nonzero(near.places >= 0)
    return frames.in_units(frame, turned, rows, near.places[rows, cols])


def embedded(Z: Array, X: Symmetric | None, keep: float) -> Array:
    """The points where plain distances are those of keep·I + X."""
    if X is None or X.weights.size == 0:
        return np.sqrt(keep) * Z if keep > 0.0 else Z
    low = (Z @ X.vectors) * np.sqrt(X.weights)
    return np.hstack([np.sqrt(keep) * Z, low]) if keep > 0.0 else low


def labelled(
    recipe: Recipe,
    frame: Frame,
    Z: Array,
    codes: Array,
    size: float,
    seed: int,
    observers: Sequence[Any] = (),
    start: Symmetric | None = None,
) -> Found:
    """Solve, choose neighbours anew under the metric found, and again, until no triplet is new or rounds are over.

    Triplets of the last round that were not met stay, so that what was learned of them is not lost. ``start`` is a
    metric of plain neighbours of some of the points: it stands for the first round.
    """
    kept, X, found = np.zeros((0, 3), np.int64), start, None
    rounds = recipe.rounds if start is None else max(1, recipe.rounds - 1)
    for count in range(1, rounds + 1):
        chosen = neighbours(recipe, embedded(Z, X, recipe.keep), codes)
        if found is not None and len(joined(found.triplets, chosen, len(Z))) == len(found.triplets):
            return found  # all of them were there: the same problem has the same solution
        triplets = joined(kept, chosen, len(Z))
        fit = recipe.objective(Z, triplets)
        problem = recipe.problem(fit, size)
        result = solved(recipe, problem, fit, seed, observers, X)
        found = Found(frame, Z, triplets, MARGIN, problem, result, count)
        if result.status is Status.OBSERVER:
            break
        X = found.X
        kept = triplets[fit.measure(*X.triple()) < fit.targets]
    assert found is not None
    return found


def neighbours(recipe: Recipe, points: Array, codes: Array) -> Array:
    """The triplets of points: target neighbours beside impostors."""
    targets: Near = nearest(points, codes, recipe.targets, same=True)
    return compared(targets, nearest(points, codes, recipe.impostors, same=False))


def solved(
    recipe: Recipe, problem: Problem, fit: Fit, seed: int, observers: Sequence[Any], start: Symmetric | None
) -> Result:
    method: Any = ROUGHLY if recipe.tolerance >= _ROUGH else "hybrid"
    result = solve(problem, method, recipe.stop(fit), observers, start, seed)
    if result.status is Status.INTERRUPTED:  # Ctrl-C is for all of it, not for this one
        raise KeyboardInterrupt
    return result
