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
from .objectives import Distance
from .places.numpy import Array
from .problem import Problem
from .result import Result
from .solve import solve
from .stop import Status, Stop, stop_or_say
from .trace import Record, Trace

_UNUSED = np.random.default_rng(0)  # a proof draws no random numbers
_WHOLE = 1000  # up to this dimension a whole decomposition of a dense matrix is the quicker one


def project(A: Any, domain: Domain, stop: Stop | None = None, seed: int = 0) -> Result:
    """The Euclidean projection of A on a domain.

    A dense A with a side up to 1,000 is decomposed once: an exact projection, proven to rounding level. A larger or a
    scipy-sparse one is projected in the paper's way, by rank-one work only: no decomposition of A is ever computed.
    Where a few leading eigenvectors at once are welcome, ``solve(Problem(Distance(A), domain))`` is quicker there.

    ``result.X`` is the projection P up to ‖X − P‖_F ≤ √(2·result.gap).
    """
    stop = Stop(gap=1e-6, max_steps=2_000) if stop is None else stop_or_say("project", stop)
    whole("project", "seed", seed, least=0)
    distance = Distance(A)
    problem, matrix = Problem(distance, domain), distance.A
    if matrix is not None and min(matrix.shape) <= _WHOLE and projecting(domain):
        return _whole(problem, domain, matrix, stop)
    return solve(problem, "ror-adaptive", stop, seed=seed)


def _whole(problem: Problem, domain: Projecting, matrix: Array, stop: Stop) -> Result:
    """By one decomposition. At a projection X of A the largest eigenvalue of A − X is ⟨A − X, X⟩, which is proven."""
    began = time.perf_counter()
    X = domain.prox(matrix, 1.0)
    found = look(problem, X)
    own, products = found.candidate, float(min(matrix.shape))
    expected = -problem.lifted.pair(own.slope, own.image)
    bound = lower_bound(problem, [own], found.value, failure=1e-9, rng=_UNUSED, expected=expected)
    certificate, seconds = certificate_of(problem, found, bound), time.perf_counter() - began
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
