"""What a loss is: Σ wᵢ ℓ(zᵢ; bᵢ) on flat arrays, with its slope, its curve along a line and its conjugate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..checks import as_array, numbers, positive_weights
from ..places.numpy import Array
from .curves import Curve


class Loss(Protocol):
    """Σ wᵢ ℓ(zᵢ; bᵢ) over flat arrays; ``weights`` is None when all are one.

    A loss of your own needs ``evaluate`` alone. Each of the others adds something: ``conjugate`` certificates,
    ``curvature`` (the largest second derivative) methods with fixed steps, ``along`` a closed-form line search. See
    ``LossFacts`` for the attributes that may be left out.
    """

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]: ...
    def along(self, z: Array, dz: Array, b: Array, weights: Array | None) -> Curve: ...
    def second(self, z: Array, b: Array, weights: Array | None) -> Array: ...
    def conjugate(self, slope: Array, b: Array, weights: Array | None) -> Conjugate: ...


@dataclass(frozen=True)
class Conjugate:
    """c ↦ ℓ*(c·slope), finite for 0 ≤ c ≤ limit; ``quadratic`` holds (linear, bend) where it is one.

    ``size`` bounds the sum of the absolute values of the terms at c = 1, for a rounding margin; ``sizes`` does at any
    c, where they do not grow like 1 or c². ``count`` is their number. ``scale`` is the c that minimises
    ℓ*(c·slope) + c·price, where it has a closed form.
    """

    at: Callable[[float], float]
    limit: float
    size: float
    quadratic: tuple[float, float] | None = None
    count: int = 1
    scale: Callable[[float], float] | None = None
    sizes: Callable[[float], float] | None = None


@dataclass(frozen=True)
class LossFacts:
    """What is known of a loss beside its value and slope; an attribute of the same name says it.

    Attributes
    ----------
    name : for messages.
    curvature : the largest second derivative of ℓ; infinite where there is none.
    strong : the least one.
    steepest : the largest size of ℓ's derivative; infinite where there is none.
    least : a number that ℓ is nowhere below, for every target; −∞ where none is known.
    complex : whether z and b may be complex.
    positive : whether ℓ is finite only where z > 0 (or z ≥ 0 where the target is zero).
    never_negative : whether zero targets are about means that are never negative, on any matrix of the domain.
    along : z, dz, targets, weights ↦ the curve along a line; by default one that evaluates the loss.
    ways : slope, v, others, weights ↦ slopes along v − o for all the others, and the bends between these ways, where
        the loss is a quadratic; None where it is none.
    conjugate : slope, targets, weights ↦ its ``Conjugate``; None where there is none.
    terms : slope, targets, weights ↦ the sizes of all terms, for a loss whose terms cancel.
    some : places ↦ the same loss on some numbers of the image, for a loss that knows which belong together.
    image : slope, targets, weights ↦ the z that it is the slope at, where ``second`` there says how rounding counts.
    """

    name: str
    curvature: float = math.inf
    strong: float = 0.0
    steepest: float = math.inf
    least: float = -math.inf
    complex: bool = False
    positive: bool = False
    never_negative: bool = False
    along: Callable[..., Curve] | None = None
    ways: Callable[..., tuple[Array, Array]] | None = None
    conjugate: Callable[..., Conjugate] | None = None
    terms: Callable[..., float] | None = None
    image: Callable[..., Array] | None = None
    some: Callable[..., Any] | None = None

    @classmethod
    def of(cls, loss: Any) -> LossFacts:
        """Read from a loss, in this one place."""
        known = {name: getattr(loss, name) for name in cls.__dataclass_fields__ if hasattr(loss, name)}
        return cls(**({"name": type(loss).__name__.lower()} | known))


@dataclass(frozen=True, eq=False)
class Prepared:
    """A loss with its targets and weights, checked: flat, as long as an image and in its order.

    ``labels`` says in words how targets that stand for something else were understood.
    """

    loss: Loss
    targets: Array
    weights: Array | None
    labels: str | None = None


@dataclass(frozen=True)
class Shape:
    """What a loss has to know of the images: how many numbers, how many in a row (None without rows), their order.

    ``part`` says that these are some of the targets that X is fitted to: all of them may be zero counts.
    """

    owner: str
    size: int
    row: int | None = None
    order: Array | None = None  # entry e of an image is observation order[e] of the user
    part: bool = False

    def sorted(self, given: Array) -> Array:
        return given if self.order is None else given[self.order]


def prepare(loss: Loss, targets: Any, weights: Any, shape: Shape) -> Prepared:
    """Check targets and weights against a loss: its own ``prepare`` if it has one, else as plain numbers."""
    if hasattr(loss, "prepare"):
        found: Prepared = loss.prepare(targets, weights, shape)
        return found
    return plain(loss, targets, weights, shape)


def plain(loss: Loss, targets: Any, weights: Any, shape: Shape) -> Prepared:
    """One target a measurement, of any size and sign; one number stands for all."""
    facts, owner = LossFacts.of(loss), shape.owner
    b = flat(targets, shape)
    if b.dtype.kind == "c" and not facts.complex:
        raise TypeError(f"{owner}: the {facts.name} loss needs real targets, got complex ones.")
    w = positive_weights(owner, weights, shape.size)
    return Prepared(loss, shape.sorted(b), None if w is None else shape.sorted(w))


def flat(targets: Any, shape: Shape) -> Array:
    """As many numbers as an image has; a table of rows is read row by row."""
    if np.ndim(as_array(shape.owner, "targets", targets)) == 0:
        targets = np.full(shape.size, targets)
    b = numbers(shape.owner, "targets", targets)
    if b.ndim == 2 and (shape.row is None or b.shape[1] != shape.row):
        raise ValueError(f"{shape.owner}: targets have shape {b.shape}; give {shape.size} numbers in one dimension.")
    if b.size != shape.size:
        raise ValueError(f"{shape.owner}: {shape.size} measurements but {b.size} targets; give one target each.")
    return b.reshape(-1)
