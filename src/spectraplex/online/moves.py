"""The two moves: towards the new extreme point as a whole, or weight from one atom to it. One eigenvector each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..places.numpy import Array
from .search import AFRESH, Mover, Space, lead
from .state import State

_BLUR = 1e-10  # rounding of what a vector promises: a small difference of large numbers


@dataclass(frozen=True)
class Taken:
    """A step: its size, what its vector promised, and how far above its least value Φ can still be (or infinity)."""

    size: float
    promised: float
    left: float = math.inf


def toward(state: State, share: float, rng: np.random.Generator) -> tuple[State, Taken]:
    """X ← X + σ·(A − X) with A = size·uvᴴ the extreme point that −∇Φ leads to; σ by exact line search.

    Where weights may sum to less than one and no vector leads anywhere, A is zero.
    """
    mover = _mover(state)
    with_home = _with_home(state)
    beat = -(state.pulled + mover.mu * (state.square + with_home))
    found = lead(mover, state.space, beat, share, rng, _afresh(state))
    scale = 0.0 if state.mixture.ground.slack and found.value <= 0.0 else 1.0
    new = _Atom(state, found.u, found.v, found.image, scale)
    promised = scale * mover.ground.size * found.value - beat
    # ‖A − X‖² = ‖A − X₁‖² − 2⟨A − X₁, X − X₁⟩ + ‖X − X₁‖²
    length = new.square - 2.0 * (new.displaced - with_home) + state.square
    sigma = _line(promised, mover.mu * length, 1.0)
    pulled = (1.0 - sigma) * state.pulled + sigma * new.pulled
    # ⟨X − X₁, D⟩ with D = A − X
    along = new.displaced - state.square - with_home
    square = state.square + 2.0 * sigma * along + sigma**2 * length
    space = found.space
    here = space.Q + state.home.times(space.V) if len(state.home) else space.Q
    space = replace(space, Q=space.Q + sigma * (new.times(space.V) - here))
    # no point of the set gains more than the best vector promises, and of that at least 1 − share was found
    most = max(promised, 0.0) / (1.0 - share) + _BLUR * (abs(beat) + mover.ground.size * abs(found.value))
    gained = sigma * promised - 0.5 * sigma**2 * mover.mu * length
    taken = Taken(sigma, promised, max(most - gained, 0.0))
    return _taken(state, new, (1.0 - sigma) * state.mixture.w, sigma, (pulled, square), space), taken


def exchange(state: State, share: float, rng: np.random.Generator) -> tuple[State, Taken]:
    """X ← X + σ·(A − Aᵢ), i drawn with its weight: A leads −∇Φ − μ·wᵢ(A − Aᵢ), the rank-one-regularised choice.

    That is −∇Φ at X without its atom i. Where weights may sum to less than one, what is missing counts as one atom.
    """
    ground, w = state.mixture.ground, state.mixture.w
    odds = np.append(w, max(1.0 - float(w.sum()), 0.0) if ground.slack else 0.0)
    i = int(min(np.searchsorted(np.cumsum(odds), rng.random() * odds.sum(), "right"), odds.size - 1))
    most = float(odds[i])
    mover, old, beat = _mover(state), None, 0.0
    if i < w.size:
        u, v = state.mixture.U[:, i], state.mixture.V[:, i]
        mover = replace(mover, less=(most * ground.size, u, v))
        old = _Atom(state, u, v, mover.sum_times(v[:, None])[:, 0], 1.0)
        beat = -(old.pulled + mover.mu * (old.displaced - most * ground.size**2))
    found = lead(mover, state.space, beat, share, rng, _afresh(state))
    scale = 0.0 if ground.slack and found.value <= 0.0 else 1.0
    new = _Atom(state, found.u, found.v, found.image, scale)
    pull = new.pulled - (old.pulled if old else 0.0)
    along = new.displaced - (old.displaced if old else 0.0)
    crossed = (
        0.0 if old is None else scale * ground.size**2 * float(np.real(np.vdot(old.u, new.u) * np.vdot(new.v, old.v)))
    )
    length = (scale * ground.size) ** 2 + (ground.size**2 if old else 0.0) - 2.0 * crossed
    promised = -(pull + mover.mu * along)
    sigma = _line(promised, mover.mu * length, most)
    weights = w.copy()
    if i < w.size:
        weights[i] -= sigma
    square = state.square + 2.0 * sigma * along + sigma**2 * length
    sums = state.pulled + sigma * pull, square
    space = found.space
    turn = new.times(space.V) - (old.times(space.V) if old else 0.0)
    space = replace(space, Q=space.Q + sigma * turn)
    return _taken(state, new, np.maximum(weights, 0.0), sigma, sums, space), Taken(sigma, promised)


def _line(promised: float, bend: float, most: float) -> float:
    """The best step on a parabola with this slope and curvature."""
    if not promised > 0.0:
        return 0.0
    return most if bend <= 0.0 or promised >= most * bend else promised / bend


def _mover(state: State) -> Mover:
    return Mover(state.total, state.mixture.ground, state.ledger.strength, state.times, state.adjoint_times)


def _afresh(state: State) -> bool:
    return state.ledger.arrivals % AFRESH == 0


def _with_home(state: State) -> float:
    """⟨X − X₁, X₁⟩."""
    home = state.home
    return state.mixture.inner(home) - home.inner(home) if len(home) else 0.0


class _Atom:
    """A = scale·size·uvᴴ: ⟨S, A⟩, ⟨A, X − X₁⟩ and ‖A − X₁‖²; ``image`` is S·v."""

    def __init__(self, state: State, u: Array, v: Array, image: Array, scale: float) -> None:
        size, home = scale * state.mixture.ground.size, state.home
        self.u, self.v, self.scale, self.size = u, v, scale, size
        self.pulled = size * float(np.real(np.vdot(u, image)))
        self.displaced = size * float(np.real(np.vdot(u, state.times(v[:, None])[:, 0])))
        self.square = size**2
        if len(home):
            with_home = size * float(np.real(np.vdot(u, home.times(v[:, None])[:, 0])))
            self.square += home.inner(home) - 2.0 * with_home

    def times(self, V: Array) -> Array:
        """A·V."""
        return np.asarray(self.size * self.u[:, None] * (self.v.conj() @ V))


def _taken(state: State, new: _Atom, weights: Array, sigma: float, sums: tuple[float, float], space: Space) -> State:
    pulled, square = sums
    mixture = replace(state.mixture, w=weights)
    passed = state.passed
    if sigma * new.scale > 0.0:
        mixture, passed = mixture.with_atom(weights, new.u, new.v, sigma), np.append(passed, 0.0)
    return replace(state, mixture=mixture, passed=passed, space=space, pulled=pulled, square=max(square, 0.0))
