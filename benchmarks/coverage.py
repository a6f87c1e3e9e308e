"""How often intervals of tomography hold the truth: W states of three qubits, all settings, 1000 shots, 95 % asked.

``python -m benchmarks coverage 300 100`` simulates 300 experiments with 100 refits each (the default);
``python -m benchmarks coverage 300 100 100`` with 100 shots.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from spectraplex.estimators import StateTomography
from spectraplex.estimators.tomography import state as states
from spectraplex.estimators.tomography.bootstrap import interval
from spectraplex.places.numpy import Array

from .tomography import experiment, w_state

_Z = float(norm.ppf(0.975))


def intervals(value: float, drawn: Array) -> dict[str, tuple[float, float]]:
    """Six kinds of interval from the same refits; the last is that of ``StateTomography``."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    mean, deviation = float(drawn.mean()), float(drawn.std(ddof=1))
    below = float(np.clip((drawn < value).mean(), 0.5 / drawn.size, 1 - 0.5 / drawn.size))
    own = interval(value, drawn, 0.95, (0.0, 1.0))
    shift = 2 * float(norm.ppf(below))
    return {
        "percentile": (low, high),
        "basic": (2 * value - high, 2 * value - low),
        "normal": (value - _Z * deviation, value + _Z * deviation),
        "bias-corrected normal": (2 * value - mean - _Z * deviation, 2 * value - mean + _Z * deviation),
        "bias-corrected percentile": tuple(np.quantile(drawn, norm.cdf([shift - _Z, shift + _Z]))),
        "bias-spanning normal": (own.low, own.high),
    }


def run(experiments: float = 300, refits: float = 100, shots: float = 1000) -> Iterator[str]:
    ket = w_state(3)
    target = ket[:, None]
    for noise in (0.05, 0.3):
        b = noise / 8
        a = 1 - noise + b
        true = {"purity": a * a + 7 * b * b, "fidelity": a}
        inside: dict[tuple[str, str, str], list[bool]] = {}
        for i in range(int(experiments)):
            measured, counts = experiment(3, noise=noise, shots=int(shots), seed=1000 + i)
            model = StateTomography(random_state=i).fit(list(measured.settings), counts.reshape(27, -1))
            for drawing in ("parametric", "resampled"):
                model.bootstrap(int(refits), drawing)
                for name in true:
                    numbers = [_number(name, each, target) for each in [model.state_, *model.replicas_.states]]
                    for kind, (low, high) in intervals(numbers[0], np.array(numbers[1:])).items():
                        inside.setdefault((drawing, name, kind), []).append(low <= true[name] <= high)
        yield f"{noise:.0%} noise, {int(shots)} shots, {int(experiments)} experiments, {int(refits)} refits each"
        for (drawing, name, kind), found in inside.items():
            yield f"  {drawing:11s} {name:9s} {kind:26s} {np.mean(found):6.1%}"


def _number(name: str, state: object, target: Array) -> float:
    return states.purity(state) if name == "purity" else states.fidelity(state, target)  # type: ignore[arg-type]
