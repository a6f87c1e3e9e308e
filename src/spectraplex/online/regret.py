"""The regret: what a learner lost beside the best fixed X, which the batch solver finds and certifies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..losses.protocol import LossFacts, Prepared
from ..losses.softmax import Softmax
from ..measurements.joined import Joined
from ..objectives import Fit
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Stop
from .arrivals import Mark, objective_of
from .ground import Mixture
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
    learner: Any, ledger: Ledger, stream: Iterable[tuple[Any, ...]], probe: Mixture, stop: Stop | None
) -> Regret:
    """Read the stream again, and solve for the best fixed X."""
    owner, fits, mark = type(learner).__name__, [], Mark()
    if not ledger.arrivals:
        raise ValueError(f"{owner}.regret: nothing has arrived yet; call update first.")
    for number, arrival in enumerate(_read(owner, stream)):
        fits.append(objective_of(owner, learner.domain, learner.loss, _arrival(owner, number, arrival)))
        mark = mark.plus(Mark.of(fits[-1], probe))
    if not fits and isinstance(stream, Iterator):
        raise ValueError(
            f"{owner}.regret: the stream has no arrivals left; a generator can be read only once, so give a list or a "
            "new generator of the same arrivals."
        )
    if len(fits) != ledger.arrivals or not Mark.known(ledger).same(mark):
        seen = sum(int(fit.measurements.size) for fit in fits)
        raise ValueError(
            f"{owner}.regret: the stream has {len(fits)} arrivals with {seen} observations, the learner met "
            f"{ledger.arrivals} with {ledger.observations}, or their measurements, targets or weights are others; give "
            "the same arrivals."
        )
    problem = Problem(_joined(owner, fits), learner.domain)
    result = solve(problem, stop=Stop(gap=_GAP * max(abs(ledger.suffered), 1e-300)) if stop is None else stop)
    return Regret(ledger.suffered, result.value, result.lower_bound, ledger.arrivals, result, problem)


def _read(owner: str, stream: Any) -> Iterator[Any]:
    """Its arrivals, one after the other."""
    if not isinstance(stream, Iterable):
        raise TypeError(f"{owner}.regret: stream must be a list or a generator of arrivals, got {stream!r}.")
    return iter(stream)


def _arrival(owner: str, number: int, arrival: Any) -> tuple[Any, Any, Any]:
    """Measurements, targets and weights of one element of a stream."""
    if not isinstance(arrival, tuple | list) or len(arrival) not in (2, 3):
        raise TypeError(
            f"{owner}.regret: arrival {number} of the stream must be (measurements, targets) or (measurements, "
            f"targets, weights), got {type(arrival).__name__}."
        )
    measurements, targets, *rest = arrival
    return measurements, targets, rest[0] if rest else None


def _joined(owner: str, fits: list[Fit]) -> Fit:
    """The sum of several fits with the same loss, as one."""
    weighted = any(fit.weights is not None for fit in fits)
    targets = np.concatenate([fit.targets for fit in fits])
    weights = None
    if weighted:
        weights = np.concatenate([np.ones(fit.targets.size) if fit.weights is None else fit.weights for fit in fits])
    whole = Fit.__new__(Fit)
    joined = Joined([fit.measurements for fit in fits])
    whole._set(joined, Prepared(_loss(owner, [fit.loss for fit in fits]), targets, weights))
    return whole


def _loss(owner: str, losses: list[Any]) -> Any:
    """The loss of all images, one behind the other."""
    first = losses[0]
    if isinstance(first, Softmax):
        counts = np.cumsum([0, *(int(loss.groups.max()) + 1 for loss in losses)])
        groups = [loss.groups + count for loss, count in zip(losses, counts[:-1], strict=True)]
        return replace(first, groups=np.concatenate(groups))
    if LossFacts.of(first).some is not None:
        raise TypeError(
            f"{owner}.regret: the {LossFacts.of(first).name} loss says itself which numbers of an image belong "
            "together, so those of several arrivals cannot be put behind one another."
        )
    return first
