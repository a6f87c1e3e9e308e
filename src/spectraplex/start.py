"""Where a run begins: at what the user gave, where the objective says it is finite, or at the domain's own start."""

from __future__ import annotations

from typing import Any

import numpy as np

from .matrices.factors import as_factors
from .problem import Point, Problem


def first_point(problem: Problem, start: Any, rng: np.random.Generator) -> Point:
    """The point that factors stand for; without any, one that is fresh where nothing is lost by leaving it."""
    if start is None and problem.facts.start is not None:  # a loss need not be finite at the domain's own
        start = problem.facts.start(problem.domain)
    if start is None:
        atoms = problem.domain.start(problem.dtype, rng)
        return problem.point(atoms.at(problem.place), fresh=problem.domain.jumps)
    factors = as_factors(start, "solve: start")
    if np.dtype(factors.dtype).kind == "c" and problem.dtype == "float64":
        raise TypeError("solve: start is complex, but the objective is real.")
    atoms = problem.domain.raised(factors)
    place = atoms.place
    if place.kind(atoms.buffer.block) != np.dtype(problem.dtype):
        atoms = type(atoms).of(place.cast(atoms.vectors, problem.dtype), atoms.weights, place)
    return problem.point(atoms.at(problem.place))
