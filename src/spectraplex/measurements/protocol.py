"""What a measurement is: a linear map X ↦ z = 𝒜(X) of low-rank matrices, with its adjoint and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from ..fingerprint import fingerprint, identity, stream
from ..matrices.operators import Operator
from ..places.numpy import Array

EXACT = 3000  # Gram matrices up to this size are decomposed; beyond, a bound that holds is used instead


class Measurements(Protocol):
    """𝒜: matrices of ``shape`` ↦ ``size`` numbers, linear; z is a flat array.

    A measurement of your own needs these five. Optional, each asked for by name in ``Facts``: ``parts()`` (arrays and
    words it depends on, for fingerprints), ``reach`` (an upper bound on ‖𝒜‖), ``require_hermitian()`` (called by a
    domain of Hermitian matrices), ``coverage(weights)``, ``positive`` (see ``is_positive``).
    """

    shape: tuple[int, int]
    size: int
    dtype: str

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        """𝒜(U diag(s) Vᴴ)."""
        ...

    def adjoint(self, slope: Array) -> Operator:
        """𝒜*(slope): something that multiplies."""
        ...


@dataclass(frozen=True)
class Facts:
    """What is known of a measurement beside its products; an attribute of the same name says it.

    Attributes
    ----------
    real : z is real whatever X is; else z is complex where X is.
    row : numbers in a row of z, where it has rows.
    order : entry e of z is observation order[e] of the user; None where the order is the user's.
    summed : how many numbers one measurement adds up.
    single : factors may come in single precision, because every sum is in double.
    dense : 𝒜*(slope) is an ordinary matrix.
    held : numbers in dense arrays that one product reads.
    at_hand : eigenvalues of 𝒜*𝒜 take little work.
    require_hermitian : refuses measurements that are not about Hermitian matrices; called by domains of those.
    coverage : weights ↦ squares of the entries of the Aᵢ, weighted and summed over every row, and over every column.
    extremes : weights, whether among Hermitian matrices ↦ bounds on the largest and least eigenvalue of 𝒜*diag(w)𝒜.
    some : sorted numbers of observations (rows of z where it has rows) ↦ the measurement of those alone.
    device : the device of the tensors they came as; None for arrays.
    measurements : the measurements themselves.
    reach : an upper bound on ‖𝒜‖; read when it is asked for, as it may take work.
    """

    real: bool = False
    row: int | None = None
    order: Any = None
    summed: int = 0
    single: bool = False
    dense: bool = False
    held: int = 0
    at_hand: bool = False
    require_hermitian: Callable[[], Any] | None = None
    coverage: Callable[[Array | None], tuple[Array, Array]] | None = None
    extremes: Callable[[Array | None, bool], tuple[float, float]] | None = None
    some: Callable[[Array], Any] | None = None
    device: str | None = None
    measurements: Any = None

    @cached_property
    def reach(self) -> float | None:
        told: float | None = getattr(self.measurements, "reach", None)
        return told

    @classmethod
    def of(cls, measurements: Any) -> Facts:
        """Read from a measurement, in this one place."""
        names = cls.__dataclass_fields__
        known = {name: getattr(measurements, name) for name in names if hasattr(measurements, name)}
        return cls(**(known | {"measurements": measurements}))


_NEEDED = ("shape", "size", "dtype", "measure", "adjoint")


def measurement_or_say(owner: str, measurements: Any) -> None:
    """Refuse what is no measurement, saying what it lacks."""
    missing = [name for name in _NEEDED if not hasattr(measurements, name)]
    if missing or isinstance(measurements, type):
        what = measurements.__name__ if isinstance(measurements, type) else type(measurements).__name__
        lacks = "" if isinstance(measurements, type) else f", it lacks {', '.join(missing)}"
        raise TypeError(
            f"{owner}: {what} is no measurement{lacks}; use one such as sx.Entries(rows, cols, shape), or see the "
            "Measurements protocol."
        )


def is_positive(measurements: Any) -> bool:
    """Whether all measured matrices are positive semidefinite, so that z ≥ 0 for every X ⪰ 0: ``positive`` says it.

    No part of ``Facts``: it may take the eigenvalues of every matrix, and few losses ask.
    """
    return bool(getattr(measurements, "positive", False))


def parts_of(measurements: Measurements) -> tuple[Any, ...]:
    """Everything a measurement depends on; one that does not say is known by its public attributes."""
    m, n = measurements.shape
    name = f"{type(measurements).__qualname__} {m}×{n} {measurements.dtype}"
    if hasattr(measurements, "parts"):
        return (name, *measurements.parts())
    return (name, identity(measurements))


def flat_image(measurements: Measurements, z: Any) -> Array:
    """An image, if it is as long and as flat as it is said to be."""
    if np.shape(z) != (measurements.size,):
        raise ValueError(
            f"{type(measurements).__name__}: measure must return a flat array of {measurements.size} numbers (its "
            f"size), got shape {np.shape(z)}; run spectraplex.check on it."
        )
    return cast(Array, z)


def of_dense(measurements: Measurements, X: Array) -> Array:
    """𝒜 of an ordinary matrix, which is X·diag(1)·Iᴴ."""
    n = X.shape[1]
    return np.asarray(measurements.measure(X, np.ones(n), np.eye(n, dtype=X.dtype)))


class Gram:
    """y ↦ 𝒜(𝒜*(y)), with √w on both sides where there are weights: its eigenvalues are those of 𝒜*diag(w)𝒜."""

    def __init__(self, measurements: Measurements, weights: Array | None = None) -> None:
        self.measurements, self.shape = measurements, (measurements.size,) * 2
        self.root = None if weights is None else np.sqrt(weights)
        self.dtype = "float64" if Facts.of(measurements).real else np.dtype(measurements.dtype).name

    def matmat(self, Y: Array) -> Array:
        return np.stack([self._column(y) for y in Y.T], axis=1)

    def _column(self, y: Array) -> Array:
        held = self.measurements
        y = y if self.root is None else self.root * y
        G = held.adjoint(np.ascontiguousarray(y))
        z = held.of_operator(G) if hasattr(held, "of_operator") else of_dense(held, G.dense())
        return np.asarray(z if self.root is None else self.root * z)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of 𝒜*diag(w)𝒜, from the Gram matrix of up to ``EXACT`` measurements; beyond, a bound."""

    measurements: Measurements
    weights: Array | None = None

    @cached_property
    def values(self) -> Array:
        """Eigenvalues of the Gram matrix, largest first."""
        held = self.measurements
        if hasattr(held, "gram"):
            matrix = held.gram()
            if self.weights is not None:
                root = np.sqrt(self.weights)
                matrix = root[:, None] * matrix * root
        else:
            operator = Gram(held, self.weights)
            matrix = operator.matmat(np.eye(held.size, dtype=operator.dtype))
            matrix = 0.5 * (matrix + matrix.conj().T)
        return np.linalg.eigvalsh(matrix)[::-1]

    @cached_property
    def largest(self) -> float:
        """λ_max: exact up to ``EXACT`` measurements, beyond that a true upper bound.

        The bound is that of ``bounds.upper_bound`` (within 0.1 %, failure probability 10⁻¹²): a Ritz value would be
        too small, and a smoothness that is too small is no smoothness.
        """
        if self.measurements.size <= EXACT:
            return float(max(self.values[0], 0.0))
        from ..eigen.bounds import upper_bound

        rng = stream(0, fingerprint(*parts_of(self.measurements)))
        return upper_bound(Gram(self.measurements, self.weights), failure=1e-12, relative=1e-3, rng=rng).value

    def smallest(self, dimension: int) -> float:
        """λ_min on a space of that dimension: positive only with enough measurements; zero where it is not known."""
        if not dimension <= self.measurements.size <= EXACT:
            return 0.0
        value = float(self.values[dimension - 1])
        return value if value > 1e-12 * self.values[0] else 0.0
