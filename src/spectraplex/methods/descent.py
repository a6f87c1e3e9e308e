"""Local descent on a factor: min f(YYᴴ/‖Y‖²) over all Y, by limited-memory BFGS with a diagonal scaling.

The function does not change along rays, so its gradient 2(∇f·Y − ⟨∇f, X⟩Y)/‖Y‖² is tangent to the sphere by itself and
no retraction or transport is needed. With the diagonal scaling (scaling.py) a descent needs less than half of the
evaluations (benchmarks/local.py compares), and unit steps are nearly always accepted, so a step costs one measurement
and one gradient.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..losses.curves import NotFinite
from ..places.numpy import Array, dagger
from ..problem import Problem
from .quasi_newton import LimitedMemory
from .scaling import inverse_curvature

_HISTORY = 6  # pairs kept
_LEAST = 3  # fewest steps of one descent
_REFRESH = 12  # steps between two looks at the scaling
_TRIALS = 25  # most trials of one step


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended: the factor (‖Y‖_F = 1), its YᴴAY with A = ⟨∇f, X⟩ − ∇f, and what it took.

    A column along an eigenvector of A with a positive eigenvalue ought to weigh more.
    """

    Y: Array
    value: float
    steps: int
    products: float
    pull: Array


def descend(
    problem: Problem,
    Y: Array,
    image: Any,
    curvature: float,
    *,
    most: int,
    fading: float,
    single: bool = False,
    near: tuple[float, float] = (0.0, np.inf),
) -> Descent:
    """Descend from Y until ``most`` steps are done or the last ones bring less than a share ``fading`` of the mean.

    ``curvature`` is what ``inverse_curvature`` asks for. ``single`` stores Y in single precision, if that leaves its
    value as ``near`` as asked to a number; the values are those of the rounded Y, exact to double.
    """
    ones = np.ones(Y.shape[1])
    Y, image, value, slope = _stored(problem, Y, image, near if single else None)
    ahead, norm = np.empty_like(Y), _square(Y)
    at, power, spent = _first_gradient(problem, slope, image, Y)
    if at.scale == 0.0:  # data below what can be multiplied
        return Descent(_unit(Y), value, 0, spent, np.zeros((Y.shape[1], Y.shape[1])))
    g, length = _direction_up(at, Y, norm)
    if length == 0.0 or not np.isfinite(length) or not np.isfinite(length * at.scale):
        return Descent(_unit(Y), value, 0, spent, _pull(Y, at, norm))
    unit = length * at.scale  # ‖∇‖: the memory works with g, of norm one
    memory, reach = _scaled_memory(problem, Y, at, curvature)
    first = memory.factor = unit * reach
    values = [value]
    while len(values) <= most:
        d, fall, square, beyond = memory.direction(g, _flat(Y), _flat(ahead))
        found = _search(problem, Y, ahead, d, value, unit * fall, beyond, ones) if fall < 0.0 else None
        if found is None:
            if not memory.slots:
                break
            memory.forget()
            memory.factor = first
            continue
        value, image, slope, norm, share = found
        at, cost = _gradient(problem, slope, image, ahead, power)
        spent += cost
        factor, length = 2.0 * at.scale / (norm * unit), share * float(np.sqrt(square))
        memory.turn(_flat(at.product), _flat(ahead), at.lean, factor, g, length)
        Y, ahead = ahead, Y
        values.append(value)
        if (len(values) - 1) % _REFRESH == 0:  # the weights of the columns have moved
            scaling = inverse_curvature(problem, _unit(Y), -at.lean * at.scale, curvature)
            memory.scaling[:] = _spread(scaling / reach, Y).reshape(-1)
        if _faded(values, fading):
            break
    return Descent(_unit(Y), value, len(values) - 1, spent, _pull(Y, at, norm))


@dataclass(frozen=True, eq=False)
class _Gradient:
    """∇f(X)·Y = scale·product and ⟨∇f(X), X⟩ = scale·lean: the units of f are in ``scale``, the rest has size one."""

    product: Array
    scale: float
    lean: float


def _gradient(problem: Problem, slope: Any, image: Any, Y: Array, power: float) -> tuple[_Gradient, float]:
    """The gradient at Y, its product multiplied by ``power``, and the products it took."""
    product, scale, cost = _product(problem, slope, Y)
    if power != 1.0:
        product, scale = product * power, scale / power
    return _Gradient(product, scale, problem.lifted.pair(slope, image) / scale), cost


def _first_gradient(problem: Problem, slope: Any, image: Any, Y: Array) -> tuple[_Gradient, float, float]:
    """The gradient where a descent begins, the power of two for all its products, and the products it took.

    Its scale is zero where the data are too small to be multiplied; it is then of no use.
    """
    product, scale, cost = _product(problem, slope, Y)
    power = _power(product)
    product, scale = product * power, scale / power
    lean = problem.lifted.pair(slope, image) / scale if scale != 0.0 else 0.0
    return _Gradient(product, scale, lean), power, cost


def _direction_up(at: _Gradient, Y: Array, norm: float) -> tuple[Array, float]:
    """The gradient 2(product − lean·Y)/‖Y‖² of f(YYᴴ/‖Y‖²) as a vector of norm one, and its norm, less the scale.

    It is made unit in double precision before it is stored like Y: single precision has little room for units of f.
    """
    g = _flat(2.0 / norm * (at.product - at.lean * Y))
    length = float(np.linalg.norm(g.astype(np.float64)))
    if length == 0.0 or not np.isfinite(length):
        return g, length
    return (g / length).astype(_flat(Y).dtype), length


def _scaled_memory(problem: Problem, Y: Array, at: _Gradient, curvature: float) -> tuple[LimitedMemory, float]:
    """A quasi-Newton memory whose diagonal scaling is at most one, and the factor that was taken out of it."""
    scaling = inverse_curvature(problem, _unit(Y), -at.lean * at.scale, curvature)
    reach = float(scaling.max())
    # a sparse objective's kernels are loaded anyway
    sparse = problem.facts.single and not problem.facts.held
    return LimitedMemory(_spread(scaling / reach, Y), _HISTORY, compiled=sparse), reach


def _faded(values: list[float], fading: float) -> bool:
    """Whether the last steps gained less than a share ``fading`` of the mean step, or the last one only rounding."""
    done, value = len(values) - 1, values[-1]
    if done >= _LEAST and values[-1 - _LEAST] - value <= fading * (values[0] - value) * _LEAST / done:
        return True
    return values[-2] - value <= 1e-15 * abs(value)


def _stored(problem: Problem, Y: Array, image: Any, near: tuple[float, float] | None) -> tuple[Array, Any, float, Any]:
    """A copy of Y to write to, in single precision where that does no harm, with its image, value and slope."""
    lifted, ones = problem.lifted, np.ones(Y.shape[1])
    if near is not None:
        rounded: Array = np.array(Y, dtype={"f": np.float32, "c": np.complex64}[Y.dtype.kind], order="C")
        there = lifted.measure(rounded, ones / _square(rounded), rounded)
        value, slope = lifted.evaluate(there)
        if abs(value - near[0]) <= near[1]:
            return rounded, there, value, slope
    Y = np.array(Y, order="C")
    if image is None:
        image = lifted.measure(Y, ones / _square(Y), Y)
    return (Y, image, *lifted.evaluate(image))


def _search(
    problem: Problem, Y: Array, ahead: Array, d: Array, value: float, fall: float, norm: float, ones: Array
) -> tuple[float, Any, Any, float, float] | None:
    """Value, image, slope, ‖ahead‖² and the share of d taken: all of it unless f would not fall enough."""
    lifted, share = problem.lifted, 1.0
    for _ in range(_TRIALS):
        reached, slope, image = np.inf, None, None
        if 0.0 < norm < np.inf:  # else it went beyond the range of floating point: come back
            image = lifted.measure(ahead, ones / norm, ahead)
            with suppress(NotFinite):  # beyond the edge of where f is defined: come back
                reached, slope = lifted.evaluate(image)
        if reached <= value + 1e-4 * fall:
            return float(reached), image, slope, norm, share
        excess = reached - value - fall
        cut = min(max(-0.5 * fall / excess, 0.1), 0.5) if np.isfinite(excess) and excess > 0 else 0.1
        share, fall = share * cut, fall * cut
        d *= np.float32(cut)
        _flat(ahead)[:] = _flat(Y) + d
        norm = _square(ahead)
    return None


def _product(problem: Problem, slope: Any, Y: Array) -> tuple[Array, float, float]:
    """∇f·Y without its scale, the scale, and the products it took."""
    operator = problem.lifted.gradient(slope)
    product, scale = operator.unscaled(Y)
    return product, scale, operator.products


def _power(product: Array) -> float:
    """The power of two that brings a product to size one where it is far from it; one elsewhere."""
    exponent = int(np.frexp(np.abs(product).max(initial=0.0))[1])
    return 1.0 if abs(exponent) < 60 else 2.0 ** -max(-1000, min(1000, exponent))


def _pull(Y: Array, at: _Gradient, norm: float) -> Array:
    """Yᴴ(⟨∇f, X⟩ − ∇f)Y for Y made unit."""
    wide = Y.astype(np.complex128 if Y.dtype.kind == "c" else np.float64)
    return np.asarray(at.scale / norm * (dagger(wide) @ (at.lean * wide - at.product)))


def _flat(Y: Array) -> Array:
    """All real numbers of Y, as one vector that shares its memory."""
    return Y.reshape(-1).view(Y.real.dtype)


def _square(Y: Array) -> float:
    """‖Y‖², summed in double."""
    wide = _flat(Y).astype(np.float64)
    return float(wide @ wide)


def _spread(scaling: Array, Y: Array) -> Array:
    """The same number for the real and the imaginary part."""
    return np.repeat(scaling, 2, axis=1) if Y.dtype.kind == "c" else scaling


def _unit(Y: Array) -> Array:
    wide = Y.astype(np.complex128 if Y.dtype.kind == "c" else np.float64)
    return wide / np.linalg.norm(wide)
