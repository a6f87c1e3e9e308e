"""time=: the latest observations are kept aside, in place of random ones."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from refusals import check, refused
from spectraplex import datasets, report
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.input.times import ranked

PAIRS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c", "y")]


def table(seed=0):
    made = datasets.ratings_like(80, 60, 2000, seed=seed)
    return np.column_stack([made.rows, made.cols]), made.values, np.random.default_rng(seed).permutation(2000)


def test_the_latest_are_kept_aside():
    pairs, values, time = table()
    model = MatrixCompletion().fit(pairs, values, time=time)
    assert model.latest_.sum() == 200
    seen = model.observations_
    when = {(row, col): t for (row, col), t in zip(pairs.tolist(), time.tolist(), strict=True)}
    labels = model.row_labels_.values[seen.rows].tolist(), model.column_labels_.values[seen.cols].tolist()
    of_seen = np.array([when[pair] for pair in zip(*labels, strict=True)])
    assert of_seen[model.latest_].min() > of_seen[~model.latest_].max()
    assert MatrixCompletion().fit(pairs, values).latest_ is None
    for kept in (model.to_arrays()[0]["latest"], MatrixCompletion.from_arrays(*model.to_arrays()).latest_):
        assert np.array_equal(kept, model.latest_)


def test_a_model_that_changes_says_that_times_are_not_kept():
    pairs, values, time = table()
    model = MatrixCompletion(radius=20.0, max_iter=3).fit(pairs, values, time=time)
    with pytest.warns(UserWarning, match="does not keep times"):
        model.update(pairs[:1], values[:1])
    assert model.latest_ is None
    model = MatrixCompletion(radius=20.0, max_iter=3).fit(pairs, values, time=time)
    with pytest.warns(UserWarning, match="does not keep times"):
        model.forget(pairs[:1])


def test_neither_order_nor_unit_of_times_changes_a_fit():
    pairs, values, time = table()
    one = MatrixCompletion(max_iter=3).fit(pairs, values, time=time)
    order = np.random.default_rng(1).permutation(values.size)
    dates = np.datetime64("2020-01-01") + time[order]
    two = MatrixCompletion(max_iter=3).fit(pairs[order], values[order], time=dates)
    assert one.radius_ == two.radius_ and np.array_equal(one.latest_, two.latest_)


def test_a_drift_shows_in_the_held_out_error():
    """Tastes of the last twentieth are turned around: nothing predicts it, and the error on it says so."""
    rng = np.random.default_rng(2)
    rows, cols = np.divmod(rng.permutation(60 * 50), 50)
    time = np.arange(3000)
    taste = np.outer(rng.standard_normal(60), rng.standard_normal(50))
    values = np.where(time < 2850, taste[rows, cols], -taste[rows, cols]) + 0.1 * rng.standard_normal(3000)
    pairs = np.column_stack([rows, cols])
    model = MatrixCompletion(validation=0.05)
    late, random = (model.fit(pairs, values, time=t).path_["score"].min() for t in (time, None))
    assert late > 1.5 * random


def test_frames_reports_and_intervals():
    pairs, values, time = table()
    frame = pd.DataFrame({"who": pairs[:, 0], "what": pairs[:, 1], "stars": values})
    frame["when"] = pd.Timestamp("2021-03-01", tz="Europe/Vienna") + pd.to_timedelta(time, unit="h")
    model = MatrixCompletion().from_frame(frame, "who", "what", "stars", time="when")
    assert np.array_equal(model.latest_, MatrixCompletion().fit(pairs, values, time=time).latest_)
    assert "of the pairs, the latest, was kept aside" in report.render(model)
    assert "of the pairs, chosen at random, was kept aside" in report.render(MatrixCompletion().fit(pairs, values))
    given = (pairs, values)
    assert "were held out, the latest fifth: the fit" in report.render(model, held_out=given, how="the latest fifth")
    model.predict(pairs, interval=0.5)
    assert model.calibration_.scores[0].size <= 200
    more = model.fold_in({1000: {0: 3.0, 1: 4.0}})
    vars(more).pop("calibration_")
    assert all(np.isfinite(end).all() for end in more.predict([(1000, 3)], interval=0.5))
    back = MatrixCompletion.from_arrays(*more.to_arrays())
    assert np.array_equal(back.latest_, model.latest_)


def test_weights_of_zero_and_pairs_that_come_twice():
    """A pair is as late as its latest observation; what has no weight is not there."""
    time = [1, 2, 3, 4, 5]
    weights = [1.0, 1.0, 1.0, 1.0, 0.0]
    model = MatrixCompletion(validation=0.3, radius=1.0).fit(PAIRS, [1.0, 2.0, 3.0, 4.0, 5.0], weights, time=time)
    assert model.latest_.tolist() == [False, False, False, True]
    twice = [*PAIRS, ("a", "x")]
    model = MatrixCompletion(validation=0.2, radius=1.0).fit(twice, [1.0, 2.0, 3.0, 4.0, 5.0, 2.0], time=[*time, 6])
    assert model.latest_.tolist() == [True, True, False, False, False, False]
    once = MatrixCompletion(validation=0.2, radius=1.0)
    once.fit(twice, [1.0, 2.0, 3.0, 4.0, 5.0, 2.0], time=[*time, 6], duplicates="mean")
    assert once.latest_.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(
    "times",
    [
        [3.5, 1, 2],
        ["2020-05-31", "2019-01-01", "2019-01-02"],
        ["10", "2", "3"],
        [datetime.date(2020, 1, 3), datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
        [datetime.datetime(2020, 1, 3, 4), datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)],
        ["2020-01-01T12:00Z", "2020-01-01T12:00+02:00", "2020-01-01T13:00+02:00"],
        pd.Series(pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02"])),
        (t for t in (9, 7, 8)),
    ],
    ids=["numbers", "days", "numbers as text", "dates", "moments", "moments with zones", "a column", "a generator"],
)
def test_what_counts_as_a_time(times):
    assert ranked(times, 3).tolist() == [2, 0, 1]


def fitted(time):
    return lambda: MatrixCompletion(radius=1.0).fit(PAIRS, [1.0, 2.0, 3.0, 4.0, 5.0], time=time)


@refused(
    ("too few", fitted([1, 2]), ValueError, r"time has shape \(2,\), expected \(5,\)"),
    ("a number", fitted(3), TypeError, "must be a list of numbers or dates, got 3"),
    ("not a number", fitted([1, 2, np.nan, 4, 5]), ValueError, r"time\[2\] is missing"),
    ("no date", fitted(["2020-01-01", "31.5.2020", "", "", ""]), ValueError, r"time\[1\] is '31.5.2020'"),
    ("missing", fitted([pd.Timestamp("2020"), pd.NaT, None, None, None]), ValueError, r"time\[1\] is missing"),
    ("no difference", fitted([7, 7, 7, 7, 7]), ValueError, "time is 7 for every observation, so none is the latest"),
    ("complex", fitted([1j, 2, 3, 4, 5]), TypeError, "must be numbers or dates, got dtype complex128"),
    (
        "no such column",
        lambda: MatrixCompletion.from_frame(pd.DataFrame({"r": [1], "c": [1], "v": [1.0]}), "r", "c", "v", time="t"),
        ValueError,
        "no column 't'",
    ),
)
def test_bad_times(call, error, words):
    check(call, error, words)
