"""OneClassCompletion: the certified fit of clicks, whatever the labels and their order; and what it answers."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import spectraplex as sx
from spectraplex.estimators import OneClassCompletion
from spectraplex.estimators.input.observations import Observations
from spectraplex.estimators.one_class import choose
from spectraplex.estimators.one_class.recipe import Recipe
from spectraplex.matrices.factors import Rectangular
from spectraplex.metrics import evaluate
from spectraplex.metrics.ranking import held_out


def clicks(rows=120, cols=60, groups=4, each=12, seed=0):
    """Every row belongs to a group and mostly clicks what its group likes; popular columns are clicked more."""
    rng = np.random.default_rng(seed)
    out = []
    for row in range(rows):
        liking = np.where(np.arange(cols) % groups == row % groups, 12.0, 1.0) / (1.0 + np.arange(cols))
        chosen = rng.choice(cols, each, replace=False, p=liking / liking.sum())
        out += [(f"u{row:03d}", f"i{col:02d}") for col in chosen]
    return [out[place] for place in rng.permutation(len(out))]


PAIRS = clicks()
TRAIN, TEST = PAIRS[:1150], PAIRS[1150:]


@pytest.fixture(scope="module")
def model():
    return OneClassCompletion().fit(TRAIN)


def test_it_ranks_better_than_the_most_popular(model):
    found = evaluate(model, TEST, k=10)
    assert found["model"].ndcg > 1.2 * found["most popular"].ndcg
    assert model.score(TEST) == pytest.approx(found["model"].ndcg)


def test_the_scores_minimise_the_function_over_all_cells():
    """Against a dense projected gradient on small data, with a certificate that others can verify."""
    pairs, counts = [(0, 0), (0, 1), (1, 0), (2, 2), (2, 1), (1, 0)], [1.0, 3.0, 1.0, 7.0, 1.0, 2.0]
    fitted = OneClassCompletion(radius=1.3, unobserved_weight=0.2, weighting="plain", tolerance=1e-9, max_iter=2000)
    fitted.fit(pairs, counts)
    C = np.zeros((3, 3))
    for (row, col), count in zip(pairs, counts, strict=True):
        C[row, col] += count
    C = np.log2(1.0 + C)
    X = np.zeros((3, 3))
    for _ in range(20000):
        gradient = C * (X - 1.0) * (C > 0) + 0.2 * X
        U, s, Vt = np.linalg.svd(X - gradient / (C.max() + 0.2))
        if s.sum() > 1.3:
            ranks = np.arange(1, 4)
            cut = (np.cumsum(s) - 1.3) / ranks
            s = np.maximum(s - cut[np.flatnonzero(s > cut)[-1]], 0.0)
        X = (U * s) @ Vt
    value = 0.5 * (C * (1.0 - X) ** 2).sum() + 0.1 * (X**2).sum()
    assert fitted.certificate_.value == pytest.approx(value, rel=1e-7)
    assert np.allclose(fitted.row_factors_ @ fitted.column_factors_.T, X, atol=1e-4)
    problem = fitted.problem(pairs, counts)
    assert sx.verify(fitted.certificate_, problem, (fitted.U_, fitted.s_, fitted.V_))
    assert not sx.verify(fitted.certificate_, fitted.problem(pairs), (fitted.U_, fitted.s_, fitted.V_))


def test_the_certificate_of_a_default_fit_holds(model):
    assert model.status_ == "GAP" and model.certificate_.gap <= 0.02 * model.certificate_.value
    assert sx.verify(model.certificate_, model.problem(TRAIN), (model.U_, model.s_, model.V_))


def test_order_names_and_repeats_make_no_difference(model):
    rng = np.random.default_rng(3)
    again = OneClassCompletion().fit([TRAIN[place] for place in rng.permutation(len(TRAIN))])
    assert np.array_equal(again.predict(TEST), model.predict(TEST))
    renamed = OneClassCompletion().fit([(f"x{999 - int(row[1:])}", f"y{99 - int(col[1:])}") for row, col in TRAIN])
    assert renamed.radius_ == pytest.approx(model.radius_, rel=1e-3)
    twice = OneClassCompletion(radius=9.0).fit(TRAIN[:300] + TRAIN[:100])
    counted = OneClassCompletion(radius=9.0).fit(TRAIN[:300], [2.0] * 100 + [1.0] * 200)
    assert np.array_equal(twice.predict(TEST), counted.predict(TEST))


def test_the_walk_says_what_was_tried(model):
    path = model.path_
    assert {size.size for size in path.values()} == {path["radius"].size} and path["radius"].size >= 4
    assert np.unique(path["unobserved_weight"]).size == 3
    given = OneClassCompletion(radius=9.0, unobserved_weight=0.3).fit(TRAIN)
    assert given.path_["radius"].size == 0 and (given.radius_, given.unobserved_weight_) == (9.0, 0.3)


def test_chance_is_what_lists_in_random_order_have():
    """The standard error of 400 lists of four rows is below 0.01."""
    rng = np.random.default_rng(0)
    seen, held = np.zeros((4, 9)), np.zeros((4, 9))
    seen[[0, 0, 1, 2], [1, 2, 3, 0]], held[[0, 1, 1, 3], [0, 1, 4, 8]] = 1.0, 1.0
    seen, held = csr_matrix(seen), csr_matrix(held)
    drawn = [held_out(lambda rows: rng.random((rows.size, 9)), seen, held, 5).ndcg for _ in range(400)]
    assert choose.by_chance(seen, held, 5) == pytest.approx(np.mean(drawn), abs=0.04)


def test_a_ball_that_does_not_bind_ranks_as_chance_does():
    """There all unseen cells are zero: their order is rounding, and no reason to choose such a radius."""
    rng = np.random.default_rng(4)
    seen = csr_matrix(rng.random((20, 15)) < 0.3, dtype=float)
    held = csr_matrix((rng.random((20, 15)) < 0.2) & (seen.toarray() == 0), dtype=float)
    rows, cols = seen.nonzero()
    part = choose.Fold(Observations(rows, cols, np.ones(rows.size), None, seen.shape), seen, held)
    walk = choose.Walk(Recipe("log", 0.25), [part], 0.5, 0, ((), lambda radius, score: None), sx.solve)
    within, beyond = walk.visit(5.0), walk.visit(1e4)
    assert beyond.free and beyond.score == pytest.approx(1.0 - choose.by_chance(seen, held, choose.RANKED))
    assert not within.free and within.score != beyond.score
    assert walk.lowest()[1] is within


def test_another_weight_must_be_better_by_more_than_its_error():
    usual = choose.Tried(1.0, 0.1, 0.60, (), 1, (0.5, 0.6, 0.7))
    once = choose.Tried(1.0, 0.4, 0.55, (), 1, (0.3, 0.6, 0.75))
    always = choose.Tried(1.0, 0.4, 0.55, (), 1, (0.45, 0.55, 0.65))
    little = choose.Tried(1.0, 0.4, 0.597, (), 1, (0.497, 0.597, 0.697))
    assert choose.better(always, usual) and not choose.better(once, usual) and not choose.better(little, usual)


def test_recommendations_are_the_best_of_what_is_allowed(model):
    labels = model.column_labels_.values.tolist()
    for row in ("u003", "u050"):
        seen = {column for each, column in TRAIN if each == row}
        left = [label for label in labels if label not in seen]
        order = np.argsort(-model.predict([(row, label) for label in left]), kind="stable")
        found = model.recommend([row], 5)[0]
        assert [label for label, _ in found] == [left[place] for place in order[:5]]
        everything = model.recommend([row], 100, exclude_seen=False)[0]
        assert len(everything) == len(labels)
        assert [label for label, _ in model.recommend([row], 9, candidates=["i01", "i02"], exclude_seen=False)[0]] == [
            label for label, _ in everything if label in ("i01", "i02")
        ]
        assert "i01" not in dict(model.recommend([row], 100, exclude_seen=False, exclude=["i01"])[0])
    counts = {label: sum(column == label for _, column in TRAIN) for label in labels}
    assert all(counts[label] >= 20 for label, _ in model.recommend(["u003"], 100, min_support=20)[0])


def test_strangers_get_what_the_mean_row_would(model):
    found = model.recommend(["nobody"], 3)[0]
    mean = model.row_factors_.mean(axis=0) @ model.column_factors_.T
    assert [label for label, _ in found] == model.column_labels_.values[np.argsort(-mean)[:3]].tolist()
    assert model.predict([("u003", "nothing")]).tolist() == [0.0]
    assert not model.embed(["nobody"]).any() and model.embed(["u003"]).shape == (1, model.s_.size)
    products = model.embed(["u003"]) @ model.embed_columns(["i01"]).T
    assert products[0, 0] == pytest.approx(model.predict([("u003", "i01")])[0])


def test_similar_columns_are_of_the_same_group(model):
    asked = model.column_labels_.values.tolist()[:16]  # by chance a quarter is of the same group
    lists = model.similar(asked, 5)
    same = [int(a[1:]) % 4 == int(b[1:]) % 4 for a, each in zip(asked, lists, strict=True) for b, _ in each]
    assert np.mean(same) >= 0.75
    found = model.similar(["i01"], 5)[0]
    assert all(later <= earlier for (_, earlier), (_, later) in pairwise(found))
    assert "i01" not in dict(found)


def test_frames_and_confidence():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TRAIN[:400], columns=["who", "what"]).assign(plays=np.arange(400) % 7)
    model = OneClassCompletion(radius=9.0).from_frame(frame, "who", "what", "plays")
    zeros = frame[frame.plays > 0]
    same = OneClassCompletion(radius=9.0).fit(zeros[["who", "what"]], zeros.plays)
    assert np.array_equal(model.predict(frame), same.predict(frame[["who", "what"]]))
    linear = clone(same).set_params(confidence="linear").fit(zeros[["who", "what"]], zeros.plays)
    assert not np.allclose(linear.predict(frame), same.predict(frame))
    assert isinstance(OneClassCompletion.from_frame(frame[:60], "who", "what"), OneClassCompletion)


def test_it_is_cloned_pickled_and_searched(model):
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(TEST), model.predict(TEST))
    folds = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(OneClassCompletion(radius=9.0), {"unobserved_weight": [0.05, 0.5]}, cv=folds)
    search.fit(np.array(TRAIN[:400], object))
    assert 0.0 < search.best_score_ < 1.0
    with pytest.raises(NotFittedError):
        OneClassCompletion().recommend(["u003"])


def test_pairs_of_the_fit_have_no_score(model):
    with pytest.warns(UserWarning, match="pairs of the fit alone"):
        assert np.isnan(model.score(TRAIN[:5]))


def test_a_gap_that_is_too_large_is_told():
    with pytest.warns(ConvergenceWarning, match="certified gap"):
        OneClassCompletion(radius=30.0, tolerance=1e-12, max_iter=1).fit(TRAIN)


def test_very_small_tables_are_fitted():
    for pairs in ([("a", "x")], [("a", "x"), ("a", "y")], [("a", "x"), ("b", "x")], [("a", "x"), ("b", "y")]):
        model = OneClassCompletion().fit(pairs)
        assert np.isfinite(model.predict(pairs)).all() and model.certificate_.gap < np.inf


@pytest.mark.parametrize(
    ("settings", "pairs", "values", "words"),
    [
        ({}, [("a", "b")], [-1.0], "values are counts"),
        ({}, [("a", "b")], [0.0], "every value is zero"),
        ({}, [("a", "b")], [1.0, 2.0], "inconsistent numbers of samples"),
        ({}, [("a", "b")], [np.nan], r"values\[0\]"),
        ({}, [("a", None)], None, r"OneClassCompletion: column labels\[0\] is missing"),
        ({}, [("a", "b", "c")], None, "OneClassCompletion is expecting 2 features"),
        ({}, [], None, "OneClassCompletion"),
        ({"radius": "large"}, [("a", "b")], None, "radius must be 'auto' or a positive number"),
        ({"unobserved_weight": 0.0}, [("a", "b")], None, "unobserved_weight"),
        ({"confidence": "high"}, [("a", "b")], None, "confidence must be 'log' or 'linear'"),
        ({"weighting": "heavy"}, [("a", "b")], None, "weighting must be"),
        ({"validation": 1.0}, [("a", "b")], None, "share between 0 and 1"),
    ],
)
def test_bad_input_is_told(settings, pairs, values, words):
    with pytest.raises((TypeError, ValueError), match=words):
        OneClassCompletion(**settings).fit(pairs, values)


def test_bad_questions_are_told(model):
    for call, words in (
        (lambda: model.recommend("u003"), "give a list of row labels"),
        (lambda: model.recommend([3]), "OneClassCompletion: row labels are numbers"),
        (lambda: model.recommend(["u003"], 0), "n must be a whole number"),
        (lambda: model.recommend(["u003"], min_support=-1), "OneClassCompletion: min_support"),
        (lambda: model.similar(["i99"]), "OneClassCompletion: columns"),
        (lambda: model.problem([("nobody", "i01")]), "these are other data"),
        (lambda: OneClassCompletion.from_frame([1, 2], "a", "b"), "needs a data frame"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()


TWO = "feeds more columns of features than two, but the columns are two labels, of the row and of the column"
IMPOSSIBLE = (
    "check_fit_score_takes_y",
    "check_dont_overwrite_parameters",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_estimators_dtypes",
    "check_dtype_object",
    "check_pipeline_consistency",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_dict_unchanged",
    "check_fit2d_predict1d",
)


def expected(estimator):
    return dict.fromkeys(IMPOSSIBLE, TWO)


@parametrize_with_checks([OneClassCompletion()], expected_failed_checks=expected)  # pyproject.toml: xfail_strict
def test_check_estimator(estimator, check):
    check(estimator)


class Cut(OneClassCompletion):
    """Takes the first two of however many columns there are, so that every check can feed it what it likes."""

    def fit(self, X, y=None):
        super().fit(self._cut(X), y)
        self.n_features_in_ = self._width(X)
        return self

    def predict(self, X):
        self._same(X)
        return super().predict(self._cut(X))

    def score(self, X, y=None):
        self._same(X)
        return super().score(self._cut(X), y)

    def _same(self, X):
        wanted = vars(self).get("n_features_in_", self._width(X))
        if self._width(X) not in (0, wanted):
            raise ValueError(f"X has {self._width(X)} features, but Cut is expecting {wanted} features as input")

    def _width(self, X):
        shape = np.shape(np.asarray(X))
        return shape[1] if len(shape) == 2 else 0

    def _cut(self, X):
        return np.asarray(X)[:, :2] if self._width(X) > 2 else X


# scikit-learn 1.6 and 1.7.0 fail here before they call the estimator: they subtract a mean from whole numbers in place.
OWN_FAULT = {"check_positive_only_tag_during_fit": "Cannot cast ufunc 'subtract' output"}


def test_two_columns_are_the_only_reason():
    """All checks that were called impossible pass once the surplus columns are cut off."""
    results = check_estimator(Cut(radius=5.0), on_fail=None, on_skip=None)
    failed = {result["check_name"]: str(result["exception"]) for result in results if result["status"] == "failed"}
    broken = {name for name, said in failed.items() if said.startswith(OWN_FAULT.get(name, "never said"))}
    assert set(failed) == broken
    assert set(IMPOSSIBLE) - broken <= {result["check_name"] for result in results if result["status"] == "passed"}


def test_what_is_refused_is_refused_in_its_own_name(model):
    """By the checks that all estimators share, too; and other estimators are named where they are meant."""
    pandas = pytest.importorskip("pandas")
    from scipy.sparse import csr_matrix

    frame = pandas.DataFrame({"who": ["a", None], "what": ["x", "y"], "size": ["1", "many"]})
    fit, named = OneClassCompletion(radius=1.0).fit, OneClassCompletion(radius=1.0).from_frame
    for call in (
        lambda: fit(csr_matrix(np.eye(2))),
        lambda: fit(np.ma.masked_equal([[1, 2], [3, 4]], 3)),
        lambda: fit([("a", "b"), ("c",)]),
        lambda: fit(np.arange(3)),
        lambda: fit(np.zeros((0, 2))),
        lambda: fit([("a", "b", "c")]),
        lambda: fit(np.array([[1.0, np.nan]])),
        lambda: fit([("a", "b")], ["much"]),
        lambda: fit([("a", "b")], [np.inf]),
        lambda: fit([("a", "b")], np.ma.masked_equal([3.0], 3.0)),
        lambda: named(frame, "who", "what"),
        lambda: named(frame, "nobody", "what"),
        lambda: named(frame, "what", "who", "size"),
        lambda: OneClassCompletion(radius=1.0).fit(frame[["what", "size"]]).predict(frame[["what"]]),
        lambda: model.embed("u003"),
        lambda: model.embed(3),
        lambda: model.recommend(["u003"], candidates="i01"),
        lambda: model.similar(["i01"], min_support="many"),
    ):
        with pytest.raises((TypeError, ValueError), match="OneClassCompletion") as error:
            call()
        assert "MatrixCompletion" not in str(error.value) and "fit_matrix" not in str(error.value)
    with pytest.raises(ValueError, match="for ratings use MatrixCompletion"):
        fit([("a", "b")], [-1.0])
    table = csr_matrix(np.eye(3))
    assert fit(np.transpose(table.nonzero())).shape_ == (3, 3)  # as the message for sparse matrices says


@pytest.mark.parametrize(("lowest", "edge"), [(1.0, False), (1 / 16, False), (64.0, False), (1e-9, True)])
def test_weights_of_unseen_cells_go_on_where_the_last_was_the_best(monkeypatch, lowest, edge):
    """In place of what is ranked stands a parabola in the logarithm of the weight."""

    def visit(walk, radius, starts=()):
        score = 0.5 + 0.001 * np.log2(walk.unobserved / lowest) ** 2
        X = Rectangular(np.ones((1, 1)), np.array([radius]), np.ones((1, 1)))
        walk.points.append(choose.Tried(radius, walk.unobserved, score, (X,), 1, (score,) * 2))
        return walk.points[-1]

    monkeypatch.setattr(choose.Walk, "visit", visit)
    monkeypatch.setattr(choose, "_WORTH", 1e-3)
    rng = np.random.default_rng(0)
    cell = np.sort(rng.permutation(30 * 20)[:150])
    seen = Observations(cell // 20, cell % 20, np.ones(150), None, (30, 20))
    found = choose.choose(Recipe("log", 0.0), seen, 0.2, choose.beside(1.0), 0, (), lambda *told: None)
    weights = np.unique(found.path["unobserved_weight"])
    assert found.edge == edge and weights.size <= 7
    assert edge or found.unobserved == lowest
    assert not edge or found.unobserved == weights[0] == 4.0**-5
