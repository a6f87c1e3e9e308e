"""How strongly frequencies weigh, where the data are so many that they can tell."""

from __future__ import annotations

import numpy as np
import pytest

from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion import choose

M, N, COUNT = 1000, 500, 60_000


def table(power: float, seed: int = 0):
    """Skewed observations; entries of a row grow with its observations as their number to ``power``."""
    rng = np.random.default_rng(seed)
    likely = np.outer(1 / (np.arange(M) + 10.0), 1 / (np.arange(N) + 10.0))
    key = np.sort(np.argsort((rng.exponential(size=(M, N)) / likely).ravel())[:COUNT])
    rows, cols = key // N, key % N
    U, V = (
        rng.standard_normal((size, 4))
        * (np.maximum(np.bincount(at, minlength=size) * size / COUNT, 0.05) ** power)[:, None]
        for at, size in ((rows, M), (cols, N))
    )
    truth = 0.5 * (U[rows] * V[cols]).sum(1)
    return np.column_stack([rows, cols]), truth + rng.standard_normal(COUNT)


@pytest.fixture
def told_by_few(monkeypatch):
    """As if six thousand observations kept aside were many."""
    monkeypatch.setattr(choose, "_MANY", 6_000)


def test_a_smaller_exponent_where_frequent_rows_have_the_larger_entries(told_by_few):
    pairs, values = table(1.0)
    model = MatrixCompletion(clip=False).fit(pairs, values)
    usual = MatrixCompletion(clip=False, weighting="frequency").fit(pairs, values)
    assert (model.weighting_, usual.weighting_) == (0.15, 0.25)
    assert model.path_["score"].min() < usual.path_["score"].min()  # on what was kept aside
    assert model.certificate_.gap <= model.allowed_gap_
    given = MatrixCompletion(clip=False, weighting=0.15, radius=model.radius_).fit(pairs, values)
    bracket = (max(each.certificate_.lower_bound for each in (model, given)), model.certificate_.value)
    assert bracket[0] <= bracket[1]  # one and the same problem
    assert abs(given.certificate_.value - model.certificate_.value) <= model.certificate_.gap + given.certificate_.gap


def test_another_exponent_takes_one_solve(told_by_few, monkeypatch):
    pairs, values = table(0.0)
    calls, solved = [], choose.solved

    def counted(objective, radius, *rest, **asked):
        calls.append(radius)
        return solved(objective, radius, *rest, **asked)

    monkeypatch.setattr(choose, "solved", counted)
    model = MatrixCompletion().fit(pairs, values)
    assert model.weighting_ == 0.35
    left = [radius for radius in calls if not np.isclose(radius, model.path_["radius"]).any()]
    assert len(left) == 1  # the usual one at that radius was solved no further for it
    assert model.path_["n_iter"].max() <= 2  # radii are compared by rough answers


def test_what_was_chosen_stays_with_the_model(told_by_few, tmp_path):
    pairs, values = table(1.0)
    model = MatrixCompletion().fit(pairs, values)
    model.save(tmp_path / "model")
    again = MatrixCompletion.load(tmp_path / "model")
    assert again.weighting_ == model.weighting_ == 0.15
    some = pairs[:50]
    assert np.array_equal(again.predict(some), model.predict(some))
    radius = again.radius_
    again.partial_fit([(0, N + 3)], [1.0])
    assert (again.weighting_, again.radius_) == (0.15, radius)
    arrays, document = model.to_arrays()
    del document["chosen"]["weighting"]  # a model from before it was chosen
    assert MatrixCompletion.from_arrays(arrays, document).weighting_ == 0.25
    document["chosen"]["weighting"] = -1.0
    with pytest.raises(ValueError, match="weighting"):
        MatrixCompletion.from_arrays(arrays, document)


def test_the_usual_one_where_chance_may_decide_or_nobody_asks(told_by_few):
    rng = np.random.default_rng(0)
    pairs, values = table(0.0)
    noise = rng.standard_normal(values.size)
    assert MatrixCompletion().fit(pairs, noise).weighting_ == 0.25
    assert MatrixCompletion(weighting="plain").fit(pairs, values).weighting_ == 0.0
    assert MatrixCompletion(radius=100.0).fit(pairs, values).weighting_ == 0.25


def test_small_tables_do_not_ask():
    pairs, values = table(1.0)
    auto, usual = (MatrixCompletion(weighting=each).fit(pairs, values) for each in ("auto", "frequency"))
    assert auto.weighting_ == usual.weighting_ == 0.25 and auto.radius_ == usual.radius_
    assert np.array_equal(auto.s_, usual.s_)
