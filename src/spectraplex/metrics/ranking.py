"""Figures of ranked lists: what was recommended to a row, best first, beside what turned out to be relevant.

Every figure is a mean over the rows that have something relevant; a row without is left out, a row to which nothing was
recommended counts zero. With h(r) = 1 where the r-th label is relevant, R relevant labels and a list cut after k:

    recall@k     Σ h(r) / R
    precision@k  Σ h(r) / k, also where fewer than k were recommended
    NDCG@k       Σ h(r)/log₂(r + 1) beside the same sum for a list that begins with min(k, R) relevant ones
    MAP@k        Σ h(r)·precision@r / min(k, R)
    coverage     the share of all columns that at least one row is recommended among its first k; over all rows

Lists are taken in the order they come in. Where scores are ranked here, equal scores keep the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from ..checks import whole
from ..places.numpy import Array

_CELLS = 4_000_000  # scores worked out at a time


@dataclass(frozen=True)
class Ranking:
    """The figures at k, over so many rows; coverage is NaN where the number of columns was not told."""

    k: int
    rows: int
    recall: float
    precision: float
    ndcg: float
    map: float
    coverage: float = nan

    def __str__(self) -> str:
        shown = "" if np.isnan(self.coverage) else f", coverage {self.coverage:.3f}"
        k = self.k
        return (
            f"recall@{k} {self.recall:.4f}, precision@{k} {self.precision:.4f}, NDCG@{k} {self.ndcg:.4f}, "
            f"MAP@{k} {self.map:.4f}{shown} ({self.rows} rows)"
        )


def ranking(recommended: Any, relevant: Any, k: int = 10, columns: int | None = None) -> Ranking:
    """All figures at once.

    Parameters
    ----------
    recommended : for every row its labels, best first.
    relevant : for every row the labels that turned out to be relevant, in any order; one that comes twice counts once.
    k : where lists are cut.
    columns : how many columns there are, for the coverage.

    Examples
    --------
    >>> from spectraplex.metrics import ranking
    >>> found = ranking([["a", "b"], ["c", "a"]], [["b"], ["c", "d"]], k=2, columns=4)
    >>> found.recall, found.precision, found.coverage
    (0.75, 0.5, 0.75)
    """
    k, (lists, sets) = whole("ranking", "k", k), _lists(recommended, relevant)
    hits = np.zeros((len(lists), k), bool)
    for row, (labels, wanted) in enumerate(zip(lists, sets, strict=True)):
        hits[row, : min(len(labels), k)] = [label in wanted for label in labels[:k]]
    shown = {label for labels in lists for label in labels[:k]}
    return figures(hits, np.array([len(wanted) for wanted in sets]), k, _share(shown, columns))


def recall_at_k(recommended: Any, relevant: Any, k: int = 10) -> float:
    """The share of what is relevant that is among the first k; see ``ranking``."""
    return ranking(recommended, relevant, k).recall


def precision_at_k(recommended: Any, relevant: Any, k: int = 10) -> float:
    """The share of the first k that is relevant; see ``ranking``."""
    return ranking(recommended, relevant, k).precision


def ndcg_at_k(recommended: Any, relevant: Any, k: int = 10) -> float:
    """Normalised discounted cumulative gain: relevant labels count more the earlier they come; see ``ranking``."""
    return ranking(recommended, relevant, k).ndcg


def map_at_k(recommended: Any, relevant: Any, k: int = 10) -> float:
    """Mean average precision; see ``ranking``."""
    return ranking(recommended, relevant, k).map


def coverage(recommended: Any, columns: int, k: int = 10) -> float:
    """The share of all columns that is recommended to at least one row among its first k."""
    k = whole("coverage", "k", k)
    return _share({label for labels in recommended for label in _plain(labels)[:k]}, columns)


def figures(hits: Array, relevant: Array, k: int, covered: float = nan) -> Ranking:
    """From h, rows × k, and the number of relevant labels of every row."""
    some = relevant > 0
    if not some.any():
        raise ValueError("ranking: no row has a relevant label; there is nothing to measure.")
    h, R = hits[some].astype(float), relevant[some].astype(float)
    ranks = np.arange(1, k + 1)
    discounts, most = 1.0 / np.log2(ranks + 1.0), np.minimum(R, k)
    ideal = np.cumsum(discounts)[most.astype(int) - 1]
    precise = np.cumsum(h, axis=1) / ranks
    found = h.sum(axis=1)
    return Ranking(
        k=k,
        rows=int(some.sum()),
        recall=float((found / R).mean()),
        precision=float((found / k).mean()),
        ndcg=float((h @ discounts / ideal).mean()),
        map=float(((h * precise).sum(axis=1) / most).mean()),
        coverage=covered,
    )


def held_out(scores: Callable[[Array], Array], seen: Any, held: Any, k: int) -> Ranking:
    """Rank all columns that a row has not seen, for every row that something was kept aside of.

    Parameters
    ----------
    scores : places of rows ↦ a block with a score for every column; −∞ leaves one out. It is written to.
    seen, held : scipy CSR matrices of one shape: what is left out of the ranking, and what was kept aside.
    """
    rows, n = np.flatnonzero(np.diff(held.indptr)), held.shape[1]
    hits, shown, block = np.zeros((rows.size, k), bool), np.zeros(n, bool), max(1, _CELLS // max(n, 1))
    for first in range(0, rows.size, block):
        part = rows[first : first + block]
        found, known, wanted = scores(part), seen[part], held[part]
        found[_line(known), known.indices] = -np.inf
        best = top(found, k)
        asked = np.zeros(found.shape, bool)
        asked[_line(wanted), wanted.indices] = True
        lines = np.arange(part.size)[:, None]
        hits[first : first + block, : best.shape[1]] = asked[lines, best] & np.isfinite(found[lines, best])
        shown[best[np.isfinite(found[lines, best])]] = True
    return figures(hits, np.diff(held.indptr)[rows], k, float(shown.mean()))


def top(scores: Array, k: int) -> Array:
    """Places of the k largest scores of every line, largest first, equal ones in their order."""
    k = min(k, scores.shape[1])
    some = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    some.sort(axis=1)
    found = np.take_along_axis(scores, some, axis=1)
    best = np.take_along_axis(some, np.argsort(-found, axis=1, kind="stable"), axis=1)
    least = found.min(axis=1)
    for line in np.flatnonzero((scores >= least[:, None]).sum(axis=1) > k):  # a tie at the end of the list
        best[line] = np.argsort(-scores[line], kind="stable")[:k]
    return np.asarray(best)


def _line(table: Any) -> Array:
    """The line of every entry of a CSR matrix."""
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def _lists(recommended: Any, relevant: Any) -> tuple[list[list[Any]], list[set[Any]]]:
    lists, sets = [_plain(labels) for labels in recommended], [set(_plain(labels)) for labels in relevant]
    if len(lists) != len(sets):
        raise ValueError(f"ranking: {len(lists)} lists of recommended labels and {len(sets)} of relevant ones.")
    for row, labels in enumerate(lists):
        if len(set(labels)) < len(labels):
            raise ValueError(f"ranking: recommended[{row}] has a label twice; a list names each once.")
    return lists, sets


def _plain(labels: Any) -> list[Any]:
    if isinstance(labels, str):
        raise TypeError(f"ranking: give a list of labels for every row, such as [{labels!r}].")
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def _share(shown: set[Any], columns: int | None) -> float:
    if columns is None:
        return nan
    count = whole("ranking", "columns", columns)
    if len(shown) > count:
        raise ValueError(f"ranking: {len(shown)} columns are recommended, and columns={count} says there are fewer.")
    return len(shown) / count
