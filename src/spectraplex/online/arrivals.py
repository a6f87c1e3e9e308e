"""One arrival: what it is about, how it is told from another one, and how much of its gradient is used."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..matrices.operators import Operator, Sparse
from ..measurements.entries import Entries
from ..objectives import Fit
from ..places.numpy import Array
from ..problem import Problem
from ..rounding import norm as norm_of
from .ground import Ground, Mixture
from .ledger import Ledger, Rule
from .state import measured
from .total import DENSE

_FAR = 10.0  # times the root mean square of the norms so far: more than that is taken for an accident
_OVERSHOT = 4.0  # times the norm at the first point, where a loss bends without bound
_HUGE = 1e150  # a norm whose square still is a number


def objective_of(owner: str, domain: Any, loss: Any, arrival: tuple[Any, Any, Any]) -> Fit:
    """The loss of an arrival (measurements, targets, weights); refuses in a sentence what does not go together."""
    measurements, targets, weights = arrival
    objective = Fit.__new__(Fit)
    objective._begin(measurements, targets, loss, weights, part=True)
    m, n = objective.shape
    if (m, n) != tuple(domain.shape) or domain.hermitian or objective._told.never_negative:
        Problem(objective, domain)  # says what does not go together; nothing else could be, and it takes its time
    if objective.device is not None or (not isinstance(measurements, Entries) and m * n > DENSE):
        what = "on a device" if objective.device is not None else f"{m}×{n}, more than {DENSE:,} numbers,"
        raise ValueError(
            f"{owner}.update: the sum of the gradients of {type(measurements).__name__} {what} is not kept; use "
            "sx.Entries, or solve the whole problem with method='stochastic'."
        )
    return objective


# ------------------------------------------------------------------------------------------------ one from another


def probe_of(ground: Ground) -> Mixture:
    """A fixed matrix of rank one, positive in every entry: what arrivals measure of it tells one from another."""
    rng = np.random.default_rng(0)
    u, v = (rng.uniform(0.5, 1.5, (side, 1)) for side in ground.shape)
    return Mixture(u, u if ground.hermitian else v, np.array([1.0 / ground.size]), ground)


@dataclass(frozen=True)
class Mark:
    """Σ|zᵢ|wᵢ, Σ|zᵢbᵢ|wᵢ and Σ|zᵢ|bᵢwᵢ, z what the measurements say of the probe: sums over a stream, in any order."""

    places: float = 0.0
    sizes: float = 0.0
    signed: float = 0.0

    @classmethod
    def of(cls, objective: Fit, probe: Mixture) -> Mark:
        z, b = np.abs(measured(objective.measurements, probe, objective.dtype)), objective.targets
        z = z if objective.weights is None else z * objective.weights
        signs = b if b.dtype.kind != "c" else b.real + 2.0 * b.imag
        return cls(float(z.sum()), float(z @ np.abs(b)), float(z @ signs))

    @classmethod
    def known(cls, ledger: Ledger) -> Mark:
        """Of all arrivals so far."""
        return cls(ledger.places, ledger.sizes, ledger.signed)

    def plus(self, other: Mark) -> Mark:
        return Mark(self.places + other.places, self.sizes + other.sizes, self.signed + other.signed)

    def same(self, other: Mark) -> bool:
        """But for the rounding of sums in another order."""
        scales = (self.places, self.sizes, self.sizes)
        pairs = zip(
            scales, (self.places, self.sizes, self.signed), (other.places, other.sizes, other.signed), strict=True
        )
        return all(abs(one - two) <= 1e-9 * scale for scale, one, two in pairs)


# ------------------------------------------------------------------------------------------------------- its gradient


@dataclass(frozen=True, eq=False)
class Pull:
    """The gradient that an arrival has at a point, of Frobenius norm ``size``, and the share of it that is used.

    ``odd`` says that the arrival is to be looked at.
    """

    objective: Fit
    image: Array
    value: float
    slope: Array
    gradient: Operator
    size: float
    kept: float = 1.0
    odd: bool = False

    @property
    def counted(self) -> float:
        return self.kept * self.size

    @property
    def linear(self) -> float:
        """⟨g, X⟩ with what is used of the gradient g."""
        return float(self.objective.pair(self.slope, self.image))

    def scaled(self, most: float, odd: bool = True) -> Pull:
        """With a gradient of this norm."""
        kept = most / self.size
        slope = kept * self.slope
        return replace(self, slope=slope, gradient=self.objective.gradient(slope), kept=kept, odd=odd)


def pull_of(owner: str, objective: Fit, point: Mixture) -> Pull:
    """What an arrival loses at a point, and its gradient there; refuses what is no number."""
    image = measured(objective.measurements, point, objective.dtype)
    value, slope = objective.evaluate(image)
    if math.isfinite(value) and np.isfinite(slope).all():
        gradient = objective.gradient(slope)
        size = _size(gradient, slope, objective.measurements)
        if size <= _HUGE:
            return Pull(objective, image, value, slope, gradient, size)
    else:
        size = math.inf
    if objective._told.positive and not math.isfinite(value):
        raise ValueError(
            f"{owner}.update: the {objective.loss_name} loss is finite only where all means are above zero, which they "
            "are not at the point that is played; nothing was changed. Give a start of full rank with positive means "
            "and a small rate, or use a loss that is finite everywhere, such as 'poisson-log' or 'squared'."
        )
    raise ValueError(
        f"{owner}.update: the loss of this arrival is {value:.4g} and its gradient has norm {size:.4g}, too large to "
        "go on with; nothing was changed. Look for a wrong target or feature."
    )


def allowed(owner: str, pull: Pull, rule: Rule, ledger: Ledger, first: Mixture) -> Pull:
    """The same, scaled down where it is too large.

    Without a given G an arrival is too large if its norm is far above what is usual, also beside its number of
    observations, and would be so at the learner's first point: far from there a learner may meet large gradients of
    harmless arrivals. Where the loss bends without bound, as an exponential does, one step too long meets a gradient of
    any size, and as all steps are measured by the norms so far the learner would hardly move ever after. There no norm
    counts for more than a few times that at the first point.
    """
    if rule.lipschitz:
        most = rule.lipschitz * (1 + 1e-9)
        return pull if pull.size <= most else pull.scaled(most)
    if not ledger.active:
        return pull
    usual = math.sqrt(ledger.squares / ledger.active)
    most, bent = _rare(ledger, pull.image.size) * usual, math.isinf(pull.objective._told.curvature)
    if pull.size <= most and not bent:
        return pull
    there = _size_at(owner, pull.objective, first)
    if not bent:
        return pull if there <= most else pull.scaled(most)
    least = min(most, _OVERSHOT * there or usual)
    return pull if pull.size <= least else pull.scaled(least, odd=there > most)


def _rare(ledger: Ledger, numbers: int) -> float:
    """How many times the usual norm an arrival of so many numbers may have; a few norms before say little."""
    return float(_FAR ** (1.0 + 1.0 / ledger.active)) * max(1.0, numbers * ledger.arrivals / ledger.observations)


def _size_at(owner: str, objective: Fit, point: Mixture) -> float:
    """The norm of a gradient at some other point; infinite where the loss is."""
    try:
        return pull_of(owner, objective, point).size
    except ValueError:
        return math.inf


def noted(ledger: Ledger, pull: Pull, mark: Mark, diameter: float) -> Ledger:
    """With what is counted of an arrival beside what its bound needs."""
    known = Mark.known(ledger).plus(mark)
    return replace(
        ledger,
        observations=ledger.observations + int(pull.image.size),
        active=ledger.active + (pull.counted > 0.0),
        places=known.places,
        sizes=known.sizes,
        signed=known.signed,
        suffered=ledger.suffered + pull.value,
        linear=ledger.linear + pull.linear,
        largest=max(ledger.largest, pull.size),
        exceeded=ledger.exceeded + (pull.kept < 1.0),
        excess=ledger.excess + (pull.size - pull.counted) * diameter,
    )


def warn(owner: str, rule: Rule) -> None:
    """That a gradient was scaled down: in the same words each time, as Python remembers every warning that differs."""
    words = f"above lipschitz = {rule.lipschitz:g}" if rule.lipschitz else "far above what was usual before"
    warnings.warn(
        f"{owner}.update: the norm of the gradient of this arrival is {words}; it was scaled down, and bound() no "
        "longer holds. Look at the arrival, or give a larger lipschitz; bound() says how many there were, and the "
        "largest norm.",
        RuntimeWarning,
        stacklevel=3,
    )


def _size(gradient: Operator, slope: Array, measurements: Any) -> float:
    """The Frobenius norm of a gradient."""
    if isinstance(measurements, Entries):
        return float(norm_of(slope))
    return float(norm_of(gradient.data if isinstance(gradient, Sparse) else gradient.dense()))
