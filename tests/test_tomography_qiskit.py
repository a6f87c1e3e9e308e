"""Beside the real qiskit-experiments, where it is installed; docs/quickstart-tomography.md says how it is used."""

from __future__ import annotations

import numpy as np
import pytest

import tomograms as sim
from spectraplex.estimators import StateTomography, tomography_fitter


def test_the_fitter_has_the_order_of_qubits_that_the_analysis_expects():
    """Called as qiskit-experiments does: counts (1, settings, outcomes), indices of Z, X, Y with qubit 0 first."""
    rng = np.random.default_rng(0)
    rho = sim.random_state(rng, 2, 1)
    index = np.array([(a, b) for a in range(3) for b in range(3)])
    words = ["ZXY"[b] + "ZXY"[a] for a, b in index]  # the label of qiskit ends with qubit 0
    counts = np.round(sim.chances(rho, words) * 1e6)[None]
    fitted, facts = tomography_fitter(counts, counts.sum(axis=2)[0], index, np.zeros((9, 0)))
    assert np.abs(fitted - rho).max() < 5e-3 and facts["gap"] <= 0.04 and facts["output_dims"] == (2, 2)
    both = np.concatenate([0.25 * counts, 0.75 * counts])
    halves, facts = tomography_fitter(both, both.sum(axis=2)[0], index, np.zeros((9, 0)), likelihood="weighted")
    assert np.isclose(np.trace(halves[0]).real, 0.25) and facts["conditional_circuit_outcome"] == [0, 1]
    with pytest.raises(ValueError, match="process tomography"):
        tomography_fitter(counts, counts.sum(axis=2)[0], index, np.zeros((9, 2)))
    with pytest.raises(ValueError, match="not here yet"):
        tomography_fitter(counts, 0, index, np.zeros((9, 0)), conditional_measurement_indices=(0,))


def test_data_of_an_experiment_as_it_stores_them():
    rng = np.random.default_rng(1)
    rho = sim.random_state(rng, 2, 1)
    data = []
    for a in range(3):
        for b in range(3):
            p = sim.chances(rho, ["ZXY"[b] + "ZXY"[a]])[0]
            counts = {format(o, "02b"): int(1e6 * p[o]) for o in range(4)}
            data.append({"counts": counts, "metadata": {"m_idx": [a, b], "clbits": [0, 1]}})
    model = StateTomography().from_qiskit(data)
    assert model.fidelity(rho) > 0.999 and StateTomography.from_qiskit(data).fidelity(rho) > 0.999
    with pytest.raises(ValueError, match="process tomography"):
        StateTomography().from_qiskit([{**data[0], "metadata": {"m_idx": [0, 0], "p_idx": [1, 0]}}])
    with pytest.raises(ValueError, match="m_idx"):
        StateTomography().from_qiskit([{"counts": {"00": 1}, "metadata": {}}])
    with pytest.raises(ValueError, match="other than Z, X, Y"):
        StateTomography().from_qiskit([{**data[0], "metadata": {"m_idx": [4, 0]}}])


def test_bits_that_the_circuit_itself_wrote_are_summed_over():
    facts = {"m_idx": [0, 1], "clbits": [3, 1], "cond_clbits": None}
    data = [{"counts": {"0 010": 3, "1000": 4, "1101": 5, "0000": 2}, "metadata": facts}]
    found = StateTomography.from_qiskit(data)
    plain = {"00": 2, "10": 3, "01": 9}  # bit 1 is that of qubit 1, the first letter, bit 3 that of qubit 0
    assert found.settings_ == ("XZ",) and found.shots_.tolist() == [14.0]
    np.testing.assert_allclose(
        found.predict_counts(["XZ"], 14), StateTomography().fit(["XZ"], [plain]).predict_counts(["XZ"], 14), atol=1e-6
    )
    with pytest.raises(ValueError, match="hang on the outcome of some of the measured qubits"):
        StateTomography.from_qiskit([{**data[0], "metadata": {**facts, "cond_clbits": [0]}}])


def test_options_of_the_fitter_are_checked():
    index, counts = np.array([[0], [1], [2]]), np.array([[[5, 5], [9, 1], [5, 5]]])
    for name, wrong in (("likelihood", "best"), ("hedging", -1), ("tolerance", 0)):
        with pytest.raises(ValueError, match=name):
            tomography_fitter(counts, counts.sum(axis=2)[0], index, np.zeros((3, 0)), **{name: wrong})


def test_an_outcome_of_the_circuit_that_never_came():
    index, seen = np.array([[0], [1], [2]]), np.array([[50, 50], [90, 10], [50, 50]])
    both = np.array([seen, 0 * seen])
    fits, facts = tomography_fitter(both, both.sum(axis=2)[0], index, np.zeros((3, 0)), hedging="auto")
    assert np.trace(fits[0]).real == pytest.approx(1.0) and not fits[1].any() and facts["gap"][1] == 0.0
    with pytest.raises(ValueError, match="all counts are zero"):
        tomography_fitter(both[1:], both.sum(axis=2)[0], index, np.zeros((3, 0)))


def test_the_real_package():
    """An asymmetric circuit, through the analysis of qiskit-experiments with our fitter, and without it."""
    tomography = pytest.importorskip("qiskit_experiments.library.tomography")
    aer = pytest.importorskip("qiskit_aer")
    qutip = pytest.importorskip("qutip")
    from qiskit import QuantumCircuit
    from qiskit.quantum_info import Statevector, state_fidelity

    circuit = QuantumCircuit(3)
    circuit.ry(0.7, 0)
    circuit.cx(0, 1)
    circuit.rx(0.4, 2)
    circuit.cx(1, 2)
    circuit.s(0)
    circuit.ry(1.1, 1)
    truth, backend = Statevector(circuit), aer.AerSimulator(seed_simulator=1)
    data = tomography.StateTomography(circuit).run(backend, shots=2000, analysis=None).block_for_results()
    analysis = tomography.StateTomographyAnalysis()
    analysis.set_options(fitter=tomography_fitter)
    found = analysis.run(data).block_for_results().analysis_results("state", dataframe=True).iloc[0].value
    model = StateTomography().from_qiskit(data)
    assert state_fidelity(found, truth) > 0.98 and state_fidelity(model.to_qiskit(), truth) > 0.98
    assert np.abs(found.data - model.to_qiskit().data).max() < 0.01
    assert model.to_qutip().dims == [[2, 2, 2], [2, 2, 2]]
    plain = model.fidelity(truth.data)  # states and observables as both packages hold them
    assert np.isclose(model.fidelity(truth), plain) and np.isclose(model.fidelity(qutip.Qobj(truth.data)), plain)
    assert np.isclose(
        model.expectation(qutip.tensor(qutip.sigmay(), qutip.qeye(2), qutip.sigmaz())), model.expectation("YIZ")
    )
    with_bit = QuantumCircuit(2, 1)
    with_bit.h(0)
    with_bit.cx(0, 1)
    with_bit.measure(0, 0)
    mixed = tomography.StateTomography(with_bit, measurement_indices=[1]).run(backend, shots=2000, analysis=None)
    assert StateTomography().from_qiskit(mixed.block_for_results()).purity() < 0.52
    turned = model.to_qiskit(reverse=True)
    assert state_fidelity(turned, Statevector(circuit.reverse_bits())) > 0.98
    channel = tomography.ProcessTomography(QuantumCircuit(1)).run(backend, shots=20, analysis=None)
    with pytest.raises(ValueError, match="process tomography"):
        StateTomography().from_qiskit(channel.block_for_results())
