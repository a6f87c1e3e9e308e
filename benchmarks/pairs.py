"""Pairs of measurements and losses: seconds, and in brackets processor seconds, to a certified relative gap."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import spectraplex as sx
from spectraplex.places.numpy import Array


def timed(name: str, objective: Any, domain: Any, gap: float = 1e-2) -> tuple[Any, str]:
    """Solve to a certified relative gap; the result, and a line about it."""
    problem = sx.Problem(objective, domain)
    began, used = time.perf_counter(), time.process_time()
    result = sx.solve(problem, stop=sx.Stop(relative_gap=gap, max_seconds=240))
    seconds, used = time.perf_counter() - began, time.process_time() - used
    line = (
        f"{name:42s} {seconds:7.2f} s ({used:6.2f} s)   gap {result.gap / abs(result.value):7.1e} of {gap:.0e}, "
        f"{result.status.name}, {result.trace[-1].step} steps, {result.products:.0f} products, "
        f"{len(result.X.triple()[1])} atoms"
    )
    return result, line


def phase_retrieval(d: int = 1024, seed: int = 0) -> list[str]:
    """Complex rank-ones, m = 10 d, noise of 5 % of the mean target, the trace of the truth known."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(d) + 1j * rng.standard_normal(d)
    a = (rng.standard_normal((10 * d, d)) + 1j * rng.standard_normal((10 * d, d))) / np.sqrt(2)
    clean = np.abs(a.conj() @ x) ** 2
    targets = clean + 0.05 * clean.mean() * rng.standard_normal(clean.size)
    trace = float(np.vdot(x, x).real)
    result, line = timed(f"phase retrieval d = {d:,}", sx.Fit(sx.RankOnes(a), targets), sx.TraceBall(d, trace))
    U, s, _ = result.X.triple()
    top = U @ (s * (U.conj().T @ x))
    return [line, f"  of the truth's weight on itself {np.vdot(x, top).real / trace**2:.4f} was found"]


def triplets_of(data: Array, labels: Array, near: int, far: int) -> Array:
    """For every point its nearest of the same class beside its nearest of other classes, in all combinations."""
    squares = (data**2).sum(axis=1)
    distance = squares[:, None] + squares - 2 * data @ data.T
    np.fill_diagonal(distance, np.inf)
    same = labels[:, None] == labels
    targets = np.argsort(np.where(same, distance, np.inf), axis=1)[:, :near]
    others = np.argsort(np.where(same, np.inf, distance), axis=1)[:, :far]
    a = np.repeat(np.arange(len(data)), near * far)
    return np.stack([a, np.repeat(targets, far, axis=1).ravel(), np.tile(others, (1, near)).ravel()], axis=1)


def metric(count: int = 100_254) -> list[str]:
    """Triplets of scikit-learn's digits, trace at most 2, smoothed hinge."""
    from sklearn.datasets import load_digits

    data, labels = load_digits(return_X_y=True)
    data = data / 16.0
    triplets = triplets_of(data, labels, 8, 7)[:count]
    began = time.perf_counter()
    objective = sx.Fit(sx.Differences(data, triplets), 1.0, loss="hinge")
    made = time.perf_counter() - began
    result, line = timed(f"metric, {len(triplets):,} triplets of digits", objective, sx.TraceBall(64, 2.0))
    right = np.mean(objective.measure(*result.X.triple()) > 0)
    return [line, f"  made in {made:.2f} s; triplets in order {right:.4f}"]


def tasks(seed: int = 0) -> list[str]:
    """100 features × 60 tasks, rank 5, 150 samples: through Features, and through a function of a dense matrix."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((150, 100))
    W = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 60)) / 5
    targets = data @ W + 0.5 * rng.standard_normal((150, 60))
    radius = 0.8 * float(np.linalg.svd(W, compute_uv=False).sum())

    def dense(X: Array) -> tuple[float, Array]:
        residual = data @ X - targets
        return 0.5 * float(np.sum(residual**2)), data.T @ residual

    smooth = sx.Smooth(dense, (100, 60), smoothness=float(np.linalg.norm(data, 2) ** 2))
    pair, ball, lines = sx.Fit(sx.Features(data, 60), targets), sx.NuclearBall((100, 60), radius), []
    for turn in ("first", "again"):
        lines.append(timed(f"tasks 100 × 60, Features, {turn}", pair, ball)[1])
        lines.append(timed(f"tasks 100 × 60, Smooth, {turn}", smooth, ball)[1])
    return lines


def poisson(d: int = 64, seed: int = 0) -> list[str]:
    """Photon counts of rank-one measurements."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((d, 2)) / np.sqrt(2 * d)
    a = rng.standard_normal((10 * d, d))
    counts = rng.poisson(20.0 * np.sum((a @ x) ** 2, axis=1)).astype(float)
    trace = 20.0 * float(np.sum(x**2))
    pair = sx.Fit(sx.RankOnes(a), counts, "poisson")
    ball = timed(f"poisson, {10 * d} rank-ones, trace ball", pair, sx.TraceBall(d, trace), 1e-3)
    fixed = timed(f"poisson, {10 * d} rank-ones, fixed trace", pair, sx.Spectrahedron(d, trace), 1e-3)
    return [ball[1], fixed[1]]


def multinomial(qubits: int = 5, seed: int = 0) -> list[str]:
    """Counts of random bases on a state of a few qubits."""
    rng = np.random.default_rng(seed)
    d, settings, shots = 2**qubits, 3 * 2**qubits, 1000
    psi = rng.standard_normal((d, 2)) + 1j * rng.standard_normal((d, 2))
    rho = psi @ psi.conj().T
    rho /= np.trace(rho).real
    vectors, counts = [], []
    for _ in range(settings):
        Q = np.linalg.qr(rng.standard_normal((d, d)) + 1j * rng.standard_normal((d, d)))[0]
        p = np.einsum("ji,jk,ki->i", Q.conj(), rho, Q).real
        vectors.append(Q.T)
        counts.append(rng.multinomial(shots, p / p.sum()))
    pair = sx.Fit(sx.RankOnes(np.concatenate(vectors)), np.concatenate(counts).astype(float), "multinomial")
    return [timed(f"multinomial, {qubits} qubits, {settings} random bases", pair, sx.Spectrahedron(d), 1e-4)[1]]


def run() -> list[str]:
    return [line for case in (tasks, metric, poisson, multinomial, phase_retrieval) for line in case()]
