"""Online learners: a point before each arrival, a loss when it comes, one leading eigenvector to move on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..checks import number, share, whole
from ..fingerprint import identity
from ..losses import named
from ..matrices.factors import Factors, as_factors
from ..measurements.protocol import Facts, measurement_or_say
from ..objectives import Fit
from ..places.numpy import Array
from ..stop import Stop
from . import arrivals, moves
from .ground import Ground, Mixture
from .ledger import RegretBound, Rule
from .regret import Regret, against_the_best
from .search import searched
from .state import State, measured
from .storage import read, write


class _Learner:
    """What both learners share; they differ in ``_move`` alone."""

    _move: ClassVar[Callable[..., tuple[State, moves.Taken]]]

    def __init__(
        self,
        domain: Any,
        loss: Any = "squared",
        *,
        lipschitz: float | None = None,
        rate: float = 1.0,
        accuracy: float = 0.2,
        max_atoms: int = 64,
        start: Any = None,
        past: int = 0,
        seed: int = 0,
    ) -> None:
        owner = type(self).__name__
        self._ground = Ground.of(owner, domain)
        self.domain, self.loss = domain, named(owner, loss)
        self.lipschitz = None if lipschitz is None else number(owner, "lipschitz", lipschitz, positive=True)
        self.rate = number(owner, "rate", rate, positive=True)
        self.accuracy = share(owner, "accuracy", accuracy)
        self.max_atoms = whole(owner, "max_atoms", max_atoms, 4)
        self.past, self.seed = whole(owner, "past", past, 0), whole(owner, "seed", seed, 0)
        home = _home(self._ground, domain, start, self.seed)
        self._rule = Rule.of(self._ground, home, self.lipschitz, self.accuracy, self.rate, self.past)
        self._state, self._probe = State.first(self._ground, home), arrivals.probe_of(self._ground)

    # ------------------------------------------------------------------------------------------------------- learning

    def update(self, measurements: Any, targets: Any, weights: Any = None) -> float:
        """One arrival: what the point that was played loses on it; then one step.

        A bad arrival is refused before anything changes, and an update that fails leaves the learner as it was.

        Parameters
        ----------
        measurements : ``sx.Entries``, ``sx.Features`` or any other measurement, as many or few as have arrived.
        targets, weights : as in ``sx.Fit``.

        Returns
        -------
        float
            The loss before the step.
        """
        state, owner = self._state, type(self).__name__
        objective = self._objective(measurements, targets, weights)
        whole = arrivals.pull_of(owner, objective, state.mixture)
        pull = arrivals.allowed(owner, whole, self._rule, state.ledger, state.home)
        mark = arrivals.Mark.of(objective, self._probe)
        ledger = arrivals.noted(state.ledger.after(self._rule, pull.counted), pull, mark, self._ground.diameter)
        new = replace(
            state,
            ledger=ledger,
            passed=state.passed + state.mixture.w,
            total=state.total.plus(pull.gradient),
            space=state.space.plus(pull.gradient, self._ground.hermitian),
            pulled=state.pulled + pull.linear,
        )
        if len(new.mixture) >= self.max_atoms:
            new = new.recompressed(self.max_atoms)
        if ledger.strength > 0.0:
            rng = np.random.default_rng([self.seed, ledger.arrivals])
            new, taken = type(self)._move(new, self.accuracy, rng)
            new = replace(new, ledger=new.ledger.seen(taken.left))
        self._state = new
        if pull.odd:
            arrivals.warn(owner, self._rule)
        return pull.value

    def _objective(self, measurements: Any, targets: Any, weights: Any) -> Fit:
        return arrivals.objective_of(type(self).__name__, self.domain, self.loss, (measurements, targets, weights))

    # ------------------------------------------------------------------------------------------------- what is learned

    @property
    def arrivals(self) -> int:
        """How many there were."""
        return self._state.ledger.arrivals

    @property
    def suffered(self) -> float:
        """The sum of the losses of all arrivals, each at the point that was played."""
        return self._state.ledger.suffered

    @property
    def X(self) -> Factors:
        """The point that is played next."""
        return self._state.mixture.factors()

    @property
    def average(self) -> Factors:
        """The mean of all points that were played: what to keep where arrivals are alike."""
        return self._state.average.factors()

    @property
    def lost(self) -> tuple[float, float]:
        """How far recompressing has moved the point and the average, all times together (Frobenius norm)."""
        return self._state.ledger.lost, self._state.ledger.lost_average

    def predict(self, measurements: Any, average: bool = False) -> Array:
        """What these measurements say of the point that is played next, or of the average; in their user's order."""
        measurement_or_say(f"{type(self).__name__}.predict", measurements)
        known = Facts.of(measurements)
        mixture = self._state.average if average else self._state.mixture
        if tuple(measurements.shape) != self._ground.shape:
            raise ValueError(
                f"{type(self).__name__}.predict: the measurements are about {tuple(measurements.shape)} matrices, the "
                f"learner about {self._ground.shape} ones."
            )
        image = measured(measurements, mixture, measurements.dtype)
        if known.order is None:
            return image
        out = np.empty_like(image)
        out[known.order] = image
        return out

    # --------------------------------------------------------------------------------------------------------- regret

    def regret(self, stream: Iterable[tuple[Any, ...]], stop: Stop | None = None) -> Regret:
        """What was lost beside the best fixed X: the stream is read again, and the batch solver certifies that X.

        It holds all of the stream at once. Arrivals may come in another order; a stream whose measurements, targets or
        weights are others than those that the learner met is refused.

        Parameters
        ----------
        stream : the same arrivals again, (measurements, targets) or (measurements, targets, weights); a list, or a
            new generator, as one can be read only once.
        stop : of the batch solver; by default a gap of 10⁻³ of what the learner suffered.
        """
        return against_the_best(self, self._state.ledger, stream, self._probe, stop)

    # -------------------------------------------------------------------------------------------------- in and out

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``learner.npz`` and ``learner.json`` into a folder that exists; never a pickle."""
        settings: dict[str, Any] = {
            "learner": type(self).__name__,
            "domain": identity(self.domain),
            "loss": identity(self.loss),
        }
        settings |= {"lipschitz": self.lipschitz, "rate": self.rate, "accuracy": self.accuracy}
        settings |= {"max_atoms": self.max_atoms, "past": self.past, "seed": self.seed}
        return write(Path(folder), self._state, settings)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], domain: Any, loss: Any = "squared") -> Any:
        """The learner that was saved, which goes on exactly where it was; domain and loss are given again."""
        settings, parts = read(Path(folder), cls.__name__)
        new = cls(
            domain,
            loss,
            lipschitz=settings["lipschitz"],
            rate=settings["rate"],
            accuracy=settings["accuracy"],
            max_atoms=settings["max_atoms"],
            past=settings["past"],
            seed=settings["seed"],
        )
        for name, given in (("domain", new.domain), ("loss", new.loss)):
            if settings[name] != identity(given):
                raise ValueError(f"{cls.__name__}.load: {folder} was saved with another {name} than {given!r}.")
        new._state = parts(new._ground)
        return new

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, {self.arrivals} arrivals, {len(self._state.mixture)} atoms)"


class OnlineConditionalGradient(_Learner):
    """Online conditional gradient (Hazan & Kale, "Projection-free online learning", 2012).

    Before each arrival it holds a point X_t of the set; the arrival says what that point loses; then one leading
    eigenvector of −Σ⟨∇_τ, X⟩ − (μ_t/2)‖X − X₁‖² and a step towards it give X_{t+1}. With G a bound on the norms of
    the gradients and D the diameter of the set, the regret against every fixed X after T arrivals is at most about
    C·G·D·T^¾, where C = ρ²/(2c) + (8/3)(c/(1 − accuracy)²)^⅓, ρ = 1 on the spectrahedron, ½ on the nuclear-norm ball
    and 1/√2 on the trace ball, and c = ((9/16)ρ²(1 − accuracy)^⅔)^¾; from a ``start`` the first ρ is the distance to
    the farthest point of the set over D. ``bound()`` adds what is of lower order. It takes the eigenvectors to be as
    exact as ``accuracy`` says, which holds up to rounding where X has up to 2,500 entries; on larger ones a Krylov
    search judges its own error.

    The memory does not grow with the number of arrivals: the sum of the gradients is sparse where ``sx.Entries``
    arrive, one number for each different entry, and an ordinary matrix of up to four million numbers otherwise.

    Parameters
    ----------
    domain : ``sx.NuclearBall``, ``sx.TraceBall`` or ``sx.Spectrahedron``.
    loss : as in ``sx.Fit``.
    lipschitz : G, a bound on the Frobenius norm of the gradient of every arrival's loss. A larger one is scaled down to
        it, with a warning. None takes the norms as they come; then one that is far above the usual, also for its number
        of observations and at X₁, is scaled down, and where the loss bends without bound, or does not say how much, one
        above four times that at X₁.
    rate : c as a multiple of the one with the least bound. Larger ones follow the data faster; ``bound()`` says what is
        proven then.
    accuracy : the share of what the best vector promises that a step may miss.
    max_atoms : when X has as many, X and the average are recompressed to half of it; ``lost`` says how far they moved.
    start : X₁, as in ``sx.solve``; zero on the balls and a random rank-one matrix on the spectrahedron by default.
    past : how many arrivals X₁ was learned from: the learner moves away from it as slowly as if it had seen them.
    seed : same seed, same result.

    Examples
    --------
    >>> import spectraplex as sx
    >>> learner = sx.online.OnlineConditionalGradient(sx.NuclearBall((3, 2), 2.0), lipschitz=2.0)
    >>> learner.update(sx.Entries([0, 1], [0, 1], (3, 2)), [1.0, 1.0])
    1.0
    >>> learner
    OnlineConditionalGradient(NuclearBall(shape=(3, 2), radius=2.0), 1 arrivals, 1 atoms)
    """

    _move = staticmethod(moves.toward)

    def bound(self) -> RegretBound:
        """The theory's bound on the regret so far, worked out from the constants (ledger.py says how)."""
        ledger, rule = self._state.ledger, self._rule
        value = ledger.bound(rule)
        return RegretBound(
            value,
            ledger.exceeded == 0,
            value + ledger.excess,
            ledger.arrivals,
            ledger.exceeded,
            self.lipschitz,
            ledger.largest,
            rule.constant,
            searched(self._ground.shape),
        )


class OnlineRankOneRegularized(_Learner):
    """An experiment: one eigenvector an arrival moves weight from one atom to another, as in the paper's Algorithm 2.

    The functions Φ_t are those of ``OnlineConditionalGradient``, and so are the parameters. No bound on its regret is
    known, so it has no ``bound``; ``regret`` measures it.
    """

    _move = staticmethod(moves.exchange)


def _home(ground: Ground, domain: Any, start: Any, seed: int) -> Mixture:
    """X₁: zero on the balls unless something else is given."""
    if start is None and ground.slack:
        return ground.empty()
    if start is None:
        factors = domain.lower(domain.start("float64", np.random.default_rng(seed)))
    else:
        factors = domain.lower(domain.raised(as_factors(start, "start")))
    U, s, V = factors.triple()
    kept = s > 0.0
    return Mixture(U[:, kept], V[:, kept], s[kept] / ground.size, ground)
