"""One solution of a path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate
from ..matrices.factors import Factors, Symmetric
from ..problem import Problem
from ..result import Result


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One solution of a path.

    ``radius`` and ``lam`` are both there, whichever of the two was chosen: for a ball λ is the certified bound on σ₁ of
    the gradient, for a penalty the radius is the nuclear norm of X. ``rank`` counts singular values above 10⁻⁶ of
    the largest. ``result.state`` is empty, as images and slopes would fill the memory: ``solve(…, start=point.result)``
    starts from the factors.
    """

    size: float
    radius: float
    lam: float
    value: float
    lower_bound: float
    rank: int
    seconds: float
    products: float
    result: Result
    problem: Problem = field(repr=False)
    sigma: float = field(repr=False)
    spread: float = field(repr=False, default=0.0)
    slope: Any = field(repr=False, default=None)  # the dual point that sigma belongs to, where it is not X's own

    @property
    def gap(self) -> float:
        return max(self.value - self.lower_bound, 0.0)

    @property
    def own(self) -> bool:
        """Whether ``sigma`` belongs to the slope of X itself."""
        return self.slope is None

    @property
    def X(self) -> Factors:
        return self.result.X

    @property
    def certificate(self) -> Certificate:
        return self.result.certificate


def rank_of(X: Factors) -> int:
    """Singular values above 10⁻⁶ of the largest."""
    if not X.triple()[1].size:
        return 0
    values = X.eigh()[0] if isinstance(X, Symmetric) else X.svd()[1]
    return int(np.sum(values > 1e-6 * values.max(initial=0.0)))
