"""KernelLearner: kernels from pairs, labels, entries and graphs; certificates; bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import spectraplex as sx
from spectraplex.estimators import KernelLearner
from spectraplex.estimators.learning import kernel_pairs
from spectraplex.estimators.learning.kernel_pairs import KernelPairs


@parametrize_with_checks([KernelLearner(radius=8.0, n_landmarks=10)])
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("few", [0, 500])  # a sparse graph between the points, and a dense one
def test_pairs_measure_entries_and_their_adjoint(few, monkeypatch):
    monkeypatch.setattr(kernel_pairs, "_FEW", few)
    rng = np.random.default_rng(0)
    points, pairs = rng.standard_normal((7, 3)), rng.integers(1, 7, (12, 2))  # no pair names the first point
    pairs[3:6] = [[2, 4], [4, 2], [5, 5]]  # twice the same pair, and a point with itself
    measured = KernelPairs(points, pairs, np.where(np.arange(12) % 2, 1.0, -1.0))
    U, s, V = rng.standard_normal((3, 2)), rng.uniform(1, 2, 2), rng.standard_normal((3, 2))
    for right in (U, V):
        X = (U * s) @ right.T
        X = 0.5 * (X + X.T)
        z = measured.measure(U, s, right)
        assert z == pytest.approx(measured.signs * (points @ X @ points.T)[pairs[:, 0], pairs[:, 1]], rel=1e-12)
        slope = rng.standard_normal(12)
        back = measured.adjoint(slope)
        assert np.sum(back.dense() * X) == pytest.approx(slope @ z, rel=1e-11)
        assert back.matmat(V) == pytest.approx(back.dense() @ V, rel=1e-10, abs=1e-12)
        assert np.linalg.norm(z) <= measured.reach * np.linalg.norm(X)


def test_points_that_no_pair_names_cost_no_product():
    rng = np.random.default_rng(1)
    points, pairs = rng.standard_normal((5000, 3)), np.array([[0, 4000], [4000, 17], [3, 0]])
    assert KernelPairs(points, pairs, np.ones(3)).adjoint(np.ones(3)).points.shape == (4, 3)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))[:80]
    X, y = X[order], y[order]
    i, j = np.triu_indices(80, 1)
    chosen = rng.permutation(i.size)
    return X, y, np.stack([i, j], axis=1)[chosen]


def test_signs_of_unseen_pairs(wine):
    X, y, pairs = wine
    alike = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    model = KernelLearner(radius=32.0, n_landmarks=40).fit(X, alike[:600], pairs=pairs[:600])
    entries = model.kernel_[tuple(pairs[600:].T)]
    assert np.mean((entries > 0.5) == (alike[600:] > 0)) > 0.93  # two in three are dissimilar
    assert model.metric_.trace <= 32.0 * (1 + 1e-9)
    assert sx.verify(model.certificate_, model.problem(), model.metric_)
    assert not sx.verify(
        model.certificate_, model.problem(), sx.Symmetric(model.metric_.vectors, 0.5 * model.metric_.weights)
    )
    spectrum = np.linalg.eigvalsh(model.kernel_)
    assert spectrum[0] >= -1e-12 * spectrum[-1]


def test_the_kernel_goes_on_to_new_points_and_into_a_machine(wine):
    X, y, _ = wine
    model = KernelLearner(radius=32.0, n_landmarks=40).fit(X[:60], y[:60])
    assert model.kernel(X[:60]) == pytest.approx(model.kernel_, abs=1e-8)
    machine = SVC(kernel="precomputed").fit(model.kernel_, y[:60])
    assert machine.score(model.kernel(X[60:]), y[60:]) > 0.9


def test_entries_of_a_kernel_are_found_again(wine):
    X, _, pairs = wine
    base = KernelLearner(radius=16.0, n_landmarks=20).fit(X, pairs[:, 0] % 2, pairs=pairs)
    target = base.features_ @ np.diag(np.r_[2.0, 1.0, np.zeros(base.features_.shape[1] - 2)]) @ base.features_.T
    values = target[tuple(pairs.T)]
    model = KernelLearner(radius=3.0, n_landmarks=20, loss="squared", tolerance=1e-4).fit(X, values, pairs=pairs)
    assert np.abs(model.kernel_[tuple(pairs.T)] - values).mean() < 0.05 * np.abs(values).mean()


def test_a_graph_spreads_few_pairs():
    """Two rings of twenty points; one pair of each kind, and the graph, say the rest."""
    ring = 2.0 * np.eye(20) - np.roll(np.eye(20), 1, axis=1) - np.roll(np.eye(20), -1, axis=1)
    L = np.kron(np.eye(2), ring)
    pairs, alike = [[0, 1], [20, 21], [0, 20], [5, 30]], [1, 1, -1, -1]
    X = np.arange(40.0)[:, None]
    model = KernelLearner(radius=8.0, n_landmarks=4).fit(X, alike, pairs=pairs, laplacian=L)
    own = np.arange(40) // 20
    assert np.array_equal(model.kernel_ > 0.5, own[:, None] == own)
    with pytest.raises(ValueError, match="training points alone"):
        model.transform(X)
    again = model.fit_transform(X, alike, pairs=pairs, laplacian=L)
    assert again @ again.T == pytest.approx(model.kernel_)


def test_the_optimum_is_that_of_a_conic_solver():
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((12, 3)), np.arange(12) % 3
    pairs = np.stack(np.triu_indices(12, 1), axis=1)[::2]
    alike = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    model = KernelLearner(radius=3.0, n_landmarks=6, tolerance=1e-6, max_iter=1000).fit(X, alike, pairs=pairs)
    P, M, terms = model.features_, cp.Variable((6, 6), PSD=True), []
    for (i, j), sign in zip(pairs, alike, strict=True):
        short = max(sign, 0) - sign * (P[i] @ M @ P[j])
        # the smoothed hinge of width ½ is the least of hinge(short − v) + v²/(2·½) over v
        v = cp.Variable()
        terms.append(cp.pos(short - v) + cp.square(v))
    best = cp.Problem(cp.Minimize(sum(terms) / len(pairs)), [cp.trace(M) <= 3.0]).solve(solver="CLARABEL")
    assert model.certificate_.value == pytest.approx(best, rel=1e-5)
    assert model.certificate_.value - model.certificate_.gap <= best * (1 + 1e-6)


def test_the_radius_is_chosen_by_pairs_kept_aside(wine):
    X, y, pairs = wine
    alike = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    model = KernelLearner(n_landmarks=15).fit(X, alike[:200], pairs=pairs[:200])
    assert model.radius_ == model.path_["radius"][model.path_["error"].argmin()]


X6 = np.arange(12.0).reshape(6, 2)
BAD = [
    (dict(radius=0), ([0, 0, 0, 1, 1, 1],), {}, "radius must be"),
    (dict(radius=1e20), ([0, 0, 0, 1, 1, 1],), {}, "at most 10⁶"),
    (dict(loss="huber"), ([0, 0, 0, 1, 1, 1],), {}, "loss must be"),
    (dict(gamma=-1.0), ([0, 0, 0, 1, 1, 1],), {}, "gamma must be"),
    ({}, (), {}, "requires y to be passed"),
    ({}, ([0] * 6,), {}, "two classes"),
    ({}, ([0, 1],), {}, "inconsistent numbers of samples"),
    ({}, ([1],), dict(pairs=[[0, 9]]), "outside 0 … 5"),
    ({}, ([1, -1],), dict(pairs=[[0, 1]]), "1 pairs but 2 values"),
    ({}, ([1, 1],), dict(pairs=[[0, 1], [1, 2]]), "all pairs are alike"),
    ({}, ([1, 7],), dict(pairs=[[0, 1], [1, 2]]), "y must be"),
    ({}, ([1, -1],), dict(pairs=[[0, 1], [1, 2]], laplacian=np.eye(3)), "laplacian has shape"),
    ({}, (np.array(["a", 1] * 3, object),), {}, "y mixes labels"),
    ({}, ([1, -1],), dict(pairs=[[0, 1], [1, 2]], laplacian="rbf"), "matrix of real numbers"),
    ({}, ([1, -1],), dict(pairs=[[0, 1], [1, 2]], laplacian=1j * np.eye(6)), "matrix of real numbers"),
    ({}, ([1, -1],), dict(pairs=[[0, 1], [1, 2]], laplacian=-np.eye(6)), "positive semidefinite"),
]


@pytest.mark.parametrize(("settings", "y", "more", "words"), BAD)
def test_bad_input_gets_a_sentence(settings, y, more, words):
    with pytest.raises((TypeError, ValueError), match=words):
        KernelLearner(**settings).fit(X6, *y, **more)
