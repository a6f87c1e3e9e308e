"""The escape of hybrid: a Frank-Wolfe step with line search towards a block of leading eigenvectors.

Its weights promise at least half of what Frank-Wolfe's own step does: the guarantee of the whole method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..eigen.leading import leading
from ..matrices.atoms import Atoms
from ..places.numpy import Array
from ..places.protocol import Block, on_device
from ..problem import Point, Problem, Step
from .columns import light
from .oracle import base

_EIGHTH = 8  # Krylov chains are from blocks of one in so many of the eigenvectors asked for,
_WIDEST = 16  # and never from more
_LINE = 16  # numbers in single precision that a cache line has
FEWEST, _FIRST = 4, 16  # asked for at first; the latter on a device, where many products take as long as few
_MORE, _MORE_THERE = 2, 4  # how many times as many are asked for next where nearly all were useful,
_MOST = 128  # and most at a time
_TRIMMED = 4  # at most one in so many of the useful ones is left for later


@dataclass(frozen=True, eq=False)
class Way:
    """What one escape tells the next: how many eigenvectors to ask for, where to begin, and the curvature it met."""

    block: int
    guess: Block
    curvature: float


def escape(problem: Problem, point: Point, way: Way, share: float, rng: np.random.Generator) -> tuple[Point, Way, Step]:
    """``share`` is how exact the eigenvectors are, beside what the leading one promises to gain."""
    descent, here, place = problem.descent(point), base(problem, point), problem.place
    exact = min(max(2, way.block // _EIGHTH), _WIDEST, problem.domain.dimension)
    guess = place.cast(way.guess, place.kind(point.atoms.buffer.block))  # as many digits as the atoms beside it
    found = leading(
        descent,
        exact,
        accuracy=lambda top: share * max(top - here, 0.0),
        start=place.join(guess, point.atoms.vectors),
        rng=rng,
        max_products=100.0 + len(point.atoms),
        also=max(way.block - exact, 0),
        single=light(problem, point.atoms),
    )
    promise = np.maximum(found.values - here, 0.0)
    gap = float(promise[0])
    useful = promise > 0.05 * gap
    guess = place.columns(found.vectors, np.arange(min(4, useful.size)))  # a copy: a view would keep all of them
    way = Way(_block(problem, useful, len(point.atoms)), guess, way.curvature)
    stay = Step("hybrid", 0.0, descent.products, gap)
    if gap <= 0.0:
        return point, way, stay
    if light(problem, point.atoms):
        useful = _whole_lines(useful, len(point.atoms))
    V, weights = place.columns(found.vectors, useful), promise[useful]
    V = place.cast(V, place.kind(point.atoms.buffer.block))  # single precision where the atoms are in it
    weights = _shares(weights, light(problem, point.atoms))
    dz = problem.lifted.combine(1.0, problem.lifted.measure(V, weights, V), -1.0, point.image)
    curve = problem.curve(point, dz)
    size = curve.minimize(1.0)
    if size == 0.0:
        return point, way, stay
    old = point.atoms
    shared = np.concatenate([(1.0 - size) * old.weights, size * weights])
    atoms = Atoms.of(place.join(old.vectors, V), shared, place)
    if problem.facts.coverage is None:  # else the objective says more than a mean
        way = replace(way, curvature=_mean_curvature(problem, old, V, weights, curve.curvature(size)))
    return problem.ahead(point, atoms, dz, size), way, Step("hybrid", size, descent.products, gap)


def _shares(promise: Array, many: bool) -> Array:
    """Weights that promise Σwᵢpᵢ ≥ p₀/2: half of the step goes to the leading eigenvector, the rest in proportion.

    Where hundreds come at a time, the leading one gets only what is needed beside its own part for that.
    """
    weights: Array = promise / promise.sum()
    mean = float(weights @ promise)
    if not many or mean < 0.5 * promise[0]:
        more = (0.5 * promise[0] - mean) / (promise[0] - mean) if many else 0.5
        weights *= 1.0 - more
        weights[0] += more
    return weights


def _whole_lines(useful: Array, rank: int) -> Array:
    """Without the last few, so that rows of all columns are whole cache lines; all where too many would be left out."""
    count = int(useful.sum())
    last = (rank + count) % _LINE
    return useful & (np.arange(useful.size) < count - last) if _TRIMMED * last <= count else useful


def first_block(problem: Problem, asked: int | None) -> int:
    """How many eigenvectors the first escape asks for."""
    if asked is None:
        asked = _FIRST if on_device(problem.place) else FEWEST
    return max(2, asked)


def _block(problem: Problem, useful: Array, rank: int) -> int:
    """How many eigenvectors the next escape asks for: some more than were useful, many where almost all were."""
    if useful.mean() > 0.7:
        more = _MORE_THERE if on_device(problem.place) else _MORE
        return int(min(max(FEWEST, 1.5 * rank, more * useful.sum()), _MOST))
    return int(max(FEWEST, 1.5 * useful.sum()))


def _mean_curvature(problem: Problem, old: Atoms, V: Block, weights: Array, bend: float) -> float:
    """Curvature of the loss met along the escape, per unit of the matrix that the user sees."""
    lifted, place = problem.lifted.corner, problem.place
    vectors = place.join(old.vectors, V)
    signed = np.concatenate([-old.weights, weights])
    left, right = place.rows(vectors, lifted.left), place.rows(vectors, lifted.right)
    gram = place.gram(left, left) * place.gram(right, right).conj()
    square, sizes = float((signed @ gram @ signed).real), float(np.abs(signed) @ np.abs(gram) @ np.abs(signed))
    if not square > 1e-14 * sizes:  # the escape cancelled to nothing
        return 0.0
    return float(bend) / lifted.scale / lifted.scale / square
