"""What losses share: weighted sums, the curve along a line, and which scales of a slope a conjugate allows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..places.numpy import Array, blend, inner
from ..rounding import norm
from .curves import Smoothly
from .protocol import Loss, LossFacts, Prepared, Shape, plain


def weighed(values: Array, slopes: Array, weights: Array | None) -> tuple[float, Array]:
    """Σ w·value and w·slope."""
    if weights is None:
        return float(values.sum()), slopes
    return float(np.dot(weights, values)), weights * slopes


def total(values: Array, weights: Array | None) -> float:
    return float(values.sum() if weights is None else np.dot(weights, values))


def unweighed(slope: Array, weights: Array | None) -> Array:
    return slope if weights is None else slope / weights


def smoothly(loss: Loss, z: Array, dz: Array, b: Array, weights: Array | None, edge: float = math.inf) -> Smoothly:
    """The curve of a loss along z + s·dz; it is infinite from ``edge`` on."""

    def at(size: float) -> tuple[float, float]:
        value, slope = loss.evaluate(blend(1.0, z, size, dz), b, weights)
        return value, inner(slope, dz)

    return Smoothly(at, edge)


def steepest(most: float, count: int, weights: Array | None) -> float:
    """‖slope‖ at most, wherever it is, for a loss whose derivative is at most so large; infinite for a squared one."""
    if not math.isfinite(most):
        return math.inf
    return most * (math.sqrt(count) if weights is None else norm(weights))


def room(share: Array, low: Array | float, high: Array | float) -> float:
    """The largest c ≥ 0 with low ≤ c·share ≤ high everywhere, low ≤ 0 ≤ high; infinite where every c will do."""
    if share.size == 0:
        return math.inf
    bound = np.where(share > 0.0, high, low)
    none = share == 0.0
    ratio = np.where(none, math.inf, bound / np.where(none, 1.0, share))
    return max(float(ratio.min()), 0.0)


def edge(z: Array, dz: Array) -> float:
    """The largest s up to which z + s·dz stays positive."""
    falling = dz < 0.0
    return float(np.min(z[falling] / -dz[falling], initial=math.inf))


def signs(loss: Loss, targets: Any, weights: Any, shape: Shape, name: str = "targets") -> Prepared:
    """Labels, 0/1 or −1/+1, as −1/+1; in words which of the two was understood."""
    found = plain(loss, targets, weights, shape)
    labels, words = as_signs(shape.owner, LossFacts.of(loss).name, name, found.targets)
    return Prepared(loss, labels, found.weights, words)


def as_signs(owner: str, loss: str, name: str, values: Array) -> tuple[Array, str]:
    if values.dtype.kind == "c":
        raise TypeError(f"{owner}: {loss} loss needs real labels 0/1 or −1/+1, got complex values.")
    if np.isin(values, (-1.0, 1.0)).all():
        both = bool((values == -1.0).any())
        return values, "−1/+1" if both else "0/1"
    if np.isin(values, (0.0, 1.0)).all():
        return 2.0 * values - 1.0, "0/1"
    known = (-1.0, 1.0) if (values == -1.0).any() else (0.0, 1.0)
    place = int(np.argmin(np.isin(values, known)))
    raise ValueError(f"{owner}: {loss} labels must be all 0/1 or all −1/+1, but {name}[{place}] is {values[place]:g}.")


def counts(loss: Loss, targets: Any, weights: Any, shape: Shape) -> Prepared:
    """Targets that are at least zero, and not all zero where they are all there is."""
    found = plain(loss, targets, weights, shape)
    name = LossFacts.of(loss).name
    if (found.targets < 0.0).any():
        least = float(found.targets.min())
        raise ValueError(f"{shape.owner}: {name} targets are counts, at least zero, but one is {least:g}.")
    if not shape.part and not (found.targets > 0.0).any():
        raise ValueError(f"{shape.owner}: all {name} targets are zero; there is nothing to fit.")
    return found
