"""MetricLearner: optima, certificates, what given triplets and pairs ask for, and bad input."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import spectraplex as sx
from problems import blobs
from spectraplex.estimators import MetricLearner
from spectraplex.estimators.learning.metric_loss import Short, SoftShort
from spectraplex.estimators.learning.metric_triplets import compared, joined, nearest


@parametrize_with_checks([MetricLearner()])
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", [Short(0.5), SoftShort(0.7)])
def test_slopes_and_conjugates_of_the_losses(loss):
    rng = np.random.default_rng(1)
    z, b, w = rng.standard_normal(40), rng.standard_normal(40), rng.uniform(0.5, 2.0, 40)
    value, slope = loss.evaluate(z, b, w)
    for k in range(5):
        step = np.zeros(40)
        step[k] = 1e-6
        ahead, behind = (loss.evaluate(z + s * step, b, w)[0] for s in (1, -1))
        assert (ahead - behind) / 2e-6 == pytest.approx(slope[k], abs=1e-7)
    conjugate = loss.conjugate(slope, b, w)
    assert slope @ z - value == pytest.approx(conjugate.at(1.0), abs=1e-12)  # Fenchel's equality, at its own slope
    for c in (0.0, 0.3, 0.9):  # and his inequality at others
        assert conjugate.at(c) >= c * (slope @ z) - value - 1e-12
    assert conjugate.limit >= 1.0
    assert abs(conjugate.at(1.0)) <= conjugate.size


def test_the_optimum_of_given_triplets_is_that_of_a_conic_solver():
    cp = pytest.importorskip("cvxpy")
    X, _ = blobs(count=14)
    points = np.arange(14)
    triplets = [(a, (a + 2) % 14, (a + 5) % 14) for a in points]
    model = MetricLearner(radius=3.0, keep=1.0, tolerance=1e-6, max_iter=1000).fit(X, triplets=triplets)
    Z, T = model.points_, model.triplets_
    M = cp.Variable((4, 4), PSD=True)
    terms = []
    for a, p, n in T:
        far, near = Z[a] - Z[n], Z[a] - Z[p]
        short = 1.0 - (far @ far - near @ near) - cp.trace((np.outer(far, far) - np.outer(near, near)) @ M)
        # the smoothed hinge of width ½ is the least of hinge(short − v) + v²/(2·½) over v
        v = cp.Variable()
        terms.append(cp.pos(short - v) + cp.square(v))
    best = cp.Problem(cp.Minimize(sum(terms) / len(T)), [cp.trace(M) <= 3.0]).solve(solver="CLARABEL")
    assert model.certificate_.value == pytest.approx(best, rel=1e-5)
    assert model.certificate_.value - model.certificate_.gap <= best * (1 + 1e-6)


def test_the_loud_feature_is_silenced():
    X, y = blobs()
    model = MetricLearner(radius=4.0, keep=0.0, whitening=0.0).fit(X, y)
    direction = np.abs(model.metric_.vectors[:, np.argmax(model.metric_.weights)])
    assert direction.argmax() == 0
    assert direction[0] > 0.95
    plain = cross_val_score(KNeighborsClassifier(3), X, y, cv=3).mean()
    learned = cross_val_score(make_pipeline(MetricLearner(radius=4.0), KNeighborsClassifier(3)), X, y, cv=3).mean()
    assert learned > plain + 0.05


def test_units_of_features_do_not_matter():
    X, y = blobs()
    units = np.array([1.0, 1e6, 1e-9, 1e150])
    one, other = (MetricLearner(radius=4.0).fit(data, y) for data in (X, X * units))
    assert other.transform(X * units) == pytest.approx(one.transform(X), rel=1e-3, abs=1e-3)


def test_distances_are_those_of_the_metric():
    X, y = blobs()
    for keep in (0.0, 1.0):
        model = MetricLearner(radius=4.0, keep=keep).fit(X, y)
        pairs = X[[[0, 1], [2, 9]]]
        apart = pairs[:, 0] - pairs[:, 1]
        squares = np.einsum("ij,jk,ik->i", apart, model.mahalanobis().dense(), apart)
        assert model.score_pairs(pairs) ** 2 == pytest.approx(squares, rel=1e-10)
        embedded = model.transform(pairs.reshape(4, 4)).reshape(2, 2, -1)
        assert np.sum((embedded[:, 0] - embedded[:, 1]) ** 2, axis=1) == pytest.approx(squares, rel=1e-10)
        z = model.points_
        inner = np.sum((z[0] - z[1]) ** 2) * keep + (z[0] - z[1]) @ model.metric_.dense() @ (z[0] - z[1])
        assert squares[0] == pytest.approx(inner, rel=1e-9)
        assert model.metric_.trace <= 4.0 * (1 + 1e-9)
        assert model.transform(X).shape[1] == (4 if keep else model.rank_)


def test_pairs_say_what_is_alike():
    X, y = blobs()
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 60, (300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    model = MetricLearner().fit(X, alike, pairs=pairs)
    assert len(model.path_["radius"]) == 3
    near = model.score_pairs(X[pairs]) < 1.0
    assert np.mean(near == (alike > 0)) > 0.85  # plain distances: 0.6
    same = MetricLearner().fit(X, (alike > 0).astype(int), pairs=pairs)
    assert same.certificate_.value == model.certificate_.value


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_price_in_place_of_a_bound(loss):
    X, y = blobs()
    cheap, dear = (MetricLearner(penalty=price, loss=loss, rounds=1).fit(X, y) for price in (1e-3, 3e-2))
    assert cheap.metric_.trace > dear.metric_.trace
    assert cheap.radius_ is None
    assert sx.verify(cheap.certificate_, cheap.problem(), cheap.metric_)


@pytest.mark.slow
def test_a_certificate_holds_in_another_process(tmp_path):
    X, y = blobs()
    model = MetricLearner(radius=4.0).fit(X, y)
    assert model.certificate_.gap <= 0.01 * max(model.certificate_.value, 0.05 * 1.5)
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    code = (
        "import pickle, sys, spectraplex as sx\n"
        "model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "X = sx.Symmetric(model.metric_.vectors, model.metric_.weights)\n"
        "sys.exit(0 if sx.verify(model.certificate_, model.problem(), X) else 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "model")]).returncode == 0
    small = sx.Symmetric(model.metric_.vectors, 0.5 * model.metric_.weights)
    assert not sx.verify(model.certificate_, model.problem(), small)


def test_triplets_of_labels_are_the_nearest():
    rng = np.random.default_rng(3)
    points, codes = rng.standard_normal((30, 3)), rng.integers(0, 3, 30)
    apart = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    for same in (True, False):
        found = nearest(points, codes, 4, same)
        for k in range(30):
            allowed = np.where((codes == codes[k]) == same, apart[k], np.inf)
            assert found.places[k].tolist() == np.argsort(allowed)[:4].tolist()
    triplets = compared(nearest(points, codes, 2, True), nearest(points, codes, 3, False))
    assert len(triplets) == 30 * 6
    assert len(joined(triplets, triplets[::2], 30)) == len(triplets)


def test_classes_of_one_point_have_no_target():
    X, y = blobs(count=21)
    y = y.copy()
    y[0] = 7
    model = MetricLearner(radius=4.0).fit(X, y)
    assert 0 not in model.triplets_[:, 0]
    assert 0 in model.triplets_[:, 2]


def test_a_gradient_is_formed_when_it_is_used_again():
    rng = np.random.default_rng(7)
    points = rng.standard_normal((40, 12))
    measured = sx.Differences(points, rng.integers(0, 40, (300, 3)))
    slope = rng.standard_normal(300)
    dense = np.zeros((12, 12))
    for (a, p, n), share in zip(measured.tuples, slope, strict=True):
        far, near = points[a] - points[n], points[a] - points[p]
        dense += share * (np.outer(far, far) - np.outer(near, near))
    for wide in (2, 9):  # a thin block, and one that is as much work as the matrix
        V = rng.standard_normal((12, wide))
        gradient = measured.adjoint(slope)
        for _ in range(3):
            assert gradient.matmat(V) == pytest.approx(dense @ V, abs=1e-10)
        assert gradient.dense() == pytest.approx(dense, abs=1e-10)
        assert gradient.noise() < 1e-6


def test_a_metric_of_zero_puts_all_points_in_one_place():
    X, y = blobs()
    model = make_pipeline(MetricLearner(penalty=1e6), KNeighborsClassifier(3)).fit(X, y)
    assert model[0].rank_ == 0
    assert np.array_equal(model[0].transform(X), np.zeros((60, 1)))
    assert len(model[0].get_feature_names_out()) == 1
    assert np.array_equal(model[0].score_pairs(X[[[0, 1]]]), [0.0])
    assert model[0].mahalanobis().trace == 0.0


def test_a_huge_radius_ends_soon():
    X, y = blobs()
    model = MetricLearner(radius=1e6, whitening=0.0).fit(X, y)
    assert model.status_ in ("GAP", "FLOOR")
    assert model.n_iter_ < 100


def test_a_failed_fit_leaves_the_earlier_one():
    X, y = blobs()
    model = MetricLearner(radius=4.0).fit(X, y)
    before = model.transform(X)
    with pytest.raises(ValueError, match="one class"):
        model.fit(np.ones((5, 3)), np.zeros(5))
    assert np.array_equal(model.transform(X), before)


X6, Y6 = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
BAD = [
    (dict(radius=-1.0), (X6, Y6), {}, "radius must be"),
    (dict(radius="big"), (X6, Y6), {}, "radius must be 'auto' or a number"),
    (dict(radius=0), (X6, Y6), {}, "above 0"),
    (dict(radius=1e20), (X6, Y6), {}, "at most 10⁶"),
    (dict(radius=1.0, penalty=1.0), (X6, Y6), {}, "not both"),
    (dict(loss="squared"), (X6, Y6), {}, "loss must be"),
    (dict(keep=-1), (X6, Y6), {}, "keep must be"),
    (dict(whitening=2.0), (X6, Y6), {}, "from 0 to 1"),
    (dict(tolerance=0), (X6, Y6), {}, "tolerance must be"),
    (dict(n_neighbors=0), (X6, Y6), {}, "n_neighbors must be"),
    ({}, (X6,), {}, "requires y to be passed"),
    ({}, (X6, np.zeros(6)), {}, "one class"),
    ({}, (X6, np.array(["a", 1] * 3, object)), {}, "y mixes labels"),
    ({}, (X6, np.arange(6)), {}, "no class in y has two points"),
    ({}, (X6, Y6[:4]), {}, "inconsistent numbers of samples"),
    ({}, (X6,), dict(triplets=[[0, 1, 6]]), "outside 0 … 5"),
    ({}, (X6,), dict(triplets=[[0, 1]]), "give \\(number, 3\\)"),
    ({}, (X6,), dict(triplets=[[0, 1, 1]]), "neither of them"),
    ({}, (X6, Y6), dict(triplets=[[0, 1, 2]]), "y or triplets"),
    ({}, (X6,), dict(triplets=[[0, 1, 2]], pairs=[[0, 1]]), "not both"),
    ({}, (X6,), dict(pairs=[[0, 1]]), "requires y"),
    ({}, (X6, [1]), dict(pairs=[[0, 1]]), "all pairs are similar"),
    ({}, (X6, [1, -1]), dict(pairs=[[0, 1]]), "1 pairs but 2 values"),
    ({}, (X6, [1, 3]), dict(pairs=[[0, 1], [0, 2]]), "y must be"),
    ({}, (X6, [1, 0]), dict(pairs=[[0, 1], [2, 2]]), "same point twice"),
    (dict(whitening=0.5), (X6,), dict(triplets=[[0, 1, 2]]), "needs labels"),
]


@pytest.mark.parametrize(("settings", "data", "more", "words"), BAD)
def test_bad_input_gets_a_sentence(settings, data, more, words):
    with pytest.raises((TypeError, ValueError), match=words):
        MetricLearner(**settings).fit(*data, **more)
