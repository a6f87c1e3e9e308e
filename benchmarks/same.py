"""Two hundred solves (ten methods, twenty problems), beside those that were stored: values and products.

``python -m benchmarks same`` compares with benchmarks/same.json; ``python -m benchmarks.same FILE`` writes a new one.
Values must agree within the sum of both certified gaps, and no run may take more than 1.1 times the products.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse import random as sparse_random

import spectraplex as sx

STORED = Path(__file__).parent / "same.json"
STEPS = 20


def _square(X: np.ndarray) -> tuple[float, np.ndarray]:
    """log Σ exp of the eigenvalues: smooth with constant one."""
    values, vectors = np.linalg.eigh(0.5 * (X + X.conj().T) - np.diag(np.linspace(0.0, 3.0, X.shape[0])))
    shares = np.exp(values - values.max())
    total = float(np.log(shares.sum()) + values.max())
    return total, (vectors * (shares / shares.sum())) @ vectors.conj().T


def problems() -> dict[str, sx.Problem]:
    """The same twenty problems on every machine, from seeds of their own."""
    rng = np.random.default_rng(20)
    m, n, d = 60, 40, 30
    table = rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))
    seen = np.nonzero(rng.random((m, n)) < 0.5)
    noisy = (table + 0.3 * rng.standard_normal((m, n)))[seen]
    weights = rng.uniform(0.2, 2.0, noisy.size)
    radius = 0.8 * float(np.linalg.norm(table, "nuc"))
    G = rng.standard_normal((d, d)) + 1j * rng.standard_normal((d, d))
    H = 0.1 * (G + G.conj().T)
    S = H.real.copy()
    pairs = np.nonzero(np.triu(rng.random((d, d)) < 0.4))
    both = (np.concatenate(pairs), np.concatenate(pairs[::-1]))
    once = np.unique(np.stack(both), axis=1)
    stack = rng.standard_normal((80, d, d))
    stack = 0.5 * (stack + stack.transpose(0, 2, 1))
    truth = np.zeros((d, d))
    truth[:2, :2] = [[0.6, 0.1], [0.1, 0.4]]
    vectors = rng.standard_normal((150, d)) + 1j * rng.standard_normal((150, d))
    counts = np.einsum("ij,jk,ik->i", vectors.conj(), truth, vectors).real
    sparse = csr_matrix(sparse_random(m, n, 0.2, random_state=5))
    few = [csr_matrix(sparse_random(m, n, 0.01, random_state=100 + i)) for i in range(120)]
    sensed = np.array([float((A.multiply(table)).sum()) for A in few])
    ball, simplex, trace = sx.NuclearBall((m, n), radius), sx.Spectrahedron(d), sx.TraceBall(d, 2.0)
    plain = sx.Completion(*seen, noisy, (m, n))
    huber = sx.Completion(*seen, noisy, (m, n), loss="huber", delta=0.5)
    return {
        "squared completion, ball": sx.Problem(plain, ball),
        "weighted completion, ball": sx.Problem(sx.Completion(*seen, noisy, (m, n), weights=weights), ball),
        "huber completion, ball": sx.Problem(huber, ball),
        "logistic completion, ball": sx.Problem(
            sx.Completion(*seen, np.sign(noisy), (m, n), loss="logistic"), sx.NuclearBall((m, n), 0.3 * radius)
        ),
        "complex completion, ball": sx.Problem(sx.Completion(*seen, noisy * np.exp(1j * noisy), (m, n)), ball),
        "completion, spectrahedron": sx.Problem(sx.Completion(*once, S[tuple(once)], (d, d)), simplex),
        "completion, trace ball": sx.Problem(sx.Completion(*once, S[tuple(once)], (d, d)), trace),
        "distance, spectrahedron": sx.Problem(sx.Distance(S), simplex),
        "complex distance, spectrahedron": sx.Problem(sx.Distance(H), simplex),
        "sparse distance, ball": sx.Problem(sx.Distance(sparse), sx.NuclearBall((m, n), 5.0)),
        "distance, ball": sx.Problem(sx.Distance(table), sx.NuclearBall((m, n), 0.5 * radius)),
        "distance, trace ball": sx.Problem(sx.Distance(S), trace),
        "sensing, spectrahedron": sx.Problem(sx.Sensing(stack, np.einsum("ijk,jk->i", stack, truth)), simplex),
        "sparse sensing, ball": sx.Problem(sx.Sensing(few, sensed), sx.NuclearBall((m, n), 0.5 * radius)),
        "rank-one sensing, trace ball": sx.Problem(sx.Sensing(vectors, counts), trace),
        "own function, spectrahedron": sx.Problem(sx.Smooth(_square, (d, d), smoothness=1.0), simplex),
        "completion, penalty": sx.Penalized(plain, 4.0),
        "huber, penalty": sx.Penalized(huber, 2.0),
        "distance, penalty": sx.Penalized(sx.Distance(table), 20.0),
        "rank-one sensing, trace penalty": sx.Penalized(sx.Sensing(vectors, counts), 5.0, psd=True),
    }


def solves() -> Iterator[tuple[str, dict[str, float | str]]]:
    for name, problem in problems().items():
        for method in (each for each in sx.METHODS if each != "stochastic"):  # younger than what is stored
            try:
                result = sx.solve(problem, method, sx.Stop(relative_gap=1e-2, max_steps=STEPS))
            except (ValueError, TypeError) as error:  # a method that says that it is not for this problem
                yield f"{name}, {method}", {"refused": str(error)}
                continue
            yield (
                f"{name}, {method}",
                {"value": result.value, "bound": result.lower_bound, "products": result.products},
            )


def run() -> Iterator[str]:
    before = json.loads(STORED.read_text(encoding="utf-8"))
    apart, dearer, ratios, count = [], [], [], 0
    for name, now in solves():
        count += 1
        then = before[name]
        if "refused" in then or "refused" in now:
            if ("refused" in then) != ("refused" in now):
                apart.append(name)
            continue
        gaps = (then["value"] - then["bound"]) + (now["value"] - now["bound"])
        if not abs(then["value"] - now["value"]) <= gaps + 1e-9 * abs(then["value"]):
            apart.append(f"{name}: {then['value']:.8g} before, {now['value']:.8g} now")
        ratios.append(now["products"] / max(then["products"], 1.0))
        if ratios[-1] > 1.1:
            dearer.append(f"{name}: {then['products']:g} products before, {now['products']:g} now")
    yield f"{count} solves, {len(apart)} with another value than before, {len(dearer)} with more than 1.1x the products"
    yield f"products, now over before: median {np.median(ratios):.2f}, largest {max(ratios):.2f}"
    yield from apart
    yield from dearer


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(dict(solves()), indent=0), encoding="utf-8")
