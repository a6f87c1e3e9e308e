"""Functions of a state that is kept in factors: no matrix of the whole dimension unless one is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...checks import hermitian_or_say, is_real, is_whole, number, numbers, whole
from ...matrices.factors import Symmetric
from ...measurements.pauli import Pauli
from ...places.numpy import Array, dagger
from .outcomes import OWNER

_WHOLE = 4096  # largest dimension of a matrix that is made for a user


def shots_or_say(shots: Any, count: int) -> Array:
    """So many shots of each of ``count`` settings."""
    each = numbers(OWNER, "shots", shots)
    if each.dtype.kind == "c" or (each < 0).any() or each.size not in (1, count):
        raise ValueError(
            f"{OWNER}: shots must be one number, or one for each of {count} settings, none negative; got {shots!r}."
        )
    return np.broadcast_to(each.reshape(-1), (count,))


def root(state: Symmetric) -> Array:
    """A with ρ = AAᴴ."""
    return np.asarray(state.vectors * np.sqrt(np.maximum(state.weights, 0.0)))


def purity(state: Symmetric) -> float:
    """tr ρ²."""
    A = root(state)
    return float(np.linalg.norm(dagger(A) @ A) ** 2)


def eigenvalues(state: Symmetric, count: int | None = None) -> Array:
    """Largest first; zeros up to the dimension, or ``count`` of them."""
    A = root(state)
    found = np.linalg.svd(A, compute_uv=False) ** 2
    out = np.zeros(A.shape[0] if count is None else count)
    out[: found.size] = found[: out.size]
    return out


def entropy(state: Symmetric, base: float = 2.0) -> float:
    """−tr ρ log ρ."""
    values = eigenvalues(state, state.weights.size)
    values = values[values > 0.0]
    return float(max(0.0, -(values @ np.log(values)) / np.log(base)))


def target_root(target: Any, dimension: int) -> Array:
    """A with σ = AAᴴ of a target: a vector, a density matrix, factors, or the name W or GHZ."""
    if isinstance(target, str):
        return named(target, dimension)[:, None]
    if isinstance(target, Symmetric):
        if target.vectors.shape[0] != dimension:
            raise ValueError(
                f"{OWNER}: the target has dimension {target.vectors.shape[0]}, the fitted state {dimension}."
            )
        A, least = root(target), float(target.weights.min(initial=0.0))
        trace = float(np.linalg.norm(A) ** 2)
        if least < -1e-6 or abs(trace - 1.0) > 1e-6:
            raise ValueError(f"{OWNER}: the target is no state: trace {trace:.6g}, least weight {least:.3g}.")
        return A
    A = numbers(OWNER, "target", _plain(target))
    if A.shape == (dimension,) or A.shape == (dimension, 1):
        A = A.reshape(-1, 1)
        size = float(np.abs(A).max())
        if size == 0.0:
            raise ValueError(f"{OWNER}: the target vector is zero.")
        A = A / size  # squares of its entries then neither overflow nor vanish
        return np.asarray(A / np.linalg.norm(A))
    if A.shape != (dimension, dimension):
        raise ValueError(
            f"{OWNER}: the target has shape {A.shape}; a vector or matrix of dimension {dimension} is one."
        )
    if np.abs(A - dagger(A)).max() > 1e-6:
        raise ValueError(f"{OWNER}: the target is no state: its matrix is not Hermitian.")
    values, vectors = np.linalg.eigh(0.5 * (A + dagger(A)))
    if values[0] < -1e-6 or abs(values.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"{OWNER}: the target is no state: trace {values.sum():.6g}, least eigenvalue {values[0]:.3g}."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _plain(given: Any) -> Any:
    """What qutip, qiskit and SciPy's sparse matrices hold; anything else as it is."""
    if issparse(given):
        return given.toarray()
    if callable(getattr(given, "full", None)):  # qutip
        return given.full()
    return given.data if hasattr(given, "dims") and hasattr(given, "data") else given  # qiskit


def named(name: str, dimension: int) -> Array:
    """The vector of a state with a name, for qubits."""
    n = dimension.bit_length() - 1
    ket = np.zeros(dimension)
    if name.upper() == "W" and dimension == 1 << n:
        ket[[1 << k for k in range(n)]] = n**-0.5
    elif name.upper() == "GHZ" and dimension == 1 << n:
        ket[[0, -1]] = 0.5**0.5
    else:
        raise ValueError(f"{OWNER}: the target {name!r} is not known; give 'W', 'GHZ', a vector or a density matrix.")
    return ket


def fidelity(state: Symmetric, target: Array) -> float:
    """(tr √(√ρ σ √ρ))² = (Σ singular values of AᴴB)² for ρ = AAᴴ, σ = BBᴴ."""
    overlap = dagger(root(state)) @ target
    return float(min(1.0, np.linalg.svd(overlap, compute_uv=False).sum() ** 2))


def expectation(state: Symmetric, observable: Any) -> float:
    """tr(Oρ) of a matrix, or of a dictionary of Pauli strings such as "XIZ" and their coefficients."""
    U, s = state.vectors, state.weights
    if isinstance(observable, Mapping):
        strings = Pauli(list(observable), expectations=True)
        V = U.astype(np.result_type(U, strings.dtype), copy=False)
        return float(np.array(list(observable.values())) @ strings.measure(V, s, V))
    return float(np.sum(s * np.sum(U.conj() * (observable @ U), axis=0).real))


def extremes(observable: Any) -> tuple[float, float]:
    """Between which numbers an expectation value lies; of sums of strings, the sum of their sizes."""
    if isinstance(observable, Mapping):
        fixed = sum(size for word, size in observable.items() if set(word) == {"I"})
        most = sum(abs(size) for word, size in observable.items() if set(word) != {"I"})
        return fixed - most, fixed + most
    values = np.linalg.eigvalsh(observable)
    return float(values[0]), float(values[-1])


def density_matrix(state: Symmetric) -> Array:
    d = state.vectors.shape[0]
    if d > _WHOLE:
        raise ValueError(
            f"{OWNER}: a density matrix of dimension {d} is too large to be made; state_.vectors and state_.weights "
            "have it."
        )
    A = root(state)
    return np.asarray(A @ dagger(A))


def negativity(state: Symmetric, partition: Any, local: tuple[int, ...]) -> float:
    """The sizes of the negative eigenvalues of the partial transpose, summed; ``partition`` lists parts by place."""
    chosen = partition_or_say(partition, len(local))
    n, rho = len(local), density_matrix(state)
    tensor, axes = rho.reshape(*local, *local), list(range(2 * n))
    for part in chosen:
        axes[part], axes[n + part] = n + part, part
    turned = tensor.transpose(axes).reshape(rho.shape)
    values = np.linalg.eigvalsh(turned)
    return float(np.abs(values[values < 0.0]).sum())


def partition_or_say(partition: Any, parts: int) -> list[int]:
    """The places of some of the parts, in order."""
    given = [partition] if is_whole(partition) else partition
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    chosen = sorted({int(part) for part in listed if is_whole(part) and 0 <= part < parts})
    if not all(is_whole(part) and 0 <= part < parts for part in listed) or not 0 < len(chosen) < parts:
        raise ValueError(f"{OWNER}: partition must list some of the parts 0 … {parts - 1}, not all; got {partition!r}.")
    return chosen


def base_or_say(base: Any) -> None:
    if not is_real(base) or not 1.0 < base < np.inf:
        raise ValueError(f"{OWNER}: the base of the logarithm must be a number above 1, got {base!r}.")


def count_or_say(count: Any, dimension: int) -> int | None:
    """How many eigenvalues, all of them where that is not said."""
    return None if count is None else min(whole(OWNER, "count", count), dimension)


def observable_or_say(observable: Any, dimension: int) -> Any:
    """A Hermitian matrix of the dimension of the state, or a dictionary of strings and coefficients."""
    if isinstance(observable, str | Mapping):
        return _strings(observable, dimension)
    matrix = numbers(OWNER, "observable", _plain(observable))
    if matrix.shape != (dimension, dimension):
        raise ValueError(
            f"{OWNER}: the observable has shape {matrix.shape}; a {dimension}×{dimension} matrix, a string such as "
            "'XIZ' or a dictionary of strings and coefficients is one."
        )
    hermitian_or_say(OWNER, "observable", matrix)
    return matrix


def _strings(observable: Any, dimension: int) -> dict[str, float]:
    """Strings in capital letters with their coefficients; equal ones add up."""
    if not observable:
        raise ValueError(f"{OWNER}: the observable is empty; give a string such as 'XIZ', or several.")
    given, n = {observable: 1.0} if isinstance(observable, str) else observable, dimension.bit_length() - 1
    found: dict[str, float] = {}
    for word, coefficient in given.items():
        if not isinstance(word, str) or len(word) != n or dimension != 1 << n or set(word.upper()) - set("IXYZ"):
            raise ValueError(
                f"{OWNER}: the string {word!r} is no observable of a state of dimension {dimension}; it needs one of "
                "the letters I, X, Y, Z for every qubit (coefficients go into a dictionary)."
            )
        found[word.upper()] = found.get(word.upper(), 0.0) + number(
            OWNER, f"coefficient of {word}", coefficient, sign=True
        )
    return found
