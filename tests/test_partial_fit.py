"""partial_fit of the estimators for learning: streams in batches, what is refused, what is left of a fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier

import spectraplex as sx
from spectraplex.estimators import KernelLearner, MetricLearner, NuclearNormClassifier, NuclearNormRegressor


def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return X[:1300], y[:1300], X[1300:], y[1300:]


def tasks(loss="squared", n=1200, d=12, k=10, missing=0.3):
    rng = np.random.default_rng(0)
    X = 2.0 + 3.0 * rng.normal(size=(n, d))
    z = (X - 2.0) @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, k))
    y = (
        rng.poisson(np.exp(1.0 + 0.03 * z)).astype(float)
        if loss == "poisson-log"
        else 5.0 + z + rng.normal(size=z.shape)
    )
    y[rng.random(y.shape) < missing] = np.nan
    return X, y


def in_batches(model, X, y, size, **more):
    for low in range(0, len(y), size):
        model.partial_fit(X[low : low + size], y[low : low + size], **more)
    return model


def explained(model, X, y):
    seen, made = ~np.isnan(y), model.predict(X)
    return r2_score(y[seen], made[seen])


def state(model):
    """All but the learner, whose copies share room that grows."""
    return pickle.dumps({name: value for name, value in sorted(model.__dict__.items()) if name != "_stream"})


def answer(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


def small(kind):
    """An estimator with a first and a second batch for it, and what the first call needs beside."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    labels = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
    if kind == "classifier":
        return NuclearNormClassifier(radius=4.0), X, labels, {"classes": [0, 1, 2]}
    if kind == "regressor":
        return NuclearNormRegressor(radius=4.0), X, X @ rng.normal(size=(4, 3)), {}
    return MetricLearner(radius=4.0), X, labels, {}


KINDS = ("classifier", "regressor", "metric")


# ------------------------------------------------------------------------------------------------------ what is learned


@pytest.mark.parametrize("size", [60, 650])
def test_a_stream_of_digits_is_told_apart_nearly_as_well_as_all_at_once(size):
    X, y, far, truth = digits()
    whole = NuclearNormClassifier(radius=20.0, tol=1e-2).fit(X, y).score(far, truth)
    model = in_batches(NuclearNormClassifier(radius=20.0), X, y, size, classes=np.arange(10))
    assert model.score(far, truth) > whole - 0.06
    assert np.linalg.norm(model.s_, 1) <= 20.0 * (1 + 1e-9)
    assert model.predict_proba(far).shape == (len(far), 10)
    made = far @ model.coef_.T + model.intercept_
    assert np.allclose(made, model.decision_function(far), atol=1e-8 * np.abs(made).max())


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson-log"])
def test_a_stream_of_tasks_with_holes_is_predicted_nearly_as_well_as_all_at_once(loss):
    X, y = tasks(loss)
    settings = {"radius": 8.0, "loss": loss}
    whole = explained(NuclearNormRegressor(**settings).fit(X[:900], y[:900]), X[900:], y[900:])
    model = in_batches(NuclearNormRegressor(**settings), X[:900], y[:900], 90)
    assert whole > 0.5
    assert explained(model, X[900:], y[900:]) > whole - 0.06


@pytest.mark.parametrize("radius", [8.0, 20.0])
def test_a_stream_of_counts_is_learned_on_a_ball_that_is_too_large(radius):
    """A first step too long meets gradients of any size; they must not make all later steps short."""
    X, y = tasks("poisson-log")
    settings = {"radius": radius, "loss": "poisson-log"}
    whole = explained(NuclearNormRegressor(**settings).fit(X[:900], y[:900]), X[900:], y[900:])
    model = in_batches(NuclearNormRegressor(**settings), X[:900], y[:900], 90)
    assert explained(model, X[900:], y[900:]) > whole - 0.15


def test_a_stream_of_labelled_points_gives_a_metric_nearly_as_good_as_all_at_once():
    X, y, far, truth = digits()

    def votes(model):
        return KNeighborsClassifier(3).fit(model.transform(X), y).score(model.transform(far), truth)

    whole = MetricLearner(radius=16.0, rounds=1, tolerance=0.1).fit(X, y)
    model = in_batches(MetricLearner(radius=16.0), X, y, 130)
    assert votes(model) > votes(whole) - 0.03
    assert model.metric_.weights.sum() <= 16.0 * (1 + 1e-9)


@pytest.mark.parametrize("pairs", [True, False])
def test_a_metric_learns_from_streams_of_pairs_and_triplets(pairs):
    rng = np.random.default_rng(0)
    model = MetricLearner(radius=8.0)
    for _ in range(10):
        X = rng.normal(size=(40, 5))  # the first feature alone counts
        a, b, c = rng.integers(0, 40, (3, 300))
        apart, further = np.abs(X[a, 0] - X[b, 0]), np.abs(X[a, 0] - X[c, 0])
        fine = (a != b) & (a != c) & (b != c) & (np.abs(apart - further) > 0.3)
        a, b, c, near = a[fine], b[fine], c[fine], apart[fine] < further[fine]
        if pairs:
            model.partial_fit(X, np.where(apart[fine] < 0.7, 1, -1), pairs=np.stack([a, b], axis=1))
        else:
            model.partial_fit(X, triplets=np.stack([a, np.where(near, b, c), np.where(near, c, b)], axis=1))
    whole = model.mahalanobis().dense()
    assert whole[0, 0] > 0.7 * np.trace(whole)


def test_a_stream_goes_on_from_what_fit_found():
    X, y, far, truth = digits()
    model = NuclearNormClassifier(radius=20.0, tol=1e-2).fit(X[:650], y[:650])
    before, offsets = model.score(far, truth), model.intercept_
    model.partial_fit(X[650:660], y[650:660])
    assert model.score(far, truth) > before - 0.03  # ten samples do not overturn 650
    assert np.abs(model.intercept_ - offsets).max() > 0.0
    in_batches(model, X[660:], y[660:], 64)
    assert model.score(far, truth) > before - 0.03


def test_what_has_changed_is_learned():
    X, y = tasks(missing=0.0)
    model = NuclearNormRegressor(radius=8.0).fit(X[:100], y[:100])
    in_batches(model, X[100:], 10.0 - y[100:], 100)
    assert explained(model, X, 10.0 - y) > explained(model, X, y) + 0.5


def test_sparse_features_and_dense_ones_give_the_same():
    X, y, far, _ = digits()
    dense = in_batches(NuclearNormClassifier(radius=9.0), X[:200], y[:200], 50, classes=np.arange(10))
    sparse = in_batches(NuclearNormClassifier(radius=9.0), sp.csr_matrix(X[:200]), y[:200], 50, classes=np.arange(10))
    gap = np.abs(dense.predict_proba(far) - sparse.predict_proba(sp.csr_matrix(far))).max()
    assert gap < 1e-6


def test_a_weight_of_two_pulls_as_a_sample_that_comes_twice():
    _, X, y, more = small("classifier")
    X, y = X[:4], y[:4]  # one arrival, twice as long with all samples twice
    settings = {"radius": 4.0, "standardize": False, "fit_intercept": False}
    twice = NuclearNormClassifier(**settings).partial_fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), **more)
    weighed = NuclearNormClassifier(**settings).partial_fit(X, y, **more, sample_weight=np.full(4, 2.0))
    assert np.allclose(twice.coef_, weighed.coef_, atol=1e-8)


@pytest.mark.slow
def test_the_radius_of_a_first_batch_is_chosen_and_stays():
    X, y, far, truth = digits()
    model = in_batches(NuclearNormClassifier(), X[:500], y[:500], 100, classes=np.arange(10))
    first = NuclearNormClassifier().partial_fit(X[:100], y[:100], classes=np.arange(10))
    assert (
        model.radius_ == first.radius_ and model.path_["radius"].min() <= model.radius_ <= model.path_["radius"].max()
    )
    assert model.score(far, truth) > 0.85
    X, y = load_wine(return_X_y=True)
    model = in_batches(MetricLearner(), X[::2], y[::2], 45)
    assert model.radius_ in model.path_["radius"]


# -------------------------------------------------------------------------------------------- state, copies, refusals


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_batches_give_the_same(kind):
    model, X, y, more = small(kind)
    one, two = (in_batches(clone(model), X, y, 20, **more) for _ in range(2))
    assert np.array_equal(answer(one, X), answer(two, X))
    again = pickle.loads(pickle.dumps(one))
    for each in (one, again):
        each.partial_fit(X[:20], y[:20])
    assert np.array_equal(answer(one, X), answer(again, X))
    assert not np.array_equal(answer(one, X), answer(two, X)) or kind == "classifier"
    assert not hasattr(clone(one), "n_features_in_")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_a_certificate_is_left_and_fit_brings_it_back(kind):
    model, X, y, more = small(kind)
    model.fit(X, y)
    assert model.certificate_ is not None
    model.partial_fit(X[:20], y[:20], **more)
    assert model.certificate_ is None and not hasattr(model, "status_")
    assert not hasattr(model, "solution_") and not hasattr(model, "result_")
    with pytest.raises(ValueError, match=r"after partial_fit there is no certificate"):
        model.problem(*((X, y) if kind != "metric" else ()))
    begun = answer(clone(model).fit(X, y), X)
    assert np.array_equal(answer(model.fit(X, y), X), begun)  # fit begins anew
    found = model.metric_ if kind == "metric" else model.solution_
    problem = model.problem(*((X, y) if kind != "metric" else ()))
    assert sx.verify(model.certificate_, problem, found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after_fit", [True, False])
def test_a_refused_batch_changes_nothing(kind, after_fit):
    model, X, y, more = small(kind)
    _ = model.fit(X, y) if after_fit else model.partial_fit(X, y, **more)
    hole, huge, wide = X.copy(), X.copy(), np.column_stack([X, X[:, 0]])
    hole[3, 1], huge[40, 2] = np.nan, 1e200
    untouched = pickle.loads(pickle.dumps(model))
    before, said = state(model), {"wide": "features", "hole": "NaN", "huge": "as large as|so large"}
    for name, batch in (("wide", wide), ("hole", hole), ("huge", huge)):
        with pytest.raises(ValueError, match=said[name]):
            model.partial_fit(batch, y)
        assert state(model) == before, name
    with pytest.raises(ValueError, match="inconsistent"):
        model.partial_fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"radius was 4\.0 in the call before and is 5\.0 now"):
        model.set_params(radius=5.0).partial_fit(X, y)
    model.set_params(radius=4.0)
    assert state(model) == before
    assert np.array_equal(answer(model.partial_fit(X, y), X), answer(untouched.partial_fit(X, y), X))


def test_a_first_batch_that_is_refused_leaves_nothing():
    for kind in KINDS:
        model, X, y, more = small(kind)
        X[0, 0] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(X, y, **more)
        assert vars(model) == vars(clone(model))


def test_what_a_classifier_is_told_of_its_classes():
    model, X, y, more = small("classifier")
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"has the class 2, which is not among"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="1 class; a classifier needs two"):
        model.partial_fit(X, np.zeros(60, int), classes=[0])
    with pytest.raises(ValueError, match="needs all samples at once"):
        clone(model).set_params(class_weight="balanced").partial_fit(X, y, **more)
    for classes in ("abc", [[0, 1], [2, 3]], [0, 1, np.nan]):
        with pytest.raises(ValueError, match="classes must be a list of labels"):
            model.partial_fit(X, y, classes=classes)
    one = y == y[0]
    with pytest.raises(ValueError, match="does not say which radius is best; give a number"):
        NuclearNormClassifier().partial_fit(X[one], y[one], **more)
    model.partial_fit(X[one], y[one], **more)  # a batch need not have all of them
    assert model.classes_.tolist() == [0, 1, 2] and model.decision_function(X).shape == (60, 3)
    with pytest.raises(ValueError, match=r"classes are \[0, 1, 2, 3\] and were \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[3, 2, 1, 0])
    words = np.array(["a", "b", "c"])
    named = NuclearNormClassifier(radius=4.0, class_weight={"a": 2.0, "b": 1.0, "c": 1.0})
    assert set(named.partial_fit(X, words[y], classes=words).predict(X)) <= set(words)


def test_what_a_regressor_is_told_of_its_tasks():
    model, X, y, _ = small("regressor")
    blank = y.copy()
    blank[:, 1] = np.nan
    with pytest.raises(ValueError, match="task 1 has no target"):
        model.partial_fit(X, blank)
    with pytest.raises(ValueError, match="1 sample does not say"):
        model.partial_fit(X[:1], y[:1])
    model.partial_fit(X, y).partial_fit(X, blank).partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="but the call before had 3 tasks"):
        model.partial_fit(X, y[:, :2])
    with pytest.raises(ValueError, match="loss was 'squared' in the call before"):
        model.set_params(loss="huber").partial_fit(X, y)
    flat = NuclearNormRegressor(radius=4.0).partial_fit(X, y[:, 0])
    assert flat.predict(X).shape == (60,)
    with pytest.raises(ValueError, match="one number a sample"):
        flat.partial_fit(X, y)


def test_a_batch_far_outside_is_counted_for_less_and_said():
    model, X, y, _ = small("regressor")
    model.partial_fit(X, y)
    with pytest.warns(RuntimeWarning, match="features or targets more than 100 standard deviations"):
        model.partial_fit(X, 1e6 * y)


def test_a_metric_without_a_radius_and_a_kernel_have_no_stream():
    model, X, y, _ = small("metric")
    with pytest.raises(ValueError, match="give a radius in place of penalty"):
        MetricLearner(penalty=0.1).partial_fit(X, y)
    with pytest.raises(ValueError, match="triplets or pairs, not both"):
        model.partial_fit(X, triplets=[[0, 1, 2]], pairs=[[0, 1]])
    assert not hasattr(KernelLearner(), "partial_fit")
    assert "partial_fit" in KernelLearner.__doc__


def test_a_learner_with_a_past_moves_slowly_and_its_bound_holds():
    shape, rng, moved = (6, 5), np.random.default_rng(0), []
    truth = rng.normal(size=(6, 1)) @ rng.normal(size=(1, 5))
    where = sx.Entries(*np.divmod(np.arange(30), 5), shape)
    ball = sx.NuclearBall(shape, 1.5 * float(np.linalg.norm(truth, "nuc")))
    stream = [(where, truth.reshape(-1) / (1 + t)) for t in range(30)]
    for past in (0, 100):
        learner = sx.online.OnlineConditionalGradient(ball, past=past, rate=4.0)
        learner.update(*stream[0])
        moved.append(np.linalg.norm(learner.X.dense()))
        for each in stream[1:]:
            learner.update(*each)
        assert learner.regret(stream).at_most <= learner.bound().at_most
    assert moved[1] < 0.3 * moved[0]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (NuclearNormClassifier(class_weight="heavy"), "class_weight must be None, 'balanced' or a dictionary"),
        (NuclearNormClassifier(class_weight=3), "class_weight must be None, 'balanced' or a dictionary"),
        (NuclearNormRegressor(cv=[(1, 2)]), r"a list of \(train, test\) indices"),
        (MetricLearner(radius=-1), "radius must be 'auto' or a number above 0"),
        (MetricLearner(radius=None), "radius must be 'auto' or a number above 0"),
        (MetricLearner(random_state=-1), "MetricLearner: random_state must be a whole number ≥ 0"),
        (MetricLearner(random_state="a"), "MetricLearner: random_state must be None, a whole number"),
        (KernelLearner(radius="big"), "radius must be 'auto' or a number above 0"),
        (KernelLearner(random_state=2**40), "KernelLearner: random_state must be None, a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_named(model, words):
    _, X, y, _ = small("classifier")
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_one_class_is_named_as_it_was_written():
    _, X, _, _ = small("classifier")
    for model in (NuclearNormClassifier(), MetricLearner()):
        with pytest.raises(ValueError, match="one class, 1;"):
            model.fit(X, np.ones(60, int))


def test_a_kernel_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="not fitted"):
        _ = KernelLearner().kernel_


def test_a_table_of_weights_too_large_to_keep_is_refused():
    X = sp.random(20, 500_000, density=1e-4, format="csr", random_state=0)
    with pytest.raises(ValueError, match="500,000 features times 10 outputs are more than the 4,000,000 numbers"):
        NuclearNormClassifier(radius=4.0).partial_fit(X, np.arange(20) % 10, classes=np.arange(10))


def test_features_so_large_that_a_loss_is_no_number_are_refused():
    for kind in ("regressor", "metric"):
        model, X, y, _ = small(kind)
        model.partial_fit(X, y)
        with pytest.raises(ValueError, match="leaves the range of floating point; nothing was changed"):
            model.partial_fit(X * 1e120, y)
