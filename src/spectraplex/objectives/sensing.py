"""Sensing: f(X) = ½ Σ (⟨Aᵢ, X⟩ − bᵢ)², from linear measurements ⟨Aᵢ, X⟩ = Re tr(AᵢᴴX)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checks import device_of, numbers
from ..losses import Squared
from ..losses.protocol import Prepared
from ..measurements.matrices import Sparses, Stack
from ..measurements.rank_ones import RankOnes
from .fit import Fit


class Sensing(Fit):
    """Least squares on linear measurements: ``Fit`` of ``Matrices`` or ``RankOnes`` by a short name.

    Parameters
    ----------
    measurements : the Aᵢ, in one of three forms:

        * a dense stack, an array of shape (N, m, n);
        * a list of N scipy-sparse matrices of one shape;
        * rank-ones aᵢaᵢᴴ (phase retrieval, covariance sketching): an array of shape (N, d) with the aᵢ as rows.
    targets : N real numbers bᵢ.

    A measurement is the real number Re tr(AᵢᴴX); with a complex rectangular X, pass A and 1j·A to see both parts.
    """

    measurements: Stack | Sparses | RankOnes

    def __init__(self, measurements: Any, targets: Any) -> None:
        self.device = device_of(measurements, targets)
        storage = _storage(measurements)
        targets = numbers("Sensing", "targets", targets, ndim=1)
        if targets.dtype.kind == "c":
            raise TypeError("Sensing: targets must be real: a measurement is the real number Re tr(AᵢᴴX).")
        if targets.size != storage.size:
            raise ValueError(f"Sensing: {storage.size} measurements but {targets.size} targets; give one target each.")
        self._set(storage, Prepared(Squared(), targets.copy(), None))

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        name = f"Sensing {self.measurements.label} {self.shape[0]}×{self.shape[1]}"
        return (name, *self.measurements.parts(), self.targets)

    def __repr__(self) -> str:
        m, n = self.shape
        kind = f"{self.measurements.size} {self.measurements.label} measurements"
        return f"Sensing({kind} of a {m}×{n} matrix, {self.dtype})"


def _storage(measurements: Any) -> Stack | Sparses | RankOnes:
    from scipy.sparse import issparse

    if issparse(measurements):
        raise TypeError("Sensing: one sparse matrix was given; pass a list of them, one per measurement.")
    if isinstance(measurements, Sequence) and measurements and all(issparse(A) for A in measurements):
        return Sparses(measurements)
    array = numbers("Sensing", "measurements", measurements)
    if array.size == 0:
        raise ValueError("Sensing: there are no measurements.")
    if array.ndim == 3:
        return Stack(array)
    if array.ndim == 2:
        return RankOnes(array, owner="Sensing")
    raise ValueError(
        f"Sensing: measurements have shape {array.shape}; pass a stack (N, m, n), a list of sparse matrices, or "
        "rank-ones as the rows of an (N, d) array."
    )
