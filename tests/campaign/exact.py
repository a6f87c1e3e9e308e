"""Optima in exact arithmetic: a sum of one-number losses over a simplex, an ℓ₁ ball or with an ℓ₁ price.

Why that is enough: where f sees a matrix only through its diagonal (in some orthonormal bases), leaving out what is
beside the diagonal raises neither f, nor the trace, nor the nuclear norm. So the best matrix is diagonal, and

    f* = min Σ wᵢ h(zᵢ − bᵢ)   over   Σz = τ, z ≥ 0  |  Σz ≤ τ, z ≥ 0  |  Σ|z| ≤ τ  |  + λΣ|z|  |  + λΣz, z ≥ 0

with h(r) = ½r², or Huber's with its own δᵢ. Strong duality: f* = max over μ of Σ φᵢ(μ) − μτ, where φᵢ(μ) is the least
of wᵢh(z − bᵢ) + μz: μbᵢ − μ²/2wᵢ while μ < wᵢ·clip(bᵢ, −δᵢ, δᵢ), and wᵢh(bᵢ) from there on. Everything is rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

Rational = Fraction | int | float

KINDS = ("spectrahedron", "trace ball", "ball", "penalty", "trace penalty")
_TWINS = {"ball": "penalty", "penalty": "ball", "trace ball": "trace penalty", "trace penalty": "trace ball"}


@dataclass(frozen=True)
class Separable:
    """The problem above. ``stretch`` t: the matrix asked for is Z with ‖Z‖ = t·‖what the domain bounds‖."""

    kind: str
    targets: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    deltas: tuple[Fraction | None, ...]
    stretch: Fraction = Fraction(1)

    @classmethod
    def of(cls, kind: str, targets: Sequence[Rational], weights: Any = None, deltas: Any = None) -> Separable:
        """From floats, each taken for the rational number that it is; a missing δ is infinite."""
        count = len(targets)
        weights = [1] * count if weights is None else weights
        deltas = [None] * count if deltas is None else deltas
        b = [abs(Fraction(t)) if kind in ("ball", "penalty") else Fraction(t) for t in targets]
        limits = tuple(None if each is None else Fraction(each) for each in deltas)
        return cls(kind, tuple(b), tuple(Fraction(w) for w in weights), limits)

    def optimum(self, size: Rational) -> Fraction:
        """f* for a radius (trace) or λ of this size."""
        size = Fraction(size)
        if self.kind in ("penalty", "trace penalty"):
            return self._dual(size / self.stretch)
        size *= self.stretch
        multiplier = self._multiplier(size)
        return self._dual(multiplier) - multiplier * size

    def terms(self, size: Rational) -> float:
        """Of what order the terms are that a sum for f is made of: for tolerances."""
        reach = Fraction(size) * self.stretch if self.kind == "spectrahedron" else Fraction(0)
        return _float(
            sum((w * (abs(b) + reach) ** 2 for b, w in zip(self.targets, self.weights, strict=True)), reach * 0)
        )

    def twin(self) -> Separable:
        """A price for a limit, or a limit for a price."""
        return replace(self, kind=_TWINS[self.kind])

    def error(self, optimum: Fraction) -> Fraction:
        return Fraction(0)

    def _thresholds(self) -> list[Fraction]:
        return [w * _clip(b, d) for b, w, d in zip(self.targets, self.weights, self.deltas, strict=True)]

    def _multiplier(self, size: Fraction) -> Fraction:
        """Where the concave dual is largest: its slope is Σ (bᵢ − μ/wᵢ) over the i with μ < thresholdᵢ, less size."""
        order = sorted(range(len(self.targets)), key=self._thresholds().__getitem__, reverse=True)
        thresholds = [self._thresholds()[i] for i in order]
        sum_b, sum_w, best = Fraction(0), Fraction(0), None
        for place, i in enumerate(order):
            sum_b, sum_w = sum_b + self.targets[i], sum_w + 1 / self.weights[i]
            best = min((sum_b - size) / sum_w, thresholds[place])
            if place + 1 == len(order) or best >= thresholds[place + 1]:
                break
        assert best is not None
        return max(best, least) if (least := self._least()) is not None else best

    def _least(self) -> Fraction | None:
        """The multiplier of an inequality is not negative; that of Σz = τ only so far as a loss is not linear."""
        if self.kind != "spectrahedron":
            return Fraction(0)
        limits = [w * d for w, d in zip(self.weights, self.deltas, strict=True) if d is not None]
        return -min(limits) if limits else None

    def _dual(self, multiplier: Fraction) -> Fraction:
        total = Fraction(0)
        for b, w, d, threshold in zip(self.targets, self.weights, self.deltas, self._thresholds(), strict=True):
            if multiplier < threshold:
                total += multiplier * b - multiplier * multiplier / (2 * w)
            else:
                inside = _clip(b, d)
                total += w * inside * (b - inside / 2)
        return total

    def behind_ridges(self, rho: float, kappa: float) -> Separable:
        """Each number with intercepts of its own, ½ρx² + ½κy² beside it: 1/w grows by 1/ρ + 1/κ, wδ stays."""
        softer = 1 / Fraction(rho) + 1 / Fraction(kappa)
        weights = tuple(1 / (1 / w + softer) for w in self.weights)
        deltas = tuple(
            None if d is None else w * d / new for d, w, new in zip(self.deltas, self.weights, weights, strict=True)
        )
        return replace(self, weights=weights, deltas=deltas)


def _clip(b: Fraction, delta: Fraction | None) -> Fraction:
    return b if delta is None else max(-delta, min(delta, b))


def _float(number: Fraction) -> float:
    """As a float, rounded anyhow; too large a number is infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf")


# ------------------------------------------------------------------------------------------------ logistic loss


@dataclass(frozen=True)
class Logistic:
    """min Σ wᵢ ln(1 + exp(−zᵢ)) over z ≥ 0, Σz ≤ τ, or + λΣz; in forty digits."""

    kind: str
    weights: tuple[Fraction, ...]
    #: weights of labels that a matrix ⪰ 0 can only make worse: each pays w·ln 2
    lost: Fraction = Fraction(0)
    stretch: Fraction = Fraction(1)

    def optimum(self, size: Rational) -> Fraction:
        with localcontext() as context:
            context.prec = 40
            w = [_decimal(each) for each in self.weights]
            constant = _decimal(self.lost) * Decimal(2).ln()
            if self.kind in ("penalty", "trace penalty"):
                return Fraction(self._dual(w, _decimal(Fraction(size) / self.stretch)) + constant)
            tau = _decimal(Fraction(size) * self.stretch)
            if tau > 3000 * max(len(w), 1):  # the rest is below exp(−3000) of the weights, beyond all floats
                return Fraction(constant)
            high = max(w, default=Decimal(0)) / 2
            low = 2 * high / (1 + tau.exp())  # the largest weight alone takes no more than τ
            for _ in range(64):  # Σ ln(w/μ − 1) over w > 2μ falls with μ: halve until τ is met
                middle = (low * high).sqrt()
                taken = sum(((each / middle - 1).ln() for each in w if each > 2 * middle), Decimal(0))
                low, high = (middle, high) if taken > tau else (low, middle)
            best = max(self._dual(w, mu) - mu * tau for mu in (low, high))
            return Fraction(max(best, Decimal(0)) + constant)

    def twin(self) -> Logistic:
        return replace(self, kind=_TWINS[self.kind])

    def error(self, optimum: Fraction) -> Fraction:
        """The dual is flat at its top: μ is off by 2⁻⁵⁰ of itself at most, the value by the square of that.

        Where terms cancel, forty digits are what is left of them.
        """
        return abs(optimum) / 10**25 + sum(self.weights, self.lost) / 10**35

    def terms(self, size: Rational) -> float:
        return _float(sum(self.weights, self.lost))

    @staticmethod
    def _dual(w: list[Decimal], mu: Decimal) -> Decimal:
        total = Decimal(0)
        for each in w if mu else ():
            u = mu / each
            if 2 * u >= 1:
                total += each * Decimal(2).ln()
                continue
            # −(1 − u) ln(1 − u), by its series where 1 − u would round to one
            rest = -(1 - u) * (1 - u).ln() if u > Decimal("1e-10") else u - u**2 / 2 - u**3 / 6 - u**4 / 12
            total += each * (rest - u * u.ln())
        return total


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


# ------------------------------------------------------------------------- orthonormal bases without any rounding


def turned(rng: np.random.Generator, d: int, complex_: bool = False, layers: int = 2) -> tuple[np.ndarray, int]:
    """A matrix M of small whole (or Gaussian) numbers and s, with M Mᴴ = s²·1: M/s is orthogonal (unitary).

    Products of rotations by (3/5, 4/5), of reflections 1 − vvᵀ/2 with four entries ±1, of (1 ± i)/2; and a permutation.
    """
    M = np.eye(d, dtype=complex if complex_ else float)[rng.permutation(d)] * rng.choice([-1.0, 1.0], d)
    scale = 1
    for _ in range(int(rng.integers(layers + 1)) if d > 1 else 0):
        kind = rng.choice(["rotation"] + ["reflection"] * (d >= 4) + ["complex"] * complex_)
        order = rng.permutation(d)
        if kind == "reflection":
            v = np.zeros(d)
            v[order[:4]] = rng.choice([-1.0, 1.0], 4)
            layer, by = 2.0 * np.eye(d) - np.outer(v, v), 2
        else:
            block, by = np.array([[3.0, -4.0], [4.0, 3.0]]), 5
            if kind == "complex":
                block, by = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]), 2
            layer = by * np.eye(d, dtype=block.dtype)
            for i, j in zip(order[0 : d - 1 : 2], order[1:d:2], strict=False):
                layer[np.ix_([i, j], [i, j])] = block
        M, scale = layer @ M, scale * by
    return M + 0.0, scale  # kernels differ in the sign of a zero
