"""A bound on λ_max from a block of random starts: many products at once, and few of them one after the other.

Lanczos on I ⊗ A from vec(W), W Gaussian of width b, has the monic polynomial χ of the least ‖χ(A)W‖_F. With the leading
eigenvector v of A, |χ(λ_max)|·‖Wᴴv‖ ≤ ‖χ(A)W‖_F = Πbⱼ, so the bound is that of one start (bounds.py), but for τ:
‖Wᴴv‖²/‖W‖²_F has a Beta(b/2, b(d − 1)/2) distribution (complex: twice both), which is below x with a probability of at
most xᵃ/(a·B(a, c)). With b = 8 and d = 20,000 a chance of 5e-10 has ln τ = −7.9, in place of −26 with one start:
a third of the steps. For places where a round costs more than its products.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Block, Place
from .lanczos import Chain, Lanczos

_WIDE = 8  # columns of a start
_STEPS = 64  # steps that the products should be enough for: else the start is narrower


def width_for(products: float, d: int) -> int:
    """How many columns a start has; one where a chain is through all d dimensions soon."""
    return 1 if d <= 2 * _STEPS else max(1, min(_WIDE, int(products // _STEPS)))


def normal_block(d: int, width: int, dtype: str, rng: np.random.Generator) -> Array:
    """Gaussian: as one long vector its direction is uniform."""
    block = rng.standard_normal((d, width))
    if np.dtype(dtype).kind == "c":
        block = block + 1j * rng.standard_normal((d, width))
    return np.asarray(block.astype(dtype))


def log_tau_of(chance: float, width: int, d: int, complex_: bool) -> float:
    """ln τ: ‖Wᴴv‖ ≥ τ‖W‖_F but for this chance."""
    a = (1.0 if complex_ else 0.5) * width
    c = a * (d - 1)
    log_beta = math.lgamma(a) + math.lgamma(c) - math.lgamma(a + c)
    return 0.5 * (math.log(chance) + math.log(a) + log_beta) / a


def wide_chain(
    apply: Callable[[Block], Block],
    start: Block,
    most: float,
    enough: Callable[[Chain], bool],
    place: Place = HERE,
) -> Chain:
    """The chain of I ⊗ A from vec(start); ``most`` is in products, ``apply`` takes blocks as wide as the start."""
    d, width = place.length(start), place.width(start)

    def flat(v: Block) -> Block:  # a block here, or on a device: both have NumPy's manners
        return apply(v.reshape(d, width)).reshape(-1, 1)

    space = Lanczos(flat, slice(0, d * width), most / width, place.kind(start).name, place)
    return space.chain(start.reshape(-1, 1), enough)
