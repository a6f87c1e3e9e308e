"""The tester of losses; ``check`` calls it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import is_real
from ..losses import named
from ..losses.protocol import Conjugate, LossFacts, Prepared, Shape, prepare
from ..losses.separable import smoothly
from ..places.numpy import Array, inner
from .tester import Report, Tester

_SIZE = 12  # numbers that a loss is tested on, in groups of three


def check_loss(thing: Any, targets: Any, size: float, trials: int, seed: int) -> Report:
    rng = np.random.default_rng(seed)
    return LossTester(named("check", thing), targets, size, rng).run(trials)


class LossTester(Tester):
    """Convex, with its own slope, curve and conjugate, and no steeper or more curved than it says."""

    def __init__(self, loss: Any, targets: Any, size: float, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.given, self.targets, self.size = loss, targets, size
        self.told = LossFacts.of(loss)

    def trial(self) -> None:
        weights = self.rng.uniform(0.5, 2.0, _SIZE) if self.rng.random() < 0.5 else None
        ready = self.prepared(weights)
        if ready is None:
            self.fail("targets", "no targets were found that it takes; pass targets=.")
            return
        self.loss, self.b, self.w = ready.loss, ready.targets, ready.weights
        for name, claimed in vars(self.told).items():
            if name in ("curvature", "strong", "steepest", "least"):
                self.need(name, is_real(claimed), f"what it claims must be a number, got {claimed!r}.")
        z, x = self.image(), self.image()
        value, slope = self.pair_of(self.loss.evaluate(z, self.b, self.w))
        other, end = self.loss.evaluate(x, self.b, self.w)
        shaped = isinstance(slope, np.ndarray) and slope.shape == z.shape
        self.expect("slope", shaped, f"the slope must be an array of shape {z.shape}, got {np.shape(slope)}.")
        if not shaped:
            return
        scale = abs(value) + abs(other) + float(np.linalg.norm(slope) * np.linalg.norm(x - z)) + 1e-300
        self.differences(z, x - z, slope, scale)
        rise = other - value - inner(slope, x - z)
        self.expect("convexity", rise >= -1e-9 * scale, f"it lies {-rise:.3g} below its tangent: it is not convex.")
        heaviest = 1.0 if self.w is None else float(self.w.max())
        if math.isfinite(self.told.curvature):
            most = 0.5 * self.told.curvature * heaviest * inner(x - z, x - z)
            met = self.told.curvature * rise / max(most, 1e-300)
            text = f"a curvature of {met:.6g} was met, claimed is {self.told.curvature:.6g}."
            self.expect("claimed curvature", rise <= most * (1 + 1e-9) + 1e-9 * scale, text)
        if self.told.strong:
            least = 0.5 * self.told.strong * (1.0 if self.w is None else float(self.w.min())) * inner(x - z, x - z)
            text = f"it rises by {rise:.6g} over its tangent, by its claim (strong) at least {least:.6g}."
            self.expect("claimed strong convexity", rise >= least * (1 - 1e-9) - 1e-9 * scale, text)
        if math.isfinite(self.told.steepest):
            bound = self.told.steepest * (math.sqrt(z.size) if self.w is None else float(np.linalg.norm(self.w)))
            steep = float(np.linalg.norm(slope))
            self.expect(
                "claimed steepness",
                steep <= bound * (1 + 1e-9),
                f"a slope of size {steep:.6g} was met, claimed {bound:.6g}.",
            )
        if math.isfinite(self.told.least):
            count = z.size if self.w is None else float(self.w.sum())
            self.expect(
                "least value",
                value >= self.told.least * count - 1e-9 * scale,
                f"the value {value:.6g} lies below what it claims.",
            )
        ways = LossFacts.of(self.loss).ways
        if ways is not None:
            self.several(ways, z, value, slope, scale)
        if hasattr(self.loss, "conjugate"):
            self.fenchel(z, x, (value, other), slope, end)

    def pair_of(self, given: Any) -> tuple[float, Array]:
        """What ``evaluate`` returned, if it is a number and an array."""
        pair = isinstance(given, tuple) and len(given) == 2
        got = f"({', '.join(type(each).__name__ for each in given)})" if pair else type(given).__name__
        holds = pair and np.ndim(given[0]) == 0
        self.need("evaluate", holds, f"it must return a number, Σ wᵢℓ(zᵢ; bᵢ), and the array of its slope; got {got}.")
        return float(given[0]), given[1]

    def prepared(self, weights: Array | None) -> Prepared | None:
        """The first kind of targets that it takes: those given, any numbers, counts, labels, shares."""
        groups = np.repeat(np.arange(_SIZE // 3), 3)
        loss = type(self.given)(groups) if self.told.name == "softmax" else self.given
        shape = Shape("check", _SIZE)
        if self.told.name == "softmax" and weights is not None:
            weights = weights[: _SIZE // 3]
        shares = self.rng.random(_SIZE)
        kinds: list[Any] = [] if self.targets is None else [self.rng.choice(np.asarray(self.targets), _SIZE)]
        kinds += [shares / np.bincount(groups, shares)[groups]] if self.told.name == "softmax" else []
        kinds += [
            self.size * self.normal((_SIZE,)),
            self.rng.poisson(3.0, _SIZE) + 0.0,
            self.rng.choice([-1.0, 1.0], _SIZE),
        ]
        for kind in kinds:
            try:
                return prepare(loss, kind, weights, shape)
            except (ValueError, TypeError):
                continue
        return None

    def image(self) -> Array:
        z = self.size * self.normal((_SIZE,), str(self.b.dtype))
        return np.abs(z) + 0.1 * self.size if self.told.positive else z

    def differences(self, z: Array, dz: Array, slope: Array, scale: float) -> None:
        """The slope and the curve against values near by."""
        h = 1e-6
        ahead, behind = (self.loss.evaluate(z + t * dz, self.b, self.w)[0] for t in (h, -h))
        exact = inner(slope, dz)
        text = "the slope differs from finite differences of the value"
        self.close("finite differences", exact, (ahead - behind) / (2 * h), scale, text, 1e-4)
        own = self.loss.along if hasattr(self.loss, "along") else None
        curve = own(z, dz, self.b, self.w) if own else smoothly(self.loss, z, dz, self.b, self.w)
        there = self.loss.evaluate(z + 0.7 * dz, self.b, self.w)[0]
        self.close("curve value", curve.value(0.7), there, scale, "along(z, dz) has another value at 0.7")
        self.close("curve derivative", curve.derivative(0.0), exact, scale, "along(z, dz) has another derivative at 0")
        if hasattr(self.loss, "second"):
            bends = self.loss.second(z, self.b, self.w)
            self.expect("second derivative", bool((np.asarray(bends) >= 0).all()), "a second derivative is negative.")

    def several(self, ways: Callable[..., Any], z: Array, value: float, slope: Array, scale: float) -> None:
        """The quadratic of several ways at once against the value after going some of each."""
        v, others, shares = self.image(), [self.image(), z], np.array([0.3, 0.4])
        slopes, bends = ways(slope, v, others, self.w)
        moved = sum(share * (v - other) for share, other in zip(shares, others, strict=True))
        there = self.loss.evaluate(z + moved, self.b, self.w)[0]
        said = value + float(shares @ slopes) + 0.5 * float(shares @ bends @ shares)
        text = "ways(slope, v, others, weights) has another value after going 0.3 and 0.4 of two ways"
        self.close("several ways", said, there, scale + abs(there), text)

    def fenchel(self, z: Array, x: Array, values: tuple[float, float], slope: Array, end: Array) -> None:
        """ℓ(z) + ℓ*(y) = ⟨y, z⟩ at the slope y of z, and ≥ at every other z and every multiple of y that is allowed."""
        for at, value, y in ((z, values[0], slope), (x, values[1], end)):
            conjugate, pairing = self.loss.conjugate(y, self.b, self.w), inner(y, at)
            text = f"it must return a spectraplex.losses.Conjugate, got {type(conjugate).__name__}."
            self.need("conjugate", isinstance(conjugate, Conjugate), text)
            size = abs(value) + abs(pairing) + conjugate.size
            self.expect(
                "conjugate limit", conjugate.limit >= 1.0 - 1e-9, f"ℓ* is said to end before c = 1: {conjugate.limit}."
            )
            text = "ℓ(z) + ℓ*(y) differs from ⟨y, z⟩ at the slope y of z"
            self.close("Fenchel equality", value + conjugate.at(min(1.0, conjugate.limit)), pairing, size, text)
            for c in (0.1, 0.5, 0.9, 1.0, 1.5, 4.0):
                if not 0.0 < c <= conjugate.limit:
                    continue
                if conjugate.quadratic is not None:
                    linear, bend = conjugate.quadratic
                    text = f"at({c:g}) is not what its quadratic says"
                    self.close("quadratic", conjugate.at(c), c * linear + 0.5 * c * c * bend, size, text)
                for there, other in ((z, values[0]), (x, values[1])):
                    less = c * inner(y, there) - other - conjugate.at(c)
                    room = 1e-9 * (size + abs(other) + abs(c * inner(y, there)) + abs(conjugate.at(c)))
                    self.expect(
                        "Fenchel inequality",
                        less <= room,
                        f"ℓ(z) + ℓ*(c·y) lies {less:.3g} below c⟨y, z⟩ at c = {c:g}.",
                    )
            if conjugate.scale is not None:
                c, price = conjugate.scale(2.0), 2.0
                best = conjugate.at(c) + c * price
                worse = min(conjugate.at(c * t) + c * t * price for t in (0.9, 1.1))
                self.expect(
                    "best scale", best <= worse, f"ℓ*(c·y) + 2c is smaller beside the scale {c:.6g} than at it."
                )
