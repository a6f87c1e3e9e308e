"""Numbers that are ≥ λ_max, and say how true that is. A Ritz value never is one: it lies below.

*Proven*: μI − A has a Cholesky factor, with a margin for rounding, so λ_max(A) ≤ μ (dense, moderate dimension).
*Probable*: k steps of Lanczos with full reorthogonalisation from a uniformly random start, drawn independently of A.
With Ritz values θⱼ and off-diagonals b₁ … b_k (the last one included), |Π(λ_max − θⱼ)|·τ ≤ Πbⱼ whenever the start
has an inner product ≥ τ with the leading eigenvector; τ = δ√(π/(2d)) (real) or √(δ/d) (complex) does with
probability 1 − δ. So λ_max lies below the root t > max θⱼ of Σ ln(t − θⱼ) = Σ ln bⱼ − ln τ.
*Estimate*: the Ritz value itself, what is usually reported; it steers and proves nothing.
Written by hand because no library offers the first two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..checks import chance
from ..matrices.given import as_hermitian
from ..matrices.lifted import Hermitian
from ..places.here import HERE
from ..places.numpy import EPS, Array, dagger, size_one
from ..places.protocol import Block
from .lanczos import Chain, Lanczos, root
from .wide import log_tau_of, normal_block, wide_chain, width_for

Accuracy = float | Callable[[float], float]

_CHANCE = 0.1  # how likely each of several starts may fail, where the space of the first one closes up
_AT_ONCE = 3.0  # products that a wide one takes as long as: it reads the data once
_ON_DEVICE = 40.0  # the same on a device, beside descents that multiply hundreds of columns at once
_DENSE = 400  # up to this dimension a Cholesky factorisation is cheaper than the Lanczos steps it replaces


@dataclass(frozen=True)
class Bound:
    """λ_max ≤ value for kind "proven" or "probable" (wrong with probability at most ``failure``).

    ``estimate`` is the best Ritz value, from below; for kind "estimate" it is also the value. ``rounding`` is the part
    of value − estimate that is there for rounding alone, and may be another one on another processor. ``effort`` is
    ``products`` as they weigh beside those of a method: many at once weigh less.
    """

    value: float
    kind: str
    failure: float
    products: float
    estimate: float
    rounding: float = 0.0
    effort: float = 0.0


def upper_bound(
    operator: Any,
    *,
    failure: float = 1e-9,
    products: float = 1000.0,
    accuracy: Accuracy = 0.0,
    relative: float = 0.0,
    kind: str | None = None,
    rng: np.random.Generator | None = None,
    dense: int = _DENSE,
    expected: float | None = None,
) -> Bound:
    """A number ≥ λ_max(operator), spending products only until it is as tight as asked.

    Parameters
    ----------
    operator : Hermitian, with ``shape``, ``dtype`` and ``matmat`` (``Lifted`` is known to have two sides).
    failure : probability that a probable bound is wrong; the start is fresh and random, never warm.
    products : most products; the bound is then looser, but a bound all the same.
    accuracy : additive distance to the Ritz value that is good enough, or a function of that; ``relative`` is a share
        of the bound. Whichever is looser ends the work.
    kind : "proven", "probable" or "estimate"; by default proven up to dimension ``dense``, probable beyond.
    rng : randomness of the start, from the operating system by default.
    expected : what λ_max is thought to be; a proof of that takes a Cholesky factor and no eigenvalue.
    """
    if kind not in (None, "proven", "probable", "estimate"):
        raise ValueError(f"upper_bound: kind must be 'proven', 'probable' or 'estimate', got {kind!r}.")
    chance("upper_bound", "failure", failure)
    rng = np.random.default_rng() if rng is None else rng
    operator = as_hermitian(operator)
    if kind == "proven" or (kind is None and operator.shape[0] <= dense):
        return _proven(operator, expected)
    bound = _probable(operator, failure, accuracy, relative, rng, products)
    return Bound(bound.estimate, "estimate", 1.0, bound.products, bound.estimate) if kind == "estimate" else bound


def _proven(operator: Hermitian, expected: float | None = None) -> Bound:
    d = operator.shape[0]
    spent = operator.products
    A = operator.dense()
    cost = operator.products - spent
    scale = float(np.max(np.abs(A), initial=0.0))
    if scale == 0.0:  # as far as rounding lets us see: entries that cancelled are known to their noise
        return Bound(operator.noise(), "proven", 0.0, cost, 0.0, operator.noise())
    unit = size_one(scale)  # entries of size one: no overflow, no underflow, and the margins below are meaningful
    A, scale = A * unit, 1.0 / unit
    A = 0.5 * (A + dagger(A))
    entries = 4 * EPS * float(np.linalg.norm(A))  # the entries themselves are rounded numbers
    found = None if expected is None else _factored(A, expected * unit, tries=1)
    top = expected * unit if expected is not None and found is not None else _largest(A)
    found = _factored(A, top, tries=60) if found is None else found
    if found is None:
        loose = scale * float(np.linalg.norm(A)) * (1 + 1e-9) + operator.noise()
        return Bound(loose, "proven", 0.0, cost, scale * top, 1e-9 * loose)
    # A Cholesky factor that exists in floating point belongs to a matrix within γ_{d+1}·tr(M) of M (Higham, 10.1).
    above, trace = found
    value = scale * (above + (d + 3) * EPS * trace + entries) + operator.noise()
    return Bound(value, "proven", 0.0, cost, scale * top, value - scale * top)


def _largest(A: Array) -> float:
    """The largest eigenvalue as LAPACK finds it: a place to start from, no proof."""
    from scipy.linalg import lapack

    d, one = A.shape[0], lapack.zheevr if A.dtype.kind == "c" else lapack.dsyevr
    values, _, _, _, info = one(A, compute_v=0, range="I", il=d, iu=d)
    return float(values[0] if info == 0 else np.linalg.eigvalsh(A)[-1])


def _factored(A: Array, top: float, tries: int) -> tuple[float, float] | None:
    """The first μ a little above ``top`` for which μI − A has a Cholesky factor, and the trace of that; or None."""
    d = A.shape[0]
    margin = 4 * (d + 2) * EPS * max(1.0, abs(top))
    for _ in range(tries):
        shifted = -A
        shifted.flat[:: d + 1] += top + margin
        try:
            np.linalg.cholesky(shifted)
            return top + margin, float(np.trace(shifted).real)
        except np.linalg.LinAlgError:
            margin *= 2
    return None


def _probable(
    operator: Hermitian,
    failure: float,
    accuracy: Accuracy,
    relative: float,
    rng: np.random.Generator,
    most: float,
) -> Bound:
    sides = operator.sides
    lengths = [len(range(*side.indices(operator.shape[0]))) for side in sides]
    # λ_max of [[0, R], [Rᴴ, 0]] is σ₁(R): work with RᴴR on the shorter side, one product a step.
    two = len(sides) == 2
    side = len(sides) - 1 if operator.place.distant else int(np.argmin(lengths))  # a far one stays where it is
    d, factor, place = lengths[side], 1.0, operator.place

    def apply(v: Block) -> Block:
        image = place.scale(operator.apply(side, v), factor)
        return place.scale(operator.apply(1 - side, image), factor) if two else image

    complex_ = np.dtype(operator.dtype).kind == "c"

    def log_tau(chance: float, left: int) -> float:
        return 0.5 * math.log(chance / left) if complex_ else math.log(chance) + 0.5 * math.log(math.pi / (2 * left))

    w = place.random(sides[side], 1, operator.dtype, rng)
    # An operator of size 1e±150 would leave the range of floating point when squared: work at size one.
    size = place.largest(operator.apply(side, w))
    cost = 0.5 if two else 1.0
    if size == 0.0 or not math.isfinite(size):  # a random vector is not in the kernel, unless all is
        return Bound(size, "probable", failure, cost, size)
    factor = size_one(size)
    blur = factor * operator.noise()

    def judge(chain: Chain, chance: float, coupling: float = 0.0, width: int = 1) -> tuple[float, float]:
        if width > 1:
            bound, ritz = root(chain, log_tau_of(chance, width, d, complex_))
        else:
            whole = chance == 1.0 or chain.before + len(chain.off) == d
            bound, ritz = root(chain, math.inf if whole else log_tau(chance, d - chain.before))
        bound += coupling
        if two:
            bound, ritz = math.sqrt(max(bound, 0.0)), math.sqrt(max(ritz, 0.0))
        return (bound + blur) / factor, ritz / factor

    def tight(chance: float, chain: Chain, width: int = 1) -> bool:
        bound, ritz = judge(chain, chance, width=width)
        wanted = accuracy(ritz) if callable(accuracy) else accuracy
        return bound - ritz <= max(wanted, relative * abs(bound))

    def rounding(steps: int, starts: int, largest: float) -> float:
        # whoever looks again may take more steps than we did, up to the whole space, or see it close up
        count = max(20 * max(steps, 32, min(d, 1000)), 10 * (steps + starts) * math.exp(-log_tau(_CHANCE, d)))
        return count * EPS * largest + operator.noise()

    width, asked = width_for(most, d) if two and place.wide else 1, failure
    if width > 1:  # a round costs more than its products: many starts at once, and half of the chance of failure
        failure = 0.5 * failure
        block = normal_block(d, width, operator.dtype, rng)
        there = HERE if place.distant else place
        chain = wide_chain(apply, there.from_host(block), most - cost, partial(tight, failure, width=width), there)
        cost += width * len(chain.off)
        if not chain.closed:
            value, estimate = judge(chain, failure, width=width)
            spread = rounding(len(chain.off), _starts(failure), abs(value))
            return Bound(
                value,
                "probable",
                asked,
                cost,
                estimate,
                spread,
                (_AT_ONCE if place.distant else _ON_DEVICE) * len(chain.off),
            )
    # Half of the chance of failure is for a space that stays open, half for one that closes.
    starts, chance = _starts(failure), _CHANCE
    space = Lanczos(apply, sides[side], most - cost, operator.dtype, place)
    chains = [space.chain(w, partial(tight, 0.5 * failure))]
    while chains[0].closed and space.steps < min(d, most - cost) and len(chains) < starts:
        chains.append(space.chain(place.random(sides[side], 1, operator.dtype, rng), partial(tight, chance)))
    if space.steps == d:
        chance = 1.0  # nothing is left to look for
    if len(chains) == 1 or (len(chains) < starts and space.steps < d):
        value = judge(chains[0], 0.5 * failure)[0]
    else:
        # Each start fails with this chance whatever the earlier ones showed: all of them with half of ``failure``. One
        # of their bounds is true, and nobody knows which. What couples one space to the next is below rounding.
        value = max(judge(chain, chance, 2.0 * space.blur())[0] for chain in chains)
    estimate = max(judge(chain, chance)[1] for chain in chains)
    largest = abs(value) if two else max(abs(value), space.scale / factor)
    spread = rounding(space.steps, starts, largest)
    return Bound(value, "probable", asked, cost + space.steps, estimate, spread)


def _starts(failure: float) -> int:
    """How many starts fail together with half of this chance."""
    return math.ceil(math.log(0.5 * failure) / math.log(_CHANCE))
