"""The columns of a factor Y with X = YYᴴ: which are worth keeping, and what they ought to weigh.

f changes by second order when a light column goes, the gap by first order. So a column that is dying goes at the
*beginning* of a step, where a descent follows that makes good for it; at the end only what changes nothing goes.

f(YYᴴ) is quartic in the length of a column, so in a descent a light one grows (or dies) by a factor of only
1 + excess/λ a step, where λ is the multiplier of the trace constraint and the excess is vᴴ(⟨∇f, X⟩ − ∇f)v for the unit
vector v of the column; the same holds for every other v inside the span of the columns. The leading ones there, which
the gap hangs on, take Frank-Wolfe steps: a line search along vvᴴ − X is as convex as f, costs no product, since the
descent knows Yᴴ∇fY at its end, and adds no column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..places.numpy import Array, dagger
from ..places.protocol import Block
from ..problem import Point, Problem

_GONE = 1e-11  # weights up to here times the largest are not worth a column
_DYING = 1e-3  # a weight up to here times the mean may be dropped if that costs next to nothing
_LIGHTEST = 1e-4  # the same for atoms in single precision: descents are brief there, and such a column may yet grow
_COST = 0.01  # what dropping may cost at the beginning of a step, as a share of what the last one gained
_QUIET = 1e-4  # how far the loss may see it move X at the end of a step, as a share of what the step gained
_FEW = 6  # most line searches inside the span: twice as many save nothing, half as many cost a tenth more products
_DEAR = 1  # the same where every look along a line is a call of somebody's own function
_SOME = 0.02  # share of the largest excess from which directions are balanced all at once


def light(problem: Problem, atoms: Atoms) -> bool:
    """Whether these atoms are kept in single precision."""
    return problem.place.kind(atoms.buffer.block).itemsize < np.dtype(problem.dtype).itemsize


def shed(problem: Problem, point: Point, gain: float) -> Point:
    """Without the columns that are dying, if that costs next to nothing beside what the last step gained."""
    part = _without_dying(problem, point)
    return part if part.value <= point.value + _COST * gain else point


def compress(
    problem: Problem, Y: Block, start: float, pull: Array | None = None, worth: float = 0.0, single: bool = False
) -> Point:
    """X = YYᴴ with orthogonal columns, measured afresh: never any drift.

    Rotating Y by the eigenvectors of YᴴY loses nothing, however small a weight is. ``pull`` is Yᴴ(⟨∇f, X⟩ − ∇f)Y: with
    it the weights are balanced where the excess is above ``worth``. ``start`` is the value that the step began with.
    ``single`` keeps the columns in single precision: X is then what they make, and is measured in double.
    """
    place = problem.place
    turn = place.eigh(place.gram(Y, Y))[1][:, ::-1]
    Y = place.turned(Y, turn)
    if single:
        Y = place.cast(Y, _single(place.kind(Y)))
    weights = place.dots(Y, Y)
    kept = weights > _GONE * weights.max()
    if not kept.all():
        Y, turn, weights = place.columns(Y, kept), turn[:, kept], weights[kept]
    whole = problem.point(Atoms.of(Y, weights, place))
    if pull is not None:
        root = np.sqrt(weights)
        del Y
        whole = _balance(problem, whole, dagger(turn) @ pull @ turn / np.outer(root, root), worth)
    part, lifted = _without_dying(problem, whole), problem.lifted
    if part is whole:
        return whole
    # f(part) − f(whole) − ⟨∇f(whole), part − whole⟩ ≥ 0: half the square of how far the slope moves, for a squared loss
    moved = part.value - whole.value - lifted.pair(whole.slope, lifted.combine(1.0, part.image, -1.0, whole.image))
    return part if moved <= _QUIET * (start - whole.value) and part.value <= start else whole


def _single(kind: np.dtype[Any]) -> type:
    return np.complex64 if kind.kind == "c" else np.float32


def _without_dying(problem: Problem, point: Point) -> Point:
    weights, many = point.atoms.weights, light(problem, point.atoms)
    some = weights > (_LIGHTEST if many else _DYING) * weights.mean()
    if some.all():
        return point
    place, lifted, vectors = problem.place, problem.lifted, point.atoms.vectors
    atoms, share = Atoms.of(place.columns(vectors, some), weights[some], place), weights[~some].sum()
    try:
        if not many or 2 * some.sum() < some.size or not share > _GONE:
            return problem.point(atoms)
        # X without share·D, made of trace one again, is X + share/(1 − share)·(X − D): only D is measured
        gone = place.columns(vectors, ~some)
        dz = lifted.combine(1.0, point.image, -1.0, lifted.measure(gone, weights[~some] / share, gone))
        return problem.ahead(point, atoms, dz, share / (1.0 - share))
    except NotFinite:  # f is not defined without them
        return point


def _leaders(problem: Problem, values: Array, turn: Array, worth: float, together: bool) -> list[tuple[Array, Array]]:
    """Directions inside the span, with shares: the leading ones one after the other, or all together.

    Where there are hundreds, one line search along all of them, in proportion to their excess, does more than six.
    """
    if together:
        some = values > max(worth, _SOME * float(values[-1]))
        return [(turn[:, some], values[some] / values[some].sum())] if some.any() else []
    few = _FEW if problem.facts.conjugate is not None else _DEAR
    leading = turn[:, values > worth][:, : -few - 1 : -1]
    return [(u[:, None], np.ones(1)) for u in leading.T]


def _balance(problem: Problem, point: Point, excess: Array, worth: float) -> Point:
    """Frank-Wolfe steps towards the leading eigenvectors of ⟨∇f, X⟩ − ∇f inside the span of the columns.

    ``excess`` is that matrix in the coordinates of the (orthonormal) columns.
    """
    values, turn = problem.place.eigh(excess)
    place, lifted, image = problem.place, problem.lifted, point.image
    V, X = point.atoms.vectors, np.diag(point.atoms.weights).astype(turn.dtype)
    for u, shares in _leaders(problem, values, turn, worth, light(problem, point.atoms)):
        there = place.turned(V, u)
        dz = lifted.combine(1.0, lifted.measure(there, shares, there), -1.0, image)
        size = lifted.along(image, dz).minimize(1.0)
        X = (1.0 - size) * X + size * (u * shares) @ dagger(u)
        image = lifted.combine(1.0, image, size, dz)  # that of V X Vᴴ
    if image is point.image:
        return point
    del image, dz, there  # as long as the data
    weights, turn = place.eigh(X)
    kept = weights > _GONE * weights.max()
    turned = place.turned(V, turn[:, kept][:, ::-1])
    del V  # as tall as what comes
    try:
        new = problem.point(Atoms.of(turned, weights[kept][::-1], place))
    except NotFinite:  # the edge of where f is defined is nearer than rounding
        return point
    return new if new.value <= point.value else point
