"""Pairs of measurements and losses: seconds to a certified gap, and how far from what was planted.

python -m benchmarks.pairs [name …]; names: phase-retrieval, metric, tasks, poisson, multinomial.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import spectraplex as sx


def timed(name: str, objective: Any, domain: Any, gap: float = 1e-2) -> Any:
    """Solve to a certified relative gap and print one line."""
    problem = sx.Problem(objective, domain)
    began = time.perf_counter()
    result = sx.solve(problem, stop=sx.Stop(relative_gap=gap, max_seconds=240))
    seconds = time.perf_counter() - began
    relative = result.gap / abs(result.value)
    rank = len(result.X.triple()[1])
    print(
        f"{name:44s} {seconds:8.2f} s   value {result.value:12.6g}   gap {relative:8.1e}   {result.status.name:10s}"
        f" steps {result.trace[-1].step:3d}   products {result.products:7.0f}   atoms {rank:4d}"
    )
    return result


def phase_retrieval(d: int = 1024, seed: int = 0) -> None:
    """Complex rank-ones, m = 10 d, noise of 5 % of the mean target, the trace of the truth known."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(d) + 1j * rng.standard_normal(d)
    a = (rng.standard_normal((10 * d, d)) + 1j * rng.standard_normal((10 * d, d))) / np.sqrt(2)
    clean = np.abs(a.conj() @ x) ** 2
    targets = clean + 0.05 * clean.mean() * rng.standard_normal(clean.size)
    trace = float(np.vdot(x, x).real)
    result = timed(f"phase retrieval d = {d:,}", sx.Fit(sx.RankOnes(a), targets), sx.TraceBall(d, trace))
    U, s, _ = result.X.triple()
    top = U @ (s * (U.conj().T @ x))
    print(f"  ⟨x, Xx⟩/‖x‖⁴ = {np.vdot(x, top).real / trace**2:.4f}")


def triplets_of(data: np.ndarray, labels: np.ndarray, near: int, far: int) -> np.ndarray:
    """For every point its nearest of the same class beside its nearest of other classes, in all combinations."""
    squares = (data**2).sum(axis=1)
    distance = squares[:, None] + squares - 2 * data @ data.T
    np.fill_diagonal(distance, np.inf)
    same = labels[:, None] == labels
    targets = np.argsort(np.where(same, distance, np.inf), axis=1)[:, :near]
    others = np.argsort(np.where(same, np.inf, distance), axis=1)[:, :far]
    a = np.repeat(np.arange(len(data)), near * far)
    return np.stack([a, np.repeat(targets, far, axis=1).ravel(), np.tile(others, (1, near)).ravel()], axis=1)


def metric(count: int = 100_254) -> None:
    """Triplets of scikit-learn's digits, trace at most 2, smoothed hinge."""
    from sklearn.datasets import load_digits

    data, labels = load_digits(return_X_y=True)
    data = data / 16.0
    triplets = triplets_of(data, labels, 8, 7)[:count]
    began = time.perf_counter()
    objective = sx.Fit(sx.Differences(data, triplets), 1.0, loss="hinge")
    made = time.perf_counter() - began
    result = timed(f"metric, {len(triplets):,} triplets of digits", objective, sx.TraceBall(64, 2.0))
    print(f"  made in {made:.2f} s; triplets in order: {np.mean(objective.measure(*result.X.triple()) > 0):.4f}")


def tasks(seed: int = 0) -> None:
    """100 features × 60 tasks, rank 5, 150 samples: through Features, and through a function of a dense matrix."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((150, 100))
    W = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 60)) / 5
    targets = data @ W + 0.5 * rng.standard_normal((150, 60))
    radius = 0.8 * float(np.linalg.svd(W, compute_uv=False).sum())

    def dense(X: np.ndarray) -> tuple[float, np.ndarray]:
        residual = data @ X - targets
        return 0.5 * float(np.sum(residual**2)), data.T @ residual

    smoothness = float(np.linalg.norm(data, 2) ** 2)
    for round_ in ("first", "again"):
        timed(
            f"tasks 100 × 60, Features, {round_}",
            sx.Fit(sx.Features(data, 60), targets),
            sx.NuclearBall((100, 60), radius),
            1e-4,
        )
        timed(
            f"tasks 100 × 60, Smooth, {round_}",
            sx.Smooth(dense, (100, 60), smoothness=smoothness),
            sx.NuclearBall((100, 60), radius),
            1e-4,
        )


def poisson(d: int = 64, seed: int = 0) -> None:
    """Photon counts of rank-one measurements."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((d, 2)) / np.sqrt(2 * d)
    a = rng.standard_normal((10 * d, d))
    mean = 20.0 * np.sum((a @ x) ** 2, axis=1)
    counts = rng.poisson(mean).astype(float)
    trace = 20.0 * float(np.sum(x**2))
    timed(
        f"poisson, {10 * d} rank-ones, d = {d}, ball",
        sx.Fit(sx.RankOnes(a), counts, "poisson"),
        sx.TraceBall(d, trace),
        1e-3,
    )
    timed(
        f"poisson, {10 * d} rank-ones, d = {d}, fixed trace",
        sx.Fit(sx.RankOnes(a), counts, "poisson"),
        sx.Spectrahedron(d, trace),
        1e-3,
    )


def multinomial(qubits: int = 5, seed: int = 0) -> None:
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
    objective = sx.Fit(sx.RankOnes(np.concatenate(vectors)), np.concatenate(counts).astype(float), "multinomial")
    timed(f"multinomial, {qubits} qubits, {settings} random bases", objective, sx.Spectrahedron(d), 1e-4)


CASES = {
    "phase-retrieval": phase_retrieval,
    "metric": metric,
    "tasks": tasks,
    "poisson": poisson,
    "multinomial": multinomial,
}

if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        CASES[case]()
