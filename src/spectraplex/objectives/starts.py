"""A loss that is not finite everywhere: the first of some plain matrices where it is, and counts it cannot fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..losses.curves import NotFinite
from ..losses.protocol import LossFacts
from ..matrices.factors import Factors, Rectangular, Symmetric
from ..measurements.protocol import Facts, is_positive
from ..places.numpy import Array

_WHOLE = 128  # matrices up to this size begin with the identity, larger ones with a random part of it
_BLOCK = 32


def somewhere(objective: Any, domain: Any) -> Factors | None:
    """A matrix of the domain where the objective is finite; None where none of those tried is."""
    for factors in _plain(objective, domain):
        try:
            value, slope = objective.evaluate(objective.measure(*factors.triple()))
        except NotFinite:
            continue
        if np.isfinite(value) and np.isfinite(slope).all():
            return factors
    return None


def _plain(objective: Any, domain: Any) -> Iterator[Factors]:
    """On Hermitian sets multiples of the identity or of random projections; else the matrix of ones, and diagonals."""
    (m, n), dtype, size = objective.shape, objective.dtype, domain.size
    rng = np.random.default_rng(0)
    if domain.hermitian:
        if m <= _WHOLE:
            yield Symmetric(np.eye(m, dtype=dtype), np.full(m, size / m))
        for _ in range(3):
            block = rng.standard_normal((m, min(m, _BLOCK))).astype(dtype)
            yield Symmetric(np.linalg.qr(block)[0], np.full(block.shape[1], size / block.shape[1]))
        yield Symmetric(np.full((m, 1), m**-0.5, dtype), np.full(1, size))
        return
    row, column = np.full((m, 1), m**-0.5, dtype), np.full((n, 1), n**-0.5, dtype)
    for sign in (1.0, -1.0):
        yield Rectangular(sign * row, np.full(1, size), column)
    k = min(m, n)
    yield Rectangular(np.eye(m, k, dtype=dtype), np.full(k, size / k), np.eye(n, k, dtype=dtype))


def refuse_negative_means(facts: Facts, told: LossFacts, targets: Array, semidefinite: bool) -> None:
    """Zero counts of means that may be negative, on a domain of X ⪰ 0 or of any X, are refused."""
    none = np.nonzero(targets == 0.0)[0]
    if none.size == 0 or (semidefinite and is_positive(facts.measurements)):
        return
    first = int(none[0] if facts.order is None else np.min(facts.order[none]))
    raise ValueError(
        f"Fit: targets[{first}] is zero ({none.size} such in all), where the {told.name} loss is about means "
        f"that are never negative, but {facts.measurements!r} may be negative on this domain; use "
        "loss='poisson-log' (the logarithm of a mean may have any sign), or give every count a small addition."
    )
