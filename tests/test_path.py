"""Paths: projections of every radius, certificates that are true between the radii too, and what ends a path early."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectraplex as sx
from dense import completion as dense_completion
from problems import normal
from refusals import check, refused
from spectraplex.datasets import ratings_like
from spectraplex.paths.between import Between
from spectraplex.paths.family import Family, solved
from spectraplex.paths.proof import Coverage, Line, Node, Promise, _proven, cover

TIGHT = sx.Stop(relative_gap=1e-9, gap=1e-12, max_steps=300)


def distance(seed=0, shape=(9, 7), complex_=False, share=0.7):
    A = normal(np.random.default_rng(seed), shape, complex_)
    size = share * np.linalg.svd(A, compute_uv=False).sum()
    return A, sx.Problem(sx.Distance(A), sx.NuclearBall(shape, size)), size


def optimum(problem, size):
    """The least distance from a ball, by the projection."""
    domain = problem.domain
    ball = sx.TraceBall(domain.d, size) if domain.hermitian else sx.NuclearBall(domain.shape, size)
    A = problem.objective.A
    return 0.5 * float(np.linalg.norm(ball.project(A).dense() - A) ** 2)


# ---------------------------------------------------------------------------------------------------- the plain form


@pytest.mark.parametrize("complex_", [False, True])
def test_every_radius_of_a_path_is_a_projection(complex_):
    A, problem, size = distance(complex_=complex_)
    path = sx.path(problem, count=6, stop=TIGHT)
    assert len(path) == 6 and path.ended == "" and path[-1].radius == size
    assert [point.radius for point in path] == sorted(point.radius for point in path)
    for point in path:
        best = sx.NuclearBall(A.shape, point.radius).project(A)
        assert point.lower_bound <= optimum(problem, point.radius) <= point.value + 1e-12
        np.testing.assert_allclose(point.X.dense(), best.dense(), atol=2e-4)
        assert point.rank >= np.sum(best.s > 1e-3)
        # λ is the multiplier: minus the derivative of the optimal value
        h = 1e-4 * point.radius
        slope = (optimum(problem, point.radius - h) - optimum(problem, point.radius + h)) / (2 * h)
        assert point.lam == pytest.approx(slope, rel=1e-2)
        assert sx.verify(point.certificate, point.problem, point.result)


def test_penalised_paths_shrink_and_know_their_radius():
    A, _, _ = distance(1)
    top = np.linalg.norm(A, 2)
    path = sx.path(sx.Penalized(sx.Distance(A), 0.2 * top), count=5, stop=TIGHT)
    assert path[0].rank == 0 and path[0].lam == pytest.approx(top, rel=1e-5)
    assert [point.lam for point in path] == sorted((point.lam for point in path), reverse=True)
    for point in path:
        U, s, Vh = np.linalg.svd(A, full_matrices=False)
        s = np.maximum(s - point.lam, 0)
        np.testing.assert_allclose(point.X.dense(), (U * s) @ Vh, atol=2e-4)
        assert point.radius == pytest.approx(s.sum(), abs=1e-4 * top)
    # between two λ
    for lam in np.linspace(path[-1].lam, path[0].lam, 9):
        X, certificate = path.at(lam)
        s = np.linalg.svd(A, compute_uv=False)
        best = 0.5 * np.sum(np.minimum(s, lam) ** 2) + lam * np.maximum(s - lam, 0).sum()
        value = 0.5 * np.sum((X.dense() - A) ** 2) + lam * np.linalg.svd(X.dense(), compute_uv=False).sum()
        assert certificate.lower_bound <= best + 1e-10 <= certificate.value + 2e-10
        assert certificate.value == pytest.approx(value, rel=1e-9)


def test_psd_paths_and_trace_balls():
    A, _, _ = distance(2, (7, 7))
    A = A + A.T
    problem = sx.Problem(sx.Distance(A), sx.TraceBall(7, 6.0))
    path = sx.path(problem, (1.0, 6.0), gap=1e-3)
    for size in np.linspace(1.0, 6.0, 11):
        X, certificate = path.at(size)
        assert np.linalg.eigvalsh(X.dense()).sum() <= size * (1 + 1e-12)
        assert certificate.lower_bound <= optimum(problem, size) <= certificate.value + 1e-12
        assert certificate.gap <= 1e-3 * certificate.value
    penalized = sx.path(sx.Penalized(sx.Distance(A), 1.0, psd=True), count=4)
    assert all(point.gap <= 1e-3 * point.value for point in penalized)
    X, certificate = penalized.at(2.0)
    values = np.linalg.eigvalsh(A)
    kept = np.maximum(values - 2.0, 0)
    assert certificate.lower_bound <= 0.5 * np.sum((kept - values) ** 2) + 2.0 * kept.sum() <= certificate.value


def test_warm_starts_pay():
    rng = np.random.default_rng(3)
    table = ratings_like(60, 40, 1000, seed=0)
    objective = sx.Completion(table.rows, table.cols, table.values - table.values.mean(), table.shape)
    sizes = np.geomspace(20, 60, 6)
    problem = sx.Problem(objective, sx.NuclearBall(table.shape, 60))
    path = sx.path(problem, rng.permutation(sizes), method="apgd")
    cold = [sx.solve(sx.Problem(objective, sx.NuclearBall(table.shape, size)), "apgd") for size in sizes]
    assert sum(point.result.products for point in path) < 0.9 * sum(result.products for result in cold)
    for point, result in zip(path, cold, strict=True):
        assert point.gap <= 1e-3 * point.value
        assert max(point.lower_bound, result.lower_bound) <= min(point.value, result.value)


def test_agrees_with_a_conic_solver_at_and_between_radii():
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(4)
    m, n = 6, 5
    rows, cols = np.nonzero(rng.random((m, n)) < 0.7)
    values = rng.standard_normal(rows.size)
    problem = sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), 4.0))
    path = sx.path(problem, (0.5, 4.0), gap=1e-2)
    Z, radius = cvxpy.Variable((m, n)), cvxpy.Parameter(nonneg=True)
    seen = cvxpy.hstack([Z[i, j] for i, j in zip(rows, cols, strict=True)])
    conic = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(seen - values)), [cvxpy.normNuc(Z) <= radius])
    for size in (0.5, 0.8, 1.7, 2.9, 4.0):
        radius.value = size
        best = conic.solve(solver=cvxpy.CLARABEL)
        _, certificate = path.at(size)
        assert certificate.lower_bound <= best + 1e-6 and best - 1e-6 <= certificate.value
        assert certificate.gap <= 1e-2 * certificate.value + 1e-12


# ------------------------------------------------------------------------------------------------- every radius


@pytest.mark.parametrize("gap", [0.3, 1e-2, 1e-4])
def test_every_radius_keeps_the_promise(gap):
    _, problem, size = distance(5)
    path = sx.path(problem, (0.05 * size, size), gap=gap)
    assert path.ended == "" and path[0].radius == 0.05 * size and path[-1].radius == size
    for radius in np.random.default_rng(0).uniform(0.05 * size, size, 60):
        X, certificate = path.at(radius)
        best = optimum(problem, radius)
        assert np.linalg.svd(X.dense(), compute_uv=False).sum() <= radius * (1 + 1e-12)
        assert certificate.value == pytest.approx(0.5 * np.linalg.norm(X.dense() - problem.objective.A) ** 2)
        assert certificate.lower_bound <= best * (1 + 1e-12) and best <= certificate.value * (1 + 1e-12)
        assert certificate.gap <= gap * certificate.value * (1 + 1e-9)
    assert len(path) <= 40


@pytest.mark.parametrize("gap", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("psd", [False, True])
def test_every_lam_keeps_the_promise(gap, psd):
    A, _, _ = distance(15, (7, 7))
    A = A + A.T if psd else A
    values = np.linalg.eigvalsh(A) if psd else np.linalg.svd(A, compute_uv=False)
    top = values.max()
    path = sx.path(sx.Penalized(sx.Distance(A), 0.1 * top, psd=psd), (0.1 * top, 1.2 * top), gap=gap)
    assert path.ended == "" and path[0].lam == 1.2 * top and path[-1].lam == 0.1 * top
    assert path[0].rank == 0 and len(path) <= 30
    for lam in np.random.default_rng(0).uniform(0.1 * top, 1.2 * top, 40):
        X, certificate = path.at(lam)
        kept = np.maximum(values - lam, 0)
        best = 0.5 * np.sum((kept - values) ** 2) + lam * kept.sum()
        size = np.linalg.svd(X.dense(), compute_uv=False).sum()
        assert certificate.value == pytest.approx(0.5 * np.sum((X.dense() - A) ** 2) + lam * size)
        assert certificate.lower_bound <= best * (1 + 1e-12) and best <= certificate.value * (1 + 1e-12)
        assert certificate.gap <= gap * certificate.value * (1 + 1e-9)
        assert sx.verify(certificate, sx.Penalized(sx.Distance(A), lam, psd=psd), X)


def test_a_path_may_rest_on_averaged_slopes():
    """Where the slope of X shows a larger gap than the run certified, the run's own is kept and used in its place."""
    _, problem, size = distance(4)
    path = sx.path(problem, (0.3 * size, 0.8 * size), gap=0.005, method="cg")
    assert path.ended == "" and not all(point.own for point in path)
    for point in path:
        assert sx.verify(point.certificate, point.problem, point.result)
        assert sx.verify(point.certificate, point.problem, point.X)
    for radius in np.linspace(0.3 * size, 0.8 * size, 21):
        X, certificate = path.at(radius)
        assert sx.verify(certificate, sx.Problem(problem.objective, sx.NuclearBall(problem.domain.shape, radius)), X)
        assert certificate.lower_bound <= optimum(problem, radius) <= certificate.value * (1 + 1e-12)
        assert certificate.gap <= 0.005 * certificate.value * (1 + 1e-9)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    dtype = "complex128" if rng.integers(2) else "float64"
    losses = ["squared", "huber"] + ["logistic"] * (dtype == "float64")
    case = dense_completion(rng, shape, losses[int(rng.integers(len(losses)))], bool(rng.integers(2)), dtype)
    return case, float(rng.uniform(0.3, 3.0)) * np.sqrt(max(shape)), rng


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_certificates_are_true_between_the_radii(seed):
    """Any loss, real or complex: against a solution of its own at random radii, to far more digits."""
    case, size, rng = random_problem(seed)
    problem = sx.Problem(case.objective, sx.NuclearBall(case.objective.shape, size))
    gap = float(rng.choice([0.1, 1e-2]))
    low = 0.1 * size
    kept = sx.path(problem, (low, size), gap=gap, seed=seed)
    plain = sx.path(problem, [low, 0.4 * size, size], seed=seed)
    assert kept.ended == "" and kept[-1].radius == size
    floor = abs(case.value(np.zeros(case.objective.shape)))
    for radius in rng.uniform(low, size, 3):
        exact = sx.solve(sx.Problem(case.objective, sx.NuclearBall(case.objective.shape, radius)), "apgd", TIGHT)
        for path in (kept, plain):
            X, certificate = path.at(radius)
            assert certificate.lower_bound <= exact.value + 1e-11 * floor
            assert certificate.value >= exact.lower_bound - 1e-11 * floor
            assert certificate.value == pytest.approx(case.value(X.dense()), rel=1e-9, abs=1e-12 * floor)
            assert np.linalg.svd(X.dense(), compute_uv=False).sum() <= radius * (1 + 1e-9)
        _, certificate = kept.at(radius)
        assert certificate.gap <= gap * max(certificate.value, 1e-3 * floor) * (1 + 1e-9)


def test_sparse_distances_and_own_functions():
    import scipy.sparse as sp

    A, problem, size = distance(6)
    own = sx.Smooth(lambda X: (0.5 * float(np.sum((X - A) ** 2)), X - A), A.shape)
    for objective in (sx.Distance(sp.csr_matrix(A)), own):
        path = sx.path(sx.Problem(objective, problem.domain), (0.2 * size, size), gap=1e-2)
        assert path.ended == ""
        for radius in np.linspace(0.2 * size, size, 17):
            _, certificate = path.at(radius)
            best = optimum(problem, radius)
            assert certificate.lower_bound <= best * (1 + 1e-12) and best <= certificate.value * (1 + 1e-12)
            assert certificate.gap <= 1e-2 * certificate.value * (1 + 1e-9)


def test_beyond_the_last_radius_that_binds():
    """Where the ball holds A itself the optimum is zero: the gap is then measured beside a thousandth of ½‖A‖²."""
    A, problem, size = distance(7, share=1.0)
    path = sx.path(problem, (0.3 * size, 1.5 * size), gap=1e-2)
    assert path.ended == ""
    for radius in np.linspace(0.3 * size, 1.5 * size, 13):
        _, certificate = path.at(radius)
        assert certificate.lower_bound <= optimum(problem, radius) + 1e-12
        assert certificate.gap <= 1e-2 * max(certificate.value, 0.5e-3 * np.sum(A * A)) * (1 + 1e-9)
    assert all(point.result.status is sx.Status.GAP for point in sx.path(problem, [size, 2 * size]))


def test_pieces_are_proven_and_not_only_looked_at():
    """Brute force on a fine grid inside a piece that ``cover`` accepts; and a control that must be refused."""
    _, problem, size = distance(8)
    family, rng = Family.of(problem, size), np.random.default_rng(0)

    def known(radius):
        X = sx.solve(family.at(radius), stop=TIGHT).X
        return solved(family, radius, X, failure=1e-9, rng=rng, wanted=1e-6, products=100.0)

    between = Between(known(0.3 * size), known(0.9 * size))
    for relative in (0.03, 0.1, 0.3):
        promise = Promise(relative, 0.0)
        found = cover(between, promise)
        nodes = {radius: Node.at(between, radius) for radius in np.linspace(0.3 * size, 0.9 * size, 300)}
        worst = max(node.gap / node.value for node in nodes.values())
        assert found.whole == (worst <= relative) or found.worst > 0.97
        if not found.whole:  # the radius it names breaks the promise
            node = Node.at(between, found.missing)
            assert node.gap > relative * node.value
    # control: both ends keep a promise that the middle breaks; a check of the ends alone would say yes
    left, right = Node(1.0, (1.0, 1.0, 1.0), Line(1.0, 0.99, -0.5)), Node(2.0, (0.9, 0.9, 0.9), Line(2.0, 0.89, 0.0))
    assert not _proven(left, right, Promise(0.04, 0.0)) and _proven(left, right, Promise(0.2, 0.0))


def test_negative_control_without_blended_slopes_more_radii_are_needed(monkeypatch):
    """The blends do something: without them the same promise takes more solutions."""
    _, problem, size = distance(9)
    with_blends = len(sx.path(problem, (0.05 * size, size), gap=1e-3))
    monkeypatch.setattr(Between, "_mixed", lambda self, mixes, shares: [])
    without = sx.path(problem, (0.05 * size, size), gap=1e-3)
    assert without.ended == "" and len(without) > 1.2 * with_blends


def test_negative_control_a_bound_that_lies_is_seen(monkeypatch):
    """σ̄ taken 2 % too small: certificates between the radii are then false, so the tests above can fail."""
    _, problem, size = distance(10)
    path = sx.path(problem, [0.3 * size, 0.9 * size])
    lies = [0.98 * point.sigma for point in path]
    for point, sigma in zip(path, lies, strict=True):
        object.__setattr__(point, "sigma", sigma)
    radii = np.linspace(0.3 * size, 0.9 * size, 9)[1:-1]
    assert any(path.at(radius)[1].lower_bound > optimum(problem, radius) for radius in radii)


# ------------------------------------------------------------------------------------------------------ as an object


def test_a_path_is_a_sequence_with_a_table(tmp_path):
    _, problem, size = distance(11)
    path = sx.path(problem, [size, 0.5 * size, size, 0.7 * size])
    assert len(path) == 3 and path[0].radius == 0.5 * size and len(path[1:]) == 2
    assert len(path.table().splitlines()) == 4 and "Path(3 points" in repr(path)
    columns = path.as_dict()
    assert set(columns) >= {"radius", "lam", "value", "lower_bound", "gap", "rank", "seconds"}
    np.testing.assert_array_equal(columns["gap"], columns["value"] - columns["lower_bound"])
    held = path.pick(lambda X: abs(np.sum(X.triple()[1]) - 0.7 * size))
    assert held is path[1] and path.pick(lambda X: X.dense()[0, 0] * 0, best="max") is path[0]
    # a point is a result like any other, without the state of its run
    assert path[1].result.state == {}
    path[1].result.save(tmp_path)
    assert sx.load(tmp_path).value == path[1].value
    further = sx.solve(path[1].problem, start=path[1].result, stop=sx.Stop(relative_gap=1e-6))
    assert further.gap <= 1e-6 * further.value
    for radius in (0.5 * size, 0.6 * size):
        values, lower = path.curve([radius])
        _, certificate = path.at(radius)
        assert values[0] == pytest.approx(certificate.value) and lower[0] == certificate.lower_bound
    X, certificate = path.at(0.7 * size)
    assert X is path[1].X and certificate is path[1].certificate
    with pytest.raises(ValueError, match="outside the path"):
        path.at(2 * size)
    with pytest.raises(TypeError, match="must be a number"):
        path.at("far")
    with pytest.raises(ValueError, match="best must be"):
        path.pick(lambda X: 0.0, best="least")
    with pytest.raises(ValueError, match="is not a number"):
        path.pick(lambda X: float("nan"))


def test_interruptions_and_observers_end_a_path_with_what_is_finished():
    _, problem, size = distance(12)
    sizes = [0.3 * size, 0.5 * size, size]

    def at_radius(action):
        """Act at the first record of the second solve."""
        steps = []

        def observer(record, point):
            steps.append(record.step)
            return action() if any(late <= early for early, late in pairwise(steps)) else None

        return observer

    def interrupt():
        raise KeyboardInterrupt

    path = sx.path(problem, sizes, observers=[at_radius(interrupt)])
    assert 1 <= len(path) < 3 and "Interrupted" in path.ended and path.ended in path.table()
    stopped = sx.path(problem, sizes, observers=[at_radius(lambda: False)])
    assert 1 <= len(stopped) < 3 and "observer" in stopped.ended
    promised = sx.path(problem, (0.1 * size, size), gap=1e-3, observers=[at_radius(interrupt)])
    assert "Interrupted" in promised.ended
    for point in promised:  # what is left keeps the promise
        assert point.gap <= 1e-3 * point.value
    limited = sx.path(problem, (0.1 * size, size), gap=1e-6, method="cg", stop=sx.Stop(max_steps=1))
    assert "not solved finely enough" in limited.ended


def test_max_seconds_is_for_the_whole_path():
    _, problem, size = distance()
    for problem_, radii, gap in ((problem, "auto", 1e-12), (problem, np.linspace(0.1, 1.0, 5000) * size, None)):
        began = time.perf_counter()
        path = sx.path(problem_, radii, gap=gap, stop=sx.Stop(relative_gap=1e-12, max_seconds=0.3))
        assert time.perf_counter() - began < 3.0  # a minute and more without the limit; one step may be slow
        assert "max_seconds (for the whole path) is spent" in path.ended and path.ended in path.table()
        assert gap is None or all(point.gap <= gap * point.value for point in path)
    # the first point is begun whatever the limit, and one that was not finished is no reason to go on
    path = sx.path(problem, [0.1 * size, 0.2 * size], method="cg", stop=sx.Stop(max_seconds=0.0))
    assert len(path) == 1 and "max_seconds" in path.ended
    promised = sx.path(problem, (0.1 * size, size), gap=1e-6, method="cg", stop=sx.Stop(max_seconds=0.0))
    assert len(promised) == 0 and "max_seconds" in promised.ended


def test_a_proof_between_two_radii_looks_at_the_clock():
    A, problem, size = distance()
    family, asked = Family.of(problem, 1.0), dict(failure=1e-9, rng=np.random.default_rng(0), wanted=1e-9, products=1e3)
    radii = (0.6 * size, 0.63 * size)
    ends = [solved(family, radius, sx.NuclearBall(A.shape, radius).project(A), **asked) for radius in radii]
    whole = cover(Between(*ends), Promise(1e-5, 1e-9))
    assert whole.whole and len(whole.nodes) > 5
    looks = []
    cut = cover(Between(*ends), Promise(1e-5, 1e-9), lambda: len(looks) == 2 or looks.append(0))
    assert not cut.whole and len(cut.nodes) < len(whole.nodes)


def test_objectives_that_cannot_be_end_with_a_sentence():
    A, _, _ = distance(0)
    ball = sx.NuclearBall(A.shape, 3.0)
    # a function that ends somewhere, far from where it is least: NaN beyond
    B = 10.0 * A
    ends = sx.Smooth(lambda X: (0.5 * float(np.sum((X - B) ** 2)) if np.sum(X * X) < 4 else np.nan, X - B), A.shape)
    path = sx.path(sx.Problem(ends, ball), [1.0, 30.0])
    assert len(path) == 1 and "NaN" in path.ended
    # an image that is not linear: what was measured afresh is not what was carried along
    wrong = sx.Distance(A)
    wrong.combine = lambda a, z, b, w: 1.01 * (a * z + b * w)
    path = sx.path(sx.Problem(wrong, ball), [1.0, 3.0], method="cg", stop=sx.Stop(max_steps=200))
    assert len(path) < 2 and "contradicts itself" in path.ended
    # nothing to fit: zero is exact at every radius
    nothing = sx.path(sx.Problem(sx.Distance(np.zeros((4, 3))), sx.NuclearBall((4, 3), 2.0)), (0.5, 2.0), gap=0.1)
    assert nothing.ended == "" and nothing.at(1.2)[1].gap == 0.0
    assert len(sx.path(sx.Penalized(sx.Distance(np.zeros((4, 3))), 1.0))) >= 1


def test_same_seed_same_path():
    _, problem, size = distance(13)
    first, second = (sx.path(problem, (0.2 * size, size), gap=1e-2, seed=3) for _ in range(2))
    for name, column in first.as_dict().items():
        if name != "seconds":
            np.testing.assert_array_equal(column, second.as_dict()[name])


def test_a_picture_of_a_path(tmp_path):
    pytest.importorskip("matplotlib")
    from spectraplex import plots

    _, problem, size = distance(14)
    for path in (
        sx.path(problem, (0.1 * size, size), gap=1e-2),
        sx.path(sx.Penalized(problem.objective, 0.5), count=4),
    ):
        figure = plots.plot_path(path, title="a path")
        assert plots.save(figure, tmp_path / "path.png").stat().st_size > 10_000
    empty = sx.Path((), path.family, None, (), "", 1e-9)
    with pytest.raises(ValueError, match="no point"):
        plots.plot_path(empty)
    with pytest.raises(ValueError, match="no point"):
        empty.at(1.0)
    with pytest.raises(ValueError, match="no point"):
        empty.pick(lambda X: 0.0)
    assert repr(empty) == "Path(no point)"


_, BALL, _ = distance(0)


@refused(
    ("no problem", lambda: sx.path(3), TypeError, "needs a Problem on a NuclearBall"),
    (
        "spectrahedron",
        lambda: sx.path(sx.Problem(sx.Distance(np.eye(2)), sx.Spectrahedron(2))),
        TypeError,
        "needs a Problem on a NuclearBall",
    ),
    ("empty", lambda: sx.path(BALL, []), ValueError, "radii is empty"),
    ("zero", lambda: sx.path(BALL, [1.0, 0.0]), ValueError, r"radii\[1\] is 0.0"),
    ("negative", lambda: sx.path(BALL, [-1.0]), ValueError, r"radii\[0\] is -1.0"),
    ("nan", lambda: sx.path(BALL, [1.0, np.nan]), ValueError, r"radii\[1\] is nan"),
    ("complex", lambda: sx.path(BALL, [1j]), ValueError, "is positive"),
    ("text", lambda: sx.path(BALL, "all"), ValueError, "radii must be numbers or 'auto'"),
    ("words", lambda: sx.path(BALL, ["a"]), TypeError, "radii must be numbers"),
    ("nested", lambda: sx.path(BALL, [[1.0]]), ValueError, "1 dimension"),
    ("count", lambda: sx.path(BALL, count=0), ValueError, "count must be"),
    ("gap", lambda: sx.path(BALL, gap=0.0), ValueError, "gap must be positive"),
    ("large gap", lambda: sx.path(BALL, gap=1.0), ValueError, "less than one"),
    ("stop", lambda: sx.path(BALL, stop=3), TypeError, "stop must be a Stop"),
    ("failure", lambda: sx.path(BALL, failure=2.0), ValueError, "failure"),
    ("seed", lambda: sx.path(BALL, seed=-1), ValueError, "seed must be"),
    ("observers", lambda: sx.path(BALL, observers=3), TypeError, "observers must be"),
    ("method", lambda: sx.path(BALL, method="best"), ValueError, "Unknown method"),
)
def test_refusals(call, error, words):
    check(call, error, words)


def test_coverage_says_whole_only_without_a_missing_radius():
    assert Coverage((), None, 0.0).whole and not Coverage((), 1.0, 0.0).whole


def test_a_promise_is_a_share_of_the_value_so_a_negative_one_is_named():
    A = np.diag([3.0, 2.0, 1.0])
    objective = sx.Smooth(lambda X: (0.5 * np.sum(X**2) - np.sum(A * X), X - A), (3, 3), smoothness=1.0)
    path = sx.path(sx.Problem(objective, sx.TraceBall(3, 4.0)), (1.0, 4.0), gap=0.05)
    assert "negative" in path.ended and "radii" in path.ended


def test_every_radius_is_certified_from_a_random_start_of_its_own(monkeypatch):
    import sys

    module = sys.modules["spectraplex.paths.walker"]
    seeds, solve = [], module.solve

    def watched(problem, method, stop, observers, start, seed, **named):
        seeds.append(seed)
        return solve(problem, method, stop, observers, start, seed, **named)

    monkeypatch.setattr(module, "solve", watched)
    _, problem, size = distance(1)
    sx.path(problem, [0.3 * size, 0.5 * size, size], seed=5)
    assert len(set(seeds)) == 3 and seeds[0] == 5
