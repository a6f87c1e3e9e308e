"""Algorithm 2 as printed: its invariants at every step, Theorem 1, and the full-update lemma with negative controls."""

from __future__ import annotations

import math

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, distance_spectrahedron
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods.rank_one_parts import regularized, theorem_accuracy, theorem_step

INVARIANT_PROBLEMS = [
    "rank 3 of 12",
    "complex rank 3 of 9",
    "full rank 5 of 5",
    "trace 2.5",
    "trace ball, active",
    "ball, active",
    "ball, complex",
    "ball, logistic",
    "sensing",
]


@pytest.mark.parametrize("name", INVARIANT_PROBLEMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_invariants_at_every_step(name, seed):
    """Feasible to 1e-12, weights ≥ η_t/2, at most (t+8)/9 atoms, f never up by more than η̃ξ_t, rank one to t = 10."""
    known = PROBLEMS[name](np.random.default_rng(seed))
    beta = known.problem.lifted.smoothness
    before = []

    def watch(record: sx.Record, point: sx.Point) -> None:
        t, atoms = record.step, point.atoms
        assert abs(atoms.weights.sum() - 1.0) <= 1e-12
        np.testing.assert_allclose(np.linalg.norm(atoms.vectors, axis=0), 1.0, atol=1e-12)
        assert atoms.weights.min() >= theorem_step(t) / 2 - 1e-12
        assert len(atoms) <= (t + 8) / 9
        if t <= 10:
            assert len(atoms) == 1
        if before:
            allowed = record.size * theorem_accuracy(t - 1, beta)
            assert point.value <= before[-1] + allowed + 1e-12 * abs(before[-1])
        before.append(point.value)

    result = sx.solve(known.problem, "ror", sx.Stop(max_steps=150), observers=[watch], seed=seed)
    assert len(before) == 150
    assert result.value >= known.optimum - 1e-10 * max(1.0, abs(known.optimum))


@pytest.mark.parametrize(("rank", "smallest"), [(1, 1.0), (3, 0.6), (3, 0.1)])
def test_theorem_1_on_average(rank, smallest):
    """The averaged error of Distance (α = β = 1) under all three explicit bounds; necessary, not sufficient."""
    steps, errors = 120, []
    for seed in range(6):
        known = distance_spectrahedron(np.random.default_rng(seed), 12, rank, smallest=smallest)
        trace = sx.solve(known.problem, "ror", sx.Stop(max_steps=steps), seed=seed, certify=False).trace
        errors.append(trace.as_dict()["value"] - known.optimum)
        eigenvalues = np.linalg.eigvalsh(known.X)
        least = eigenvalues[eigenvalues > 1e-9].min()
        t = np.arange(1, steps + 1)
        bounds = np.minimum(54.0 / (t + 8), (270 * 2**0.25 * math.sqrt(rank) / (t + 8)) ** (4 / 3))
        bounds = np.minimum(bounds, 52488.0 / (least**2 * (t + 8) ** 2))
    assert np.all(np.mean(errors, axis=0) <= bounds)


# ------------------------------------------------------------------------------------ the test with teeth


def near_optimum(rng: np.random.Generator, low: float = 1e-6, high: float = 5e-5):
    """A rank-3 optimum with λ_min = 0.3, and X = Σ aᵢxᵢxᵢᴴ near it with 1e-6 ≤ h ≤ 5e-5, more atoms than its rank."""
    d, weights = 12, np.array([0.3, 0.3, 0.4])
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = (Q * np.concatenate([weights + 0.2, np.full(d - 3, -0.5)])) @ Q.T
    problem = sx.Problem(sx.Distance((A + A.T) / 2), sx.Spectrahedron(d))
    optimum = 0.5 * float(np.sum(np.concatenate([np.full(3, 0.2), np.full(d - 3, 0.5)]) ** 2))
    turn = np.linalg.qr(rng.standard_normal((6, 3)))[0]  # any decomposition of the same X will do
    factor = (Q[:, :3] * np.sqrt(weights)) @ turn.T
    size = 1.0
    noise = rng.standard_normal((d, 6)) / math.sqrt(6 * d)
    while True:
        vectors = factor + size * noise
        point = problem.point(Atoms.of(vectors, np.sum(vectors**2, axis=0)))
        h = point.value - optimum
        if low <= h <= high:
            return problem, point, h, 0.3
        size *= 0.7 if h > high else 1.2


def lemma_sides(problem, point, h, least, eta, used_beta):
    """Both sides of the full-update lemma, vᵢ found by the library with ``used_beta`` in its regulariser."""
    beta, alpha, rank = 1.0, 1.0, 3
    descent = problem.descent(point)
    gradient = -descent.dense()
    left = 0.0
    for a, x in zip(point.atoms.weights, point.atoms.vectors.T, strict=True):
        rng = np.random.default_rng(0)
        v = regularized(descent, x, eta * used_beta, 0.0, rng, accuracy=1e-13, careful=True).vector[:, 0]
        apart = 2.0 * (1.0 - abs(np.vdot(v, x)) ** 2)
        left += a * ((v @ gradient @ v - x @ gradient @ x) + 0.5 * eta * beta * apart)
    second = 5.0 * math.sqrt(math.sqrt(2.0 / alpha) * rank * math.sqrt(h))
    third = 3.0 * math.sqrt(2.0) / (math.sqrt(alpha) * least) * math.sqrt(h)
    return left, -h + eta * beta * min(1.0, second, third) + 1e-12


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("eta", [0.05, 0.2, 1.0])
def test_full_update_lemma_is_an_exact_inequality(seed, eta):
    problem, point, h, least = near_optimum(np.random.default_rng(seed))
    left, right = lemma_sides(problem, point, h, least, eta, used_beta=1.0)
    assert left <= right


@pytest.mark.parametrize("wrong_beta", [0.0, -1.0])
def test_full_update_lemma_fails_without_the_regulariser_or_with_its_sign_flipped(wrong_beta):
    """Negative controls: the very same check must fail, or it has no teeth."""
    failures = 0
    for seed in range(8):
        problem, point, h, least = near_optimum(np.random.default_rng(seed))
        left, right = lemma_sides(problem, point, h, least, 1.0, used_beta=wrong_beta)
        failures += left > right
    assert failures == 8


def test_the_schedule_is_the_theorems():
    assert theorem_step(1) == 2.0 and theorem_step(10) == 1.0
    assert theorem_accuracy(1, 3.0) == 3.0 * min(9 / 9, 8748 / 81)
    assert theorem_accuracy(2000, 3.0) == pytest.approx(3.0 * 8748 / 2008**2)
