"""What the report says about a fitted model, as numbers: the data, the fit, the examples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.completion import serving
from ..estimators.input.labels import Labels
from ..estimators.input.observations import Observations
from ..places.numpy import Array
from .scores import Judged, measures
from .words import label_text

_FEW = 5  # lines of a table of examples
_SURPRISE = 0.01  # share of the range of values below which nothing is a surprise


@dataclass(frozen=True, eq=False)
class Side:
    """The rows, or the columns: how many there are, and how many observations each has."""

    name: str
    count: int
    counts: Array  # of those that have any
    empty: int

    @classmethod
    def of(cls, name: str, places: Array, count: int) -> Side:
        counts = np.bincount(places, minlength=count)
        return cls(name, count, counts[counts > 0], int((counts == 0).sum()))


@dataclass(frozen=True, eq=False)
class Glance:
    """The data."""

    rows: Side
    columns: Side
    observations: int
    density: float
    values: Array
    weights: Array | None

    @property
    def mean(self) -> float:
        return float(np.average(self.values, weights=self.weights))

    @property
    def spread(self) -> float:
        return math.sqrt(float(np.average((self.values - self.mean) ** 2, weights=self.weights)))


def glance(model: Any) -> Glance:
    seen: Observations = model.observations_
    pairs = 1 + int(np.count_nonzero(np.diff(np.sort(seen.rows * seen.shape[1] + seen.cols))))
    sides = (Side.of("row", seen.rows, seen.shape[0]), Side.of("column", seen.cols, seen.shape[1]))
    return Glance(*sides, len(seen), pairs / (seen.shape[0] * seen.shape[1]), seen.values, seen.weights)


@dataclass(frozen=True, eq=False)
class Fit:
    """Predictions of the fitted observations, their errors, and the typical size of every part of them."""

    predicted: Array
    residuals: Array  # observed − predicted
    errors: tuple[tuple[str, float], ...]
    parts: tuple[tuple[str, float], ...]


def fit_of(model: Any) -> Fit:
    seen: Observations = model.observations_
    z = serving.linear(model, seen.rows, seen.cols)
    predicted = serving.linked(model, z)
    errors = tuple((name, error(predicted, seen.values, seen.weights)) for name, error in measures(model))

    def size(part: Array) -> float:
        return math.sqrt(float(np.average(part**2, weights=seen.weights)))

    rows, cols = model.row_intercepts_[seen.rows], model.column_intercepts_[seen.cols]
    parts = [("low-rank part", size(z - model.offset_ - rows - cols))]
    if model.intercepts:
        parts = [("row intercepts", size(rows)), ("column intercepts", size(cols)), *parts]
    if model.loss != "logistic":
        parts.append(("what is left: residuals", size(seen.values - predicted)))
    return Fit(predicted, seen.values - predicted, errors, tuple(parts))


# -------------------------------------------------------------------------------------------------------- examples


@dataclass(frozen=True)
class Line:
    """An entry of the table: labels, what was observed (None: nothing), what is predicted."""

    row: str
    column: str
    observed: float | None
    predicted: float


@dataclass(frozen=True)
class Person:
    """One row: some of what was observed of it, and the best of what was not."""

    label: str
    count: int
    seen: tuple[Line, ...]
    best: tuple[Line, ...]


@dataclass(frozen=True)
class Examples:
    people: tuple[Person, ...]
    surprises: tuple[Line, ...]
    held_out: tuple[Line, ...]
    similar: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]


def examples(model: Any, fit: Fit, judge: Judged) -> Examples:
    seen: Observations = model.observations_
    counts = np.bincount(seen.rows, minlength=seen.shape[0])
    ordered = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    chosen = sorted({0, len(ordered) // 2, len(ordered) - 1})  # most, middling, least
    people = tuple(_person(model, fit, int(ordered[k]), int(counts[ordered[k]])) for k in chosen)
    worst = np.argsort(-np.abs(fit.residuals), kind="stable")[:_FEW]
    worst = worst[np.abs(fit.residuals[worst]) > _SURPRISE * (model.range_[1] - model.range_[0])]
    surprises = tuple(
        _line(model, int(seen.rows[e]), int(seen.cols[e]), seen.values[e], fit.predicted[e]) for e in worst
    )
    return Examples(people, surprises, _never_seen(judge), _similar(model))


def _line(model: Any, row: int, col: int, observed: float | None, predicted: float) -> Line:
    value = None if observed is None else float(observed)
    return Line(name_of(model.row_labels_, row), name_of(model.column_labels_, col), value, float(predicted))


def name_of(labels: Labels, place: int) -> str:
    return label_text(labels.values[place])


def _person(model: Any, fit: Fit, row: int, count: int) -> Person:
    seen: Observations = model.observations_
    here = np.flatnonzero(seen.rows == row)
    some = here[np.argsort(-seen.values[here], kind="stable")]
    if some.size > _FEW:  # from the highest to the lowest, evenly
        some = some[np.linspace(0, some.size - 1, _FEW).round().astype(int)]
    known = tuple(_line(model, row, int(seen.cols[e]), seen.values[e], fit.predicted[e]) for e in some)
    everything = np.arange(seen.shape[1])
    z = serving.linear(model, np.full(seen.shape[1], row), everything)
    left = np.setdiff1d(everything, seen.cols[here])
    best = left[np.argsort(-z[left], kind="stable")[:_FEW]]
    scores = serving.linked(model, z[best])
    tops = tuple(_line(model, row, int(c), None, p) for c, p in zip(best, scores, strict=True))
    return Person(name_of(model.row_labels_, row), count, known, tops)


def _never_seen(judge: Judged) -> tuple[Line, ...]:
    """A few held-out pairs, evenly from all of them, in the order they were given in."""
    if judge.pairs is None or judge.observed is None or judge.predicted is None:
        return ()
    picked = np.unique(np.linspace(0, judge.count - 1, 2 * _FEW).round().astype(int))
    first, second = judge.pairs
    return tuple(
        Line(label_text(first[k]), label_text(second[k]), float(judge.observed[k]), float(judge.predicted[k]))
        for k in picked
    )


def _similar(model: Any) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """For the columns with most observations, those with the most similar factors."""
    seen: Observations = model.observations_
    if model.rank_ < 2 or seen.shape[1] < 3:  # with one factor everything is alike or opposite
        return ()
    counts = np.bincount(seen.cols, minlength=seen.shape[1])
    Q = serving.column_factors(model)
    lengths = np.linalg.norm(Q, axis=1)
    Q = Q / np.where(lengths > 0, lengths, 1.0)[:, None]
    out = []
    for col in np.argsort(-counts, kind="stable")[:3]:
        cosines = Q @ Q[col]
        cosines[col] = -np.inf
        near = np.argsort(-cosines, kind="stable")[:3]
        found = tuple((name_of(model.column_labels_, int(c)), float(cosines[c])) for c in near if cosines[c] > 0)
        if found:
            out.append((name_of(model.column_labels_, int(col)), found))
    return tuple(out)
