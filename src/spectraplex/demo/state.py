"""The demo's fourth part: a W state of six qubits from simulated counts, with error bars and a picture."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from .. import plots
from ..estimators import StateTomography
from ..measurements.pauli import Pauli

SEED, NOISE = 7, 0.05


@dataclass(frozen=True, eq=False)
class Tomography:
    """A fitted model, what was measured, and the state that the counts were drawn from."""

    model: StateTomography
    qubits: int
    shots: int
    truth: float  # fidelity of the true state with W
    seconds: float


def fit(quick: bool = False) -> Tomography:
    """Draw counts of a noisy W state and fit them.

    Parameters
    ----------
    quick : three qubits instead of six, for tests.
    """
    n, shots, refits = (3, 50, 5) if quick else (6, 100, 10)
    words = ["".join(word) for word in product("XYZ", repeat=n)]
    ket = np.zeros((2**n, 1), complex)
    ket[[1 << k for k in range(n)]] = n**-0.5
    chances = (1 - NOISE) * Pauli(words).measure(ket, np.ones(1), ket) + NOISE / 2**n
    rng = np.random.default_rng(SEED)
    rows = chances.reshape(len(words), -1).clip(0.0)
    counts = np.array([rng.multinomial(shots, row / row.sum()) for row in rows])
    began = time.perf_counter()
    model = StateTomography(random_state=SEED).fit(words, counts)
    seconds = time.perf_counter() - began
    return Tomography(model.bootstrap(refits), n, shots, 1 - NOISE + NOISE / 2**n, seconds)


def told(done: Tomography) -> str:
    """What came out, in some lines."""
    model, n = done.model, done.qubits
    fidelity, purity = model.fidelity("W", interval=0.95), model.purity(interval=0.95)
    lines = (
        f"  A W state of {n} qubits with {NOISE:.0%} noise: {3**n} settings, {done.shots} shots each.\n",
        f"  fitted in       {done.seconds:.1f} s, rank {model.state_.weights.size} of {2**n}",
        f"  fidelity        {fidelity} with W; the truth is {done.truth:.4f}",
        f"  purity          {purity}",
        "                  (intervals have the fit's own bias taken off; the fit itself may lie outside)",
        f"  certificate     no state is likelier by more than {model.gap_:.1g} nats ({model.certificate_.kind})",
    )
    return "\n".join(lines)


def draw(done: Tomography, path: Path) -> Path:
    """Real and imaginary part of the state where W lives, and its eigenvalues with intervals."""
    rho, n = done.model.density_matrix(), done.qubits
    few = [0, *(1 << k for k in range(n)), 3]  # the basis states of W, one with fewer and one with more ones
    part, names = rho[np.ix_(few, few)], [format(k, f"0{n}b") for k in few]
    figure = plots.blank(10.0, 3.9)
    panels = figure.subplots(1, 3)
    for panel, values, title in zip(panels, (part.real, part.imag), ("real part", "imaginary part"), strict=False):
        panel.imshow(values, cmap="RdBu_r", vmin=-1 / n, vmax=1 / n)
        panel.set_xticks(range(len(few)), names, rotation=90, fontsize=8)
        panel.set_yticks(range(len(few)), names, fontsize=8)
        panel.set_title(f"{title}, −1/{n} to 1/{n}", fontsize=10)
    found = done.model.eigenvalues(0.95, min(8, 2**n))
    values = np.array([each.value for each in found])
    ends = np.array([[each.low for each in found], [each.high for each in found]])
    panels[2].bar(np.arange(1, values.size + 1), values, color=plots.COLOURS[0], width=0.7)
    panels[2].vlines(
        np.arange(1, values.size + 1), ends[0].clip(1e-5), ends[1].clip(1e-5), color=plots.COLOURS[3], linewidth=2
    )
    panels[2].set_yscale("log")
    panels[2].set_ylim(1e-4, 1.5)
    panels[2].set_title("largest eigenvalues, 95 % intervals", fontsize=10)
    plots.quiet(panels[2])
    figure.suptitle(f"A W state of {n} qubits, fitted to {3**n} settings of {done.shots} shots", fontsize=12)
    return plots.save(figure, path)
