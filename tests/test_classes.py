"""loss="logistic" beside scikit-learn: probabilities, classes, scorers by name, thresholds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_score

from refusals import check, refused
from spectraplex.estimators import MatrixCompletion

FAST = {"loss": "logistic", "radius": 20.0, "ridge": 2.0}


def table(low=0, seed=0):
    """Likes of 60 people for 40 things, with something to learn."""
    rng = np.random.default_rng(seed)
    rows, cols = np.divmod(rng.choice(2400, 1200, replace=False), 40)
    odds = 1.5 * rng.standard_normal(60)[rows] + 1.5 * rng.standard_normal(40)[cols]
    pairs = np.array([(f"person {row}", f"thing {col}") for row, col in zip(rows, cols, strict=True)], object)
    return pairs, np.where(rng.random(1200) < expit(odds), 1, low)


@pytest.mark.parametrize("low", [0, -1])
def test_probabilities_classes_and_odds_agree(low):
    pairs, values = table(low)
    model = MatrixCompletion(**FAST).fit(pairs, values)
    likely, odds = model.predict_proba(pairs), model.decision_function(pairs)
    assert model.classes_.tolist() == [low, 1]
    assert likely.shape == (1200, 2)
    assert np.allclose(likely.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    assert np.allclose(likely[:, 1], expit(odds), rtol=0, atol=1e-15)
    assert np.allclose(likely @ model.classes_, model.predict(pairs), rtol=0, atol=1e-15)
    assert model.score(pairs, values) == accuracy_score(values, np.where(odds > 0, 1, low))


def test_a_classifier_with_this_loss_and_a_regressor_with_others():
    assert is_classifier(MatrixCompletion(loss="logistic")) and not is_regressor(MatrixCompletion(loss="logistic"))
    assert is_regressor(MatrixCompletion()) and not is_classifier(MatrixCompletion())
    for name in ("predict_proba", "decision_function", "classes_"):
        assert not hasattr(MatrixCompletion().fit([("a", "x"), ("b", "y")], [1.0, 2.0]), name)


@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_log_loss", "neg_brier_score", None])
def test_scorers_by_name(low, scoring):
    pairs, values = table(low)
    scores = cross_val_score(MatrixCompletion(**FAST), pairs, values, cv=3, scoring=scoring, error_score="raise")
    # worse than these is no better than the share of ones: log 2, a half, and a variance of a quarter
    assert (scores > {"neg_log_loss": -np.log(2.0), "neg_brier_score": -0.25}.get(scoring, 0.55)).all()


def test_scorers_say_what_metrics_say():
    pairs, values = table()
    model = MatrixCompletion(**FAST).fit(pairs[:900], values[:900])
    likely = model.predict_proba(pairs[900:])
    told = {
        name: make_scorer(metric, response_method="predict_proba")(model, pairs[900:], values[900:])
        for name, metric in (("auc", roc_auc_score), ("loss", log_loss))
    }
    assert told["auc"] == pytest.approx(roc_auc_score(values[900:], likely[:, 1]), abs=1e-12)
    assert told["loss"] == pytest.approx(log_loss(values[900:], likely), abs=1e-12)


def test_with_a_threshold_it_predicts_classes():
    """scikit-learn's own wrapper makes classes of probabilities; accuracy can then be asked for by name."""
    pairs, values = table()
    cut = FixedThresholdClassifier(MatrixCompletion(**FAST))
    search = GridSearchCV(cut, {"estimator__radius": [1.0, 20.0]}, cv=3, scoring=["accuracy", "f1"], refit="accuracy")
    search.fit(pairs, values)
    assert set(np.unique(search.predict(pairs))) == {0, 1}
    assert search.best_score_ > 0.6


def test_one_class_only_has_two_classes():
    with pytest.warns(UserWarning, match="one class only"):
        model = MatrixCompletion(**FAST).fit([("a", "x"), ("a", "y"), ("b", "x")], [1, 1, 1])
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict_proba([("a", "x")])[:, 1] > 0.5).all()


def test_classes_are_pickled_and_stored():
    pairs, values = table(-1)
    model = MatrixCompletion(**FAST).fit(pairs, values)
    for copy in (pickle.loads(pickle.dumps(model)), MatrixCompletion.from_arrays(*model.to_arrays())):
        assert copy.classes_.tolist() == [-1, 1]
        assert np.array_equal(copy.predict_proba(pairs), model.predict_proba(pairs))


@refused(
    ("another loss", lambda: MatrixCompletion().predict_proba([("a", "x")]), AttributeError, "has no attribute"),
    ("no classes", lambda: MatrixCompletion().classes_, AttributeError, "with loss='logistic' only"),
    ("before a fit", lambda: MatrixCompletion(**FAST).predict_proba([("a", "x")]), NotFittedError, "not fitted yet"),
)
def test_bad_requests(call, error, words):
    if words == "has no attribute":
        with pytest.raises(error, match=words):  # scikit-learn's own words, ours behind them
            call()
    else:
        check(call, error, words)
