"""Simulated tomography for tests: states, counts, and two other ways to the most likely state."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

import spectraplex as sx


def all_settings(n: int) -> list[str]:
    return ["".join(word) for word in product("XYZ", repeat=n)]


def w_state(n: int) -> np.ndarray:
    ket = np.zeros(2**n)
    ket[[1 << k for k in range(n)]] = n**-0.5
    return ket


def noisy(ket: np.ndarray, noise: float) -> np.ndarray:
    d = ket.size
    return (1 - noise) * np.outer(ket, ket.conj()) + noise * np.eye(d) / d


def random_state(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
    A = rng.standard_normal((2**n, rank)) + 1j * rng.standard_normal((2**n, rank))
    rho = A @ A.conj().T
    return rho / np.trace(rho).real


def chances(rho: np.ndarray, settings: list[str]) -> np.ndarray:
    """One row a setting."""
    values, vectors = np.linalg.eigh(rho)
    vectors = vectors.astype(complex)
    z = sx.Pauli(settings).measure(vectors, values, vectors).reshape(len(settings), -1).clip(0)
    return z / z.sum(axis=1, keepdims=True)


def counted(rho: np.ndarray, settings: list[str], shots, rng: np.random.Generator) -> np.ndarray:
    each = np.broadcast_to(shots, len(settings))
    return np.array([rng.multinomial(n, p) for n, p in zip(each, chances(rho, settings), strict=True)])


def projectors(word: str) -> np.ndarray:
    rows = {"X": [[1, 1], [1, -1]], "Y": [[1, -1j], [1, 1j]], "Z": [[2**0.5, 0], [0, 2**0.5]]}
    kets = np.array([[1.0]])
    for letter in word:
        kets = np.kron(kets, np.array(rows[letter]) / 2**0.5)
    return np.einsum("oi,oj->oij", kets.conj(), kets)


def r_rho_r(settings: list[str], counts: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """Hradil's iteration ρ ← RρR/tr: the value −Σ n ln p that it comes to, and the state."""
    measurements, n = sx.Pauli(settings), counts.reshape(-1).astype(float)
    d = measurements.shape[0]
    ones, identity, rho = np.ones(d), np.eye(d, dtype=complex), np.eye(d, dtype=complex) / d

    def chances_of(rho: np.ndarray) -> np.ndarray:
        return np.where(n > 0, measurements.measure(rho, ones, identity), 1.0)

    for _ in range(steps):
        R = measurements.adjoint(n / chances_of(rho) / n.sum()).dense()
        rho = R @ rho @ R
        rho /= np.trace(rho).real
    return float(-(n @ np.log(chances_of(rho)))), rho


def conic(settings: list[str], counts: np.ndarray) -> float:
    """The least −Σ n ln p by a conic solver."""
    import cvxpy as cp

    E = np.concatenate([projectors(word) for word in settings])
    n = counts.reshape(-1).astype(float)
    E, n = E[n > 0], n[n > 0]
    d = E.shape[1]
    rho = cp.Variable((d, d), hermitian=True)
    flat = cp.hstack([cp.real(cp.trace(A @ rho)) for A in E])
    loss = -cp.sum(cp.multiply(n / n.sum(), cp.log(flat)))
    problem = cp.Problem(cp.Minimize(loss), [rho >> 0, cp.real(cp.trace(rho)) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it may be inaccurate: an old one is, and then it says nothing
        least = float(problem.solve(solver=cp.CLARABEL))
    if problem.status != cp.OPTIMAL:
        pytest.skip(f"the conic solver says {problem.status}")
    return least * n.sum()
