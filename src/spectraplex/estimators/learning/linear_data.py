"""Features as a linear model sees them: centred and scaled, and never dense where they came sparse.

    x̃ = (x − mean)/scale,   X̃ = data − 1·shiftᵀ,   data = X/scale and shift = mean/scale where X is sparse

so that centring is one column more, not a dense matrix. All work is shared out in pieces that do not depend on the
number of threads: results do not, either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...places.numpy import EPS, Array
from ...places.threads import workers
from ...rounding import norm, of_sum

_PIECE = 1 << 15  # numbers in a piece: two of them stay in a core's own memory
_BLOCKS = 16  # of rows of a matrix of features


@dataclass(frozen=True, eq=False)
class Moments:
    """What is taken from every feature, and what it is divided by."""

    mean: Array
    scale: Array


class Design:
    """X̃, multiplied by blocks from either side.

    Parameters
    ----------
    data : samples × features, dense or CSR.
    moments : from ``moments_of`` of the same or of other samples.
    """

    def __init__(self, data: Any, moments: Moments) -> None:
        from scipy.sparse import diags, issparse

        self.moments, self.shape = moments, (int(data.shape[0]), int(data.shape[1]))
        self.sparse = bool(issparse(data))
        if self.sparse:
            self.data = (data @ diags(1.0 / moments.scale)).tocsr()
            self.shift: Array | None = moments.mean / moments.scale if moments.mean.any() else None
            turned = self.data.T.tocsr()
            self._down = [turned[low:high] for low, high in _cuts(self.shape[1], _BLOCKS)]
        else:
            self.data, self.shift = np.ascontiguousarray((data - moments.mean) / moments.scale), None
            self._down = [self.data.T[low:high] for low, high in _cuts(self.shape[1], _BLOCKS)]
        self._across = [self.data[low:high] for low, high in _cuts(self.shape[0], _BLOCKS)]
        self.count = int(self.data.nnz) if self.sparse else self.data.size

    def times(self, U: Array) -> Array:
        """X̃U."""
        U = np.ascontiguousarray(U, np.float64)
        out = _stacked(self._across, U, self.shape[0], self.count)
        if self.shift is not None:
            out -= self.shift @ U
        return out

    def turned(self, S: Array) -> Array:
        """X̃ᵀS."""
        out = _stacked(self._down, np.ascontiguousarray(S), self.shape[1], self.count)
        if self.shift is not None:
            out -= np.outer(self.shift, S.sum(axis=0))
        return out

    @cached_property
    def size(self) -> float:
        """At least ‖X̃‖."""
        own = norm(self.data.data if self.sparse else self.data)
        return (own + (0.0 if self.shift is None else float(np.sqrt(self.shape[0])) * norm(self.shift))) * (1 + 1e-9)

    @cached_property
    def squares(self) -> tuple[Array, Array]:
        """Sums of squares of every feature, and of every sample."""
        if not self.sparse:
            return np.einsum("ij,ij->j", self.data, self.data), np.einsum("ij,ij->i", self.data, self.data)
        square = self.data.power(2)
        down, across = (np.asarray(square.sum(axis=axis)).reshape(-1) for axis in (0, 1))
        if self.shift is not None:  # Σ(d − s)² = Σd² − 2sΣd + Σs²
            total = np.asarray(self.data.sum(axis=0)).reshape(-1)
            down = down - 2 * self.shift * total + self.shape[0] * self.shift**2
            across = across - 2 * (self.data @ self.shift) + float(self.shift @ self.shift)
        return np.maximum(down, 0.0), np.maximum(across, 0.0)

    def noise(self, S: Array) -> float:
        """A bound on the rounding of X̃ᵀS."""
        return of_sum(8.0 * self.shape[0]) * self.size * norm(S)

    def parts(self) -> tuple[Any, ...]:
        held = (self.data.indptr, self.data.indices, self.data.data) if self.sparse else (self.data,)
        return (*held, *(() if self.shift is None else (self.shift,)))


def moments_of(data: Any, weights: Array | None, centred: bool, scaled: bool) -> Moments:
    """Mean and standard deviation of every feature; a feature that does not vary is not scaled."""
    from scipy.sparse import issparse

    samples, features = data.shape
    share = np.full(samples, 1.0 / samples) if weights is None else weights / weights.sum()
    mean = np.asarray(share @ data).reshape(-1)
    if issparse(data):
        square = np.asarray(share @ data.power(2)).reshape(-1)
        variance = square - mean**2
        blur = 64 * EPS * square
    else:
        variance = share @ (data - mean) ** 2
        blur = (64 * EPS * mean) ** 2
    varies = variance > blur
    scale = np.sqrt(np.where(varies, variance, 1.0)) if scaled else np.ones(features)
    return Moments(mean if centred else np.zeros(features), scale)


def in_rows(rows: int, width: int, job: Callable[[int, int, int], None]) -> int:
    """Run job(piece, low, high) over the rows of a table, on all cores where it pays; returns how many pieces."""
    cuts = row_cuts(rows, width)
    workers.run(lambda i: job(i, *cuts[i]), len(cuts), 8 * rows * width)
    return len(cuts)


def row_cuts(rows: int, width: int) -> list[tuple[int, int]]:
    """The pieces of ``in_rows``: the same whatever the number of threads."""
    step = max(1, _PIECE // max(width, 1))
    return [(low, min(low + step, rows)) for low in range(0, rows, step)]


def _cuts(size: int, count: int) -> list[tuple[int, int]]:
    step = -(-size // count)
    return [(low, min(low + step, size)) for low in range(0, size, step)]


def _stacked(blocks: list[Any], block: Array, rows: int, work: int) -> Array:
    """The products of all blocks of rows, one under the other."""
    out = np.empty((rows, block.shape[1]))
    step = blocks[0].shape[0]

    def job(i: int) -> None:
        out[i * step : i * step + blocks[i].shape[0]] = blocks[i] @ block

    workers.run(job, len(blocks), work * block.shape[1])
    return out
