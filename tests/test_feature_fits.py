"""row_features= and column_features= of MatrixCompletion: what they are given as, what they change, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import spectraplex as sx
from refusals import check, refused
from spectraplex import report
from spectraplex.estimators import MatrixCompletion

FAST = {"radius": 20.0, "ridge": 2.0}


def made(seed=0, m=120, n=80, count=3000):
    """A table in which numbers of rows and kinds of columns explain most of the effects; a fifth of each is new."""
    rng = np.random.default_rng(seed)
    numbers, kinds = rng.standard_normal((m, 3)), rng.integers(0, 4, n)
    rows, cols = np.divmod(rng.permutation(m * n)[:count], n)
    effects = numbers @ [0.8, -0.5, 0.0] + 0.2 * rng.standard_normal(m)
    values = 3.0 + effects[rows] + np.array([1.0, -1.0, 0.5, 0.0])[kinds][cols] + 0.5 * rng.standard_normal(count)
    people = pd.DataFrame(numbers, columns=["age", "height", "noise"], index=[f"p{i}" for i in range(m)])
    things = pd.DataFrame({"kind": np.array(list("wxyz"))[kinds]}, index=[f"t{j}" for j in range(n)])
    data = pd.DataFrame({"who": people.index[rows], "what": things.index[cols], "value": values})
    old = (rows < 0.8 * m) & (cols < 0.8 * n)
    return data[old], data[~old], people, things


def fitted(data, **settings):
    known = {name: settings.pop(name) for name in ("row_features", "column_features") if name in settings}
    return MatrixCompletion(**settings).from_frame(data, "who", "what", "value", **known)


def error(model, data):
    return float(np.sqrt(np.mean((model.predict(data[["who", "what"]]) - data.value) ** 2)))


@pytest.mark.parametrize("settings", [{}, {"loss": "huber", "radius": 2.0}], ids=str)
def test_new_rows_and_columns_are_predicted_from_their_features(settings):
    """Knowing nothing of a new label leaves its effect, which features explain: what is left is noise of size 0.54."""
    old, new, people, things = made()
    plain, told = fitted(old, **settings), fitted(old, **settings, row_features=people, column_features=things)
    assert error(told, new) < 0.65
    assert error(plain, new) > 0.8
    assert error(told, new) < 0.7 * float(np.sqrt(np.mean((new.value - old.value.mean()) ** 2)))
    weights = told.feature_weights_
    assert weights["rows"]["age"] == pytest.approx(0.8, abs=0.1)
    assert weights["rows"]["noise"] == pytest.approx(0.0, abs=0.1)
    assert list(weights["columns"]) == ["kind=w", "kind=x", "kind=y", "kind=z"]
    assert weights["columns"]["kind=w"] > weights["columns"]["kind=y"] > weights["columns"]["kind=x"]
    answer = told.predict(new[["who", "what"]], interval=0.9)
    inside = np.mean((answer[1] <= new.value) & (new.value <= answer[2]))
    assert 0.84 < inside < 0.96
    assert "a linear term in what is known" in report.render(told)
    assert "a linear term in what is known" not in report.render(plain)


def test_classes_of_new_rows_are_predicted_from_their_features():
    rng = np.random.default_rng(0)
    age = rng.standard_normal(200)
    rows, cols = np.repeat(np.arange(200), 20), np.tile(np.arange(20), 200)
    likes = (rng.random(4000) < 1.0 / (1.0 + np.exp(-2.0 * age[rows]))).astype(int)
    pairs, new = np.column_stack([rows, cols]), rows >= 150
    known = pd.DataFrame({"age": age})
    told = MatrixCompletion(loss="logistic", radius=1.0).fit(pairs[~new], likes[~new], row_features=known)
    plain = MatrixCompletion(loss="logistic", radius=1.0).fit(pairs[~new], likes[~new])
    assert told.score(pairs[new], likes[new]) > plain.score(pairs[new], likes[new]) + 0.15


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"loss": "huber", "delta": 0.5}, {"implicit": 0.5}], ids=str)
def test_the_certificate_is_of_the_whole_problem_and_can_be_verified(settings):
    old, _, people, things = made()
    model = fitted(old, **FAST, **settings, row_features=people, column_features=things)
    pairs, factors = old[["who", "what"]], (model.U_, model.s_, model.V_)
    assert model.status_ == "GAP" and model.certificate_.gap <= model.allowed_gap_
    assert sx.verify(model.certificate_, model.problem(pairs, old.value), factors)
    fine = fitted(old, **FAST, **settings, tolerance=1e-6, row_features=people, column_features=things)
    assert model.certificate_.lower_bound <= fine.certificate_.value
    other = fitted(old, **FAST, **settings, row_features=people * [1.0, 2.0, 1.0] + people**2, column_features=things)
    assert not sx.verify(model.certificate_, other.problem(pairs, old.value), factors)


def test_features_that_say_nothing_are_left_out_by_their_ridge():
    old, new, *_ = made()
    rng = np.random.default_rng(1)
    nothing = pd.DataFrame(rng.standard_normal((120, 5)), index=[f"p{i}" for i in range(120)])
    told, plain = fitted(old, **FAST, row_features=nothing), fitted(old, **FAST)
    assert max(map(abs, told.feature_weights_["rows"].values())) < 0.1
    assert error(told, new) < 1.02 * error(plain, new)


def test_however_they_are_given_the_fit_is_the_same():
    old, new, people, things = made()
    pairs = new[["who", "what"]]
    model = fitted(old, **FAST, row_features=people, column_features=things)
    labels, kinds = people.index.to_numpy(object), things.kind.to_numpy()
    named = people.reset_index(names="who").sample(frac=1.0, random_state=0)
    ways = [
        (named, things),
        (pl.from_pandas(named), pl.from_pandas(things.reset_index(names="what"))),
        ((labels, people.to_numpy()), (list(things.index), kinds[:, None].astype(object))),
        ((labels, people), (things.index, things.astype("category"))),
        (people.assign(constant=7.0), things),  # what does not differ says nothing
    ]
    for rows, columns in ways:
        other = fitted(old, **FAST, row_features=rows, column_features=columns)
        # sums in another order: what a last digit moves, the single precision of a descent's pairs may carry on
        assert np.allclose(other.predict(pairs), model.predict(pairs), rtol=0, atol=np.finfo(np.float32).eps)
    ones = csr_matrix(pd.get_dummies(things.kind).to_numpy(float))
    sparse = fitted(old, **FAST, column_features=(things.index, ones))
    assert error(sparse, new) == pytest.approx(error(fitted(old, **FAST, column_features=things), new), rel=0.02)


def test_features_of_a_large_table_stay_sparse(monkeypatch):
    old, new, people, things = made()
    model = fitted(old, **FAST, row_features=people, column_features=things)
    monkeypatch.setattr("spectraplex.estimators.input.features._SMALL", 0)
    sparse = fitted(old, **FAST, row_features=people, column_features=things)
    assert isinstance(model.features_.cols, np.ndarray) and not isinstance(sparse.features_.cols, np.ndarray)
    pairs, factors = old[["who", "what"]], (model.U_, model.s_, model.V_)
    assert np.allclose(sparse.predict(new[["who", "what"]]), model.predict(new[["who", "what"]]), rtol=0, atol=1e-9)
    assert sx.verify(model.certificate_, sparse.problem(pairs, old.value), factors)
    back = MatrixCompletion.from_arrays(*sparse.to_arrays())
    assert np.array_equal(back.predict(pairs), sparse.predict(pairs))


def test_missing_numbers_words_and_lines_say_nothing():
    old, _, people, things = made()
    holes = people.copy()
    holes.iloc[5, 0] = np.nan
    kinds = things.copy()
    kinds.iloc[3, 0] = None
    with pytest.warns(UserWarning, match="1 of 96 rows have no line in row_features and count as average"):
        model = fitted(old, **FAST, row_features=holes.drop("p7"), column_features=kinds)
    told = model.features_
    assert told.rows[model.row_labels_.values.tolist().index("p5"), 0] == 0.0
    assert not told.rows[model.row_labels_.values.tolist().index("p7")].any()
    assert not told.cols.sum(axis=1)[model.column_labels_.values.tolist().index("t3")]


def test_they_are_pickled_stored_and_kept_by_partial_fit(tmp_path):
    old, new, people, things = made()
    pairs = new[["who", "what"]]
    model = fitted(old, **FAST, row_features=people, column_features=things)
    arrays, document = model.to_arrays()
    loaded = MatrixCompletion.load(model.save(tmp_path / "m"))
    copies = pickle.loads(pickle.dumps(model)), MatrixCompletion.from_arrays(arrays, document), loaded
    for copy in copies:
        assert np.array_equal(copy.predict(pairs), model.predict(pairs))
        assert copy.feature_weights_ == model.feature_weights_ and copy.feature_ridge_ == model.feature_ridge_
        assert sx.verify(copy.certificate_, copy.problem(old[["who", "what"]], old.value), (copy.U_, copy.s_, copy.V_))
        more = copy.partial_fit([("somebody", "t1"), ("p119", "t1")], [3.0, 4.0])
        assert more.features_.rows.shape[0] == len(more.row_labels_) == 121
        assert abs(more.feature_weights_["rows"]["age"] - model.feature_weights_["rows"]["age"]) < 0.05
    arrays["row_features.data"][0] = np.nan
    with pytest.raises(ValueError, match="row_features does not fit"):
        MatrixCompletion.from_arrays(arrays, document)
    assert model.fit(old[["who", "what"]], old.value).features_ is None


def test_forget_keeps_features_also_of_labels_without_observations():
    old, new, people, things = made()
    pairs = new.loc[new.who != "p3", ["who", "what"]]
    model = fitted(old, **FAST, row_features=people, column_features=things)
    before = model.predict(pairs)
    model.forget(rows=["p3"])
    assert "p3" not in model.row_labels_.values.tolist() and len(model.row_labels_) == 119
    assert np.abs(model.predict(pairs) - before).max() < 0.2  # p3 is one of 96 that the weights come from
    assert model.status_ == "GAP"


def test_forget_takes_a_label_that_is_known_by_features_alone():
    old, _, people, _ = made()
    model = fitted(old, **FAST, row_features=people)
    label = next(each for each in model.row_labels_.values.tolist() if each not in set(old.who))
    model.forget(rows=[label])
    assert label not in model.row_labels_.values.tolist()
    assert model.features_.rows.shape[0] == len(model.row_labels_) == 119


def test_ridges_of_features_may_be_given():
    old, _, people, things = made()
    known = {"row_features": people, "column_features": things}
    model = fitted(old, **FAST, feature_ridge=(3.0, 5.0), **known)
    assert model.feature_ridge_ == (3.0, 5.0)
    held = fitted(old, **FAST, feature_ridge=1e9, **known)
    assert max(map(abs, held.feature_weights_["rows"].values())) < 1e-3


PAIRS, VALUES = [("a", "x"), ("a", "y"), ("b", "x")], [1.0, 2.0, 4.0]


def given(features, side="row_features", **settings):
    return lambda: MatrixCompletion(radius=1.0, **settings).fit(PAIRS, VALUES, **{side: features})


AGES = pd.DataFrame({"age": [1.0, 2.0]}, index=["a", "b"])
MANY = pd.DataFrame({"name": [f"n{k}" for k in range(50)]}, index=[f"p{k}" for k in range(50)])


@refused(
    ("an array", given(np.eye(2)), TypeError, "must be a data frame with row labels as its index, or"),
    ("no index", given(pl.DataFrame({"age": [1.0]})), ValueError, "row_features needs row labels"),
    ("twice", given(pd.concat([AGES, AGES])), ValueError, "has 'a' more than once"),
    ("too few labels", given((["a"], np.eye(2))), ValueError, "has 1 labels and 2 lines"),
    ("numbers for names", given(([1, 2], np.eye(2))), ValueError, "numbers such as 1, but"),
    ("infinite", given(AGES * np.inf), ValueError, "column 'age' of row_features holds infinity"),
    ("dates", given(AGES.assign(day=pd.Timestamp("2020"))), ValueError, "column 'day' of row_features holds dates"),
    ("names", given(MANY), ValueError, "has 50 different words in 50 lines: those are names"),
    ("nothing", given(AGES * 0.0), ValueError, "no column that differs between labels"),
    ("one dimension", given((["a", "b"], [1.0, 2.0])), ValueError, "must have two dimensions"),
    ("complex", given((["a", "b"], np.eye(2) * 1j)), TypeError, "real numbers or categories, got dtype complex128"),
    ("too many", given((["a", "b"], np.random.default_rng(0).random((2, 2001)))), ValueError, "2000 are the most"),
    ("a column's", given(np.eye(2), "column_features"), TypeError, "with column labels as its index"),
    ("no intercepts", given(AGES, intercepts=False), ValueError, "features go with intercepts"),
    ("a word", given(AGES, feature_ridge="large"), ValueError, "feature_ridge must be 'auto', a number"),
    ("nothing held back", given(AGES, feature_ridge=0), ValueError, "feature_ridge"),
)
def test_bad_features(call, error, words):
    check(call, error, words)
