"""Observations that come twice, change, come later or are forgotten; new rows and new columns."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.input.repeats import WORDS

TABLE = ratings_like(40, 25, 450, seed=4)
PAIRS = [(f"u{row}", f"i{col}") for row, col in zip(TABLE.rows, TABLE.cols, strict=True)]
VALUES = TABLE.values
SETTINGS = dict(radius=25.0, tolerance=1e-6, max_iter=2000)
#: Within a gap g the predictions of two fits with curvature 1 differ by at most 2·sqrt(2g) in all.
CLOSE = 0.05


def fitted(pairs=PAIRS, values=VALUES, **settings):
    return MatrixCompletion(**SETTINGS | settings).fit(pairs, values)


def holds(model):
    seen = model.observations_
    pairs = np.column_stack([model.row_labels_.values[seen.rows], model.column_labels_.values[seen.cols]])
    problem = model.problem(pairs, seen.values, seen.weights)
    return bool(sx.verify(model.certificate_, problem, (model.U_, model.s_, model.V_)))


@pytest.fixture(scope="module")
def model():
    return fitted()


def copy_of(model):
    return MatrixCompletion.from_arrays(*model.to_arrays())


# ------------------------------------------------------------------------------------------------------- duplicates

TWICE = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("b", "y"), ("a", "x")]
NUMBERS = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [("first", [1.0]), ("last", [9.0]), ("mean", [14 / 3]), ("sum", [14.0]), ("all", [1.0, 4.0, 9.0])],
)
def test_a_pair_that_comes_twice_is_settled_with_the_same_words_everywhere(how, wanted):
    pd = pytest.importorskip("pandas")
    model = MatrixCompletion(radius=2.0)
    frame = pd.DataFrame(TWICE, columns=["who", "what"]).assign(value=NUMBERS)
    for fit in (
        lambda: model.fit(TWICE, NUMBERS, duplicates=how),
        lambda: model.from_frame(frame, "who", "what", "value", duplicates=how),
        lambda: MatrixCompletion(radius=2.0).partial_fit(TWICE, NUMBERS, duplicates=how),
        lambda: MatrixCompletion(radius=2.0).fit(TWICE[:3], NUMBERS[:3]).partial_fit(
            TWICE[3:], NUMBERS[3:], duplicates=how
        ),
    ):  # fmt: skip
        seen = fit().observations_
        np.testing.assert_allclose(np.sort(seen.values[(seen.rows == 0) & (seen.cols == 0)]), wanted)
        assert len(seen) == 3 + len(wanted)


def test_weights_go_with_their_values():
    weights = [1.0, 1.0, 1.0, 3.0, 1.0, 4.0]
    mean = MatrixCompletion(radius=2.0).fit(TWICE, NUMBERS, weights, duplicates="mean").observations_
    assert mean.values[0] == pytest.approx((1 + 12 + 36) / 8) and mean.weights[0] == pytest.approx(8 / 3)
    last = MatrixCompletion(radius=2.0).fit(TWICE, NUMBERS, weights, duplicates="last").observations_
    assert (last.values[0], last.weights[0]) == (9.0, 4.0)


def test_a_pair_that_must_not_come_twice_is_named():
    with pytest.raises(
        ValueError, match=r"the pair \('a', 'x'\) at pairs\[3\] was there already, at pairs\[0\] \(2 su"
    ):
        MatrixCompletion(radius=2.0).fit(TWICE, NUMBERS, duplicates="error")
    model = MatrixCompletion(radius=2.0).fit(TWICE, NUMBERS)  # it may have pairs twice itself
    with pytest.raises(ValueError, match=r"the pair \('b', 'y'\) at pairs\[1\] is known already"):
        model.partial_fit([("c", "x"), ("b", "y")], [1.0, 2.0], duplicates="error")
    with pytest.raises(ValueError, match=r"the pair \('c', 'x'\) at pairs\[1\] comes twice"):
        model.partial_fit([("c", "x"), ("c", "x")], [1.0, 2.0], duplicates="error")
    assert len(model.partial_fit([("c", "x")], [1.0], duplicates="error").observations_) == 7


@pytest.mark.parametrize("wrong", ["newest", None, 3, ["last"]])
def test_other_words_are_refused(wrong):
    for fit in (MatrixCompletion(2.0).fit, MatrixCompletion(2.0).partial_fit, fitted().partial_fit):
        with pytest.raises(ValueError, match=f"duplicates must be one of {', '.join(WORDS)}"):
            fit([("a", "x"), ("b", "y")], [1.0, 2.0], duplicates=wrong)


# ---------------------------------------------------------------------------------------------------- update, forget


def test_update_gives_a_pair_another_value(model):
    changed = VALUES.copy()
    changed[:30] = 6.0 - changed[:30]
    here = copy_of(model).update(PAIRS[:30], changed[:30])
    whole = fitted(values=changed)
    assert len(here.observations_) == len(PAIRS)
    np.testing.assert_allclose(here.predict(PAIRS), whole.predict(PAIRS), atol=CLOSE)
    assert here.certificate_.gap <= here.allowed_gap_ and holds(here)
    later = here.update([("new", "i1"), ("u1", "later")], [5.0, 1.0])
    assert {"new"} <= set(later.row_labels_.values) and "later" in later.column_labels_.values
    with pytest.raises(ValueError, match="not fitted"):
        MatrixCompletion().update(PAIRS, VALUES)


@pytest.mark.parametrize("implicit", [0.0, 0.5])
def test_forget_is_the_fit_without(implicit):
    model = fitted(implicit=implicit)
    gone = {k for k, (row, _) in enumerate(PAIRS) if row == "u3"} | set(range(0, 60, 2))
    left = [k for k in range(len(PAIRS)) if k not in gone]
    here = model.forget([PAIRS[k] for k in sorted(gone)])
    whole = fitted([PAIRS[k] for k in left], VALUES[left], implicit=implicit)
    assert len(here.observations_) == len(left) and "u3" not in here.row_labels_.values
    np.testing.assert_allclose(here.predict(PAIRS), whole.predict(PAIRS), atol=CLOSE)
    assert here.certificate_.gap <= here.allowed_gap_ and holds(here)


def test_forget_rows_and_columns(model):
    here = copy_of(model).forget(rows=["u1", "u2"], columns=["i5"])
    assert not {"u1", "u2"} & set(here.row_labels_.values) and "i5" not in here.column_labels_.values
    left = [k for k, (row, col) in enumerate(PAIRS) if row not in ("u1", "u2") and col != "i5"]
    assert len(here.observations_) == len(left)
    np.testing.assert_allclose(
        here.predict(PAIRS), fitted([PAIRS[k] for k in left], VALUES[left]).predict(PAIRS), atol=CLOSE
    )


def test_forget_keeps_names_and_refuses_what_it_does_not_know(model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(PAIRS, columns=["who", "what"])
    named = fitted(frame)
    named.forget(frame[["what", "who"]][:5])
    assert named.feature_names_in_.tolist() == ["who", "what"] and len(named.observations_) == len(PAIRS) - 5
    here = copy_of(model)
    for call, words in (
        (lambda: here.forget(), "needs pairs"),
        (lambda: here.forget([("u1", "nothing")]), r"\('u1', 'nothing'\) at pairs\[0\] was not observed"),
        (lambda: here.forget(rows=["nobody"]), "does not know row 'nobody'"),
        (lambda: here.forget(columns="i1"), r"give a list of column labels, such as \['i1'\]"),
        (lambda: here.forget(rows=[1]), "row labels are numbers such as 1"),
        (lambda: here.forget(rows=list(here.row_labels_.values)), "would leave no observation"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()
    assert len(here.observations_) == len(PAIRS)


# ----------------------------------------------------------------------------------------------- new rows and columns


@pytest.mark.parametrize("settings", [{}, {"loss": "huber"}, {"weighting": "plain"}, {"intercepts": False}])
def test_a_column_folded_in_with_the_observations_of_another_gets_its_factors(settings):
    model = fitted(**settings)
    mine = {row: value for (row, col), value in zip(PAIRS, VALUES, strict=True) if col == "i4"}
    more = model.fold_in_columns({"twin": mine})
    rows = [f"u{k}" for k in range(40)]
    twin, old = (more.predict([(row, col) for row in rows]) for col in ("twin", "i4"))
    np.testing.assert_allclose(twin, old, atol=CLOSE)
    assert "twin" not in model.column_labels_.values and len(model.observations_) == len(PAIRS)
    assert dict(more.similar(["i4"], 25, min_support=0)[0])["twin"] > 0.999
    pairs = [(row, "twin") for row in mine]
    np.testing.assert_array_equal(model.fold_in_columns(pairs, list(mine.values())).predict(pairs), more.predict(pairs))


def test_what_was_folded_in_can_be_saved_folded_further_and_fitted(tmp_path):
    model = fitted(implicit=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        more = model.fold_in_columns({"film": {"u1": 5.0, "u2": 1.0}}).fold_in({"eva": {"film": 5.0, "i1": 2.0}})
    asked = [("eva", "film"), ("eva", "i3"), ("u7", "film")]
    arrays, document = more.to_arrays()
    back = MatrixCompletion.from_arrays(arrays, json.loads(json.dumps(document)))
    np.testing.assert_array_equal(back.predict(asked), more.predict(asked))
    again = MatrixCompletion.load(more.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(asked), more.predict(asked))
    assert again.recommend(["eva"], 3, min_support=0) == more.recommend(["eva"], 3, min_support=0)
    assert more.allowed_gap_ == model.allowed_gap_
    known = [(*pair, value) for pair, value in zip(PAIRS, VALUES, strict=True)]
    known += [("u1", "film", 5.0), ("u2", "film", 1.0), ("eva", "film", 5.0), ("eva", "i1", 2.0), ("u3", "film", 4.0)]
    whole = fitted([each[:2] for each in known], [each[2] for each in known], implicit=0.5)
    np.testing.assert_allclose(
        again.partial_fit([("u3", "film")], [4.0]).predict(asked), whole.predict(asked), atol=CLOSE
    )
    assert "column_profiles_" not in vars(again) and holds(again)
    small = more.forget(rows=["eva"], columns=["film"])
    np.testing.assert_allclose(small.predict(PAIRS), model.predict(PAIRS), atol=CLOSE)


def test_folding_in_columns_says_what_it_cannot_do(model):
    with pytest.warns(UserWarning, match="leaves out 1 observations of rows that the fit did not know: 'nobody'"):
        model.fold_in_columns({"film": {"u1": 5.0, "nobody": 1.0}})
    for call, words in (
        (lambda: model.fold_in_columns({"i1": {"u1": 5.0}}), "column 'i1' is known already"),
        (lambda: model.fold_in_columns({"film": 5.0}), "column 'film' has no mapping"),
        (lambda: model.fold_in_columns({}), "was given no observation"),
        (lambda: model.fold_in_columns([("u1", "film")]), "or pairs and values"),
        (lambda: model.fold_in_columns({7: {"u1": 5.0}}), "column labels are numbers such as 7"),
        (lambda: model.fold_in_columns({"film": {"u1": np.nan}}), "contain NaN"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


def test_labels_of_the_wrong_kind_are_an_error_everywhere(model):
    numbers = MatrixCompletion(radius=5.0).fit([(1, 10), (1, 11), (2, 10)], [1.0, 2.0, 3.0])
    for call in (
        lambda: numbers.predict([("1", 10)]),
        lambda: numbers.partial_fit([("1", 10)], [2.0]),
        lambda: numbers.update([(1, "10")], [2.0]),
        lambda: numbers.fold_in({"3": {10: 1.0}}),
        lambda: numbers.fold_in_columns({12: {"1": 1.0}}),
        lambda: numbers.recommend(["1"]),
        lambda: numbers.similar(["10"]),
        lambda: numbers.embed(["1"]),
        lambda: model.predict([(1, "i3")]),
        lambda: model.recommend(["u1"], candidates=[3]),
        lambda: numbers.predict([("x", 10), (2, 10)]),
        lambda: model.predict([("u1", "i3"), (2, "i3")]),
    ):
        with pytest.raises(ValueError, match="give labels of the same kind"):
            call()


# --------------------------------------------------------------------------------------- a fitted model that refuses


@pytest.mark.parametrize(
    ("settings", "values", "bad"),
    [
        ({"loss": "logistic"}, (VALUES > 3).astype(float), -1.0),
        ({"target_transform": "log1p"}, VALUES, -7.0),
        ({}, VALUES, 1e60),
    ],
)
def test_an_update_that_is_refused_leaves_the_model_as_it_was(settings, values, bad):
    model = MatrixCompletion(radius=5.0, random_state=np.random.RandomState(0), **settings).fit(PAIRS, values)
    before, predicted = dict(vars(model)), model.predict(PAIRS)
    with pytest.raises(ValueError, match="MatrixCompletion: "):
        model.update(PAIRS[:1], [bad])
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    assert (model.predict(PAIRS) == predicted).all()
