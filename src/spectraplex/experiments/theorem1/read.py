"""Arithmetic on the results of theorem1: the three bounds, pooled curves, decay exponents with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..document import Document
from .run import STEPS

#: Below this an error is too close to rounding for an exponent.
LEAST_ERROR = 1e-11
#: An exponent is fitted on the last decade of steps, if that ends here or later: up to t = 10 all mass moves at once.
LEAST_END = 20
_RESAMPLES = 1000


@dataclass(frozen=True)
class Setting:
    """The problems of one kind, over all seeds."""

    problem: str
    d: int
    rank: int
    least: float
    alpha: float
    steps: int

    @property
    def label(self) -> str:
        inverse = round(1 / self.least)
        least = f"1/{inverse}" if 1 < inverse <= 20 else f"{self.least:g}"
        extra = "" if self.alpha == 1.0 else f", α = {self.alpha:g}"
        far = f", t ≤ {self.steps:,}" if self.long else ""
        return f"{self.problem}, rank {self.rank}, λ = {least}{extra}{far}"

    @property
    def long(self) -> bool:
        """Runs longer than the others, for the sake of a small λ."""
        return self.steps > STEPS

    @property
    def waits(self) -> bool:
        """No atom weighs less than 9/(t + 8): these runs end before any may weigh λ."""
        return self.steps + 8 < 9 / self.least


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors of all seeds (one row each) on one grid of steps."""

    steps: Array
    errors: Array

    @property
    def seeds(self) -> int:
        return int(self.errors.shape[0])

    @property
    def mean(self) -> Array:
        return np.asarray(self.errors.mean(axis=0))


@dataclass(frozen=True)
class Exponent:
    """h ~ t^(−value) between two steps; low and high hold 95 % of the bootstrap over seeds."""

    value: float
    low: float
    high: float
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def settings(document: Document, **which: Any) -> list[Setting]:
    """The settings that appear, in order."""
    names = ("problem", "d", "rank", "least", "alpha", "steps")
    found = [Setting(*(run.settings[name] for name in names)) for run in document.find(**which)]
    return list(dict.fromkeys(found))


def curves(document: Document, setting: Setting, method: str, oracle: str = "exact", **accuracy: float) -> Curves:
    """The blocks of seeds put together."""
    runs = document.find(**asdict(setting), method=method, oracle=oracle, **accuracy)
    if not runs:
        raise ValueError(f"theorem1: the results have no run of {method} ({oracle}) for {setting.label}; run it again.")
    return Curves(np.array(runs[0].outcome["steps"]), np.array([row for run in runs for row in run.outcome["errors"]]))


def bounds(t: Array, setting: Setting, beta: float = 1.0) -> tuple[Array, Array, Array]:
    """The right sides of Theorem 1 with the constants of its proof, in its order."""
    alpha, rank, least, late = setting.alpha, setting.rank, setting.least, np.asarray(t) + 8.0
    return (
        54.0 * beta / late,
        (270.0 * 2**0.25 * beta * math.sqrt(rank) / (alpha**0.25 * late)) ** (4 / 3),
        52488.0 * beta**2 / (alpha * least**2 * late**2),
    )


def ratios(document: Document, setting: Setting, found: Curves) -> list[tuple[float, int]]:
    """For every bound the largest (mean error)/(bound) over the steps, and the step where that is."""
    beta = document.find(**asdict(setting))[0].outcome["beta"]
    shares = [found.mean / bound for bound in bounds(found.steps, setting, beta)]
    return [(float(share.max()), int(found.steps[share.argmax()])) for share in shares]


def exponent(found: Curves, end: int | None = None) -> Exponent | None:
    """Least squares on log(mean error) against log t, over the last decade of t before the error is lost in rounding.

    The window is that of all seeds together; resampled seeds are fitted on the same one. None where the error is
    below ``LEAST_ERROR`` before ``LEAST_END``: no exponent can be told from so few steps. With ``end`` the decade is
    the one up to that step.
    """
    t, mean = found.steps, found.mean
    lost = np.flatnonzero(mean <= LEAST_ERROR)
    last = int(t[lost[0] - 1] if lost.size and lost[0] > 0 else t[-1] if not lost.size else 0)
    last = last if end is None else min(last, end)
    if last < LEAST_END:
        return None
    window = (t <= last) & (t >= last / 10)
    x = np.log(t[window])
    x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    draws = np.random.default_rng(0).integers(found.seeds, size=(_RESAMPLES, found.seeds))
    inside = found.errors[:, window]
    resampled = np.stack([inside[draw].mean(axis=0) for draw in draws])
    slopes = -np.log(np.maximum(resampled, 1e-16)) @ x  # a resample may consist of finished runs only
    low, high = np.quantile(slopes, [0.025, 0.975])
    value = float(-np.log(mean[window]) @ x)
    return Exponent(value, float(low), float(high), int(t[window][0]), last)


def flattest(found: Curves) -> Exponent | None:
    """The decade of t, from t = 10 on, with the least exponent: how long a curve can rest."""
    fits = [exponent(found, int(t)) for t in found.steps if t >= 100]
    return min((fit for fit in fits if fit is not None), key=lambda fit: fit.value, default=None)


def steeper(one: Exponent | None, other: Exponent | None) -> bool | None:
    """Whether one curve decays with the larger exponent; None where one has none."""
    return None if one is None or other is None else one.value > other.value


def below_for_good(one: Curves, other: Curves) -> int | None:
    """From which step on one mean error is the smaller one (or both are lost in rounding); None if not at the end."""
    worse = np.flatnonzero((one.mean > other.mean) & (one.mean > LEAST_ERROR))
    if not worse.size:
        return int(one.steps[0])
    return int(one.steps[worse[-1] + 1]) if worse[-1] + 1 < one.steps.size else None


def together(parts: Sequence[Any], name: str) -> Array:
    """A list of the outcome (one row a seed) from several runs, as one array."""
    return np.array([row for run in parts for row in run.outcome[name]], dtype=float)
