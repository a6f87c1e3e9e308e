"""What is counted arrival by arrival, and the bound on the regret that follows from it.

Write g_t for the gradient of arrival t at the point X_t that was played, ‖g_t‖ ≤ G, D for the diameter of the set, R
for the largest distance from its first point X₁, and

    Φ_t(X) = Σ_{τ<t} ⟨g_τ, X⟩ + (μ_t/2)‖X − X₁‖²,   μ_t = G·t^¾/(c·D),   X*_t = argmin Φ_t.

1. Follow the regularised leader: Σ⟨g_t, X*_t − X⟩ ≤ μ_T·R²/2 + Σ min(‖g_t‖²/(2μ_t), ‖g_t‖·D) for every X.
2. One step is one eigenvector, with exact line search on Φ_{t+1}. With h_t ≥ Φ_t(X_t) − Φ_t(X*_t), and as
   ‖X − X*_t‖² ≤ 2(Φ_t(X) − Φ_t(X*_t))/μ_t, the error before the step is at most the largest e with
   e ≤ h_t + (G + (μ_{t+1} − μ_t)·R)·√(2e/μ_{t+1}), and the step takes off as much as a vector promises that has at
   least a share 1 − δ of what the best one does: h_{t+1} = e − p²/(2μ_{t+1}D²), p = (1 − δ)·e (or p − μ_{t+1}D²/2,
   where p is above μ_{t+1}D²). Once the step is done, what its vector promised says more: no point is better than X_t
   by more than promised/(1 − δ), so h_{t+1} is at most that less what the step gained, where that is smaller.
3. X_t is off X*_t by at most √(2h_t/μ_t), so the regret is at most what 1. says and Σ G·min(√(2h_t/μ_t), D) beside.

``Ledger`` carries h_t and both sums along, so the bound costs a few numbers an arrival. For large T it tends to
(ρ²/(2c) + (8/3)(c/(1 − δ)²)^⅓)·G·D·T^¾ with ρ = R/D, and c = ((9/16)ρ²(1 − δ)^⅔)^¾ is the best choice. Hazan & Kale
(2012) prove the exponent; the constants are those of the steps above. Without a given G the same holds for
μ_{t+1} = t^¼·√(Σ_{τ≤t}‖g_τ‖²)/(c·D) and the norms as they come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .ground import Ground, Mixture


@dataclass(frozen=True)
class Rule:
    """The constants: those of the set, G (zero where it is not given), δ, and c as a multiple of the best one.

    ``past`` is how many arrivals μ counts beside those that came; the bound holds for any μ that does not fall.
    ``usual`` is R of the set's own first point, which c is the best one for: one that was learned is nearer to what is
    looked for than the farthest point of the set.
    """

    diameter: float
    reach: float
    lipschitz: float
    share: float
    rate: float = 1.0
    past: int = 0
    usual: float | None = None

    @classmethod
    def of(cls, ground: Ground, home: Mixture, lipschitz: float | None, share: float, rate: float, past: int) -> Rule:
        return cls(ground.diameter, home.reach(), lipschitz or 0.0, share, rate, past, ground.reach)

    @property
    def c(self) -> float:
        ratio = (self.reach if self.usual is None else self.usual) / self.diameter
        return self.rate * float((9.0 / 16.0 * ratio**2 * (1.0 - self.share) ** (2.0 / 3.0)) ** 0.75)

    @property
    def constant(self) -> float:
        """What T^¾ is multiplied with for large T, in units of G·D."""
        c, ratio = self.c, self.reach / self.diameter
        return float(ratio**2 / (2.0 * c) + 8.0 / 3.0 * (c / (1.0 - self.share) ** 2) ** (1.0 / 3.0))

    def strength(self, arrivals: int, squares: float) -> float:
        """μ for the point after so many arrivals whose squared norms have this sum; the past had such norms, too."""
        count = arrivals + self.past
        if self.lipschitz:
            return self.lipschitz * (count + 1) ** 0.75 / (self.c * self.diameter)
        alike = squares * (count / arrivals) if self.past else squares
        return count**0.25 * math.sqrt(alike) / (self.c * self.diameter)


@dataclass(frozen=True)
class Ledger:
    """Sums over the arrivals so far. ``error`` is h at the point that is played next, ``strength`` its μ."""

    arrivals: int = 0
    observations: int = 0
    active: int = 0  # arrivals whose gradient is not zero
    places: float = 0.0  # what tells these arrivals from others, see arrivals.Mark
    sizes: float = 0.0
    signed: float = 0.0
    suffered: float = 0.0
    linear: float = 0.0  # Σ ⟨g_t, X_t⟩
    squares: float = 0.0
    largest: float = 0.0
    exceeded: int = 0
    excess: float = 0.0  # Σ of what was taken off gradients that were too large, times D
    strength: float = 0.0
    played: float = 0.0  # μ of the last point that was played
    error: float = 0.0
    stability: float = 0.0
    distance: float = 0.0
    lost: float = 0.0  # by recompressing, in Frobenius norm
    lost_average: float = 0.0

    def after(self, rule: Rule, norm: float) -> Ledger:
        """One more arrival with a gradient of this norm; the step that follows is taken as the rule promises."""
        counted = rule.lipschitz or norm
        squares, t = self.squares + norm * norm, self.arrivals + 1
        mu = self.strength if t > 1 or not rule.lipschitz else rule.strength(0, 0.0)
        far = rule.diameter
        off = min(math.sqrt(2.0 * self.error / mu), far) if mu > 0.0 else (far if self.error > 0.0 else 0.0)
        steady = min(counted * counted / (2.0 * mu), counted * far) if mu > 0.0 else counted * far
        ahead = max(rule.strength(t, squares), self.strength)  # with a past the norms may be falling
        new = replace(
            self,
            arrivals=t,
            squares=squares,
            strength=ahead,
            played=mu,
            stability=self.stability + steady,
            distance=self.distance + counted * off,
        )
        return replace(new, error=_stepped(rule, self._before(rule, counted, mu, ahead), ahead))

    def seen(self, left: float) -> Ledger:
        """The step is done: what it promised and gained may say more of the error than the theory did beforehand."""
        return replace(self, error=min(self.error, left))

    def _before(self, rule: Rule, norm: float, mu: float, ahead: float) -> float:
        """e: the error of the point played under the next Φ."""
        pull = norm + (max(ahead - mu, 0.0) * rule.reach if self.arrivals else 0.0)
        if ahead <= 0.0:
            return self.error + pull * rule.diameter
        half = pull / math.sqrt(2.0 * ahead)
        return min((half + math.sqrt(half * half + self.error)) ** 2, self.error + pull * rule.diameter)

    def bound(self, rule: Rule) -> float:
        """On the regret of all arrivals so far."""
        return 0.5 * self.played * rule.reach**2 + self.stability + self.distance


def _stepped(rule: Rule, error: float, mu: float) -> float:
    """What a step with exact line search leaves of an error."""
    promised, bend = (1.0 - rule.share) * error, mu * rule.diameter**2
    if bend <= 0.0:
        return error
    taken = promised - 0.5 * bend if promised > bend else promised**2 / (2.0 * bend)
    return max(error - taken, 0.0)


@dataclass(frozen=True)
class RegretBound:
    """What the theory says of the regret so far.

    Attributes
    ----------
    value : the bound from the constants.
    holds : False when an arrival had a larger gradient than allowed (``lipschitz`` of the learner says what is); it
        was scaled down, and ``value`` does not count what was taken off.
    at_most : ``value`` and what was taken off, times D: it holds in any case.
    arrivals, exceeded : how many there were, and how many of them were too large.
    lipschitz : G; None where the norms were taken as they came.
    largest : the largest norm of a gradient.
    constant : the bound is about constant · G · D · arrivals^¾.
    searched : whether X is so large that its eigenvectors came from a search that judges its own error; then the bound
        rests on that they were as exact as ``accuracy`` says.
    """

    value: float
    holds: bool
    at_most: float
    arrivals: int
    exceeded: int
    lipschitz: float | None
    largest: float
    constant: float
    searched: bool = False

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.holds:
            given = "the gradients as they came" if self.lipschitz is None else f"gradients up to {self.lipschitz:g}"
            given += ", eigenvectors as exact as their search says" if self.searched else ""
            return f"The regret of {self.arrivals} arrivals is at most {self.value:.6g} ({given})."
        above = "far above what was usual" if self.lipschitz is None else f"above lipschitz = {self.lipschitz:g}"
        return (
            f"The bound {self.value:.6g} does not hold: {self.exceeded} of {self.arrivals} arrivals had a gradient "
            f"{above}, the largest {self.largest:.6g}; with what was taken off them the regret is at most "
            f"{self.at_most:.6g}."
        )


def theory(rule: Rule, arrivals: int) -> float:
    """The bound after so many arrivals whose gradients are as large as G allows."""
    ledger = Ledger()
    for _ in range(arrivals):
        ledger = ledger.after(rule, rule.lipschitz)
    return ledger.bound(rule)
