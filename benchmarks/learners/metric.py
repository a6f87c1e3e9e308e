"""MetricLearner and KernelLearner: accuracy of nearest neighbours on 5 × 5 folds, beside others; and seconds.

LMNN, ITML and MMC are compared with where the package metric-learn is installed, in an environment of its own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from spectraplex.estimators import KernelLearner, MatrixCompletion, MetricLearner

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


def peers() -> dict[str, Callable[[], Any] | None]:
    found: dict[str, Callable[[], Any] | None] = {
        "Euclidean": None,
        "MetricLearner()": MetricLearner,
        "NCA": lambda: NeighborhoodComponentsAnalysis(random_state=0),
    }
    if find_spec("metric_learn") is not None:
        import metric_learn

        found["LMNN"] = metric_learn.LMNN
        found["ITML"] = lambda: metric_learn.ITML_Supervised(random_state=0)
        found["MMC"] = lambda: metric_learn.MMC_Supervised(random_state=0)
    return found


def accuracy(load: Callable[..., Any], make: Callable[[], Any] | None, repeats: int) -> tuple[float, float, float]:
    """Mean accuracy of three nearest neighbours, its standard error over the folds, and CPU seconds of a fit."""
    X, y = load(return_X_y=True)
    scores, seconds = [], []
    for seed in range(repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            scaler = StandardScaler().fit(X[train])
            left, right = scaler.transform(X[train]), scaler.transform(X[test])
            began = time.process_time()
            if make is not None:
                learner = make().fit(left, y[train])
                left, right = learner.transform(left), learner.transform(right)
            seconds.append(time.process_time() - began)
            scores.append(KNeighborsClassifier(3).fit(left, y[train]).score(right, y[test]))
    return float(np.mean(scores)), float(np.std(scores) / np.sqrt(len(scores))), float(np.mean(seconds))


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
    for data, load in DATA.items():
        for name, make in peers().items():
            mean, error, seconds = accuracy(load, make, repeats)
            yield f"{data:<14} {name:<16} {mean:.4f} ± {error:.4f}   {seconds:.1f} s of CPU a fit"
