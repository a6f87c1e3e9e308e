"""The convex problem of counts: measurements, likelihood, when to end, and where to begin."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import is_real, is_word, number, whole
from ...domains.sets import Spectrahedron
from ...matrices.factors import Symmetric
from ...measurements.pauli import Pauli
from ...measurements.product import Product
from ...objectives import Fit
from ...places.numpy import Array
from ...places.pauli import through
from ...problem import Problem
from ...result import Result
from ...solve import solve
from ...stop import Status, Stop
from .counts import Counted
from .outcomes import OWNER, Reader
from .settings import Setting, bases_or_say, letters, word
from .signs import signs_or_say

LIKELIHOODS = ("multinomial", "least-squares", "weighted")
_ORDERS = ("same", "reversed")
_NATS = 0.01  # gap per dimension: far below the ½ a parameter that chance alone is worth
_SHARE = 1e-4  # gap as a share of what is gained over the fully mixed state, for least squares
_LITTLE = 1e-3  # of the value of the fully mixed state: no gain smaller than this is asked to be resolved
_CHANCES = 1e-6  # how far chances may sum to something else than one
_FLOOR = 0.5  # added to every count where a variance is estimated from it
_MIXED = 0.02  # weight of the noise that a warm start has, so that no chance is zero
_NOISE = 32  # vectors of that noise, in large dimensions


@dataclass(frozen=True, eq=False)
class Scheme:
    """What settings mean: Pauli letters, read out as they are or through confusion matrices, or POVMs of one's own."""

    readout: Any = None
    povms: Any = None
    backwards: bool = False
    signs: str | None = None  # what stands for the outcomes 0, 1, …
    bases: str | None = None  # what digits in settings stand for

    def reader(self, setting: Setting) -> Reader:
        if self.povms is None:
            return Reader((2,) * len(setting), self.backwards, letters(setting, self.bases), self.signs)
        parts = _several("povms", self.povms)
        if len(setting) != len(parts):
            raise ValueError(f"{OWNER}: setting {word(setting)!r} names {len(setting)} parts; povms has {len(parts)}.")
        for i, (part, one) in enumerate(zip(parts, setting, strict=True)):
            if isinstance(part, dict) and one not in part:
                known = ", ".join(map(repr, part)) or "none"
                raise ValueError(
                    f"{OWNER}: setting {word(setting)!r} asks part {i} for {one!r}; its measurements are {known}."
                )
        chosen = [part[one] if isinstance(part, dict) else part for part, one in zip(parts, setting, strict=True)]
        for i, each in enumerate(chosen):
            if np.ndim(each) != 3:
                raise TypeError(
                    f"{OWNER}: povms[{i}] must be an array (outcomes, d, d), or a dictionary that names several such."
                )
        return Reader(tuple(len(each) for each in chosen), self.backwards, setting, self.signs)

    def measurements(self, settings: tuple[Setting, ...]) -> Any:
        if self.povms is not None:
            named = [part if isinstance(part, dict) else {"": part} for part in self.povms]
            asked = [
                tuple(one if one in part else "" for one, part in zip(setting, named, strict=True))
                for setting in settings
            ]
            return Product(named, asked)
        words = [word(setting).upper() for setting in settings]
        given = None if self.readout is None else _several("readout", self.readout)
        for i, each in enumerate(given or ()):
            if np.shape(each) != (2, 2):
                raise ValueError(f"{OWNER}: readout[{i}] must be a 2×2 confusion matrix; give one a qubit, in a list.")
            _columns_or_say(i, np.asarray(each))
        count = len(settings[0]) if given is None else len(given)
        if count != len(settings[0]):
            raise ValueError(f"{OWNER}: readout has {count} confusion matrices for {len(settings[0])} qubits.")
        return Pauli(words, readout=self.readout)


def scheme_or_say(readout: Any, povms: Any, bit_order: Any, outcomes: Any, bases: Any) -> Scheme:
    """How settings and outcomes are meant, or a sentence on what cannot be."""
    if not isinstance(bit_order, str) or bit_order not in _ORDERS:
        raise ValueError(f"{OWNER}: bit_order must be 'same' or 'reversed', got {bit_order!r}.")
    if readout is not None and povms is not None:
        raise ValueError(f"{OWNER}: give readout or povms, not both; povms.confused(povm, confusion) joins them.")
    return Scheme(readout, povms, bit_order == "reversed", signs_or_say(outcomes), bases_or_say(bases))


def _columns_or_say(i: int, confusion: Array) -> None:
    """Whoever gives rows that sum to one is told to turn them; what else is wrong is told elsewhere."""
    if confusion.dtype.kind in "iuf":
        rows, columns = (np.abs(confusion.sum(axis=axis) - 1.0).max() for axis in (1, 0))
        if rows < _CHANCES < columns:
            raise ValueError(
                f"{OWNER}: readout[{i}] has rows that sum to one, but column t must have the chances of what is read "
                "where t was the outcome; give its transpose."
            )


def _several(name: str, given: Any) -> list[Any]:
    """One a part."""
    if isinstance(given, dict | str) or not isinstance(given, Iterable):
        raise TypeError(f"{OWNER}: {name} must be a list with one entry a part, got {type(given).__name__}.")
    return list(given)


@dataclass(frozen=True, eq=False)
class Task:
    """Counts with their measurements and what is asked of the fit."""

    data: Counted
    measurements: Any
    likelihood: str = "multinomial"
    hedging: float = 0.0
    tolerance: Any = "auto"
    max_iter: int = 500
    device: Any = None

    @property
    def dimension(self) -> int:
        return int(self.measurements.shape[0])

    def problem(self, counts: Array | None = None) -> Problem:
        """The convex problem of these counts, or of others of the same settings, where it is to be solved."""
        problem = self._problem_here(counts)
        return problem if self.device is None else problem.to(self.device)

    def _problem_here(self, counts: Array | None) -> Problem:
        data = self.data if counts is None else self.data.with_counts(counts)
        domain = Spectrahedron(self.dimension)
        hedged = data.counts
        if self.hedging:  # so many shots a setting, spread evenly over its outcomes
            hedged = hedged + data.spread(self.hedging / np.diff(data.starts))
        if self.likelihood == "multinomial":
            return Problem(Fit(self.measurements, hedged, "multinomial"), domain)
        shots = np.maximum(np.add.reduceat(hedged, data.starts[:-1]), 1e-300)
        frequency = hedged / data.spread(shots)
        weights = data.spread(shots)
        if self.likelihood == "weighted":
            several = data.spread(np.diff(data.starts).astype(float))
            chance = (hedged + _FLOOR) / (data.spread(shots) + _FLOOR * several)
            weights = weights / (chance * (1.0 - chance))
        return Problem(Fit(self.measurements, frequency, "squared", weights), domain)

    def solve(self, problem: Problem, start: Any = None, seed: int = 0) -> Result:
        """Until the certified gap is what was asked for."""
        most = self.max_iter
        if is_word(self.tolerance, "auto") and self.likelihood != "least-squares":
            wanted = _NATS * min(self.dimension, float(self.data.counts.sum()))  # few shots have few nats to tell
            return solve(problem, stop=Stop(gap=wanted, max_steps=most), start=start, seed=seed)
        share = _SHARE if is_word(self.tolerance, "auto") else float(self.tolerance)
        # f(I/d) − f* is not known beforehand; what two steps have gained is no more than that
        mixed, rough = self.mixed_value(problem), solve(problem, stop=Stop(max_steps=2), start=start, seed=seed)
        # where the mixed state is nearly the best one there is next to no gain, and a share of it is rounding
        wanted = max(share * (mixed - rough.value), _LITTLE * share * abs(mixed))
        if rough.gap <= wanted:
            return replace(rough, status=Status.GAP)
        return solve(problem, stop=Stop(gap=wanted, max_steps=most), start=rough, seed=seed)

    def mixed_value(self, problem: Problem) -> float:
        """f(I/d), from the chances of the fully mixed state."""
        home = self._problem_here(None) if self.device is not None else problem
        value, _ = home.objective.evaluate(self.mixed_chances)
        return float(value)

    @property
    def mixed_chances(self) -> Array:
        """tr E/d for every outcome."""
        measurements = self.measurements
        d = self.dimension
        if isinstance(measurements, Pauli):
            even = np.full((1, d), 1.0 / d)
            even = even if measurements.readout is None else through(measurements.readout, even)
            return np.tile(even[0], len(measurements.settings))
        if measurements.dense:
            whole = np.eye(d, dtype=measurements.dtype)
            return np.asarray(measurements.measure(whole, np.full(d, 1.0 / d), whole))
        each = [part if isinstance(part, dict) else {"": part} for part in measurements.parts_given]
        traces = [{name: np.einsum("oii->o", E).real for name, E in part.items()} for part in each]
        rows = []
        for setting in measurements.settings:
            row = np.ones(1)
            for one, part in zip(setting, traces, strict=True):
                row = np.outer(row, part[one]).reshape(-1)
            rows.append(row / d)
        return np.concatenate(rows)

    def chances(self, state: Symmetric, measurements: Any = None) -> Array:
        """The chances of all outcomes in a state, none negative, those of a setting summing to one."""
        U, s = state.vectors, state.weights
        given = self.measurements if measurements is None else measurements
        return np.maximum(given.measure(U, s, U), 0.0)

    def warm(self, state: Symmetric) -> Symmetric:
        """A state with a little noise, where no chance is zero."""
        d, dtype = self.dimension, state.vectors.dtype
        if d <= 4 * _NOISE:
            noise = np.eye(d, dtype=dtype)
        else:
            noise = np.linalg.qr(np.random.default_rng(0).standard_normal((d, _NOISE)))[0].astype(dtype)
        width = noise.shape[1]
        weights = np.concatenate([(1 - _MIXED) * state.weights, np.full(width, _MIXED / width)])
        return Symmetric(np.concatenate([state.vectors, noise], axis=1), weights)


def task_or_say(
    data: Counted,
    scheme: Scheme,
    likelihood: Any,
    hedging: Any,
    tolerance: Any,
    max_iter: Any = 500,
    device: Any = None,
) -> Task:
    """Counts, and what is asked of their fit, or a sentence on what cannot be asked."""
    kind, share = likelihood_or_say(likelihood), tolerance_or_say(tolerance)
    most, shots = whole(OWNER, "max_iter", max_iter), hedging_or_say(hedging)
    return Task(data, scheme.measurements(data.settings), kind, shots, share, most, device)


def as_state(X: Any) -> Symmetric:
    """What a solve over density matrices returns."""
    assert isinstance(X, Symmetric)
    return X


def impossible(task: Task) -> None:
    """Refuse counts of outcomes that have no chance in any state."""
    chances, data = task.mixed_chances, task.data
    wrong = np.flatnonzero((data.counts > 0) & (chances <= 0.0))
    if wrong.size:
        s = int(np.searchsorted(data.starts, wrong[0], side="right")) - 1
        raise ValueError(
            f"{OWNER}: setting {data.words[s]!r}: outcome {wrong[0] - data.starts[s]} was counted "
            f"{data.counts[wrong[0]]:g} times, but it is impossible: its element of the POVM is zero."
        )


def likelihood_or_say(likelihood: Any) -> str:
    if not isinstance(likelihood, str) or likelihood not in LIKELIHOODS:
        raise ValueError(f"{OWNER}: likelihood must be one of {', '.join(LIKELIHOODS)}, got {likelihood!r}.")
    return str(likelihood)


def tolerance_or_say(tolerance: Any) -> Any:
    if is_word(tolerance, "auto"):
        return tolerance
    if not is_real(tolerance) or not 0.0 < tolerance < math.inf:
        raise ValueError(f"{OWNER}: tolerance must be 'auto' or a positive number, got {tolerance!r}.")
    return float(tolerance)


def hedging_or_say(hedging: Any) -> Any:
    return hedging if is_word(hedging, "auto") else number(OWNER, "hedging", hedging)
