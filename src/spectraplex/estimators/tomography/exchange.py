"""To and from qiskit and qutip, each loaded only where it is used."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...checks import is_word
from ...measurements.povms import pauli
from ...places.numpy import Array
from .counts import read_counts
from .fitting import Scheme, as_state, task_or_say
from .hedging import chosen
from .outcomes import OWNER, PROCESS
from .state import density_matrix

CONDITIONAL = f"{OWNER}: states that hang on the outcome of some of the measured qubits are not here yet."


def turned(rho: Array, local: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """The state with its parts the other way round: the last one first."""
    n = len(local)
    order = [*range(n)[::-1], *range(n, 2 * n)[::-1]]
    return np.asarray(rho.reshape(*local, *local).transpose(order).reshape(rho.shape)), local[::-1]


def to_qiskit(rho: Array, local: tuple[int, ...]) -> Any:
    try:
        qiskit = importlib.import_module("qiskit.quantum_info")
    except ImportError:
        raise ImportError(f"{OWNER}: to_qiskit needs qiskit; install it, or use density_matrix().") from None
    return qiskit.DensityMatrix(rho, dims=tuple(local[::-1]))


def to_qutip(rho: Array, local: tuple[int, ...]) -> Any:
    try:
        qutip = importlib.import_module("qutip")
    except ImportError:
        raise ImportError(f"{OWNER}: to_qutip needs qutip; install it, or use density_matrix().") from None
    return qutip.Qobj(rho, dims=[list(local), list(local)])


def from_qiskit(data: Any) -> tuple[list[str], list[Any]]:
    """Settings and counts of a state tomography experiment: letters and bits both end with qubit 0.

    Its circuits say with ``m_idx`` which of Z, X, Y each qubit was measured in, qubit 0 first.
    """
    given = data.data() if callable(getattr(data, "data", None)) else data
    if not isinstance(given, Iterable):
        raise TypeError(f"{OWNER}: from_qiskit needs ExperimentData or a list of its data, got {given!r}.")
    settings, counts = [], []
    for i, circuit in enumerate(given):
        facts = (circuit.get("metadata") or {}) if isinstance(circuit, dict) else {}
        if facts.get("p_idx") is not None and np.size(facts["p_idx"]):
            raise ValueError(PROCESS)
        index = facts.get("m_idx")
        if index is None or "counts" not in circuit:
            raise ValueError(
                f"{OWNER}: data {i} has no counts with a measurement index (m_idx); is this a StateTomography "
                "experiment with the Pauli basis?"
            )
        if any(int(one) not in (0, 1, 2) for one in index):
            raise ValueError(f"{OWNER}: data {i} is measured in a basis other than Z, X, Y; use fit with povms.")
        settings.append("".join("ZXY"[int(one)] for one in np.asarray(index)[::-1]))
        if facts.get("cond_clbits"):
            raise ValueError(CONDITIONAL)
        counts.append(_of_qubits(circuit["counts"], facts.get("clbits"), len(settings[-1])))
    return settings, counts


def _of_qubits(counts: Any, clbits: Any, qubits: int) -> dict[Any, float]:
    """Counts of the bits that the tomography wrote, summed over those that the circuit itself wrote."""
    out: dict[Any, float] = {}
    for outcome, count in counts.items():
        plain = outcome.replace(" ", "") if isinstance(outcome, str) else ""
        if clbits is not None and len(clbits) == qubits < len(plain) and set(plain) <= {"0", "1"}:
            outcome = "".join(plain[-1 - int(bit)] for bit in reversed(list(clbits)))
        out[outcome] = out.get(outcome, 0) + count
    return out


def tomography_fitter(
    outcome_data: Any,
    shot_data: Any,
    measurement_data: Any,
    preparation_data: Any,
    measurement_basis: Any = None,
    measurement_qubits: Any = None,
    *,
    likelihood: str = "multinomial",
    hedging: Any = 0.0,
    tolerance: Any = "auto",
    **others: Any,
) -> tuple[Any, dict[str, Any]]:
    """A fitter for qiskit-experiments: ``StateTomographyAnalysis().set_options(fitter=tomography_fitter)``.

    Called with the counts of every setting, (1, settings, outcomes), the shots, and the index of each qubit's
    measurement in ``measurement_basis``, qubit 0 first. Returns the density matrix and a dictionary that has the
    certified gap in nats beside what the analysis asks for. ``fitter_options`` may have likelihood, hedging, tolerance.
    """
    if np.size(preparation_data) or others.get("preparation_basis") is not None:
        raise ValueError(PROCESS)
    if others.get("conditional_measurement_indices"):
        raise ValueError(CONDITIONAL)
    began, index = time.perf_counter(), np.asarray(measurement_data, dtype=np.int64)
    qubits = list(range(index.shape[1])) if measurement_qubits is None else list(measurement_qubits)
    parts = [_local(measurement_basis, qubit, index[:, place]) for place, qubit in enumerate(qubits)][::-1]
    settings = [tuple(str(one) for one in row[::-1]) for row in index]
    scheme, counts = Scheme(povms=parts), np.asarray(outcome_data, dtype=np.float64)
    counts = counts.reshape(-1, *counts.shape[-2:])
    fits, gaps = [], []
    for each in counts:
        if len(counts) > 1 and not each.any():  # an outcome of the circuit that never came has a state of weight zero
            d = math.prod(next(iter(part.values())).shape[1] for part in parts)
            fits.append(np.zeros((d, d)))
            gaps.append(0.0)
            continue
        data = read_counts(settings, each, scheme.reader)
        task = task_or_say(data, scheme, likelihood, hedging, tolerance)
        if is_word(hedging, "auto"):
            task = replace(task, hedging=chosen(task, 0))
        result = task.solve(task.problem())
        fits.append(each.sum() / counts.sum() * density_matrix(as_state(result.X)))
        gaps.append(result.gap)
    local = tuple(int(next(iter(part.values())).shape[1]) for part in parts[::-1])
    facts: dict[str, Any] = {"fitter": "tomography_fitter", "gap": gaps[0] if len(gaps) == 1 else gaps}
    facts |= {"fitter_time": time.perf_counter() - began, "input_dims": (1,), "output_dims": local}
    facts |= {"conditional_circuit_outcome": list(range(len(fits)))} if len(fits) > 1 else {}
    return (fits[0] if len(fits) == 1 else fits), facts


def _local(basis: Any, qubit: int, used: Array) -> dict[str, Array]:
    """The measurements of one qubit that were used, by their index: that of Z, X, Y where no basis is given."""
    if basis is None:
        known = pauli()
        return {str(i): known["ZXY"[i]] for i in sorted(set(used.tolist()))}
    outcomes = range(int(basis.outcome_shape((qubit,))[0]))
    return {
        str(i): np.array([np.asarray(basis.matrix((i,), o, (qubit,))) for o in outcomes])
        for i in sorted(set(used.tolist()))
    }
