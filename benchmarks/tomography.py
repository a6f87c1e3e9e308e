"""State tomography, one thread: seconds to a certified share of f(I/2ⁿ) − f*, beside RρR and accelerated projection.

W states with 5 % noise, 1000 shots a setting. ``python -m benchmarks tomography 5 6`` runs some numbers of qubits: 5 to
8 with all 3ⁿ settings, 10, 12 and 14 with random ones, 16 on a GPU, 4 the bootstrap; each case in its own process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

ALL = {5: 0.2, 6: 0.8, 7: 4.0, 8: 25.0}  # qubits: most seconds
RANDOM = {10: (200, 10.0), 12: (100, 15.0), 14: (50, 300.0)}  # qubits: settings, most seconds
PEERS = {"spectraplex": 14, "RρR": 7, "accelerated projection": 7}  # most qubits
LIMIT = 120.0


def experiment(n: int, count: int = 0, noise: float = 0.05, shots: int = 1000, seed: int = 0) -> tuple[Any, Any]:
    """Measurements of all settings, or of some random ones, and their counts."""
    import spectraplex as sx

    rng = np.random.default_rng(seed)
    words = ["".join(word) for word in product("XYZ", repeat=n)]
    if count:
        words = ["".join(word) for word in np.array(list("XYZ"))[rng.integers(0, 3, (count, n))]]
    measurements = sx.Pauli(words)
    ket = w_state(n)[:, None]
    p = (1 - noise) * measurements.measure(ket, np.ones(1), ket) + noise / 2**n
    p = p.reshape(len(words), -1).clip(0)
    counts = [rng.multinomial(shots, row / row.sum()) for row in p]
    return measurements, np.concatenate(counts).astype(float)


def w_state(n: int) -> Any:
    ket = np.zeros(2**n, complex)
    ket[[1 << k for k in range(n)]] = n**-0.5
    return ket


def case(n: int, method: str, count: int, share: float) -> dict[str, float]:
    """Run in a process of its own; everything compiled is loaded by a small case before the clock starts."""
    from benchmarks.peers import states as peers

    own = {"spectraplex": peers.library, "RρR": peers.r_rho_r, "accelerated projection": peers.accelerated}
    own["on a GPU"] = peers.on_gpu
    run = own.get(method) or (lambda problem, share, limit: peers.of_qiskit(problem, method))
    for small in (2, 3):
        run(peers.Likelihood(*experiment(small, shots=100)), 1e-3, 10.0)
    if n > 10:
        run(peers.Likelihood(*experiment(11, 4, shots=100)), 0.1, 10.0)
    problem, before = peers.Likelihood(*experiment(n, count)), memory()
    seconds, value, gap, state = run(problem, share, LIMIT if count == 0 else 600.0)
    found = {"seconds": seconds, "value": value, "gap": gap, "mixed": problem.mixed}
    found |= {"memory": memory() - before, "before": before}
    return found | {"fidelity": fidelity(state, n)}


def fidelity(state: Any, n: int, noise: float = 0.05) -> float:
    """(tr √(√ρ ρ̂ √ρ))² with the true mixture, whose root is (√a − √b)|W⟩⟨W| + √b."""
    ket, b = w_state(n), noise / 2**n
    a = 1 - noise + b
    if isinstance(state, np.ndarray):
        values, vectors = np.linalg.eigh(state)
        A = vectors[:, values > 1e-14] * np.sqrt(values[values > 1e-14])
    else:
        A = state.vectors * np.sqrt(state.weights)
    turned = np.sqrt(b) * A + (np.sqrt(a) - np.sqrt(b)) * np.outer(ket, ket.conj() @ A)
    return float(np.linalg.svd(turned, compute_uv=False).sum() ** 2)


def memory() -> float:
    """The most memory this process has held, in megabytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bootstrap(count: int = 100) -> float:
    """Seconds of a bootstrap at four qubits."""
    from spectraplex.estimators import StateTomography

    measurements, counts = experiment(4)
    model = StateTomography().fit(list(measurements.settings), counts.reshape(81, -1)).bootstrap(3)
    began = time.perf_counter()
    model.bootstrap(count)
    return time.perf_counter() - began


def alone(call: str) -> Any:
    """What a function of this file answers in a process of its own, with one thread."""
    code = f"import json; from benchmarks.tomography import bootstrap, case; print(json.dumps({call}))"
    one = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | one)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def line(n: int, method: str, count: int, share: float, target: float | None) -> str:
    found = alone(f"case({n}, {method!r}, {count}, {share})")
    gained = found["mixed"] - found["value"]
    met = "" if target is None else f" (at most {target:g}: {'met' if found['seconds'] <= target else 'MISSED'})"
    reached = "" if found["gap"] <= share * gained else ", NOT REACHED"
    return (
        f"n = {n:2d}, {count or 3**n:5d} settings  {method:23s} {found['seconds']:8.2f} s{met}  "
        f"gap {found['gap']:9.3g} nats, {found['gap'] / gained:.1e} of the gain{reached}; "
        f"fidelity {found['fidelity']:.4f}; {found['memory']:.0f} MB over {found['before']:.0f} before"
    )


def run(*numbers: float) -> Iterator[str]:
    asked = [int(number) for number in numbers] or [4, *ALL, *RANDOM]
    for n in asked:
        if n == 4:
            seconds = alone("bootstrap()")
            yield f"n =  4, bootstrap of 100: {seconds:.2f} s (at most 3: {'met' if seconds <= 3 else 'MISSED'})"
        if n in ALL:
            for method, most in PEERS.items():
                if n <= most:
                    yield line(n, method, 0, 1e-3, ALL[n] if method == "spectraplex" else None)
        if n in RANDOM:
            yield line(n, "spectraplex", RANDOM[n][0], 1e-2, RANDOM[n][1])
        if n == 10:
            for method in ("spectraplex", "RρR"):
                yield line(n, method, 300, 1e-2, None)
    if 16 in asked or not numbers:
        yield line(16, "on a GPU", 20, 1e-2, 60.0) if gpu() else "n = 16: there is no GPU here"
    if 5 in asked:
        yield from others()


def gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def others() -> Iterator[str]:
    """The fitters of qiskit-experiments at five qubits, where it is installed."""
    try:
        import qiskit_experiments  # noqa: F401
    except ImportError:
        yield "qiskit-experiments is not installed here, so its fitters did not run"
        return
    for name in ("linear_inversion", "cvxpy_gaussian_lstsq"):
        try:
            yield line(5, name, 0, 1e-3, None)
        except RuntimeError as error:
            yield f"{name}: {error}"
