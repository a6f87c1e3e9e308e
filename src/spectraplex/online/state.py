"""Everything a learner has learned, as one value: an update makes a new one, and only the finished one is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..measurements.entries import Entries
from ..places.numpy import Array, contiguous
from .ground import Ground, Mixture
from .ledger import Ledger
from .search import Space
from .total import Total


@dataclass(frozen=True, eq=False)
class State:
    """``mixture`` is X_t, which is played next, and ``home`` X₁.

    ``passed`` are the weights of the atoms summed over the arrivals since the last recompressing, and ``past`` the sum
    of the points before that: together they make the average. ``pulled`` is ⟨S, X_t⟩, ``square`` ‖X_t − X₁‖².
    """

    mixture: Mixture
    home: Mixture
    passed: Array
    past: Mixture
    total: Total
    space: Space
    ledger: Ledger
    pulled: float = 0.0
    square: float = 0.0

    @classmethod
    def first(cls, ground: Ground, home: Mixture) -> State:
        passed, shape = np.zeros(len(home)), ground.shape
        return cls(home, home, passed, ground.empty(), Total.nothing(shape), Space.none(shape), Ledger())

    @property
    def average(self) -> Mixture:
        """(X₁ + … + X_T)/T of the points that were played; X₁ before the first arrival."""
        count = self.ledger.arrivals
        if not count:
            return self.mixture
        now = replace(self.mixture, w=self.passed).joined(self.past)
        return replace(now, w=now.w / count)

    def times(self, A: Array) -> Array:
        """(X − X₁)·A."""
        out = self.mixture.times(A)
        return out - self.home.times(A) if len(self.home) else out

    def adjoint_times(self, A: Array) -> Array:
        """(X − X₁)ᴴ·A."""
        out = self.mixture.adjoint_times(A)
        return out - self.home.adjoint_times(A) if len(self.home) else out

    def recompressed(self, most: int) -> State:
        """With at most half of ``most`` atoms in X and in the average; what that loses is written down."""
        few = max(1, most // 2)
        new, moved = self.mixture.recompressed(few)
        sums = replace(self.mixture, w=self.passed).joined(self.past)
        scale = float(sums.w.sum()) or 1.0  # the sum of all points played: made a mixture, and back
        past, off = replace(sums, w=sums.w / scale).recompressed(few)
        past = replace(past, w=past.w * scale)
        square = self._square(new)
        pulled = self.total_pull(new)
        before, mu = self.pulled + 0.5 * self.ledger.strength * self.square, self.ledger.strength
        rise = max(pulled + 0.5 * mu * square - before, 0.0) if moved else 0.0
        count = max(self.ledger.arrivals, 1)
        ledger = replace(
            self.ledger,
            error=self.ledger.error + rise,
            lost=self.ledger.lost + moved,
            lost_average=self.ledger.lost_average + off * scale / count,
        )
        held = replace(self, mixture=new, passed=np.zeros(len(new)), past=past, ledger=ledger)
        space = replace(self.space, Q=held.times(self.space.V))
        return replace(held, space=space, pulled=pulled, square=square)

    def total_pull(self, mixture: Mixture) -> float:
        """⟨S, X⟩, measured afresh."""
        if not len(mixture):
            return 0.0
        images = self.total.times(mixture.V)
        each = np.einsum("ij,ij->j", mixture.U.conj(), images).real
        return float(mixture.ground.size * (mixture.w @ each))

    def _square(self, mixture: Mixture) -> float:
        square = mixture.inner(mixture)
        if len(self.home):
            square += self.home.inner(self.home) - 2.0 * mixture.inner(self.home)
        return max(square, 0.0)


def measured(measurements: Any, mixture: Mixture, kind: str) -> Array:
    """The image of a mixture; of a few entries by their own rows and columns alone."""
    U, V, weights = mixture.U, mixture.V, mixture.ground.size * mixture.w
    if isinstance(measurements, Entries):
        left, right = U[measurements.pattern.rows], V[measurements.pattern.indices]
        return np.asarray(((left * weights) * right.conj()).sum(axis=1))
    U, V = (contiguous(side.astype(np.result_type(side, kind), copy=False)) for side in (U, V))
    return np.asarray(measurements.measure(U, weights, U if mixture.ground.hermitian else V))
