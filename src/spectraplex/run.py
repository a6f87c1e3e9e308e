"""The only loop. A method is asked for steps; the run certifies, records, tells observers, and lets ``stop`` judge."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from typing import Any

from .best import Best
from .certificates.certifier import Certifier
from .certificates.dual import Candidate, dual_value
from .checkpoint import what_is_left
from .fingerprint import data_fingerprint, stream
from .losses.curves import NotFinite
from .methods import facts_of
from .observers import Observers
from .places.crew import ClusterLost
from .places.device_memory import is_full, let_go
from .places.numpy import EPS
from .problem import Method, Point, Problem, Step
from .result import Result
from .stall import Stall
from .start import first_point
from .state import pack, resume, undamaged
from .stop import Status, Stop
from .trace import Record, Trace

_AFRESH = 50  # steps between two fresh measurements of the image: the recurrence drifts
_LIMITS = (Status.STALLED, Status.STEP_LIMIT, Status.TIME_LIMIT, Status.PRODUCT_LIMIT)


class Run:
    """The state of one call of ``solve``."""

    def __init__(
        self,
        problem: Problem,
        method: Method,
        stop: Stop,
        observers: Observers,
        seed: int,
        failure: float,
    ) -> None:
        self.problem, self.method, self.stop, self.observers = problem, method, stop, observers
        self.facts = facts_of(method)
        # with the data in it: nobody can build a problem that expects these random starts
        self.seed, self.rng = seed, stream(seed, data_fingerprint(problem))
        self.certifier = Certifier(problem, failure, seed, average=self.facts.zigzags)
        self.best = Best(problem, self.certifier)
        self.step_number = 0
        self.products = 0.0
        self.seconds_before = self.products_before = 0.0
        self.asked_before = (problem.place.rounds, problem.place.bytes)
        self.trace = Trace()
        self.point: Point | None = None
        self.memory: Any = None
        self.steps_here = 0
        self.stall = Stall()
        self.clock = self.began = 0.0  # seconds of the steps so far, and since when it runs
        self.scale = self.begun = 0.0  # sizes of the value after the first step, and at the start

    # --------------------------------------------------------------------------------------------------- the loop

    def run(self, start: Any, certify: bool) -> Result:
        """Where a cluster is lost on the way, with the best point on it, a sentence says what is left."""
        try:
            return self._run(start, certify)
        except ClusterLost as lost:
            raise ClusterLost(f"solve: {lost} {what_is_left(self.observers.each)}") from None

    def _run(self, start: Any, certify: bool) -> Result:
        status: Status | None = None
        self.began = time.perf_counter()
        try:
            resumed = self._begin(start)
            self._tick()
            status = self.stop.spent(0, self.clock, 0.0) if resumed else self._judge()
            while status is None:
                self.began = time.perf_counter()
                if resumed and not self.steps_here:
                    with undamaged(start):
                        status = self._round()
                else:
                    status = self._round()
                status = self._judge() if status is None else status
        except KeyboardInterrupt:
            if self.point is None:
                raise
            status = Status.INTERRUPTED
        except NotFinite:
            if self.point is None:
                raise ValueError(
                    "solve: the objective is NaN or infinite at the starting point; run spectraplex.check on it, or "
                    "pass start=, a matrix where it is finite. Data beyond 1e154 cannot be squared: divide all of them."
                ) from None
            status = Status.NOT_FINITE
        except RuntimeError as error:
            if self.point is None or not is_full(error):
                raise
            status, self.memory = Status.MEMORY, None  # what the method remembered may have been half made
        if status is Status.MEMORY:
            let_go()
        if certify and status not in (Status.INTERRUPTED, Status.NOT_FINITE, Status.INCONSISTENT):
            try:
                status = self._conclude(status)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
            except RuntimeError as error:
                if not is_full(error):
                    raise
                status = Status.MEMORY
        return self._result(status)

    def _conclude(self, status: Status) -> Status:
        """The last certificate, at the matrix that is returned; its products are not the method's."""
        judged, most = self.best.look(), 0.3 * self.products + 100.0
        if status in (Status.GAP, Status.FLOOR):
            self.products += self.certifier.settle(judged, most, self.stop.wanted(judged.value))
        else:
            self.products += self.certifier.conclude(judged, most)
        last, bound, (rounds, sent) = self.trace[-1], self.certifier.bound, self._asked()
        gap = max(last.value - bound, 0.0)
        self.trace.replace_last(replace(last, gap=gap, lower_bound=bound, rounds=rounds, bytes=sent))
        if self.certifier.contradicted:
            return Status.INCONSISTENT
        wanted = self.stop.wanted(judged.value)
        if status in _LIMITS and self.certifier.certificate(judged, wanted).gap <= wanted:
            return Status.GAP  # the last look shows what was asked for
        return status

    def _begin(self, start: Any) -> bool:
        """The first point; True when an earlier run simply goes on."""
        if isinstance(start, Result) and not start.state:  # a point of a path: it kept nothing but its factors
            start = start.X
        earlier: Result | None = None
        if isinstance(start, Result):
            earlier = start
            with undamaged(start):
                resumed = resume(self, start)
            if resumed:
                return True
            start = start.X
        self.point = self.best.found = first_point(self.problem, start, self.rng)
        self.begun = self.point.value if earlier is None else self.begun
        self.stop = self.stop.begun(self.begun)
        self.point, self.memory, step = self.method.init(self.problem, self.point, self.rng)
        self.best.found = self.point
        if earlier is not None:  # another method goes on: what was proven about the problem stays proven
            self.certifier.restore(earlier.state, Candidate.of(self.point))
        self.scale = abs(self.point.value)
        self._take(self.point, step, counts=step.kind != "start")
        return False

    def _round(self) -> Status | None:
        """One step of the method, now and then a fresh image, and a certificate when one is due."""
        assert self.point is not None
        point, memory, step = self.method.step(self.problem, self.point, self.memory, self.rng)
        if (self.step_number + 1) % _AFRESH == 0:
            fresh = self.problem.point(point.atoms)
            off = abs(fresh.value - point.value)
            if off > 1e-7 * max(self.scale, abs(point.value)) and off > 100 * self.certifier.rounding(fresh):
                return Status.INCONSISTENT
            point = fresh
        better = point.value < self.best.point.value
        self.stall.count(better, step.size, point.value)
        self.memory = memory  # beside its point, whenever Ctrl-C comes
        self._take(point, step, counts=True)
        return None

    def _take(self, point: Point, step: Step, counts: bool) -> None:
        before, self.point = self.point, point
        self.best.take(point)
        self.certifier.follow(point, self.step_number)
        self.step_number += counts
        self.steps_here += counts
        self.products += step.products
        wanted = self.stop.wanted(point.value)
        if wanted > -math.inf and self.certifier.due(self._estimate(before, step), wanted, self.products):
            self.products += self.certifier.certify(Candidate.of(point), max(200.0, self.products), wanted)
        self._record(step)

    def _estimate(self, before: Point | None, step: Step) -> float:
        """The gap that the last eigenvector showed.

        With a penalty the plain one is T·(σ₁ − λ), many times what the scaled slope shows: then that is worked out.
        """
        if not self.problem.lifted.penalty or before is None or not math.isfinite(step.estimated_gap):
            return step.estimated_gap
        top = step.estimated_gap - self.problem.lifted.pair(before.slope, before.image)
        return before.value - dual_value(self.problem, Candidate.of(before), top)[0]

    def _tick(self) -> None:
        """What has passed is counted; observers are not, the clock starts again with the next step."""
        now = time.perf_counter()
        self.clock, self.began = self.clock + now - self.began, now

    def _record(self, step: Step) -> None:
        assert self.point is not None
        value, bound = self.point.value, self.certifier.bound
        self._tick()
        rounds, sent = self._asked()
        self.trace.append(
            Record(
                step=self.step_number,
                seconds=self.seconds_before + self.clock,
                value=value,
                gap=max(value - bound, 0.0),
                lower_bound=bound,
                estimated_gap=step.estimated_gap,
                atoms=len(self.point.atoms),
                products=self.products,
                kind=step.kind,
                size=step.size,
                rounds=rounds,
                bytes=sent,
            )
        )

    def _asked(self) -> tuple[int, int]:
        """Rounds and bytes on a cluster so far, those of an earlier run too; zeros on one machine."""
        place, (before, earlier) = self.problem.place, self.asked_before
        return place.rounds - before, place.bytes - earlier

    def _judge(self) -> Status | None:
        """Hand the record to the observers, the clock standing still, then ask ``stop``."""
        assert self.point is not None
        if self.observers.end(self.trace[-1], self.point):
            return Status.OBSERVER
        best, bound = self.best.point, self.certifier.bound
        value = best.value
        if self.certifier.contradicted or (bound > value and self.certifier.confront(Candidate.of(best))):
            return Status.INCONSISTENT
        bound = self.certifier.bound  # it may have been withdrawn
        floor = 2.0 * self.certifier.blur + 4 * EPS * abs(value)
        verdict = self.stop.reached(value, max(value - bound, 0.0), floor)
        if verdict is Status.FLOOR:  # the rounding of an earlier value may have been larger
            floor = 2.0 * self.certifier.floor(best) + 4 * EPS * abs(value)
            verdict = self.stop.reached(value, max(value - bound, 0.0), floor)
        if verdict is Status.GAP:  # of the matrix that is returned, not only of the atoms it is kept as
            judged = self.best.look()
            wanted = self.stop.wanted(judged.value)
            verdict = verdict if self.certifier.certificate(judged, wanted).gap <= wanted else None
        if verdict is not None:
            return verdict
        rounding = partial(self.certifier.rounding, best)
        if self.stall.stalled(len(self.point.atoms), value, value - self.certifier.bound, rounding):
            return Status.STALLED
        verdict = self.stop.spent(self.steps_here, self.clock, self.products - self.products_before)
        return Status.OBSERVER if verdict is None and self.observers.end_keeping(self._so_far) else verdict

    def _so_far(self) -> Result:
        """As if Ctrl-C had come now; its trace is not the one that grows on."""
        return replace(self._result(Status.INTERRUPTED), trace=Trace(self.trace))

    # --------------------------------------------------------------------------------------------- in and out

    def _result(self, status: Status) -> Result:
        judged = self.best.look()
        assert self.point is not None
        certificate = self.certifier.certificate(judged, self.stop.wanted(judged.value))
        X, returned = self.problem.domain.lower(self.best.point.atoms), self.problem.facts.returned
        return Result(
            X=X if returned is None else X.at(returned),
            value=judged.value,
            gap=certificate.gap,
            lower_bound=certificate.lower_bound,
            certificate=certificate,
            status=status,
            trace=self.trace,
            seconds=self.seconds_before + self.clock,
            products=self.products,
            state=pack(self, self.point),
        )
