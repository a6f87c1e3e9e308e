"""The model as a convex problem: which loss, which intercepts, which scales; and its solution with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...certificates import judge
from ...certificates.certificate import Certificate
from ...certificates.judged import look
from ...domains.sets import NuclearBall
from ...hooks import Solver
from ...losses import Huber, Logistic, Loss, Squared
from ...matrices.factors import Rectangular
from ...methods.escape import FEWEST
from ...methods.hybrid import Hybrid
from ...objectives import Objective
from ...objectives.implicit import Implicit
from ...objectives.inner import SLACK
from ...objectives.intercepts import Intercepts
from ...objectives.sides import SideFeatures
from ...observers import Observer
from ...penalized import zero_image
from ...places.numpy import EPS, Array
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from ...trace import Trace
from ..devices import at
from ..input.observations import Observations
from .constant import best_constant

_SMOOTHING = 0.1  # share of the mean count that every row and column is given
_WIDE = 28  # a cold fit begins with one eigenvector for so many rows or columns, whichever are fewer,
_WIDEST = 128  # and never with more than this;
_SOME = 16  # one that goes on from another with no more than this;
_DOUBLE, _MOST = 2, 96  # a radius of a walk with so many times the rank of the one before, and never with more;
_ROUGH = 0.3  # its eigenvectors are this exact, for it ends at a rough answer;
_POLISH = 8  # and so are descents, of so many steps, where a gap of more than
_FINE = 0.01  # this share of the value is asked for
_GROWING = 12  # descents while columns are missing are this long, more than usual: rounds are few;
_ENDING = (24, 0.01)  # the last one even longer, while it gains more than this share of its mean step
UNSURE = (Status.INTERRUPTED, Status.NOT_FINITE, Status.INCONSISTENT)  # of which nothing is certified
_BLUR = 1e-8  # share of the value by which a gap may be larger than asked for
_SMALL = 1e-3  # a gap is a share of the value, or of this share of the value without a low-rank part


class Table(Objective, Protocol):
    """The objective of a table, on this machine or on a cluster; see ``Intercepts``."""

    def inner(self, z: Any) -> Any:
        """The intercepts beside an image: ``rows``, ``cols``, ``value`` and ``slope``."""


@dataclass(frozen=True)
class Recipe:
    """What the function is made of besides the data."""

    loss: str
    delta: float
    ridges: tuple[float, float] | None
    exponent: float
    implicit: float = 0.0
    features: SideFeatures | None = field(default=None, compare=False)

    def losses(self) -> Loss:
        known: dict[str, Loss] = {"squared": Squared(), "huber": Huber(self.delta), "logistic": Logistic()}
        return known[self.loss]

    def scale(self, counts: Array, mean: float) -> Array:
        """(0.9·frequency + 0.1)^(−exponent): how much a unit of W is worth in a row with so many observations."""
        return np.asarray(((1.0 - _SMOOTHING) * counts / mean + _SMOOTHING) ** -self.exponent)

    def objective(self, seen: Observations, offset: float, slack: float = SLACK) -> Intercepts | Implicit:
        """The function of these observations; ``slack`` is how roughly intercepts may be fitted, see ``Intercepts``."""
        scales = None
        if self.exponent > 0:
            rows, cols = seen.counts()
            scales = (self.scale(rows, mean_count(rows)), self.scale(cols, mean_count(cols)))
        inside = self.table(seen, offset, scales, slack)
        return Implicit(inside, self.implicit) if self.implicit > 0 else inside

    def table(
        self,
        seen: Observations,
        offset: float,
        scales: tuple[Array, Array] | None,
        slack: float = SLACK,
    ) -> Intercepts:
        """The same without ``implicit``, with scales that are known."""
        return Intercepts(
            seen.rows,
            seen.cols,
            seen.values,
            seen.shape,
            self.losses(),
            weights=seen.weights,
            offset=offset,
            ridges=self.ridges,
            features=None if self.features is None else self.features.sized(seen.shape),
            scales=scales,
            slack=slack,
        )

    def offset(self, seen: Observations) -> float:
        """The constant that fits best alone; zero without intercepts."""
        total = float(len(seen) if seen.weights is None else seen.weights.sum())
        return self.constant(float(np.average(seen.values, weights=seen.weights)), total, partial(self.bends, seen))

    def bends(self, seen: Observations, here: float) -> tuple[float, float]:
        """Slope and curvature of the loss of one constant."""
        z, loss = np.full(len(seen), here), self.losses()
        slope = loss.evaluate(z, seen.values, seen.weights)[1].sum()
        return float(slope), float(loss.second(z, seen.values, seen.weights).sum())

    def constant(self, mean: float, total: float, bends: Callable[[float], tuple[float, float]]) -> float:
        """The best constant, from the mean, the sum of weights, and slope and curvature at any number."""
        if self.ridges is None:
            return 0.0
        if self.loss == "squared":
            return mean
        if self.loss == "logistic":  # the log-odds of +1, of a table with one more of either
            plus = 0.5 * (mean + 1.0) * total
            return float(np.log((plus + 1.0) / (total - plus + 1.0)))
        return best_constant(mean, self.delta, bends)


def mean_count(counts: Array) -> float:
    """Of the rows that have any observation."""
    seen = counts[counts > 0]
    return float(seen.mean()) if seen.size else 1.0


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved problem: the low-rank part, the intercepts beside it, and what is certified of both together.

    ``profiles`` are the left factors of the table's rows: X.U itself, or with what observed columns contribute.
    """

    X: Rectangular
    profiles: Any
    rows: Any
    cols: Array
    multiplier: float
    certificate: Certificate
    status: Status
    trace: Trace
    steps: int


def solved(
    objective: Table,
    radius: float,
    stop: Stop,
    *,
    start: Rectangular | None = None,
    seed: int = 0,
    observers: Sequence[Observer] = (),
    certify: bool = True,
    solver: Solver = solve,
) -> Solution:
    """Minimise over the ball from where somebody was before; the factors come as a singular value decomposition.

    What is certified can be verified from the factors alone, and ``status`` is about that.
    """
    problem = Problem(objective, NuclearBall(objective.shape, radius))
    asked: dict[str, Any] = dict(stop=stop, observers=observers, start=start, seed=seed, certify=certify)
    result = solver(problem, method=_method(objective, start, certify, stop), **asked)
    X = in_ball(as_rectangular(result), radius)
    image = objective.measure(*X.triple())
    found = objective.inner(image)
    certificate = _certified(at(problem, solver), result, X, certify)
    status = status_of(result.status, certificate, stop) if certify else result.status
    multiplier = multiplier_of(objective, found.slope, image, X)
    steps = sum(record.kind != "start" for record in result.trace)
    profiles = objective.seen(X.U) if isinstance(objective, Implicit) else X.U
    return Solution(X, profiles, found.rows, found.cols, multiplier, certificate, status, result.trace, steps)


def in_ball(X: Rectangular, radius: float) -> Rectangular:
    """The same matrix as a singular value decomposition, without what rounding adds to its nuclear norm."""
    U, s, V = X.svd()
    return replace(X, U=U, s=s * min(1.0, radius / s.sum()) if s.size else s, V=V)


def status_of(status: Status, certificate: Certificate, stop: Stop) -> Status:
    """Why a solve ended, seen from the certificate of its very factors."""
    small = certificate.gap <= stop.wanted(certificate.value) + _BLUR * abs(certificate.value)
    if status is Status.GAP and not small:
        return Status.FLOOR  # an earlier slope proved it; rounding keeps the factors' own from proving as much
    if status in (Status.STALLED, Status.STEP_LIMIT) and small:
        return Status.GAP  # the last certificate is the tightest
    return status


def multiplier_of(objective: Any, slope: Any, image: Any, X: Rectangular) -> float:
    """The price of the last unit of nuclear norm."""
    total = float(X.s.sum())
    return max(-float(objective.pair(slope, image)) / total, 0.0) if total > 0 else 0.0


def _certified(problem: Problem, result: Result, X: Rectangular, certify: bool) -> Certificate:
    """A certificate of these very factors, with the value that they have."""
    judged, bound = look(problem, X), result.certificate.lower_bound
    # the same bound for a matrix that is the same but for rounding: a little less, so that it can be verified; no loss
    # here is ever negative, and no ridge
    lowered = max(bound - 1e-9 * abs(judged.value), 0.0) if np.isfinite(bound) else bound
    certificate = replace(
        result.certificate,
        value=judged.value,
        lower_bound=lowered,
        feasibility=judged.outside,
        factors=judged.mark,
        rounding=judged.rounding,
        seal="",
    )
    if certify and result.status not in UNSURE and not _verifiable(certificate):
        # of these very factors, with a random start that had no part in finding them
        certificate = judge.certify(problem, X, seed=int(certificate.factors[:15], 16))
    return certificate


def _method(objective: Table, start: Rectangular | None, certify: bool, stop: Stop) -> Hybrid:
    """From nothing to a radius, a wide first escape saves the rounds that would grow to it.

    A walk begins where the rank is small, and each of its radii needs about twice the rank of the one before: one wide
    escape and one descent. What a fit starts from has most of the directions already: one long descent from there is
    mostly enough, and costs less than a second round would.
    """
    short = min(plainly(objective).shape)
    wide, few = min(short // _WIDE, _WIDEST), min(short // 4, _SOME)
    if start is None:
        wide = wide if certify else few
    else:
        wide = few if certify else min(max(_DOUBLE * start.s.size, few), _MOST)
    rough = not certify or (stop.relative_gap is not None and stop.relative_gap > _FINE)
    asked: dict[str, Any] = dict(polish=_POLISH, growing=_GROWING) if rough else {}
    if rough and certify and start is not None:
        asked |= dict(growing=_ENDING[0], fading=_ENDING[1])
    return Hybrid(block=max(FEWEST, wide), share=_ROUGH, balance=certify, **asked)


def _verifiable(certificate: Certificate) -> bool:
    """Whether there is a bound, and it follows from the factors' own slope and not from that of an earlier point."""
    return certificate.kind != "none" and certificate.dual == "slope"


def as_rectangular(result: Result) -> Rectangular:
    assert isinstance(result.X, Rectangular)
    return result.X


def default_stop(objective: Table, tolerance: float, max_iter: int) -> Stop:
    """A certified gap of so much of the value, or of a thousandth of the value with nothing but intercepts.

    Where a model fits everything its value goes to zero, and no gap is small beside that. Below the rounding of the
    values themselves nothing is asked for.
    """
    zero = objective.evaluate(zero_image(objective))[0]
    return Stop(
        relative_gap=tolerance, gap=max(tolerance * _SMALL * zero, EPS * plainly(objective).squares), max_steps=max_iter
    )


def plainly(objective: Table) -> Any:
    """The objective of the table itself."""
    return objective.inside if isinstance(objective, Implicit) else objective


def grown(X: Rectangular, before: tuple[int, int], shape: tuple[int, int]) -> Rectangular:
    """The same matrix for a table with more rows and columns; what columns contribute to rows stays beside them."""

    def padded(block: Array, count: int) -> Array:
        return np.concatenate([block, np.zeros((count - block.shape[0], block.shape[1]))])

    U = padded(X.U[: before[0]], shape[0])
    if X.U.shape[0] > before[0]:
        U = np.concatenate([U, padded(X.U[before[0] :], shape[1])])
    return Rectangular(U, X.s, padded(X.V, shape[1]))
