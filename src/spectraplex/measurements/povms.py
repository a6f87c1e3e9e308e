"""Local measurements for ``Product``: each function gives the elements of one POVM, an array (outcomes, d, d)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import numbers, whole
from ..places.numpy import Array, dagger

_ROWS = {
    "X": np.array([[1, 1], [1, -1]]) / np.sqrt(2),
    "Y": np.array([[1, -1j], [1, 1j]]) / np.sqrt(2),
    "Z": np.eye(2),
}


def basis(unitary: Any = 2) -> Array:
    """Projectors on the rows' kets of a unitary (row o is ⟨o|R), or of the standard basis of a dimension."""
    R = np.eye(whole("povms.basis", "dimension", unitary, 2)) if np.ndim(unitary) == 0 else np.asarray(unitary)
    R = numbers("povms.basis", "unitary", R, ndim=2)
    return np.asarray(np.einsum("oi,oj->oij", R.conj(), R))


def pauli(confusion: Any = None) -> dict[str, Array]:
    """The three Pauli bases of one qubit; ``confusion[o, t]`` is the chance to read o where t was the outcome."""
    read = np.eye(2) if confusion is None else confusion_or_say("povms.pauli", confusion, 2)
    return {name: np.einsum("ot,tij->oij", read, basis(rows)) for name, rows in _ROWS.items()}


def confused(povm: Any, confusion: Any) -> Array:
    """A POVM read through a confusion matrix: column t holds the chances of what is read where t was the outcome."""
    E = numbers("povms.confused", "povm", povm, ndim=3)
    return np.asarray(np.einsum("ot,tij->oij", confusion_or_say("povms.confused", confusion, E.shape[0]), E))


def sic() -> Array:
    """The four outcomes of a qubit's symmetric measurement, Bloch vectors on a tetrahedron."""
    third = 1.0 / 3.0
    kets = [np.array([1.0, 0.0], dtype=complex)]
    kets += [np.array([np.sqrt(third), np.sqrt(2 * third) * np.exp(2j * np.pi * k * third)]) for k in range(3)]
    return 0.5 * np.array([np.outer(ket, ket.conj()) for ket in kets])


def mub(dimension: int = 2) -> Array:
    """All vectors of d + 1 mutually unbiased bases of a prime dimension as one POVM of d(d + 1) outcomes."""
    d = whole("povms.mub", "dimension", dimension, 2)
    if any(d % q == 0 for q in range(2, int(d**0.5) + 1)):
        raise ValueError(f"povms.mub: the dimension must be a prime number, got {d}.")
    if d == 2:
        return np.concatenate([basis(rows) for rows in _ROWS.values()]) / 3.0
    j, turn = np.arange(d), np.exp(2j * np.pi / d)
    bases = [np.eye(d)]
    for a in range(d):  # ⟨j|a, b⟩ = ω^{a j² + b j}/√d, unbiased for odd primes
        bases.append(np.array([turn ** ((a * j * j + b * j) % d) for b in range(d)]).conj() / np.sqrt(d))
    return np.concatenate([basis(rows) for rows in bases]) / (d + 1)


def confusion_or_say(owner: str, confusion: Any, count: int) -> Array:
    """Chances that sum to one down every column."""
    C = numbers(owner, "confusion", confusion, ndim=2)
    if C.dtype.kind == "c":
        raise TypeError(f"{owner}: the entries of confusion are chances and must be real, got complex numbers.")
    if C.shape[1] != count:
        raise ValueError(
            f"{owner}: confusion has {C.shape[1]} columns for {count} outcomes; column t is about outcome t."
        )
    if (C < 0).any():
        raise ValueError(f"{owner}: the entries of confusion are chances, none negative; the least is {C.min():.6g}.")
    if np.abs(C.sum(axis=0) - 1.0).max() > 1e-6:
        raise ValueError(
            f"{owner}: the columns of confusion must be chances that sum to one; they sum to {C.sum(axis=0).round(6)}."
        )
    return C


def povm_or_say(owner: str, name: str, povm: Any) -> Array:
    """Positive matrices that sum to one."""
    E = numbers(owner, name, povm, ndim=3)
    if E.shape[1] != E.shape[2] or E.size == 0:
        raise ValueError(f"{owner}: {name} has shape {E.shape}; a POVM is an array (outcomes, d, d).")
    if np.abs(E - E.conj().swapaxes(1, 2)).max() > 1e-9:
        raise ValueError(f"{owner}: {name} has elements that are not Hermitian.")
    E = 0.5 * (E + E.conj().swapaxes(1, 2))
    least = float(np.linalg.eigvalsh(E).min())
    if least < -1e-9:
        raise ValueError(f"{owner}: {name} has an element with the eigenvalue {least:.3g}; chances are never negative.")
    off = float(np.abs(E.sum(axis=0) - np.eye(E.shape[1])).max())
    if off > 1e-6:
        raise ValueError(
            f"{owner}: the elements of {name} sum to a matrix that differs from the identity by {off:.3g}; add an "
            "element for what gets lost."
        )
    return E


def rank_ones(E: Array) -> tuple[Array, Array]:
    """Rows φᵣ and a matrix C ≥ 0 with Eₒ = Σᵣ C[o, r] φᵣᴴφᵣ: each eigenvector of each element, equal ones once."""
    rows: list[Array] = []
    shares: list[tuple[int, int, float]] = []
    for o, element in enumerate(E):
        values, vectors = np.linalg.eigh(element)
        for value, vector in zip(values, vectors.T, strict=True):
            if value > 1e-14:
                row = vector.conj()
                known = [r for r, old in enumerate(rows) if abs(abs(np.vdot(old, row)) - 1.0) < 1e-14]
                if not known:
                    rows.append(row)
                shares.append((o, known[0] if known else len(rows) - 1, float(value)))
    C = np.zeros((E.shape[0], len(rows)))
    for o, r, value in shares:
        C[o, r] += value
    return np.array(rows), C


def hermitian_basis(d: int) -> Array:
    """d² orthonormal Hermitian matrices."""
    out = [np.diag(np.eye(d)[i]).astype(complex) for i in range(d)]
    for i in range(d):
        for j in range(i + 1, d):
            A = np.zeros((d, d), complex)
            A[i, j] = A[j, i] = np.sqrt(0.5)
            B = np.zeros((d, d), complex)
            B[i, j], B[j, i] = -1j * np.sqrt(0.5), 1j * np.sqrt(0.5)
            out += [A, B]
    assert all(np.allclose(A, dagger(A)) for A in out)
    return np.array(out)
