"""solve: minimise, with a certified gap. Arguments are checked here; the loop is in run.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .checks import chance, flag, whole
from .methods import MethodFacts, facts_of, resolve
from .observers import Observer, Observers
from .places.protocol import on_device
from .places.threads import one_blas_thread
from .problem import Problem
from .result import Result
from .run import Run
from .stop import Stop, stop_or_say


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
    stop = Stop(relative_gap=1e-3) if stop is None else stop_or_say("solve", stop)
    chance("solve", "failure", failure)
    watching = Observers.of("solve", observers)
    whole("solve", "seed", seed, least=0)
    flag("solve", "certify", certify)
    method = resolve(method)
    facts = facts_of(method)
    if facts.require is not None:
        facts.require(problem)
    run = Run(problem, method, stop, watching, seed, failure)
    if _wants_blas_threads(problem, facts):
        return run.run(start, certify)
    with one_blas_thread:
        return run.run(start, certify)


def _wants_blas_threads(problem: Problem, method: MethodFacts) -> bool:
    """Large dense matrices: whole decompositions, products with a gradient that is one, many dense measurements."""
    (m, n), facts = problem.objective.shape, problem.facts
    if on_device(problem.place):  # small matrices of hundreds of rows are decomposed here
        return True
    return ((method.dense or bool(facts.dense)) and m * n > 250_000) or facts.held > 2_000_000
