"""project: the Euclidean projection on a domain, by rank-one work only."""

from __future__ import annotations

from typing import Any

from .objectives import Distance
from .problem import Problem
from .result import Result
from .solve import solve
from .stop import Stop


def project(A: Any, domain: Any, stop: Stop | None = None, seed: int = 0) -> Result:
    """The Euclidean projection of A on a domain, by rank-one work only: no decomposition of A is ever computed.

    The paper's way. Where a few leading eigenvectors at once are welcome, ``solve(Problem(Distance(A), domain))`` is
    quicker: one partial decomposition, and an exact one.

    ``result.X`` is the projection P up to ‖X − P‖_F ≤ √(2·result.gap). A may be dense or scipy-sparse.
    """
    stop = Stop(gap=1e-6, max_steps=2_000) if stop is None else stop
    return solve(Problem(Distance(A), domain), "ror-adaptive", stop, seed=seed)
