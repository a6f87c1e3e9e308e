"""Small problems: steps and solves beside plain NumPy loops that decompose the whole matrix each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

import spectraplex as sx
from spectraplex.places.numpy import Array

SIZES = (20, 50, 100, 200)
PROJECTED = (20, 50, 100, 200, 350, 500)
STEPS = 250


def target(d: int, seed: int = 0) -> Array:
    """A density matrix of a few large eigenvalues, and noise."""
    rng = np.random.default_rng([d, seed])
    Y = rng.standard_normal((d, 5))
    noise = rng.standard_normal((d, d)) * (0.1 / np.sqrt(d))
    return Y @ Y.T / np.sum(Y * Y) + 0.5 * (noise + noise.T)


def plain_cg(A: Array, steps: int) -> list[tuple[float, float]]:
    """Conditional gradient with exact line search on ½‖X − A‖², the whole of it; value and gap at every step."""
    d, seen = A.shape[0], []
    X = np.zeros((d, d))
    X[0, 0] = 1.0
    for _ in range(steps):
        G = X - A
        v = np.linalg.eigh(-G)[1][:, -1]
        D = np.outer(v, v) - X
        gap, square = -np.vdot(G, D), np.vdot(D, D)
        seen.append((0.5 * np.vdot(G, G), gap))
        eta = min(max(gap / square, 0.0), 1.0) if square > 0 else 0.0
        X += eta * D
    return seen


def plain_ror(A: Array, steps: int) -> list[tuple[float, float]]:
    """Algorithm 2 as printed on ½‖X − A‖² (β = 1), the whole of it; value and largest eigenvalue at every step."""
    rng = np.random.default_rng(0)
    x = np.linalg.eigh(A)[1][:, -1]
    X, atoms, weights, seen = np.outer(x, x), [x], [1.0], []
    for t in range(1, steps + 1):
        eta = 18.0 / (t + 8.0)
        chances = np.cumsum(weights)
        i = min(int(np.searchsorted(chances, rng.random() * chances[-1], "right")), len(weights) - 1)
        x, a = atoms[i], weights[i]
        G = X - A
        values, vectors = np.linalg.eigh(eta * np.outer(x, x) - G)
        v = vectors[:, -1]
        seen.append((0.5 * np.vdot(G, G), values[-1]))
        size = eta / 2 if a >= eta else a
        X += size * (np.outer(v, v) - np.outer(x, x))
        atoms.append(v)
        weights.append(size)
        weights[i] -= size
        if weights[i] <= 0.0:
            del atoms[i], weights[i]
    return seen


def completion(seed: int = 0) -> sx.Problem:
    """60 × 40, rank 3 and noise, half of it observed."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 40))
    rows, cols = np.nonzero(rng.random(truth.shape) < 0.5)
    seen = truth[rows, cols] + 0.1 * rng.standard_normal(rows.size)
    radius = float(np.linalg.norm(truth, "nuc"))
    return sx.Problem(sx.Completion(rows, cols, seen, truth.shape), sx.NuclearBall(truth.shape, radius))


def side_by_side(jobs: dict[str, Callable[[], object]], rounds: int = 5, least: float = 0.0) -> dict[str, float]:
    """The least processor time of each job in milliseconds, taking turns; short ones are repeated within a turn."""
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(rounds):
        for name, job in jobs.items():
            began, count = time.process_time(), 0
            while count == 0 or time.process_time() - began < least:
                job()
                count += 1
            best[name] = min(best[name], 1e3 * (time.process_time() - began) / count)
    return best


def steps() -> Iterator[str]:
    """A step of ``cg`` and of ``ror`` as printed beside the same step in plain NumPy."""
    stop = sx.Stop(max_steps=STEPS)
    for d in SIZES:
        A = target(d)
        task = sx.Problem(sx.Distance(A), sx.Spectrahedron(d))
        jobs: dict[str, Callable[[], object]] = {
            "plain cg": lambda A=A: plain_cg(A, STEPS),  # type: ignore[misc]
            "cg": lambda task=task: sx.solve(task, "cg", stop, certify=False),  # type: ignore[misc]
            "plain ror": lambda A=A: plain_ror(A, STEPS),  # type: ignore[misc]
            "ror": lambda task=task: sx.solve(task, "ror", stop, certify=False),  # type: ignore[misc]
        }
        ms = {name: each / STEPS for name, each in side_by_side(jobs, 3).items()}
        for name in ("cg", "ror"):
            ratio = ms[name] / ms["plain " + name]
            yield f"{name} d = {d}: {ms[name]:.2f} ms a step, plain NumPy {ms['plain ' + name]:.2f} ms: {ratio:.2f}×"


def solves() -> Iterator[str]:
    task = completion()
    result = sx.solve(task)
    ms = side_by_side({"solve": lambda: sx.solve(task)})["solve"]
    shown = f"certified {result.gap / result.value:.0e} ({result.certificate.kind})"
    yield f"default solve of a 60 × 40 completion: {ms:.0f} ms, {shown}"


def projections() -> Iterator[str]:
    for d in PROJECTED:
        A, domain = target(d), sx.Spectrahedron(d)
        jobs: dict[str, Callable[[], object]] = {
            "exact": lambda A=A, domain=domain: domain.project(A),  # type: ignore[misc]
            "project": lambda A=A, domain=domain: sx.project(A, domain),  # type: ignore[misc]
            "proven": lambda A=A, domain=domain: sx.project(A, domain).certificate,  # type: ignore[misc]
        }
        result = sx.project(A, domain)
        off = np.linalg.norm(result.X.dense() - domain.project(A).dense())
        ms = side_by_side(jobs, 5, least=0.05)
        ratio, proven = ms["project"] / ms["exact"], ms["proven"] / ms["exact"]
        yield (
            f"project d = {d}: {ms['project']:.2f} ms, by eigh alone {ms['exact']:.2f} ms: {ratio:.1f}×; "
            f"with its certificate {ms['proven']:.2f} ms: {proven:.1f}×, "
            f"off by {off:.0e}, certified {result.gap:.0e} ({result.certificate.kind})"
        )


def run() -> Iterator[str]:
    yield from steps()
    yield from solves()
    yield from projections()
