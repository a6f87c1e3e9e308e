"""How much to hedge: shots are held out, and the hedging that predicts them best is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...places.numpy import Array
from .fitting import Task, as_state

_SHARES = (0.0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # of the mean number of shots a setting
_HELD = 0.25  # of the shots


def chosen(task: Task, seed: int) -> float:
    """The hedging, in shots a setting, with which three quarters of the shots predict the others best."""
    rng, data = np.random.default_rng([seed, 2]), task.data
    whole = np.floor(data.counts).astype(np.int64)
    fraction = data.counts - whole
    if fraction.any():  # as whole shots as often as they are large
        whole = whole + (rng.random(whole.size) < fraction)
    held = np.minimum(rng.binomial(whole, _HELD), data.counts)
    kept = data.counts - held
    if not held.any() or not kept.any():
        return 0.0
    mean = float(data.shots.mean())
    best, found, start = -np.inf, 0.0, None
    for share in _SHARES[::-1]:  # from the smoothest on: each is a start for the next
        one = replace(task, hedging=share * (1.0 - _HELD) * mean)
        state = as_state(one.solve(one.problem(kept), start=start, seed=seed).X)
        start = one.warm(state)
        score = _score(one.chances(state), held)
        if score > best:
            best, found = score, share * mean
    return found


def _score(chances: Array, held: Array) -> float:
    """The mean logarithm of the chance of a shot that was held out."""
    seen = held > 0
    if (chances[seen] <= 0.0).any():
        return -np.inf
    return float(held[seen] @ np.log(chances[seen]) / held.sum())
