"""Counts of zero: what the Poisson and the multinomial loss make of them, and where the first refuses them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import spectraplex as sx
from spectraplex.measurements.protocol import is_positive

D = 5


def counted(rng, z):
    """Counts with zeros among them."""
    counts = rng.poisson(z) + 0.0
    counts[: z.size // 3] = 0.0
    return counts


def with_rank_ones(seed, complex_=False):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((24, D))
    a = a + 1j * rng.standard_normal((24, D)) if complex_ else a
    return sx.RankOnes(a), counted(rng, np.sum(np.abs(a) ** 2, axis=1))


def consistent(problem, gap=1e-2, methods=("hybrid", "cg", "apgd", "pairwise")):
    """Brackets of all methods overlap, all end clean, every certificate verifies."""
    results = [sx.solve(problem, method, sx.Stop(relative_gap=gap, max_steps=300)) for method in methods]
    for result in results:
        assert result.status not in (sx.Status.NOT_FINITE, sx.Status.INCONSISTENT), result
        assert sx.verify(result.certificate, problem, result.X)
        assert sx.verify(result.certificate.to_json(), problem, result)
        for other in results:
            assert result.lower_bound <= other.value + other.certificate.rounding
    return results[0]


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("domain", [sx.Spectrahedron(D), sx.TraceBall(D, 3.0)])
@pytest.mark.parametrize("loss", ["poisson", "multinomial"])
def test_zero_counts_on_semidefinite_matrices(loss, domain, complex_):
    measurements, counts = with_rank_ones(0, complex_)
    problem = sx.Problem(sx.Fit(measurements, counts, loss), domain)
    assert consistent(problem).status is sx.Status.GAP


def test_zero_counts_of_poisson_have_the_optimum_of_a_conic_solver():
    cp = pytest.importorskip("cvxpy")
    measurements, counts = with_rank_ones(1)
    X, a = cp.Variable((D, D), PSD=True), measurements.vectors
    z = cp.hstack([cp.sum(cp.multiply(np.outer(x, x), X)) for x in a])
    loss = cp.sum(z) - cp.sum(cp.multiply(counts[counts > 0], cp.log(z[np.nonzero(counts)[0]])))
    best = float(cp.Problem(cp.Minimize(loss), [cp.trace(X) == 1]).solve(solver=cp.CLARABEL))
    result = consistent(sx.Problem(sx.Fit(measurements, counts, "poisson"), sx.Spectrahedron(D)), gap=1e-4)
    assert result.lower_bound <= best + 1e-5 * abs(best) and best <= result.value + 1e-5 * abs(best)


def test_a_mean_of_zero_may_round_below_it():
    """The first matrix is huge and was never counted: X leaves it, and rounding gives its mean either sign."""
    rng = np.random.default_rng(2)
    A = np.stack([x @ x.T for x in rng.standard_normal((12, D, 2))])
    A[0] *= 1e8
    counts = np.concatenate([[0.0], rng.poisson(3.0, 11) + 0.0])
    consistent(sx.Problem(sx.Fit(sx.Matrices(A), counts, "poisson"), sx.Spectrahedron(D)))


def test_penalised_poisson_with_zero_counts():
    measurements, counts = with_rank_ones(3)
    problem = sx.Penalized(sx.Fit(measurements, counts, "poisson"), 0.3, psd=True)
    assert consistent(problem).status is sx.Status.GAP


def table(rng):
    means = 0.3 * rng.gamma(1.0, 1.0, (9, 3)) @ rng.gamma(1.0, 1.0, (3, 7))
    rows, cols = np.nonzero(rng.random(means.shape) < 0.7)
    return sx.Entries(rows, cols, means.shape), counted(rng, means[rows, cols]), means.shape


@pytest.mark.parametrize("radius", [5.0, 30.0])
def test_zero_counts_of_a_multinomial_are_free_of_any_sign(radius):
    entries, counts, shape = table(np.random.default_rng(4))
    fit = sx.Fit(entries, counts, "multinomial")
    assert consistent(sx.Problem(fit, sx.NuclearBall(shape, radius))).status is sx.Status.GAP
    z = np.where(fit.targets > 0, 1.0, -7.0)
    value, slope = fit.evaluate(z)
    assert value == 0.0 and not slope[fit.targets == 0].any()
    assert fit.conjugate(slope).limit == np.inf
    slope[np.argmin(fit.targets)] = -1.0
    assert fit.conjugate(slope).limit == 0.0


@pytest.mark.parametrize("penalised", [False, True])
def test_poisson_refuses_zero_counts_whose_means_may_be_negative(penalised):
    entries, counts, shape = table(np.random.default_rng(5))
    fit = sx.Fit(entries, counts, "poisson")
    with pytest.raises(ValueError, match=r"targets\[0\] is zero .* loss='poisson-log'"):
        sx.Penalized(fit, 0.1) if penalised else sx.Problem(fit, sx.NuclearBall(shape, 5.0))
    seen = sx.Fit(entries, counts + 1.0, "poisson")
    consistent(sx.Penalized(seen, 0.1) if penalised else sx.Problem(seen, sx.NuclearBall(shape, 5.0)))


def test_the_refusal_names_the_place_in_the_order_of_the_user():
    fit = sx.Fit(sx.Entries([2, 1, 0], [0, 0, 0], (3, 3)), [0.0, 1.0, 2.0], "poisson")
    with pytest.raises(ValueError, match=r"targets\[0\] is zero \(1 such"):
        sx.Problem(fit, sx.Spectrahedron(3))


def test_poisson_refuses_measurements_that_may_be_negative_on_semidefinite_matrices():
    rng = np.random.default_rng(6)
    triplets = sx.Differences(rng.standard_normal((6, 3)), [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(ValueError, match="may be negative"):
        sx.Problem(sx.Fit(triplets, [0.0, 1.0], "poisson"), sx.TraceBall(3, 1.0))
    with pytest.raises(ValueError, match="may be negative"):
        sx.Problem(sx.Fit(sx.RankOnes(np.ones((2, 3))), [0.0, 1.0], "poisson"), sx.NuclearBall((3, 3), 1.0))


def test_measurements_know_whether_their_matrices_are_positive():
    rng = np.random.default_rng(7)
    x = rng.standard_normal((4, D, 2))
    A = np.concatenate([x @ x.swapaxes(1, 2), np.zeros((1, D, D))])
    B = A.copy()
    B[2, 0, 0] -= 3.0
    skew = A + np.triu(np.ones((D, D)), 1)
    for stack, holds in ((A, True), (A.astype(complex), True), (1e-200 * A, True), (B, False), (skew, False)):
        assert is_positive(sx.Matrices(stack)) is holds
        assert is_positive(sx.Matrices([csr_matrix(each) for each in stack])) is holds
    assert is_positive(sx.RankOnes(x[:, :, 0])) and not is_positive(sx.RankOnes(x[:, :, 0], x[:, :, 1]))
    assert is_positive(sx.Differences(x[0], [[0, 1]])) and not is_positive(sx.Differences(x[0], [[0, 1, 2]]))
    assert is_positive(sx.Entries([0, 2], [0, 2], (3, 3))) and not is_positive(sx.Entries([0, 2], [0, 1], (3, 3)))
    assert not is_positive(sx.Identity((2, 2))) and not is_positive(sx.Features(np.ones((2, 2)), 2))

    class Liar(sx.RankOnes):
        def __init__(self):
            super().__init__(np.eye(2), np.eye(2)[::-1])
            self.positive = True

    assert "positive" in str(sx.check(Liar()))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["poisson", "poisson-log", "softmax"])
def test_the_least_value_of_a_loss_is_claimed_less_its_rounding(name, seed):
    """Where all targets can be met, min ℓ is the bound: another order of summation must not fall short of it."""
    rng = np.random.default_rng(seed)
    b, w = rng.uniform(1.0, 9.0, 40), rng.uniform(0.5, 2.0, 40)
    logs = [x * math.log(x) for x in b]
    exact = math.fsum(v * (x - y) for v, x, y in zip(w, b, logs, strict=True))
    if name == "softmax":
        b = b.reshape(10, 4) / b.reshape(10, 4).sum(axis=1, keepdims=True)
        w = w[:10]
        exact = -math.fsum(v * x * math.log(x) for v, row in zip(w, b, strict=True) for x in row)
    problem = sx.Problem(sx.Fit(sx.Identity((10, 4)), b, name, w), sx.NuclearBall((10, 4), 200.0))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-9, max_steps=200))
    assert exact - 1e-6 * abs(exact) <= result.lower_bound < exact
    assert sx.verify(result.certificate, problem, result)
