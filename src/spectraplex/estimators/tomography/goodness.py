"""Does any state fit these counts? The deviance beside what chance alone would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...matrices.factors import Symmetric
from ...places.numpy import Array
from ...places.threads import serial
from .bootstrap import Replicas, deviances, draw
from .fitting import Task, as_state

_DRAWS, _FEWEST = 200, 20
_NUMBERS = 20_000_000  # drawn at most, where that leaves draws enough to say how they scatter
_ENOUGH = 99  # refits that can show a p-value of 0.01, below which the words say that no state fits
# Eight refits up to the first dimension measure what a fit takes off, two up to the second, one beyond: its scatter
# becomes small beside that of the deviance, and fits take long.
_SMALL, _REFITS = (32, 1024), (8, 2, 1)


@dataclass(frozen=True)
class Goodness:
    """The deviance of a fit, what is expected of it if some state is the truth, and how often chance alone exceeds it.

    ``method`` is "bootstrap" where refitted counts say it (too few that all fit better do not), else "simulated":
    counts drawn from the fitted state, whose deviance is lowered by what a fit takes off it. That is measured by
    fitting some of them: the number of parameters of a state is more, for with few shots many of its eigenvalues are
    held at zero or near it. Where there are too many counts for 200 draws, their scatter is taken to be normal.
    """

    statistic: float
    expected: float
    p_value: float
    method: str

    def __str__(self) -> str:
        words = "no sign that the model is wrong" if self.p_value >= 0.01 else "some settings do not fit any state"
        found = max(self.statistic, 0.0)  # a perfect fit is off from zero by rounding
        return f"deviance {found:.4g}, {self.expected:.4g} expected, p = {self.p_value:.3g}: {words}"


@dataclass(frozen=True, eq=False)
class PerSetting:
    """For every setting: shots, deviance, and how many standard deviations that is above what is expected."""

    settings: list[str]
    shots: Array
    deviance: Array
    excess: Array


def goodness(task: Task, state: Symmetric, gap: float, drawn: Replicas | None, seed: int) -> Goodness:
    data, expected = task.data, task.data.spread(task.data.shots) * task.chances(state)
    statistic = float(deviances(data.counts, expected).sum())
    if drawn is not None and drawn.kind == "parametric":
        chance = np.maximum(drawn.deviances, 0.0)  # a perfect fit is off from zero by rounding
        # a few refits that all fit better could not tell one chance in four from one in a thousand
        if chance.size >= _ENOUGH or (chance >= statistic).any():
            return Goodness(statistic, float(chance.mean()), _exceeding(chance, statistic), "bootstrap")
    # the best state's deviance is less than this one's by no more than twice the certified gap
    slack = 2.0 * gap if task.likelihood == "multinomial" else 0.0
    each = _simulated(task, state, seed)
    chance = np.maximum(each.sum(axis=1) - _taken(task, state, seed), 0.0)
    if chance.size >= _DRAWS:
        p_value = _exceeding(chance, statistic - slack)
    else:
        p_value = _beyond(float(chance.mean()), each, statistic - slack)
    return Goodness(statistic, float(chance.mean()), p_value, "simulated")


def _taken(task: Task, state: Symmetric, seed: int) -> float:
    """What a fit takes off the deviance of counts that were drawn from a state, in the mean over a few refits."""
    data, chances, start = task.data, task.chances(state), task.warm(state)
    shots, taken = data.spread(data.shots), []
    for i in range(_REFITS[int(np.searchsorted(_SMALL, task.dimension))]):
        counts = draw(task, chances, np.random.default_rng([seed, 3, i]))
        if not counts.any():  # less than one shot in all
            return 0.0
        with serial():
            refit = as_state(task.solve(task.problem(counts), start=start, seed=seed).X)
        before, after = deviances(counts, shots * chances), deviances(counts, shots * task.chances(refit))
        taken.append(float((before - after).sum()))
    return float(np.mean(taken))


def _beyond(mean: float, each: Array, statistic: float) -> float:
    """The chance of as much under a normal distribution; settings scatter apart from each other."""
    from scipy.stats import norm

    deviation = float(np.sqrt(each.var(axis=0, ddof=1).sum() * (1.0 + 1.0 / each.shape[0])))
    return float(norm.sf((statistic - mean) / max(deviation, 1e-12)))


def _exceeding(chance: Array, statistic: float) -> float:
    """How often chance alone gives as much: never zero, for there may always be more draws."""
    return float((np.sum(chance >= statistic) + 1.0) / (chance.size + 1.0))


def per_setting(task: Task, state: Symmetric, seed: int) -> PerSetting:
    data = task.data
    expected = data.spread(data.shots) * task.chances(state)
    each = np.add.reduceat(deviances(data.counts, expected), data.starts[:-1])
    chance = _simulated(task, state, seed)
    deviation = np.maximum(chance.std(axis=0, ddof=1), 1e-12)
    return PerSetting(data.words, data.shots, each, (each - chance.mean(axis=0)) / deviation)


def _simulated(task: Task, state: Symmetric, seed: int) -> Array:
    """Deviances of every setting, for counts drawn from the state and not refitted: one row a draw."""
    data, chances = task.data, task.chances(state)
    expected = data.spread(data.shots) * chances
    draws = max(_FEWEST, min(_DRAWS, _NUMBERS // data.counts.size))
    rows = []
    for i in range(draws):
        counts = draw(task, chances, np.random.default_rng([seed, 1, i]))
        rows.append(np.add.reduceat(deviances(counts, expected), data.starts[:-1]))
    return np.array(rows)
