"""Which samples a linear learner keeps aside in cross-validation.

Folds follow from the data and not from the order of the samples. Samples are ranked along one way through their
standardised features, and the ranks are shuffled: other units of a feature, or sparse storage, change no rank.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...checks import is_whole, is_word
from ...places.marks import mixed
from ...places.numpy import Array
from .linear_data import moments_of

_FOLDS = ((2_000, 5), (20_000, 3))  # samples, and how many folds there are up to so many of them
_ASIDE = 5  # beyond, one part in so many is kept aside once; three folds are of such parts, too


class Parted(Protocol):
    """Samples that can be parted."""

    @property
    def data(self) -> Any: ...
    @property
    def weights(self) -> Array | None: ...
    @property
    def kept(self) -> Array:
        """Which of the samples that were given these are: those without weight or target are left out."""
        ...

    def strata(self) -> Array:
        """A number for every sample: those with the same one are spread over all folds."""
        ...


def splits(owner: str, recipe: Parted, cv: Any) -> list[tuple[Array, Array]]:
    """Which samples are fitted and which are kept aside, fold by fold."""
    if is_word(cv, "auto") or is_whole(cv):
        return [(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in asides(recipe, cv)]
    size = max(int(np.max(part, initial=0)) for part in (recipe.kept, *(part for pair in cv for part in pair)))
    place = np.full(size + 1, -1)
    place[recipe.kept] = np.arange(recipe.kept.size)
    pairs = [tuple(place[np.asarray(part, int)] for part in pair) for pair in cv]
    found = [(train[train >= 0], valid[valid >= 0]) for train, valid in pairs]
    found = [(train, valid) for train, valid in found if train.size and valid.size]
    if not found:
        raise ValueError(
            f"{owner}: cv has no pair with samples to fit and samples to judge by; those without weight or target do "
            "not count."
        )
    return found


def asides(recipe: Parted, cv: Any) -> list[Array]:
    """Masks of samples to keep aside, the same whatever their order; samples that are alike stay together."""
    samples = int(recipe.data.shape[0])
    auto = is_word(cv, "auto")
    count = next((folds for most, folds in _FOLDS if samples <= most), 1) if auto else int(cv)
    parts = max(count, _ASIDE) if auto else count
    key = np.column_stack([recipe.strata(), along(recipe.data, recipe.weights)]).astype(np.float64)
    alike, place = np.unique(key, axis=0, return_inverse=True)
    ranks = np.arange(alike.shape[0], dtype=np.uint64)
    fold = np.empty(ranks.size, int)
    fold[np.lexsort((mixed(ranks), alike[:, 0]))] = np.arange(ranks.size) % parts
    masks = [fold[place.reshape(-1)] == k for k in range(count)]
    return [mask for mask in masks if 0 < np.count_nonzero(mask) < samples]


def along(data: Any, weights: Array | None) -> Array:
    """Where samples are along one way through standardised features; only equal samples are at the same place."""
    from scipy.sparse import issparse

    moments = moments_of(data, weights, True, True)
    way = np.random.default_rng(6).standard_normal(data.shape[1]) / moments.scale
    if not issparse(data):
        return np.asarray(((data - moments.mean) * way).sum(axis=1)) + 0.0  # −0 is 0
    top, bottom = (np.asarray(side.todense()).reshape(-1) for side in (data.max(axis=0), data.min(axis=0)))
    way[top == bottom] = 0.0  # features that do not vary would only blur the rest
    return np.asarray(data.multiply(way).sum(axis=1), np.float64).reshape(-1) + 0.0
