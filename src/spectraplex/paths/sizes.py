"""Which sizes (radii or λs) a path visits: those asked for, a geometric progression, or steps that fit a promise."""

from __future__ import annotations

import math

import numpy as np

from ..checks import not_tiny
from ..domains.sets import LEAST
from ..eigen.leading import leading
from ..penalized import LEAST_PRICE, Penalized, largest, unit_ball, zero_image
from ..places.numpy import Array
from ..problem import Problem


def distance(first: float, second: float) -> float:
    """Between two sizes, in logarithms."""
    return abs(math.log(second / first))


def next_size(here: float, end: float, width: float) -> float:
    """Where to solve next: what is left is cut in equal parts of about ``width``, at most 64 of them.

    In equal parts, because a short last step would cost as much as a long one.
    """
    left = distance(here, end)
    parts = max(1, math.ceil(left / max(width, left / 64) - 1e-9))
    return end if parts == 1 else here * (end / here) ** (1 / parts)


def next_width(taken: float, inserted: int, worst: float) -> float:
    """How wide the next step may be after one of width ``taken`` whose gap came to a share ``worst`` of the promise.

    Gaps grow like the square of the width. Where solutions had to be inserted the step was too wide, and the next one
    is a little less than what they left; too wide a step costs nothing, since its end is a point of the path anyway.
    """
    factor = 0.7 if inserted else min(3.0, 0.9 / math.sqrt(max(worst, 0.1)))
    return factor * taken / (1 + inserted)


def auto_sizes(problem: Problem, count: int) -> Array:
    """Sizes in geometric progression, from where something begins to happen to the problem's own."""
    objective, domain = problem.objective, problem.domain
    zero = zero_image(objective)
    if isinstance(problem, Penalized):
        # the estimate is good to six digits; a little more, so that zero is the solution
        start, end = max((1 + 2e-6) * largest(objective, zero, problem.psd), problem.lam), problem.lam
    else:
        end = domain.size
        lifted = unit_ball(objective, domain.hermitian).lifted
        pull = lifted.pull(objective.evaluate(zero)[1])
        vector = leading(pull, accuracy=lambda top: 0.1 * top, rng=np.random.default_rng(0), max_products=30.0).vector
        alone = objective.along(zero, lifted.measure(vector, np.ones(1), vector)).minimize(end)
        start = min(max(min(float(alone), 0.5 * end) or 0.5 * end, LEAST), end)
    return np.clip(np.geomspace(start, end, count), min(start, end), max(start, end)) if count > 1 else np.array([end])


def sorted_sizes(sizes: Array, penalized: bool) -> Array:
    """Each once, smallest radius or largest λ first."""
    if sizes.size == 0:
        raise ValueError("path: radii is empty; give at least one, or 'auto'.")
    if sizes.dtype.kind == "c" or not (sizes > 0).all():
        place = int(np.argmin(sizes.real > 0)) if sizes.dtype.kind != "c" else 0
        raise ValueError(f"path: radii[{place}] is {sizes[place]}; a radius (or λ) is positive.")
    found = np.unique(sizes)
    not_tiny("path", "λ" if penalized else "the radius", float(found[0]), LEAST_PRICE if penalized else LEAST)
    return found[::-1] if penalized else found
