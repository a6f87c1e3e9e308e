"""The full, deterministic rank-one-regularised update (Eq. 5 and the "full deterministic update" lemma of the paper).

    for every i:  vᵢ ← EV(−∇f(X) + ηβ xᵢxᵢᴴ);    X ← Σ aᵢ ((1 − η) xᵢxᵢᴴ + η vᵢvᵢᴴ),    η = min(1, 18/(t + 8)).

Atoms double at each step, so they are recompressed to the eigendecomposition when they exceed twice the rank; the
lemma holds for any decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import number
from ..matrices.atoms import Atoms
from ..problem import Point, Problem, Step
from .conditional_gradient import CGMemory
from .oracle import FRACTION, base, begin
from .rank_one_parts import regularized, smoothness_or_say, theorem_accuracy, theorem_step


@dataclass(frozen=True)
class FullRankOneRegularized:
    """One leading eigenvector per *atom* and step: the analysis made runnable, for small problems and for study.

    Parameters
    ----------
    beta : None takes the objective's smoothness through the lift and refuses when it is unknown.
    """

    beta: float | None = None
    Memory: ClassVar[type] = CGMemory

    def __post_init__(self) -> None:
        if self.beta is not None:
            object.__setattr__(self, "beta", number(type(self).__name__, "beta", self.beta))

    def require(self, problem: Problem) -> None:
        """Refuse a problem without the constant that is needed, before any work."""
        smoothness_or_say(problem, type(self).__name__, self.beta)

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, CGMemory, Step]:
        beta = smoothness_or_say(problem, type(self).__name__, self.beta)
        point, guess, step = begin(problem, point, rng, accuracy=beta or None)
        return point, CGMemory(1, guess), step

    def step(
        self, problem: Problem, point: Point, memory: CGMemory, rng: np.random.Generator
    ) -> tuple[Point, CGMemory, Step]:
        beta, eta = (
            smoothness_or_say(problem, type(self).__name__, self.beta),
            min(1.0, theorem_step(memory.t)),
        )
        descent, here = problem.descent(point), base(problem, point)
        # The theorem's ξ_t, or a tenth of what is left to gain where that is less: ξ_t is large for a long time.
        most = theorem_accuracy(memory.t, beta)

        def accuracy(value: float) -> float:
            return min(most, FRACTION * max(value - here, 0.0))

        place, a = problem.place, point.atoms.weights
        X = [point.atoms.vector(i) for i in range(len(point.atoms))]
        found = [regularized(descent, x, eta * beta, here, rng, guess=x, accuracy=accuracy, careful=True) for x in X]
        V = [each.vector for each in found]
        weights = np.concatenate([(1.0 - eta) * a, eta * a])
        some = [v for v, weight in zip([*X, *V], weights, strict=True) if weight > 0]
        atoms = Atoms.of(place.join(*some), weights[weights > 0], place)
        compressed = atoms.compress()
        atoms = compressed if len(atoms) > 2 * len(compressed) else atoms
        gap = max(each.gap for each in found)
        return problem.point(atoms), CGMemory(memory.t + 1, V[0]), Step("full", eta, descent.products, gap)
