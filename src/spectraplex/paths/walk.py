"""path: one solution after the other along the radius (or λ), each started from the one before, each certified.

With ``gap=ε`` the radii choose themselves, so that *every* radius of a range has a certified answer: see ``coverage``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate
from ..certificates.dual import contradicts
from ..checks import number, numbers
from ..domains.sets import LEAST, NuclearBall, TraceBall, not_tiny
from ..eigen.leading import leading
from ..fingerprint import stream
from ..matrices.factors import Factors
from ..penalized import LEAST_PRICE, Penalized, largest, rounded_up, unit_ball, zero_image
from ..places.numpy import Array
from ..problem import Problem
from ..result import Result
from ..solve import Observer, solve
from ..stop import Status, Stop
from .family import Between, Family, Solved, solved
from .proof import Node, Promise, cover, reach
from .solutions import Path, PathPoint, rank_of

_SMALL = 1e-3  # values below this share of the value at zero count as that: no gap is small beside nothing
_FINER = 0.5  # share of the promised gap that a solution itself may use up; the rest is for the width around it


def path(
    problem: Problem,
    radii: Any = "auto",
    *,
    gap: float | None = None,
    count: int = 20,
    stop: Stop | None = None,
    method: Any = "hybrid",
    seed: int = 0,
    observers: Sequence[Observer] = (),
    failure: float = 1e-9,
) -> Path:
    """Solve along the radius of a ball, smallest first, or along λ, largest first; each start is the solution before.

    Parameters
    ----------
    problem : on a ``NuclearBall`` or ``TraceBall``, or ``Penalized``; its own radius (λ) is where "auto" ends.
    radii : the radii (or λs), in any order; or "auto": ``count`` of them in geometric progression. Balls: from the best
        multiple of the leading singular pair of the gradient at zero alone, but at most half of the problem's radius,
        up to that radius. Penalties: from the least λ whose solution is zero down to the problem's λ.
    gap : choose the radii so that *every* radius from the smallest to the largest of ``radii`` has an answer
        (``Path.at``) with a certified gap of at most ``gap`` times its value; likewise every λ.
    stop : when each solve ends; by default at a certified relative gap of 10⁻³. With ``gap`` only its limits count.
        ``max_seconds`` is for the whole path, proofs between the radii included; the first radius is always begun.
    method, seed, observers : as for ``solve``; an observer that returns False ends the path.
    failure : the probability that any bound of the whole path is wrong.

    A gap is measured beside the value, or beside a thousandth of the value at zero where that is larger: where a model
    fits everything, values go to zero and no gap is small beside them.

    Returns
    -------
    Path
        As far as it got: Ctrl-C ends it with the points that are finished.
    """
    family_like = isinstance(problem, Penalized) or (
        isinstance(problem, Problem) and isinstance(problem.domain, NuclearBall | TraceBall)
    )
    if not family_like:
        what = problem.domain if isinstance(problem, Problem) else type(problem).__name__
        raise TypeError(f"path: needs a Problem on a NuclearBall or TraceBall, or a Penalized one, got {what}.")
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"path: count must be a positive whole number, got {count!r}.")
    if stop is not None and not isinstance(stop, Stop):
        raise TypeError(f"path: stop must be a Stop such as Stop(relative_gap=0.01), got {type(stop).__name__}.")
    if not 0 < number("path", "failure", failure) < 1:
        raise ValueError(f"path: failure is a probability between 0 and 1, got {failure!r}.")
    sizes = _auto(problem, int(count)) if isinstance(radii, str) else numbers("path", "radii", radii, ndim=1)
    if isinstance(radii, str) and radii != "auto":
        raise ValueError(f"path: radii must be numbers or 'auto', got {radii!r}.")
    sizes = _sorted(sizes, isinstance(problem, Penalized))
    family = Family.of(problem, float(sizes.min()))
    if gap is None:
        small = _SMALL * abs(family.zero)
        asked = Stop(relative_gap=1e-3, gap=1e-3 * small) if stop is None else stop
        return _Walk(family, asked, method, seed, observers, failure).visit(sizes)
    gap = number("path", "gap", gap, positive=True)
    if gap >= 1:
        raise ValueError(f"path: gap is a share of the value, less than one, got {gap!r}.")
    promise = Promise(gap, max(_SMALL * abs(family.zero), 1e-300))
    finer = replace(stop or Stop(), relative_gap=_FINER * gap, gap=_FINER * gap * promise.floor, value=None)
    return _Walk(family, finer, method, seed, observers, failure).keep(promise, float(sizes[0]), float(sizes[-1]))


class _Walk:
    """The state of one call of ``path``."""

    def __init__(
        self, family: Family, stop: Stop, method: Any, seed: int, observers: Sequence[Observer], failure: float
    ) -> None:
        self.family, self.stop, self.method, self.seed = family, stop, method, seed
        self.observers, self.failure = observers, failure
        self.points: list[PathPoint] = []
        self.nodes: list[Node] = []
        self.covered: float | None = None
        self.ended = ""
        self.until = math.inf if stop.max_seconds is None else time.perf_counter() + stop.max_seconds

    def visit(self, sizes: Array) -> Path:
        """The plain form: these sizes, one after the other."""
        before: Solved | None = None
        try:
            for size in sizes:
                before = self.solve(float(size), before)
                if before is None or self.ended:
                    break
        except KeyboardInterrupt:
            self.ended = "Interrupted"
        return self.path(None)

    def keep(self, promise: Promise, first: float, end: float) -> Path:
        """The form that promises a gap at every size: guess how far to go, solve there, prove or go back."""
        last = 0.0  # how far the last step went, in logarithms of the radius, changed by how close the gap came
        try:
            here = self.solve(first, None)
            if here is not None and self.fine(here, promise):
                self.covered = first
            while here is not None and not self.ended and here.size != end:
                # the next solution reaches back as far as this one does ahead, and blends reach further
                width, left = 2 * _distance(here.size, reach(here, end, promise)), _distance(here.size, end)
                # what is left in equal parts: a short last step would cost as much as a long one
                parts = max(1, math.ceil(left / max(width, last, left / 64) - 1e-9))
                there = self.solve(end if parts == 1 else here.size * (end / here.size) ** (1 / parts), here)
                if there is None:
                    break
                inserted, worst = self.fill(here, there, promise)
                # gaps grow like the square of the distance; too bold a step costs nothing, it is a point all the same
                bold = 0.7 if inserted else min(3.0, 0.9 / math.sqrt(max(worst, 0.1)))
                last = bold * _distance(here.size, there.size) / (1 + inserted)
                here = there
        except KeyboardInterrupt:
            self.ended = "Interrupted"
        return self.path(promise)

    def fine(self, known: Solved, promise: Promise) -> bool:
        """Whether a solution keeps the promise at its own radius; if not, the path ends there."""
        if self.ended:
            return False
        if known.value - known.bound(known.size)[0] <= promise.allowed(known.value):
            return True
        where = f"{self.family.name} {known.size:.6g}"
        if known.value < 0.0:
            self.ended = (
                f"Stopped at {where}: the value is negative there, and gap= is a share of the value; "
                "add a constant to the objective, or give the radii"
            )
            return False
        self.ended = f"Stopped at {where}, which was not solved finely enough: raise the limits of stop"
        return False

    def fill(self, a: Solved, b: Solved, promise: Promise) -> tuple[int, float]:
        """Prove the interval, solving between its ends where that is needed; how often it was, and how close it got."""
        if not self.fine(b, promise):
            return 0, 1.0
        between = Between(a, b)
        found = cover(between, promise, self.late)
        if found.whole:
            self.nodes += found.nodes
            self.covered = b.size
            return 0, found.worst
        if self.late():
            return 0, 1.0
        if _distance(a.size, b.size) < 1e-5:
            where = f"{self.family.name} {a.size:.6g}"
            self.ended = f"Stopped at {where}: no solution near it keeps the promise, which is too fine"
            return 1, 1.0
        middle = self.solve(math.sqrt(a.size) * math.sqrt(b.size), a)
        if middle is None:
            return 1, 1.0
        left, _ = self.fill(a, middle, promise)
        right, _ = self.fill(middle, b, promise) if not self.ended else (0, 1.0)
        return 1 + left + right, 1.0

    def late(self) -> bool:
        """Whether the seconds of the whole path are spent; if so, the path ends."""
        if not self.ended and time.perf_counter() >= self.until:
            where = f"{self.family.name} {self.points[-1].size:.6g}"
            self.ended = f"Stopped at {where}, because max_seconds (for the whole path) is spent"
        return time.perf_counter() >= self.until

    # -------------------------------------------------------------------------------------------------- one point

    def solve(self, size: float, before: Solved | None) -> Solved | None:
        """Solve from where the last solution was, certify its own slope for use at other sizes, and keep the point."""
        if self.points and self.late():
            return None
        number = len(self.points) + 1
        failure = 0.5 * self.failure / (number * (number + 1))
        start, bound = self._start(size, before)
        problem = self.family.at(size, bound)
        # a seed of its own: a start drawn before, on which the point to start from may hang, certifies nothing new
        seed = self.seed if number == 1 else int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        left = self.until - time.perf_counter()
        stop = self.stop if left == math.inf else replace(self.stop, max_seconds=max(left, 0.0))
        result = solve(problem, self.method, stop, self.observers, start, seed, failure=failure)
        if result.status is Status.INTERRUPTED:
            self.ended = "Interrupted"
            return None
        if result.status in (Status.NOT_FINITE, Status.INCONSISTENT):
            self.ended = f"Stopped at {self.family.name} {size:.6g}: {result.status.value.rstrip('.')}"
            return None
        if result.status is Status.OBSERVER:
            self.ended = "Stopped because an observer returned False"
        found = self._slope(size, result, 0.5 * failure)
        certificate, claimed = result.certificate, found.claimed
        assert claimed is not None
        if contradicts(problem, claimed.value, result.value, certificate.rounding):
            self.ended = f"Stopped at {self.family.name} {size:.6g}: {Status.INCONSISTENT.value.rstrip('.')}"
            return None
        if found.own and result.value - claimed.value <= max(result.gap, self.stop.wanted(result.value)):
            # the slope of X itself proves enough, and needs no evidence
            certificate = Certificate(
                kind=claimed.kind,
                failure=claimed.failure,
                value=result.value,
                lower_bound=claimed.value,
                feasibility=certificate.feasibility,
                data=certificate.data,
                factors=certificate.factors,
                rounding=certificate.rounding,
            )
        lower, gap = certificate.lower_bound, certificate.gap
        self.points.append(
            PathPoint(
                size=size,
                radius=found.norm if self.family.penalized else size,
                lam=size if self.family.penalized else found.sigma,
                value=result.value,
                lower_bound=lower,
                rank=rank_of(result.X),
                seconds=result.seconds,
                products=result.products + claimed.products,
                result=replace(result, state={}, certificate=certificate, lower_bound=lower, gap=gap),
                problem=problem,
                sigma=found.sigma,
                spread=found.spread,
                slope=None if found.own else found.slope,
            )
        )
        if result.status is Status.TIME_LIMIT:
            self.late()
        return found

    def _slope(self, size: float, result: Result, failure: float) -> Solved:
        """A slope with a certified σ̄, for use at other sizes: that of X, or the one the run's own bound came from."""
        wanted, most = self.stop.wanted(result.value), max(500.0, result.products)
        # with the data and X in it: no problem can be built that expects these random starts
        rng = stream(self.seed, result.certificate.data, result.certificate.factors)
        asked: dict[str, Any] = dict(failure=failure, rng=rng, wanted=wanted, products=most)
        found = solved(self.family, size, result.X, **asked)
        lower, evidence = found.bound(size)[0], result.certificate.evidence
        if evidence is None or evidence.kind != "slope" or result.value - lower <= wanted:
            return found
        other = solved(self.family, size, result.X, evidence.arrays["y"], **asked)
        return other if other.bound(size)[0] > lower else found

    def _start(self, size: float, before: Solved | None) -> tuple[Factors | None, float | None]:
        """Where to begin, and a bound on the nuclear norm of a penalised solution."""
        if before is None or before.norm == 0.0:
            return None, None
        if not self.family.penalized:
            ahead = size / before.size - 1.0
            curve = self.family.objective.along(before.image, before.image)
            return self.family.scaled(before.X, 1.0 + (float(curve.minimize(ahead)) if ahead > 0 else ahead)), None
        least = self.family.least
        return before.X, None if least is None else rounded_up((before.loss + size * before.norm - least) / size)

    def path(self, promise: Promise | None) -> Path:
        points = sorted(self.points, key=lambda point: point.size, reverse=self.family.penalized)
        if promise is not None:  # beyond what is proven nothing was promised
            proven = [point.size == self.covered for point in points]
            points = points[: proven.index(True) + 1] if True in proven else []
        ended = f"{self.ended}; what was finished before is returned." if self.ended else ""
        return Path(points, self.family, promise, tuple(self.nodes), ended, self.failure)


def _distance(first: float, second: float) -> float:
    """Between two sizes, in logarithms."""
    return abs(math.log(second / first))


def _auto(problem: Problem, count: int) -> Array:
    """Sizes in geometric progression, from where something begins to happen to the problem's own."""
    objective, domain = problem.objective, problem.domain
    zero = zero_image(objective)
    if isinstance(problem, Penalized):
        # the estimate is good to six digits; a little more, so that zero is the solution
        start, end = max((1 + 2e-6) * largest(objective, zero, problem.psd), problem.lam), problem.lam
    else:
        end = domain.radius if isinstance(domain, NuclearBall) else domain.trace
        lifted = unit_ball(objective, domain.hermitian).lifted
        pull = lifted.pull(objective.evaluate(zero)[1])
        vector = leading(pull, accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0).vectors
        alone = objective.along(zero, lifted.measure(vector[:, :1], np.ones(1), vector[:, :1])).minimize(end)
        start = min(max(min(float(alone), 0.5 * end) or 0.5 * end, LEAST), end)
    return np.clip(np.geomspace(start, end, count), min(start, end), max(start, end)) if count > 1 else np.array([end])


def _sorted(sizes: Array, penalized: bool) -> Array:
    """Each once, smallest radius or largest λ first."""
    if sizes.size == 0:
        raise ValueError("path: radii is empty; give at least one, or 'auto'.")
    if sizes.dtype.kind == "c" or not (sizes > 0).all():
        place = int(np.argmin(sizes.real > 0)) if sizes.dtype.kind != "c" else 0
        raise ValueError(f"path: radii[{place}] is {sizes[place]}; a radius (or λ) is positive.")
    found = np.unique(sizes)
    not_tiny("path", "λ" if penalized else "the radius", float(found[0]), LEAST_PRICE if penalized else LEAST)
    return found[::-1] if penalized else found
