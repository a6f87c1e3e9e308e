"""Accuracy of three nearest neighbours on 5 × 5 folds after a metric was learned; needs scikit-learn alone.

So another interpreter can run it for the package metric-learn, which needs scikit-learn below 1.6:
``python benchmarks/learners/metric_folds.py FIRST_SEED REPEATS``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
Learners = dict[str, Callable[[], Any] | None]


def accuracy(load: Callable[..., Any], make: Callable[[], Any] | None, seeds: range) -> tuple[float, float, float]:
    """Mean accuracy of three nearest neighbours, its standard error over the folds, and CPU seconds of a fit."""
    X, y = load(return_X_y=True)
    scores, seconds = [], []
    for seed in seeds:
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


def lines(learners: Learners, seeds: range) -> Iterator[str]:
    for data, load in DATA.items():
        for name, make in learners.items():
            mean, error, seconds = accuracy(load, make, seeds)
            yield f"{data:<14} {name:<16} {mean:.4f} ± {error:.4f}   {seconds:.2f} s of CPU a fit"


def others() -> Learners:
    """The learners of the package metric-learn, as they come."""
    import metric_learn

    return {
        "LMNN": metric_learn.LMNN,
        "ITML": lambda: metric_learn.ITML_Supervised(random_state=0),
        "MMC": lambda: metric_learn.MMC_Supervised(random_state=0),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    first, repeats = map(int, sys.argv[1:])
    for line in lines(others(), range(first, first + repeats)):
        print(line, flush=True)
