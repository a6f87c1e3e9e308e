"""project: the Euclidean projection on a domain, by LAPACK where that is quickest and by rank-one work beyond."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .certificates.judge import certificate_of
from .certificates.judged import look
from .certificates.lower import lower_bound
from .checks import whole
from .domains.protocol import Domain, Projecting, projecting
from .matrices.factors import Factors, Rectangular, Symmetric
from .objectives import Distance
from .places.numpy import Array
from .problem import Problem
from .result import Result
from .solve import solve
from .stop import Status, Stop, stop_or_say
from .trace import Record, Trace

_UNUSED = np.random.default_rng(0)  # a proof draws no random numbers
_STOP = Stop(gap=1e-6, max_steps=2_000)
_WHOLE = 1000  # up to this dimension a whole decomposition of a dense matrix is the quicker one
_LATER = 100  # up to this dimension the proof takes longer than the projection; to wait for it keeps a copy of A


def project(A: Any, domain: Domain, stop: Stop | None = None, seed: int = 0) -> Result:
    """The Euclidean projection of A on a domain.

    A dense A with a side up to 1,000 is decomposed once: an exact projection, proven to rounding level (of a small
    one, the proof is worked out when it is asked for first). A larger or a scipy-sparse one is projected in the
    paper's way, by rank-one work only: no decomposition of A is ever computed. Where a few leading eigenvectors at
    once are welcome, ``solve(Problem(Distance(A), domain))`` is quicker there.

    ``result.X`` is the projection P up to ‖X − P‖_F ≤ √(2·result.gap).
    """
    stop = _STOP if stop is None else stop_or_say("project", stop)
    whole("project", "seed", seed, least=0)
    distance = Distance(A)
    problem, matrix = Problem(distance, domain), distance.A
    if matrix is None or min(matrix.shape) > _WHOLE or not projecting(domain):
        return solve(problem, "ror-adaptive", stop, seed=seed)
    X, seconds = _whole(distance, domain, matrix)
    result = ProvenLater.of(problem, X, stop, seconds)
    return result if max(matrix.shape) <= _LATER else result.now()


class ProvenLater(Result):
    """A result that has its X; everything that is said of X is worked out when it is asked for first."""

    @classmethod
    def of(cls, problem: Problem, X: Factors, stop: Stop, seconds: float) -> ProvenLater:
        """The proof is of X as it is now, whatever its owner does to it; tensors in, tensors out."""
        new, place = object.__new__(cls), problem.facts.returned
        given = X if place is None else X.at(place)
        vars(new).update(X=given, state={}, _asked=(problem, _copy(X), stop, seconds))
        return new

    def now(self) -> Result:
        """A plain result, with everything worked out."""
        return Result(**{name: getattr(self, name) for name in Result.__dataclass_fields__})

    def __getattr__(self, name: str) -> Any:
        """Only what is not there yet comes here."""
        known = vars(self)
        if name not in Result.__dataclass_fields__ or "_asked" not in known:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        problem, X, stop, seconds = known["_asked"]
        known |= vars(_proven(problem, X, stop, seconds)) | {"X": known["X"]}
        known.pop("_asked", None)
        return known[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, and what is sent to other processes, are plain results."""
        return Result, tuple(vars(self.now()).values())


def _copy(X: Factors) -> Factors:
    if isinstance(X, Symmetric):
        return Symmetric(X.vectors.copy(), X.weights.copy())
    return Rectangular(X.U.copy(), X.s.copy(), X.V.copy())


def _whole(distance: Distance, domain: Projecting, matrix: Array) -> tuple[Factors, float]:
    """By one decomposition, and how long that took."""
    began = time.perf_counter()
    X = domain.prox(matrix, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value, _ = distance.evaluate(distance.measure(*X.triple()))
    if not np.isfinite(value):
        raise ValueError(
            f"project: ½‖X − A‖² is more than a float64 can hold, A has entries up to {np.abs(matrix).max():.3g}; "
            "divide A and the size of the domain by the same number, and multiply X by it."
        )
    return X, time.perf_counter() - began


def _proven(problem: Problem, X: Factors, stop: Stop, seconds: float) -> Result:
    """At a projection X of A the largest eigenvalue of A − X is ⟨A − X, X⟩, which is proven."""
    began = time.perf_counter()
    found = look(problem, X)
    own, products = found.candidate, float(min(problem.objective.shape))
    expected = -problem.lifted.pair(own.slope, own.image)
    bound = lower_bound(problem, [own], found.value, failure=1e-9, rng=_UNUSED, expected=expected)
    certificate = certificate_of(problem, found, bound)
    seconds += time.perf_counter() - began
    value, gap, low = certificate.value, certificate.gap, certificate.lower_bound
    record = Record(1, seconds, value, gap, low, gap, X.triple()[1].size, products, "project", 1.0)
    return Result(
        X=X,
        value=value,
        gap=gap,
        lower_bound=low,
        certificate=certificate,
        status=Status.GAP if gap <= stop.wanted(value) else Status.FLOOR,
        trace=Trace([record]),
        seconds=seconds,
        products=products + bound.products,
        state={},  # a projection has nothing to go on with but its factors
    )
