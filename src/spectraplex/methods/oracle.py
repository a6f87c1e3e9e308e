"""What every rank-one method asks first: the leading eigenvector of −∇f(X), to a share of the gap it reveals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..eigen.leading import Accuracy, leading
from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..matrices.lifted import Lifted, Shifted
from ..places.protocol import Block
from ..problem import Point, Problem, Step

#: Methods with a line search and no β ask for this fraction of the estimated gap.
FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class Direction:
    """A unit vector v = EV_ξ, its Rayleigh quotient, and ⟨−∇f, vvᴴ − X⟩ as far as it is known (an estimate).

    ``plain`` is that of what a shift was added to, where it was asked for.
    """

    vector: Block
    value: float
    gap: float
    plain: Direction | None = None


#: How a method finds its eigenvectors: called like ``find``, answers like it. Studies of the error ξ pass their own.
Oracle = Callable[..., Direction]


def oracle_or_say(method: str, oracle: Oracle | None) -> Oracle | None:
    """None, or something that can be called like ``find``."""
    if oracle is not None and (not callable(oracle) or isinstance(oracle, type)):
        raise TypeError(f"{method}: oracle must be None or a function called like methods.oracle.find, got {oracle!r}.")
    return oracle


def base(problem: Problem, point: Point) -> float:
    """⟨−∇f(X), X⟩: what a new direction has to beat."""
    return -problem.lifted.pair(point.slope, point.image)


def find(
    operator: Lifted | Shifted,
    beat: float,
    rng: np.random.Generator,
    guess: Block | None = None,
    accuracy: Accuracy | None = None,
    careful: bool = False,
    plain: bool = False,
) -> Direction:
    """EV_ξ of an operator; by default ξ is a tenth of what the vector promises over ``beat``.

    ``plain`` asks of a shifted one the vector without its shift, too, as far as the search for the other one shows it.
    """
    wanted: Accuracy = accuracy if accuracy is not None else (lambda value: FRACTION * max(value - beat, 0.0))
    ritz = leading(operator, accuracy=wanted, start=guess, rng=rng, careful=careful, plain=plain)
    if ritz.value < beat and not ritz.exact:  # λ_max ≥ ⟨−∇f, X⟩ always, so the search must have missed it
        ritz = leading(operator, accuracy=wanted, rng=rng, careful=True, plain=plain)
    found = Direction(ritz.vector, ritz.value, max(ritz.value - beat, 0.0))
    if ritz.plain is None:
        return found
    value, vector = ritz.plain
    return replace(found, plain=Direction(vector, value, max(value - beat, 0.0)))


def worst(operator: Lifted, atoms: Atoms, worth: float = 0.0) -> tuple[int, float]:
    """The atom with the least xᵢᴴ(−∇f)xᵢ, and that number: one block product over the atoms' shared buffer.

    With ``worth`` > 0 only atoms count whose weight times what they score below the best is at least that share of the
    largest such product: moving a sliver, however bad, gains nothing.

    A large sparse product is limited by memory, so it is done in single precision while the scores differ by far more
    than that can blur.
    """
    buffer, index = atoms.buffer, atoms.index
    if operator.heavy(buffer.used):
        scores = operator.scores(buffer.single, buffer.used)[index]
        if np.ptp(scores) <= 1e-4 * np.abs(scores).max():
            scores = operator.scores(buffer.block, buffer.used)[index]
    else:
        scores = operator.scores(buffer.block, buffer.used)[index]
    if worth > 0.0:
        promised = atoms.weights * (scores.max() - scores)
        scores = np.where(promised >= worth * promised.max(), scores, np.inf)
    i = int(np.argmin(scores))
    return i, float(scores[i])


def begin(
    problem: Problem, point: Point, rng: np.random.Generator, accuracy: Accuracy | None = None
) -> tuple[Point, Block, Step]:
    """Line 3 of Algorithm 2: X₁ = x₁x₁ᴴ with x₁ = EV(−∇f(x₀x₀ᴴ)); a point that somebody gave is kept as it is."""
    if not point.fresh:
        return point, point.atoms.vector(int(np.argmax(point.atoms.weights))), Step("start", 0.0, 0.0, np.inf)
    operator = problem.descent(point)
    found = find(operator, base(problem, point), rng, accuracy=accuracy, careful=accuracy is not None)
    try:
        reached = problem.point(Atoms.of(found.vector, None, problem.place))
    except NotFinite:  # f is not defined out there: line searches will come back from the edge, a jump cannot
        return point, found.vector, Step("start", 0.0, operator.products, found.gap)
    return reached, found.vector, Step("toward", 1.0, operator.products, found.gap)


def tidy(atoms: Atoms) -> Atoms:
    """Recompress when there are more atoms than any decomposition needs (the same X, fewer columns)."""
    return atoms.compress() if len(atoms) > max(64, 2 * atoms.dimension) else atoms


def difference(problem: Problem, v: Block, x: Block) -> Any:
    """The image of vvᴴ − xxᴴ."""
    return problem.lifted.combine(1.0, problem.image_of(v), -1.0, problem.image_of(x))
