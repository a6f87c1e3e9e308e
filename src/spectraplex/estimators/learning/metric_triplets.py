"""Which triplets (a, p, n) labels ask for: p a near one of a's own class, n a near one of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...places.numpy import Array

_ENTRIES = 4_000_000  # of a block of distances: 32 MB


@dataclass(frozen=True, eq=False)
class Near:
    """Of every point the nearest others, nearest first: their places (−1: none) and squared distances."""

    places: Array
    squares: Array


def nearest(points: Array, codes: Array, count: int, same: bool) -> Near:
    """The ``count`` nearest of the same class (but not oneself), or of all others, in plain distance."""
    counts = np.bincount(codes)
    most = counts.max() - 1 if same else len(points) - counts[counts > 0].min()
    count = int(min(count, most))
    places, squares = np.full((len(points), count), -1), np.full((len(points), count), np.inf)
    for code in np.unique(codes):
        own = codes == code
        mine, others = np.nonzero(own)[0], np.nonzero(own if same else ~own)[0]
        found, apart = closest(points[mine], points[others], count, oneself=same)
        places[mine, : found.shape[1]], squares[mine, : found.shape[1]] = others[found], apart
    return Near(places, squares)


def closest(points: Array, others: Array, count: int, oneself: bool = False) -> tuple[Array, Array]:
    """Of each point the nearest others, nearest first; ``oneself``: they are the same points, and nobody is his own."""
    wide = min(count, len(others) - oneself)
    places, squares = np.empty((len(points), wide), np.int64), np.empty((len(points), wide))
    norms, step = np.einsum("ij,ij->i", others, others), max(1, _ENTRIES // max(1, len(others)))
    for low in range(0, len(points) if wide > 0 else 0, step):
        part = points[low : low + step]
        apart = np.einsum("ij,ij->i", part, part)[:, None] + norms - 2.0 * part @ others.T
        if oneself:
            np.fill_diagonal(apart[:, low:], np.inf)
        kept = np.argpartition(apart, wide - 1, axis=1)[:, :wide]
        found = np.take_along_axis(apart, kept, axis=1)
        order = np.argsort(found, axis=1, kind="stable")
        places[low : low + step] = np.take_along_axis(kept, order, axis=1)
        squares[low : low + step] = np.maximum(np.take_along_axis(found, order, axis=1), 0.0)
    return places, squares


def compared(targets: Near, impostors: Near) -> Array:
    """Every target neighbour of a point beside every impostor of it."""
    n, k = targets.places.shape
    many = impostors.places.shape[1]
    triplets = np.empty((n, k, many, 3), np.int64)
    triplets[..., 0] = np.arange(n)[:, None, None]
    triplets[..., 1] = targets.places[:, :, None]
    triplets[..., 2] = impostors.places[:, None, :]
    flat: Array = triplets.reshape(-1, 3)
    return flat[(flat[:, 1:] >= 0).all(axis=1)]


def joined(first: Array, second: Array, points: int) -> Array:
    """Triplets of both, each once, sorted."""
    both = np.concatenate([first, second])
    keys = (both[:, 0] * points + both[:, 1]) * points + both[:, 2]
    return both[np.unique(keys, return_index=True)[1]]
