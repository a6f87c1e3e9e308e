"""How far rounding can move a number that was computed, so that a claim never rests on last bits.

A sum of n products of float64 numbers is off by at most about n·EPS/2 times the sum of their sizes; ours are added in
blocks of eight or more, so an eighth of n stands for n here. Products below 2⁻¹⁰⁷⁴ vanish: that is ``VANISHING`` each.
An image z = 𝒜(X) of X = Σ sₖ uₖvₖᴴ is off by at most ``of_image``, and a value ℓ(z) with slope y and curvature β by

    EPS·(64 + n/8)·|ℓ(z)| + ‖y‖·‖δz‖ + ½β‖δz‖².

These bounds hold for every processor, number of threads and order of summation; they are what values state, what lower
bounds are lowered by, and what contradictions are judged against.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .places.numpy import EPS, Array, inner, size_one

if TYPE_CHECKING:
    from .objectives.facts import ObjectiveFacts

VANISHING = 2.0**-1070


def of_sum(count: float) -> float:
    """The relative error of a sum of so many products, beside the sum of their sizes."""
    return EPS * (64.0 + 0.125 * count)


def norm(numbers: Array) -> float:
    """‖numbers‖, without overflow or underflow on the way."""
    square = inner(numbers, numbers)
    if 1e-280 < square < math.inf:
        return math.sqrt(square)
    top = float(np.max(np.abs(numbers), initial=0.0))
    if top == 0.0 or not math.isfinite(top):
        return top
    unit = size_one(top)
    return float(np.linalg.norm(numbers * unit)) / unit


def of_image(facts: ObjectiveFacts, size: float, terms: int) -> float:
    """‖δz‖ for the image of X = Σ sₖ uₖvₖᴴ with so many terms and Σ|sₖ| = size (unit uₖ and vₖ).

    ``reach`` is an upper bound on ‖𝒜‖; ``summed`` counts the numbers that one measurement adds up.
    """
    reach = 1.0 if facts.reach is None else facts.reach
    return (EPS * (terms + 8) + (of_sum(facts.summed) if facts.summed else 0.0)) * size * reach


def of_value(facts: ObjectiveFacts, value: float, slope: Any, size: float, terms: int) -> float:
    """How far the loss at X may be from the number that was computed; an objective may know better than ``plain``."""
    if facts.rounding is not None:
        return float(facts.rounding(value, slope, size, terms))
    return plain(facts, value, slope, size, terms)


def plain(facts: ObjectiveFacts, value: float, slope: Any, size: float, terms: int) -> float:
    """The bound above, for a loss that is a sum of positive terms."""
    m, n = (int(side) for side in facts.objective.shape)
    if not facts.images.plain(slope):  # an objective of the user's own, which does not say
        return of_sum(m * n) * abs(value) + m * n * VANISHING
    count = facts.images.count(slope)
    return (
        of_sum(count) * abs(value)
        + moved(facts, slope, of_image(facts, size, terms))
        + count * VANISHING * max(1.0, facts.bend or 1.0)  # weights multiply what vanished
    )


def moved(facts: ObjectiveFacts, slope: Any, blur: float) -> float:
    """How far the loss moves when its image does by ``blur``: ‖y‖‖δz‖ + ½β‖δz‖², or L‖δz‖ where no slope exceeds L."""
    bend, steepest = facts.bend or 0.0, math.inf if facts.steepest is None else facts.steepest
    straight = facts.images.norm(slope) * blur + 0.5 * bend * blur * blur
    return float(min(straight, steepest * blur if blur > 0.0 else 0.0))
