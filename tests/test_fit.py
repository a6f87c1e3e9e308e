"""Any measurement with any loss: conformance, known optima, certificates, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import spectraplex as sx
from spectraplex.losses import LOSSES, Huber, Quantile, Softmax
from spectraplex.losses.protocol import Conjugate
from spectraplex.matrices.operators import Dense
from spectraplex.measurements import povms

D = 5


def entries(rng):
    rows, cols = np.nonzero(rng.random((D, 6)) < 0.8)
    order = rng.permutation(rows.size)
    return sx.Entries(rows[order], cols[order], (D, 6)), sx.NuclearBall((D, 6), 4.0)


def positive_stack(rng, count=14):
    A = rng.standard_normal((count, D, 2))
    return A @ A.swapaxes(1, 2)


def complex_vectors(rng, count=20):
    return rng.standard_normal((count, D)) + 1j * rng.standard_normal((count, D))


def pairs(rng):
    both = np.stack(np.triu_indices(8, 1), axis=1)
    return sx.Differences(rng.standard_normal((8, D)), both), sx.TraceBall(D, 2.0)


def triplets(rng):
    drawn = np.stack([rng.permutation(9)[:3] for _ in range(30)])
    return sx.Differences(rng.standard_normal((9, D)), drawn), sx.TraceBall(D, 2.0)


#: every measurement of the registry in each of its forms, with a domain
FORMS = {
    "entries": entries,
    "matrices": lambda r: (sx.Matrices(positive_stack(r)), sx.Spectrahedron(D, 2.0)),
    "matrices, sparse": lambda r: (sx.Matrices([csr_matrix(A) for A in positive_stack(r)]), sx.TraceBall(D, 2.0)),
    "rank-ones": lambda r: (sx.RankOnes(r.standard_normal((15, D))), sx.TraceBall(D, 2.0)),
    "rank-ones, complex": lambda r: (sx.RankOnes(complex_vectors(r)), sx.Spectrahedron(D, 1.5)),
    "rank-ones, two sides": lambda r: (sx.RankOnes(r.random((12, D)), r.random((12, 4))), sx.NuclearBall((D, 4), 2.0)),
    "identity": lambda r: (sx.Identity((4, D)), sx.NuclearBall((4, D), 3.0)),
    "identity, hermitian": lambda r: (sx.Identity((D, D)), sx.Spectrahedron(D)),
    "features": lambda r: (sx.Features(r.random((9, D)), 3), sx.NuclearBall((D, 3), 2.0)),
    "features, sparse": lambda r: (
        sx.Features(csr_matrix(r.random((9, D)) * (r.random((9, D)) < 0.7)) + csr_matrix(0.1 * np.ones((9, D))), 3),
        sx.NuclearBall((D, 3), 2.0),
    ),
    "pauli": lambda r: (sx.Pauli(["XZ", "YY", "ZX", "ZZ"]), sx.Spectrahedron(4)),
    "pauli, outcomes": lambda r: (sx.Pauli(["XZ", "XX", "ZX"] * 4, np.repeat(range(4), 3)), sx.TraceBall(4, 2.0)),
    "product": lambda r: (sx.Product([povms.sic(), povms.mub(3)]), sx.Spectrahedron(6)),
    "differences, triplets": triplets,
    "differences, pairs": pairs,
}
NEGATIVE = {"differences, triplets"}  # whose numbers are not all positive anywhere


def targets_for(name, measurements, rng):
    """Targets that a loss takes, and the loss itself where it has to know groups."""
    count, loss = measurements.size, LOSSES[name]
    if name in ("logistic", "hinge"):
        return loss, rng.choice([-1.0, 1.0], count)
    if name in ("poisson", "multinomial", "poisson-log"):
        return loss, rng.poisson(2.0, count) + 1.0
    if name == "softmax":
        row = getattr(measurements, "row", None)
        if row is not None:
            return loss, rng.integers(0, row, count // row)
        groups = rng.integers(0, 4, count)
        shares = rng.random(count)
        return Softmax(groups), shares / np.bincount(groups, shares)[groups]
    return loss, rng.standard_normal(count)


def problem_of(form, name, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    measurements, domain = FORMS[form](rng)
    loss, targets = targets_for(name, measurements, rng)
    weights = None
    if weighted:
        groups = 1
        if name == "softmax":
            row = getattr(measurements, "row", None)
            groups = measurements.size // row if row else np.unique(loss.groups).size
        weights = rng.uniform(0.5, 2.0, groups if name == "softmax" else measurements.size)
    return sx.Problem(sx.Fit(measurements, targets, loss, weights), domain)


PAIRS = [
    (form, name) for form in FORMS for name in LOSSES if not (form in NEGATIVE and name in ("poisson", "multinomial"))
]


def test_every_registered_measurement_has_a_form():
    assert {form.split(",")[0] for form in FORMS} == set(sx.MEASUREMENTS)


@pytest.mark.parametrize("form", FORMS)
def test_measurements_are_what_they_say(form):
    measurements, domain = FORMS[form](np.random.default_rng(1))
    for hermitian in {False, domain.hermitian}:
        report = sx.check(measurements, hermitian=hermitian, trials=6)
        assert report, str(report)


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_what_they_say(name, size):
    report = sx.check(name, size=size, trials=20)
    assert report, str(report)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("form", "name"), PAIRS)
def test_every_pair_is_an_objective(form, name, weighted):
    problem = problem_of(form, name, seed=2, weighted=weighted)
    report = sx.check(problem.objective, size=2.0, trials=3, hermitian=problem.domain.hermitian)
    assert report, str(report)
    assert report.skipped < 3


def unseen_gap(problem, X):
    """What rounding hides: a Frank-Wolfe step gains gap²/(2·curvature), and eight last bits of f are no gain."""
    point = problem.point(problem.domain.raised(X))
    v = np.linalg.eigh(problem.descent(point).dense())[1][:, -1:]
    towards = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
    hidden = 8 * np.finfo(float).eps * abs(point.value)
    return float(np.sqrt(2.0 * problem.curve(point, towards).curvature(0.0) * hidden))


@pytest.mark.parametrize(("form", "name"), PAIRS)
def test_every_pair_is_solved_and_its_certificate_verifies(form, name, tmp_path):
    """The bracket holds beside a longer run with another method, and after saving and loading."""
    problem = problem_of(form, name, seed=3, weighted=True)
    rough = sx.solve(problem, stop=sx.Stop(gap=1e-3, max_steps=200))
    fine = sx.solve(problem, stop=sx.Stop(gap=1e-7, max_steps=200))
    assert rough.gap <= 1e-3 and fine.gap <= max(1e-7, unseen_gap(problem, fine.X)), (rough, fine)
    assert rough.lower_bound <= fine.value + fine.certificate.rounding
    assert fine.lower_bound <= rough.value + rough.certificate.rounding
    assert sx.verify(rough.certificate, problem, rough.X)
    rough.save(tmp_path / "run")
    back = sx.load(tmp_path / "run")
    again = problem_of(form, name, seed=3, weighted=True)
    assert sx.verify(back.certificate, again, back.X)
    other = problem_of(form, name, seed=4, weighted=True)
    assert not sx.verify(back.certificate, other, back.X)


def conic(problem):
    """The optimum from a conic solver, for the losses that it can say; real data."""
    cp = pytest.importorskip("cvxpy")
    fit, domain = problem.objective, problem.domain
    m, n = fit.shape
    X = cp.Variable((m, n), PSD=True) if domain.hermitian else cp.Variable((m, n))
    rows = [fit.gradient(row).dense().reshape(-1) for row in np.eye(fit.targets.size)]
    z = np.stack(rows) @ cp.reshape(X, (m * n,), order="C")
    b, w = fit.targets, np.ones(fit.targets.size) if fit.weights is None else fit.weights
    name = fit.loss_name
    if name == "squared":
        loss = 0.5 * cp.sum(cp.multiply(w, cp.square(z - b)))
    elif name == "huber":
        loss = 0.5 * cp.sum(cp.multiply(w, cp.huber(z - b, fit.loss.delta)))
    elif name == "logistic":
        loss = cp.sum(cp.multiply(w, cp.logistic(-cp.multiply(b, z))))
    elif name in ("hinge", "quantile"):  # ½t²/width + the linear part of what is left over
        part, width = cp.Variable(b.size), fit.loss.width
        rest = (1 - cp.multiply(b, z) if name == "hinge" else z - b) - part
        level = 0.0 if name == "hinge" else fit.loss.level
        linear = cp.maximum((1 - level) * rest, -level * rest)
        loss = cp.sum(cp.multiply(w, cp.square(part) / (2 * width) + linear))
    elif name == "poisson":
        loss = cp.sum(cp.multiply(w, z - cp.multiply(b, cp.log(z))))
    elif name == "poisson-log":
        loss = cp.sum(cp.multiply(w, cp.exp(z) - cp.multiply(b, z)))
    elif name == "multinomial":
        loss = -cp.sum(cp.multiply(w * b, cp.log(z)))
    else:
        groups = fit.loss.groups
        first = [int(np.nonzero(groups == g)[0][0]) for g in range(groups.max() + 1)]
        loss = sum(w[first[g]] * cp.log_sum_exp(z[np.nonzero(groups == g)[0]]) for g in range(groups.max() + 1))
        loss = loss - cp.sum(cp.multiply(w * b, z))
    if not domain.hermitian:
        inside = [cp.normNuc(X) <= domain.radius]
    elif isinstance(domain, sx.Spectrahedron):
        inside = [cp.trace(X) == domain.trace]
    else:
        inside = [cp.trace(X) <= domain.trace]
    return float(cp.Problem(cp.Minimize(loss), inside).solve(solver=cp.CLARABEL))


REAL = ("entries", "matrices", "rank-ones", "features", "differences, pairs")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("form", REAL)
def test_the_optimum_is_that_of_a_conic_solver(form, name):
    problem = problem_of(form, name, seed=5, weighted=True)
    best = conic(problem)
    result = sx.solve(problem, stop=sx.Stop(gap=1e-6, max_steps=200))
    blur = 1e-5 * (1.0 + abs(best))
    assert result.lower_bound <= best + blur and best <= result.value + blur, (result.lower_bound, best, result.value)
    assert result.gap <= 1e-5


# ------------------------------------------------------------------------------------------------- closed forms


def test_the_certificate_of_counts_is_the_closed_form():
    """f − f* ≤ N ln λ_max(R) with R = Σ n/(N z) A on a fixed trace (Jensen), from the scaled dual point."""
    from spectraplex.certificates.dual import Candidate, dual_value

    problem = problem_of("rank-ones, complex", "multinomial", seed=1)
    fit, tau = problem.objective, problem.domain.trace
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(complex_vectors(rng, D))[0]
    weights = tau * rng.dirichlet(np.ones(D))
    z = fit.measure(Q, weights, Q)
    value, slope = fit.evaluate(z)
    N, a = fit.targets.sum(), fit.measurements.vectors
    R = (a.T * (fit.targets / z) / N) @ a.conj()
    closed = value - N * np.log(tau * np.linalg.eigvalsh(R)[-1])
    top = tau * N * np.linalg.eigvalsh(R)[-1]
    reached, _ = dual_value(problem, Candidate(value, slope, z), top)
    assert reached == pytest.approx(closed, abs=1e-9 * abs(value))


def test_poisson_begins_where_it_is_finite_and_stops_before_the_edge():
    problem = problem_of("rank-ones", "poisson", seed=6)
    assert problem.objective.evaluate(np.zeros(15))[0] == np.inf
    result = sx.solve(problem, "cg", sx.Stop(max_steps=30))
    assert np.isfinite(result.value) and result.gap < 0.1 * abs(result.value) + 1.0
    assert (problem.objective.measure(*result.X.triple()) > 0).all()


@pytest.mark.parametrize("method", ["cg", "away", "pairwise", "ror-adaptive", "in-face", "apgd", "hybrid"])
def test_counts_are_fitted_by_every_method_that_needs_no_constant(method):
    problem = problem_of("rank-ones", "multinomial", seed=7)
    best = sx.solve(problem, stop=sx.Stop(gap=1e-8, max_steps=200))
    result = sx.solve(problem, method, sx.Stop(gap=1e-2, max_steps=400))
    assert result.value - best.value <= 0.05 * abs(best.value)
    assert result.lower_bound <= best.value + best.certificate.rounding


@pytest.mark.parametrize("name", ["poisson", "multinomial", "hinge", "softmax"])
@pytest.mark.parametrize("form", ["rank-ones", "entries", "features"])
def test_pairs_may_be_penalised(form, name):
    base = problem_of(form, name, seed=9)
    lam = 0.2
    problem = sx.Penalized(base.objective, lam, psd=base.domain.hermitian)
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-5, max_steps=200))
    assert result.gap <= 1e-4 * abs(result.value) and sx.verify(result.certificate, problem, result.X)
    size = float(result.X.triple()[1].sum())
    if name == "multinomial":
        assert size == pytest.approx(base.objective.targets.sum() / lam, rel=1e-2)
    ball = sx.TraceBall(D, size) if base.domain.hermitian else sx.NuclearBall(base.domain.shape, size)
    twin = sx.solve(sx.Problem(base.objective, ball), stop=sx.Stop(relative_gap=1e-5, max_steps=200))
    assert twin.value + lam * size == pytest.approx(result.value, abs=1e-3 * (1 + abs(result.value)))


def test_a_smooth_function_may_say_where_it_is_finite():
    def barrier(X):
        sign, log = np.linalg.slogdet(X)
        if sign <= 0:
            return np.inf, np.zeros_like(X)
        return -float(log), -np.linalg.inv(X)

    domain = sx.TraceBall(4, 4.0)
    with pytest.raises(ValueError, match="starting point"):
        sx.solve(sx.Problem(sx.Smooth(barrier, (4, 4)), domain))
    objective = sx.Smooth(barrier, (4, 4), start=0.5 * np.eye(4))
    result = sx.solve(sx.Problem(objective, domain), stop=sx.Stop(gap=1e-3, max_steps=200))
    assert abs(result.value) < 1e-3
    with pytest.raises(ValueError, match="start has shape"):
        sx.Smooth(barrier, (4, 4), start=np.eye(3))


def test_a_gap_relative_to_the_start_ends_a_run_whose_optimum_is_zero():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(6)
    a = rng.standard_normal((40, 6))
    fit = sx.Fit(sx.RankOnes(a), (a @ x) ** 2)
    problem = sx.Problem(fit, sx.TraceBall(6, float(x @ x)))
    result = sx.solve(problem, stop=sx.Stop(start_gap=1e-6, max_steps=500))
    begun = 0.5 * float(np.sum(fit.targets**2))  # the start is zero
    assert result.status is sx.Status.GAP and result.gap <= 1e-6 * begun
    more = sx.solve(problem, stop=sx.Stop(start_gap=1e-9, max_steps=500), start=result)
    assert more.status is sx.Status.GAP and more.gap <= 1e-9 * begun
    with pytest.raises(ValueError, match="start_gap"):
        sx.Stop(start_gap=-1.0)


# ------------------------------------------------------------------------------------------- short names, refusals


def test_short_names_are_pairs():
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((4, 5)) < 0.7)
    values = rng.standard_normal(rows.size)
    short = sx.Completion(rows, cols, values, (4, 5), "huber", delta=0.5)
    long = sx.Fit(sx.Entries(rows, cols, (4, 5)), values, Huber(0.5))
    assert isinstance(short, sx.Fit)
    U, s, V = rng.standard_normal((4, 2)), rng.random(2), rng.standard_normal((5, 2))
    assert short.evaluate(short.measure(U, s, V))[0] == long.evaluate(long.measure(U, s, V))[0]
    assert short.smoothness == long.smoothness
    A = rng.standard_normal((4, 5))
    assert sx.Distance(A).evaluate(sx.Distance(A).measure(U, s, V))[0] == pytest.approx(
        (lambda f: f.evaluate(f.measure(U, s, V))[0])(sx.Fit(sx.Identity((4, 5)), A))
    )
    stack = rng.standard_normal((7, 4, 5))
    sensing, fit = sx.Sensing(stack, values[:7]), sx.Fit(sx.Matrices(stack), values[:7])
    assert sensing.smoothness == pytest.approx(fit.smoothness)
    assert sensing.reach == fit.reach


def test_smoothness_is_a_true_upper_bound_and_exact_where_cheap():
    rng = np.random.default_rng(0)
    for form in FORMS:
        fit = problem_of(form, "squared", seed=8, weighted=True).objective
        G = np.stack([fit.gradient(row).dense().reshape(-1) for row in np.eye(fit.targets.size)])
        exact = np.linalg.eigvalsh(np.sqrt(fit.weights)[:, None] * (G.conj() @ G.T).real * np.sqrt(fit.weights))[-1]
        assert fit.smoothness >= exact * (1 - 1e-9)
        if "features" not in form:
            assert fit.smoothness == pytest.approx(exact)
    rows = rng.uniform(0.5, 2.0, 9)
    data = rng.standard_normal((9, 4))
    fit = sx.Fit(sx.Features(data, 3), np.zeros((9, 3)), weights=np.repeat(rows, 3))
    assert fit.smoothness == pytest.approx(np.linalg.norm(np.sqrt(rows)[:, None] * data, 2) ** 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [1.0], "absolute"), "unknown loss 'absolute'"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [1.0, 2.0]), "1 measurements but 2 targets"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [1j], "logistic"), "real targets"),
        (lambda: sx.Fit(sx.RankOnes(np.ones((2, 2))), [1j, 1.0]), "must be real"),
        (lambda: sx.Fit(sx.Features(1j * np.ones((2, 2)), 2), np.zeros((2, 2)), "quantile"), "complex"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [1.0], "softmax"), "say which"),
        (lambda: sx.Fit(sx.Features(np.ones((2, 2)), 3), [0, 3], "softmax"), "class 3, outside"),
        (lambda: sx.Fit(sx.Features(np.ones((1, 2)), 2), [[0.5, 0.6]], "softmax"), "sum one"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [-1.0], "poisson"), "at least zero"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [0.0], "multinomial"), "all multinomial targets are zero"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [2.0], "hinge"), "hinge labels"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [2.0], Huber), "evaluate"),
        (lambda: sx.Fit(np.ones((2, 2)), [2.0]), "is no measurement"),
        (lambda: sx.Fit(sx.Entries, [2.0]), "is no measurement"),
        (lambda: sx.Fit(sx.Entries([0], [0], (2, 2)), [2.0], weights=[0.0]), "weights are positive"),
        (lambda: sx.Entries([0, 0], [1, 1], (2, 2)), "is given twice"),
        (lambda: sx.Matrices(np.ones((2, 2))), "shape"),
        (lambda: sx.Matrices(csr_matrix(np.ones((2, 2)))), "pass a list"),
        (lambda: sx.RankOnes(np.ones((2, 2)), np.ones((3, 2))), "give one each"),
        (lambda: sx.Features(np.ones((2, 2)), 0), "whole number ≥ 1"),
        (lambda: sx.Differences(np.ones((3, 2)), [[0, 1, 3]]), "outside 0"),
        (lambda: sx.Differences(np.ones((3, 2)), [0, 1]), "triplets"),
        (lambda: sx.Differences(1j * np.ones((3, 2)), [[0, 1]]), "real"),
        (lambda: Quantile(1.5), "between 0 and 1"),
        (lambda: sx.losses.Hinge(0.0), "width"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_two_sided_rank_ones_are_not_for_hermitian_domains():
    fit = sx.Fit(sx.RankOnes(np.ones((2, 3)), np.eye(3)[:2]), [1.0, 2.0])
    with pytest.raises(ValueError, match="not Hermitian"):
        sx.Problem(fit, sx.Spectrahedron(3))


# ------------------------------------------------------------------------------------------------------ your own


class Trace:
    """Your own measurement: the sums of the diagonal blocks, nothing claimed about it."""

    shape, size, dtype = (4, 4), 2, "float64"

    def measure(self, U, s, V):
        both = np.sum(U * s * V, axis=1)
        return np.array([both[:2].sum(), both[2:].sum()])

    def adjoint(self, slope):
        return Dense(np.diag(np.repeat(slope, 2)), hermitian=True)


class Fourth:
    """Your own loss: a quarter of the fourth power."""

    def evaluate(self, z, b, weights):
        r = z - b
        w = 1.0 if weights is None else weights
        return float(np.sum(w * r**4) / 4), w * r**3

    def conjugate(self, slope, b, weights):
        w = 1.0 if weights is None else weights
        power = 0.75 * float(np.sum(np.abs(slope) ** (4 / 3) * np.broadcast_to(w, slope.shape) ** (-1 / 3)))
        linear = float(slope @ b)
        return Conjugate(lambda c: c * linear + c ** (4 / 3) * power, np.inf, abs(linear) + power, count=slope.size)


class Bare:
    """A loss that has nothing but its value and slope."""

    evaluate = Fourth.evaluate
    least = 0.0


@pytest.mark.parametrize("loss", [Fourth(), Bare(), "squared"])
def test_your_own_measurement_and_loss(loss):
    assert sx.check(Trace(), hermitian=True) and (isinstance(loss, str) or sx.check(loss))
    fit = sx.Fit(Trace(), [0.2, 1.4], loss)
    assert fit.reach == pytest.approx(np.sqrt(2.0))
    problem = sx.Problem(fit, sx.Spectrahedron(4))
    result = sx.solve(problem, stop=sx.Stop(gap=1e-6, max_steps=300))
    assert result.gap <= 1e-6 and sx.verify(result.certificate, problem, result.X)
    best = min(fit.evaluate(np.array([t, 1.0 - t]))[0] for t in np.linspace(0.0, 1.0, 1001))
    assert result.value <= best + 1e-6


def test_broken_parts_are_caught():
    class WrongAdjoint(Trace):
        def adjoint(self, slope):
            return Dense(np.diag(np.repeat(slope[::-1], 2)))

    class TooSmall(Trace):
        reach = 1.0

    class Affine(Trace):
        def measure(self, U, s, V):
            return super().measure(U, s, V) + 1.0

    class WrongSlope(Fourth):
        def evaluate(self, z, b, weights):
            value, slope = super().evaluate(z, b, weights)
            return value, 1.1 * slope

    class WrongConjugate(Fourth):
        def conjugate(self, slope, b, weights):
            own = super().conjugate(slope, b, weights)
            return Conjugate(lambda c: own.at(c) - 0.1, np.inf, own.size)

    class TooFlat(Fourth):
        curvature = 0.1

    class Concave(Fourth):
        def evaluate(self, z, b, weights):
            value, slope = super().evaluate(z, b, weights)
            return -value, -slope

    for broken, fault in [
        (WrongAdjoint(), "adjoint"),
        (TooSmall(), "reach"),
        (Affine(), "linear"),
        (WrongSlope(), "finite differences"),
        (WrongConjugate(), "Fenchel equality"),
        (TooFlat(), "claimed curvature"),
        (Concave(), "convexity"),
    ]:
        report = sx.check(broken)
        assert not report and any(line.startswith(fault) for line in report.wrong), (fault, str(report))


# ------------------------------------------------------------------------------------------ large ones, complex ones


def test_gradients_too_large_to_be_formed_multiply_alike(monkeypatch):
    from spectraplex.measurements import differences, features

    rng = np.random.default_rng(0)
    slopes = {}
    for form in ("features", "features, sparse", "differences, triplets", "differences, pairs"):
        measurements, _ = FORMS[form](np.random.default_rng(1))
        slopes[form] = rng.standard_normal(measurements.size)
        slopes[form] = (slopes[form], measurements.adjoint(slopes[form]).dense())
    monkeypatch.setattr(differences, "_DENSE", 0)
    monkeypatch.setattr(features, "_DENSE", 0)
    for form, (slope, dense) in slopes.items():
        measurements, domain = FORMS[form](np.random.default_rng(1))
        operator = measurements.adjoint(slope)
        assert not isinstance(operator, Dense)
        assert operator.dense() == pytest.approx(dense)
        assert sx.check(measurements, hermitian=domain.hermitian)


@pytest.mark.parametrize("complex_", [False, True])
def test_many_rank_ones_are_formed_after_many_narrow_products_and_multiply_alike(monkeypatch, complex_):
    from spectraplex.matrices import low_rank

    rng = np.random.default_rng(0)
    a = complex_vectors(rng, 60) if complex_ else rng.standard_normal((60, D))
    monkeypatch.setattr(low_rank, "_MANY", 0)
    slope = rng.standard_normal(60)
    operator, exact = sx.RankOnes(a).adjoint(slope), (a.T * slope) @ a.conj()
    v = rng.standard_normal((D, 1)).astype(a.dtype)
    for _ in range(3):
        assert operator.matmat(v) == pytest.approx(exact @ v)
    assert len(operator._held) == 2 and operator.dense() == pytest.approx(exact)
    assert operator.matmat(np.eye(D, dtype=a.dtype)) == pytest.approx(exact)


@pytest.mark.parametrize("complex_", [False, True])
def test_large_rank_ones_may_be_multiplied_in_single_precision(monkeypatch, complex_):
    from spectraplex.measurements import rank_ones

    monkeypatch.setattr(rank_ones, "_LARGE", 0)
    rng = np.random.default_rng(0)
    a = complex_vectors(rng, 60) if complex_ else rng.standard_normal((60, D))
    rough, Y = sx.RankOnes(a), rng.standard_normal((D, 3)).astype(np.complex64 if complex_ else np.float32)
    assert rough.single
    z = rough.measure(Y, np.ones(3), Y)
    assert z.dtype == np.float64
    assert z == pytest.approx(np.sum(np.abs(a.conj() @ Y.astype(a.dtype)) ** 2, axis=1), rel=1e-5)
    product = rough.adjoint(z).matmat(Y)
    assert product.dtype == a.dtype and product == pytest.approx((a.T * z) @ (a.conj() @ Y), rel=1e-4)
    problem = sx.Problem(sx.Fit(rough, z), sx.TraceBall(D, float(np.sum(np.abs(Y) ** 2))))
    result = sx.solve(problem, stop=sx.Stop(start_gap=1e-6, max_steps=300))
    assert result.status is sx.Status.GAP and sx.verify(result.certificate, problem, result.X)


@pytest.mark.parametrize("name", ["squared", "huber"])
def test_complex_entries_and_features(name):
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((D, 4)) < 0.8)
    values = rng.standard_normal(rows.size) + 1j * rng.standard_normal(rows.size)
    data, both = complex_vectors(rng, 9), rng.standard_normal((9, 4)) + 1j * rng.standard_normal((9, 4))
    for fit in (
        sx.Fit(sx.Entries(rows, cols, (D, 4)), values, name),
        sx.Fit(sx.Identity((D, 4)), both[:D], name),
        sx.Fit(sx.Features(data, 4), both, name),
        sx.Fit(sx.Features(data.real, 4), both, name),
    ):
        assert fit.dtype == "complex128"
        report = sx.check(fit)
        assert report, str(report)
        problem = sx.Problem(fit, sx.NuclearBall((D, 4), 2.0))
        result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-4))
        assert result.gap <= 1e-4 * result.value and sx.verify(result.certificate, problem, result.X)


def test_a_saved_run_on_complex_matrices_goes_on_to_the_same_bits(tmp_path):
    """Real parts of complex numbers lie two apart; read from a file they lie side by side, and sum to other bits."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((18, 4, 2)) + 1j * rng.standard_normal((18, 4, 2))
    fit = sx.Fit(sx.Matrices(B @ B.conj().swapaxes(1, 2)), rng.standard_normal(18), "huber")
    problem = sx.Problem(fit, sx.TraceBall(4, 0.5))
    half = sx.solve(problem, stop=sx.Stop(max_steps=3))
    assert half.state["image"].flags.c_contiguous
    whole = sx.solve(problem, stop=sx.Stop(max_steps=10))
    on = sx.solve(problem, stop=sx.Stop(max_steps=7), start=sx.load(half.save(tmp_path / "half")))
    assert [each.value for each in on.trace] == [each.value for each in whole.trace]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_noise_of_a_gradient_near_the_largest_numbers(sparse):
    """Squares of what is summed are beyond floating point, the sum itself is not."""
    data = 1e50 * np.ones((4, 3))
    for kind in (sx.Features(csr_matrix(data) if sparse else data, 2), sx.Matrices([1e50 * np.eye(3)] * 8)):
        with np.errstate(all="raise"):
            noise = kind.adjoint(np.full(8, 1e110)).noise()
        assert 0.0 < noise < np.inf


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_what_sparse_measurements_lack_of_being_hermitian(seed, complex_):
    """|Aᵢ − Aᵢᴴ| of all at once, against each by itself; entries without a mirror image and empty matrices too."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((7, 5, 5)) * (rng.random((7, 5, 5)) < 0.3)
    if complex_:
        dense = dense + 1j * rng.standard_normal((7, 5, 5)) * (rng.random((7, 5, 5)) < 0.3)
    dense[1:4] = dense[1:4] + dense[1:4].conj().transpose(0, 2, 1)
    dense[6] = 0.0
    found = sx.Matrices([csr_matrix(A) for A in dense])._skew()
    np.testing.assert_allclose(found, np.abs(dense - dense.conj().transpose(0, 2, 1)).max(axis=(1, 2)), rtol=1e-14)
    assert not found[1:4].any() and not found[6] and found[0] > 0.0
    assert not sx.Matrices([csr_matrix((5, 5))] * 3)._skew().any()
