"""What a step costs: CG against the bare eigenvectors it contains, greedy ROR-CG against CG (100k observations)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

import spectraplex as sx

from .data import problem, ratings, verdict

STEPS = 300
REPEATS = 3
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 0.0)


def run() -> Iterator[str]:
    table = ratings("100k")
    for radius in (2500.0, 5000.0):
        task = problem(table, radius)
        sx.solve(task, "ror-adaptive", sx.Stop(max_steps=5), certify=False)  # load the kernels
        yield f"{table.name}, {len(table)} observations, radius {radius:g}, {STEPS} steps, best of {REPEATS} per step"
        yield from against_svds(task)
        yield from ror_against_cg(task)


def against_svds(task: sx.Problem) -> Iterator[str]:
    """svds (k = 1) on the same saved gradients, at the loosest tol whose Rayleigh quotients are no worse than ours."""
    slopes: list[np.ndarray] = []
    quotients: list[float] = []

    def keep(record: sx.Record, point: sx.Point) -> None:
        if slopes:  # the newest atom is the vector that this step found, at the slope saved one step earlier
            v = point.atoms.vector(len(point.atoms) - 1)
            quotients.append(float(task.lifted.gradient(slopes[-1], -1.0).scores(v, 1)[0]))
        slopes.append(point.slope)

    sx.solve(task, "cg", sx.Stop(max_steps=STEPS), observers=[keep], certify=False)
    slopes.pop()
    pattern = task.objective.pattern
    place = (pattern.indices.astype(np.int32), pattern.indptr.astype(np.int32))
    matrices = [csr_matrix((-y, *place), shape=pattern.shape) for y in slopes]
    radius = task.domain.radius
    ours = np.array(quotients) / radius
    exact = np.array([svds(G, k=1, return_singular_vectors=False, tol=1e-10)[0] for G in matrices])
    lack = float(np.mean(1 - ours / exact))
    chosen: tuple[float, float] | None = None
    every = slice(None, None, max(1, len(matrices) // 60))  # sixty gradients decide on the tolerance
    for tolerance in TOLERANCES:
        values = np.array([_quotient(G, tolerance) for G in matrices[every]])
        theirs = float(np.mean(1 - values / exact[every]))
        if theirs <= lack:
            chosen = (tolerance, theirs)
            break
    assert chosen is not None
    bare, full = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for G in matrices:
            svds(G, k=1, tol=chosen[0], random_state=0)
        bare.append(time.perf_counter() - began)
        full.append(sx.solve(task, "cg", sx.Stop(max_steps=STEPS), certify=False).seconds)
    ratio = min(full) / min(bare)
    yield (
        f"  CG: {1e3 * min(full) / STEPS:.2f} ms a step; svds(k=1, tol={chosen[0]:g}) on the same gradients "
        f"{1e3 * min(bare) / len(matrices):.2f} ms; ratio {verdict(ratio, 1.5)}"
    )
    yield f"      (relative lack of the Rayleigh quotient: ours {lack:.1e}, svds {chosen[1]:.1e})"


def _quotient(G: Any, tolerance: float) -> float:
    u, _, vh = svds(G, k=1, tol=tolerance, random_state=0)
    return float(u[:, 0] @ (G @ vh[0]))


def ror_against_cg(task: sx.Problem) -> Iterator[str]:
    """Interleaved runs; each step's time is its best over the repeats, so that a neighbour's noise cancels."""
    times: dict[str, list[np.ndarray]] = {"cg": [], "ror-adaptive": []}
    atoms = None
    for _ in range(REPEATS):
        for name, kept in times.items():
            columns = sx.solve(task, name, sx.Stop(max_steps=STEPS), certify=False).trace.as_dict()
            kept.append(np.diff(columns["seconds"]))
            atoms = columns["atoms"][1:]
    best = {name: np.min(kept, axis=0) for name, kept in times.items()}
    assert atoms is not None
    for limit, most in ((60, 1.3), (300, 1.5)):
        here = atoms < limit
        ratio = best["ror-adaptive"][here].mean() / best["cg"].mean()
        yield (
            f"  greedy ROR-CG below {limit} atoms ({int(here.sum())} steps, mean {atoms[here].mean():.0f} atoms): "
            f"{1e3 * best['ror-adaptive'][here].mean():.2f} ms a step; to a CG step {verdict(ratio, most)}"
        )
