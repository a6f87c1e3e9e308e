"""Rank-one-regularised conditional gradient, "ROR-CG" (Algorithm 2 of the paper), and what its experiment ran.

    x₁ ← EV_ξ₀(−∇f(x₀x₀ᴴ)), X₁ = x₁x₁ᴴ; then for t = 1, 2, … with η_t = 18/(t + 8):
    draw i with probability aᵢ                               [select="greedy": the worst atom, argmax xᵢᴴ∇f xᵢ;
                                                              select="worthy": the worst of those that weigh enough]
    η̃ ← η_t/2 if aᵢ ≥ η_t, else aᵢ
    v ← EV_ξt(−∇f(X) + η_t β xᵢxᵢᴴ)
    X ← X + η̃ (vvᴴ − xᵢxᵢᴴ)                                  [step="line-search": the best size on [0, aᵢ]]

β is that of the lifted function (2θ²β on the nuclear-norm ball). With beta="adaptive" no β is needed: the step taken
never exceeds aᵢ and the curvature that matters is the one met along recent directions, so the regulariser is
scale · min(η_t, aᵢ) · (smoothed ‖𝒜(D)‖²/‖D‖²), D = vvᴴ − xᵢxᵢᴴ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks import number
from ..losses.curves import Curve
from ..matrices.lifted import Lifted, Shifted
from ..places.numpy import Array
from ..problem import Point, Problem, Step
from .oracle import Direction, Oracle, base, begin, difference, find, oracle_or_say, tidy, worst

_SHARE = 0.2  # accuracy asked of the eigenvector, as a share of what it gains over staying at x
_WORTH = 0.2  # share of the greatest promise, weight times deficit, that an atom must have to be worth a step
_HOPE = 1.3  # growth, per step, of what is hoped for from the kind of atom that is not being moved
_FADE = 0.7  # share of the old curvature kept at each step


def theorem_step(t: int) -> float:
    """η_t of Theorem 1 (t₀ = 8)."""
    return 18.0 / (t + 8.0)


def theorem_accuracy(t: int, beta: float) -> float:
    """ξ_t of Theorem 1: a sixth of the smallest bound, unknown constants at their safe values (r = λ = 1, α = β)."""
    return beta * min(9.0 / (t + 8.0), 8748.0 / (t + 8.0) ** 2)


def smoothness_or_say(problem: Problem, method: str, beta: Any) -> float:
    """β of the lifted function, or a refusal that names who lacks it."""
    if beta is not None:
        return float(beta)
    known = problem.lifted.smoothness
    if known is None:
        raise ValueError(
            f"{method} needs the smoothness β, which {type(problem.objective).__name__} does not know; pass "
            "smoothness= to the objective, beta=<number> or beta='adaptive' to the method, or use 'pairwise'."
        )
    return float(known)


def regularized(
    descent: Lifted,
    x: Array,
    strength: float,
    beat: float,
    rng: np.random.Generator,
    oracle: Oracle | None = None,
    **asked: Any,
) -> Direction:
    """EV(−∇f + strength·xxᴴ): the best rank-one among those that do not stray from x (Eq. 5 of the paper)."""
    return (oracle or find)(Shifted(descent, x[:, None], np.array([strength])), beat, rng, **asked)


@dataclass(frozen=True, eq=False)
class RORMemory:
    t: int
    guess: Array
    curvature: float
    heavy: float = math.inf  # select="worthy": what the last step from a worthy atom gained, and since then, growing,
    light: float = math.inf  # what one may hope for; likewise from the worst of all


@dataclass(frozen=True)
class RankOneRegularized:
    """One leading eigenvector of the gradient plus a rank-one per step; the defaults are Algorithm 2 as printed.

    Parameters
    ----------
    select : "random" (atom i with probability aᵢ), "greedy" (the worst atom; one block product more) or "worthy" (the
        worst of the atoms whose weight makes moving them worth an eigenvector).
    step : "theorem" (η̃ of Algorithm 2) or "line-search" (exact, monotone).
    beta : None takes the objective's smoothness through the lift and refuses when it is unknown; a number is used as
        it is; "adaptive" needs none.
    scale : factor of the adaptive regulariser; one default for all data.
    oracle : finds the eigenvectors v in place of ``methods.oracle.find``, told ξ_t; for studies of their accuracy.
    """

    select: str
    step_rule: str
    beta: float | str | None
    scale: float
    oracle: Oracle | None
    Memory: ClassVar[type] = RORMemory

    def __init__(
        self,
        select: str = "random",
        step: str = "theorem",
        beta: float | str | None = None,
        scale: float = 0.8,
        oracle: Oracle | None = None,
    ) -> None:
        if select not in ("random", "greedy", "worthy"):
            raise ValueError(f"RankOneRegularized: select must be 'random', 'greedy' or 'worthy', got {select!r}.")
        if step not in ("theorem", "line-search"):
            raise ValueError(f"RankOneRegularized: step must be 'theorem' or 'line-search', got {step!r}.")
        if isinstance(beta, str) and beta != "adaptive":
            raise ValueError(f"RankOneRegularized: beta must be None, a number or 'adaptive', got {beta!r}.")
        if beta is not None and not isinstance(beta, str):
            beta = number("RankOneRegularized", "beta", beta)
        scale = number("RankOneRegularized", "scale", scale)
        for name, value in (("select", select), ("step_rule", step), ("beta", beta), ("scale", scale)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "oracle", oracle_or_say("RankOneRegularized", oracle))

    def require(self, problem: Problem) -> None:
        """Refuse a problem without the constant that is needed, before any work."""
        self._beta(problem)

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, Any, Step]:
        beta = self._beta(problem)
        point, guess, step = begin(problem, point, rng, accuracy=beta or None)  # ξ₀ = β
        # From a given point the printed schedule starts where it allows the smallest weight: aᵢ ≥ η_t/2.
        given = step.kind == "start" and self.step_rule == "theorem"
        t = max(1, math.ceil(9.0 / float(point.atoms.weights.min()) - 8.0)) if given else 1
        return point, RORMemory(t, guess, 0.0), step

    def step(
        self, problem: Problem, point: Point, memory: RORMemory, rng: np.random.Generator
    ) -> tuple[Point, Any, Step]:
        descent, atoms, t = problem.descent(point), point.atoms, memory.t
        here, eta, beta, heavy = base(problem, point), theorem_step(t), self._beta(problem), False
        theorem = self.step_rule == "theorem" and beta > 0
        if self.select == "random":
            i, score = atoms.sample(rng), 0.0
            if not theorem:  # ξ_t needs no score, and a score is a product
                score = float(descent.scores(atoms.vector(i)[:, None], 1)[0])
        else:
            heavy = self.select == "worthy" and memory.heavy >= memory.light
            i, score = worst(descent, atoms, _WORTH if heavy else 0.0)
        a, x = float(atoms.weights[i]), atoms.vector(i)
        strength = self.scale * min(eta, a) * memory.curvature if self.beta == "adaptive" else eta * beta

        # Without the theorem’s ξ_t: a share of what the new vector gains over staying at x.
        gain = lambda value: _SHARE * max(value - score - strength, 0.0)  # noqa: E731
        accuracy = theorem_accuracy(t, beta) if theorem else gain
        asked = {"guess": memory.guess, "accuracy": accuracy, "careful": theorem}
        found = regularized(descent, x, strength, here, rng, self.oracle, **asked)
        v = found.vector

        dz = difference(problem, v, x)
        size, curvature = eta / 2 if a >= eta else a, 0.0
        if self.step_rule == "line-search" or self.beta == "adaptive":
            curve = problem.curve(point, dz)
            size = curve.minimize(a) if self.step_rule == "line-search" else size
            curvature = self._met(curve, size, v, x, memory.curvature) if self.beta == "adaptive" else 0.0
        moved = atoms.move(i, v, size)
        new = problem.ahead(point, moved if self.step_rule == "theorem" else tidy(moved), dz, size)
        hopes = self._hopes(memory, heavy, point.value - new.value) if self.select == "worthy" else ()
        return new, RORMemory(t + 1, v, curvature, *hopes), Step("move", size, descent.products, found.gap)

    def _beta(self, problem: Problem) -> float:
        return 0.0 if self.beta == "adaptive" else smoothness_or_say(problem, "RankOneRegularized", self.beta)

    def _hopes(self, memory: RORMemory, heavy: bool, gained: float) -> tuple[float, float]:
        """A sliver gains nothing, yet now and then only slivers are in the way: whichever gained more goes on."""
        return (gained, _HOPE * memory.light) if heavy else (_HOPE * memory.heavy, gained)

    def _met(self, curve: Curve, size: float, v: Array, x: Array, before: float) -> float:
        """Smoothed curvature ‖𝒜(D)‖²/‖D‖²_F, with ‖vvᴴ − xxᴴ‖²_F = 2(1 − |vᴴx|²).

        A step of no size says that the regulariser held v at x: it is halved until it lets go.
        """
        length = 2.0 * (1.0 - abs(np.vdot(v, x)) ** 2)
        if size == 0.0 or length < 1e-12:
            return 0.5 * before
        met = curve.curvature(size) / length
        return met if before == 0.0 else _FADE * before + (1.0 - _FADE) * met
