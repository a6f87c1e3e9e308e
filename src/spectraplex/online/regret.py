"""The regret: what a learner lost beside the best fixed X, which the batch solver finds and certifies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..losses.protocol import Prepared
from ..measurements.joined import Joined
from ..objectives import Fit
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Stop
from .ledger import Ledger

_GAP = 1e-3  # as a share of what was suffered: the best fixed X may well lose nothing


@dataclass(frozen=True, eq=False)
class Regret:
    """``suffered`` less the least loss that one fixed X has on the whole stream.

    Attributes
    ----------
    suffered : the learner's loss.
    best, lower_bound : the value of the best fixed X that was found, and a certified bound below which none lies.
    at_least, at_most : the regret is between them.
    result : of the batch solver: ``result.X`` and ``result.certificate``.
    problem : what the certificate is about.
    """

    suffered: float
    best: float
    lower_bound: float
    arrivals: int
    result: Result = field(repr=False)
    problem: Problem = field(repr=False)

    @property
    def at_least(self) -> float:
        return self.suffered - self.best

    @property
    def at_most(self) -> float:
        return self.suffered - self.lower_bound


def against_the_best(
    learner: Any,
    ledger: Ledger,
    stream: Iterable[tuple[Any, ...]],
    objective: Callable[[Any, Any, Any], Fit],
    stop: Stop | None,
) -> Regret:
    """Read the stream again, and solve for the best fixed X."""
    owner = type(learner).__name__
    fits = []
    for arrival in stream:
        measurements, targets, *rest = arrival
        fits.append(objective(measurements, targets, rest[0] if rest else None))
    seen = sum(int(fit.targets.size) for fit in fits)
    checksum = float(sum(np.abs(fit.targets).sum() for fit in fits))
    same = len(fits) == ledger.arrivals and abs(checksum - ledger.checksum) <= 1e-9 * max(checksum, 1.0)
    if not fits or not same:
        raise ValueError(
            f"{owner}.regret: the stream has {len(fits)} arrivals with {seen} targets whose sizes sum to "
            f"{checksum:.6g}, the learner met {ledger.arrivals} with {ledger.checksum:.6g}; give the same arrivals."
        )
    problem = Problem(_joined(fits), learner.domain)
    result = solve(problem, stop=Stop(gap=_GAP * max(ledger.suffered, 1e-300)) if stop is None else stop)
    return Regret(ledger.suffered, result.value, result.lower_bound, ledger.arrivals, result, problem)


def _joined(fits: list[Fit]) -> Fit:
    """The sum of several fits with the same loss, as one."""
    weighted = any(fit.weights is not None for fit in fits)
    targets = np.concatenate([fit.targets for fit in fits])
    weights = None
    if weighted:
        weights = np.concatenate([np.ones(fit.targets.size) if fit.weights is None else fit.weights for fit in fits])
    whole = Fit.__new__(Fit)
    whole._set(Joined([fit.measurements for fit in fits]), Prepared(fits[0].loss, targets, weights))
    return whole
