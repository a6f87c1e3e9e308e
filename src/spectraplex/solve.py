"""The only loop. A method is asked for steps; solve certifies, records, observes, and lets ``stop`` judge."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .certificates.certifier import Certifier
from .certificates.dual import Candidate, dual_value
from .certificates.judged import Judged, look
from .checks import chance, whole
from .fingerprint import data_fingerprint, factors_fingerprint, stream
from .losses.curves import NotFinite
from .matrices.factors import as_factors
from .methods import MethodFacts, facts_of, resolve
from .places.numpy import EPS
from .places.threads import one_blas_thread
from .problem import Point, Problem, Step
from .result import Result
from .state import pack, resume, undamaged
from .stop import Status, Stop
from .trace import Record, Trace

Observer = Callable[[Record, Point], Any]


@runtime_checkable
class Keeping(Protocol):
    """An observer that may ask for what it takes to go on later."""

    def keep(self, result: Callable[[], Result]) -> Any: ...


_AFRESH = 50  # steps between two fresh measurements of the image: the recurrence drifts
_LIMITS = (Status.STALLED, Status.STEP_LIMIT, Status.TIME_LIMIT, Status.PRODUCT_LIMIT)
_PATIENCE = 20  # steps without any progress before a run counts as stalled
_STILL = 200  # steps that move, but neither value nor bound beyond rounding, before it does, too


def solve(
    problem: Problem,
    method: Any = "hybrid",
    stop: Stop | None = None,
    observers: Sequence[Observer] = (),
    start: Any = None,
    seed: int = 0,
    *,
    failure: float = 1e-9,
    certify: bool = True,
) -> Result:
    """Minimise, and say how far from the optimum the answer can be.

    Parameters
    ----------
    problem : what to minimise over what.
    method : a name from ``spectraplex.METHODS``, or a method such as ``ConditionalGradient(step="open-loop")``.
    stop : when to end; by default at a certified relative gap of 10⁻³, or after 10,000 steps.
    observers : called as ``observer(record, point)`` after every step; only returning False stops. One that has a
        method ``keep`` may ask, wherever the run goes on, for what it takes to go on later: ``keep(result)`` is given a
        function that returns a ``Result``; returning False stops there.
    start : where to begin: a ``Result`` (the same method goes on exactly where it was), factors such as ``result.X``,
        or a tuple (vectors, weights) or (U, s, V).
    seed : same seed, same result.
    failure : the probability that any certified bound of this run is wrong, all of them together.
    certify : False skips the certificate at the end (gaps that ``stop`` asks for are certified all the same).

    Returns
    -------
    Result
        The best point seen. Ctrl-C ends the run with ``Status.INTERRUPTED`` and returns it, too.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"solve: the first argument must be a Problem, got {type(problem).__name__}.")
    stop = Stop(relative_gap=1e-3) if stop is None else stop
    if not isinstance(stop, Stop):
        raise TypeError(f"solve: stop must be a Stop such as Stop(relative_gap=0.01), got {type(stop).__name__}.")
    chance("solve", "failure", failure)
    try:
        watching: tuple[Any, ...] = tuple(observers)
    except TypeError:
        watching = (None,)
    if not all(callable(observer) and not isinstance(observer, type) for observer in watching):
        raise TypeError("solve: observers must be a list of functions observer(record, point), e.g. [Progress()].")
    whole("solve", "seed", seed, least=0)
    method = resolve(method)
    facts = facts_of(method)
    if facts.require is not None:
        facts.require(problem)
    run = Run(problem, method, stop, watching, seed, failure)
    if _wants_blas_threads(problem, facts):
        return run.run(start, certify)
    with one_blas_thread:
        return run.run(start, certify)


class Run:
    """The state of one call of ``solve``."""

    def __init__(
        self,
        problem: Problem,
        method: Any,
        stop: Stop,
        observers: tuple[Any, ...],
        seed: int,
        failure: float,
    ) -> None:
        self.problem, self.method, self.stop, self.observers = problem, method, stop, observers
        self.facts = facts_of(method)
        # with the data in it: nobody can build a problem that expects these random starts
        self.seed, self.rng = seed, stream(seed, data_fingerprint(problem))
        self.certifier = Certifier(problem, failure, seed, average=self.facts.zigzags)
        self.step_number = 0
        self.products = 0.0
        self.seconds_before = self.products_before = 0.0
        self.trace = Trace()
        self.point: Point | None = None
        self.best: Point | None = None
        self.memory: Any = None
        self.steps_here = self.idle = 0
        self.still, self.highest, self.shown = 0, -math.inf, math.inf  # steps since the best, their values, its gap
        self.clock = self.began = 0.0  # seconds of the steps so far, and since when it runs
        self.scale = self.begun = 0.0  # sizes of the value after the first step, and at the start
        self.seen: tuple[Point, Judged] | None = None  # the best point, as the user gets it
        self.earlier: tuple[Point, Judged] | None = None  # the same of the run that goes on

    # --------------------------------------------------------------------------------------------------- the loop

    def run(self, start: Any, certify: bool) -> Result:
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
                    "pass start=, a matrix where it is finite."
                ) from None
            status = Status.NOT_FINITE
        if certify and status not in (Status.INTERRUPTED, Status.NOT_FINITE, Status.INCONSISTENT):
            try:
                status = self._conclude(status)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        return self._result(status)

    def _conclude(self, status: Status) -> Status:
        """The last certificate, at the matrix that is returned; its products are not the method's."""
        judged, most = self._look(), 0.3 * self.products + 100.0
        if status in (Status.GAP, Status.FLOOR):
            self.products += self.certifier.settle(judged, most, self.stop.wanted(judged.value))
        else:
            self.products += self.certifier.conclude(judged, most)
        last, bound = self.trace[-1], self.certifier.bound
        self.trace.replace_last(replace(last, gap=max(last.value - bound, 0.0), lower_bound=bound))
        if self.certifier.contradicted:
            return Status.INCONSISTENT
        wanted = self.stop.wanted(judged.value)
        if status in _LIMITS and self.certifier.certificate(judged, wanted).gap <= wanted:
            return Status.GAP  # the last look shows what was asked for
        return status

    def _look(self) -> Judged:
        """The best point as the user gets it, measured afresh."""
        assert self.best is not None
        if self.seen is None or self.seen[0] is not self.best:
            self.seen = (self.best, self.look_at(self.best))
            if self.earlier is not None and self.earlier[1].value < self.seen[1].value:
                self.seen, self.best = self.earlier, self.earlier[0]
        return self.seen[1]

    def look_at(self, point: Point) -> Judged:
        """A point as the user would get it."""
        X = self.problem.domain.lower(point.atoms)
        try:
            return look(self.problem, X, "solve")
        except NotFinite:  # the function is no longer what it was: what was seen is all there is
            rounding = self.certifier.rounding(point)
            return Judged(point.value, rounding, 0.0, factors_fingerprint(X), X, Candidate.of(point))

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
        problem = self.problem
        if start is None and problem.facts.start is not None:  # a loss need not be finite at the domain's own
            start = problem.facts.start(problem.domain)
        if start is None:
            atoms = problem.domain.start(problem.dtype, self.rng)
        else:
            factors = as_factors(start, "solve: start")
            if np.dtype(factors.dtype).kind == "c" and problem.dtype == "float64":
                raise TypeError("solve: start is complex, but the objective is real.")
            atoms = problem.domain.raised(factors)
            place = atoms.place
            if place.kind(atoms.buffer.block) != np.dtype(problem.dtype):
                atoms = type(atoms).of(place.cast(atoms.vectors, problem.dtype), atoms.weights, place)
        atoms = atoms.at(problem.place)
        self.point = self.best = problem.point(atoms, fresh=start is None and problem.domain.jumps)
        self.begun = self.point.value if earlier is None else self.begun
        self.stop = self.stop.begun(self.begun)
        self.point, self.memory, step = self.method.init(problem, self.point, self.rng)
        self.best = self.point
        if earlier is not None:  # another method goes on: what was proven about the problem stays proven
            self.certifier.restore(earlier.state, Candidate.of(self.point))
        self.scale = abs(self.point.value)
        self._take(self.point, step, counts=step.kind != "start")
        return False

    def _round(self) -> Status | None:
        """One step of the method, now and then a fresh image, and a certificate when one is due."""
        assert self.point is not None and self.best is not None
        point, memory, step = self.method.step(self.problem, self.point, self.memory, self.rng)
        if (self.step_number + 1) % _AFRESH == 0:
            fresh = self.problem.point(point.atoms)
            off = abs(fresh.value - point.value)
            if off > 1e-7 * max(self.scale, abs(point.value)) and off > 100 * self.certifier.rounding(fresh):
                return Status.INCONSISTENT
            point = fresh
        better = point.value < self.best.value
        self.idle = 0 if better or step.size > 0 else self.idle + 1
        self.still, self.highest = (0, -math.inf) if better else (self.still + 1, max(self.highest, point.value))
        self.memory = memory  # beside its point, whenever Ctrl-C comes
        self._take(point, step, counts=True)
        return None

    def _take(self, point: Point, step: Step, counts: bool) -> None:
        before, self.point = self.point, point
        if self.best is None or point.value < self.best.value:
            self.best = point
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
        value = self.point.value
        self._tick()
        self.trace.append(
            Record(
                step=self.step_number,
                seconds=self.seconds_before + self.clock,
                value=value,
                gap=max(value - self.certifier.bound, 0.0),
                lower_bound=self.certifier.bound,
                estimated_gap=step.estimated_gap,
                atoms=len(self.point.atoms),
                products=self.products,
                kind=step.kind,
                size=step.size,
            )
        )

    def _judge(self) -> Status | None:
        """Hand the record to the observers, the clock standing still, then ask ``stop``."""
        assert self.point is not None and self.best is not None
        record = self.trace[-1]
        for observer in self.observers:
            if _says_stop(observer(record, self.point)):
                return Status.OBSERVER
        if self.certifier.contradicted or (
            self.certifier.bound > self.best.value and self.certifier.confront(Candidate.of(self.best))
        ):
            return Status.INCONSISTENT
        value, floor = self.best.value, 2.0 * self.certifier.blur + 4 * EPS * abs(self.best.value)
        verdict = self.stop.reached(value, max(value - self.certifier.bound, 0.0), floor)
        if verdict is Status.FLOOR:  # the rounding of an earlier value may have been larger
            floor = 2.0 * self.certifier.floor(self.best) + 4 * EPS * abs(value)
            verdict = self.stop.reached(value, max(value - self.certifier.bound, 0.0), floor)
        if verdict is Status.GAP:  # of the matrix that is returned, not only of the atoms it is kept as
            judged = self._look()
            wanted = self.stop.wanted(judged.value)
            verdict = verdict if self.certifier.certificate(judged, wanted).gap <= wanted else None
        if verdict is not None:
            return verdict
        if self.idle >= max(_PATIENCE, len(self.point.atoms)) or self._stands_still():
            return Status.STALLED
        verdict = self.stop.spent(self.steps_here, self.clock, self.products - self.products_before)
        if verdict is None:
            keepers = (observer.keep for observer in self.observers if isinstance(observer, Keeping))
            if any(_says_stop(keep(self._so_far)) for keep in keepers):
                return Status.OBSERVER
        return verdict

    def _stands_still(self) -> bool:
        """Whether the run only moves within rounding: many steps, no better value, no better bound."""
        assert self.best is not None
        gap = self.best.value - self.certifier.bound
        if gap < 0.99 * self.shown:
            self.still, self.highest, self.shown = 0, -math.inf, gap
        if self.still < _STILL:
            return False
        if self.highest - self.best.value <= self.certifier.rounding(self.best):
            return True
        self.still, self.highest = 0, -math.inf
        return False

    def _so_far(self) -> Result:
        """As if Ctrl-C had come now; its trace is not the one that grows on."""
        return replace(self._result(Status.INTERRUPTED), trace=Trace(self.trace))

    # --------------------------------------------------------------------------------------------- in and out

    def _result(self, status: Status) -> Result:
        judged = self._look()
        point, best = self.point, self.best
        assert point is not None and best is not None
        certificate = self.certifier.certificate(judged, self.stop.wanted(judged.value))
        return Result(
            X=self.problem.domain.lower(best.atoms),
            value=judged.value,
            gap=certificate.gap,
            lower_bound=certificate.lower_bound,
            certificate=certificate,
            status=status,
            trace=self.trace,
            seconds=self.seconds_before + self.clock,
            products=self.products,
            state=pack(self, point),
        )


def _says_stop(answer: Any) -> bool:
    """False alone stops, also NumPy's (a comparison of numbers gives that one); None and zero do not."""
    return isinstance(answer, bool | np.bool_) and not answer


def _wants_blas_threads(problem: Problem, method: MethodFacts) -> bool:
    """Large dense matrices: whole decompositions, products with a gradient that is one, many dense measurements."""
    (m, n), facts = problem.objective.shape, problem.facts
    return ((method.dense or bool(facts.dense)) and m * n > 250_000) or facts.held > 2_000_000
