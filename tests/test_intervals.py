"""Intervals around predictions: they hold their level on what was not fitted, and bad requests get a sentence."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from refusals import check, refused
from spectraplex import datasets
from spectraplex.estimators import MatrixCompletion

FAST = {"radius": 30.0, "ridge": (4.0, 2.0)}


def split(seed=0, share=0.25, users=100, items=80, observed=3000):
    table = datasets.ratings_like(users, items, observed, seed=seed)
    pairs = np.column_stack([table.rows, table.cols])
    held = np.random.default_rng(seed).random(table.values.size) < share
    return (pairs[~held], table.values[~held]), (pairs[held], table.values[held])


def covered(answer, values):
    _, low, high = answer
    return float(np.mean((values >= low) & (values <= high)))


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, marks=pytest.mark.slow),
        FAST,
        pytest.param(FAST | {"loss": "huber"}, marks=pytest.mark.slow),
        FAST | {"target_transform": "log1p"},
        FAST | {"implicit": 0.5},
    ],
    ids=str,
)
def test_intervals_hold_their_level_on_what_was_not_fitted(settings):
    """Three tables, 750 held-out values each: a mean of coverages of 0.8 has standard deviation 0.0085, and four times
    that is allowed."""
    found = []
    for seed in range(3):
        fitted, held = split(seed)
        model = MatrixCompletion(**settings).fit(*fitted)
        answer = model.predict(held[0], interval=0.8)
        found.append(covered(answer, held[1]))
        assert np.array_equal(answer[0], model.predict(held[0]))
        assert (answer[1] <= answer[0]).all() and (answer[0] <= answer[2]).all()
    # ends lie on whole stars often, and a value on an end is inside: more than 0.8 may be, less may not
    assert 0.765 <= np.mean(found) <= 0.87, found


def test_a_larger_share_is_a_wider_interval():
    fitted, held = split()
    model = MatrixCompletion(**FAST, clip=False).fit(*fitted)
    widths = [np.mean(high - low) for _, low, high in (model.predict(held[0], interval=p) for p in (0.1, 0.5, 0.9))]
    assert widths[0] < widths[1] < widths[2]


def test_rare_labels_have_wider_intervals_and_strangers_the_widest():
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, 60, 6000), rng.integers(0, 80, 6000)
    kept = (rows >= 30) | (rng.random(6000) < 0.05)  # the first thirty rows have a few observations each
    rows, cols = rows[kept], cols[kept]
    effects = 3.0 * rng.standard_normal(60)
    values = effects[rows] + rng.standard_normal(rows.size)
    model = MatrixCompletion(radius=1.0, clip=False).fit(np.column_stack([rows, cols]), values)
    _, low, high = model.predict([(0, 0), (59, 0), (1000, 0), (1000, 1000)], interval=0.9)
    width = high - low
    assert width[1] < width[0] < width[2]
    # an unknown row is predicted without its effect, whose standard deviation is three: 2·1.645·√10 = 10.4
    assert 7.0 < width[2] < 15.0
    assert 7.0 < width[3] < 15.0


def test_intervals_of_new_rows_hold_their_level():
    """Rows that were never fitted, 40 values each: what varies is their 100 effects, whose ranks are known to 0.03."""
    rng = np.random.default_rng(5)
    rows, cols = np.repeat(np.arange(300), 40), rng.integers(0, 50, 12000)
    values = rng.standard_normal(300)[rows] + rng.standard_normal(50)[cols] + rng.standard_normal(12000)
    pairs, new = np.column_stack([rows, cols]), rows >= 200
    model = MatrixCompletion(radius=1.0).fit(pairs[~new], values[~new])
    assert 0.8 <= covered(model.predict(pairs[new], interval=0.9), values[new]) <= 0.97


def test_what_was_worked_out_once_is_kept_pickled_and_stored(tmp_path):
    fitted, held = split()
    model = MatrixCompletion(**FAST).fit(*fitted)
    first = model.predict(held[0], interval=0.9)
    known = model.calibration_
    copies = [pickle.loads(pickle.dumps(model)), MatrixCompletion.from_arrays(*model.to_arrays())]
    copies.append(MatrixCompletion.load(model.save(tmp_path / "m")))
    for each in (model, *copies):
        again = each.predict(held[0], interval=0.9)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert model.calibration_ is known
    assert all("calibration_" in vars(each) for each in copies)
    model.fit(*fitted)
    assert "calibration_" not in vars(model)
    again = model.predict(held[0], interval=0.9)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_damaged_calibration_is_refused():
    fitted, held = split()
    model = MatrixCompletion(**FAST).fit(*fitted)
    model.predict(held[0], interval=0.9)
    arrays, document = model.to_arrays()
    arrays["calibration.scores"] = arrays["calibration.scores"][1:]
    with pytest.raises(ValueError, match="calibration of intervals does not fit"):
        MatrixCompletion.from_arrays(arrays, document)


def test_weights_count():
    """Values of weight zero are not there, and two of weight one are one of weight two."""
    fitted, held = split()
    pairs, values = fitted
    twice = np.concatenate([pairs, pairs[:500]]), np.concatenate([values, values[:500]])
    weights = np.where(np.arange(len(values)) < 500, 2.0, 1.0)
    models = MatrixCompletion(**FAST).fit(*twice), MatrixCompletion(**FAST).fit(pairs, values, weights)
    one, two = (model.predict(held[0], interval=0.9) for model in models)
    assert all(np.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(one, two, strict=True))


def test_few_observations_have_ends_at_the_ends_of_the_range():
    pairs, values = [("a", "x"), ("a", "y"), ("b", "x")], [1.0, 2.0, 4.0]
    model = MatrixCompletion(radius=1.0).fit(pairs, values)
    _, low, high = model.predict(pairs, interval=0.5)
    assert (low == 1.0).all() and (high == 4.0).all()
    model = MatrixCompletion(radius=1.0, clip=False).fit(pairs, values)
    _, low, high = model.predict(pairs, interval=0.9)
    assert (low == -np.inf).all() and (high == np.inf).all()


def asked(**settings):
    def given(interval):
        def call():
            model = MatrixCompletion(radius=1.0, **settings).fit([("a", "x"), ("a", "y"), ("b", "x")], [1.0, 0.0, 1.0])
            return model.predict([("a", "x")], interval=interval)

        return call

    return given


@refused(
    ("a percentage", asked()(90), ValueError, "between 0 and 1 such as 0.9, got 90"),
    ("one", asked()(1.0), ValueError, "between 0 and 1"),
    ("none of it", asked()(0), ValueError, "between 0 and 1"),
    ("a word", asked()("wide"), ValueError, "got 'wide'"),
    ("yes", asked()(True), ValueError, "got True"),
    ("not a number", asked()(np.nan), ValueError, "got nan"),
    ("classes", asked(loss="logistic")(0.9), ValueError, "predict_proba says how likely each is"),
)
def test_bad_requests(call, error, words):
    check(call, error, words)


def test_too_few_observations_for_a_level_are_refused():
    """The range of 8 values holds 7/9 of others like them, so no more is promised; without clip there are no ends."""
    pairs, values = [(k % 4, k // 4) for k in range(8)], np.arange(8.0)
    model = MatrixCompletion(radius=0.5).fit(pairs, values)
    with pytest.raises(ValueError, match=r"8 observations are too few .* 19 are needed, and with 8 at most 0.78"):
        model.predict(pairs, interval=0.9)
    assert model.predict(pairs, interval=0.7)[1].shape == (8,)
    _, low, high = MatrixCompletion(radius=0.5, clip=False).fit(pairs, values).predict(pairs, interval=0.9)
    assert np.isinf(low).all() and np.isinf(high).all()
