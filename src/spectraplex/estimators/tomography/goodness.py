"""Does any state fit these counts? The deviance beside what chance alone would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...matrices.factors import Symmetric
from ...places.numpy import Array
from .bootstrap import Replicas, deviances, draw
from .fitting import Task
from .information import told
from .state import eigenvalues

_DRAWS = 200
_ENOUGH = 99  # refits that can show a p-value of 0.01, below which the words say that no state fits
_ZERO = 1e-6  # eigenvalues below are none


@dataclass(frozen=True)
class Goodness:
    """The deviance of a fit, what is expected of it if some state is the truth, and how often chance alone exceeds it.

    ``method`` is "bootstrap" where refitted counts say it (too few that all fit better do not), else "simulated":
    counts drawn from the fitted state, whose deviance is lowered by the number of parameters that a state of this rank
    has, as far as the settings tell them.
    """

    statistic: float
    expected: float
    p_value: float
    method: str

    def __str__(self) -> str:
        words = "no sign that the model is wrong" if self.p_value >= 0.01 else "some settings do not fit any state"
        return f"deviance {self.statistic:.4g}, {self.expected:.4g} expected, p = {self.p_value:.3g}: {words}"


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
    rank, d = int((eigenvalues(state) > _ZERO).sum()), task.dimension
    used = min(2 * d * rank - rank * rank - 1, told(task.measurements, task.data.starts))  # dimension of that rank
    chance = np.maximum(_simulated(task, state, seed).sum(axis=1) - used, 0.0)
    return Goodness(statistic, float(chance.mean()), _exceeding(chance, statistic - slack), "simulated")


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
    expected, draws = data.spread(data.shots) * chances, max(20, min(_DRAWS, 20_000_000 // data.counts.size))
    rows = []
    for i in range(draws):
        counts = draw(task, chances, np.random.default_rng([seed, 1, i]))
        rows.append(np.add.reduceat(deviances(counts, expected), data.starts[:-1]))
    return np.array(rows)
