"""Hybrid: local descent on a factor, escapes along blocks of leading eigenvectors, compression.

    Write X = YYᴴ with ‖Y‖_F = 1. Repeat:
    escape    V ← leading eigenvectors of −∇f(X) that beat ⟨−∇f, X⟩;  X ← X + η (Σ wⱼ vⱼvⱼᴴ − X), exact line search
    descend   limited-memory quasi-Newton on the sphere ‖Y‖_F = 1, line search on the images z₀ + s·z₁ + s²·z₂
    compress  to the eigendecomposition of X, weights at rounding level dropped

The escape is a Frank-Wolfe step with line search towards a point that gives the leading eigenvector
at least half of its weight, so it promises at least half of what Frank-Wolfe's own step does, and everything else only
lowers f: the O(1/t) rate of Frank-Wolfe with an approximate oracle holds whatever the local solver does (``_escape``).
A rank-deficient second-order point of the local problem is globally optimal; otherwise the eigenvectors, the very ones
CG would use, are the way out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import EPS, Array, inner
from ..atoms import Atoms
from ..eigen import leading
from ..linesearch import NotFinite
from ..problem import Point, Problem, Step
from .oracle import base, begin

_HISTORY = 8  # pairs kept by the quasi-Newton method
_LEAST, _GROWING, _MOST = 3, 15, 40  # inner iterations of one descent: fewest, while growing, most
_FADING = 0.02  # a descent ends when its last iterations brought less than this share of what it brought in all
_DROPPED = 1e-11  # weights up to here are not worth a column


@dataclass(frozen=True, eq=False)
class HybridMemory:
    block: int
    guess: Array


@dataclass(frozen=True)
class Hybrid:
    """Fast on all domains and losses, real and complex; one step is an escape and a local descent.

    Parameters
    ----------
    block : eigenvectors asked for at the first escape; later as many as were worth taking, and some more.
    """

    block: int = 4
    Memory: ClassVar[type] = HybridMemory

    def __post_init__(self) -> None:
        if isinstance(self.block, bool) or not isinstance(self.block, int) or self.block < 1:
            raise ValueError(f"Hybrid: block must be a positive whole number, got {self.block!r}.")

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, Any, Step]:
        point, guess, step = begin(problem, point, rng)
        return point, HybridMemory(max(2, self.block), guess[:, None]), step

    def step(
        self, problem: Problem, point: Point, memory: HybridMemory, rng: np.random.Generator
    ) -> tuple[Point, Any, Step]:
        before = len(point.atoms)
        point, block, guess, size, spent, gap = self._escape(problem, point, memory, rng)
        growing = len(point.atoms) > 1.3 * before  # not yet worth polishing: the right columns are still missing
        Y, products = _descend(problem, point, _GROWING if growing else _MOST)
        compressed = _compress(problem, Y)
        new = compressed if compressed.value <= point.value else point
        return new, HybridMemory(block, guess), Step("hybrid", size, spent + products, gap)

    def _escape(
        self, problem: Problem, point: Point, memory: HybridMemory, rng: np.random.Generator
    ) -> tuple[Point, int, Array, float, float, float]:
        """A Frank-Wolfe step towards a block: the guarantee of the whole method."""
        descent, here = problem.descent(point), base(problem, point)
        found = leading(
            descent,
            min(2, problem.domain.dimension),
            accuracy=lambda top: 0.1 * max(top - here, 0.0),
            start=memory.guess,
            rng=rng,
            max_products=100.0,
            also=memory.block - 2,
        )
        promise = np.maximum(found.values - here, 0.0)
        gap = float(promise[0])
        useful = promise > 0.05 * gap
        rank = len(point.atoms)
        block = int(min(max(4, rank, 2 * useful.sum()), 96)) if useful.mean() > 0.7 else int(max(4, 1.5 * useful.sum()))
        if gap <= 0.0:
            return point, block, found.vectors[:, :4], 0.0, descent.products, gap
        V, weights = found.vectors[:, useful], promise[useful]
        weights = weights / weights.sum()
        # half of the step goes to the leading eigenvector, so that it promises at least half of Frank-Wolfe's decrease
        weights = 0.5 * weights
        weights[0] += 0.5
        dz = problem.lifted.combine(1.0, problem.lifted.measure(V, weights, V), -1.0, point.image)
        size = problem.curve(point, dz).minimize(1.0)
        if size == 0.0:
            return point, block, found.vectors[:, :4], 0.0, descent.products, gap
        old = point.atoms
        atoms = Atoms.of(
            np.concatenate([old.vectors, V], axis=1), np.concatenate([(1.0 - size) * old.weights, size * weights])
        )
        return problem.ahead(point, atoms, dz, size), block, found.vectors[:, :4], size, descent.products, gap


def _descend(problem: Problem, point: Point, most: int) -> tuple[Array, float]:
    """Limited-memory quasi-Newton on the sphere; returns the factor and the products spent."""
    lifted = problem.lifted
    Y = np.ascontiguousarray(point.atoms.factor())
    Y = Y / np.linalg.norm(Y)
    image, value, slope = point.image, point.value, point.slope
    ones, spent = np.ones(Y.shape[1]), 0.0
    steps: list[tuple[Array, Array, float]] = []
    start, recent = value, [value]
    gradient, cost = _gradient(problem, slope, Y)
    spent += cost
    for iteration in range(most):
        direction = _quasi_newton(gradient, steps)
        direction = direction - inner(Y, direction) * Y  # tangent to the sphere
        descent = inner(gradient, direction)
        if not descent < 0.0:
            if not steps:
                break
            steps, direction = [], -gradient
            descent = inner(gradient, direction)
        length = float(np.linalg.norm(direction))
        if length == 0.0 or -descent <= 1e-17 * max(abs(value), EPS * abs(start)):
            break
        both, swapped = np.concatenate([Y, direction], axis=1), np.concatenate([direction, Y], axis=1)
        first = lifted.measure(both, np.ones(2 * Y.shape[1]), swapped)
        second = lifted.measure(direction, ones, direction)
        guess = 1.0 if steps else min(1.0, 0.1 / length)
        found = _search(problem, (image, first, second), length, guess, value, descent)
        if found is None:
            if not steps:
                break
            steps = []
            continue
        size, value, image, slope = found
        old_Y, old_gradient = Y, gradient
        Y = Y + size * direction
        Y = Y / np.linalg.norm(Y)
        gradient, cost = _gradient(problem, slope, Y)
        spent += cost
        # carried to the new point by projection on its tangent space
        move = (Y - old_Y) - inner(Y, Y - old_Y) * Y
        turn = gradient - (old_gradient - inner(Y, old_gradient) * Y)
        bend = inner(move, turn)
        if bend > 1e-12 * float(np.linalg.norm(move) * np.linalg.norm(turn)):
            steps = [*steps[-(_HISTORY - 1) :], (move, turn, bend)]
        recent.append(value)
        if iteration >= _LEAST and recent[-1 - _LEAST] - value <= _FADING * (start - value) * _LEAST / len(recent):
            break
    return Y, spent


def _gradient(problem: Problem, slope: Any, Y: Array) -> tuple[Array, float]:
    """The Riemannian gradient of f(YYᴴ): 2∇f Y less its part along Y."""
    operator = problem.lifted.gradient(slope)
    full = 2.0 * operator.matmat(Y)
    return full - inner(Y, full) * Y, operator.products


def _quasi_newton(gradient: Array, steps: list[tuple[Array, Array, float]]) -> Array:
    """The two-loop recursion of L-BFGS."""
    q = gradient.copy()
    alphas = []
    for move, turn, bend in reversed(steps):
        alpha = inner(move, q) / bend
        q -= alpha * turn
        alphas.append(alpha)
    if steps:
        _, turn, bend = steps[-1]
        q *= bend / inner(turn, turn)
    for (move, turn, bend), alpha in zip(steps, reversed(alphas), strict=True):
        q += (alpha - inner(turn, q) / bend) * move
    return -q


def _search(
    problem: Problem, images: tuple[Any, Any, Any], length: float, guess: float, value: float, descent: float
) -> tuple[float, float, Any, Any] | None:
    """Line search along Y + s·D, scaled back to the sphere: z(s) = (z₀ + s·z₁ + s²·z₂)/(1 + s²‖D‖²), no new products.

    A few secant steps on the derivative; accepts any size with sufficient decrease.
    """
    lifted = problem.lifted
    z0, z1, z2 = images

    def at(s: float) -> tuple[float, float, Any, Any]:
        scale = 1.0 / (1.0 + (s * length) ** 2)
        z = lifted.combine(scale, lifted.combine(1.0, z0, s, z1), scale * s * s, z2)
        reached, slope = lifted.evaluate(z)
        if not np.isfinite(reached):
            raise NotFinite(f"the objective is {reached}")
        # z'(s) = scale·(z₁ + 2s·z₂ − 2s‖D‖²·z(s))
        along = lifted.pair(slope, z1) + 2.0 * s * (lifted.pair(slope, z2) - length**2 * lifted.pair(slope, z))
        return reached, scale * along, z, slope

    low, low_slope, high = 0.0, descent, math.inf
    best: tuple[float, float, Any, Any] | None = None
    s = guess
    for _ in range(12):
        reached, along, z, slope = at(s)
        enough = reached <= value + 1e-4 * s * descent
        if enough and (best is None or reached < best[1]):
            best = (s, reached, z, slope)
        if enough and abs(along) <= 0.3 * abs(descent):
            break
        if not enough or along > 0.0:
            high = s
            if best is not None and enough:
                break
            cut = low_slope / (low_slope - along) if enough and along != low_slope else 0.0
            cut = cut if 0.1 < cut < 0.9 else 0.3
            s = low + cut * (high - low)
        else:
            low, low_slope = s, along
            s = 0.5 * (low + high) if math.isfinite(high) else 3.0 * s
        if s < 1e-14:
            break
    return best


def _compress(problem: Problem, Y: Array) -> Point:
    """The eigendecomposition of YYᴴ without weights at rounding level, measured afresh: never any drift."""
    left, roots, _ = np.linalg.svd(Y, full_matrices=False)
    weights = roots**2
    kept = weights > _DROPPED * weights[0]
    atoms = Atoms.of(np.ascontiguousarray(left[:, kept]), weights[kept])
    return problem.point(atoms)
