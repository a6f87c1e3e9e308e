"""The list of classes: those of ``cases``, estimators' objectives, problems built backwards, large ones, a solver's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import spectraplex as sx
from problems import completion as backward_completion
from problems import dual_ball, random_known
from spectraplex import losses
from spectraplex.objectives.implicit import Implicit
from spectraplex.objectives.intercepts import Intercepts

from . import cases
from .cases import Case, Rng, case_of, draw, heavy, pick, placed, problem_of, shape_of, sized, spectral
from .exact import Logistic, Separable
from .pairs import pairs

LIMITS = ("trace ball", "ball", "penalty", "trace penalty")  # the kinds that have a path
PRICES = ("penalty", "trace penalty")


def small_price(rng: Rng) -> Case:
    """λ from 10⁻³⁰⁰ of the largest singular value up, on tiny matrices: where a bound on ‖Z‖ cancels."""
    kind = pick(rng, *PRICES)
    shape = (1, 1) if kind == "trace penalty" and rng.integers(2) else shape_of(rng, kind, 3)
    A, b, flavour = spectral(rng, kind, shape)
    if flavour == "plain" and A.size == 1:
        A = b = np.array([[float(rng.uniform(0.5, 5))]])
    b = b.ravel()
    size = float(np.abs(b).max()) * 10.0 ** -(rng.uniform(0, 20) if rng.integers(4) else rng.uniform(20, 300)) or 1.0
    objective: Any = sx.Distance(sp.csr_array(A) if rng.integers(2) else A)
    if rng.integers(2):
        rows, cols = (index.ravel() for index in np.indices(shape))
        objective = sx.Completion(rows, cols, A.ravel(), shape)
    return case_of(rng, Separable.of(kind, b.tolist()), objective, min(max(size, 5e-324), 1e150), flavour)


def logistic(rng: Rng, kinds: tuple[str, ...] = LIMITS) -> Case:
    """Labels on a diagonal; a matrix ⪰ 0 can only meet those of +1."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind)
    count = int(rng.integers(1, min(shape) + 1))
    labels = rng.choice([-1.0, 1.0], count)
    weights = heavy(rng, count)
    w = np.ones(count) if weights is None else weights
    met = np.full(count, True) if kind in ("ball", "penalty") else labels > 0
    exact = Logistic(kind, tuple(map(Fraction, w[met].tolist())), sum(map(Fraction, w[~met].tolist()), Fraction(0)))
    size, word = sized(rng, kind, 0.5 * w if kind in PRICES else np.full(count, 3.0))
    size = size if kind in PRICES else min(size, 100.0 * count)  # exp(−size) is a number still
    given = labels if rng.integers(2) or (labels < 0).all() else (labels + 1) / 2
    where = placed(rng, kind, shape, count)
    objective: Any = sx.Completion(*where, given, shape, "logistic", weights=weights)
    if kind in ("ball", "penalty") and rng.integers(3) == 0:
        objective = Intercepts(*where, labels, shape, losses.Logistic(), weights=weights)
        if rng.integers(2):
            objective, exact = Implicit(objective, 0.75), replace(exact, stretch=Fraction(5, 4))
    return case_of(rng, exact, objective, size, word)


def intercepts(rng: Rng, implicit: bool = False, kinds: tuple[str, ...] = ("ball", "penalty")) -> Case:
    """One observation a row and a column: intercepts, scales and what is implicit change only weights and sizes."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind, 6)
    count = int(rng.integers(1, min(shape) + 1))
    b, flavour = draw(rng, count, whole=False)
    rows, cols = placed(rng, kind, shape, count)
    weights, offset = heavy(rng, count), pick(rng, 0.0, float(b[0]), 0.25)
    scales = pick(rng, None, (rng.choice([0.5, 1.0, 3.0], shape[0]), rng.choice([0.25, 1.0, 1.5], shape[1])))
    ridges = pick(rng, None, (1.5, 0.75), tuple((10.0 ** rng.uniform(-4, 4, 2)).tolist()))
    top = float(np.abs(b - offset).max()) or 1.0
    delta = pick(rng, None, max(top * rng.uniform(0.05, 1.2), 1e-300))
    s = [Fraction(1)] * count
    if scales is not None:
        s = [Fraction(scales[0][i]) * Fraction(scales[1][j]) for i, j in zip(rows, cols, strict=True)]
    twice = bool(rng.integers(4) == 0)  # every observation comes twice: double weights
    w = [Fraction(1 + twice) * (1 if weights is None else Fraction(weights[i])) for i in range(count)]
    targets = [Fraction(x) - Fraction(offset) for x in b.tolist()]
    exact = Separable.of(kind, targets, w, None if delta is None else [delta] * count)
    exact = exact if ridges is None else exact.behind_ridges(*ridges)
    # what is observed is s·W: ½w(sW − b)² = ½ws²(W − b/s)²
    scaled = [x / y for x, y in zip(exact.targets, s, strict=True)]
    inside = [None if d is None else d / y for d, y in zip(exact.deltas, s, strict=True)]
    exact = Separable.of(kind, scaled, [x * y * y for x, y in zip(exact.weights, s, strict=True)], inside)
    strength, stretch = pick(rng, (0.75, Fraction(5, 4)), (1.875, Fraction(17, 8)))  # √(1 + strength²) is rational
    exact = Separable(kind, exact.targets, exact.weights, exact.deltas, stretch) if implicit else exact
    size, word = sized(rng, kind, np.array([float(x) for x in exact.targets]), [float(x) for x in exact.weights])
    times = 1 + twice
    loss: Any = losses.Squared() if delta is None else losses.Huber(delta)
    given = None if weights is None else np.tile(weights, times)
    told: dict[str, Any] = dict(weights=given, offset=offset, ridges=ridges, scales=scales)
    where = (np.tile(rows, times), np.tile(cols, times), np.tile(b, times))
    objective: Any = Intercepts(*where, shape, loss, **told)
    words = f"{flavour}, {word}, {loss!r}, ridges {ridges}, offset {offset!r}"
    case = case_of(rng, exact, Implicit(objective, strength) if implicit else objective, size, words)
    whole = sum(float(x) * min(abs(y) + abs(offset), 1e150) ** 2 for x, y in zip(w, b.tolist(), strict=True))
    return replace(case, terms=max(case.terms, whole))  # what is observed and the offset may cancel


def backwards(rng: Rng) -> Case:
    """Built from a primal-dual pair: any rank, any loss, full matrices. Known to rounding: 10⁻¹¹ of the terms."""
    if rng.integers(3):
        known = random_known(int(rng.integers(2**31)))
        problem, optimum = known.problem, known.optimum
    else:  # the slope at Z is −λ on its own singular pairs, so Z solves the penalised problem
        complex_, shape = bool(rng.integers(2)), (int(rng.integers(2, 7)), int(rng.integers(2, 7)))
        Z, N = dual_ball(rng, shape, int(rng.integers(1, min(shape) + 1)), rng.uniform(0.5, 5.0), complex_)
        loss = pick(rng, "squared", "huber", *(() if complex_ else ("logistic",)))
        lam, norm = float(np.linalg.norm(N, 2)), float(np.linalg.svd(Z, compute_uv=False).sum())
        known = backward_completion(rng, Z, N, sx.NuclearBall(shape, 2 * norm), loss, complex_)
        problem, optimum = sx.Penalized(known.problem.objective, lam), known.optimum + lam * norm
    scale = max(1.0, abs(optimum))
    return Case(problem, Fraction(optimum), 10 * scale, known.name, None, Fraction(1e-11 * scale), portable=False)


def large(rng: Rng) -> Case:
    """Around dimension 400, where proofs by Cholesky end and probable bounds begin."""
    kind = pick(rng, *cases.KINDS)
    d = int(rng.integers(385, 451))
    shape = (d, d) if kind not in ("ball", "penalty") else (d // 2, d - d // 2)
    if rng.integers(2):
        A, b, flavour = spectral(rng, kind, shape)
        objective: Any = sx.Distance(A)
    else:
        b, flavour = draw(rng, min(shape), whole=False)
        objective = sx.Completion(*placed(rng, kind, shape, b.size), b, shape)
    size, word = sized(rng, kind, b)
    return case_of(rng, Separable.of(kind, b.tolist()), objective, size, f"{flavour}, {word}")


class Undecided(Exception):
    """The optimum of a case could not be found out."""


def conic(rng: Rng) -> Case:
    """Tables with holes, solved by a conic solver: known to 10⁻⁶, its own accuracy with room to spare."""
    import cvxpy as cp

    shape, loss = (int(rng.integers(2, 5)), int(rng.integers(2, 5))), pick(rng, "squared", "huber", "logistic")
    seen = rng.random(shape) < 0.7
    seen[0, 0] = True
    B, W = rng.standard_normal(shape) * 2, rng.uniform(0.5, 2.0, shape)
    B = np.sign(B) if loss == "logistic" else B
    rows, cols = np.nonzero(seen)
    Z = cp.Variable(shape)
    residual = cp.multiply(seen, Z - B)
    pay = {"squared": cp.square, "huber": lambda r: cp.huber(r, 0.7), "logistic": cp.logistic}[loss]
    half = 1.0 if loss == "logistic" else 0.5
    inside = cp.multiply(-B, Z) if loss == "logistic" else residual
    f = half * cp.sum(cp.multiply(W * seen, pay(inside)))
    size, kind = float(rng.uniform(0.3, 3.0)), pick(rng, "ball", "penalty")
    whole = f + size * cp.normNuc(Z) if kind == "penalty" else f
    asked = cp.Problem(cp.Minimize(whole), [] if kind == "penalty" else [cp.normNuc(Z) <= size])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimum = float(asked.solve(solver=cp.CLARABEL))
    if asked.status != cp.OPTIMAL:
        raise Undecided(f"the conic solver says {asked.status}")
    told: dict[str, Any] = dict(loss=loss, delta=0.7, weights=W[rows, cols])
    objective = sx.Completion(rows, cols, B[rows, cols], shape, **told)
    problem = problem_of(kind, objective, size, {})
    error = Fraction(1e-6 * max(1.0, abs(optimum)))
    return Case(problem, Fraction(optimum), 100.0, f"{loss}, {kind} {size!r}", None, error, portable=False)


def any_of(*makers: Callable[..., Case]) -> Callable[[Rng], Case]:
    return lambda rng: pick(rng, *makers)(rng)


_PATHS = any_of(
    *(partial(make, kinds=LIMITS) for make in (cases.distance, cases.completion, cases.sensing, logistic)),
    partial(cases.distance, kinds=LIMITS, sparse=True),
    intercepts,
)

#: class → (how often it comes, its maker)
CLASSES: dict[str, tuple[int, Callable[[Rng], Case]]] = {
    "distance": (12, cases.distance),
    "sparse": (8, partial(cases.distance, sparse=True)),
    "completion": (12, cases.completion),
    "full": (6, cases.full),
    "sensing": (10, cases.sensing),
    "logistic": (5, logistic),
    "smooth": (6, cases.smooth),
    "small price": (8, small_price),
    "intercepts": (6, intercepts),
    "implicit": (4, partial(intercepts, implicit=True)),
    "backwards": (8, backwards),
    "certify": (8, any_of(cases.distance, cases.completion, cases.sensing, cases.smooth, logistic)),
    "path": (5, _PATHS),
    "pairs": (6, pairs),
    "large": (1, large),
    "conic": (1, conic),
}


def make(name: str, seed: int) -> Case:
    """The case of a class and a seed."""
    return CLASSES[name][1](np.random.default_rng([*name.encode(), seed]))
