"""How far to go several ways at once: a quadratic of few variables under few linear limits, by an active set."""

from __future__ import annotations

import numpy as np

from ..places.numpy import EPS, Array


def best_sizes(slope: Array, bend: Array, weights: Array, change: Array) -> Array:
    """The s that minimises ⟨slope, s⟩ + ½⟨s, bend·s⟩ while weights + change·s ≥ 0; s = 0 must be allowed.

    From s = 0 each round minimises where the limits in ``held`` are equalities, stops at the first other limit in the
    way and holds that, too; a limit that pushes the wrong way (multiplier below zero) is let go. The quadratic never
    rises, so s may be used whenever the rounds end.
    """
    unit = np.sqrt(np.maximum(bend.diagonal(), 0.0))
    unit = 1.0 / np.where(unit > 0.0, unit, 1.0)  # each direction at curvature one
    count = slope.size
    B = bend * unit[:, None] * unit + 8 * EPS * count * np.eye(count)
    g, T = slope * unit, change * unit
    s, room, held = np.zeros(count), weights.tolist(), np.flatnonzero(weights <= 0.0).tolist()
    for _ in range(8 * weights.size):
        held = held[-count:]
        d, pushes = _minimiser(B, g + B @ s, T[held])
        share, first = np.inf, -1
        for i, change_of in enumerate((T @ d).tolist()):
            if change_of < 0.0 and room[i] < -share * change_of and i not in held:
                share, first = room[i] / -change_of, i
        s = s + min(1.0, share) * d
        room = np.maximum(weights + T @ s, 0.0).tolist()
        if share < 1.0:
            held.append(first)
        elif not held or min(pushes) >= 0.0:
            break
        else:
            held.pop(pushes.index(min(pushes)))
    s = s * unit
    gone = change @ s  # limits that nearly coincide may have been passed by rounding: back to where all hold
    short = gone < -weights - 1e-13
    if short.any():
        s = s * float(np.min(weights[short] / -gone[short]))
    return np.asarray(s)


def _minimiser(B: Array, gradient: Array, T: Array) -> tuple[Array, list[float]]:
    """The step d to the minimum on T·d = 0, and the multipliers of these equalities."""
    n, k = gradient.size, T.shape[0]
    system = np.zeros((n + k, n + k))
    system[:n, :n], system[:n, n:], system[n:, :n] = B, -T.T, T
    right = np.zeros(n + k)
    right[:n] = -gradient
    try:
        found = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:  # two limits, or two ways, say the same
        found = np.linalg.lstsq(system, right, rcond=None)[0]
    return found[:n], found[n:].tolist()
