"""What a linear model pays for its outputs, the intercepts of all outputs minimised inside.

    ℓ(z) = min over b of  Σ wᵢ ℓ(zᵢ + offset + b; yᵢ) + ½κ‖b‖²

The offset is what a model without features would say, so that b = 0 is best, or nearly, at z = 0. The search for b
begins at a point that z alone decides and ends at ‖residual‖²/(2κ) ≤ slack·value: by strong convexity neither the
value nor the dual bound can be off by more. So slope and value are functions of z alone, in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ...losses.protocol import Conjugate
from ...places.numpy import Array

SLACK = 1e-12  # share of the value that the intercepts may leave it above the least, where nobody says otherwise
ROUGH = 1e-3  # the same for some samples, where a search only begins
_MOST = 60  # Newton steps: never reached but at rounding level


@dataclass(frozen=True, eq=False)
class Best:
    """The intercepts that are best beside an image, the value there (their ridge included), and the slope."""

    intercepts: Array
    value: float
    slope: Array


class Outputs(Protocol):
    """Targets of samples × outputs, and how a misfit is paid for."""

    shape: tuple[int, int]
    offset: Array
    curvature: float  # the largest second derivative; infinite where there is none
    heaviest: float  # the largest weight
    bends: Array  # about the mean one of each output, for scaling
    steepest: float  # the largest norm of a slope
    total: float  # the sum of all weights
    size: float  # about the norm of what is added to an image

    def best(self, z: Array, ridge: float | None, slack: float = SLACK) -> Best: ...
    def conjugate(self, slope: Array) -> Conjugate: ...
    def blur(self, slope: Array) -> tuple[float, float]:
        """The sizes of all terms at the image of a slope, and the largest second derivative there."""
        ...

    def some(self, rows: Array) -> Outputs:
        """The same of some samples only."""
        ...

    def parts(self) -> tuple[Any, ...]: ...


def searched(bound: Conjugate, rough: Callable[[], Conjugate]) -> Conjugate:
    """The conjugate, with the scale of a dual point looked for on some samples only, and values kept.

    Any scale gives a true bound; one evaluation of all samples then does.
    """
    from scipy.optimize import minimize_scalar

    kept: dict[float, float] = {}
    few: list[Conjugate] = []

    def at(c: float) -> float:
        if c not in kept:
            kept[c] = bound.at(c)
        return kept[c]

    def scale(price: float) -> float:
        few.extend([] if few else [rough()])
        high = min(bound.limit, 4.0)
        if high <= 0.0:
            return 0.0

        def loss(c: float) -> float:
            return float(few[0].at(min(c, few[0].limit)) + c * price)

        found = minimize_scalar(loss, bounds=(0.0, high), method="bounded", options={"xatol": 1e-4})
        one = min(1.0, high)
        c = float(found.x) if 0.0 < float(found.x) <= high else one
        return c if at(c) + c * price <= at(one) + one * price else one

    return replace(bound, at=at, scale=scale)


def with_linear(own: Conjugate, bend: float, size: float) -> Conjugate:
    """ℓ*(c·y) + ½c²·bend: what ridges add; ``size`` bounds the sizes of these terms at one."""
    sizes = own.sizes
    return replace(
        own,
        at=lambda c: own.at(c) + 0.5 * c * c * bend,
        size=own.size + size,
        quadratic=None if own.quadratic is None else (own.quadratic[0], own.quadratic[1] + bend),
        sizes=None if sizes is None else lambda c: sizes(c) + max(c, c * c) * size,
    )
