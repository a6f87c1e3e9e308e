"""Confidence intervals by refitting counts that were drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import is_whole, share
from ...matrices.factors import Symmetric
from ...places.numpy import Array
from ...places.threads import serial
from .fitting import Task, as_state
from .outcomes import OWNER

KINDS = ("parametric", "resampled")
_ROUNDING = 1e-9  # of the shots of a setting: what sums of fractions are off from whole numbers


@dataclass(frozen=True)
class Estimate:
    """A number with a confidence interval."""

    value: float
    low: float
    high: float
    level: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g} at {100 * self.level:g} %)"


@dataclass(frozen=True, eq=False)
class Replicas:
    """States fitted to counts that were drawn again, the misfit of each, and how they were drawn."""

    states: list[Symmetric]
    deviances: Array
    kind: str


def replicas(task: Task, state: Symmetric, count: int, kind: str, seed: int, jobs: int | None) -> Replicas:
    """Draw counts ``count`` times and fit each, beginning at the state; the same for any number of jobs."""
    if kind not in KINDS:
        raise ValueError(f"{OWNER}: kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    scarce = np.flatnonzero(task.data.shots < 1.0 - _ROUNDING)
    if scarce.size:
        name, shots = task.data.words[scarce[0]], task.data.shots[scarce[0]]
        raise ValueError(
            f"{OWNER}: the counts of setting {name!r} sum to {shots:.3g}, less than one shot; only shots can be drawn "
            "again. If these are frequencies, say of how many shots (shots=)."
        )
    chances = task.chances(state) if kind == "parametric" else task.data.counts
    start = task.warm(state)
    if jobs in (None, 1):
        found = [_one(task, chances, start, [seed, i]) for i in range(count)]
    else:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]

        found = Parallel(n_jobs=jobs)(delayed(_one)(task, chances, start, [seed, i]) for i in range(count))
    return Replicas([each[0] for each in found], np.array([each[1] for each in found]), kind)


def jobs_or_say(jobs: Any) -> int | None:
    if jobs is not None and (not is_whole(jobs) or jobs == 0):
        raise ValueError(f"{OWNER}: n_jobs must be None or a whole number, −1 for all processors; got {jobs!r}.")
    return None if jobs is None else int(jobs)


def _one(task: Task, chances: Array, start: Symmetric, key: list[int]) -> tuple[Symmetric, float]:
    rng = np.random.default_rng(key)
    counts = draw(task, chances, rng)
    with serial():
        result = task.solve(task.problem(counts), start=start, seed=key[1])
    state = as_state(result.X)
    return state, deviance(counts, task.data.spread(task.data.shots) * task.chances(state))


def draw(task: Task, chances: Array, rng: np.random.Generator) -> Array:
    """As many shots of every setting as there were, from these chances (up to a factor a setting).

    Fractional shots N are drawn as F or F + 1 whole ones, F ≤ N < F + 1, that count N/F or N/(F + 1) each: their sum is
    N, and F comes so often that they scatter by N p(1 − p), as N shots do.
    """
    data, out = task.data, np.empty(chances.size)
    for s, shots in enumerate(data.shots):
        part = slice(data.starts[s], data.starts[s + 1])
        whole = round(shots)
        if abs(shots - whole) > _ROUNDING * shots:
            below = int(shots)
            whole = below if rng.random() < below * (below + 1 - shots) / shots else below + 1
        drawn = rng.multinomial(whole, chances[part] / chances[part].sum())
        out[part] = drawn if whole == shots else drawn * (shots / whole)
    return out


def deviance(counts: Array, expected: Array) -> float:
    """2 Σ n ln(n/expected): twice the likelihood that a state loses against the frequencies themselves."""
    return float(deviances(counts, expected).sum())


def deviances(counts: Array, expected: Array) -> Array:
    seen = counts > 0
    out = np.zeros(counts.size)
    out[seen] = 2.0 * counts[seen] * np.log(counts[seen] / np.maximum(expected[seen], 1e-300))
    return out


def interval(value: float, drawn: Array, level: float, bounds: tuple[float, float]) -> Estimate:
    """The bias-spanning normal interval: t deviations below the least and above the largest of value and value − bias.

    The maximum of a likelihood sits on the border of the states, where it is biased: refits of counts drawn from it are
    off from it in the mean, and it is off from the truth. How far cannot be told from refits alone: where many shots
    show every eigenvalue the two are about the same; with few shots the fitted state has fewer eigenvalues than the
    true one, and the second may be none or the opposite. So the interval spans both, the value as it is and without its
    bias. t is Student's, for the deviation comes from so many refits. ``python -m benchmarks coverage`` measures how
    often this kind and others hold the truth.
    """
    from scipy.stats import t

    share(OWNER, "interval", level)
    reach = float(t.ppf(0.5 + 0.5 * level, drawn.size - 1) * np.sqrt(1.0 + 1.0 / drawn.size) * drawn.std(ddof=1))
    other = 2.0 * value - float(drawn.mean())
    low, high = min(value, other) - reach, max(value, other) + reach
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in (low, high))
    return Estimate(value, min(low, value), max(high, value), level)  # a value may be out of bounds by rounding


def estimated(
    function: Callable[[Symmetric], float],
    state: Symmetric,
    drawn: Replicas | None,
    level: Any,
    bounds: tuple[float, float],
) -> Any:
    """The number, or with a level an ``Estimate``."""
    value = function(state)
    if level is None:
        return value
    if drawn is None:
        raise ValueError(f"{OWNER}: an interval needs refitted states; call bootstrap(200) first.")
    return interval(value, np.array([function(each) for each in drawn.states]), level, bounds)
