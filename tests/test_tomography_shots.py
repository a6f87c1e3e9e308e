"""Frequencies with shots, signs for outcomes, digits for bases; fractional shots drawn as what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.estimators.tomography.bootstrap import draw
from spectraplex.estimators.tomography.counts import read_counts
from spectraplex.estimators.tomography.fitting import Scheme, Task
from spectraplex.measurements import povms

WORDS = sim.all_settings(2)
COUNTS = sim.counted(sim.noisy(sim.w_state(2), 0.1), WORDS, 100, np.random.default_rng(0))
BITS, IONS = ["00", "01", "10", "11"], ["DD", "DS", "SD", "SS"]


def _counts(settings, counts, shots=None, **scheme):
    return read_counts(settings, counts, Scheme(**scheme).reader, shots).counts


@pytest.mark.parametrize("shots", [100, [100] * 9, dict.fromkeys(WORDS, 100), np.float64(100)])
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_frequencies_and_shots_are_counts(shots, scale):
    assert np.array_equal(_counts(WORDS, scale * COUNTS, shots), COUNTS.reshape(-1))


def test_frequencies_with_few_digits_keep_their_shots():
    thirds = _counts(["Z"], [[0.33, 0.67]], 300)  # 99 and 201, or 100 and 200: two digits do not say
    assert thirds.tolist() == [99.0, 201.0]
    odd = _counts(["Z"], [[0.333, 0.668]], 50)
    assert odd.sum() == pytest.approx(50.0) and odd[0] == pytest.approx(50 * 0.333 / 1.001)
    assert _counts(["Z"], [[12.5, 87.5]], 16).tolist() == [2.0, 14.0]  # per cent
    assert _counts(["Z", "X"], [[0.5, 0.5], [0.0, 0.0]], [10, 0]).tolist() == [5.0, 5.0]


def test_shots_in_frames():
    rows = [(w, b, n / 100, 100) for w, row in zip(WORDS, COUNTS, strict=True) for b, n in zip(BITS, row, strict=True)]
    frame = pd.DataFrame(rows, columns=["setting", "outcome", "frequency", "shots"])
    for given, shots in ((frame, None), (frame.drop(columns="shots"), 100)):
        assert np.array_equal(_counts(given, None, shots), COUNTS.reshape(-1))
    wide = pd.DataFrame(COUNTS, columns=IONS, index=WORDS)
    for given in (wide, wide.rename_axis("basis").reset_index()):
        assert np.array_equal(_counts(given, None), COUNTS.reshape(-1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda fit: fit(WORDS, COUNTS / 100), "frequencies.*shots=100"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots=0.3), "frequencies.*shots=100"),
        (lambda fit: fit(pd.DataFrame({"setting": ["Z"], "outcome": ["0"], "p": [1.0]})), "'p' are frequencies"),
        (
            lambda fit: fit(pd.DataFrame({"setting": ["Z"], "outcome": ["0"], "ratio": [0.5], "shots": [10]})),
            "no column 'count'",
        ),
        (lambda fit: fit(WORDS, COUNTS / 110, shots=100), "'XX': all outcomes sum to 0.909091.*no outcome may be miss"),
        (lambda fit: fit(WORDS, COUNTS, shots=137), "the counts sum to 100, but 137 shots were said"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots=-5), "shots must be numbers that are not negative"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots=np.nan), "shots must be numbers that are not negative"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots="100"), "shots must be numbers"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots=[100] * 3), "one for each of the 9 settings"),
        (lambda fit: fit(WORDS, COUNTS / 100, shots={"XX": 100}), "shots has no number for setting 'XY'"),
        (lambda fit: fit(["ZZ"], [{"DD": 5}]), "made of 'D' alone, which could be 0 or 1"),
        (lambda fit: fit(["ZZ", "XX"], [{"SD": 5}, {"01": 4}]), "the outcome 'SD' is impossible.*outcomes='DS'"),
        (lambda fit: StateTomography(outcomes="DS").fit(["ZZ"], [{"01": 5}]), "2 of the characters DS were expected"),
        (lambda fit: StateTomography(outcomes="DD").fit(["ZZ"], [{"DD": 5}]), "outcomes must be the characters"),
        (lambda fit: StateTomography(outcomes=10).fit(["ZZ"], [{"01": 5}]), "outcomes must be the characters"),
        (lambda fit: StateTomography(bases="XY").fit(["01"], [{"01": 5}]), "bases must say which basis"),
        (lambda fit: fit([(0, 1)], [{"01": 5}]), "'0' is no basis.*bases='XYZ'"),
        (
            lambda fit: StateTomography(readout=[np.array([[0.9, 0.1], [0.3, 0.7]])]).fit(["Z"], [[5, 5]]),
            "readout.0. has rows that sum to one.*transpose",
        ),
    ],
)
def test_what_does_not_say_what_it_is_gets_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        make(StateTomography().fit)
    assert str(raised.value).startswith("StateTomography: ")


@pytest.mark.parametrize(
    "names",
    [
        IONS,
        ["dd", "ds", "sd", "ss"],
        ["DD", "DB", "BD", "BB"],
        ["uu", "ud", "du", "dd"],
        ["↑↑", "↑↓", "↓↑", "↓↓"],
        ["++", "+-", "-+", "--"],
        ["+1+1", "+1-1", "-1+1", "-1-1"],
        [(1, 1), (1, -1), (-1, 1), (-1, -1)],
        [("D", "D"), ("D", "S"), ("S", "D"), ("S", "S")],
        ["|00>", "|01>", "|10>", "|11>"],
        ["|0⟩|0⟩", "|0⟩|1⟩", "|1⟩|0⟩", "|1⟩|1⟩"],
        ["|D,D⟩", "|D,S⟩", "|S,D⟩", "|S,S⟩"],
        ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"],
        ["gg", "ge", "eg", "ee"],
    ],
)
def test_signs_of_outcomes(names):
    held = [dict(zip(names, row.tolist(), strict=True)) for row in COUNTS]
    data = read_counts(WORDS, held, Scheme().reader)
    assert np.array_equal(data.counts, COUNTS.reshape(-1))
    assert ("were read as 0 and 1" in data.told) == (not any(sign in str(names[0]) for sign in "0"))
    swapped = COUNTS.reshape(9, 2, 2).transpose(0, 2, 1).reshape(-1)
    assert np.array_equal(_counts(WORDS, held, backwards=True), swapped)


def test_signs_that_are_said():
    held, turned = [dict(zip(IONS, row.tolist(), strict=True)) for row in COUNTS], COUNTS[:, ::-1].reshape(-1)
    assert np.array_equal(_counts(WORDS, held, signs="SD"), turned)
    bits = [dict(zip(BITS, row.tolist(), strict=True)) for row in COUNTS]
    numbers = [dict(enumerate(row.tolist())) for row in COUNTS]
    for given in (bits, numbers, COUNTS):
        assert np.array_equal(_counts(WORDS, given, signs="10"), turned)
        assert np.array_equal(_counts(WORDS, given, signs="01"), COUNTS.reshape(-1))
    one = StateTomography(outcomes="10", bit_order="reversed").fit(["ZZ"], [[0, 9, 0, 0]])
    assert one.density_matrix()[1, 1].real == pytest.approx(1.0) and one.predict_counts(["ZZ"]).round(2)[0, 1] == 1.0
    levels = [{"ac": 3, "cb": 4}]
    found = _counts(["ZZ"], levels, povms=[{"Z": povms.basis(3)}] * 2, signs="abc")
    assert found.reshape(3, 3)[0, 2] == 3 and found.reshape(3, 3)[2, 1] == 4


def test_what_was_taken_to_be_what_is_a_notice():
    model = StateTomography().fit({"ZZ": {"SS": 40, "DD": 50}})
    assert any("outcomes='SD' turns that" in line for line in model.notices_)
    assert StateTomography(outcomes="DS").fit({"ZZ": {"SS": 40, "DD": 50}}).notices_ == model.notices_[1:]


@pytest.mark.parametrize("word", ["XZY", "x z y", "X,Z,Y", "(X, Z, Y)", "['X', 'Z', 'Y']", "X-Z-Y", "X⊗Z⊗Y", "σxσzσy"])
def test_settings_as_people_write_them(word):
    assert StateTomography().fit([word], [np.arange(8)]).settings_ == ("XZY",)


@pytest.mark.parametrize(("word", "bases"), [("021", "XYZ"), ((1, 0, 2), "ZXY"), ("1 3 2", "IXYZ"), ("XZY", "ZXY")])
def test_digits_of_bases(word, bases):
    model = StateTomography(bases=bases).fit([word], [np.arange(8)])
    assert model.settings_ == ("XZY",) and np.isfinite(model.predict_counts([word])).all()


def test_fractional_shots_scatter_as_so_many_shots():
    """Variance N p(1 − p) and sum N, also where N is small; of whole shots the same draws as ever."""
    chances = np.array([0.3, 0.7, 0.3, 0.7, 0.3, 0.7])
    shots = np.array([1.5, 7.3, 40.0])
    data = read_counts(["Z", "X", "Y"], chances.reshape(3, 2) * shots[:, None], Scheme().reader)
    task = Task(data, Scheme().measurements(data.settings))
    rng = np.random.default_rng(0)
    drawn = np.array([draw(task, chances, rng) for _ in range(4000)])
    np.testing.assert_allclose(drawn.reshape(-1, 3, 2).sum(axis=2), np.tile(shots, (4000, 1)), rtol=1e-12)
    # the standard error of a mean is √(var/4000), that of a variance about var·√(2/4000); five of each
    wanted = 0.21 * shots
    assert (np.abs(drawn[:, ::2].mean(axis=0) - 0.3 * shots) < 5 * np.sqrt(wanted / 4000)).all()
    assert (np.abs(drawn[:, ::2].var(axis=0) / wanted - 1.0) < 5 * np.sqrt(2 / 4000)).all()
    whole = read_counts(["Z", "X"], [[3, 7], [1, 4]], Scheme().reader)
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    both = [other.multinomial(10, chances[:2]), other.multinomial(5, chances[2:4])]
    found = draw(Task(whole, Scheme().measurements(whole.settings)), chances[:4], one)
    assert np.array_equal(found, np.concatenate(both))


def test_fractional_counts_have_error_bars_and_a_fit():
    model = StateTomography(hedging="auto").fit(WORDS, 0.37 * COUNTS).bootstrap(3)
    assert model.replicas_.deviances.min() > -1e-9  # drawn shots sum to the shots that are expected
    assert model.hedging_ >= 0.0 and 0.0 <= model.goodness_of_fit().p_value <= 1.0
    with pytest.raises(ValueError, match="less than one shot"):
        StateTomography().fit(["X", "Z"], [[0.3, 0.3], [3.0, 1.0]]).bootstrap(2)
