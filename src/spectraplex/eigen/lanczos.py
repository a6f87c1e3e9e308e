"""Lanczos chains from random starts, and the bound on λ_max that one of them proves; bounds.py says why it is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..places.numpy import EPS
from ..places.protocol import Block, Place


@dataclass
class Chain:
    """The tridiagonal matrix of one start; ``before`` vectors were there already, and ``blur`` is rounding."""

    before: int
    diagonal: list[float]
    off: list[float]
    blur: float = 0.0
    closed: bool = False


class Lanczos:
    """Lanczos with full reorthogonalisation, from one start after the other, each orthogonal to all before.

    A chain *closes* when what it leads to is below rounding: what lies outside of it is then hidden by rounding, not
    only by chance, and a fresh start looks for it in what is left.
    """

    def __init__(self, apply: Callable[[Block], Block], part: slice, most: float, dtype: str, place: Place) -> None:
        d = part.stop - part.start
        self.apply, self.d, self.most, self.place = apply, d, most, place
        self.steps, self.scale = 0, 0.0
        self.basis = place.room(part, dtype)

    def blur(self) -> float:
        return 10 * self.steps * EPS * self.scale

    def chain(self, start: Block, enough: Callable[[Chain], bool]) -> Chain:
        chain, place = Chain(self.steps, [], []), self.place
        w, check = place.unit(self._outside(start)), 4
        while self.steps < self.d:
            self.basis.write(self.steps, w)
            self.steps += 1
            image = self.apply(w)
            chain.diagonal.append(float(place.dots(w, image)[0]))
            image = self._outside(image)
            chain.off.append(float(place.norms(image)[0]))
            self.scale = max(self.scale, abs(chain.diagonal[-1]), chain.off[-1])
            chain.blur = self.blur()
            if chain.off[-1] <= chain.blur:
                chain.closed = True
                break
            if self.steps >= self.most:
                break
            if len(chain.off) == check:
                check = max(check + 4, int(1.15 * check))
                if enough(chain):
                    break
            w = place.unit(image)
        return chain

    def _outside(self, v: Block) -> Block:
        """v without its part in the basis, taken off twice."""
        if self.steps:
            W = self.basis.first(self.steps)
            for _ in range(2):
                v = self.place.without(v, W)
        return v


def root(chain: Chain, log_tau: float) -> tuple[float, float]:
    """The bound from one chain, and its largest Ritz value; exact where nothing is left to chance (infinite τ)."""
    from scipy.linalg import eigh_tridiagonal

    theta, off, blur = np.asarray(chain.diagonal), np.asarray(chain.off), chain.blur
    if theta.size > 1:
        theta = eigh_tridiagonal(theta, off[:-1], eigvals_only=True)
    top = float(theta[-1])
    if log_tau == math.inf or blur == 0.0:
        return top + blur, top
    # An off-diagonal below rounding is not known to be smaller than that.
    target = float(np.sum(np.log(np.maximum(off, blur)))) - log_tau
    # In x = ln(t − top) the left side is increasing, below the target at −∞ and above it at target/k.
    low = math.log(blur) - 45.0
    high = max(target / theta.size, low + 1.0)
    rest = top - theta
    for _ in range(80):
        middle = 0.5 * (low + high)
        if float(np.sum(np.log(math.exp(middle) + rest))) < target:
            low = middle
        else:
            high = middle
    return top + math.exp(high) + blur, top
