"""Every method × every problem with a known optimum: reached to the accuracy the method's rate promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import spectraplex as sx
from problems import PROBLEMS

# (steps, bound on (f − f*)/β̂): the worst-case rates, with the constants of their theorems, for the methods that have
# them (Frank-Wolfe: 4/(t + 2), its diameter being √2; Theorem 1: 54/(t + 8)); rounding level for projections.
STEPS = 150
RATES = {
    "hybrid": 1e-8,
    "in-face": 4.0 / (STEPS + 2),
    "cg": 4.0 / (STEPS + 2),
    "away": 4.0 / (STEPS + 2),
    "pairwise": 4.0 / (STEPS + 2),
    "ror": 54.0 / (STEPS + 8),
    "ror-adaptive": 4.0 / (STEPS + 2),
    "ror-full": 54.0 / (40 + 8),
    "pgd": 1.0 / STEPS,
    "apgd": 4.0 / STEPS**2,
    "stochastic": 4.0 / (STEPS + 2),  # with so few observations it looks at all of them
}
MONOTONE = {"hybrid", "in-face", "cg", "away", "pairwise", "ror-adaptive", "pgd", "apgd"}
# What they do in practice, which a broken method would not: a share of the first error.
SHARE = {
    "hybrid": 1e-8,
    "in-face": 1e-3,
    "cg": 0.02,
    "away": 0.02,
    "pairwise": 0.02,
    "ror-adaptive": 0.01,
    "pgd": 0.05,
    "apgd": 1e-3,
}


def test_the_table_is_complete():
    assert set(RATES) == set(sx.METHODS)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", sx.METHODS)
def test_reaches_the_optimum(method, name, seed=0):
    known = PROBLEMS[name](np.random.default_rng(seed))
    beta, scale = known.problem.lifted.smoothness, max(1.0, abs(known.optimum))
    steps = 40 if method == "ror-full" else STEPS
    if method == "stochastic" and known.problem.facts.some is None:
        with pytest.raises(ValueError, match="Stochastic needs an objective with some"):
            sx.solve(known.problem, method)
        return
    result = sx.solve(known.problem, method, sx.Stop(max_steps=steps), seed=seed)
    error = result.value - known.optimum
    assert error >= -1e-11 * scale
    assert error <= RATES[method] * beta + 1e-12 * scale
    if method in SHARE:
        first = result.trace[0].value - known.optimum
        assert error <= SHARE[method] * first + 1e-6 * beta
    if method in MONOTONE:
        values = result.trace.as_dict()["value"]
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values[:-1]) + 1e-14 * scale)
    # feasible to rounding, value recomputed from what the user gets, true bracket
    dense = result.X.dense()
    check_feasible(known.problem.domain, dense)
    U, s, V = result.X.triple()
    again = known.problem.objective.evaluate(known.problem.objective.measure(U, s, V))[0]
    assert again == pytest.approx(result.value, rel=1e-9, abs=1e-12 * scale)
    assert result.lower_bound <= known.optimum + 1e-12 * scale <= result.value + 2e-12 * scale
    assert result.gap == pytest.approx(max(result.value - result.lower_bound, 0.0))


def check_feasible(domain, dense):
    if isinstance(domain, sx.NuclearBall):
        assert np.linalg.svd(dense, compute_uv=False).sum() <= domain.radius * (1 + 1e-12)
        return
    eigenvalues = np.linalg.eigvalsh(dense)
    assert eigenvalues.min() >= -1e-12 * domain.trace
    if isinstance(domain, sx.TraceBall):
        assert eigenvalues.sum() <= domain.trace * (1 + 1e-12)
    else:
        assert eigenvalues.sum() == pytest.approx(domain.trace, rel=1e-12)


@pytest.mark.parametrize("method", ["cg", "ror-adaptive", "pairwise"])
def test_open_ends_agree_with_a_conic_solver(method):
    """Half-observed tables have no closed form; Clarabel's optimum, to its own gap, is the judge."""
    cvxpy = pytest.importorskip("cvxpy")
    for seed in range(2):
        rng = np.random.default_rng(seed)
        m, n, radius = 6, 5, 2.0
        seen = rng.random((m, n)) < 0.6
        rows, cols = np.nonzero(seen)
        values = rng.standard_normal(rows.size)
        problem = sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), radius))
        Z = cvxpy.Variable((m, n))
        mask = seen.astype(float)
        target = np.zeros((m, n))
        target[rows, cols] = values
        loss = 0.5 * cvxpy.sum_squares(cvxpy.multiply(mask, Z) - target)
        optimum = cvxpy.Problem(cvxpy.Minimize(loss), [cvxpy.normNuc(Z) <= radius]).solve(solver=cvxpy.CLARABEL)
        result = sx.solve(problem, method, sx.Stop(max_steps=1500, relative_gap=1e-4), seed=seed)
        assert result.lower_bound <= optimum + 1e-6
        assert optimum - 1e-6 <= result.value <= optimum + 2e-3 * abs(optimum) + 1e-5


def test_open_loop_steps_converge_too():
    known = PROBLEMS["rank 3 of 12"](np.random.default_rng(0))
    result = sx.solve(known.problem, sx.ConditionalGradient(step="open-loop"), sx.Stop(max_steps=300))
    assert result.value - known.optimum <= 4.0 / 302


@pytest.mark.parametrize("beta", [None, 0.0, 1.0, "adaptive"])
@pytest.mark.parametrize("select", ["random", "greedy"])
@pytest.mark.parametrize("step", ["theorem", "line-search"])
def test_every_form_of_ror_converges(beta, select, step):
    known = PROBLEMS["rank 3 of 12"](np.random.default_rng(1))
    method = sx.RankOneRegularized(select=select, step=step, beta=beta)
    result = sx.solve(known.problem, method, sx.Stop(max_steps=200))
    assert result.value - known.optimum <= 54.0 / 208


def test_real_equals_complex_with_zero_imaginary_part():
    known = PROBLEMS["rank 3 of 12"](np.random.default_rng(2))
    A = known.problem.objective.A
    twin = sx.Problem(sx.Distance(A.astype(complex)), sx.Spectrahedron(12))
    for method in ("cg", "ror-adaptive", "apgd"):
        real = sx.solve(known.problem, method, sx.Stop(max_steps=300))
        imaginary = sx.solve(twin, method, sx.Stop(max_steps=300))
        tolerance = 1e-9 if method == "apgd" else 5e-3
        assert imaginary.value == pytest.approx(real.value, abs=tolerance)
        np.testing.assert_allclose(imaginary.X.dense(), real.X.dense(), atol=np.sqrt(4 * tolerance))


def test_projection_of_a_dense_matrix_is_exact_and_proven():
    for seed, complex_ in ((0, False), (1, True), (2, False)):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((25, 25)) / 5 + complex_ * 1j * rng.standard_normal((25, 25)) / 5
        A = (A + A.conj().T) / 2
        domains = [sx.Spectrahedron(25), sx.Spectrahedron(25, 40.0), sx.TraceBall(25, 2.0), sx.TraceBall(25, 90.0)]
        domains += [sx.NuclearBall((25, 25), 2.0), sx.NuclearBall((25, 25), 900.0)]
        for domain in domains:
            result = sx.project(A, domain)
            assert np.array_equal(result.X.dense(), domain.project(A).dense())
            assert result.status is sx.Status.GAP and result.gap <= 1e-9 and result.certificate.kind == "proven"
            assert sx.verify(result.certificate, sx.Problem(sx.Distance(A), domain), result.X)
    tall = rng.standard_normal((30, 8))
    assert sx.project(tall, sx.NuclearBall((30, 8), 3.0)).gap <= 1e-9
    again = sx.solve(sx.Problem(sx.Distance(A), domain), start=result)  # it goes on from the factors
    assert again.value <= result.value + 1e-9


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_projection_at_any_size(size):
    A = size * np.diag([3.0, 1.0, -2.0])
    result = sx.project(A, sx.Spectrahedron(3, 2.0 * size), sx.Stop(relative_gap=1e-9))
    np.testing.assert_allclose(result.X.dense() / size, np.diag([2.0, 0.0, 0.0]), atol=1e-12)
    assert result.status is sx.Status.GAP


def test_projection_with_rank_one_work_only():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((25, 25)) / 5
        A = (A + A.T) / 2
        for domain in (sx.Spectrahedron(25), sx.TraceBall(25, 2.0), sx.NuclearBall((25, 25), 2.0)):
            exact = domain.project(A).dense()
            result = sx.project(csr_matrix(A), domain, sx.Stop(gap=1e-4, max_steps=3000), seed=seed)
            assert result.trace[-1].kind == "move"
            assert result.gap <= 1e-4
            assert np.linalg.norm(result.X.dense() - exact) <= np.sqrt(2 * result.gap) + 1e-9
