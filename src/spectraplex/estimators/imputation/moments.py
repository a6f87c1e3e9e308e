"""Mean and covariance of a table with holes, what they say about the holes, and the rows that are near a row.

Rows are taken for draws from one normal distribution: given the observed entries of a row, the missing ones have a
conditional mean and a conditional covariance. Iterating the two (expectation maximisation) learns the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...places.numpy import Array

_PRIOR = 1.0  # how many rows' worth of "columns are unrelated" the covariance begins with
_FLOOR = 1e-3  # share of the mean variance added to every column's own: columns that repeat each other stay invertible
_ROUNDS = 25
_SETTLED = 3e-3  # change of the covariance, in units of the mean variance, that counts as none
_ROWS = 5_000  # rows that a covariance is learned from, and rows among which neighbours are looked for: enough
_BLOCK = 2_000_000  # numbers in a temporary


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariance of the columns."""

    mean: Array
    covariance: Array

    def fill(self, table: Array) -> Array:
        """The table with every hole replaced by its conditional mean."""
        return conditional(table - self.mean, self.covariance)[0] + self.mean


def conditional(table: Array, covariance: Array) -> tuple[Array, Array]:
    """Holes filled with E[missing | observed] for rows of mean zero; and the conditional covariances, summed.

    With Q the inverse covariance both need only the block of the missing: −Q_mm⁻¹Q_mo x_o and Q_mm⁻¹. Rows with
    equally many holes are solved together.
    """
    p = table.shape[1]
    missing = np.isnan(table)
    filled = np.where(missing, 0.0, table)
    precision = np.linalg.inv(covariance)
    pulls = filled @ precision
    counts, spread = missing.sum(axis=1), np.zeros(p * p)
    for count in np.unique(counts[counts > 0]):
        rows = np.nonzero(counts == count)[0]
        width = max(1, _BLOCK // int(count) ** 2)
        for low in range(0, rows.size, width):
            part = rows[low : low + width]
            holes = np.nonzero(missing[part])[1].reshape(part.size, count)
            left, right = holes[:, :, None], holes[:, None, :]
            blocks = np.linalg.inv(precision[left, right])
            filled[part[:, None], holes] = -np.einsum("ijk,ik->ij", blocks, pulls[part[:, None], holes])
            spread += np.bincount((left * p + right).ravel(), blocks.ravel(), p * p)
    return filled, spread.reshape(p, p)


def learn(table: Array, rng: np.random.Generator) -> Moments:
    """Mean and covariance by expectation maximisation, from a covariance of the pairs that were observed together.

    The covariance is drawn towards equal, unrelated columns as if by ``_PRIOR`` more rows.
    """
    table = table[some(len(table), rng)]
    n, p = table.shape
    seen = ~np.isnan(table)
    mean = np.where(seen, table, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, table - mean, 0.0)
    size = float((centred**2).sum() / max(1, seen.sum())) or 1.0
    together = seen.T.astype(float) @ seen
    pairs = centred.T @ centred / (together + 5.0)
    values, vectors = np.linalg.eigh(pairs)
    covariance = (vectors * np.maximum(values, 0.02 * size)) @ vectors.T
    for _ in range(_ROUNDS):
        filled, spread = conditional(table - mean, covariance)
        shift = filled.mean(axis=0)
        mean, filled = mean + shift, filled - shift
        fresh = (filled.T @ filled + spread + _PRIOR * size * np.eye(p)) / (n + _PRIOR) + _FLOOR * size * np.eye(p)
        change, covariance = float(np.abs(fresh - covariance).max()), 0.5 * (fresh + fresh.T)
        if change <= _SETTLED * size:
            break
    return Moments(mean, covariance)


def some(rows: int, rng: np.random.Generator, most: int = _ROWS) -> Array:
    """All rows, or a random choice of them, in order, where there are more than is of use."""
    return np.arange(rows) if rows <= most else np.sort(rng.choice(rows, most, replace=False))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For every row, the weighted mean of the rows nearest to it, once its holes are filled by ``moments``.

    A donor that coincides with the row is not asked: it is the row itself, or says nothing that the row does not. So
    a row gets the same answer in the table that the donors came from and in a new one.
    """

    moments: Moments
    donors: Array
    count: int

    def around(self, table: Array) -> Array:
        """One local mean per row; the common mean where a row has no observation at all."""
        filled, out = self.moments.fill(table), np.empty(table.shape)
        count = min(self.count, len(self.donors) - 1)
        norms, width = (self.donors**2).sum(axis=1), max(1, _BLOCK // len(self.donors))
        for low in range(0, len(table), width):
            rows = filled[low : low + width]
            squares = (rows**2).sum(axis=1)[:, None] + norms - 2.0 * rows @ self.donors.T
            squares[squares <= 1e-12 * (1.0 + norms)] = np.inf  # the row itself
            near = np.argpartition(squares, count, axis=1)[:, : count + 1]
            found = np.take_along_axis(squares, near, axis=1)
            reach = found.max(axis=1, keepdims=True)  # the last one only says how far the others are
            usable = np.isfinite(found)
            with np.errstate(invalid="ignore"):
                weights = np.where(np.isinf(reach), 1.0, 1.0 - found / reach)
            weights = np.where(usable, weights, 0.0) + 1e-9 * usable
            total = weights.sum(axis=1, keepdims=True)
            means = np.einsum("ik,ikj->ij", weights, self.donors[near]) / np.where(total > 0.0, total, 1.0)
            out[low : low + width] = np.where(total > 0.0, means, self.moments.mean)
        out[np.isnan(table).all(axis=1)] = self.moments.mean
        return out


def fold_in(table: Array, factor: Array) -> Array:
    """For every row r the z = Fx that minimises ½‖r_o − z_o‖² + ½‖x‖² over its observed entries o."""
    k = factor.shape[1]
    seen = ~np.isnan(table)
    pulls = np.where(seen, table, 0.0) @ factor
    out = np.empty(table.shape)
    width = max(1, _BLOCK // max(1, k * k))
    products = factor[:, :, None] * factor[:, None, :] if factor.size * k <= 8 * _BLOCK else None
    for low in range(0, len(table), width):
        part = slice(low, low + width)
        if products is not None:
            grams = np.tensordot(seen[part].astype(float), products, axes=1)
        else:
            grams = np.stack([factor[row].T @ factor[row] for row in seen[part]])
        solved = np.linalg.solve(grams + np.eye(k), pulls[part][:, :, None])[:, :, 0]
        out[part] = solved @ factor.T
    return out
