"""How many numbers of a state the settings tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...measurements.pauli import Pauli
from ...places.numpy import Array

_CODES = 10  # qubits up to which all 4ⁿ strings are kept in a table
_SORTED = 14  # qubits up to which the strings of all settings are sorted
_NOTHING = 1e-9  # determinant of a confusion matrix whose two columns are the same
_RANKED = 16, 600  # dimension and outcomes up to which elements of any other measurement are compared


def told(measurements: Any, starts: Array) -> int:
    """The dimension of what is measured, less the trace: of qubits, how many Pauli strings have their mean measured.

    A number of settings have strings in common: ZZ and ZX both tell the mean of ZI. In large dimensions it
    is an upper bound.
    """
    d = int(measurements.shape[0])
    bound = min(d * d - 1, int((np.diff(starts) - 1).sum()))
    if isinstance(measurements, Pauli):
        if measurements.qubits > _SORTED:
            return bound
        return min(bound, _strings(_read(measurements), measurements.qubits) - 1)
    if d > _RANKED[0] or measurements.size > _RANKED[1]:
        return bound
    unit = np.eye(measurements.size)
    elements = np.array([measurements.adjoint(row).dense().reshape(-1) for row in unit])
    return min(bound, int(np.linalg.matrix_rank(elements, tol=1e-9 * np.abs(elements).max())) - 1)


def _read(measurements: Pauli) -> tuple[str, ...]:
    """The settings, with I where a readout says the same of both outcomes of a qubit."""
    lost = [abs(np.linalg.det(C)) < _NOTHING for C in measurements.readout or ()]
    if not any(lost):
        return measurements.settings
    return tuple(
        "".join("I" if gone else one for gone, one in zip(lost, word, strict=True)) for word in measurements.settings
    )


def _strings(settings: tuple[str, ...], n: int) -> int:
    """Distinct strings that one gets by putting I for some letters of some settings; III… is one of them."""
    digits = np.array([["IXYZ".index(letter) for letter in word] for word in settings])
    bits = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    spread = bits * 4 ** np.arange(n)
    if n > _CODES:
        return int(np.unique(digits @ spread.T).size)
    seen = np.zeros(4**n, dtype=bool)
    for row in digits:
        seen[spread @ row] = True
    return int(seen.sum())
