"""Pauli: the outcomes of measuring every qubit in a basis of its own, or expectation values of Pauli strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..matrices.operators import Dense, Operator, column_scores
from ..places.numpy import EPS, Array, dagger
from ..places.pauli import Factored, Whole, through
from .pauli_words import read_outcomes, read_words
from .povms import confusion_or_say
from .protocol import EXACT

_WHOLE = 10  # qubits up to which states are matrices of 4ⁿ numbers; beyond, factors are rotated


class Pauli:
    """Chances of outcomes ⟨o|R_s ρ R_sᴴ|o⟩ of settings such as "XZY", or expectation values tr(Pρ) of strings.

    Nothing is stored but the words. Settings share what they have in common, and all 2ⁿ outcomes of a setting are
    found at once: all 3ⁿ settings of 8 qubits take some milliseconds.

    Parameters
    ----------
    settings : words of the letters X, Y, Z, one letter a qubit. The numbers measured are, setting after setting, the
        chances of the outcomes 00…0, 00…1, …, 11…1, the bit of the first letter first; 0 is the eigenvalue +1.
    outcomes : one a setting, bits or a number: only the chances of those. Name a setting as often as needed.
    expectations : the words are Pauli strings, in which I may stand, and their expectation values are measured.
    readout : a confusion matrix a letter: column t has the chances of what is read where t was the outcome.

    Examples
    --------
    >>> import spectraplex as sx
    >>> sx.Pauli(["XZ", "YY"])
    Pauli(2 settings of 2 qubits, all outcomes)
    """

    real = True

    def __init__(self, settings: Any, outcomes: Any = None, *, expectations: bool = False, readout: Any = None) -> None:
        words, digits = read_words("Pauli", settings, identity=bool(expectations))
        if expectations and outcomes is not None:
            raise ValueError("Pauli: an expectation value is about all outcomes; leave out one of the two arguments.")
        self.settings, self.expectations = tuple(words), bool(expectations)
        self.qubits = int(digits.shape[1])
        self.readout = None if readout is None else _readout(readout, self.qubits, self.expectations)
        dimension = 1 << self.qubits
        self.outcomes = None if outcomes is None else read_outcomes("Pauli", outcomes, len(words), self.qubits)
        self._outcomes = None if self.outcomes is None else Kept(self.outcomes)
        self.shape = (dimension, dimension)
        self.size = len(words) * (1 if self.expectations or outcomes is not None else dimension)
        self.dtype = "complex128" if (digits == 3).any() else "float64"
        self.positive = not self.expectations
        self.summed = dimension
        self.dense = self.qubits <= _WHOLE
        self.single = not self.dense  # rotations of rough factors need no more; chances are summed in double
        self._digits = digits
        self._engine = (Whole if self.dense else Factored)(digits, self.expectations, self.dtype)
        if self.size > EXACT:  # fewer have theirs worked out
            self.extremes = self._extremes
        # ‖C ⊗ D ⊗ …‖
        self._spread = float(np.prod([np.linalg.norm(C, 2) for C in self.readout or ()])) * (1 + 1e-12)
        self._most = int(np.bincount(self._engine.where).max())  # how often the same words stand there

    @property
    def reach(self) -> float:
        """‖𝒜‖: the chances of one setting are the diagonal of a rotated matrix; strings are orthogonal, ‖P‖² = 2ⁿ."""
        if self.expectations:
            return float(np.sqrt(self._most * self.shape[0])) * (1 + 1e-12)
        return float(np.sqrt(len(self.settings))) * (1 + 1e-12) * self._spread

    def _extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """Bounds on the largest and least eigenvalue of 𝒜*diag(w)𝒜."""
        return self.reach**2 * (1.0 if weights is None else float(weights.max())), 0.0

    def require_hermitian(self) -> None:
        """Projectors and Pauli strings always are."""

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        engine = self._engine
        if U.shape[0] != self.shape[0] or V.shape[0] != self.shape[0]:  # compiled loops do not look
            raise ValueError(
                f"Pauli: factors of {U.shape[0]} and {V.shape[0]} rows for {self.qubits} qubits; {self.shape[0]} are "
                "needed."
            )
        image = engine.measure(U, s) if V is U else _two_sided(engine, U, s, V)
        return self._picked(image)

    def of_operator(self, G: Operator) -> Array:
        """The same of a Hermitian matrix that is at hand."""
        if isinstance(self._engine, Whole):
            return self._picked(self._engine.of_matrix(G.dense()))
        identity = np.eye(self.shape[0], dtype=self.dtype)
        return self.measure(G.dense(), np.ones(self.shape[0]), identity)

    def _picked(self, image: Array) -> Array:
        """Of all outcomes of the distinct settings, those that were asked for, in the user's order."""
        where = self._engine.where
        if self.readout is not None:
            image = through(self.readout, image)
        picked: Array = image[where] if self._outcomes is None else image[where, self._outcomes.held]
        return picked.reshape(-1)

    def adjoint(self, slope: Array) -> Operator:
        engine = self._engine
        shape = (engine.count, 1 if self.expectations else self.shape[0])
        if isinstance(slope, np.ndarray):
            given = self._given(slope, shape)
        else:
            from ..places.pauli_torch import spread

            given = spread(slope, engine.where, self._outcomes and self._outcomes.held, shape)
        total = float(np.abs(slope).sum())
        if self.readout is not None:
            turned = [C.T for C in self.readout]
            total = 2.0 * float(through(turned, np.abs(given)).sum())  # twice: the sums over outcomes are rounded, too
            given = through(turned, given)

        def blur() -> float:
            """Every number went through two or three additions a qubit, and all of a setting's sum up to tr P."""
            return 8.0 * EPS * (self.qubits + 2.0) * total

        if isinstance(engine, Whole):
            return Dense(engine.matrix(given), True, blur)
        return Rotated(engine, given, self.shape, self.dtype, blur())

    def _given(self, slope: Array, shape: tuple[int, int]) -> Array:
        """The slope of every outcome of the distinct settings; those of settings that were named twice add up."""
        given, where = np.zeros(shape), self._engine.where
        if self._outcomes is not None:
            np.add.at(given, (where, self._outcomes.held), slope)
        elif shape[0] == len(self.settings):
            given[where] = slope.reshape(shape)
        else:
            np.add.at(given, where, slope.reshape(len(self.settings), -1))
        return given

    def parts(self) -> tuple[Any, ...]:
        kind = "strings" if self.expectations else "settings"
        held = () if self.outcomes is None else (self.outcomes,)
        return (kind, self._digits, *held, *(self.readout or ()))

    def __repr__(self) -> str:
        what = "strings" if self.expectations else "settings"
        seen = "expectation values" if self.expectations else "all outcomes"
        seen += "" if self.readout is None else " through a noisy readout"
        if self.outcomes is not None:
            return f"Pauli({self.size} outcomes of {self.qubits} qubits)"
        return f"Pauli({len(self.settings)} {what} of {self.qubits} qubits, {seen})"


class Kept:
    """An array that stays on this machine, wherever the measurements go."""

    __slots__ = ("held",)

    def __init__(self, held: Array) -> None:
        self.held = held


def _readout(readout: Any, qubits: int, expectations: bool) -> list[Array]:
    """One confusion matrix a qubit, checked."""
    if expectations:
        raise ValueError("Pauli: readout is about outcomes; expectation values have none.")
    found = [confusion_or_say("Pauli", each, 2) for each in readout]
    if len(found) != qubits or any(C.shape != (2, 2) for C in found):
        raise ValueError(f"Pauli: readout must have one 2×2 confusion matrix for each of {qubits} qubits.")
    return found


def _two_sided(engine: Any, U: Array, s: Array, V: Array) -> Array:
    """Of the Hermitian part of U diag(s) Vᴴ: 4 Re uv̄ = |u + v|² − |u − v|²."""
    both = np.concatenate([U + V, U - V], axis=1)
    return cast(Array, engine.measure(both, np.concatenate([s, -s]) / 4.0))


@dataclass(frozen=True, eq=False)
class Rotated:
    """Σ_s R_sᴴ diag(slope_s) R_s by its products: factors are rotated there and back."""

    engine: Any
    slope: Array
    shape: tuple[int, int]
    dtype: str
    blur: float
    hermitian: bool = True

    def noise(self) -> float:
        return self.blur

    def matmat(self, V: Array) -> Array:
        return cast(Array, self.engine.multiply(self.slope, V))

    def rmatmat(self, U: Array) -> Array:
        return self.matmat(U)

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return column_scores(self, P, Q, count)

    def dense(self) -> Array:
        identity: Any = np.eye(self.shape[0], dtype=self.dtype)
        if not isinstance(self.slope, np.ndarray):
            from ..places.pauli_torch import from_here

            identity = from_here(identity, self.slope)
        matrix = self.matmat(identity)
        return cast(Array, 0.5 * (matrix + dagger(matrix)))
