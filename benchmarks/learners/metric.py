"""MetricLearner and KernelLearner: accuracy of nearest neighbours on 5 × 5 folds, beside others; and seconds.

LMNN, ITML and MMC of the package metric-learn need an older scikit-learn: METRIC_LEARN in the environment names the
interpreter that has both, as in METRIC_LEARN=other/bin/python. METRIC_SEED=N splits from seed N on (0).
"""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from spectraplex.estimators import KernelLearner, MatrixCompletion, MetricLearner

from . import metric_folds
from .metric_folds import Learners


def peers() -> Learners:
    return {
        "Euclidean": None,
        "MetricLearner()": MetricLearner,
        "NCA": lambda: NeighborhoodComponentsAnalysis(random_state=0),
    }


def elsewhere(interpreter: str, first: int, repeats: int) -> Iterator[str]:
    """The lines of another interpreter, as they come."""
    command = [interpreter, str(Path(metric_folds.__file__)), str(first), str(repeats)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            yield line.rstrip()
    if child.returncode:
        yield f"{interpreter} ended with {child.returncode}: are metric-learn and scikit-learn below 1.6 there?"


def triplets(count: int, features: int) -> str:
    """Seconds for so many triplets between 2,000 points, certified to 1e-2."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 2000)
    X = rng.standard_normal((2000, features)) + 0.4 * rng.standard_normal((10, features))[y]
    order = np.argsort(y, kind="stable")
    a = rng.integers(0, 2000, count)
    place = np.empty(2000, int)
    place[order] = np.arange(2000)
    p = order[(place[a] + 1) % 2000]
    n = rng.integers(0, 2000, count)
    fine = (y[a] == y[p]) & (y[a] != y[n])
    given = np.stack([a, p, n], axis=1)[fine]
    began = time.process_time()
    model = MetricLearner(radius=8.0).fit(X, triplets=given)
    spent = time.process_time() - began
    gap = model.certificate_.gap / model.certificate_.value
    return f"{len(given):>9,} triplets, {features} features: {spent:.1f} s of CPU, certified gap {gap:.1e}"


def kernels() -> Iterator[str]:
    """1,401 pairs of 120 digits, and the signs of all other pairs."""
    X, y = load_digits(return_X_y=True)
    rng, n = np.random.default_rng(0), 120
    pairs = rng.permutation(np.stack(np.triu_indices(n, 1), axis=1))
    alike = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    seen, rest = pairs[:1401], pairs[1401:]
    for name, make in (("KernelLearner(radius=32)", lambda: KernelLearner(32.0)), ("KernelLearner()", KernelLearner)):
        began = time.process_time()
        model = make().fit(X[:n], alike[:1401], pairs=seen)
        spent = time.process_time() - began
        right = np.mean((model.kernel_[tuple(rest.T)] > 0.5) == (alike[1401:] > 0))
        yield f"{name:<28} {right:.4f} of signs right, {spent:.2f} s of CPU, radius {model.radius_:g}"
    began = time.process_time()
    both, twice = np.concatenate([seen, seen[:, ::-1]]), np.concatenate([alike[:1401]] * 2)
    table = MatrixCompletion(loss="logistic").fit(both, twice)
    spent = time.process_time() - began
    right = np.mean((table.predict(rest) > 0) == (alike[1401:] > 0))
    yield f"{'logistic completion':<28} {right:.4f} of signs right, {spent:.2f} s of CPU"


def run(repeats: int = 5) -> Iterator[str]:
    warnings.simplefilter("ignore")
    yield from kernels()
    yield triplets(140_000, 64)
    yield triplets(1_400_000, 784)
    first = int(os.environ.get("METRIC_SEED", "0"))
    yield from metric_folds.lines(peers(), range(first, first + repeats))
    if "METRIC_LEARN" in os.environ:
        yield from elsewhere(os.environ["METRIC_LEARN"], first, repeats)
