"""Walk: the state of one call of ``path``, which solves, proves and keeps one point after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate
from ..certificates.lower import LowerBound, contradicts
from ..fingerprint import stream
from ..matrices.factors import Factors
from ..objectives.facts import facts_of
from ..observers import Observer
from ..penalized import rounded_up
from ..places.numpy import Array
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Status, Stop
from .between import Between
from .family import Family, Solved, solved
from .point import PathPoint, rank_of
from .proof import Node, Promise, cover, reach
from .sizes import distance, next_size, next_width
from .solutions import Path


class Walk:
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
        width = 0.0  # of the next step, in logarithms of the size, as the steps so far suggest it
        try:
            here = self.solve(first, None)
            if here is not None and self.fine(here, promise):
                self.covered = first
            while here is not None and not self.ended and here.size != end:
                # the next solution reaches back as far as this one does ahead, and blends reach further
                alone = 2 * distance(here.size, reach(here, end, promise))
                there = self.solve(next_size(here.size, end, max(alone, width)), here)
                if there is None:
                    break
                inserted, worst = self.fill(here, there, promise)
                width = next_width(distance(here.size, there.size), inserted, worst)
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
        if distance(a.size, b.size) < 1e-5:
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
        """Solve from where the last solution was, certify its own slope for use at other sizes, and keep the point.

        None where nothing came of it; ``ended`` then says why.
        """
        if self.points and self.late():
            return None
        number = len(self.points) + 1
        failure = 0.5 * self.failure / (number * (number + 1))  # these sum to half of what the whole path may fail with
        problem, result = self._run(size, before, number, failure)
        if result.status is Status.INTERRUPTED:
            self.ended = "Interrupted"
            return None
        if result.status in (Status.NOT_FINITE, Status.INCONSISTENT):
            self.ended = f"Stopped at {self.family.name} {size:.6g}: {result.status.value.rstrip('.')}"
            return None
        if result.status is Status.OBSERVER:
            self.ended = "Stopped because an observer returned False"
        found = self._slope(size, result, 0.5 * failure)
        assert found.claimed is not None
        if contradicts(problem, found.claimed.value, result.value, result.certificate.rounding):
            self.ended = f"Stopped at {self.family.name} {size:.6g}: {Status.INCONSISTENT.value.rstrip('.')}"
            return None
        self.points.append(self._point(size, problem, result, found, found.claimed))
        if result.status is Status.TIME_LIMIT:
            self.late()
        return found

    def _run(self, size: float, before: Solved | None, number: int, failure: float) -> tuple[Problem, Result]:
        """The problem at a size, solved from the last solution, within the time that is left for the whole path."""
        start, bound = self._start(size, before)
        problem = self.family.at(size, bound)
        # a seed of its own: a start drawn before, on which the point to start from may hang, certifies nothing new
        seed = self.seed if number == 1 else int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        left = self.until - time.perf_counter()
        stop = self.stop if left == math.inf else replace(self.stop, max_seconds=max(left, 0.0))
        return problem, solve(problem, self.method, stop, self.observers, start, seed, failure=failure)

    def _point(self, size: float, problem: Problem, result: Result, found: Solved, claimed: LowerBound) -> PathPoint:
        """What the user gets; certified by the slope of X itself where that proves enough: it needs no evidence."""
        certificate = result.certificate
        if found.own and result.value - claimed.value <= max(result.gap, self.stop.wanted(result.value)):
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
        return PathPoint(
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
        slope = facts_of(self.family.objective).images.unpack(evidence.arrays["y"])
        other = solved(self.family, size, result.X, slope, **asked)
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
        if least is None:
            return before.X, None
        return before.X, rounded_up(max((before.loss + size * before.norm - least) / size, before.norm))

    def path(self, promise: Promise | None) -> Path:
        points = sorted(self.points, key=lambda point: point.size, reverse=self.family.penalized)
        if promise is not None:  # beyond what is proven nothing was promised
            proven = [point.size == self.covered for point in points]
            points = points[: proven.index(True) + 1] if True in proven else []
        ended = f"{self.ended}; what was finished before is returned." if self.ended else ""
        return Path(points, self.family, promise, tuple(self.nodes), ended, self.failure)
