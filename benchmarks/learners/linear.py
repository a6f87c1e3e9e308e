"""Many classes and many tasks: accuracy beside scikit-learn's own choice of regularisation, and large sparse fits."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from spectraplex.estimators import NuclearNormClassifier, NuclearNormRegressor
from spectraplex.places.numpy import Array

SAMPLES, FEATURES, OUTPUTS, DENSITY, RANK = 50_000, 2_000, 100, 0.01, 10
WANTED = 30.0  # seconds on two cores


def run() -> Iterator[str]:
    yield from large()
    yield from tasks()
    yield from classes()


# ------------------------------------------------------------------------------------------------------------- large


def sparse_features(seed: int = 0) -> tuple[Any, Array, np.random.Generator]:
    """Sparse samples, and scores of rank ten and of size one or so."""
    rng = np.random.default_rng(seed)
    X = sp.random(SAMPLES, FEATURES, DENSITY, format="csr", random_state=seed)
    scores = X @ rng.standard_normal((FEATURES, RANK)) @ rng.standard_normal((RANK, OUTPUTS))
    return X, scores / scores.std(), rng


def large() -> Iterator[str]:
    """Radii given, about half of the norm of the weights that made the data; certified to one per cent."""
    X, scores, rng = sparse_features()
    yield f"{SAMPLES:,} × {FEATURES:,} features, {DENSITY:.0%} of them not zero; {OUTPUTS} outputs, gap at most 1 %"
    labels = (3.0 * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    counts = rng.poisson(np.exp(0.7 * scores)).astype(float)
    targets = scores + rng.standard_t(3, size=scores.shape)
    for name, make, y in (
        ("classes", NuclearNormClassifier(radius=60.0, tol=0.01), labels),
        ("squared", NuclearNormRegressor(radius=15.0, tol=0.01), targets),
        ("huber", NuclearNormRegressor(radius=15.0, loss="huber", tol=0.01), targets),
        ("poisson-log", NuclearNormRegressor(radius=20.0, loss="poisson-log", tol=0.01), counts),
    ):
        began, busy = time.perf_counter(), time.process_time()
        model = make.fit(X, y)
        wall, cpu = time.perf_counter() - began, time.process_time() - busy
        certificate = model.certificate_
        share = certificate.gap / abs(certificate.value)
        verdict = "met" if wall <= WANTED and share <= 0.01 else "MISSED"
        yield (
            f"  {name:12s} {wall:6.1f} s ({cpu:.1f} processor seconds; {WANTED:.0f} s wanted: {verdict}), gap "
            f"{share:.2%}, rank {model.rank_}, {model.n_iter_} steps"
        )


# ------------------------------------------------------------------------------------------------------------- tasks


def tasks() -> Iterator[str]:
    """60 tasks of rank four: root mean square error of the means, beside scikit-learn's."""
    from sklearn.linear_model import MultiTaskLassoCV, RidgeCV

    yield "60 tasks of rank 4, 50 features, 200 samples with noise: error of the mean of 1,000 others, three draws"
    errors: dict[str, list[float]] = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        W = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 60))
        X, others = rng.standard_normal((200, 50)), rng.standard_normal((1000, 50))
        Y = X @ W + 4.0 * rng.standard_normal((200, 60))
        for name, model in (
            ("NuclearNormRegressor()", NuclearNormRegressor()),
            ("RidgeCV", RidgeCV(np.logspace(-2, 4, 25))),
            ("MultiTaskLassoCV", MultiTaskLassoCV(cv=5, random_state=0)),
        ):
            found = _quietly(model.fit, X, Y).predict(others)
            errors.setdefault(name, []).append(float(np.sqrt(np.mean((found - others @ W) ** 2))))
    for name, each in errors.items():
        yield f"  {name:24s} {np.mean(each):.3f}   ({', '.join(f'{one:.3f}' for one in each)})"


# ----------------------------------------------------------------------------------------------------------- classes


def few_each(seed: int) -> tuple[Array, Array, Array, Array]:
    """200 classes, 1,000 features, four samples a class to learn from and four to judge by."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((200, 8)) @ rng.standard_normal((8, 1000)) * 0.5
    labels = np.tile(np.arange(200), 8)
    X = centres[labels] + 3.0 * rng.standard_normal((labels.size, 1000))
    half = labels.size // 2
    return X[:half], labels[:half], X[half:], labels[half:]


def classes() -> Iterator[str]:
    """Accuracy on samples that were not seen, beside LogisticRegressionCV."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    train, test, a, b = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    yield from _compared("digits, half of them to learn from", train, a, test, b)
    yield from _compared("200 classes, 1,000 features, 4 samples a class", *few_each(0))


def _compared(title: str, X: Array, y: Array, others: Array, truth: Array) -> Iterator[str]:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    yield title
    asked = {"Cs": 5, "cv": 3, "max_iter": 300}
    for name, model in (
        ("NuclearNormClassifier()", NuclearNormClassifier()),
        ("LogisticRegressionCV", make_pipeline(StandardScaler(), LogisticRegressionCV(**asked))),
    ):
        busy = time.process_time()
        _quietly(model.fit, X, y)
        cpu = time.process_time() - busy
        yield f"  {name:24s} {model.score(others, truth):.4f}   ({cpu:.1f} processor seconds)"


def _quietly(fit: Callable[..., Any], *data: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*data)
