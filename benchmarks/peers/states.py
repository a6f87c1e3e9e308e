"""Two textbook ways to the most likely state, on the same fast measurements: RρR and accelerated projection."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from spectraplex.domains.spectra import simplex
from spectraplex.matrices.operators import Dense
from spectraplex.places.numpy import Array


class Likelihood:
    """−Σ n ln tr(Eρ) of a dense ρ, with R = Σ n/(N p) E and the bound f − f* ≤ N ln λ_max(R)."""

    def __init__(self, measurements: Any, counts: Array) -> None:
        self.engine, self.counts, self.total = measurements, counts, float(counts.sum())
        self.d = int(measurements.shape[0])

    def chances(self, rho: Array) -> Array:
        return np.asarray(self.engine.of_operator(Dense(rho)))

    def value(self, p: Array) -> float:
        seen = self.counts > 0
        return -float(self.counts[seen] @ np.log(p[seen])) if (p[seen] > 0).all() else math.inf

    def R(self, p: Array) -> Array:
        ratio = np.where(self.counts > 0, self.counts / np.where(p > 0, p, 1.0), 0.0) / self.total
        return np.asarray(self.engine.adjoint(ratio).dense())

    @property
    def mixed(self) -> float:
        return self.total * math.log(self.d)


def r_rho_r(problem: Likelihood, share: float, limit: float) -> tuple[float, float, float, Array]:
    """ρ ← RρR/tr(RρR) until the certified gap is a share of f(I/d) − f: seconds, value, gap, ρ."""
    began, rho = time.perf_counter(), np.eye(problem.d, dtype=complex) / problem.d
    for step in range(1_000_000):
        p = problem.chances(rho)
        R = problem.R(p)
        seconds = time.perf_counter() - began
        if step % 5 == 0 or seconds > limit:
            value = problem.value(p)
            gap = problem.total * math.log(float(np.linalg.eigvalsh(R)[-1]))
            if gap <= share * (problem.mixed - value) or seconds > limit:
                break
        rho = R @ rho @ R
        rho = 0.5 * (rho + rho.conj().T)
        rho /= np.trace(rho).real
    return time.perf_counter() - began, value, gap, rho


def accelerated(problem: Likelihood, share: float, limit: float) -> tuple[float, float, float, Array]:
    """Accelerated projected gradient with backtracking and restarts; steps may grow again."""
    began, rho = time.perf_counter(), np.eye(problem.d, dtype=complex) / problem.d
    before, momentum, step = rho, 1.0, 1.0 / problem.d
    p = problem.chances(rho)
    p_before, value = p, problem.value(p)
    while True:
        beta = (momentum - 1.0) / (0.5 + math.sqrt(momentum * momentum + 0.25))
        at, p_at = rho + beta * (rho - before), p + beta * (p - p_before)
        f_at = problem.value(p_at)
        if not math.isfinite(f_at):
            at, p_at, f_at, momentum = rho, p, value, 1.0
        slope = -problem.R(p_at)  # of f/N
        step *= 1.5
        while True:
            new = _projected(at - step * slope)
            p_new, move = problem.chances(new), new - at
            f_new = problem.value(p_new)
            model = (np.vdot(slope, move).real + np.linalg.norm(move) ** 2 / (2 * step)) * problem.total
            if f_new <= f_at + model + 1e-12 * abs(f_at):
                break
            step *= 0.5
        if f_new > value:
            momentum, before, p_before = 1.0, rho, p
            if beta == 0.0:
                break
            continue
        before, p_before, rho, p, value = rho, p, new, p_new, f_new
        momentum = 0.5 + math.sqrt(momentum * momentum + 0.25)
        gap = problem.total * math.log(float(np.linalg.eigvalsh(problem.R(p))[-1]))
        if gap <= share * (problem.mixed - value) or time.perf_counter() - began > limit:
            break
    return time.perf_counter() - began, value, gap, rho


def _projected(A: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (A + A.conj().T))
    kept = simplex(values, 1.0)
    return np.asarray((vectors * kept) @ vectors.conj().T)


def library(problem: Likelihood, share: float, limit: float, device: Any = None) -> tuple[float, float, float, Any]:
    """Our own estimator, to the same certified gap: seconds, value, gap, the state in factors."""
    from spectraplex.estimators import StateTomography

    settings, counts = list(problem.engine.settings), problem.counts.reshape(len(problem.engine.settings), -1)
    began = time.perf_counter()
    model = StateTomography(tolerance=share, device=device).fit(settings, counts)
    return time.perf_counter() - began, float(model.value_), float(model.gap_), model.state_


def of_qiskit(problem: Likelihood, name: str) -> tuple[float, float, float, Array]:
    """A fitter of qiskit-experiments, called as its analysis does; it certifies nothing."""
    from qiskit_experiments.library.tomography import fitters
    from qiskit_experiments.library.tomography.basis import PauliMeasurementBasis

    words, n = problem.engine.settings, problem.engine.qubits
    index = np.array([["ZXY".index(letter) for letter in word[::-1]] for word in words])
    counts = problem.counts.reshape(1, len(words), -1).astype(int)
    asked = dict(measurement_basis=PauliMeasurementBasis(), measurement_qubits=tuple(range(n)))
    began = time.perf_counter()
    rho, _ = getattr(fitters, name)(counts, counts.sum(axis=2)[0], index, np.zeros((len(words), 0), int), **asked)
    seconds = time.perf_counter() - began
    values, vectors = np.linalg.eigh(rho)
    state = (vectors * simplex(values, 1.0)) @ vectors.conj().T  # what its analysis does to one that is not positive
    p = problem.chances(state)
    gap = problem.total * math.log(float(np.linalg.eigvalsh(problem.R(np.maximum(p, 1e-12)))[-1]))
    return seconds, problem.value(np.maximum(p, 1e-12)), gap, state


def on_gpu(problem: Likelihood, share: float, limit: float) -> tuple[float, float, float, Any]:
    """The same with everything tall on a GPU."""
    return library(problem, share, limit, "cuda")
