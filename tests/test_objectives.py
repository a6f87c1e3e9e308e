"""Objectives agree with dense formulas, and their constants are exact, downstairs and through the lift."""

import numpy as np
import pytest
import scipy.sparse as sp

import dense
import spectraplex as sx
from spectraplex.measurements import protocol

SEEDS = (0, 1)
ALL = [("rectangular", name) for name in dense.RECTANGULAR] + [("hermitian", name) for name in dense.HERMITIAN]
both_kinds = pytest.mark.parametrize(("kind", "name"), ALL, ids=["-".join(pair) for pair in ALL])
seeds = pytest.mark.parametrize("seed", SEEDS)


def build(kind, name, seed):
    """The case, its field, whether X is Hermitian, and a generator for what the test adds."""
    rng = np.random.default_rng([seed, len(name)])
    dtype, make = (dense.RECTANGULAR if kind == "rectangular" else dense.HERMITIAN)[name]
    return make(rng), dtype, kind == "hermitian", rng


def assert_close(got, want, scale=1.0, tolerance=1e-12):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale)


# ------------------------------------------------------------------------------------------- values and gradients


@both_kinds
@seeds
def test_value_slope_and_gradient_are_those_of_the_dense_formula(kind, name, seed):
    case, dtype, hermitian, rng = build(kind, name, seed)
    f = case.objective
    X = dense.factors(rng, f.shape, 3, dtype, hermitian)
    value, slope = f.evaluate(f.measure(*X))
    Z, G = dense.matrix(X), case.gradient(dense.matrix(X))
    scale = np.abs(G).max()
    assert_close(value, case.value(Z))
    operator = f.gradient(slope)
    assert_close(operator.dense(), G, scale)
    P, Q = dense.normal(rng, (f.shape[0], 2), dtype), dense.normal(rng, (f.shape[1], 2), dtype)
    assert_close(operator.matmat(Q), G @ Q, 10 * scale)
    assert_close(operator.rmatmat(P), G.conj().T @ P, 10 * scale)
    D = dense.factors(rng, f.shape, 2, dtype, hermitian)
    assert_close(f.pair(slope, f.measure(*D)), dense.real_inner(G, dense.matrix(D)), 10 * scale)


@both_kinds
@seeds
def test_combine_follows_the_matrices(kind, name, seed):
    case, dtype, hermitian, rng = build(kind, name, seed)
    f = case.objective
    X, Y = (dense.factors(rng, f.shape, k, dtype, hermitian) for k in (2, 3))
    a, b = rng.uniform(-1, 1, 2)
    Z = a * dense.matrix(X) + b * dense.matrix(Y)
    value, slope = f.evaluate(f.combine(a, f.measure(*X), b, f.measure(*Y)))
    assert_close(value, case.value(Z))
    assert_close(f.gradient(slope).dense(), case.gradient(Z), np.abs(case.gradient(Z)).max())


@both_kinds
@seeds
def test_the_curve_is_the_dense_function_along_a_line(kind, name, seed):
    case, dtype, hermitian, rng = build(kind, name, seed)
    f = case.objective
    X, D = (dense.factors(rng, f.shape, k, dtype, hermitian) for k in (2, 3))
    Z, step = dense.matrix(X), dense.matrix(D)
    curve = f.along(f.measure(*X), f.measure(*D))
    for s in (-0.4, 0.0, 0.3, 1.0):
        G = case.gradient(Z + s * step)
        assert_close(curve.value(s), case.value(Z + s * step), 10.0)
        assert_close(curve.derivative(s), dense.real_inner(G, step), 10 * np.abs(G).max())


@both_kinds
@seeds
def test_gradient_agrees_with_finite_differences_of_the_dense_value(kind, name, seed):
    case, dtype, hermitian, rng = build(kind, name, seed)
    f = case.objective
    X = dense.factors(rng, f.shape, 3, dtype, hermitian)
    Z, h = dense.matrix(X), 1e-5
    G = f.gradient(f.evaluate(f.measure(*X))[1]).dense()
    space = dense.basis(f.shape, dtype, hermitian)
    got = [dense.real_inner(G, E) for E in space]
    want = [(case.value(Z + h * E) - case.value(Z - h * E)) / (2 * h) for E in space]
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(G).max()))


# -------------------------------------------------------------------------------------------------------- constants


@both_kinds
@seeds
def test_smoothness_is_the_greatest_curvature_there_is(kind, name, seed):
    case, dtype, hermitian, rng = build(kind, name, seed)
    f = case.objective
    claimed = f.hermitian_smoothness if hermitian and hasattr(f, "hermitian_smoothness") else f.smoothness
    space = dense.basis(f.shape, dtype, hermitian)
    np.testing.assert_allclose(claimed, dense.hessian_range(case.gradient, case.peak, space)[1], rtol=1e-7)
    for _ in range(3):
        at = dense.matrix(dense.factors(rng, f.shape, 3, dtype, hermitian))
        assert dense.hessian_range(case.gradient, at, space)[1] <= claimed * (1 + 1e-7)


@both_kinds
@seeds
def test_strong_convexity_is_the_least_curvature_there_is(kind, name, seed):
    case, dtype, hermitian, _ = build(kind, name, seed)
    f = case.objective
    for on_hermitian in {False, hermitian}:
        claimed = f.strong_convexity
        if on_hermitian:
            claimed = getattr(f, "hermitian_strong_convexity", claimed)
        space = dense.basis(f.shape, dtype, on_hermitian)
        if case.quadratic:
            least = dense.hessian_range(case.gradient, case.peak, space)[0]
            np.testing.assert_allclose(claimed, least, rtol=1e-7, atol=1e-9 * f.smoothness)
        else:  # the curvature fades far away, so nothing may be claimed
            far = case.peak + 500.0
            assert claimed == 0.0
            assert dense.hessian_range(case.gradient, far, space)[0] < 5e-3


@pytest.mark.parametrize("name", dense.RECTANGULAR)
@seeds
def test_constants_through_the_nuclear_lift(name, seed):
    case, dtype, _, rng = build("rectangular", name, seed)
    f, (m, n), radius = case.objective, case.objective.shape, rng.uniform(0.5, 3.0)
    lifted = sx.Problem(f, sx.NuclearBall(f.shape, radius)).lifted
    at, space = np.zeros((m + n, m + n), dtype), dense.basis((m + n, m + n), dtype, hermitian=True)
    at[:m, m:] = case.peak / (2 * radius)
    at = at + at.conj().T

    def gradient(X):
        G = np.zeros((m + n, m + n), dtype)
        G[:m, m:] = radius * case.gradient(2 * radius * X[:m, m:])
        return G + G.conj().T

    least, most = dense.hessian_range(gradient, at, space, step=1e-4 / radius)
    np.testing.assert_allclose(lifted.smoothness, most, rtol=1e-7)
    np.testing.assert_allclose(lifted.smoothness, 2 * radius**2 * f.smoothness, rtol=1e-14)
    assert lifted.strong_convexity == 0.0
    assert abs(least) < 1e-7 * most


@pytest.mark.parametrize("name", dense.HERMITIAN)
@pytest.mark.parametrize("slack", [False, True], ids=["spectrahedron", "trace-ball"])
@seeds
def test_constants_through_the_hermitian_lifts(name, slack, seed):
    case, dtype, _, rng = build("hermitian", name, seed)
    f, d, trace = case.objective, case.objective.shape[0], rng.uniform(0.5, 3.0)
    lifted = sx.Problem(f, (sx.TraceBall if slack else sx.Spectrahedron)(d, trace)).lifted
    size = d + slack
    at, space = np.zeros((size, size), dtype), dense.basis((size, size), dtype, hermitian=True)
    at[:d, :d] = case.peak / trace

    def gradient(X):
        G = np.zeros((size, size), dtype)
        G[:d, :d] = trace * dense.hermitian(case.gradient(trace * X[:d, :d]))
        return G

    least, most = dense.hessian_range(gradient, at, space, step=1e-4 / trace)
    np.testing.assert_allclose(lifted.smoothness, most, rtol=1e-7)
    if slack:
        assert lifted.strong_convexity == 0.0
        assert abs(least) < 1e-7 * most
    elif case.quadratic:
        np.testing.assert_allclose(lifted.strong_convexity, least, rtol=1e-7, atol=1e-9 * most)
    else:
        assert lifted.strong_convexity == 0.0


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("storage", ["stack", "sparse", "rank-one"])
@seeds
def test_smoothness_of_many_measurements_is_a_close_upper_bound(storage, dtype, seed, monkeypatch):
    case = dense.sensing(np.random.default_rng(seed), (4, 4), storage, dtype, count=60)
    exact = case.objective.smoothness
    monkeypatch.setattr(protocol, "EXACT", 10)  # as if 60 measurements were too many to decompose
    bound = dense.sensing(np.random.default_rng(seed), (4, 4), storage, dtype, count=60).objective.smoothness
    assert exact * (1 - 1e-14) <= bound <= exact * (1 + 2e-3)


def test_lifted_smoothness_is_none_when_the_objective_does_not_know_it():
    f = sx.Smooth(lambda X: (0.0, np.zeros_like(X)), (3, 3))
    for domain in (sx.Spectrahedron(3), sx.TraceBall(3, 2.0), sx.NuclearBall((3, 3), 2.0)):
        lifted = sx.Problem(f, domain).lifted
        assert lifted.smoothness is None
        assert lifted.strong_convexity == 0.0


# ------------------------------------------------------------------------------------------- storage does not matter


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_matrix])
@seeds
def test_sparse_distance_is_dense_distance(form, dtype, seed):
    rng = np.random.default_rng(seed)
    A = dense.normal(rng, (5, 4), dtype) * (rng.random((5, 4)) < 0.4)
    f, g = sx.Distance(form(A)), sx.Distance(A)
    X, D = (dense.factors(rng, (5, 4), k, dtype) for k in (3, 2))
    fz, gz = f.measure(*X), g.measure(*X)
    (value, slope), (same, tilt) = f.evaluate(fz), g.evaluate(gz)
    assert_close(value, same)
    assert_close(f.gradient(slope).dense(), g.gradient(tilt).dense())
    assert_close(f.pair(slope, f.measure(*D)), g.pair(tilt, g.measure(*D)))
    here, there = f.along(fz, f.measure(*D)), g.along(gz, g.measure(*D))
    assert_close((here.start, here.slope, here.bend), (there.start, there.slope, there.bend))


def test_sparse_distance_takes_duplicates_zeros_integers_and_nothing_at_all():
    rng = np.random.default_rng(3)
    doubled = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 2))
    whole = sp.csr_array(np.array([[0, 3], [0, 0], [0, 0]]))
    empty = sp.csr_array((3, 2))
    X = dense.factors(rng, (3, 2), 2)
    for table in (doubled, whole, empty):
        f = sx.Distance(table)
        value, slope = f.evaluate(f.measure(*X))
        assert_close(value, 0.5 * np.linalg.norm(dense.matrix(X) - table.toarray()) ** 2)
        assert_close(f.gradient(slope).dense(), dense.matrix(X) - table.toarray())


@pytest.mark.parametrize("rank", [1, 2])
def test_complex_data_take_real_factors(rank):
    rng = np.random.default_rng(4)
    X = dense.factors(rng, (4, 4), rank)
    A = dense.hermitian(dense.normal(rng, (4, 4), "complex128"))
    rows, cols = (each.ravel() for each in np.indices((4, 4)))
    stack = dense.normal(rng, (3, 4, 4), "complex128")
    Z = dense.matrix(X)
    want = 0.5 * np.linalg.norm(Z - A) ** 2
    measured = 0.5 * sum(np.trace(each.conj().T @ Z).real ** 2 for each in stack)
    for f, expected in (
        (sx.Distance(A), want),
        (sx.Distance(sp.csr_array(A)), want),
        (sx.Completion(rows, cols, A[rows, cols], (4, 4)), want),
        (sx.Sensing(stack, np.zeros(3)), measured),
        (sx.Sensing([sp.csr_array(each) for each in stack], np.zeros(3)), measured),
    ):
        assert_close(f.evaluate(f.measure(*X))[0], expected)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
@seeds
def test_the_order_of_observations_changes_nothing(loss, seed):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((6, 5)) < 0.5)
    values = np.sign(rng.standard_normal(rows.size))
    weights = rng.uniform(0.5, 2.0, rows.size)
    order = rng.permutation(rows.size)
    assert (order != np.arange(rows.size)).any()
    f = sx.Completion(rows, cols, values, (6, 5), loss, weights=weights)
    g = sx.Completion(rows[order], cols[order], values[order], (6, 5), loss, weights=weights[order])
    X = dense.factors(rng, (6, 5), 3)
    (value, slope), (same, tilt) = f.evaluate(f.measure(*X)), g.evaluate(g.measure(*X))
    assert value == same
    np.testing.assert_array_equal(f.gradient(slope).dense(), g.gradient(tilt).dense())
    assert (f.smoothness, f.strong_convexity) == (g.smoothness, g.strong_convexity)
    np.testing.assert_array_equal(rows[f.order], rows[order][g.order])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float64"])
def test_indices_of_any_whole_number_type(dtype):
    f = sx.Completion(np.array([2, 0], dtype), np.array([1, 1], dtype), [5.0, 3.0], (3, 2))
    np.testing.assert_array_equal(f.gradient(np.array([3.0, 5.0])).dense(), [[0, 3], [0, 0], [0, 5]])


# ------------------------------------------------------------------------------------------------------------ losses


def test_logistic_says_which_labels_it_understood():
    zero_one = sx.Completion([0, 1], [0, 1], [0, 1], (2, 2), "logistic")
    signs = sx.Completion([0, 1], [0, 1], [-1, 1], (2, 2), "logistic")
    flags = sx.Completion([0, 1], [0, 1], [False, True], (2, 2), "logistic")
    assert (zero_one.labels, signs.labels, flags.labels) == ("0/1", "−1/+1", "0/1")
    assert "labels 0/1" in repr(zero_one)
    assert sx.Completion([0], [0], [1.0], (2, 2)).labels is None
    np.testing.assert_array_equal(zero_one.values, signs.values)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_logistic_neither_overflows_nor_loses_small_values(sign):
    f = sx.Completion([0], [0], [sign], (1, 1), "logistic")
    right, slope = f.evaluate(np.array([800.0 * sign]))
    assert right == 0.0 and slope[0] == 0.0
    wrong, slope = f.evaluate(np.array([-800.0 * sign]))
    assert wrong == 800.0 and slope[0] == -sign
    small, _ = f.evaluate(np.array([40.0 * sign]))
    np.testing.assert_allclose(small, np.exp(-40.0), rtol=1e-12)


def test_huber_with_a_large_delta_is_squared_and_with_a_small_one_the_scaled_distance():
    rng = np.random.default_rng(5)
    rows, cols = (each.ravel() for each in np.indices((3, 4)))
    B = dense.normal(rng, 12, "complex128")
    X = dense.factors(rng, (3, 4), 2, "complex128")
    r = np.abs(dense.matrix(X)[rows, cols] - B)
    large = sx.Completion(rows, cols, B, (3, 4), "huber", delta=100.0)
    small = sx.Completion(rows, cols, B, (3, 4), "huber", delta=1e-9)
    assert_close(large.evaluate(large.measure(*X))[0], np.sum(r**2) / 2)
    np.testing.assert_allclose(small.evaluate(small.measure(*X))[0] / 1e-9, r.sum(), rtol=1e-8)


def test_smooth_may_change_what_it_was_given():
    def careless(X):
        value, G = 0.5 * np.sum(X**2), X.copy()
        X[:] = np.nan
        return value, G

    f = sx.Smooth(careless, (2, 2))
    z = f.measure(*dense.factors(np.random.default_rng(0), (2, 2), 2))
    first = f.evaluate(z)[0]
    assert f.evaluate(z)[0] == first
