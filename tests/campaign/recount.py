"""f(X) once more, from the factors alone and in exact arithmetic: is a value the value of its X?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import spectraplex as sx

Pair = tuple[Fraction, Fraction]  # a complex number


def exact_value(problem: sx.Problem, X: Any) -> Fraction | None:
    """f(X) (with λ·tr X), or None where that is not rational, or where nobody has written it down here."""
    objective = problem.objective
    if isinstance(problem, sx.Penalized) and not problem.psd:
        return None
    entries = _entries(X)
    if isinstance(objective, sx.Distance):
        A = objective.A if objective.sparse is None else objective.sparse.dense()
        places = [(z, b, Fraction(1)) for z, b in zip(entries.values(), A.ravel().tolist(), strict=True)]
        delta = None
    elif isinstance(objective, sx.Completion) and objective.loss_name != "logistic":
        pattern = objective.pattern
        weights = np.ones(pattern.size) if objective.weights is None else objective.weights
        where = zip(pattern.rows.tolist(), pattern.indices.tolist(), strict=True)
        seen = zip(where, objective.values.tolist(), weights.tolist(), strict=True)
        places = [(entries[place], b, Fraction(w)) for place, b, w in seen]
        delta = getattr(objective.loss, "delta", None)
    else:
        return None
    if delta is not None and objective.dtype == "complex128":
        return None
    total = sum((w * _loss(z, complex(b), delta) for z, b, w in places), Fraction(0))
    if isinstance(problem, sx.Penalized):
        total += Fraction(problem.lam) * sum((entries[i, i][0] for i in range(X.shape[0])), Fraction(0))
    return total


def _entries(X: Any) -> dict[tuple[int, int], Pair]:
    U, s, V = (np.asarray(part) for part in X.triple())
    left, right = [[[_pair(x) for x in row] for row in side] for side in (U, V)]
    weights = [Fraction(x) for x in s.tolist()]
    found = {}
    for i, u in enumerate(left):
        for j, v in enumerate(right):
            real = sum((w * (a[0] * b[0] + a[1] * b[1]) for w, a, b in zip(weights, u, v, strict=True)), Fraction(0))
            imag = sum((w * (a[1] * b[0] - a[0] * b[1]) for w, a, b in zip(weights, u, v, strict=True)), Fraction(0))
            found[i, j] = (real, imag)
    return found


def _pair(x: Any) -> Pair:
    return Fraction(float(x.real)), Fraction(float(x.imag))


def _loss(z: Pair, b: complex, delta: float | None) -> Fraction:
    real, imag = z[0] - Fraction(b.real), z[1] - Fraction(b.imag)
    square = real * real + imag * imag
    if delta is None or square <= Fraction(delta) ** 2:
        return square / 2
    return Fraction(delta) * (abs(real) - Fraction(delta) / 2)
