"""What MetricLearner() chooses by itself: radius, whitening, and whether a metric is of use at all."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

import spectraplex as sx
from problems import blobs
from spectraplex.estimators import MetricLearner
from spectraplex.estimators.learning.metric_choose import judged, parts


def test_the_radius_is_chosen_by_held_out_points():
    X, y = load_wine(return_X_y=True)
    model = MetricLearner(random_state=1).fit(X, y)
    errors = model.path_["error"][1:]  # the first row is that of features as they are
    assert (model.path_["radius"][0], model.path_["rank"][0]) == (0.0, 0)
    assert (model.radius_, model.whitening_) in set(zip(model.path_["radius"], model.path_["whitening"], strict=True))
    assert (
        errors.min()
        == model.path_["error"][
            (model.path_["radius"] == model.radius_) & (model.path_["whitening"] == model.whitening_)
        ]
    )
    again = MetricLearner(random_state=1).fit(X, y)
    assert np.array_equal(again.components_, model.components_)


def test_features_stay_as_they_are_where_no_metric_votes_better():
    """Neighbours of such blobs never vote wrongly: nothing can be gained, and nothing is changed."""
    rng = np.random.default_rng(6)
    y = np.arange(60) % 3
    X = 50.0 * np.eye(3)[y] + rng.standard_normal((60, 3))
    X = np.hstack([X, np.full((60, 1), 2.0)]) * [1.0, 1e3, 1e-5, 1.0]
    model = MetricLearner().fit(X, y)
    assert model.plain_
    assert model.path_["wrong"][0] == 0.0
    standard = (X - X.mean(axis=0))[:, :3] / X[:, :3].std(axis=0)
    turned = model.transform(X)
    assert turned.shape == (60, 4)  # a constant feature is a column of zeros
    assert turned[:, :3] == pytest.approx(turned[0, 0] / standard[0, 0] * standard, rel=1e-9)
    assert np.all(turned[:, 3] == 0.0)
    apart = turned[0] - turned[4]
    assert model.score_pairs(X[[[0, 4]]]) ** 2 == pytest.approx(apart @ apart, rel=1e-12)
    assert (X[0] - X[4]) @ model.mahalanobis().dense() @ (X[0] - X[4]) == pytest.approx(apart @ apart, rel=1e-9)
    assert sx.verify(model.certificate_, model.problem(), model.metric_)  # that of the metric that was learned
    learned = MetricLearner(radius=model.radius_, whitening=model.whitening_).fit(X, y)
    assert not learned.plain_
    assert learned.transform(X).shape[1] < 4
    assert not model.partial_fit(X, y).plain_  # a stream goes on learning


def test_a_metric_that_votes_better_is_taken():
    X, y = blobs()
    wide = np.hstack([X, np.random.default_rng(4).standard_normal((60, 12))])
    model = MetricLearner(random_state=2).fit(wide, y)
    assert not model.plain_
    chosen = (model.path_["radius"] == model.radius_) & (model.path_["whitening"] == model.whitening_)
    assert model.path_["wrong"][chosen][0] < model.path_["wrong"][0]


def test_votes_are_those_of_the_nearest_and_ties_are_shared():
    left, codes = np.arange(6.0)[:, None], np.array([0, 1, 2, 2, 2, 2])
    foreign, wrong = judged(left, codes, np.array([[0.1], [2.9]]), np.array([0, 2]), 3)
    assert foreign.tolist() == [0.8, 0.2]  # of 0, 1, 2, 3, 4 and of 3, 2, 4, 1, 5
    assert wrong == pytest.approx([2 / 3, 0.0])


@pytest.mark.parametrize(("many", "few", "folds"), [(60, 2, 12), (400, 3, 7), (1500, 3, 2), (9000, 3, 2)])
def test_few_points_are_folded_more_often(many, few, folds):
    codes = np.arange(many) % few
    found = list(parts(codes, np.random.default_rng(0)))
    assert len(found) == folds
    for held, rest in found:
        assert not np.intersect1d(held, rest).size
        assert np.ptp(np.bincount(codes[held])) <= many // 100 + 2


def test_radii_grow_with_the_features_that_vary():
    """More features of noise shrink those that say something, and X has to stretch them again."""
    X, y = blobs(count=120)
    rng = np.random.default_rng(4)
    wide = np.hstack([X, rng.standard_normal((120, 12)), np.full((120, 5), 3.0)])
    assert set(MetricLearner().fit(X, y).path_["radius"]) == {0.0, 0.5, 2.0}
    model = MetricLearner().fit(wide[:60], y[:60])
    assert set(model.path_["radius"]) == {0.0, 2.0, 8.0}
    neighbours = KNeighborsClassifier(3).fit(model.transform(wide[:60]), y[:60])
    assert neighbours.score(model.transform(wide[60:]), y[60:]) > 0.9


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 0, 1], [1, 0, 0, 0]])
def test_of_too_few_points_none_is_kept_aside(labels):
    """Where a part of the points asks for nothing, it judges nothing."""
    X = np.random.default_rng(0).standard_normal((len(labels), 3))
    model = MetricLearner().fit(X, labels)
    assert model.radius_ > 0.0
    assert model.transform(X).shape[0] == len(labels)
    assert sx.verify(model.certificate_, model.problem(), model.metric_)
