"""The model as a convex problem: what each pair weighs, how rows and columns are scaled; and its certified solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificates import judge
from ...certificates.certificate import Certificate
from ...domains.sets import NuclearBall
from ...hooks import Solver
from ...matrices.factors import Rectangular
from ...methods.escape import FEWEST
from ...methods.hybrid import Hybrid
from ...objectives.all_cells import AllCells
from ...observers import Observer
from ...penalized import zero_image
from ...places.numpy import Array
from ...problem import Problem
from ...solve import solve
from ...stop import Status, Stop
from ...trace import Trace
from ..completion.recipe import UNSURE, in_ball, multiplier_of, status_of
from ..devices import at
from ..input.observations import Observations

_ROUGH = 0.3  # how exact the eigenvectors of a solve are that ends at a rough answer
_FIRST = 16  # eigenvectors of a first escape
_SMALL = 1e-3  # a gap is a share of the value, or of this share of the value at zero


@dataclass(frozen=True)
class Recipe:
    """What the function is made of besides the data."""

    confidence: str
    exponent: float

    def weights(self, counts: Array) -> Array:
        """The confidence of a pair that came so often: one for one."""
        return np.log1p(counts) / np.log(2.0) if self.confidence == "log" else counts

    def objective(self, seen: Observations, unobserved: float) -> AllCells:
        """The function of these pairs; they are tidy: sorted, each once, their values what they count."""
        (m, n), weights = seen.shape, self.weights(seen.values)
        sides = np.bincount(seen.rows, weights, m) + unobserved * n, np.bincount(seen.cols, weights, n) + unobserved * m
        s, t = ((side / side.mean()) ** -self.exponent for side in sides)
        scales = (s, t) if self.exponent > 0 else None
        everywhere = (np.sqrt(unobserved) * s, t)
        return AllCells(seen.rows, seen.cols, np.ones(weights.size), weights, seen.shape, everywhere, scales)


def factors(objective: AllCells, X: Rectangular) -> tuple[Array, Array]:
    """P and Q with predictions PQᵀ."""
    P, Q = X.U * np.sqrt(X.s), X.V * np.sqrt(X.s)
    if objective.scales is None:
        return P, Q
    return objective.scales[0][:, None] * P, objective.scales[1][:, None] * Q


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved problem: its matrix as a singular value decomposition, and what is certified of it."""

    X: Rectangular
    multiplier: float
    certificate: Certificate
    status: Status
    trace: Trace
    steps: int


def solved(
    objective: AllCells,
    radius: float,
    stop: Stop,
    *,
    start: Rectangular | None = None,
    seed: int = 0,
    observers: Sequence[Observer] = (),
    certify: bool = True,
    solver: Solver = solve,
) -> Solution:
    """Minimise over the ball; what is certified can be verified from the factors alone, as ``status`` says."""
    problem = Problem(objective, NuclearBall(objective.shape, radius))
    few = max(FEWEST, min(min(objective.shape) // 4, _FIRST))
    method = Hybrid(block=few, share=_ROUGH, balance=certify)
    asked: Any = dict(stop=stop, observers=observers, start=start, seed=seed, certify=certify)
    result = solver(problem, method=method, **asked)
    assert isinstance(result.X, Rectangular)
    X, certificate, status = in_ball(result.X, radius), result.certificate, result.status
    if certify and status not in UNSURE:  # of these very factors, with a random start that had no part in finding them
        certificate = judge.certify(at(problem, solver), X, seed=seed)
        status = status_of(status, certificate, stop)
    image = objective.measure(*X.triple())
    multiplier = multiplier_of(objective, objective.evaluate(image)[1], image, X)
    steps = sum(record.kind != "start" for record in result.trace)
    return Solution(X, multiplier, certificate, status, result.trace, steps)


def default_stop(objective: AllCells, tolerance: float, max_iter: int) -> Stop:
    """A certified gap of so much of the value, or of a thousandth of the value at zero."""
    zero = objective.evaluate(zero_image(objective))[0]
    return Stop(relative_gap=tolerance, gap=tolerance * _SMALL * zero, max_steps=max_iter)
