"""The radius of linear models by cross-validation: folds, the walk over radii, accuracy; what fits are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import RidgeCV

from spectraplex.estimators import NuclearNormClassifier, NuclearNormRegressor
from spectraplex.estimators.learning.classifier_recipe import ClassRecipe
from spectraplex.estimators.learning.linear_folds import asides


def scored(n, d, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, d) + rng.normal(size=d)
    scores = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, k))
    return X, scores, rng


@pytest.fixture(scope="module")
def classes():
    X, scores, rng = scored(150, 8, 6)
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


@pytest.fixture(scope="module")
def tasks():
    X, scores, rng = scored(80, 6, 10)
    Y = scores + 0.5 * rng.normal(size=scores.shape)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return X, 3.0 + 2.0 * Y


def assert_better_than_ridge(share, X, Y, others, truth):
    def error(model):
        return np.sqrt(np.mean((model.fit(X, Y).predict(others) - truth) ** 2))

    assert error(NuclearNormRegressor()) < share * error(RidgeCV(np.logspace(-2, 4, 13)))


def test_folds_hang_on_neither_units_nor_order_nor_storage(classes):
    X, y = classes
    strange = X * np.array(
        [1e-30, 1e30, 1.0, 1e-3, 7.0, 1.0, 1e5, 0.1]
    )  # labels must not drown the features, nor these
    recipes = [
        ClassRecipe(each, np.arange(len(y)), y, 6, None, 1.0, True)
        for each in (X, strange, 1e-30 * X, sp.csr_array(X), np.column_stack([X, np.full(len(y), 1e20)]))
    ]
    first, *others = (np.array(asides(recipe, 5)) for recipe in recipes)
    assert first.shape == (5, len(y)) and (first.sum(axis=0) == 1).all()
    assert all((np.bincount(y[mask], minlength=6) >= np.bincount(y) // 5).all() for mask in first)
    for each in others:
        assert np.array_equal(each, first)
    order = np.random.default_rng(0).permutation(len(y))
    moved = ClassRecipe(X[order], np.arange(len(y)), y[order], 6, None, 1.0, True)
    assert np.array_equal(np.array(asides(moved, 5)), first[:, order])
    assert len(asides(ClassRecipe(np.tile(X[:1], (9, 1)), np.arange(9), np.arange(9) % 2, 2, None, 1.0, True), 3)) == 2


def test_the_radius_is_chosen_on_a_path_and_does_not_hang_on_the_order(tasks):
    X, Y = tasks
    model = NuclearNormRegressor().fit(X, Y)
    assert model.path_["radius"].size >= 2 and model.path_["radius"][0] <= model.radius_
    order = np.random.default_rng(0).permutation(len(X))
    again = NuclearNormRegressor().fit(X[order], Y[order])
    assert again.radius_ == pytest.approx(model.radius_, rel=1e-3)
    tight = NuclearNormRegressor(radius=1e-3 * model.radius_).fit(X, Y)
    seen = ~np.isnan(Y)
    assert np.mean((model.predict(X) - Y)[seen] ** 2) < 0.5 * np.mean((tight.predict(X) - Y)[seen] ** 2)


def test_the_walk_goes_on_where_features_are_correlated():
    """Few steps from one radius to the next do not fill the ball there, and it does bind."""
    rng = np.random.default_rng(3)
    mixing = rng.normal(size=(4, 30))
    X, T = (rng.normal(size=(n, 4)) @ mixing + 0.5 * rng.normal(size=(n, 30)) for n in (120, 300))
    W = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 40))
    assert_better_than_ridge(0.85, X, X @ W + 4.0 * rng.normal(size=(120, 40)), T, T @ W)


def test_few_shared_directions_beat_ridge_where_tasks_are_many():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 40))
    X, T = rng.normal(size=(120, 40)), rng.normal(size=(500, 40))
    assert_better_than_ridge(0.8, X, X @ W + 4.0 * rng.normal(size=(120, 40)), T, T @ W)


def test_sparse_features_may_have_long_indices(classes):
    X, y = classes
    long = sp.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    model = NuclearNormClassifier(radius=4.0).fit(long, y)
    assert np.array_equal(
        model.predict_proba(X), NuclearNormClassifier(radius=4.0).fit(sp.csr_matrix(X), y).predict_proba(X)
    )


def test_weights_and_folds_are_refused_in_a_sentence(classes):
    X, y = classes
    for much, words in (("1e200", "divide them"), ("1e-200", "multiply them")):
        with pytest.raises(ValueError, match=f"the largest of sample_weight is .*; {words}"):
            NuclearNormClassifier().fit(X, y, float(much))
    for weight in (np.inf, -1.0, 0.0, None, "much", np.nan):
        with pytest.raises(ValueError, match="class_weight must be positive and finite"):
            NuclearNormClassifier(class_weight={0: weight}).fit(X, y)
    for cv, words in (
        ([([0, 1], [150])], "cv names sample 150, but samples are numbered from 0 to 149"),
        ([([0, -1], [2])], "cv names sample -1"),
        ([([0, 1], [2])], "cv has no pair with samples to fit"),  # 2 has no weight
    ):
        with pytest.raises(ValueError, match=words):
            NuclearNormClassifier(cv=cv).fit(X, y, np.where(np.arange(len(y)) == 2, 0.0, 1.0))


def test_a_class_in_the_middle_gets_its_intercept():
    """Along a line the middle class needs a larger one than its share; holding that back costs other samples."""
    rng = np.random.default_rng(0)
    y = np.arange(3045) % 3
    X = np.column_stack([2.5 * y, np.zeros(y.size)]) + rng.standard_normal((y.size, 2))
    train, others = np.arange(45), np.arange(45, y.size)
    loss = {}
    for name, settings in (("default", {}), ("held back", {"intercept_ridge": 1.0})):
        model = NuclearNormClassifier(radius=8.0, **settings).fit(X[train], y[train])
        loss[name] = -model.predict_log_proba(X[others])[np.arange(others.size), y[others]].mean()
    assert loss["default"] < loss["held back"] - 0.005
