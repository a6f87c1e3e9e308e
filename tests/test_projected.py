"""Projected gradient where the smoothness is not known: β is found, and found again when the curvature falls."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, normal
from spectraplex.methods.projected import PGMemory, _momentum


def likelihood(d, outcomes, shots, rank, seed):
    """−Σ nᵢ ln⟨aᵢaᵢᴴ, X⟩ with Σ aᵢaᵢᴴ = I, multinomial counts n; infinite where what was seen has no probability."""
    rng = np.random.default_rng(seed)
    a = np.linalg.qr(normal(rng, (outcomes, d), True))[0]
    Y = normal(rng, (d, rank), True)
    p = np.linalg.norm(a.conj() @ Y, axis=1) ** 2
    n = rng.multinomial(shots, p / p.sum())
    seen = n > 0

    def function(X):
        p = np.einsum("ki,ij,kj->k", a.conj(), X, a).real
        if (p[seen] <= 0).any():
            return np.inf, np.full(X.shape, np.nan)
        pull = np.zeros(outcomes)
        pull[seen] = n[seen] / p[seen]
        return -float(n[seen] @ np.log(p[seen])), -(a.T * pull) @ a.conj()

    return sx.Problem(sx.Smooth(function, (d, d), dtype="complex128"), sx.Spectrahedron(d)), shots


def iterated(problem, shots, most=3000):
    """RρR: X ← RXR/tr(RXR) with R = −∇f(X)/N; the value, and Jensen's bound N ln λ_max(R) on how far it is off."""
    d, f = problem.objective.shape[0], problem.objective
    X = np.eye(d, dtype=complex) / d
    for _ in range(most):
        R = -f.evaluate(X)[1] / shots
        X = R @ X @ R
        X = (X + X.conj().T) / (2 * np.trace(X).real)
    value, gradient = f.evaluate(X)
    return value, shots * np.log(np.linalg.eigvalsh(-gradient / shots)[-1])


@pytest.mark.parametrize(
    ("d", "outcomes", "shots", "rank"), [(4, 16, 200, 1), (4, 16, 1000, 2), (8, 64, 2000, 1), (8, 80, 100_000, 1)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_likelihood_is_brought_to_its_optimum(d, outcomes, shots, rank, seed):
    problem, shots = likelihood(d, outcomes, shots, rank, seed)
    optimum, off = iterated(problem, shots)
    assert off <= 1e-6 * abs(optimum)
    result = sx.solve(problem, "apgd", sx.Stop(max_steps=250))
    assert abs(result.value - optimum) <= 1e-6 * abs(optimum)
    assert np.all(np.diff(result.trace.as_dict()["value"]) <= 1e-12 * abs(optimum))


def test_steps_grow_again_where_the_curvature_falls():
    problem, _ = likelihood(6, 40, 5000, 1, 2)
    sizes = sx.solve(problem, "apgd", sx.Stop(max_steps=100)).trace.as_dict()["size"]
    least = int(np.argmin(np.where(sizes > 0, sizes, np.inf)))
    assert sizes[least:].max() > 4 * sizes[least]  # a β that is never lowered would let no step be longer than before


@pytest.mark.parametrize("beta", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("method", ["pgd", "apgd"])
def test_a_first_guess_of_any_size_is_mended(method, beta):
    A = normal(np.random.default_rng(3), (7, 7), False)
    A = A + A.T
    f = sx.Smooth(lambda X: (0.5 * beta * float(np.sum((X - A) ** 2)), beta * (X - A)), (7, 7))
    domain = sx.Spectrahedron(7, 2.0)
    result = sx.solve(sx.Problem(f, domain), method, sx.Stop(max_steps=40))
    np.testing.assert_allclose(result.X.dense(), domain.project(A).dense(), atol=1e-6)
    # one decomposition a step, but for the first ones: a constant curvature is not tried for less again and again
    assert result.products <= 7 * (1.5 * len(result.trace) + 34)


@pytest.mark.parametrize("name", ["own function", "rank 3 of 12", "ball, squared"])
def test_found_is_as_good_as_known(name):
    problem = PROBLEMS[name](np.random.default_rng(4)).problem
    f = problem.objective

    def function(X):
        U, s, Vh = np.linalg.svd(X, full_matrices=False)
        value, slope = f.evaluate(f.measure(U, s, Vh.T))
        return value, f.gradient(slope).dense()

    found = sx.solve(sx.Problem(sx.Smooth(function, f.shape), problem.domain), "apgd", sx.Stop(max_steps=60))
    known = sx.solve(problem, "apgd", sx.Stop(max_steps=60))
    assert found.value <= known.value + 1e-6 * (known.trace[0].value - known.value)


@pytest.mark.parametrize("ratio", [0.01, 0.8, 1.0, 2.0, 1e4])
def test_momentum_takes_the_change_of_beta_into_account(ratio):
    none = np.empty(0)
    memory = PGMemory(5.0, 3.0, none, none, none)
    s = _momentum(memory, ratio * 3.0)
    assert s * (s - 1.0) / (ratio * 3.0) == pytest.approx(25.0 / 3.0)
    assert _momentum(PGMemory(1.0, 3.0, none, none, none), ratio * 3.0) == pytest.approx((1 + np.sqrt(5)) / 2)


def test_a_saved_run_on_hermitian_matrices_measures_one_array(tmp_path):
    """Both sides of its memory are one array; read from a file they are two, which some measure to other bits."""
    same = []

    class Watched(sx.Distance):
        def measure(self, U, s, V):
            same.append(U is V)
            return super().measure(U, s, V)

    problem = sx.Problem(Watched(np.diag([2.0, 0.5, -1.0])), sx.Spectrahedron(3))
    whole = sx.solve(problem, "apgd", sx.Stop(max_steps=6))
    half = sx.load(sx.solve(problem, "apgd", sx.Stop(max_steps=3)).save(tmp_path / "half"))
    on = sx.solve(problem, "apgd", sx.Stop(max_steps=3), start=half)
    assert all(same) and on.value == whole.value
