"""Tomography where tensors live: the same problems on a device end in the same brackets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import spectraplex as sx
import tomograms as sim
from spectraplex.estimators import StateTomography
from spectraplex.measurements import povms
from spectraplex.measurements import product as product_room
from spectraplex.places.pauli import Factored, Whole

READ = [np.array([[0.9, 0.2], [0.1, 0.8]])] * 3
FORMS = {
    "settings": lambda: sx.Pauli(["XYZ", "ZZX", "YYX", "XYZ"]),
    "real": lambda: sx.Pauli(["XZZ", "ZZX", "XXX"]),
    "readout": lambda: sx.Pauli(["XYZ", "ZZX", "YYX"], readout=READ),
    "outcomes": lambda: sx.Pauli(["XYZ", "ZZX", "YYX", "XYZ"], [0, 3, 5, 7]),
    "strings": lambda: sx.Pauli(["XIZ", "ZZI", "YYX", "IYI"], expectations=True),
}


def both(measurements, loss):
    """Solved here and on Torch's processor."""
    ket = sim.w_state(3)[:, None].astype(measurements.dtype)
    z = 0.9 * measurements.measure(ket, np.ones(1), ket)
    targets = z if loss == "squared" else np.round(1000 * z.clip(0) + 5)
    problem = sx.Problem(sx.Fit(measurements, targets, loss), sx.Spectrahedron(8))
    stop = sx.Stop(gap=1e-3)
    return problem, sx.solve(problem, stop=stop), sx.solve(problem.to("cpu"), stop=stop)


@pytest.mark.parametrize("way", [Whole, Factored])
@pytest.mark.parametrize("form", FORMS)
def test_pauli_measurements_on_a_device(form, way):
    measurements = FORMS[form]()
    measurements._engine = way(measurements._digits, measurements.expectations, measurements.dtype)
    measurements.dense = way is Whole
    problem, here, there = both(measurements, "squared" if form == "strings" else "multinomial")
    assert here.status is there.status is sx.Status.GAP
    assert abs(here.value - there.value) <= 2e-3 and sx.verify(there.certificate, problem, there.X)


@pytest.mark.parametrize("whole", [True, False])
def test_products_on_a_device(whole, monkeypatch):
    monkeypatch.setattr(product_room, "_WHOLE", 600 if whole else 0)
    measurements = sx.Product([povms.sic(), povms.mub(2), {"Z": povms.basis(2)}], [("", "", "Z")])
    problem, here, there = both(measurements, "multinomial")
    assert abs(here.value - there.value) <= 2e-3 and sx.verify(there.certificate, problem, there.X)


def test_the_estimator_on_a_device():
    words = sim.all_settings(2)
    counts = sim.counted(sim.noisy(sim.w_state(2), 0.1), words, 200, np.random.default_rng(0))
    here, there = StateTomography().fit(words, counts), StateTomography(device="cpu").fit(words, counts)
    assert abs(here.value_ - there.value_) <= here.gap_ + there.gap_ + 1e-9 * abs(here.value_)
    assert sx.verify(there.certificate_, there.problem(), there.state_) and isinstance(there.state_.vectors, np.ndarray)
    assert there.bootstrap(3).purity(0.95).low <= 1.0
