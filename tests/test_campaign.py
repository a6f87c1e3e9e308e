"""The big random campaigns: a hundred problems in ``make test``, thousands in ``make test-long``."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from problems import normal, random_known
from spectraplex.eigen.leading import leading
from spectraplex.matrices.lifted import Lifted, Shifted
from spectraplex.matrices.operators import Dense

RANK_ONE = ["cg", "away", "pairwise", "ror", "ror-adaptive", "in-face"]


def bracket(seed: int) -> None:
    """lower_bound ≤ f* ≤ value, at whatever point some method happens to be after some steps."""
    known = random_known(seed)
    rng = np.random.default_rng([seed, 1])
    method = RANK_ONE[int(rng.integers(len(RANK_ONE)))]
    result = sx.solve(known.problem, method, sx.Stop(max_steps=int(rng.integers(1, 60))), seed=seed)
    scale = max(1.0, abs(known.optimum))
    assert result.lower_bound <= known.optimum + 1e-11 * scale, (seed, known.name, method)
    assert known.optimum <= result.value + 1e-11 * scale, (seed, known.name, method)


def eigenvector(seed: int) -> None:
    """EV_ξ on a random operator, plain or bipartite, shifted or not, from a hostile start, to a random accuracy."""
    rng = np.random.default_rng(seed)
    complex_, shape = bool(rng.integers(2)), (int(rng.integers(1, 40)), int(rng.integers(1, 40)))
    if rng.integers(2):
        operator = Lifted(
            Dense(normal(rng, shape, complex_)), slice(0, shape[0]), slice(shape[0], sum(shape)), sum(shape), 2.0
        )
        A = operator.dense()
    else:
        A = normal(rng, (shape[0], shape[0]), complex_)
        A = (A + A.conj().T) / 2
        operator = Dense(A, hermitian=True)
    if rng.integers(2):
        x = normal(rng, (A.shape[0], 1), complex_)
        x /= np.linalg.norm(x)
        strength = float(rng.uniform(0, 3))
        operator, A = Shifted(operator, x, np.array([strength])), A + strength * x @ x.conj().T
    values, vectors = np.linalg.eigh(A)
    accuracy = float(10.0 ** rng.uniform(-8, -1))
    start = vectors[:, int(rng.integers(values.size))]
    v = leading(operator, accuracy=accuracy, start=start, rng=rng, careful=True).vector[:, 0]
    assert (v.conj() @ A @ v).real >= values[-1] - accuracy, seed


@pytest.mark.parametrize("seed", range(100))
def test_brackets(seed):
    bracket(seed)


@pytest.mark.parametrize("block", range(4))
def test_eigenvectors(block):
    for seed in range(100 * block, 100 * (block + 1)):
        eigenvector(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(30))
def test_brackets_long(block):
    for seed in range(1_000 + 100 * block, 1_100 + 100 * block):
        bracket(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(40))
def test_eigenvectors_long(block):
    for seed in range(10_000 + 250 * block, 10_250 + 250 * block):
        eigenvector(seed)
