"""NuclearNormImputer: scikit-learn's contract, its answers against oracles and rivals, options, odd tables."""

from __future__ import annotations

import doctest
import pickle
import sys

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import spectraplex as sx
from spectraplex.estimators import NuclearNormImputer
from spectraplex.estimators.imputation import estimator as imputer_module
from spectraplex.estimators.imputation.moments import Moments, Neighbours, conditional, fold_in, learn
from spectraplex.objectives.in_metric import InMetric
from spectraplex.places.numpy import EPS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks set max_iter=5
@parametrize_with_checks([NuclearNormImputer(radius=3.0)])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([NuclearNormImputer()])
def test_the_contract_of_scikit_learn_with_nothing_set(estimator, check):
    check(estimator)


def holed(table, share, seed=0):
    return np.where(np.random.default_rng(seed).random(table.shape) < share, np.nan, table)


def rank_two(n=60, p=8, noise=0.0, seed=0):
    rng = np.random.default_rng([seed, 7])
    table = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + noise * rng.normal(size=(n, p))
    return 10 + table * np.arange(1, p + 1)


def rmse(guess, table, holes):
    return np.sqrt(np.mean(((guess - table) / table.std(axis=0))[np.isnan(holes)] ** 2))


@pytest.fixture(scope="module")
def fitted():
    table = rank_two(noise=0.1)
    return NuclearNormImputer(tol=1e-4).fit(holed(table, 0.3))


# ------------------------------------------------------------------------------------------------------ the answers


def test_a_table_of_low_rank_is_recovered():
    table = rank_two()
    gaps = holed(table, 0.3)
    imputer = NuclearNormImputer(max_value=None, min_value=None)
    filled = imputer.fit_transform(gaps)
    assert rmse(filled, table, gaps) < 0.1 < 0.9 < rmse(SimpleImputer().fit_transform(gaps), table, gaps)
    assert np.array_equal(filled[~np.isnan(gaps)], gaps[~np.isnan(gaps)])
    assert rmse(imputer.completed_, table, gaps) < 0.1


def test_the_certificate_is_about_the_solution_and_the_problem(fitted):
    assert sx.verify(fitted.certificate_, fitted.problem_, fitted.solution_)
    observed = fitted.problem_.objective.completion.values.size
    assert fitted.certificate_.gap <= 0.5 * fitted.tol**2 * observed
    U, s, V = fitted.solution_.svd()
    assert s.sum() <= fitted.radius_ * (1 + 1e-9) and fitted.rank_ == np.sum(s > 1e-6 * s[0])
    worse = (U, 0.9 * s, V)
    assert not sx.verify(fitted.certificate_, fitted.problem_, sx.Rectangular(*worse))


def test_rows_of_the_training_table_come_out_as_in_the_transductive_answer(fitted):
    gaps = holed(rank_two(noise=0.1), 0.3)
    assert np.allclose(fitted.transform(gaps), fitted.completed_, rtol=0, atol=1e-3 * fitted.scale_.max())
    alone = np.vstack([fitted.transform(row[None]) for row in gaps[:5]])
    assert np.allclose(fitted.transform(gaps[::-1])[::-1][:5], alone, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the iterative imputer's
@pytest.mark.parametrize(("name", "share"), [("wine", 0.3), ("diabetes", 0.5)])
def test_better_than_mean_knn_and_iterative_imputers_on_correlated_tables(name, share):
    table = getattr(datasets, f"load_{name}")().data
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    gaps = holed(table, share)
    order = np.random.default_rng(1).permutation(len(table))
    train, new = order[: len(order) * 7 // 10], order[len(order) * 7 // 10 :]

    def errors(imputer):
        same = rmse(clone(imputer).fit_transform(gaps), table, gaps)
        later = clone(imputer).fit(gaps[train]).transform(gaps[new])
        return np.array([same, np.sqrt(np.mean((later - table[new])[np.isnan(gaps[new])] ** 2))])

    ours = errors(NuclearNormImputer())
    for rival in (SimpleImputer(), KNNImputer(), IterativeImputer(random_state=0)):
        assert (ours < errors(rival)).all(), rival


def test_no_worse_than_the_mean_where_columns_have_nothing_in_common():
    table = np.random.default_rng(5).normal(size=(150, 6))
    gaps = holed(table, 0.3)
    mean = rmse(SimpleImputer().fit_transform(gaps), table, gaps)
    assert rmse(NuclearNormImputer().fit_transform(gaps), table, gaps) < 1.02 * mean


def test_holes_made_with_the_seed_of_the_imputer_do_not_hide_what_it_holds_out():
    gaps = holed(datasets.load_iris().data, 0.1, seed=0)
    imputer = NuclearNormImputer(random_state=0).fit(gaps)
    assert imputer.path_["score"].min() > 0.1


def test_the_path_and_the_choice(fitted):
    path = fitted.path_
    assert set(path["n_neighbors"]) == {0, 20}  # 120 would be more than half of the rows
    best = np.argmin(path["score"])
    assert fitted.n_neighbors_ == path["n_neighbors"][best]
    assert abs(fitted.radius_ / path["radius"][best] - 1) < 0.3  # the same noise with nothing held out
    for count in (0, 20):
        mine = path["n_neighbors"] == count
        assert mine.sum() >= 3 and (np.diff(path["radius"][mine]) > 0).all()


def test_a_given_radius_is_kept_and_chooses_nothing():
    gaps = holed(rank_two(noise=0.1), 0.2)
    imputer = NuclearNormImputer(radius=8.0, n_neighbors=0).fit(gaps)
    assert imputer.radius_ == 8.0 and imputer.path_["score"].size == 0
    assert imputer.solution_.svd()[1].sum() <= 8.0 * (1 + 1e-9)
    less = NuclearNormImputer(radius=0.01, n_neighbors=0).fit_transform(gaps)
    mean = SimpleImputer().fit_transform(gaps)
    assert np.abs(less - mean).max() < 0.5 * np.abs(imputer.completed_ - mean).max()
    chosen = NuclearNormImputer(radius=8.0).fit(gaps)
    assert set(chosen.path_["n_neighbors"]) == {0, 20} and np.isnan(chosen.path_["noise"]).all()


def test_many_columns_get_the_plain_norm():
    table = rank_two(n=30, p=310)
    gaps = holed(table, 0.4)
    imputer = NuclearNormImputer(radius=130.0, tol=0.03).fit(gaps)
    assert isinstance(imputer.problem_.objective, sx.Completion) and imputer.n_neighbors_ == 0
    assert rmse(imputer.completed_, table, gaps) < 0.3
    assert rmse(imputer.transform(gaps), table, gaps) < 0.3


def test_the_plain_norm_on_request():
    table = rank_two(noise=0.1)
    gaps = holed(table, 0.2)
    chosen = NuclearNormImputer(metric="identity").fit(gaps)
    assert isinstance(chosen.problem_.objective, sx.Completion) and set(chosen.path_["n_neighbors"]) == {0}
    assert rmse(chosen.completed_, table, gaps) < 0.4
    imputer = NuclearNormImputer(20.0, metric="identity", tol=1e-4).fit(gaps)
    assert sx.verify(imputer.certificate_, imputer.problem_, imputer.solution_)
    assert np.allclose(imputer.transform(gaps), imputer.completed_, rtol=0, atol=1e-2 * imputer.scale_.max())


def test_a_solve_that_was_cut_short_says_so():
    with pytest.warns(
        ConvergenceWarning, match="raise max_steps or loosen the gap. Here that is max_iter=1 and tol=1e-06"
    ):
        NuclearNormImputer(radius=20.0, n_neighbors=0, max_iter=1, tol=1e-6).fit(holed(rank_two(noise=0.3), 0.4))


def test_so_little_observed_that_nothing_can_be_hidden():
    table = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 5.0]])
    imputer = NuclearNormImputer().fit(table)
    assert imputer.path_["score"].size == 0 and imputer.n_neighbors_ == 0
    assert 1.0 <= imputer.completed_[2, 0] <= 3.0 and sx.verify(
        imputer.certificate_, imputer.problem_, imputer.solution_
    )


def test_the_example_of_the_docstring():
    failed, tried = doctest.testmod(imputer_module)
    assert tried > 0 and failed == 0


# ----------------------------------------------------------------------------------------------- the rooms beneath


def test_conditional_means_and_covariances_are_the_textbook_ones():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    S = A @ A.T + np.eye(5)
    table = holed(rng.normal(size=(9, 5)), 0.5, seed=4)
    table[0] = np.nan
    filled, spread = conditional(table, S)
    expected, total = table.copy(), np.zeros((5, 5))
    for i, row in enumerate(table):
        m, o = np.isnan(row), ~np.isnan(row)
        K = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        expected[i, m] = K @ row[o]
        total[np.ix_(m, m)] += S[np.ix_(m, m)] - K @ S[np.ix_(o, m)]
    assert np.allclose(filled, expected) and np.allclose(spread, total)


def test_the_covariance_of_a_table_with_holes():
    rng = np.random.default_rng(0)
    A = np.array([[1.0, 0, 0], [0.9, 0.4, 0], [-0.5, 0.3, 0.8]])
    table = 2.0 + rng.normal(size=(4000, 3)) @ A.T
    found = learn(holed(table, 0.3), rng)
    assert np.abs(found.covariance - A @ A.T).max() < 0.08 and np.abs(found.mean - 2.0).max() < 0.05


def test_fold_in_is_the_ridge_regression_of_each_row():
    rng = np.random.default_rng(0)
    F, table = rng.normal(size=(6, 3)), holed(rng.normal(size=(7, 6)), 0.4, seed=2)
    for row, z in zip(table, fold_in(table, F), strict=True):
        o = ~np.isnan(row)
        x = np.linalg.lstsq(np.vstack([F[o], np.eye(3)]), np.concatenate([row[o], np.zeros(3)]), rcond=None)[0]
        assert np.allclose(z, F @ x)


def test_a_row_is_not_its_own_neighbour():
    rng = np.random.default_rng(0)
    donors = rng.normal(size=(40, 3))
    near = Neighbours(Moments(np.zeros(3), np.eye(3)), donors, 4)
    others = np.delete(np.arange(40), 7)
    without = Neighbours(near.moments, donors[others], 4)
    assert np.allclose(near.around(donors[7:8]), without.around(donors[7:8]))
    away = np.linalg.norm(donors - donors[7], axis=1)
    assert np.linalg.norm(near.around(donors[7:8]) - donors[7]) < np.sort(away)[5]
    assert np.array_equal(near.around(np.full((1, 3), np.nan))[0], np.zeros(3))


def test_the_objective_in_a_metric_is_what_it_says():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    root = A @ A.T / 5 + 0.1 * np.eye(5)
    rows, cols = np.nonzero(rng.random((8, 5)) < 0.6)
    objective = InMetric(sx.Completion(rows, cols, rng.normal(size=rows.size), (8, 5)), root)
    assert sx.check(objective)
    Y = rng.normal(size=(8, 5))
    U, s, Vh = np.linalg.svd(Y, full_matrices=False)
    value, slope = objective.evaluate(objective.measure(U, s, Vh.T))
    plain = objective.completion
    misfit = (Y @ root)[plain.pattern.rows, plain.pattern.indices] - plain.values
    assert np.isclose(value, 0.5 * np.sum(misfit**2))
    gradient = objective.gradient(slope)
    assert np.allclose(gradient.dense(), gradient.matmat(np.eye(5)))
    assert np.allclose(gradient.dense(), gradient.rmatmat(np.eye(8)).T)


# ---------------------------------------------------------------------------------------------------- the options


def test_another_marker_of_holes():
    gaps = holed(rank_two(), 0.2)
    marked = np.where(np.isnan(gaps), -99.0, gaps)
    quick = {"radius": 5.0, "n_neighbors": 0}
    expected = NuclearNormImputer(**quick).fit_transform(gaps)
    assert np.array_equal(NuclearNormImputer(missing_values=-99, **quick).fit_transform(marked), expected)
    with pytest.raises(ValueError, match="NaN"):
        NuclearNormImputer(missing_values=-99, **quick).fit(gaps)


def test_indicators_names_and_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = holed(rank_two(p=5), 0.2)
    table[:, 2], table[:, 3] = np.arange(60), np.nan
    names = ["a", "b", "c", "d", "e"]
    frame = pd.DataFrame(table, columns=names)
    imputer = NuclearNormImputer(radius=5.0, n_neighbors=0, add_indicator=True)
    with pytest.warns(UserWarning, match=r"no value was observed in column\(s\) d, which are left out"):
        out = imputer.set_output(transform="pandas").fit_transform(frame)
    holes = ["missingindicator_a", "missingindicator_b", "missingindicator_d", "missingindicator_e"]
    assert list(out.columns) == ["a", "b", "c", "e", *holes] == list(imputer.get_feature_names_out())
    assert list(imputer.feature_names_in_) == names and not out.isna().any().any()
    assert np.array_equal(out[holes], MissingIndicator().fit_transform(table))
    new = pl.DataFrame({name: table[:3, place] for place, name in enumerate(names)})
    later = imputer.set_output(transform="polars").transform(new)
    assert isinstance(later, pl.DataFrame) and later.columns == list(out.columns)
    # Rows beside a row change the order of its sums at most: it solves (I + FᵀF)x = b, of condition ≤ 1 + ‖F‖², and
    # multiplies by F.
    condition = 1.0 + np.linalg.norm(imputer._model.factor, 2) ** 2
    rounding = 8 * table.shape[1] * EPS * condition * np.abs(out.to_numpy()).max()
    np.testing.assert_allclose(later.to_numpy(), out.to_numpy()[:3], rtol=0, atol=rounding)
    kept = NuclearNormImputer(radius=5.0, n_neighbors=0, keep_empty_features=True).fit_transform(table)
    assert kept.shape == table.shape and (kept[:, 3] == 0).all()
    assert np.array_equal(kept[:, [0, 1, 2, 4]], out.to_numpy()[:, :4])


def test_bounds_on_what_is_filled_in():
    gaps = holed(rank_two(noise=0.5), 0.4)
    holes = np.isnan(gaps)
    quick = {"radius": 30.0, "n_neighbors": 0}
    free = NuclearNormImputer(min_value=None, max_value=None, **quick).fit_transform(gaps)
    observed = NuclearNormImputer(**quick).fit_transform(gaps)
    assert np.array_equal(observed, np.clip(free, np.nanmin(gaps, axis=0), np.nanmax(gaps, axis=0)))
    assert not np.array_equal(observed, free)
    upper = np.linspace(8, 12, 8)
    bounded = NuclearNormImputer(min_value=9.0, max_value=upper + 1, **quick).fit_transform(gaps)
    assert np.array_equal(bounded[holes], np.clip(free, 9.0, upper + 1)[holes])
    assert np.array_equal(bounded[~holes], gaps[~holes])
    with pytest.raises(ValueError, match=r"min_value 9 is larger than max_value 8 in column 0\."):
        NuclearNormImputer(min_value=9.0, max_value=upper, **quick).fit(gaps)
    with pytest.raises(ValueError, match="one for each of the 8 columns"):
        NuclearNormImputer(max_value=[1.0, 2.0], **quick).fit(gaps)


def test_columns_are_standardised_if_asked(monkeypatch):
    """With the same random starts in all units: usually they depend on the data, and answers then differ by a gap."""
    for module in ("run", "certificates.certifier"):
        room = sys.modules[f"spectraplex.{module}"]
        monkeypatch.setattr(room, "stream", lambda seed, *marks: np.random.default_rng(seed))
    gaps = holed(rank_two(noise=0.3), 0.2)
    quick = {"radius": 10.0, "n_neighbors": 0}
    units = np.array([1e-3, 1, 1e4, 1, 1, 1, 1, 1])
    plain, scaled = NuclearNormImputer(**quick), NuclearNormImputer(**quick)
    assert np.allclose(plain.fit_transform(gaps) * units, scaled.fit_transform(gaps * units))
    common = NuclearNormImputer(standardize=False, **quick).fit(gaps)
    assert np.ptp(common.scale_) == 0 and np.ptp(plain.scale_) > 0
    assert np.isclose(common.scale_[0], np.sqrt(np.mean(plain.scale_**2)))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"radius": 0.0}, "radius must be a positive number or 'auto', got 0.0"),
        ({"radius": "large"}, "radius must be a positive number or 'auto', got 'large'"),
        ({"n_neighbors": -1}, "n_neighbors must be a whole number ≥ 0 or 'auto', got -1"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"metric": "cosine"}, "metric must be 'auto', 'learned' or 'identity'"),
        ({"metric": "identity", "n_neighbors": 3}, "neighbours need metric='learned'"),
        ({"missing_values": None}, "missing_values must be NaN or a number, got None"),
        ({"min_value": "least"}, "min_value must be a number"),
        ({"add_indicator": 1}, "add_indicator must be True or False"),
        ({"tol": 0}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a whole number ≥ 1"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number between 0 and 1"),
    ],
)
def test_parameters_are_refused_by_name(parameters, words):
    with pytest.raises(ValueError, match="NuclearNormImputer: ") as refused:
        NuclearNormImputer(**parameters).fit(np.ones((3, 2)))
    assert words in str(refused.value)


# ------------------------------------------------------------------------------------------------- in company


def test_in_a_pipeline_under_a_grid_search():
    X, y = datasets.load_iris(return_X_y=True)
    pipe = make_pipeline(NuclearNormImputer(n_neighbors=0), LogisticRegression(max_iter=1000))
    grid = {"nuclearnormimputer__radius": [0.01, 30.0]}
    search = GridSearchCV(pipe, grid, cv=3).fit(holed(X, 0.3), y)
    assert search.best_params_ == {"nuclearnormimputer__radius": 30.0} and search.best_score_ > 0.8


def test_copies_and_pickles_say_the_same(fitted):
    gaps = holed(rank_two(noise=0.1, seed=3), 0.3)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(gaps), fitted.transform(gaps))
    assert sx.verify(again.certificate_, again.problem_, again.solution_)
    twin = clone(fitted)
    assert not hasattr(twin, "completed_") and twin.get_params() == pytest.approx(fitted.get_params(), nan_ok=True)


def test_threads_do_not_change_the_answer():
    gaps = holed(datasets.load_wine().data, 0.2)
    answers, before = [], sx.set_threads(1)
    try:
        for count in (1, 2):
            sx.set_threads(count)
            with threadpool_limits(count):
                imputer = NuclearNormImputer(n_neighbors=20).fit(gaps)
                answers.append((imputer.completed_, imputer.transform(gaps[::2])))
    finally:
        sx.set_threads(before)
    assert np.array_equal(answers[0][0], answers[1][0]) and np.array_equal(answers[0][1], answers[1][1])


def test_progress_goes_through_callbacks():
    pytest.importorskip("sklearn.callback")

    class Count:
        ended = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **_):
            pass

        def on_fit_task_end(self, estimator, context, **_):
            self.ended += 1

    count = Count()
    imputer = NuclearNormImputer(n_neighbors=0).set_callbacks(count).fit(holed(rank_two(), 0.2))
    assert count.ended == imputer.path_["score"].size + 2  # what was tried, the last solve, and fit itself


# ---------------------------------------------------------------------------------------------------- odd tables


def test_constant_columns_are_filled_with_their_constant():
    table = np.column_stack([rank_two(p=3), np.full(60, 0.1), np.full(60, 1e9)])
    gaps = holed(table, 0.3)
    filled = NuclearNormImputer(10.0, n_neighbors=0).fit_transform(gaps)
    assert np.allclose(filled[:, 3:], table[:, 3:], rtol=1e-14) and np.isfinite(filled).all()
    constant = NuclearNormImputer().fit(np.where(np.eye(5) > 0, np.nan, 3.0))
    assert (constant.completed_ == 3.0).all() and constant.certificate_ is None and constant.rank_ == 0


def test_one_row_and_one_column():
    with pytest.warns(UserWarning, match="no value was observed"):
        assert np.array_equal(NuclearNormImputer().fit_transform([[1.0, np.nan, 2.0]]), [[1.0, 2.0]])
    single = NuclearNormImputer().fit([[1.0, 2.0]])
    assert np.array_equal(single.transform([[np.nan, 7.0]]), [[1.0, 7.0]])
    column = NuclearNormImputer().fit_transform([[1.0], [np.nan], [4.0]])
    assert np.array_equal(column, [[1.0], [2.5], [4.0]])


def test_nothing_missing_and_everything_missing():
    table = rank_two()
    imputer = NuclearNormImputer(30.0, n_neighbors=0).fit(table)
    assert np.array_equal(imputer.completed_, table)
    assert rmse(imputer.transform(holed(table, 0.2)), table, holed(table, 0.2)) < 0.1
    with pytest.raises(ValueError, match="none of the 6 entries is observed; there is nothing to learn from"):
        NuclearNormImputer().fit(np.full((3, 2), np.nan))
    assert np.array_equal(
        NuclearNormImputer(keep_empty_features=True).fit_transform(np.full((3, 2), np.nan)), np.zeros((3, 2))
    )


def test_a_row_without_any_observation_gets_what_is_usual():
    gaps = holed(rank_two(noise=0.2), 0.2)
    gaps[5] = np.nan
    imputer = NuclearNormImputer(10.0, n_neighbors=5).fit(gaps)
    usual = imputer.transform(np.full((1, 8), np.nan))[0]
    assert np.allclose(imputer.completed_[5], usual, atol=0.02 * imputer.scale_.max())
    assert (np.abs(usual - np.nanmean(gaps, axis=0)) < 0.35 * imputer.scale_).all()


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_numbers_of_any_size(size):
    table = rank_two()
    gaps = holed(table, 0.2) * size
    assert rmse(NuclearNormImputer(30.0, n_neighbors=0).fit_transform(gaps) / size, table, gaps) < 0.1


def test_one_wild_entry_does_not_rule_the_others():
    table = rank_two(noise=0.3)
    table[:, 0] = 0.0
    table[3, 0] = 1.0
    imputer = NuclearNormImputer(20.0, n_neighbors=0, min_value=None, max_value=None).fit(table)
    wild, tame = np.full((1, 8), np.nan), np.full((1, 8), np.nan)
    # Ten scales and a little more: five roundings of 1e-16 cannot bring it under ten, so both count as ten exactly.
    wild[0, 0], tame[0, 0] = 1e6, imputer.mean_[0] + 10 * imputer.scale_[0] * (1 + 1e-13)
    assert np.array_equal(imputer.transform(wild)[0, 1:], imputer.transform(tame)[0, 1:])


def test_infinite_numbers_and_other_columns_are_refused():
    gaps = holed(rank_two(), 0.2)
    with pytest.raises(ValueError, match="infinity"):
        NuclearNormImputer().fit(np.where(np.isnan(gaps), np.inf, gaps))
    with pytest.raises(ValueError, match="8 features"):
        NuclearNormImputer(radius=1.0, n_neighbors=0).fit(gaps).transform(gaps[:, :7])
