"""NuclearNormClassifier and NuclearNormRegressor: scikit-learn's contract, optima, certificates, refusals."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import spectraplex as sx
from spectraplex.estimators import NuclearNormClassifier, NuclearNormRegressor
from spectraplex.estimators.learning.linear_classes import Classes
from spectraplex.estimators.learning.linear_data import Design, moments_of
from spectraplex.estimators.learning.linear_objective import LinearFit
from spectraplex.estimators.learning.linear_tasks import Counts, Residuals

#: Two fits of the same problem agree as far as their certificates say, not to 1e-7; ours is below.
ITERATIVE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a fit ends at a certified gap, not at rounding level"
    for kind in ("dense", "sparse")
}


def passes(estimator, check):
    """Run a check; one of ``ITERATIVE`` may fail, and passes where a fit happens to end at rounding level."""
    try:
        check(estimator)
    except AssertionError:
        reason = ITERATIVE.get(check.func.__name__)
        if reason is None:
            raise
        pytest.xfail(reason)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks set max_iter=5
@parametrize_with_checks([NuclearNormClassifier(radius=3.0), NuclearNormRegressor(radius=3.0)])
def test_the_contract_of_scikit_learn(estimator, check):
    passes(estimator, check)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([NuclearNormClassifier(), NuclearNormRegressor()])
def test_the_contract_of_scikit_learn_with_nothing_set(estimator, check):
    passes(estimator, check)


# --------------------------------------------------------------------------------------------------- the objective


def data(n=40, d=6, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, d) + rng.normal(size=d)
    scores = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, k))
    return X, scores, rng


def outputs(kind, n=40, d=6, k=5, seed=0):
    """Samples, and targets of one kind with weights and holes."""
    X, scores, rng = data(n, d, k, seed)
    weights = rng.uniform(0.5, 2.0, n)
    if kind == "softmax":
        labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        share = (np.bincount(labels, weights, k) + 0.5) / (weights.sum() + 0.5 * k)
        return X, Classes(labels, k, weights, np.log(share))
    cells = weights[:, None] * (rng.random(scores.shape) > 0.3)
    if kind == "poisson-log":
        counts = rng.poisson(np.exp(0.4 * scores)).astype(float) * (cells > 0)
        return X, Counts(counts, cells, np.log(counts.mean(axis=0) + 0.1))
    targets = (scores + rng.standard_t(2, size=scores.shape)) * (cells > 0)
    return X, Residuals(targets, cells, targets.mean(axis=0), 0.7 if kind == "huber" else np.inf)


KINDS = ("softmax", "squared", "huber", "poisson-log")


def linear(kind, ridge=1.0, sparse=False, **sizes):
    X, out = outputs(kind, **sizes)
    X = sp.csr_matrix(X) if sparse else X
    return LinearFit(Design(X, moments_of(X, None, True, True)), out, ridge)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ridge", [1.0, None])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_what_it_says(kind, ridge, sparse):
    assert sx.check(linear(kind, ridge, sparse))


def conic(kind, objective, radius):
    """The optimum by a conic solver, intercepts among its variables."""
    import cvxpy as cp

    out, X = objective.outputs, objective.design.times(np.eye(objective.shape[0]))
    W, b = cp.Variable(objective.shape), cp.Variable((1, objective.shape[1]))
    z = X @ W + np.ones((X.shape[0], 1)) @ (b + out.offset[None, :])
    if kind == "softmax":
        own = cp.sum(cp.multiply(np.eye(out.shape[1])[out.labels], z), axis=1)
        loss = out.weights @ (cp.log_sum_exp(z, axis=1) - own)
    elif kind == "poisson-log":
        loss = cp.sum(cp.multiply(out.weights, cp.exp(z) - cp.multiply(out.targets, z))) + out.least
    elif kind == "huber":
        loss = 0.5 * cp.sum(cp.multiply(out.weights, cp.huber(z - out.targets, out.delta)))
    else:
        loss = 0.5 * cp.sum(cp.multiply(out.weights, cp.square(z - out.targets)))
    problem = cp.Problem(cp.Minimize(loss + 0.5 * objective.ridge * cp.sum_squares(b)), [cp.normNuc(W) <= radius])
    problem.solve(solver="CLARABEL")
    return problem.value if problem.status == "optimal" else None


@pytest.mark.parametrize("kind", KINDS)
def test_the_bracket_holds_the_optimum_of_a_conic_solver(kind):
    objective = linear(kind, n=25, d=4, k=3)
    result = sx.solve(sx.Problem(objective, sx.NuclearBall(objective.shape, 0.8)), stop=sx.Stop(relative_gap=1e-7))
    known = conic(kind, objective, 0.8)
    if known is None:
        pytest.skip("the conic solver is not sure of its answer")
    assert result.gap <= 1e-7 * abs(result.value)
    assert result.lower_bound - 1e-6 * abs(known) <= known <= result.value + 1e-6 * abs(known)


@pytest.mark.parametrize("kind", KINDS)
def test_intercepts_are_best_and_a_function_of_the_image_alone(kind):
    objective = linear(kind, n=9000, d=3, k=4)  # long enough for the search to begin on some samples
    rng = np.random.default_rng(1)
    z = objective.measure(rng.normal(size=(3, 2)), np.ones(2), rng.normal(size=(4, 2)))
    first = objective.best(z)
    objective.best(rng.normal(size=z.size))
    again = objective.best(z)
    assert np.array_equal(first.intercepts, again.intercepts) and np.array_equal(first.slope, again.slope)
    left = first.slope.reshape(-1, 4).sum(axis=0) + objective.ridge * first.intercepts
    assert left @ left <= 2 * objective.ridge * 1e-11 * first.value
    for _ in range(3):  # no other intercepts are better
        other = first.intercepts + 0.1 * rng.normal(size=4)
        moved = objective.outputs.best(z + np.tile(other, 9000), None).value + 0.5 * other @ other
        assert moved > first.value


# ---------------------------------------------------------------------------------------------------- the estimators


@pytest.fixture(scope="module")
def classes():
    X, scores, rng = data(150, 8, 6)
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1), rng.uniform(0.5, 2.0, 150)


@pytest.fixture(scope="module")
def tasks():
    X, scores, rng = data(80, 6, 10)
    Y = scores + 0.5 * rng.normal(size=scores.shape)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return X, 3.0 + 2.0 * Y


@pytest.mark.parametrize("sparse", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_another_process_verifies_the_certificate(classes, sparse, tmp_path):
    X, y, w = classes
    X = sp.csr_matrix(X) if sparse else X
    model = NuclearNormClassifier(radius=4.0, class_weight="balanced").fit(X, y, w)
    (tmp_path / "held").write_bytes(pickle.dumps((model, X, y, w)))
    code = f"""
import pickle, spectraplex as sx
model, X, y, w = pickle.load(open({str(tmp_path / "held")!r}, "rb"))
print(bool(sx.verify(model.certificate_.to_json(), model.problem(X, y, w), model.solution_)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
    assert not sx.verify(model.certificate_, model.problem(X, y), model.solution_)  # without the weights it is another


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson-log"])
def test_regressors_are_certified_and_take_missing_targets(tasks, loss):
    X, Y = tasks
    Y = np.where(np.isnan(Y), np.nan, np.round(np.abs(Y))) if loss == "poisson-log" else Y
    model = NuclearNormRegressor(radius=3.0, loss=loss).fit(X, Y)
    assert sx.verify(model.certificate_, model.problem(X, Y), model.solution_)
    assert model.certificate_.gap <= model.tol * model.certificate_.value
    assert model.predict(X).shape == Y.shape and np.isfinite(model.predict(X)).all()
    scores = X @ model.coef_.T + model.intercept_
    assert np.allclose(np.exp(scores) if loss == "poisson-log" else scores, model.predict(X))


def test_dense_and_sparse_features_have_the_same_fit(classes, tasks):
    X, y, w = classes
    one, two = (NuclearNormClassifier(radius=4.0, tol=1e-8).fit(each, y, w) for each in (X, sp.csc_matrix(X)))
    assert np.allclose(one.predict_proba(X), two.predict_proba(sp.csr_array(X)), atol=1e-3)
    assert abs(one.certificate_.value - two.certificate_.value) <= 1e-7 * one.certificate_.value
    X, Y = tasks
    one, two = (NuclearNormRegressor(radius=3.0, tol=1e-8).fit(each, Y) for each in (X, sp.csr_array(X)))
    assert np.allclose(one.predict(X), two.predict(X), atol=1e-3)


def test_a_weight_of_two_is_the_sample_twice(classes):
    X, y, _ = classes
    w = np.random.default_rng(2).integers(0, 3, y.size)
    rows = np.repeat(np.arange(y.size), w)
    one = NuclearNormClassifier(radius=4.0, tol=1e-8).fit(X, y, w)
    two = NuclearNormClassifier(radius=4.0, tol=1e-8).fit(X[rows], y[rows])
    assert abs(one.certificate_.value - two.certificate_.value) <= 1e-7 * one.certificate_.value
    assert np.allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-3)


def test_huber_shrugs_off_outliers(tasks):
    X, Y = tasks
    clean = NuclearNormRegressor(radius=3.0).fit(X, Y).predict(X)
    spoilt = Y.copy()
    spoilt[::9] += 300.0
    plain, robust = (NuclearNormRegressor(radius=3.0, loss=loss).fit(X, spoilt) for loss in ("squared", "huber"))
    assert np.abs(robust.predict(X) - clean).mean() < 0.2 * np.abs(plain.predict(X) - clean).mean()


def test_a_failed_fit_leaves_the_earlier_state_whole(classes, tasks):
    X, y, _ = classes
    model = NuclearNormClassifier(radius=2.0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X[:, :3], np.zeros(len(X), int))
    assert np.array_equal(model.predict_proba(X), before) and model.n_features_in_ == 8
    fresh = NuclearNormRegressor(radius=2.0)
    with pytest.raises(ValueError, match="all of y is NaN"):
        fresh.fit(tasks[0], np.full(len(tasks[0]), np.nan))
    with pytest.raises(NotFittedError):
        fresh.predict(tasks[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"radius": -1.0}, "radius must be a positive number or 'auto'"),
        ({"radius": "large"}, "radius must be a positive number or 'auto'"),
        ({"cv": 1}, "cv must be a whole number ≥ 2"),
        ({"tol": 0.0}, "tol must be a number between 0 and 1"),
        ({"standardize": 1}, "standardize must be True or False"),
        ({"max_iter": 0}, "max_iter must be a whole number ≥ 1"),
        ({"intercept_ridge": 0.0}, "intercept_ridge must be positive"),
        ({"random_state": -1}, "random_state must be a whole number ≥ 0"),
    ],
)
def test_settings_are_refused_in_a_sentence(classes, settings, words):
    X, y, _ = classes
    for estimator in (NuclearNormClassifier, NuclearNormRegressor):
        with pytest.raises(ValueError, match=words):
            estimator(**settings).fit(X, y)


def test_data_are_refused_in_a_sentence(classes, tasks):
    X, y, _ = classes
    with pytest.raises(ValueError, match="sample_weight\\[3\\] is -1"):
        NuclearNormClassifier().fit(X, y, np.where(np.arange(len(y)) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match="all of sample_weight are zero"):
        NuclearNormClassifier().fit(X, y, np.zeros(len(y)))
    X, Y = tasks
    with pytest.raises(ValueError, match="loss must be one of"):
        NuclearNormRegressor(loss="hinge").fit(X, Y)
    with pytest.raises(ValueError, match="counts are at least zero"):
        NuclearNormRegressor(loss="poisson-log").fit(X, -1.0 - Y**2)
    with pytest.raises(ValueError, match="task 2 has no target"):
        NuclearNormRegressor().fit(X, np.where(np.arange(10) == 2, np.nan, Y))


def test_constant_targets_and_constant_features_are_fitted():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    assert np.allclose(NuclearNormRegressor().fit(X, np.full(20, 3.0)).predict(X), 3.0)
    model = NuclearNormClassifier().fit(np.ones((20, 2)), np.arange(20) % 2)
    assert np.allclose(model.predict_proba(np.ones((3, 2))), 0.5)


def test_features_stay_sparse():
    X = sp.random(300, 20_000, 1e-3, format="csr", random_state=0)
    Y = np.asarray(X @ np.random.default_rng(0).normal(size=(20_000, 3)))
    model = NuclearNormRegressor(radius=5.0, tol=0.05).fit(X, Y)
    assert np.isfinite(model.predict(X)).all()
    problem = model.problem(X, Y)
    assert sp.issparse(problem.objective.design.data) and problem.objective.design.data.nnz == X.nnz
