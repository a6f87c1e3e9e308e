"""Penalties: closed forms, a conic solver, certificates that hold for every slope, zero from a large λ on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectraplex as sx
from dense import completion as dense_completion
from problems import WHOLE, normal
from refusals import check, refused
from spectraplex.certificates import lower as room
from spectraplex.certificates.dual import Candidate, dual_value
from spectraplex.eigen.bounds import upper_bound

TIGHT = sx.Stop(relative_gap=1e-9, max_steps=200)
STEPS = 60
# what the methods promise on a ball of radius T (the lift of a penalty), as in test_conformance.py
SHARE = {"hybrid": 1e-7, "cg": 0.05, "away": 0.05, "pairwise": 0.05, "ror-adaptive": 0.1, "pgd": 1e-7, "apgd": 1e-7}


def shrunk(A, lam):
    """The singular values of A less λ, and the least of ½‖Z − A‖² + λ‖Z‖_*."""
    U, s, Vh = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(s - lam, 0)) @ Vh, 0.5 * np.sum(np.minimum(s, lam) ** 2) + lam * np.maximum(s - lam, 0).sum()


def shrunk_psd(A, lam):
    values, Q = np.linalg.eigh(A)
    kept = np.maximum(values - lam, 0)
    return (Q * kept) @ Q.conj().T, 0.5 * np.sum((kept - values) ** 2) + lam * kept.sum()


@pytest.mark.parametrize("method", WHOLE)
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("psd", [False, True])
def test_every_method_shrinks_singular_values(method, complex_, psd):
    rng = np.random.default_rng(0)
    A = normal(rng, (7, 7) if psd else (6, 8), complex_)
    A = A + A.conj().T if psd else A
    lam = 0.5 * np.linalg.norm(A, 2)
    best, optimum = (shrunk_psd if psd else shrunk)(A, lam)
    problem = sx.Penalized(sx.Distance(A), lam, psd=psd)
    steps = 20 if method == "ror-full" else STEPS
    if method == "in-face":
        with pytest.raises(ValueError, match="'hybrid'"):
            sx.solve(problem, method)
        return
    result = sx.solve(problem, method, sx.Stop(max_steps=steps, relative_gap=1e-9))
    start = 0.5 * np.sum(np.abs(A) ** 2)
    assert result.lower_bound <= optimum + 1e-12 * start <= result.value + 2e-12 * start
    assert result.value - optimum <= SHARE.get(method, 1.0) * (start - optimum) + 1e-12 * start
    if method in ("hybrid", "pgd", "apgd"):
        np.testing.assert_allclose(result.X.dense(), best, atol=2e-4)
    # the value is that of what the user gets
    dense = result.X.dense()
    size = np.linalg.eigvalsh(dense).sum() if psd else np.linalg.svd(dense, compute_uv=False).sum()
    assert result.value == pytest.approx(0.5 * np.sum(np.abs(dense - A) ** 2) + lam * size, rel=1e-9)
    assert sx.verify(result.certificate, problem, result)


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-9, 3.0, 1e6])
@pytest.mark.parametrize("method", ["hybrid", "cg", "apgd"])
@pytest.mark.parametrize("psd", [False, True])
def test_zero_from_the_largest_singular_value_on(factor, method, psd):
    A = normal(np.random.default_rng(1), (6, 6), False)
    A = A + A.T
    top = np.linalg.eigvalsh(A)[-1] if psd else np.linalg.norm(A, 2)
    problem = sx.Penalized(sx.Distance(A), factor * top, psd=psd)
    result = sx.solve(problem, method)
    # σ₁ itself is known to d·eps of its size: at λ = σ₁ that much may be left of X, and nothing beyond
    left = 8 * 6 * np.finfo(float).eps * np.linalg.norm(A, 2) if factor == 1.0 else 0.0
    assert np.linalg.norm(result.X.dense(), 2) <= left
    assert result.value == pytest.approx(0.5 * np.sum(A * A), rel=1e-14)
    assert result.gap <= 1e-12 * result.value
    assert sx.verify(result.certificate, problem, result.X)
    assert sx.certify(problem, np.zeros((6, 6))).gap <= 1e-12 * result.value


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_half_observed_tables_agree_with_a_conic_solver(loss):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(2)
    m, n, lam = 6, 5, 0.4
    rows, cols = np.nonzero(rng.random((m, n)) < 0.7)
    values = rng.standard_normal(rows.size)
    values = np.sign(values) if loss == "logistic" else values
    objective = sx.Completion(rows, cols, values, (m, n), loss, delta=0.7)
    Z = cvxpy.Variable((m, n))
    seen = cvxpy.hstack([Z[i, j] for i, j in zip(rows, cols, strict=True)])
    losses = {
        "squared": lambda: 0.5 * cvxpy.sum_squares(seen - values),
        "huber": lambda: 0.5 * cvxpy.sum(cvxpy.huber(seen - values, 0.7)),
        "logistic": lambda: cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(values, seen))),
    }
    goal = cvxpy.Minimize(losses[loss]() + lam * cvxpy.normNuc(Z))
    optimum = cvxpy.Problem(goal).solve(solver=cvxpy.CLARABEL)
    for method in ("hybrid", "apgd"):
        result = sx.solve(sx.Penalized(objective, lam), method, sx.Stop(relative_gap=1e-6, max_steps=500))
        assert result.status is sx.Status.GAP
        assert result.lower_bound <= optimum + 1e-6
        assert optimum - 1e-6 <= result.value <= optimum + 1e-5


def random_problem(seed):
    """Any loss, real or complex, any shape, any λ; and the same with the plain dense formula of the loss."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
    dtype = "complex128" if rng.integers(2) else "float64"
    losses = ["squared", "huber"] + ["logistic"] * (dtype == "float64")
    case = dense_completion(rng, shape, losses[int(rng.integers(len(losses)))], bool(rng.integers(2)), dtype)
    zero = np.zeros(shape, dtype)
    lam = np.linalg.norm(case.gradient(zero), 2) * rng.uniform(0.05, 1.2) + 1e-3
    return case, lam


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_certificates_hold_for_any_slope_and_any_bound_on_the_norm(seed):
    """p* lies above what any slope shows, whatever T is said to be, and below the value of any matrix."""
    case, lam = random_problem(seed)
    problem = sx.Penalized(case.objective, lam)
    best = sx.solve(problem, "apgd", sx.Stop(max_steps=300, relative_gap=1e-10), seed=seed)
    scale = abs(case.value(np.zeros(case.objective.shape)))
    Z = best.X.dense()
    honest = case.value(Z) + lam * np.linalg.svd(Z, compute_uv=False).sum()
    assert best.value == pytest.approx(honest, rel=1e-9, abs=1e-12 * scale)
    slack = 1e-11 * scale
    for share in (0.0, 0.4, 1.0, 1.3):
        U, s, V = best.X.triple()
        point = problem.objective.evaluate(problem.objective.measure(U, share * s, V))
        for bound in (None, 0.5 * best.X.s.sum() + 1e-3, 1e4):
            # the corner needs no T, so even one that is too small does no harm when the norm is no larger than λ
            other = sx.Penalized(case.objective, lam, bound=bound)
            top = other.domain.radius * np.linalg.norm(case.gradient(share * Z), 2) * (1 + 1e-12)
            low, c = dual_value(other, Candidate(point[0], point[1], None), top)
            if bound is None or bound == 1e4 or c * top <= lam * other.domain.radius:
                assert low <= best.value + slack, (share, bound)
    assert best.lower_bound <= best.value + slack


def test_the_corner_is_the_best_scale():
    """Against brute force over c, for the three losses and a T that is tight."""
    for loss in ("squared", "huber", "logistic"):
        rng = np.random.default_rng(3)
        case = dense_completion(rng, (5, 4), loss, True)
        lam = 0.4 * np.linalg.norm(case.gradient(np.zeros((5, 4))), 2)
        problem = sx.Penalized(case.objective, lam)
        point = problem.point(problem.domain.start("float64", rng))
        slope = point.slope * rng.uniform(0.3, 1.0, point.slope.size)
        top = np.linalg.eigvalsh(problem.lifted.pull(slope).dense())[-1]
        found, _ = dual_value(problem, Candidate(point.value, slope, None), top)
        conjugate = problem.objective.conjugate(slope)
        grid = np.linspace(0, min(conjugate.limit, 4.0), 8001)
        T = problem.domain.radius
        brute = max(-conjugate.at(c) - max(0.0, c * top - lam * T) for c in grid)
        assert found >= brute - 1e-9 * abs(brute)
        assert found == pytest.approx(brute, rel=1e-3)


def test_negative_control_a_ritz_value_is_not_a_bound(monkeypatch):
    """The largest singular value taken too small: the run then shows a bound above the optimum, and it is seen."""
    A = normal(np.random.default_rng(4), (9, 8), False)
    lam = 1.5
    _, optimum = shrunk(A, lam)

    def usual(operator, **asked):
        return upper_bound(operator, **(asked | {"kind": "estimate", "products": 2.0}))

    problem = sx.Penalized(sx.Distance(A), lam)
    assert sx.solve(problem, "apgd", TIGHT).lower_bound <= optimum
    monkeypatch.setattr(room, "upper_bound", usual)
    lies = sx.solve(problem, "apgd", TIGHT)
    assert lies.status is sx.Status.INCONSISTENT or lies.lower_bound > optimum


def test_negative_control_the_certificate_of_a_ball_is_not_that_of_a_penalty():
    """Without what λ allows for free, the bound would be far too low; with twice as much, it would be false."""
    A = normal(np.random.default_rng(5), (6, 5), False)
    problem = sx.Penalized(sx.Distance(A), 1.0)
    _, optimum = shrunk(A, 1.0)
    point = problem.point(problem.domain.raised(sx.solve(problem, "apgd", TIGHT).X))
    top = np.linalg.eigvalsh(problem.lifted.pull(point.slope).dense())[-1]
    right, _ = dual_value(problem, Candidate.of(point), top)
    twice = sx.Penalized(sx.Distance(A), 2.0, bound=problem.domain.radius)
    wrong, _ = dual_value(twice, Candidate(point.value, point.slope, None), top)
    assert right == pytest.approx(optimum, rel=1e-8) and right <= optimum
    assert wrong > optimum + 0.1


def test_real_equals_complex_with_zero_imaginary_part():
    A = normal(np.random.default_rng(6), (7, 5), False)
    for method in ("hybrid", "apgd"):
        real = sx.solve(sx.Penalized(sx.Distance(A), 1.0), method, TIGHT)
        imaginary = sx.solve(sx.Penalized(sx.Distance(A.astype(complex)), 1.0), method, TIGHT)
        assert imaginary.value == pytest.approx(real.value, rel=1e-8)
        np.testing.assert_allclose(imaginary.X.dense(), real.X.dense(), atol=1e-3)


def test_sparse_distance_at_several_scales():
    import scipy.sparse as sp

    for size in (1e-2, 1.0, 1e3):
        A = size * sp.random(30, 20, 0.2, random_state=np.random.default_rng(7), format="csr")
        lam = 0.3 * np.linalg.norm(A.toarray(), 2)
        _, optimum = shrunk(A.toarray(), lam)
        result = sx.solve(sx.Penalized(sx.Distance(A), lam), stop=sx.Stop(relative_gap=1e-6, max_steps=60))
        assert result.lower_bound <= optimum * (1 + 1e-12) and result.value <= optimum * (1 + 1e-6)


def test_save_load_go_on_and_verify(tmp_path):
    import scipy.sparse as sp

    rng = np.random.default_rng(8)
    A = rng.standard_normal((12, 9))
    for objective in (
        sx.Distance(A),
        sx.Distance(sp.csr_matrix(A)),
        sx.Completion(*np.indices((12, 9)).reshape(2, -1), A.ravel(), (12, 9)),
    ):
        problem = sx.Penalized(objective, 1.0)
        whole = sx.solve(problem, "pairwise", sx.Stop(max_steps=20))
        half = sx.solve(problem, "pairwise", sx.Stop(max_steps=10), certify=False)
        half.save(tmp_path)
        again = sx.solve(problem, "pairwise", sx.Stop(max_steps=10), start=sx.load(tmp_path))
        assert again.value == whole.value and np.array_equal(again.X.s, whole.X.s)
        again.save(tmp_path)
        assert sx.verify(again.certificate, problem, tmp_path)
        other = sx.solve(problem, "hybrid", sx.Stop(relative_gap=1e-6), start=again.X)
        assert other.gap <= 1e-6 * other.value
    elsewhere = sx.Penalized(sx.Distance(A), 1.1)
    assert "data" in str(sx.verify(again.certificate, elsewhere, again))
    # any matrix may be judged, and is worth at least what the best one is
    for share in (0.0, 0.3, 1.0, 100.0):
        judged = sx.certify(problem, share * A)
        assert judged.lower_bound <= again.value <= judged.value
        assert sx.verify(judged, problem, share * A)
    # the bound on the norm of a solution is no part of the problem: another one, and the run goes on all the same
    roomy = sx.Penalized(objective, 1.0, bound=500.0)
    assert sx.verify(again.certificate, roomy, again)
    further = sx.solve(roomy, "pairwise", sx.Stop(max_steps=5), start=again)
    assert further.value <= again.value * (1 + 1e-12)
    # where the slope of X itself shows nearly as much, its bound is the one that is stated
    assert further.lower_bound >= again.lower_bound - 0.06 * again.gap


def test_own_functions_are_bounded_below_by_what_they_say_and_not_at_all_without():
    A = normal(np.random.default_rng(9), (6, 5), False)
    _, optimum = shrunk(A, 1.0)

    def half_square(X):
        return 0.5 * float(np.sum((X - A) ** 2)), X - A

    told, silent = sx.Smooth(half_square, (6, 5), lower=0.0), sx.Smooth(half_square, (6, 5))
    for method in ("hybrid", "apgd"):  # apgd finds its step by backtracking on the loss alone
        result = sx.solve(sx.Penalized(told, 1.0), method, sx.Stop(relative_gap=1e-6, max_steps=500))
        assert result.lower_bound <= optimum <= result.value + result.certificate.rounding
        assert result.gap <= 1e-6 * result.value
        assert sx.verify(result.certificate, sx.Penalized(told, 1.0), result.X)
        # nobody knows how far down it may go elsewhere: only the value is claimed
        problem = sx.Penalized(silent, 1.0, bound=30.0)
        result = sx.solve(problem, method, sx.Stop(relative_gap=1e-6, max_steps=60))
        assert result.certificate.kind == "none" and result.lower_bound == -np.inf
        assert result.value <= optimum * (1 + 1e-6) and "Nothing was certified" in str(result.certificate)
        assert sx.verify(result.certificate, problem, result.X)
        assert sx.certify(problem, result.X).kind == "none"
    far = sx.solve(sx.Penalized(told, 2.0 * np.linalg.norm(A, 2)))
    assert far.certificate.kind == "proven" and not far.X.dense().any()


@pytest.mark.parametrize("lam", [1e-300, 1e-100, 1e-17, 1e-16, 1e-15, 1e-13, 1e-10, 1e-6])
def test_no_false_bound_however_small_lam_is(lam):
    """The optimum of ½(z − a)² + λ|z| is λa − λ²/2, exactly, in rational numbers."""
    from fractions import Fraction

    for a in (3.7213122053209635, 1.0, 1e-3, 12345.678):
        problem = sx.Penalized(sx.Distance([[a]]), lam)
        result = sx.solve(problem)
        exact = Fraction(lam) * Fraction(a) - Fraction(lam) ** 2 / 2
        assert Fraction(result.lower_bound) <= exact <= Fraction(result.value) + Fraction(result.certificate.rounding)
        assert sx.verify(result.certificate, problem, result.X)


def test_a_bound_on_the_norm_that_is_too_small_proves_nothing_false():
    A = normal(np.random.default_rng(11), (5, 4), False)
    _, optimum = shrunk(A, 0.3)
    honest = sx.Penalized(sx.Distance(A), 0.3)
    for bound in (1e-3, 0.5, 2.0):
        small = sx.Penalized(sx.Distance(A), 0.3, bound=bound)
        result = sx.solve(small, stop=sx.Stop(relative_gap=1e-6, max_steps=30))
        assert result.lower_bound <= optimum <= result.value + result.certificate.rounding
        assert result.gap > 1e-3 * result.value  # it shows as a gap that stays
        assert sx.verify(result.certificate, honest, result.X)  # T is no part of the problem


def test_counterparts_have_the_same_solution():
    A = normal(np.random.default_rng(10), (8, 6), False)
    S = A[:6] + A[:6].T
    for penalized in (sx.Penalized(sx.Distance(A), 1.3), sx.Penalized(sx.Distance(S), 1.3, psd=True)):
        result = sx.solve(penalized, stop=sx.Stop(relative_gap=1e-10))
        ball = sx.counterpart(penalized, result)
        solved = sx.solve(ball, stop=sx.Stop(relative_gap=1e-10))
        np.testing.assert_allclose(solved.X.dense(), result.X.dense(), atol=1e-3)
        back = sx.counterpart(ball, solved.X)
        assert back.lam == pytest.approx(1.3, rel=1e-3) and back.psd == penalized.psd


TABLE = sx.Distance(np.diag([3.0, 1.0]))


@refused(
    ("no objective", lambda: sx.Penalized(3, 1.0), TypeError, "Penalized: int is no objective"),
    ("λ zero", lambda: sx.Penalized(TABLE, 0.0), ValueError, "lam must be positive"),
    ("λ negative", lambda: sx.Penalized(TABLE, -1.0), ValueError, "lam must be positive"),
    ("λ nan", lambda: sx.Penalized(TABLE, float("nan")), ValueError, "lam must be positive"),
    ("λ text", lambda: sx.Penalized(TABLE, "1"), TypeError, "lam must be a number"),
    ("bound", lambda: sx.Penalized(TABLE, 1.0, bound=0), ValueError, "bound must be positive"),
    ("no bound", lambda: sx.Penalized(sx.Smooth(lambda X: (0.0, X), (2, 2)), 1.0), ValueError, "pass bound="),
    ("psd shape", lambda: sx.Penalized(sx.Distance(np.ones((2, 3))), 1.0, psd=True), ValueError, "square matrices"),
    ("psd skew", lambda: sx.Penalized(sx.Distance([[0.0, 1.0], [0.0, 0.0]]), 1.0, psd=True), ValueError, "Hermitian"),
    (
        "start too large",
        lambda: sx.solve(sx.Penalized(TABLE, 1.0), start=(np.eye(2), np.full(2, 1e6), np.eye(2))),
        ValueError,
        "no solution has more than",
    ),
    ("zero", lambda: sx.counterpart(sx.Penalized(TABLE, 9.0), np.zeros), TypeError, "counterpart: X"),
    (
        "zero twin",
        lambda: sx.counterpart(sx.Penalized(TABLE, 9.0), sx.solve(sx.Penalized(TABLE, 9.0))),
        ValueError,
        "X is zero",
    ),
    (
        "no twin",
        lambda: sx.counterpart(sx.Problem(TABLE, sx.Spectrahedron(2)), (np.eye(2), np.full(2, 0.5))),
        ValueError,
        "no penalised form",
    ),
)
def test_refusals(call, error, words):
    check(call, error, words)
