"""The test of fit: no false alarm with few shots or few settings, an alarm where no state fits, however large."""

from __future__ import annotations

import numpy as np
import pytest

import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.estimators.tomography import goodness


def test_few_shots_of_many_outcomes_are_no_sign_of_a_wrong_model():
    """Six qubits, 12 settings of 64 outcomes, 100 shots each: a state has more parameters than a fit takes off."""
    rho, found = sim.noisy(sim.w_state(6), 0.05), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        words = ["".join(word) for word in np.array(list("XYZ"))[rng.integers(0, 3, (12, 6))]]
        found.append(StateTomography().fit(words, sim.counted(rho, words, 100, rng)).goodness_of_fit())
    assert all(each.p_value > 0.01 and each.expected > 0.5 * each.statistic for each in found), found


@pytest.mark.slow
def test_what_is_expected_is_what_simulated_experiments_have():
    """Four qubits, 100 shots: thirty statistics have a mean known to 10 of about 1140."""
    rho, words, found = sim.noisy(sim.w_state(4), 0.05), sim.all_settings(4), []
    for seed in range(30):
        counts = sim.counted(rho, words, 100, np.random.default_rng(seed))
        found.append(StateTomography().fit(words, counts).goodness_of_fit())
    assert abs(np.mean([each.expected - each.statistic for each in found])) < 25
    assert 0.35 < np.mean([each.p_value for each in found]) < 0.7


def test_few_draws_of_many_counts_say_how_unlikely_a_deviance_is(monkeypatch):
    """Where counts are many only twenty draws are made; a p-value can be small all the same, and agrees with more."""
    rho, words = sim.noisy(sim.w_state(3), 0.1), sim.all_settings(3)
    counts = sim.counted(rho, words, 200, np.random.default_rng(1))
    wrong = counts.copy()
    wrong[::3] = wrong[::3, ::-1]  # a third of the settings read the other way round
    many = [StateTomography().fit(words, each).goodness_of_fit() for each in (counts, wrong)]
    monkeypatch.setattr(goodness, "_NUMBERS", 1)
    few = [StateTomography().fit(words, each).goodness_of_fit() for each in (counts, wrong)]
    assert abs(few[0].p_value - many[0].p_value) < 0.25
    assert few[1].p_value < 1e-6 and many[1].p_value < 0.01


def test_it_is_worked_out_once_until_there_are_refits():
    model = StateTomography().fit(["XX", "ZZ"], [[9, 1, 2, 8], [1, 9, 8, 2]])
    first = model.goodness_of_fit()
    assert model.goodness_of_fit() is first
    assert model.bootstrap(3).goodness_of_fit() is not first
    assert model.fit(["XX", "ZZ"], [[9, 0, 0, 8], [1, 9, 8, 2]]).goodness_of_fit().statistic != first.statistic


def test_rounding_is_not_printed_as_a_negative_deviance():
    assert str(goodness.Goodness(-1e-13, 1.0, 1.0, "simulated")).startswith("deviance 0, 1 expected")
