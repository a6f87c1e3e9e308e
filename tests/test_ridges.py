"""Ridges and the scale of the Huber loss that the data choose."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion.constant import best_constant
from spectraplex.estimators.completion.recipe import Recipe
from spectraplex.estimators.completion.ridges import Alone, settled
from spectraplex.estimators.completion.ridges import _scale as scale_of
from spectraplex.estimators.input.observations import Observations
from spectraplex.losses import Huber


def table(users=60, items=50, count=900, rows=0.5, cols=0.5, noise=1.0, seed=0) -> Observations:
    rng = np.random.default_rng(seed)
    cell = np.sort(rng.permutation(users * items)[:count])
    b, c = rows * rng.standard_normal(users), cols * rng.standard_normal(items)
    values = 3.0 + b[cell // items] + c[cell % items] + noise * rng.standard_normal(count)
    return Observations(cell // items, cell % items, values, None, (users, items))


def without_each(recipe: Recipe, seen: Observations, offset: float) -> float:
    """Mean loss of every observation, each predicted by a fit to all the others."""
    total = 0.0
    for e in range(len(seen)):
        rest = seen.part(np.arange(len(seen)) != e)
        found = recipe.objective(rest, offset).inner(np.zeros(len(rest)))
        z = offset + found.rows[seen.rows[e]] + found.cols[seen.cols[e]]
        total += recipe.losses().evaluate(np.array([z]), seen.values[e : e + 1], None)[0]
    return total / len(seen)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_leave_one_out_without_fitting_again(loss):
    seen = table(20, 15, 90)
    if loss == "logistic":
        seen = Observations(seen.rows, seen.cols, np.sign(seen.values - 3.0), None, seen.shape)
    recipe = Recipe(loss, 1.5, (2.0, 3.0), 0.0)
    alone = Alone(recipe, seen)
    naive = recipe.objective(seen, alone.offset).inner(np.zeros(len(seen)))
    z = alone.offset + naive.rows[seen.rows] + naive.cols[seen.cols]
    fitted = recipe.losses().evaluate(z, seen.values, None)[0] / len(seen)
    exact = without_each(recipe, seen, alone.offset)
    assert exact > 1.2 * fitted  # the score of what was fitted says nothing
    assert alone.score((2.0, 3.0)) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(("rows", "cols"), [(1.0, 0.25), (0.25, 1.0), (0.7, 0.7)])
def test_ridges_are_the_ratio_of_the_variances(rows, cols):
    seen = table(200, 150, 6000, rows, cols)
    found = settled(Recipe("squared", 1.0, (4.0, 2.0), 0.25), seen, True, True).ridges
    expected = (1.0 / rows**2, 1.0 / cols**2)
    assert np.abs(np.log2(found) - np.log2(expected)).max() < 1.0  # within a factor of two


def test_ridges_do_not_depend_on_names_order_or_seed():
    seen = table(60, 50, 900, 1.0, 0.2)
    pairs, rng = np.column_stack([seen.rows, seen.cols]), np.random.default_rng(3)
    other = np.column_stack([rng.permutation(60)[seen.rows], rng.permutation(50)[seen.cols]])
    mixed = rng.permutation(len(seen))
    fits = [
        MatrixCompletion(radius=5.0).fit(pairs, seen.values),
        MatrixCompletion(radius=5.0, random_state=7).fit(pairs[mixed], seen.values[mixed]),
        MatrixCompletion(radius=5.0).fit(other, seen.values),
    ]
    assert fits[0].ridge_ != (4.0, 2.0)
    for fit in fits[1:]:
        assert fit.ridge_ == pytest.approx(fits[0].ridge_, rel=1e-2)


def test_ridges_of_a_few_numbers_stay_near_the_usual_ones():
    fit = MatrixCompletion(radius=1.0).fit([[0, 0], [0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0, 5.0])
    assert np.abs(np.log2(fit.ridge_) - [2.0, 1.0]).max() < 4.0


@pytest.mark.parametrize("unit", [1.0, 60.0])
def test_delta_has_the_unit_of_the_values(unit):
    seen = table(100, 80, 3000)
    pairs = np.column_stack([seen.rows, seen.cols])
    fit = MatrixCompletion(radius=5.0 * unit, loss="huber").fit(pairs, unit * seen.values)
    assert fit.delta_ == pytest.approx(1.345 * unit, rel=0.1)  # the noise has standard deviation one
    assert MatrixCompletion(radius=5.0, loss="huber", delta=0.5).fit(pairs, seen.values).delta_ == 0.5


def hours(unit=1.0, spread=2.0, seed=0) -> tuple[np.ndarray, np.ndarray]:
    """exp(rank two + noise): the largest is many times the median."""
    rng = np.random.default_rng(seed)
    cell = rng.permutation(150 * 100)[:5000]
    P, Q = rng.standard_normal((150, 2)), rng.standard_normal((100, 2))
    low = np.sum(P[cell // 100] * Q[cell % 100], axis=1)
    return np.column_stack([cell // 100, cell % 100]), unit * np.exp(spread * low + rng.standard_normal(cell.size))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("spread", [0.5, 2.0, 4.0])
def test_delta_of_heavy_tails_is_that_of_most_values(unit, spread):
    pairs, values = hours(unit, spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a logarithm would help
        fit = MatrixCompletion(loss="huber").fit(pairs, values)
    middle = np.median(np.abs(values - np.median(values)))
    assert middle < fit.delta_ < 6.0 * middle
    assert np.quantile(values, 0.3) < fit.offset_ < np.quantile(values, 0.9)
    assert fit.path_["radius"].size > 0


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_predictions_of_heavy_tails_are_better_than_the_median(spread):
    pairs, values = hours(spread=spread)
    held = np.arange(len(values)) % 5 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MatrixCompletion(loss="huber").fit(pairs[~held], values[~held])
    found, middle = fit.predict(pairs[held]), np.full(held.sum(), np.median(values[~held]))
    errors = [np.mean(np.abs(z - values[held])) for z in (found, middle)]
    losses = [Huber(fit.delta_).evaluate(z, values[held], None)[0] for z in (found, middle)]
    assert errors[0] < errors[1] and losses[0] < losses[1]


def test_delta_where_most_residuals_are_nothing():
    size = np.zeros(1000)
    size[:300] = np.linspace(0.9, 1.1, 300)
    size[0] = 1e12
    assert 0.3 < scale_of(size, 5.0 + size) < 3.0
    assert scale_of(np.zeros(10), np.ones(10)) == 1.0


@pytest.mark.parametrize("start", [0.0, 1e9, -1e9])
def test_the_best_constant_is_found_from_far_away(start):
    values = np.concatenate([np.linspace(1.0, 2.0, 101), [1e9, 3e9]])

    def bends(here):
        off = here - values
        return float(np.clip(off, -0.1, 0.1).sum()), float((np.abs(off) <= 0.1).sum())

    found = best_constant(start, 0.1, bends)
    assert bends(found)[0] == pytest.approx(0.0, abs=1e-8) and found == pytest.approx(1.51, abs=0.02)


def test_what_was_chosen_is_stored_and_serves_what_was_fitted():
    seen = table(30, 20, 300)
    pairs = np.column_stack([seen.rows, seen.cols])
    fit = MatrixCompletion(radius=5.0, loss="huber").fit(pairs, seen.values)
    arrays, document = fit.to_arrays()
    again = MatrixCompletion.from_arrays(arrays, document)
    assert (again.ridge_, again.delta_) == (fit.ridge_, fit.delta_)
    from spectraplex import verify

    assert verify(fit.certificate_, fit.problem(pairs, seen.values), (fit.U_, fit.s_, fit.V_))
    del document["chosen"]  # as models were stored before the data chose
    document["parameters"] |= {"ridge": {"pair": [4.0, 2.0]}, "delta": 1.0}
    old = MatrixCompletion.from_arrays(arrays, document)
    assert (old.ridge_, old.delta_) == ((4.0, 2.0), 1.0)


def test_ridges_all_intercepts_off():
    fit = MatrixCompletion(radius=5.0, intercepts=False).fit([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0])
    assert fit.ridge_ is None
