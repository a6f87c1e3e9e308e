"""Tomography with files, targets, observables and readouts that a first user has: read, or refused in a sentence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.estimators.tomography.counts import collect
from spectraplex.estimators.tomography.fitting import Scheme
from spectraplex.matrices.factors import Symmetric
from spectraplex.measurements import povms
from spectraplex.tables.tomogram import read_tomogram

WORDS = sim.all_settings(2)
COUNTS = sim.counted(sim.noisy(sim.w_state(2), 0.1), WORDS, 50, np.random.default_rng(0))
BITS = ["00", "01", "10", "11"]
TWO = StateTomography().fit(WORDS, COUNTS)
KET = np.array([0.0, 1.0, 1.0, 0.0])
SHOTS = [(word, bits) for word, row in zip(WORDS, COUNTS, strict=True) for bits in np.repeat(BITS, row)]


def _lines(rows, mark):
    return "\n".join(mark.join(map(str, row)) for row in rows) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.txt", _lines([(w, *row) for w, row in zip(WORDS, COUNTS, strict=True)], " ")),
        ("plain.csv", _lines([(w, *row) for w, row in zip(WORDS, COUNTS, strict=True)], ",")),
        ("named.csv", _lines([("setting", *BITS), *((w, *row) for w, row in zip(WORDS, COUNTS, strict=True))], ",")),
        ("shots.csv", _lines([("setting", "outcome"), *SHOTS], ",")),
        ("lists.json", json.dumps({w: row.tolist() for w, row in zip(WORDS, COUNTS, strict=True)})),
    ],
)
def test_files_as_laboratories_write_them(name, text, tmp_path):
    """One line a setting without the names of outcomes, one line a shot, lists in JSON: the same counts."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    given = read_tomogram(path)
    data = collect(given.settings, given.outcomes, given.counts, Scheme().reader, given.where)
    assert data.words == WORDS and np.array_equal(data.counts, COUNTS.reshape(-1))


def test_zeros_of_a_wide_file_are_left_out_but_not_settings_without_shots(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("setting,0,1,10,11\nZZ,0,0,0,0\nXX,0,0,5,0\nYY,,,,\n", encoding="utf-8")
    given = read_tomogram(path)
    assert given.outcomes == ["0", "1", "10", "11", "0", "10", "0"] and given.where(5).endswith("line 3")
    data = collect(given.settings, given.outcomes, given.counts, Scheme().reader, given.where)
    assert data.words == ["XX"] and data.counts.tolist() == [0, 0, 5, 0] and data.empty == 2


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("short.json", '{"XX": [1, 2, 3]}', "setting 'XX' has 4 outcomes, but a list of 3"),
        ("deep.json", '{"XX": 3}', "a dictionary of settings is needed"),
        ("ragged.txt", "XX 1 2 3 4\nYY 1 2 3\n", "line 2 has 4 fields, the first line 5"),
        ("bad.txt", "XX 1 2 3 4\nYY 1 2 -3 4\n", "line 2: the count '-3'"),
        ("three.txt", "XX 1 2 3\n", "columns named setting, outcome and count are needed"),
        ("freq.csv", "setting,outcome,frequency\nXX,00,0.5\n", "columns named setting, outcome and count are needed"),
        ("one.csv", "setting,outcome\nXX\n", "line 2 has 1 fields; setting and outcome are needed"),
    ],
)
def test_files_that_cannot_be_read_get_a_sentence(name, text, words, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_tomogram(path)


def test_a_frame_of_shots():
    frame = pd.DataFrame(SHOTS, columns=["setting", "outcome"])
    assert abs(StateTomography().fit(frame).value_ - TWO.value_) <= 2 * TWO.gap_ + 1e-9 * TWO.value_
    with pytest.raises(ValueError, match="no column 'count'"):
        StateTomography().fit(frame.assign(frequency=0.5))


def test_targets_of_any_size_and_kind():
    plain = TWO.fidelity(KET)
    for size in (1e-300, 1e-200, 1e200, 1e308):
        assert TWO.fidelity(KET * size) == pytest.approx(plain, abs=1e-14)
    mixed = sim.noisy(sim.w_state(2), 0.3)
    assert TWO.fidelity(csr_array(mixed)) == TWO.fidelity(mixed)


class Quantum:
    """As qutip's objects are: the numbers come from full(), and data are of a class of its own."""

    def __init__(self, array):
        self.array, self.dims, self.data = array, [[2, 2], [1, 1]], object()

    def full(self):
        return self.array


def test_objects_of_qutip_are_targets_and_observables():
    assert TWO.fidelity(Quantum(KET[:, None])) == TWO.fidelity(KET)
    assert TWO.expectation(Quantum(np.diag([1.0, -1.0, -1.0, 1.0]))) == pytest.approx(TWO.expectation("ZZ"), abs=1e-12)


def test_expectations_lie_where_the_observable_has_eigenvalues():
    model = StateTomography().fit(["ZZ", "XX"], [[3, 0, 0, 2], [4, 0, 0, 1]]).bootstrap(4)
    for observable, least, most in (
        (np.diag([3.0, 0.0, 0.0, -2.0]), -2.0, 3.0),
        ({"ZZ": 2.0, "xx": -1.0, "II": 5.0}, 2.0, 8.0),
        ("ZZ", -1.0, 1.0),
        ("II", 1.0, 1.0),
    ):
        found = model.expectation(observable, 0.999999)
        assert least - 1e-12 <= found.low <= found.high <= most + 1e-12, observable
    bell = StateTomography().fit(["ZZ", "XX"], [[50, 0, 0, 50], [50, 0, 0, 50]]).bootstrap(4)
    assert bell.negativity(0, 0.95).high <= 0.5 + 1e-12
    assert model.expectation({"ZZ": 1.0, "zz": 2.0}) == pytest.approx(3 * model.expectation("ZZ"), abs=1e-12)


def test_a_readout_that_says_nothing_is_said_to():
    blind, sharp = np.full((2, 2), 0.5), np.eye(2)
    half = StateTomography(readout=[sharp, blind]).fit(WORDS, COUNTS)
    none = StateTomography(readout=[blind, blind]).fit(WORDS, COUNTS)
    assert any("at most 3 numbers of the 15" in line for line in half.notices_)
    assert any("at most 0 numbers of the 15" in line for line in none.notices_)
    assert StateTomography(readout=[np.array([[0.6, 0.5], [0.4, 0.5]])] * 2).fit(WORDS, COUNTS).notices_ == []


def _read(readout):
    return lambda: StateTomography(readout=readout).fit(WORDS, COUNTS)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_read(np.eye(2)), "readout.0. must be a 2×2 confusion matrix"),
        (_read([None, np.eye(2)]), "readout.0. must be a 2×2 confusion matrix"),
        (_read([np.eye(2), np.eye(3)]), "readout.1. must be a 2×2 confusion matrix"),
        (_read([np.array([[1.1, 0.0], [-0.1, 1.0]])] * 2), "none negative; the least is -0.1"),
        (_read([1j * np.eye(2)] * 2), "must be real"),
        (lambda: StateTomography(povms=[None]).fit(["X"], [[1, 2]]), "povms.0. must be an array"),
        (lambda: StateTomography(povms=[{"X": None}]).fit(["X"], [[1, 2]]), "povms.0. must be an array"),
        (lambda: StateTomography(povms=[{}]).fit(["X"], [[1, 2]]), "its measurements are none"),
        (lambda: StateTomography(np.array(["a", "b"])).fit(["X"], [[1, 2]]), "likelihood must be one of"),
        (lambda: StateTomography(n_jobs=0).fit(["X"], [[1, 2]]).bootstrap(2), "n_jobs must be"),
        (lambda: StateTomography(n_jobs="all").fit(["X"], [[1, 2]]).bootstrap(2), "n_jobs must be"),
        (lambda: TWO.fidelity(Symmetric(np.eye(4), np.ones(4))), "no state: trace 4"),
        (lambda: TWO.fidelity(Symmetric(np.eye(4), np.array([1.0, 1.0, -1.0, 0.0]))), "least weight -1"),
        (lambda: TWO.expectation("ZQ"), "the string 'ZQ' is no observable"),
        (lambda: TWO.expectation("-ZI"), "the string '-ZI' is no observable"),
        (lambda: TWO.expectation({"ZI": 1, "ZIZ": 2}), "the string 'ZIZ' is no observable"),
        (lambda: TWO.expectation({"ZI": 1j}), "coefficient of ZI must be a number"),
        (lambda: TWO.expectation({"ZI": np.nan}), "coefficient of ZI must be a finite number"),
        (lambda: TWO.expectation({("Z", "I"): 1.0}), "is no observable"),
        (
            lambda: StateTomography(povms=[povms.mub(3)]).fit(["."], [np.ones(12)]).expectation("Z"),
            "the string 'Z' is no observable of a state of dimension 3",
        ),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()
