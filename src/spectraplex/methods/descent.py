"""Local descent on a factor: min f(YYᴴ/‖Y‖²) over all Y, by limited-memory BFGS with a diagonal scaling.

The function does not change along rays, so its gradient 2(∇f·Y − ⟨∇f, X⟩Y)/‖Y‖² is tangent to the sphere by itself and
no retraction or transport is needed. With the diagonal scaling (scaling.py) a descent needs less than half of the
evaluations (benchmarks/local.py compares), and unit steps are nearly always accepted, so a step costs one measurement
and one gradient.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..losses.curves import NotFinite
from ..places.numpy import Array
from ..places.protocol import Block
from ..problem import Problem
from .quasi_newton import LimitedMemory
from .scaling import inverse_curvature

_HISTORY, _FEWEST = 6, 2  # most pairs kept, and fewest
_PAIRS = 1_400_000_000  # numbers in all steps of the pairs: those of a long factor are most of what a descent holds
_LEAST = 3  # fewest steps of one descent
_REFRESH = 12  # steps between two looks at the scaling
_TRIALS = 25  # most trials of one step


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended: the factor (‖Y‖_F = 1), its YᴴAY with A = ⟨∇f, X⟩ − ∇f, and what it took.

    A column along an eigenvector of A with a positive eigenvalue ought to weigh more.
    """

    Y: Block
    value: float
    steps: int
    products: float
    pull: Array | None


def descend(
    problem: Problem,
    Y: Block,
    image: Any,
    curvature: float,
    *,
    most: int,
    fading: float,
    single: bool = False,
    slim: bool = False,
    near: tuple[float, float] = (0.0, np.inf),
) -> Descent:
    """Descend from Y until ``most`` steps are done or the last ones bring less than a share ``fading`` of the mean.

    ``curvature`` is what ``inverse_curvature`` asks for. ``single`` stores Y in single precision, if that leaves its
    value as ``near`` as asked to a number; the values are those of the rounded Y, exact to double. ``slim`` leaves it
    so at the end, where it is most of what is held.
    """
    place = problem.place
    Y, image, value, slope = _stored(problem, Y, image, near if single else None)
    norm = _square(problem, Y)
    at, power, spent = _first_gradient(problem, slope, image, Y)
    if at.scale == 0.0:  # data below what can be multiplied
        width = place.width(Y)
        return Descent(_unit(problem, Y, norm), value, 0, spent, np.zeros((width, width)))
    g, length = _direction_up(problem, at, Y, norm)
    if length == 0.0 or not np.isfinite(length) or not np.isfinite(length * at.scale):
        return Descent(_unit(problem, Y, norm), value, 0, spent, _pull(problem, Y, at, norm))
    unit = length * at.scale  # ‖∇‖: the memory works with g, of norm one
    scaling = inverse_curvature(problem, Y, norm, -at.lean * at.scale, curvature)
    reach = place.largest(scaling)  # taken out of the scaling, which is at most one then
    history = min(max(_FEWEST, min(_HISTORY, _PAIRS // (place.length(Y) * place.width(Y)))), most)
    deck = place.deck(Y, g, place.scale(scaling, 1.0 / reach), history, _compiled(problem))
    memory = LimitedMemory(deck, history)
    first = memory.factor = unit * reach
    values, looked = [value], 0
    del Y, g, scaling, image, slope  # the deck has what it needs: nothing as tall as the data is held without need
    while len(values) <= most:
        at = replace(at, product=None)  # as tall as Y: the deck has what a step needs of it
        if len(values) > looked + _REFRESH:  # the weights of the columns have moved
            looked = len(values) - 1
            deck.rescale(inverse_curvature(problem, deck.here, norm, -at.lean * at.scale, curvature, 1.0 / reach))
        fall, square, beyond = memory.direction()
        found = _search(problem, memory, value, unit * fall, beyond) if fall < 0.0 else None
        if found is None:
            if not memory.slots:
                break
            memory.forget()
            memory.factor = first
            continue
        value, image, slope, norm, share = found
        at, cost = _gradient(problem, slope, image, deck.ahead, power)
        del found, image, slope
        spent += cost
        memory.turn(at.product, at.lean, 2.0 * at.scale / (norm * unit), share * float(np.sqrt(square)))
        values.append(value)
        if _faded(values, fading):
            break
    Y = deck.here
    del deck, memory  # its pairs are the largest thing of all
    if at.product is None:  # it could not go on from here: rounding
        image = problem.lifted.measure(Y, np.ones(place.width(Y)) / norm, Y)
        at, cost = _gradient(problem, problem.lifted.evaluate(image)[1], image, Y, power)
        spent += cost
    pull = _pull(problem, Y, at, norm, slim)
    del at  # as tall as Y
    return Descent(_unit(problem, Y, norm, slim), value, len(values) - 1, spent, pull)


@dataclass(frozen=True, eq=False)
class _Gradient:
    """∇f(X)·Y = scale·product and ⟨∇f(X), X⟩ = scale·lean: the units of f are in ``scale``, the rest has size one.

    The product is as tall as Y, and let go of (None) when a step has been prepared.
    """

    product: Block | None
    scale: float
    lean: float


def _gradient(problem: Problem, slope: Any, image: Any, Y: Block, power: float) -> tuple[_Gradient, float]:
    """The gradient at Y, its product multiplied by ``power``, and the products it took."""
    product, scale, cost = _product(problem, slope, Y)
    if power != 1.0:
        product, scale = problem.place.scale(product, power), scale / power
    return _Gradient(product, scale, problem.lifted.pair(slope, image) / scale), cost


def _first_gradient(problem: Problem, slope: Any, image: Any, Y: Block) -> tuple[_Gradient, float, float]:
    """The gradient where a descent begins, the power of two for all its products, and the products it took.

    Its scale is zero where the data are too small to be multiplied; it is then of no use.
    """
    product, scale, cost = _product(problem, slope, Y)
    power = _power(problem.place.largest(product))
    if power != 1.0:
        product, scale = problem.place.scale(product, power), scale / power
    lean = problem.lifted.pair(slope, image) / scale if scale != 0.0 else 0.0
    return _Gradient(product, scale, lean), power, cost


def _direction_up(problem: Problem, at: _Gradient, Y: Block, norm: float) -> tuple[Block, float]:
    """The gradient 2(product − lean·Y)/‖Y‖² of f(YYᴴ/‖Y‖²) as a block of norm one, and its norm, less the scale.

    It is made unit in double precision before it is stored like Y: single precision has little room for units of f.
    """
    place = problem.place
    g = place.blend(2.0 / norm, at.product, -2.0 * at.lean / norm, place.cast(Y, place.kind(at.product)))
    length = _length(place.norms(g))
    if length == 0.0 or not np.isfinite(length):
        return g, length
    return place.cast(place.scale(g, 1.0 / length), place.kind(Y)), length


def _compiled(problem: Problem) -> bool:
    """Whether the compiled passes are used for short blocks, too: a sparse objective's kernels are loaded anyway."""
    return problem.facts.single and not problem.facts.held


def _faded(values: list[float], fading: float) -> bool:
    """Whether the last steps gained less than a share ``fading`` of the mean step, or the last one only rounding."""
    done, value = len(values) - 1, values[-1]
    if done >= _LEAST and values[-1 - _LEAST] - value <= fading * (values[0] - value) * _LEAST / done:
        return True
    return values[-2] - value <= 1e-15 * abs(value)


def _stored(problem: Problem, Y: Block, image: Any, near: tuple[float, float] | None) -> tuple[Block, Any, float, Any]:
    """A copy of Y to write to, in single precision where that does no harm, with its image, value and slope."""
    lifted, place, ones = problem.lifted, problem.place, np.ones(problem.place.width(Y))
    if near is not None:
        rounded = place.copy(Y, np.complex64 if place.kind(Y).kind == "c" else np.float32)
        there = lifted.measure(rounded, ones / _square(problem, rounded), rounded)
        value, slope = lifted.evaluate(there)
        if abs(value - near[0]) <= near[1]:
            return rounded, there, value, slope
    Y = place.copy(Y, place.kind(Y))
    if image is None:
        image = lifted.measure(Y, ones / _square(problem, Y), Y)
    return (Y, image, *lifted.evaluate(image))


def _search(
    problem: Problem, memory: LimitedMemory, value: float, fall: float, norm: float
) -> tuple[float, Any, Any, float, float] | None:
    """Value, image, slope, ‖ahead‖² and the share of the direction taken: all of it unless f would not fall enough."""
    lifted, share = problem.lifted, 1.0
    ones = np.ones(problem.place.width(memory.deck.ahead))
    for _ in range(_TRIALS):
        reached, slope, image, ahead = np.inf, None, None, memory.deck.ahead
        if 0.0 < norm < np.inf:  # else it went beyond the range of floating point: come back
            image = lifted.measure(ahead, ones / norm, ahead)
            with suppress(NotFinite):  # beyond the edge of where f is defined: come back
                reached, slope = lifted.evaluate(image)
        if reached <= value + 1e-4 * fall:
            return float(reached), image, slope, norm, share
        excess = reached - value - fall
        cut = min(max(-0.5 * fall / excess, 0.1), 0.5) if np.isfinite(excess) and excess > 0 else 0.1
        share, fall = share * cut, fall * cut
        norm = memory.shorten(cut)
    return None


def _product(problem: Problem, slope: Any, Y: Block) -> tuple[Block, float, float]:
    """∇f·Y without its scale, the scale, and the products it took."""
    operator = problem.lifted.gradient(slope)
    product, scale = operator.unscaled(Y)
    return product, scale, operator.products


def _power(size: float) -> float:
    """The power of two that brings a product to size one where it is far from it; one elsewhere."""
    exponent = math.frexp(size)[1]
    return 1.0 if abs(exponent) < 60 else 2.0 ** -max(-1000, min(1000, exponent))


def _pull(problem: Problem, Y: Block, at: _Gradient, norm: float, slim: bool = False) -> Array:
    """Yᴴ(⟨∇f, X⟩ − ∇f)Y for Y made unit."""
    place = problem.place
    if slim:  # nothing as tall as Y in double
        return np.asarray(at.scale / norm * (at.lean * place.gram(Y, Y) - place.gram(Y, at.product)))
    wide = place.cast(Y, _double(place.kind(Y)))
    return np.asarray(at.scale / norm * place.gram(wide, place.blend(at.lean, wide, -1.0, at.product)))


def _square(problem: Problem, Y: Block) -> float:
    """‖Y‖², summed in double."""
    return float((problem.place.norms(problem.place.cast(Y, _double(problem.place.kind(Y)))) ** 2).sum())


def _length(norms: Array) -> float:
    """The norm of a block, from those of its columns; none overflows on the way."""
    top = float(norms.max(initial=0.0))
    return top * float(np.linalg.norm(norms / top)) if 0.0 < top < np.inf else top


def _unit(problem: Problem, Y: Block, norm: float, slim: bool = False) -> Block:
    place = problem.place
    if slim:
        return place.scale(Y, 1.0 / math.sqrt(norm))
    wide = place.cast(Y, _double(place.kind(Y)))
    return place.scale(wide, 1.0 / math.sqrt(norm))


def _double(kind: np.dtype[Any]) -> type:
    return np.complex128 if kind.kind == "c" else np.float64
