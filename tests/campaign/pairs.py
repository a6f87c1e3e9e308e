"""Any measurement with any loss, at any scale: no optimum is known, so a second run stands for it.

Another method with another seed gives lower ≤ f* ≤ value: the middle is the optimum, known to half the gap. Then "its
bound is not above f*" says that the lower bound of each run is not above the value of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

import spectraplex as sx
from spectraplex import losses
from spectraplex.losses import LOSSES
from spectraplex.penalized import largest, zero_image

from .cases import Case, Rng, heavy, pick, problem_of

COMPLEX = ("squared", "huber")  # the losses that take complex numbers
COUNTS = ("poisson", "multinomial", "poisson-log")


@dataclass(frozen=True)
class Form:
    """A measurement with numbers of size one where X has size one, and what its X may be."""

    what: Any
    hermitian: bool
    words: str
    negative: bool = False  # whether no X makes all its numbers positive


def form_of(rng: Rng, gain: float, loss: str) -> Form:
    """Vectors and stacks of whole numbers times ``gain``: products of them have the same bits everywhere."""
    d, count, complex_ = int(rng.integers(1, 6)), int(rng.integers(1, 20)), bool(rng.integers(2))

    def whole(*shape: int, complex_: bool = complex_) -> np.ndarray:
        real = rng.integers(-3, 4, shape) + 0.0
        real[..., 0] += real[..., 0] == 0  # no vector of zeros
        return real + 1j * rng.integers(-3, 4, shape) if complex_ else real

    kinds = ("rank-ones", "two sides", "matrices", "sparse", "features", "pairs", "triplets", "entries", "identity")
    kind = pick(rng, *kinds)
    numbers = loss in COMPLEX and complex_  # complex measured numbers, not only complex X
    words = f"{kind}{', complex' if complex_ else ''}"
    n = int(rng.integers(1, 6))
    if kind == "rank-ones":
        return Form(sx.RankOnes(np.sqrt(gain) * whole(count, d)), True, words)
    if kind == "two sides":
        return Form(sx.RankOnes(gain * np.abs(whole(count, d)), np.abs(whole(count, n))), False, kind)
    if kind in ("matrices", "sparse"):
        B = whole(count, d, 2)
        A = gain * (B @ B.conj().swapaxes(1, 2))
        return Form(sx.Matrices(A if kind == "matrices" else [sp.csr_array(each) for each in A]), True, words)
    if kind == "features":
        data = gain * whole(count, d, complex_=numbers)
        data = data if numbers else np.abs(data)
        return Form(sx.Features(sp.csr_array(data) if rng.integers(2) else data, n), False, f"{kind} {data.dtype}")
    if kind in ("pairs", "triplets"):
        points = np.sqrt(gain) * (whole(6, d, complex_=False) / 8 + np.arange(6.0)[:, None])  # no two are equal
        tuples = np.stack([rng.permutation(6)[: 2 if kind == "pairs" else 3] for _ in range(count)])
        return Form(sx.Differences(points, tuples), True, kind, kind == "triplets")
    if kind == "identity":
        return Form(sx.Identity((d, n)), False, kind)
    rows, cols = np.nonzero(rng.random((d, n)) < 0.7)
    rows, cols = (rows, cols) if rows.size else (np.zeros(1, int), np.zeros(1, int))
    diagonal = d == n and rng.integers(2) == 1
    return Form(sx.Entries(*(2 * [np.arange(d)] if diagonal else (rows, cols)), (d, n)), diagonal, kind)


def targets_of(rng: Rng, loss: str, form: Form, typical: float) -> tuple[Any, np.ndarray, int]:
    """The loss with settings, targets for it, and how many weights it takes."""
    count = form.what.size
    if loss in ("hinge", "logistic"):
        kind: Any = LOSSES[loss] if loss == "logistic" else losses.Hinge(pick(rng, 1.0, 1e-3))
        return kind, rng.choice([-1.0, 1.0], count), count
    if loss == "softmax":
        groups = rng.integers(0, 4, count)
        shares = rng.integers(1, 9, count) / 8
        classes = pick(rng, False, True)
        if classes:  # all of a group's share is on its last member
            shares = np.zeros(count)
            shares[[int(np.nonzero(groups == g)[0][-1]) for g in np.unique(groups)]] = 1.0
        return losses.Softmax(groups), shares / np.bincount(groups, shares)[groups], np.unique(groups).size
    if loss in COUNTS:
        counts = rng.poisson(pick(rng, 0.7, 5.0, 1e4), count) + 0.0
        counts[0] += not counts.any()
        known = form.hermitian and getattr(form.what, "positive", False)
        return LOSSES[loss], counts + (loss == "poisson" and not known and not counts.all()), count
    b = typical * rng.standard_normal(count)
    if loss in COMPLEX and not getattr(form.what, "real", False) and rng.integers(2):
        b = b + 1j * typical * rng.standard_normal(count)
    if loss == "huber":
        return losses.Huber(float(typical * pick(rng, 0.1, 1.0))), b, count
    if loss == "quantile":
        return losses.Quantile(pick(rng, 0.1, 0.5, 0.9), float(typical * pick(rng, 1e-3, 0.1))), b, count
    return LOSSES[loss], b, count


def sizes_of(rng: Rng, loss: str) -> tuple[float, float]:
    """What matrices are multiplied with, and the size of X; their product is the size of what is measured."""
    if loss == "poisson-log":  # exp(z) has to be a number
        gain = 10.0 ** rng.uniform(-6, 6)
        return gain, 10.0 ** rng.uniform(-3, 0.5) / gain
    if loss == "poisson":  # means far below the counts, and far above
        gain = 10.0 ** rng.uniform(-6, 6)
        return gain, 10.0 ** rng.uniform(-6, 3) / gain
    free = loss in ("squared", "huber", "quantile", "multinomial")  # no unit of their own
    far = 60 if free and rng.integers(8) == 0 else 6
    return 10.0 ** rng.uniform(-far, far), 10.0 ** rng.uniform(-far, far)


def pairs(rng: Rng) -> Case:
    loss = pick(rng, *LOSSES)
    gain, size = sizes_of(rng, loss)
    form = form_of(rng, gain, loss)
    while form.negative and loss in ("poisson", "multinomial"):
        form = form_of(rng, gain, loss)
    unit = 1.0 if form.words.split(",")[0] in ("entries", "identity") else gain
    if loss in ("poisson", "poisson-log") and unit == 1.0:
        size *= gain
    kind, targets, weighted = targets_of(rng, loss, form, unit * size)
    objective = sx.Fit(form.what, targets, kind, heavy(rng, weighted))
    limits = ("spectrahedron", "trace ball", "trace penalty") if form.hermitian else ("ball", "penalty")
    limit = pick(rng, *limits)
    if "penalty" in limit:
        size = price(rng, objective, size)
    words = f"{loss}, {form.words}, gain {gain:.3g}, {limit} {size!r}"
    return bracketed(problem_of(limit, objective, size, {}), words)


def price(rng: Rng, objective: Any, size: float) -> float:
    """A share of the λ from which zero is the solution; of counts, the λ whose solution has about the size."""
    zero = zero_image(objective)
    if not np.isfinite(objective.evaluate(zero)[0]):
        weights = np.ones(objective.targets.size) if objective.weights is None else objective.weights
        lam = float(weights @ objective.targets) / size
    else:
        lam = (largest(objective, zero) or 1.0) * float(rng.uniform(0.05, 1.2))
    return float(f"{lam:.3g}")  # the same bits everywhere


def bracketed(problem: sx.Problem, words: str) -> Case:
    """The case whose optimum lies between what another run proves and what it reaches."""
    other = sx.solve(problem, "hybrid", sx.Stop(relative_gap=1e-9, max_steps=60), seed=1)
    assert other.status not in (sx.Status.INCONSISTENT, sx.Status.NOT_FINITE), f"{words}: {other.status.name}"
    objective, low = problem.objective, other.lower_bound
    assert np.isfinite(low), f"{words}: nothing certified"
    high = Fraction(other.value) + Fraction(other.certificate.rounding)
    z = objective.measure(*other.X.triple())
    value, slope = objective.evaluate(z)
    reach = objective.reach * float(np.abs(other.X.triple()[1]).sum())  # z may be small where X is large
    terms = abs(value) + abs(other.value) + reach * min(float(np.linalg.norm(slope)) + 1.0, objective.steepest)
    if objective.loss_name in ("poisson", "multinomial"):
        terms = np.inf  # beside the edge rounding decides, and certificates say so
    elif hasattr(objective.loss, "terms"):
        terms += float(objective.loss.terms(slope, objective.targets, objective.weights))
    middle, half = (high + Fraction(low)) / 2, abs(high - Fraction(low)) / 2
    return Case(problem, middle, terms, words, None, half)
