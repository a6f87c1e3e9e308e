"""path: one solution after the other along the radius (or λ), each started from the one before, each certified.

With ``gap=ε`` the radii choose themselves, so that *every* radius of a range has a certified answer: see proof.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..checks import chance, number, numbers, whole
from ..domains.sets import NuclearBall, TraceBall
from ..observers import Observer
from ..penalized import Penalized
from ..problem import Problem
from ..stop import Stop
from .family import Family
from .proof import Promise
from .sizes import auto_sizes, sorted_sizes
from .solutions import Path
from .walker import Walk

_SMALL = 1e-3  # values below this share of the value at zero count as that: no gap is small beside nothing
_FINER = 0.5  # share of the promised gap that a solution itself may use up; the rest is for the width around it


def path(
    problem: Problem,
    radii: Any = "auto",
    *,
    gap: float | None = None,
    count: int = 20,
    stop: Stop | None = None,
    method: Any = "hybrid",
    seed: int = 0,
    observers: Sequence[Observer] = (),
    failure: float = 1e-9,
) -> Path:
    """Solve along the radius of a ball, smallest first, or along λ, largest first; each start is the solution before.

    Parameters
    ----------
    problem : on a ``NuclearBall`` or ``TraceBall``, or ``Penalized``; its own radius (λ) is where "auto" ends.
    radii : the radii (or λs), in any order; or "auto": ``count`` of them in geometric progression. Balls: from the best
        multiple of the leading singular pair of the gradient at zero alone, but at most half of the problem's radius,
        up to that radius. Penalties: from the least λ whose solution is zero down to the problem's λ.
    gap : choose the radii so that *every* radius from the smallest to the largest of ``radii`` has an answer
        (``Path.at``) with a certified gap of at most ``gap`` times its value; likewise every λ.
    stop : when each solve ends; by default at a certified relative gap of 10⁻³. With ``gap`` only its limits count.
        ``max_seconds`` is for the whole path, proofs between the radii included; the first radius is always begun.
    method, seed, observers : as for ``solve``; an observer that returns False ends the path.
    failure : the probability that any bound of the whole path is wrong.

    A gap is measured beside the value, or beside a thousandth of the value at zero where that is larger: where a model
    fits everything, values go to zero and no gap is small beside them.

    Returns
    -------
    Path
        As far as it got: Ctrl-C ends it with the points that are finished.
    """
    family_like = isinstance(problem, Penalized) or (
        isinstance(problem, Problem) and isinstance(problem.domain, NuclearBall | TraceBall)
    )
    if not family_like:
        what = problem.domain if isinstance(problem, Problem) else type(problem).__name__
        raise TypeError(f"path: needs a Problem on a NuclearBall or TraceBall, or a Penalized one, got {what}.")
    count = whole("path", "count", count)
    if stop is not None and not isinstance(stop, Stop):
        raise TypeError(f"path: stop must be a Stop such as Stop(relative_gap=0.01), got {type(stop).__name__}.")
    chance("path", "failure", failure)
    sizes = auto_sizes(problem, count) if isinstance(radii, str) else numbers("path", "radii", radii, ndim=1)
    if isinstance(radii, str) and radii != "auto":
        raise ValueError(f"path: radii must be numbers or 'auto', got {radii!r}.")
    sizes = sorted_sizes(sizes, isinstance(problem, Penalized))
    family = Family.of(problem, float(sizes.min()))
    if gap is None:
        small = _SMALL * abs(family.zero)
        asked = Stop(relative_gap=1e-3, gap=1e-3 * small) if stop is None else stop
        return Walk(family, asked, method, seed, observers, failure).visit(sizes)
    gap = number("path", "gap", gap, positive=True)
    if gap >= 1:
        raise ValueError(f"path: gap is a share of the value, less than one, got {gap!r}.")
    promise = Promise(gap, max(_SMALL * abs(family.zero), family.rounding(float(sizes.max())), 1e-300))
    finer = replace(stop or Stop(), relative_gap=_FINER * gap, gap=_FINER * gap * promise.floor, value=None)
    return Walk(family, finer, method, seed, observers, failure).keep(promise, float(sizes[0]), float(sizes[-1]))
