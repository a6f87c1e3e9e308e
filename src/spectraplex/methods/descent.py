"""Local descent on a factor: min f(YYᴴ/‖Y‖²) over all Y, by limited-memory BFGS with a diagonal scaling.

The function does not change along rays, so its gradient 2(∇f·Y − ⟨∇f, X⟩Y)/‖Y‖² is tangent to the sphere by itself and
no retraction or transport is needed. The scaling is the diagonal of the Gauss-Newton Hessian of a squared loss, whose
entry at (i, k) is about (how much row i is observed) · (how much column k weighs), plus the multiplier λ = −⟨∇f, X⟩ of
the trace constraint. With it a descent needs less than half of the evaluations (benchmarks/local.py compares), and
unit steps are nearly always accepted, so a step costs one measurement and one gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..domains.lift import LiftedObjective
from ..losses.curves import NotFinite
from ..places.numpy import Array, dagger
from ..problem import Problem
from .quasi_newton import LimitedMemory

_HISTORY = 6  # pairs kept
_LEAST = 3  # fewest steps of one descent
_REFRESH = 12  # steps between two looks at the scaling
_TRIALS = 25  # most trials of one step
_HUGE = 1e290  # a curvature beyond this is no curvature
_FLOOR = 1e-3  # smallest curvature in the scaling, as a share of the largest


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


def inverse_curvature(problem: Problem, Y: Array, multiplier: float, curvature: float) -> Array:
    """The diagonal scaling at Y; ``curvature`` is the mean one of the loss, for objectives that cannot say more."""
    lifted, objective = block_of(problem), problem.objective
    m, n = objective.shape
    if not float(curvature) * m * n * lifted.scale**2 < _HUGE:  # of a step that cancelled to nothing
        curvature = 0.0
    rows, cols = objective.coverage if hasattr(objective, "coverage") else (np.full(m, curvature * n), None)
    cols = np.full(n, curvature * m) if cols is None else cols
    total = max(float(rows.sum()), np.finfo(float).tiny)
    squares = np.abs(Y) ** 2
    bend = np.zeros(Y.shape)
    bend[lifted.left] += np.outer(rows, (cols / total) @ squares[lifted.right])
    bend[lifted.right] += np.outer(cols, (rows / total) @ squares[lifted.left])
    bend *= lifted.scale**2
    floor = max(multiplier, _FLOOR * float(bend.max()))
    whole = bend + (floor if floor > 0.0 else abs(multiplier) or 1.0)  # a loss may be linear
    return np.asarray(0.5 / np.maximum(whole, 1e-290))


def block_of(problem: Problem) -> LiftedObjective:
    """Where the matrix that the user sees lies upstairs; a penalty has it where its ball has."""
    return cast(LiftedObjective, getattr(problem.lifted, "ball", problem.lifted))


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
    lifted, ones = problem.lifted, np.ones(Y.shape[1])
    Y, image, value, slope = _stored(problem, Y, image, near if single else None)
    ahead, norm = np.empty_like(Y), _square(Y)
    product, scale, spent = _product(problem, slope, Y)
    power = _power(product)
    product, scale = product * power, scale / power
    if scale == 0.0:  # data below what can be multiplied
        return Descent(_unit(Y), value, 0, spent, np.zeros((Y.shape[1], Y.shape[1])))
    lean = lifted.pair(slope, image) / scale
    g = _flat(2.0 / norm * (product - lean * Y))
    unit = float(np.linalg.norm(g.astype(np.float64)))
    if unit == 0.0 or not np.isfinite(unit) or not np.isfinite(unit * scale):
        return Descent(_unit(Y), value, 0, spent, _pull(Y, product, lean, scale / norm))
    g = (g / unit).astype(_flat(Y).dtype)  # single precision has little room for the units of f
    unit *= scale
    scaling = inverse_curvature(problem, _unit(Y), -lean * scale, curvature)
    reach = float(scaling.max())
    # a sparse objective's kernels are loaded anyway
    sparse = getattr(problem.objective, "single", False) and not getattr(problem.objective, "held", 0)
    memory = LimitedMemory(_spread(scaling / reach, Y), _HISTORY, compiled=sparse)
    first = memory.factor = unit * reach
    values = [value]
    while len(values) <= most:
        d, fall, length, beyond = memory.direction(g, _flat(Y), _flat(ahead))
        found = _search(problem, Y, ahead, d, value, unit * fall, beyond, ones) if fall < 0.0 else None
        if found is None:
            if not memory.slots:
                break
            memory.forget()
            memory.factor = first
            continue
        value, image, slope, norm, share = found
        product, scale, cost = _product(problem, slope, ahead)
        product, scale = (product, scale) if power == 1.0 else (product * power, scale / power)
        spent += cost
        lean = lifted.pair(slope, image) / scale
        memory.turn(_flat(product), _flat(ahead), lean, 2.0 * scale / (norm * unit), g, share * float(np.sqrt(length)))
        Y, ahead = ahead, Y
        values.append(value)
        done = len(values) - 1
        if done % _REFRESH == 0:  # the weights of the columns have moved
            scaling = inverse_curvature(problem, _unit(Y), -lean * scale, curvature)
            memory.scaling[:] = _spread(scaling / reach, Y).reshape(-1)
        if done >= _LEAST and values[-1 - _LEAST] - value <= fading * (values[0] - value) * _LEAST / done:
            break
        if values[-2] - value <= 1e-15 * abs(value):
            break
    return Descent(_unit(Y), value, len(values) - 1, spent, _pull(Y, product, lean, scale / norm))


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
        image = lifted.measure(ahead, ones / norm, ahead)
        try:
            reached, slope = lifted.evaluate(image)
        except NotFinite:  # beyond the edge of where f is defined: come back
            reached, slope = np.inf, None
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


def _pull(Y: Array, product: Array, lean: float, factor: float) -> Array:
    """Yᴴ(⟨∇f, X⟩ − ∇f)Y for Y made unit."""
    wide = Y.astype(np.complex128 if Y.dtype.kind == "c" else np.float64)
    return np.asarray(factor * (dagger(wide) @ (lean * wide - product)))


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
