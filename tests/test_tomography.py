"""StateTomography: known optima, every form of counts, what is refused, and what is said about a state."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import spectraplex as sx
import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.measurements import povms


def holds(model, best, blur):
    """The bracket of a fit has the optimum in it, as far as that is known."""
    assert model.value_ - model.gap_ <= best + blur
    assert best <= model.value_ + blur
    assert sx.verify(model.certificate_, model.problem(), model.state_)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["W", "mixed", "few", "real"])
def test_a_conic_solver_agrees(n, kind):
    pytest.importorskip("cvxpy")
    rng = np.random.default_rng(n)
    words = (
        ["".join(w) for w in np.array(list("XZ"))[rng.integers(0, 2, (4, n))]]
        if kind == "real"
        else sim.all_settings(n)
    )
    rho = sim.noisy(sim.w_state(n), 0.05) if kind != "mixed" else sim.random_state(rng, n, 2**n)
    counts = sim.counted(rho, words, 4**n if kind == "few" else 300, rng)
    model = StateTomography(tolerance=1e-7).fit(words, counts)
    holds(model, sim.conic(words, counts), 1e-6 * abs(model.value_))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_r_rho_r_comes_to_the_same_state(n):
    """It never falls below the bracket, and converges into it."""
    rng, words = np.random.default_rng(n), sim.all_settings(n)[:: 1 if n < 5 else 3]
    counts = sim.counted(sim.noisy(sim.w_state(n), 0.2), words, 200, rng)
    model = StateTomography().fit(words, counts)
    value, rho = sim.r_rho_r(words, counts, 3000 if n < 4 else 1500)
    assert model.value_ - model.gap_ <= value <= model.value_ + 0.2 * 2**n
    assert sx.verify(model.certificate_, model.problem(), model.state_)
    assert np.linalg.norm(model.density_matrix() - rho) < 0.05


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 3), seed=st.integers(0, 10_000), shots=st.sampled_from([1, 3, 50]))
def test_brackets_of_any_counts_are_true(n, seed, shots):
    """One shot a setting, few settings, settings without shots, unbalanced shots: another run ends in the bracket."""
    rng = np.random.default_rng(seed)
    words = list(rng.choice(sim.all_settings(n), int(rng.integers(1, 3**n + 1))))  # some of them twice
    many = rng.integers(0, 2 * shots + 1, len(words))
    many[0] = max(1, many[0])
    counts = sim.counted(sim.random_state(rng, n, int(rng.integers(1, 2**n + 1))), words, many, rng)
    rough = StateTomography(tolerance=1e-2).fit(words, counts)
    fine = StateTomography(tolerance=1e-6, random_state=1).fit(words, counts)
    blur = 1e-9 * (1 + abs(fine.value_))
    assert rough.value_ - rough.gap_ <= fine.value_ + blur and fine.value_ - fine.gap_ <= rough.value_ + blur
    assert sx.verify(rough.certificate_, rough.problem(), rough.state_)
    assert np.isclose(rough.state_.weights.sum(), 1.0) and rough.state_.weights.min() >= 0
    assert len(set(rough.settings_)) == len(rough.settings_) and (rough.shots_ > 0).all()


def test_every_form_of_counts_is_the_same_fit():
    rng, words = np.random.default_rng(0), sim.all_settings(2)
    counts = sim.counted(sim.random_state(rng, 2, 2), words, 100, rng)
    counts[3] = 0  # a setting without shots
    bits = ["00", "01", "10", "11"]
    plain = StateTomography().fit(words, counts)
    dictionaries = [dict(zip(bits, row.tolist(), strict=True)) for row in counts]
    missing = [{bit: n for bit, n in each.items() if n} for each in dictionaries]
    backwards = [{bit[::-1]: n for bit, n in each.items()} for each in missing]
    spaced = [{f"{bit[0]} {bit[1]}": n for bit, n in each.items()} for each in missing]
    hexadecimal = [{hex(int(bit, 2)): n for bit, n in each.items()} for each in missing]
    rows = [(word, bit, n) for word, each in zip(words, missing, strict=True) for bit, n in each.items()]
    table = pd.DataFrame(rows, columns=["setting", "outcome", "count"]).sample(frac=1.0, random_state=0)
    whole = table.assign(outcome=table["outcome"].astype(int))  # as a reader of files may have it
    others = [
        StateTomography().fit(words, dictionaries),
        StateTomography().fit(dict(zip(words, missing, strict=True))),
        StateTomography(bit_order="reversed").fit(words, backwards),
        StateTomography(bit_order="reversed").fit(words, counts[:, [0, 2, 1, 3]]),
        StateTomography().fit(words, spaced),
        StateTomography().fit(words, hexadecimal),
        StateTomography().fit(table),
        StateTomography().fit(pl.DataFrame(table)),
        StateTomography().fit(whole),
        StateTomography().fit([*words, *words], [*(counts // 2), *(counts - counts // 2)]),
        StateTomography().fit([word.lower() for word in words], counts.tolist()),
    ]
    assert len(plain.settings_) == 8 and "no shots" in plain.notices_[0]
    for other in others:
        assert abs(other.value_ - plain.value_) <= plain.gap_ + other.gap_ + 1e-9 * abs(plain.value_)
        assert np.abs(other.density_matrix() - plain.density_matrix()).max() < 0.02
    turned = StateTomography(bit_order="reversed").fit(words, backwards).predict_counts(words)
    assert np.abs(turned[:, [0, 2, 1, 3]] - plain.predict_counts(words)).max() < 0.02


@pytest.mark.parametrize("likelihood", ["multinomial", "least-squares", "weighted"])
def test_many_shots_give_the_true_state(likelihood):
    rng, words = np.random.default_rng(1), sim.all_settings(3)
    rho = sim.random_state(rng, 3, 3)
    counts = sim.chances(rho, words) * 1e9
    model = StateTomography(likelihood, tolerance=1e-9).fit(words, counts)
    assert np.abs(model.density_matrix() - rho).max() < 2e-3
    values, vectors = np.linalg.eigh(rho)
    assert abs(model.purity() - (values**2).sum()) < 2e-3
    assert abs(model.entropy() + (values[values > 1e-9] * np.log2(values[values > 1e-9])).sum()) < 2e-2
    assert np.abs(model.eigenvalues() - values[::-1]).max() < 2e-3
    assert model.fidelity(rho) > 0.999 and abs(model.fidelity(vectors[:, -1]) - values[-1]) < 2e-3
    Z, Y = np.diag([1.0, -1.0]), np.array([[0, -1j], [1j, 0]])
    both = np.kron(np.kron(Z, np.eye(2)), Y)
    assert abs(model.expectation("ZIY") - np.trace(both @ rho).real) < 2e-3
    assert abs(model.expectation({"ZIY": 2.0, "III": 1.0}) - 1.0 - 2 * np.trace(both @ rho).real) < 4e-3
    assert abs(model.expectation(both) - model.expectation("ZIY")) < 1e-10
    turned = rho.reshape(2, 4, 2, 4).transpose(2, 1, 0, 3).reshape(8, 8)
    negative = np.linalg.eigvalsh(turned)
    assert abs(model.negativity([0]) + negative[negative < 0].sum()) < 4e-3
    assert abs(model.negativity([1, 2]) - model.negativity(0)) < 1e-10
    assert np.abs(model.predict_counts(words, 1e9) - counts).max() < 3e6
    assert (
        model.score(words, counts) <= (counts[counts > 0] @ np.log(sim.chances(rho, words)[counts > 0])) / counts.sum()
    )


def test_names_of_states():
    words = ["XXX", "YYZ", "ZZZ", "XYX", "ZXY"]
    ghz = np.zeros(8)
    ghz[[0, 7]] = 0.5**0.5
    for name, ket in (("W", sim.w_state(3)), ("GHZ", ghz)):
        model = StateTomography().fit(words, sim.chances(np.outer(ket, ket), words) * 1e6)
        assert abs(model.fidelity(name) - model.fidelity(ket)) < 1e-12


def test_noisy_readout_is_undone():
    rng, words = np.random.default_rng(2), sim.all_settings(2)
    rho = sim.random_state(rng, 2, 1)
    read = [np.array([[0.95, 0.1], [0.05, 0.9]]), np.array([[0.9, 0.02], [0.1, 0.98]])]
    both = np.kron(*read)
    counts = sim.chances(rho, words) @ both.T * 1e8
    right = StateTomography(readout=read, tolerance=1e-8).fit(words, counts)
    wrong = StateTomography(tolerance=1e-8).fit(words, counts)
    assert right.fidelity(rho) > 0.9999 > 0.99 > wrong.fidelity(rho)
    assert right.local_ == (2, 2) and sx.verify(right.certificate_, right.problem(), right.state_)


def test_povms_of_mixed_dimensions():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((6, 2)) + 1j * rng.standard_normal((6, 2))
    rho = A @ A.conj().T / np.linalg.norm(A) ** 2
    parts = [{"S": povms.sic(), "Z": povms.basis(2)}, povms.mub(3)]
    model = StateTomography(povms=parts, tolerance=1e-8)
    measured = sx.Product([parts[0], {"": parts[1]}], [("S", ""), ("Z", "")])
    values, vectors = np.linalg.eigh(rho)
    p = measured.measure(vectors, values, vectors) * 1e8
    counts = [p[:48], p[48:]]
    model.fit([("S", "M"), ("Z", "M")], counts)
    assert model.fidelity(rho) > 0.9999 and model.local_ == (2, 3)
    assert np.allclose(model.predict_counts([("Z", "M")])[0].sum(), 1.0)


def test_hedging_leaves_nothing_impossible():
    plain = StateTomography().fit(["X", "Y", "Z"], [[10, 0], [5, 5], [5, 5]])
    hedged = StateTomography(hedging=1.0).fit(["X", "Y", "Z"], [[10, 0], [5, 5], [5, 5]])
    assert hedged.eigenvalues()[-1] > 0.02 > plain.eigenvalues()[-1]
    assert hedged.hedging_ == 1.0 and plain.hedging_ == 0.0


def test_hedging_is_chosen_by_what_predicts_held_out_shots():
    """Few shots of a noisy state: the chosen hedging predicts new shots better than none."""
    words, rho = sim.all_settings(2), sim.noisy(sim.w_state(2), 0.3)
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        counts, new = sim.counted(rho, words, 15, rng), sim.counted(rho, words, 1000, rng)
        plain, chosen = (StateTomography(hedging=hedging).fit(words, counts) for hedging in (0.0, "auto"))
        gains.append(chosen.score(words, new) - plain.score(words, new))
        assert chosen.hedging_ == StateTomography(hedging="auto").fit(words, counts).hedging_
    assert np.mean(gains) > 0.0
    many = StateTomography(hedging="auto").fit(words, sim.chances(rho, words) * 1e6)
    assert many.hedging_ <= 0.01 * 1e6


def test_one_shot_in_all():
    model = StateTomography().fit(["ZZ"], [{"01": 1}])
    assert model.predict_counts(["ZZ"])[0, 1] > 0.97 and model.gap_ <= 0.04 + 1e-12


def test_a_setting_without_information_is_said():
    model = StateTomography().fit(["ZZ"], [[5, 5, 5, 5]])
    assert any("at most 3 numbers of the 15" in words for words in model.notices_)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StateTomography().fit("XX", [[1, 0, 0, 0]]), "list"),
        (lambda: StateTomography().fit(["XX"]), "counts are missing"),
        (lambda: StateTomography().fit(["XX"], [{"000": 3}]), "'000' is impossible"),
        (lambda: StateTomography().fit(["XX"], [{"02": 3}]), "'02' is impossible"),
        (lambda: StateTomography().fit(["XX"], [{7: 3}]), "from 0 to 3"),
        (lambda: StateTomography().fit(["XX"], [{"00": -1}]), "not negative"),
        (lambda: StateTomography().fit(["XX"], [{"00": "many"}]), "'many'"),
        (lambda: StateTomography().fit(["XX"], [[1, 2, 3]]), "4 outcomes, but 3"),
        (lambda: StateTomography().fit(["XX"], [[1, 2, -3, 0]]), "not negative"),
        (lambda: StateTomography().fit(["XX", "X"], [[1, 2, 3, 0], [1, 2]]), "1 letters"),
        (lambda: StateTomography().fit(["XX", "YY"], [[1, 2, 3, 0]]), "2 settings but counts for 1"),
        (lambda: StateTomography().fit(["XQ"], [[1, 2, 3, 0]]), "'Q' is no basis"),
        (lambda: StateTomography().fit(["XX"], [[0, 0, 0, 0]]), "all counts are zero"),
        (lambda: StateTomography().fit([("XX", "ZZ")], [[1, 0, 0, 0]]), "process tomography is not here yet"),
        (lambda: StateTomography().fit(pd.DataFrame({"preparation": [1], "setting": ["X"]})), "process tomography"),
        (lambda: StateTomography().fit(pd.DataFrame({"setting": ["X"], "count": [1]})), "no column 'outcome'"),
        (lambda: StateTomography("best").fit(["X"], [[1, 2]]), "likelihood must be one of"),
        (lambda: StateTomography(bit_order="big").fit(["X"], [[1, 2]]), "bit_order"),
        (lambda: StateTomography(tolerance=0).fit(["X"], [[1, 2]]), "tolerance"),
        (lambda: StateTomography(hedging="some").fit(["X"], [[1, 2]]), "hedging"),
        (lambda: StateTomography(hedging=-1).fit(["X"], [[1, 2]]), "hedging"),
        (lambda: StateTomography(readout=[np.eye(2)] * 2).fit(["X"], [[1, 2]]), "2 confusion matrices for 1"),
        (lambda: StateTomography().fit(["X"], [[1, 2]]).purity(0.95), "bootstrap"),
        (lambda: StateTomography().fit(["X"], [[1, 2]]).fidelity("cat"), "not known"),
        (lambda: StateTomography().fit(["X"], [[1, 2]]).fidelity(np.eye(2)), "no state"),
        (lambda: StateTomography().fit(["X"], [[1, 2]]).negativity([0]), "not all"),
        (lambda: StateTomography().fit(["X"], [[1, 2]]).bootstrap(5, "jackknife"), "kind must be"),
        (lambda: StateTomography(povms=[np.array([np.eye(2), 0 * np.eye(2)])]).fit(["."], [[5, 1]]), "impossible"),
    ],
)
def test_what_cannot_be_fitted_gets_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_without_qiskit_and_qutip_a_sentence_says_so():
    model = StateTomography().fit(["X"], [[1, 2]])
    for name, make in (("qiskit", model.to_qiskit), ("qutip", model.to_qutip)):
        try:
            __import__(name)
        except ImportError:
            with pytest.raises(ImportError, match=f"needs {name}"):
                make()


def test_it_is_an_estimator():
    model = StateTomography("weighted", hedging=0.5)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(Exception, match="not fitted"):
        model.purity()


@pytest.mark.slow  # starts processes
def test_bootstrap_is_seeded_and_does_not_hang_on_jobs():
    rng, words = np.random.default_rng(4), sim.all_settings(2)
    counts = sim.counted(sim.noisy(sim.w_state(2), 0.1), words, 200, rng)
    model = StateTomography().fit(words, counts).bootstrap(12)
    first = [model.purity(0.95), model.fidelity("W", 0.95), *model.eigenvalues(0.95)]
    again = StateTomography(n_jobs=2).fit(words, counts).bootstrap(12)
    second = [again.purity(0.95), again.fidelity("W", 0.95), *again.eigenvalues(0.95)]
    for one, two in zip(first, second, strict=True):
        assert abs(one.low - two.low) < 1e-9 and abs(one.high - two.high) < 1e-9
        assert one.low <= one.high and one.level == 0.95
    other = StateTomography(random_state=5).fit(words, counts).bootstrap(12)
    assert other.purity(0.95).low != first[0].low
    wide = model.purity(0.99)
    assert wide.low <= first[0].low and first[0].high <= wide.high
    assert model.bootstrap(12, "resampled").purity(0.95).low != first[0].low
    for number in (model.entropy(0.9), model.negativity([0], 0.9), model.expectation("ZZ", 0.9)):
        assert number.low <= number.high and str(number).endswith("at 90 %)")


def test_goodness_of_fit_sees_what_no_state_explains():
    rng, words = np.random.default_rng(6), sim.all_settings(2)
    counts = sim.counted(sim.random_state(rng, 2, 2), words, 500, rng)
    good = StateTomography().fit(words, counts)
    assert good.goodness_of_fit().p_value > 0.01 and good.bootstrap(30).goodness_of_fit().method == "bootstrap"
    assert good.goodness_of_fit().p_value > 0.01
    drifted = counts.copy()
    drifted[4] = drifted[4][::-1]  # one setting with its bits turned over
    bad = StateTomography().fit(words, drifted)
    assert bad.goodness_of_fit().p_value < 0.01 and bad.bootstrap(30).goodness_of_fit().p_value < 0.05
    each = bad.fit_per_setting()
    assert len(each.settings) == 9 and each.excess.max() > 5 and np.abs(good.fit_per_setting().excess).max() < 5


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_intervals_cover_the_truth(noise):
    """300 simulated experiments of a W state of three qubits, 1000 shots a setting: 90 to 99 % at a level of 95 %."""
    words, ket = sim.all_settings(3), sim.w_state(3)
    rho = sim.noisy(ket, noise)
    true = (float(np.trace(rho @ rho)), float(ket @ rho @ ket))
    inside = np.zeros((300, 2), dtype=bool)
    for i in range(300):
        rng = np.random.default_rng([i, int(100 * noise)])
        model = StateTomography(random_state=i).fit(words, sim.counted(rho, words, 1000, rng)).bootstrap(50)
        for j, found in enumerate((model.purity(0.95), model.fidelity("W", 0.95))):
            inside[i, j] = found.low <= true[j] <= found.high
    assert (inside.mean(axis=0) >= 0.9).all() and (inside.mean(axis=0) <= 0.99).all(), inside.mean(axis=0)


def test_eleven_qubits_by_rotations():
    """Beyond the whole matrices: few settings, factors alone, a certificate that verifies."""
    rng = np.random.default_rng(8)
    words = ["".join(word) for word in np.array(list("XYZ"))[rng.integers(0, 3, (4, 11))]]
    ket = sim.w_state(11)[:, None].astype(complex)
    chances = sx.Pauli(words).measure(ket, np.ones(1), ket).reshape(4, -1)
    counts = np.array([rng.multinomial(300, p / p.sum()) for p in chances.clip(0)])
    model = StateTomography(tolerance=0.05).fit(words, counts)
    assert model.gap_ <= 0.05 * (model.mixed_value_ - model.value_)
    assert sx.verify(model.certificate_, model.problem(), model.state_)
    assert not model.problem().facts.dense and model.purity() <= 1.0 and model.expectation("Z" * 11) <= 1.0
    with pytest.raises(ValueError, match="of dimension 8192"):
        StateTomography(tolerance=0.5).fit(["Z" * 13], [{"0" * 13: 1}]).density_matrix()
