"""Penalized: minimise ℓ(Z) + λ‖Z‖_* (or ℓ(X) + λ tr X over X ⪰ 0), a Problem like any other; and its twin on a ball."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .certificates.judged import inside
from .checks import not_tiny, number
from .domains.charged import tilted
from .domains.penalties import NuclearPenalty, TracePenalty
from .domains.protocol import Domain
from .domains.sets import LEAST, NuclearBall, TraceBall
from .eigen.leading import leading
from .losses.curves import NotFinite
from .objectives import Objective
from .objectives.facts import facts_of
from .problem import Problem, require_objective
from .rounding import of_sum

#: The least λ: no price has lost digits to underflow.
LEAST_PRICE = float(np.finfo(np.float64).tiny)


class Penalized(Problem):
    """Minimise an objective plus λ times the nuclear norm, the usual form of nuclear-norm regularisation.

    Parameters
    ----------
    objective : anything that ``Problem`` takes.
    lam : λ > 0. From σ₁ of the gradient at zero on, the solution is zero.
    psd : minimise over X ⪰ 0 and charge λ·tr X instead; the objective must then be about Hermitian matrices.
    bound : a nuclear norm (trace) that no solution exceeds. By default (ℓ + λ‖·‖_* at a good rank-one − inf ℓ)/λ, from
        the conjugate of the loss or from ``lower`` (``Smooth``); an objective with neither needs it told. It steers the
        methods, which look no further; certificates never use it, so one that is too small shows as a gap that stays.

    Lower bounds come from the conjugate of the loss, or from ``lower``. A function with neither has none, and its
    certificate says so.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> problem = sx.Penalized(sx.Distance(np.diag([3.0, 1.0])), 2.0)
    >>> print(sx.solve(problem).X.dense().round(6))
    [[1. 0.]
     [0. 0.]]
    """

    def __init__(self, objective: Objective, lam: float, *, psd: bool = False, bound: float | None = None) -> None:
        require_objective("Penalized", objective)
        lam = not_tiny("Penalized", "lam", number("Penalized", "lam", lam, positive=True), LEAST_PRICE)
        m, n = objective.shape
        if psd and m != n:
            raise ValueError(f"Penalized: psd=True is about square matrices, but the objective's are {m}×{n}.")
        require_hermitian = facts_of(objective).require_hermitian
        if psd and require_hermitian is not None:
            require_hermitian()
        if bound is None:
            bound = norm_bound(objective, lam, psd)
            if bound is None:
                raise ValueError(
                    f"Penalized: {type(objective).__name__} does not know how small it can get (it has no conjugate "
                    "and no lower=); pass bound=, a nuclear norm that no solution exceeds, or say lower= to Smooth."
                )
        bound = max(number("Penalized", "bound", bound, positive=True), LEAST)  # a larger one is a bound, too
        penalty: Domain = TracePenalty(m, lam, bound) if psd else NuclearPenalty((m, n), lam, bound)
        super().__init__(objective, penalty)

    @property
    def lam(self) -> float:
        return self.domain.lam

    @property
    def psd(self) -> bool:
        return bool(self.domain.hermitian)

    def __repr__(self) -> str:
        price = "trace" if self.psd else "nuclear norm"
        return f"Penalized(minimise {self.objective!r} + {self.lam:g} · {price})"


def counterpart(problem: Problem, X: Any) -> Problem:
    """The other form of the same problem, given a solution X: penalised for a ball, a ball for penalised.

    The solution of ``Penalized(objective, λ)`` also solves the ball of radius ‖X‖_*, and that of a ball solves the
    penalised problem with λ = σ₁ of the gradient there (λ_max of minus the gradient on a ``TraceBall``). Exact for an
    exact solution; from a solution with a gap the number is as good as that.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"counterpart: the problem must be a Problem or Penalized, got {type(problem).__name__}.")
    objective, domain = problem.objective, problem.domain
    factors = inside("counterpart", problem, X)
    if isinstance(problem, Penalized):
        size = float(domain.lower(domain.raised(factors)).triple()[1].sum())
        if size == 0.0:
            raise ValueError("counterpart: X is zero, and a ball has a positive radius; choose a smaller λ.")
        return Problem(objective, TraceBall(domain.shape[0], size) if problem.psd else NuclearBall(domain.shape, size))
    if not isinstance(domain, NuclearBall | TraceBall):
        raise ValueError(f"counterpart: {domain} has no penalised form; use NuclearBall or TraceBall.")
    lam = largest(objective, objective.measure(*factors.at(problem.place).triple()), domain.hermitian)
    if not lam > 0.0:
        raise ValueError("counterpart: the gradient at X has no positive singular value, so the ball does not bind.")
    return Penalized(objective, lam, psd=domain.hermitian)


def unit_ball(objective: Objective, psd: bool) -> Problem:
    """The objective on the ball of size one: −𝒜*(y) upstairs then has the largest eigenvalue σ₁(𝒜*y) itself."""
    return Problem(objective, TraceBall(objective.shape[0], 1.0) if psd else NuclearBall(objective.shape, 1.0))


def largest(objective: Objective, image: Any, psd: bool = False) -> float:
    """σ₁ of the gradient at an image (or max(0, λ_max) of minus the gradient): an estimate to six digits."""
    operator = unit_ball(objective, psd).lifted.pull(objective.evaluate(image)[1])
    return leading(operator, accuracy=lambda top: 1e-6 * top, rng=np.random.default_rng(0), careful=True).value


def zero_image(objective: Objective) -> Any:
    """The image of Z = 0."""
    place, (m, n), kind = facts_of(objective).place, objective.shape, objective.dtype
    left, right = place.axis(slice(0, m), 0, kind), place.axis(slice(m, m + n), 0, kind)
    return objective.measure(left, np.zeros(1), right)


def infimum(objective: Objective) -> float | None:
    """inf ℓ = −ℓ*(0), where the loss has a conjugate that can be believed; else what the objective says (``lower``)."""
    facts, (value, slope) = facts_of(objective), objective.evaluate(zero_image(objective))
    if facts.conjugate is None:
        return facts.lower
    conjugate = facts.conjugate(slope)
    # a value that is itself a minimum, found to some accuracy, proves nothing about a conjugate
    if not facts.inexact and not abs(value + conjugate.at(1.0)) <= 1e-7 * (abs(value) + conjugate.size):
        return facts.lower
    return -float(conjugate.at(0.0))


_FAR = 1e6  # a solution larger than this times the best rank-one is not looked for


def norm_bound(objective: Objective, lam: float, psd: bool) -> float | None:
    """A bound T for the methods to search in; None where nothing is known of inf ℓ.

    λ‖Z*‖ ≤ p(Z) − inf ℓ for every Z: for the best multiple of the leading rank-one of the gradient at zero, and for a Z
    that fits all data (``fitted``), whose norm alone is then T. Where λ is tiny p(Z) − inf ℓ is mostly rounding.
    """
    zero = zero_image(objective)
    value, slope = objective.evaluate(zero)
    if not math.isfinite(value):
        bound = _away_from_zero(objective, lam, psd)
        if bound is None:
            raise ValueError(f"Penalized: the objective is {value} at zero; run spectraplex.check on it.")
        return rounded_up(bound)
    least = infimum(objective)
    if least is None:
        return None
    unit = unit_ball(objective, psd).lifted
    found = leading(unit.pull(slope), accuracy=_tenth, rng=np.random.default_rng(0), max_products=30.0)
    column = found.vector
    limit = min((value - least) / lam if value > least else 0.0, 1e150)
    curve = tilted(objective.along(zero, unit.measure(column, np.ones(1), column)), 0.0, lam)
    try:
        size = curve.minimize(limit) if limit > 0.0 else 0.0
        better = min(curve.value(size), value)
    except NotFinite:
        size, better = 0.0, value
    facts = facts_of(objective)
    rounding = of_sum(facts.images.count(slope)) * (abs(value) + abs(least) + lam * size)
    bounds = [(max(better - least, 0.0) + rounding) / lam]
    if facts.fitted is not None:
        bounds.append(facts.fitted(psd))
    if size > 0.0:
        bounds.append(_FAR * size)
    bound = min(each for each in bounds if not math.isnan(each))
    return rounded_up(bound) if bound > 0.0 else 1.0  # zero: any size will do


def _away_from_zero(objective: Objective, lam: float, psd: bool) -> float | None:
    """The same for a loss that is not finite at zero, from multiples of a matrix where it is; None without one."""
    facts = facts_of(objective)
    start = None if facts.start is None else facts.start(unit_ball(objective, psd).domain)
    if start is None or facts.conjugate is None:
        return None
    image = objective.measure(*start.at(facts.place).triple())
    conjugate = facts.conjugate(objective.evaluate(image)[1])
    if conjugate.scale is not None:  # −N ln t + λt‖Z‖ is least where ‖tZ‖ = N/λ, along every ray
        return float(conjugate.scale(lam))
    sizes = 10.0 ** np.arange(-12.0, 13.0)
    values = [objective.evaluate(objective.combine(size, image, 0.0, image))[0] + lam * size for size in sizes]
    least = -float(conjugate.at(0.0))
    return (min(values) - least) / lam if math.isfinite(least) else None


def _tenth(top: float) -> float:
    return 0.1 * top


def rounded_up(size: float) -> float:
    """To two digits, so that the bound does not hang on the last bit of a sum; of a size that can be squared."""
    size = min(max(size, 1e-150), 1e150)
    unit = 10.0 ** (math.floor(math.log10(size)) - 1)
    return math.ceil(size / unit + 1e-6) * unit
