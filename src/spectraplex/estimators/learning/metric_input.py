"""Settings and data of a MetricLearner at the door: what was wrong, and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ...checks import as_array, indices, is_real, is_word, number, share, whole
from ...places.numpy import Array
from .metric_choose import SHARES
from .metric_recipe import Recipe

OWNER = "MetricLearner"
_LARGEST = 1e6  # radius: beyond, a metric is decided by rounding


def recipe_of(model: Any) -> Recipe:
    """The settings, checked."""
    if not any(is_word(model.loss, word) for word in ("hinge", "logistic")):
        raise ValueError(f"{OWNER}: loss must be 'hinge' or 'logistic', got {model.loss!r}.")
    keep = number(OWNER, "keep", model.keep)
    targets = whole(OWNER, "n_neighbors", model.n_neighbors)
    impostors, rounds = whole(OWNER, "n_impostors", model.n_impostors), whole(OWNER, "rounds", model.rounds)
    tolerance, most = share(OWNER, "tolerance", model.tolerance), whole(OWNER, "max_iter", model.max_iter)
    return Recipe(model.loss, keep, targets, impostors, rounds, tolerance, most, model.penalty is not None)


def size_of(model: Any) -> float | None:
    """The radius or the price of the trace that was given; None for a radius that is to be chosen."""
    if model.penalty is None:
        if is_word(model.radius, "auto"):
            return None
        radius = float(model.radius) if is_real(model.radius) else 0.0
        if not 0.0 < radius <= _LARGEST:
            raise ValueError(f"{OWNER}: radius must be 'auto' or a number above 0, at most 10⁶, got {model.radius!r}.")
        return radius
    if not is_word(model.radius, "auto"):
        raise ValueError(f"{OWNER}: give radius (a bound on the trace) or penalty (a price of it), not both.")
    return number(OWNER, "penalty", model.penalty, positive=True)


def shares_of(model: Any) -> tuple[float, ...]:
    """How much may be whitened."""
    given = _auto("whitening", model.whitening)
    if given is not None and given > 1.0:
        raise ValueError(f"{OWNER}: whitening must be 'auto' or a number from 0 to 1, got {model.whitening!r}.")
    return SHARES if given is None else (given,)


def _auto(name: str, given: Any) -> float | None:
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f"{OWNER}: {name} must be 'auto' or a number, got {given!r}.")
        return None
    return number(OWNER, name, given)


def codes_of(y: Any) -> tuple[Array, Array]:
    """Classes, and which of them each point has; two classes at least, one of them with two points."""
    if y is None:
        raise ValueError(
            f"{OWNER}: requires y to be passed, but the target y is None; give labels, or triplets= or pairs=."
        )
    labels = column_or_1d(y, warn=True)
    classes, codes = coded(OWNER, labels)
    if classes.size < 2:
        raise ValueError(
            f"{OWNER}: y has one class, {classes.tolist()[0]!r}; a metric needs two classes to tell apart."
        )
    if np.bincount(codes).max() < 2:
        raise ValueError(f"{OWNER}: no class in y has two points, so there is nothing that should come closer.")
    return classes, codes


def coded(owner: str, labels: Array) -> tuple[Array, Array]:
    """The labels that occur, in order, and which of them each point has."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{owner}: Input y contains NaN or infinity; leave those points out.")
    try:
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise TypeError(
            f"{owner}: y mixes labels of kinds that have no order; give all as strings or numbers."
        ) from None
    return classes, codes.reshape(-1)


def triplets_of(given: Any, points: int) -> Array:
    """Rows (a, p, n) of places in X: n is to be farther from a than p is."""
    triplets = _places("triplets", given, 3, points)
    same = (triplets[:, 0] == triplets[:, 2]) | (triplets[:, 1] == triplets[:, 2])
    if same.any():
        place = int(np.argmax(same))
        raise ValueError(
            f"{OWNER}: triplets[{place}] is {triplets[place].tolist()}, but the third is to be farther from "
            "the first than the second is, so it is neither of them."
        )
    return triplets


def pairs_of(given: Any, y: Any, points: int) -> tuple[Array, Array]:
    """Pairs of places in X as triplets with bounds: −d² is to be large for similar ones, d² for dissimilar ones."""
    pairs = _places("pairs", given, 2, points)
    if y is None:
        raise ValueError(f"{OWNER}: requires y to be passed, but the target y is None; +1 for similar pairs, else −1.")
    signs = column_or_1d(as_array(OWNER, "y", y), warn=True)
    if signs.size != len(pairs):
        raise ValueError(f"{OWNER}: {len(pairs)} pairs but {signs.size} values in y; give one a pair.")
    fine = signs.dtype.kind in "buif" and (np.isin(signs, (-1, 1)).all() or np.isin(signs, (0, 1)).all())
    if not fine:
        raise ValueError(f"{OWNER}: y must be +1 for similar pairs and −1 (or 0) for dissimilar ones.")
    alike = signs > 0
    if alike.all() or not alike.any():
        what = "similar" if alike.all() else "dissimilar"
        raise ValueError(f"{OWNER}: all pairs are {what}; a metric needs similar and dissimilar ones.")
    same = pairs[:, 0] == pairs[:, 1]
    if same.any():
        raise ValueError(f"{OWNER}: pairs[{int(np.argmax(same))}] has the same point twice; leave it out.")
    a, b = pairs.T
    triplets = np.stack([a, np.where(alike, b, a), np.where(alike, a, b)], axis=1)
    return triplets, alike


def _places(name: str, given: Any, width: int, points: int) -> Array:
    table = as_array(OWNER, name, given)
    if table.ndim != 2 or table.shape[1] != width or table.shape[0] == 0:
        raise ValueError(f"{OWNER}: {name} have shape {table.shape}; give (number, {width}) places of rows in X.")
    columns = [indices(OWNER, f"{name}[:, {k}]", table[:, k], points) for k in range(width)]
    return np.stack(columns, axis=1).astype(np.int64)


def point_pairs(pairs: Any, features: int) -> Array:
    """Pairs of points themselves, for ``score_pairs``."""
    table = as_array(OWNER, "pairs", pairs)
    if table.ndim != 3 or table.shape[1:] != (2, features):
        raise ValueError(f"{OWNER}: pairs have shape {table.shape}; give (number, 2, {features}): two points each.")
    if table.dtype.kind not in "buif" or not np.isfinite(table.astype(float)).all():
        raise ValueError(f"{OWNER}: pairs must be finite numbers.")
    return np.asarray(table, float)


def seed_of(owner: str, given: Any) -> int:
    """A number that a ``random_state`` stands for."""
    if is_real(given):
        whole(owner, "random_state", given, least=0)
    try:
        return int(check_random_state(given).randint(2**31 - 1))
    except ValueError:
        raise ValueError(
            f"{owner}: random_state must be None, a whole number from 0 to 2³² − 1, or a RandomState, got {given!r}."
        ) from None
