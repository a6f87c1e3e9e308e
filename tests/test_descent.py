"""Local descent on the factor, and projections from leading eigenvectors that are exact or say so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
import spectraplex as sx
from problems import PROBLEMS
from spectraplex.fingerprint import stream
from spectraplex.matrices.operators import Dense
from spectraplex.methods.descent import descend
from spectraplex.methods.partial import project_leading
from spectraplex.methods.scaling import inverse_curvature
from spectraplex.places.here import HERE, NumPyPlace

DTYPES = ("float64", "complex128")


def completion(seed, dtype="float64", m=30, n=20, radius=40.0):
    rng = np.random.default_rng(seed)
    seen = rng.random((m, n)) < 0.5
    rows, cols = np.nonzero(seen)
    values = dense.normal(rng, rows.size, dtype) * 3
    return sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), radius))


def factor(problem, rank, seed):
    Y = dense.normal(np.random.default_rng(seed), (problem.domain.dimension, rank), problem.dtype)
    return Y / np.linalg.norm(Y)


def value_at(problem, Y):
    return problem.point(sx.problem.Atoms.of(Y, np.linalg.norm(Y, axis=0) ** 2)).value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("single", [False, True])
def test_the_value_is_that_of_the_factor_returned(dtype, single):
    problem = completion(0, dtype)
    found = descend(problem, factor(problem, 4, 1), None, 1.0, most=25, fading=0.0, single=single)
    assert found.steps > 5
    assert np.linalg.norm(found.Y) == pytest.approx(1.0, abs=1e-14)
    # stored in single precision, the value is still exact for the rounded factor: sums are in double
    assert found.value == pytest.approx(value_at(problem, found.Y), rel=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_descent_ends_at_a_stationary_point_of_the_sphere(dtype):
    problem = completion(3, dtype)
    found = descend(problem, factor(problem, 6, 1), None, 1.0, most=500, fading=0.0)
    G = problem.descent(problem.point(sx.problem.Atoms.of(found.Y, np.linalg.norm(found.Y, axis=0) ** 2))).dense()
    push = G @ found.Y
    push -= np.vdot(found.Y, push).real * found.Y
    assert np.linalg.norm(push) <= 1e-5 * np.linalg.norm(G @ found.Y)


def test_real_equals_complex_with_zero_imaginary_part():
    real, both = completion(2), completion(2)
    rows, cols = both.objective.pattern.rows.astype(int), both.objective.pattern.indices.astype(int)
    both = sx.Problem(sx.Completion(rows, cols, both.objective.values + 0j, both.objective.shape), both.domain)
    Y = factor(real, 5, 0)
    one = descend(real, Y, None, 1.0, most=10, fading=0.0)
    two = descend(both, Y + 0j, None, 1.0, most=10, fading=0.0)
    assert two.value == pytest.approx(one.value, rel=1e-6)
    assert np.abs(two.Y.imag).max() <= 1e-12


def test_every_step_lowers_the_value_and_nan_is_never_taken():
    def log_det(X):
        with np.errstate(invalid="ignore", divide="ignore"):
            sign, log = np.linalg.slogdet(X + 1e-3 * np.eye(8))
            return (-log if sign > 0 else np.nan), -np.linalg.inv(X + 1e-3 * np.eye(8))

    problem = sx.Problem(sx.Smooth(log_det, (8, 8)), sx.Spectrahedron(8))
    values = []
    sx.solve(problem, stop=sx.Stop(max_steps=15), observers=[lambda record, _: values.append(record.value)])
    assert np.all(np.diff(values) <= 0)
    assert values[-1] == pytest.approx(-8 * np.log(1 / 8 + 1e-3), rel=1e-8)  # X = I/8


def test_the_scaling_is_the_diagonal_of_the_gauss_newton_hessian_when_everything_is_observed():
    m, n, radius = 5, 4, 3.0
    rows, cols = np.nonzero(np.ones((m, n)))
    problem = sx.Problem(sx.Completion(rows, cols, np.ones(m * n), (m, n)), sx.NuclearBall((m, n), radius))
    Y, multiplier = factor(problem, 2, 0), 1e3
    got = inverse_curvature(problem, Y, 1.0, multiplier, np.nan)
    for i in range(m + n):
        for k in range(2):
            D = np.zeros_like(Y)
            D[i, k] = 1.0
            change = 2 * radius * (D[:m] @ Y[m:].T + Y[:m] @ D[m:].T)
            assert 0.5 / got[i, k] - multiplier == pytest.approx(np.sum(change**2), rel=1e-9)


def test_without_any_hint_the_scaling_has_the_mean_curvature():
    problem = sx.Problem(sx.Smooth(lambda X: (0.5 * np.sum(X**2), X), (6, 6)), sx.Spectrahedron(6))
    scaling = inverse_curvature(problem, factor(problem, 2, 0), 1.0, 0.5, 3.0)
    assert scaling.shape == (6, 2)
    assert np.all(np.isfinite(scaling)) and np.all(scaling > 0)
    assert np.ptp(scaling, axis=0).max() == 0.0  # no row is known to be better observed than another


# ------------------------------------------------------------------------------------------------------ projections


def spectrum(name, d):
    decay = np.linspace(1.0, 0.0, d)
    return {"few": np.where(np.arange(d) < 4, 2 + decay, 0.1 * decay - 0.05), "many": 1 + 1e-3 * decay}[name]


class Wide(NumPyPlace):
    """As a GPU is: many products at once take little more time than one."""

    wide = True


PLACES = [HERE, Wide()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(60, 60), (50, 70)])
def test_a_projection_from_few_vectors_is_the_true_one(shape, dtype, place):
    rng = np.random.default_rng(1)
    m, n = shape
    U = np.linalg.qr(dense.normal(rng, (m, m), dtype))[0]
    V = np.linalg.qr(dense.normal(rng, (n, n), dtype))[0]
    hermitian = m == n
    s = spectrum("few", min(m, n))
    A = (U * s) @ U.conj().T if hermitian else (U[:, : s.size] * np.abs(s)) @ V[:, : s.size].conj().T
    domains = [sx.Spectrahedron(m), sx.TraceBall(m, 1.0)] if hermitian else [sx.NuclearBall(shape, 1.0)]
    for domain in domains:
        start = dense.normal(rng, (m if hermitian else m + n, 1), dtype)
        found, products = project_leading(domain, Dense(A, hermitian), start, 1.0, 40, 1e-12, rng, place)
        assert found is not None and products > 0
        np.testing.assert_allclose(found.dense(), domain.project(A).dense(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_a_projection_of_high_rank_is_refused_not_guessed(place):
    d, rng = 300, np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = (Q * spectrum("many", d)) @ Q.T
    assert np.linalg.matrix_rank(sx.Spectrahedron(d).project(A).dense()) == d
    start = rng.standard_normal((d, 1))
    found, products = project_leading(sx.Spectrahedron(d), Dense(A, True), start, 1.0, 140, 1e-10, rng, place)
    assert found is None
    assert products <= 1.2 * d, "what one look shows is not looked for again with twice as many vectors"


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 20.0), st.sampled_from(PLACES))
@settings(max_examples=25, deadline=None)
def test_whatever_comes_back_is_exact(seed, size, place):
    rng = np.random.default_rng(seed)
    d = 40
    A = rng.standard_normal((d, d)) * rng.choice([0.1, 1.0])
    domain = sx.NuclearBall((d, d), size)
    found, _ = project_leading(domain, Dense(A), rng.standard_normal((2 * d, 1)), 1.0, 40, 1e-12, rng, place)
    if found is not None:
        np.testing.assert_allclose(found.dense(), domain.project(A).dense(), rtol=0, atol=1e-7 * max(1.0, size))


def large_rank(d, condition):
    """A quadratic whose optimum has full rank, given as a user's own function."""
    rng = np.random.default_rng(0)
    W = np.linspace(1.0, condition, d * d).reshape(d, d)
    W = 0.5 * (W + W.T)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    target = (Q * np.linspace(0.5, 1.5, d)) @ Q.T / d
    objective = sx.Smooth(
        lambda X: (0.5 * np.sum(W * (X - target) ** 2), W * (X - target)), (d, d), smoothness=condition
    )
    return sx.Problem(objective, sx.Spectrahedron(d)), target


def test_a_large_rank_is_left_to_projections():
    problem, target = large_rank(40, 5.0)
    kinds = []
    result = sx.solve(
        problem, stop=sx.Stop(gap=1e-10, max_steps=200), observers=[lambda record, _: kinds.append(record.kind)]
    )
    assert "project" in kinds and "hybrid" in kinds
    assert result.status is sx.Status.GAP
    np.testing.assert_allclose(result.X.dense(), target, rtol=0, atol=1e-4)


def test_a_distance_is_one_projection():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 30))
    problem = sx.Problem(sx.Distance(A + A.T), sx.Spectrahedron(30))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-9))
    assert [record.kind for record in result.trace] == ["start", "project"]
    np.testing.assert_allclose(result.X.dense(), problem.domain.project(A + A.T).dense(), rtol=0, atol=1e-12)


def test_a_sparse_distance_too_large_for_decompositions_is_projected_all_the_same():
    from scipy.sparse import random as sparse_random

    A = sparse_random(6000, 4000, density=1e-3, random_state=np.random.default_rng(0), format="csr")
    A = A.multiply(np.linspace(1.0, 0.0, 6000)[:, None] ** 8).tocsr()
    problem = sx.Problem(sx.Distance(A), sx.NuclearBall(A.shape, 2.0))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-5, max_steps=20))
    assert result.status is sx.Status.GAP
    assert [record.kind for record in result.trace] == ["start", "project"]


# ------------------------------------------------------------------------------------------------------- whole runs


def test_a_run_is_the_same_on_one_thread_and_on_two():
    table = sx.datasets.ratings_like(700, 500, 60_000, seed=3)
    problem = sx.Problem(
        sx.Completion(table.rows, table.cols, table.values, table.shape), sx.NuclearBall(table.shape, 2500.0)
    )
    before, results = sx.set_threads(1), []
    try:
        for threads in (1, 2):
            sx.set_threads(threads)
            results.append(sx.solve(problem, stop=sx.Stop(max_steps=6), certify=False))
    finally:
        sx.set_threads(before)
    one, two = results
    assert len(one.X.s) > 8  # wide enough that the work was shared
    assert one.value == two.value
    np.testing.assert_array_equal(one.X.U, two.X.U)


def normal_operator_diagonal(objective):
    """The diagonal of 𝒜*𝒜 by brute force: the squared image of every unit matrix."""
    m, n = objective.shape
    out = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            image = objective.measure(np.eye(m)[:, [i]], np.ones(1), np.eye(n)[:, [j]])
            out[i, j] = np.sum(np.abs(image) ** 2)
    return out


@pytest.mark.parametrize("name", ["stack", "sparse", "rank-one", "distance"])
def test_coverage_is_the_diagonal_of_the_normal_operator(name):
    from scipy.sparse import random as sparse_random

    rng = np.random.default_rng(0)
    objective = {
        "stack": lambda: sx.Sensing(rng.standard_normal((6, 4, 5)), rng.standard_normal(6)),
        "sparse": lambda: sx.Sensing(
            [sparse_random(4, 5, density=0.4, random_state=np.random.default_rng(k)) for k in range(6)],
            rng.standard_normal(6),
        ),
        "rank-one": lambda: sx.Sensing(rng.standard_normal((6, 4)), rng.standard_normal(6)),
        "distance": lambda: sx.Distance(rng.standard_normal((4, 5))),
    }[name]()
    rows, cols = objective.coverage
    diagonal = normal_operator_diagonal(objective)
    np.testing.assert_allclose(rows, diagonal.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(cols, diagonal.sum(axis=0), rtol=1e-12)


def test_coverage_of_a_table_counts_weights_and_the_curvature_of_the_loss():
    rows, cols, weights = [0, 0, 2], [1, 2, 1], [2.0, 3.0, 5.0]
    fit = sx.Completion(rows, cols, [0.0, 1.0, 1.0], (3, 3), loss="logistic", weights=weights)
    np.testing.assert_allclose(fit.coverage[0], [1.25, 0.0, 1.25])
    np.testing.assert_allclose(fit.coverage[1], [0.0, 1.75, 0.75])


@pytest.mark.slow
def test_many_rank_one_measurements_take_no_square_of_their_number():
    import tracemalloc

    rng = np.random.default_rng(0)
    count, d = 4000, 20
    objective = sx.Sensing(rng.standard_normal((count, d)), rng.standard_normal(count))
    tracemalloc.start()
    try:
        assert objective.smoothness > 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6 < 8 * count**2 / 4
    exact = np.linalg.eigvalsh((objective.measurements.vectors @ objective.measurements.vectors.T) ** 2)[-1]
    assert exact <= objective.smoothness <= 1.01 * exact


def test_a_linear_function_has_no_curvature_and_is_minimised_all_the_same():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((6, 6))
    C = B @ B.T + np.eye(6)
    problem = sx.Problem(sx.Smooth(lambda X: (np.sum(C * X), C), (6, 6)), sx.Spectrahedron(6))
    result = sx.solve(problem, stop=sx.Stop(gap=1e-8))
    assert result.status is sx.Status.GAP
    assert result.value == pytest.approx(np.linalg.eigvalsh(C)[0], abs=1e-8)


@pytest.mark.parametrize("method", ["hybrid", "apgd"])
def test_a_function_with_an_edge_inside_the_domain_is_not_the_end(method):
    weights = np.diag(np.arange(1.0, 7.0))

    def barrier(X):
        room = 3.0 - np.sum(weights * X)
        if room <= 0.0:
            return np.nan, np.full((6, 6), np.nan)
        return 0.5 * np.sum((X - np.eye(6)) ** 2) - 0.01 * np.log(room), X - np.eye(6) + 0.01 / room * weights

    problem = sx.Problem(sx.Smooth(barrier, (6, 6)), sx.TraceBall(6, 3.0))
    result = sx.solve(problem, method, sx.Stop(max_steps=300))
    assert result.status is not sx.Status.NOT_FINITE
    best = sx.solve(problem, "in-face", sx.Stop(max_steps=300)).value
    assert result.value <= best * (1 + 1e-4)


@pytest.mark.parametrize("method", ["hybrid", "apgd", "pgd"])
def test_a_value_of_zero_is_an_end(method):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    inside = (Q[:, :3] * [0.5, 0.3, 0.2]) @ Q[:, :3].T
    result = sx.solve(sx.Problem(sx.Distance(inside), sx.Spectrahedron(12)), method, sx.Stop(relative_gap=1e-3))
    assert result.value < 1e-28
    assert len(result.trace) < 60


def test_a_table_that_is_fitted_exactly_ends_at_the_rounding_floor():
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((30, 30)) < 0.3)
    fit = sx.Completion(rows, cols, rng.standard_normal(rows.size), (30, 30))
    result = sx.solve(sx.Problem(fit, sx.NuclearBall((30, 30), 500.0)), stop=sx.Stop(relative_gap=1e-3))
    assert result.status in (sx.Status.FLOOR, sx.Status.STALLED)
    assert result.value < 1e-10


def test_the_route_does_not_depend_on_who_asked_for_a_constant_before():
    def kinds(ask):
        rng = np.random.default_rng(0)
        A = rng.standard_normal((80, 12, 12))
        objective = sx.Sensing(A + A.transpose(0, 2, 1), rng.standard_normal(80))
        if ask:
            assert objective.smoothness > 0
        result = sx.solve(sx.Problem(objective, sx.Spectrahedron(12)), stop=sx.Stop(max_steps=6))
        return [(record.kind, record.value) for record in result.trace]

    assert kinds(False) == kinds(True)


def test_what_a_user_does_with_an_array_afterwards_is_no_matter():
    rng = np.random.default_rng(0)
    A, vectors, targets = np.eye(4), rng.standard_normal((9, 4)), rng.standard_normal(9)
    X = (np.eye(4)[:, :2], np.array([0.5, 0.5]), np.eye(4)[:, :2])
    for objective, arrays in ((sx.Distance(A), [A]), (sx.Sensing(vectors, targets), [vectors, targets])):
        before = objective.evaluate(objective.measure(*X))[0]
        for array in arrays:
            array *= 3.0
        assert objective.evaluate(objective.measure(*X))[0] == before


def test_a_run_from_given_factors_draws_its_own_random_starts(monkeypatch):
    problem = completion(0)
    first = sx.solve(problem, stop=sx.Stop(max_steps=2), seed=3)
    drawn = []

    def watched(*arguments):
        rng = stream(*arguments)
        drawn.append(rng.bit_generator.state["state"]["state"])
        return rng

    monkeypatch.setattr(sx.certificates.certifier, "stream", watched)
    for start in (None, first.X, first.X):
        sx.solve(problem, stop=sx.Stop(max_steps=1), start=start, seed=3)
    assert len(drawn) == 3 and drawn[0] != drawn[1] == drawn[2]


WRONG = [
    dict(block=0),
    dict(block=2.0),
    dict(block=True),
    dict(share=0),
    dict(share=1.0),
    dict(growing=0),
    dict(fading=0),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_hybrid_refuses_settings_that_mean_nothing(wrong):
    with pytest.raises(ValueError, match=f"Hybrid: {next(iter(wrong))} must be"):
        sx.Hybrid(**wrong)


def test_a_longer_descent_makes_up_for_rounds():
    settings: list[dict] = [dict(growing=2), dict(), dict(growing=60, fading=1e-4)]
    ended = [sx.solve(completion(0), sx.Hybrid(**each), sx.Stop(max_steps=2)).value for each in settings]
    assert ended[2] < ended[1] < ended[0]


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_rough_eigenvectors_lead_to_the_same_optimum(share):
    known = PROBLEMS["ball, logistic"](np.random.default_rng(2))
    result = sx.solve(known.problem, sx.Hybrid(share=share), sx.Stop(max_steps=60))
    assert result.value - known.optimum <= 1e-8 * known.problem.lifted.smoothness


# ----------------------------------------------------------------------------------------- functions of one's own


def shifted_quadratic(X, A):
    return 0.5 * float(np.sum((X - A) ** 2)), X - A


def root(X, A):
    value = float(np.sqrt(1 + np.sum((X - A) ** 2)))
    return value, (X - A) / value


def barrier(X, A):
    """−log det(X + I/10) + ⟨A, X⟩, infinite where X + I/10 is not positive definite."""
    M = 0.5 * (X + X.T) + 0.1 * np.eye(X.shape[0])
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.inf, np.full(X.shape, np.nan)
    return 30 - 2 * float(np.sum(np.log(np.diag(L)))) + float(np.sum(A * X)), A - np.linalg.inv(M)


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize("function", [shifted_quadratic, root, barrier])
def test_paths_of_ordinary_functions_run_without_warnings(function, cancelled, monkeypatch):
    """The curvature that an escape met is divided by the square of the escape, which may cancel to nothing."""
    if cancelled:
        monkeypatch.setattr("spectraplex.methods.escape._mean_curvature", lambda *_: np.float64(7e298))
    A = dense.normal(np.random.default_rng(0), (6, 6))
    A = A @ A.T
    f = sx.Smooth(lambda X: function(X, A), (6, 6), lower=0.0)
    stop = sx.Stop(relative_gap=1e-6, max_steps=100)
    for path in (
        sx.path(sx.Problem(f, sx.TraceBall(6, 20.0)), np.geomspace(0.01, 20.0, 5), stop=stop),
        sx.path(sx.Penalized(f, 0.1, psd=True, bound=100.0), np.geomspace(0.1, 10.0, 4), stop=stop),
    ):
        assert path.ended == "" and all(point.gap <= 1e-5 * point.value for point in path)


@pytest.mark.parametrize("curvature", [7e298, np.inf, np.nan])
def test_a_curvature_that_is_none_leaves_the_scaling_finite(curvature):
    problem = sx.Problem(sx.Smooth(lambda X: (0.0, X), (4, 4)), sx.Spectrahedron(4))
    scaling = inverse_curvature(problem, factor(problem, 2, 0), 1.0, 0.5, np.float64(curvature))
    assert np.isfinite(scaling).all() and scaling.min() > 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_descent_that_cannot_leave_its_point_still_tells_the_pull(dtype, monkeypatch):
    """The product at a point is let go of while a step is tried; where none is found it is made again."""
    problem = completion(0, dtype)
    Y = factor(problem, 3, 1)
    monkeypatch.setattr("spectraplex.methods.descent._search", lambda *_: None)
    found = descend(problem, Y, None, 0.0, most=8, fading=0.1)
    assert found.steps == 0
    np.testing.assert_allclose(found.Y, Y)
    point = problem.point(sx.problem.Atoms.of(Y, np.linalg.norm(Y, axis=0) ** 2))
    up = -problem.descent(point).matmat(Y)
    lean = problem.lifted.pair(point.slope, point.image)
    pull = Y.conj().T @ (lean * Y - up)
    np.testing.assert_allclose(found.pull, pull, atol=1e-12 * np.abs(pull).max())
