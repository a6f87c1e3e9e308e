"""Counts as users write them: texts that could be bits or numbers, counts by name, settings of another length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import spectraplex as sx
import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.estimators.tomography.bootstrap import interval
from spectraplex.estimators.tomography.counts import collect
from spectraplex.estimators.tomography.fitting import Scheme
from spectraplex.estimators.tomography.information import told
from spectraplex.measurements import povms

TWO = StateTomography().fit(["XX", "YY", "ZZ"], [[50, 1, 1, 48], [2, 50, 48, 2], [50, 0, 0, 50]])
MIXED = [povms.pauli(), {"A": povms.basis(3), "B": povms.mub(3)}]


def places(outcomes, n=4, sizes=None):
    """Where the counts of a column of outcomes come to be."""
    given = sizes and [{"A": np.ones((size, 1, 1)) / size} for size in sizes]
    data = collect(
        ["A" * len(sizes) if sizes else "Z" * n] * len(outcomes), outcomes, [1] * len(outcomes), _scheme(given)
    )
    return np.flatnonzero(data.counts).tolist()


def _scheme(given):
    return Scheme(povms=given).reader


def test_texts_are_numbers_or_bits_as_all_of_them_together_say():
    assert places([str(k) for k in range(16)]) == list(range(16))  # the numbers 10 … 15 are no bits
    assert places(["1", "10", "1000"]) == [1, 2, 8]  # a program has stripped zeros off
    assert places(["0001", "0010"]) == [1, 2] and places(["00 01", "0 0 1 0"]) == [1, 2]
    assert places(["0x3", "0b11"]) == [3]
    assert places(["1 11", "0 3"], sizes=(12, 12)) == [3, 23]  # a number a part, with spaces between
    assert places(["11", "3"], sizes=(12,)) == [3, 11]


@pytest.mark.parametrize("outcomes", [["10", "11"], ["0", "1"], ["0001", "10"], ["1_0"], ["²000"], ["٠٠٠١"], ["-1"]])
def test_texts_that_do_not_say_what_they_are_get_a_sentence(outcomes):
    with pytest.raises(ValueError, match="is impossible; 4 bits were expected"):
        places(outcomes)
    with pytest.raises(ValueError, match="is impossible; 4 bits were expected"):
        StateTomography().fit(["ZZZZ"], [dict.fromkeys(outcomes, 3)])


def test_bits_of_a_frame_that_became_floating_point():
    frame = pd.DataFrame({"setting": ["ZZ"] * 3, "outcome": [0.0, 1.0, 10.0], "count": [1, 2, 3]})
    assert StateTomography().fit(frame).predict_counts(["ZZ"], 6).round(1).tolist() == [[1, 2, 3, 0]]


def test_lists_and_generators_are_settings_and_outcomes():
    frame = pd.DataFrame({"setting": [["Z", "Z"]] * 2, "outcome": [[0, 1], [1, 0]], "count": [2, 3]})
    other = StateTomography().fit((word for word in [["Z", "Z"]]), [{(0, 1): 2, (1, 0): 3}])
    for model in (StateTomography().fit(frame), other):
        assert model.settings_ == ("ZZ",) and model.predict_counts(["ZZ"], 5).round(1).tolist() == [[0, 2, 3, 0]]


def test_counts_by_name():
    counts = {"ZZ": {"00": 3}, "XX": {"00": 1}}
    assert StateTomography().fit(["XX", "ZZ"], counts).shots_.tolist() == [1, 3]
    assert StateTomography().fit(["XX"], {"XX": {"00": 2}}).shots_.tolist() == [2]
    with pytest.raises(ValueError, match="counts for 'ZZ', which is none of the settings"):
        StateTomography().fit(["XX", "YY"], counts)


def test_shots_of_each_setting():
    chances = TWO.predict_counts(["XX", "YZ"])
    np.testing.assert_allclose(TWO.predict_counts(["XX", "YZ"], [10, 20]), chances * [[10], [20]], rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TWO.predict_counts(["X"]), "'X' has 1 letters, the fitted state 2 parts"),
        (lambda: TWO.predict_counts(["XXX"]), "3 letters"),
        (lambda: TWO.predict_counts("XX"), "must be a list"),
        (lambda: TWO.predict_counts(3), "must be a list"),
        (lambda: TWO.predict_counts([]), "no settings"),
        (lambda: TWO.predict_counts(["XX"], -1), "shots must be one number"),
        (lambda: TWO.predict_counts(["XX"], [1, 2]), "shots must be one number"),
        (lambda: TWO.predict_counts(["XX"], "many"), "shots must be numbers"),
        (lambda: TWO.score(["X"], [[1, 2]]), "'X' has 1 letters"),
        (lambda: StateTomography(povms=MIXED).fit(["XC"], [np.ones(6)]), "part 1 for 'C'; its .* are 'A', 'B'"),
        (lambda: StateTomography(povms=5).fit(["X"], [[1, 2]]), "povms must be a list"),
        (lambda: StateTomography(povms=povms.pauli()).fit(["X"], [[1, 2]]), "povms must be a list"),
        (lambda: StateTomography(readout=5).fit(["X"], [[1, 2]]), "readout must be a list"),
        (lambda: StateTomography().fit(5, [[1, 2]]), "settings must be a list"),
        (lambda: StateTomography().fit([], []), "no settings"),
        (lambda: StateTomography().fit(["X"], 5), "counts must be a list"),
        (lambda: StateTomography().fit(["X"], pd.DataFrame([[1, 2]])), "counts must be a list"),
        (lambda: StateTomography().fit(["X"], [np.array([1, 2j])]), "counts must be real"),
        (lambda: StateTomography().fit(["XX"], [{(0.5, 1): 3}]), "impossible"),
        (lambda: StateTomography().fit(["XX"], [{("a", 1): 3}]), "impossible"),
        (lambda: StateTomography().fit(["XX"], [{np.inf: 3}]), "impossible"),
        (lambda: StateTomography().fit(["XX"], [{"00": 10**400}]), "the count is"),
        (lambda: StateTomography().fit(["XX"], [{"00": 1e300}]), "has 1e\\+300 shots"),
        (lambda: StateTomography().fit({("X", "Z"): {"0": 5, "1": 3}}), "2 bits were expected"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        make()
    assert str(raised.value).startswith("StateTomography: ")


@pytest.mark.parametrize("settings", [["ZZZ"], ["XXX", "XXY", "XXZ", "XYX"], ["XXX", "ZZZ"]])
def test_few_settings_of_a_state_are_no_sign_of_a_wrong_model(settings):
    """A state has 63 parameters here, and far fewer of them are told: only those lower the deviance."""
    rho, p = sim.noisy(sim.w_state(3), 0.3), []
    for seed in range(5):
        counts = sim.counted(rho, settings, 200, np.random.default_rng(seed))
        found = StateTomography().fit(settings, counts).goodness_of_fit()
        p.append(found.p_value)
        assert found.expected >= 0.0
    assert np.median(p) > 0.1 and min(p) > 0.01


def test_one_shot_is_no_sign_of_a_wrong_model():
    for settings, counts in ((["Z"], [[1, 0]]), (["Z", "X"], [[100, 0], [52, 48]])):
        assert StateTomography().fit(settings, counts).goodness_of_fit().p_value > 0.1


@pytest.mark.parametrize(
    ("measured", "count"),
    [
        (sx.Pauli(["ZZ", "ZX"]), 5),  # ZI IZ ZZ IX ZX
        (sx.Pauli(sim.all_settings(3)), 63),
        (sx.Pauli(["XX", "XY", "YX", "YY", "ZZ"]), 11),
        (sx.Pauli(["Z" * 11, "Z" * 10 + "X"]), 2**11 - 1 + 2**10),
        (sx.Product([povms.sic(), povms.mub(3)]), 35),
        (sx.Product([povms.basis(2), povms.basis(3)]), 5),
        (sx.Product([povms.pauli()] * 2, ["ZZ", "ZX"]), 5),
    ],
)
def test_how_many_numbers_settings_tell(measured, count):
    width = measured.size // len(measured.settings)
    assert told(measured, np.arange(0, measured.size + 1, width)) == count


def test_notices():
    assert any("at most 11 numbers of the 15" in words for words in _notices(["XX", "XY", "YX", "YY", "ZZ"]))
    assert any("not whole numbers" in words for words in StateTomography().fit(["X"], [[2.25, 0.75]]).notices_)
    words, rng = sim.all_settings(3), np.random.default_rng(0)
    counts = sim.counted(sim.noisy(sim.w_state(3), 0.1), words, 500, rng)
    short = StateTomography(max_iter=1, tolerance=1e-9).fit(words, counts)
    assert short.status_ is not sx.Status.GAP and any("before the gap asked for" in line for line in short.notices_)
    assert StateTomography().fit(words, counts).notices_ == []


def _notices(settings):
    return StateTomography().fit(settings, [[1, 2, 3, 4]] * len(settings)).notices_


def test_numbers_of_a_state_take_what_users_have():
    assert TWO.negativity(np.int64(0)) == TWO.negativity([1]) == TWO.negativity((0, 0)) > 0.4
    assert str(StateTomography().fit(["ZZ"], [[5, 5, 5, 5]]).negativity(0)) == "0.0"
    zz = np.diag([1.0, -1.0, -1.0, 1.0])
    for same in (zz, zz.tolist(), csr_array(zz), {"ZZ": 1}):
        assert TWO.expectation(same) == pytest.approx(TWO.expectation("ZZ"), abs=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TWO.entropy(base=1), "base"),
        (lambda: TWO.entropy(base=0), "base"),
        (lambda: TWO.entropy(base="e"), "base"),
        (lambda: TWO.eigenvalues(count=-1), "count"),
        (lambda: TWO.eigenvalues(count=2.0), "count"),
        *[(lambda p=p: TWO.negativity(p), "partition") for p in (None, "0", [0.5], True, ["a"], [[0]], 1.0, [0, 2])],
        (lambda: TWO.expectation(np.triu(np.ones((4, 4)))), "not Hermitian"),
        (lambda: TWO.expectation(1j * np.eye(4)), "not Hermitian"),
        (lambda: TWO.expectation(np.full((4, 4), np.nan)), "nan"),
        (lambda: TWO.expectation(None), "observable"),
        (lambda: TWO.expectation(["ZZ", "XX"]), "observable"),
        (lambda: TWO.expectation({}), "empty"),
        (lambda: TWO.fidelity(StateTomography().fit(["X"], [[1, 2]]).state_), "dimension 2, the fitted state 4"),
        (lambda: TWO.fidelity(np.triu(np.ones((4, 4))) / 4), "not Hermitian"),
        (lambda: StateTomography().fit(["X", "Z"], [[0.3, 0.1], [1, 1]]).bootstrap(2), "'X' sum to 0.4, less than one"),
    ],
)
def test_what_is_no_question_gets_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        make()
    assert str(raised.value).startswith("StateTomography: ")


@pytest.mark.slow
def test_few_shots_in_a_large_dimension_are_fitted_too():
    """0.01·2¹¹ nats would be more than these thirteen shots have to tell."""
    model = StateTomography().fit(["Z" * 11, "X" * 11], [{"0" * 11: 5, "1" * 11: 5}, {"0" * 11: 3}])
    assert model.gap_ <= 0.13


DATA = {"counts": {"10": 7}, "metadata": {"m_idx": [0, 0]}}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StateTomography(bit_order="reversed").from_qiskit([DATA]), "leave bit_order at 'same'"),
        (lambda: StateTomography.from_qiskit(None), "from_qiskit needs"),
        (lambda: StateTomography.from_qiskit([{"counts": {"0": 7}, "metadata": None}]), "data 0 has no counts with"),
        (
            lambda: StateTomography.from_qiskit([{"counts": {}, "metadata": {"p_idx": np.array([0, 1])}}]),
            "process tomography is not here yet",
        ),
    ],
)
def test_data_of_qiskit_that_cannot_be_fitted_get_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()
    assert StateTomography.from_qiskit([DATA]).settings_ == ("ZZ",)


def test_real_vectors_of_many_qubits_keep_their_digits_where_a_letter_is_y():
    ket = np.random.default_rng(0).standard_normal((2**11, 1))
    ket /= np.linalg.norm(ket)
    measured, one = sx.Pauli(["Y" * 11]), np.ones(1)
    turned = ket.astype(complex)
    exact = measured.measure(turned, one, turned)
    assert np.abs(measured.measure(ket, one, ket) - exact).max() <= 1e-13 * exact.max()


@pytest.mark.parametrize("n", [1, 3, 11])
def test_factors_of_another_dimension_are_refused_before_compiled_loops_read_them(n):
    with pytest.raises(ValueError, match=f"factors of 4 and 4 rows for {n} qubits"):
        sx.Pauli(["X" * n]).measure(np.eye(4), np.ones(4), np.eye(4))


def test_a_setting_in_small_letters_is_the_same_setting():
    model = StateTomography().fit({"zz": {"00": 30, "11": 20}, "ZZ": {"00": 10}, "z Z": {"11": 5}})
    assert model.settings_ == ("ZZ",) and model.shots_.tolist() == [65.0]
    frame = pd.DataFrame({"setting": ["xx", "XX"], "outcome": ["00", "11"], "count": [2, 3]})
    assert StateTomography().fit(frame).settings_ == ("XX",)
    own = StateTomography(povms=[{"a": povms.pauli()["X"], "A": povms.pauli()["Z"]}])  # names of one's own are kept
    assert own.fit([("a",), ("A",)], [[5, 5], [9, 1]]).settings_ == ("a", "A")


def test_an_interval_spans_the_number_and_what_it_is_without_its_bias():
    """A bias of ten deviations: pure states whose refits are all less pure. Three refits are worth t = 4.3·√(4/3)."""
    reach = 4.302653 * (4 / 3) ** 0.5 * 0.01
    found = interval(1.0, np.array([0.90, 0.91, 0.89]), 0.95, (0.0, 2.0))
    assert (found.low, found.high) == pytest.approx((1.0 - reach, 1.1 + reach), abs=1e-6)
    found = interval(0.5, np.array([0.60, 0.61, 0.59]), 0.95, (0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.4 - reach, 0.5 + reach), abs=1e-6)
    assert interval(0.99, np.array([0.90, 0.91, 0.89]), 0.95, (0.0, 1.0)).high == 1.0


def test_a_few_refits_do_not_hide_that_no_state_fits():
    """⟨X⟩ = ⟨Y⟩ = ⟨Z⟩ = 1 at once: no state has that."""
    words = ["X", "Y", "Z"]
    found = StateTomography().fit(words, [[90, 0]] * 3).bootstrap(3).goodness_of_fit()
    assert found.method == "simulated" and found.p_value < 0.01 and "do not fit" in str(found)
    honest = StateTomography().fit(words, [[50, 50]] * 3).bootstrap(99).goodness_of_fit()
    assert honest.method == "bootstrap" and honest.p_value > 0.5
