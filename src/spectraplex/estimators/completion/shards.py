"""A fitted ``MatrixCompletion`` that is too tall for one machine: an ordinary model for the rows of each shard.

All have the same columns; each knows the labels, factors, intercepts and observations of its own rows. They lie on the
workers of a cluster, or in the files of a model folder, of which one at a time is read.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...objectives.frame_parts import Rows
from ...objectives.row_order import shared_out
from ...places.numpy import Array
from ..input.labels import Labels, as_column
from ..input.observations import OWNER
from . import serving
from .far_parts import observed


class Source(Protocol):
    """Where the models of the shards are."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """What a function says of the model of every shard, one after the other."""
        ...

    def each_numbered(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """The same; the function is told the number of the shard, too."""
        ...


@dataclass(frozen=True, eq=False)
class OnWorkers:
    """Futures of models; ``numbers`` says which range of hashes, of ``count``, each has the rows of."""

    client: Any
    models: tuple[Any, ...]
    numbers: tuple[int, ...]
    count: int

    def each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._told([(model, *arguments) for model in self.models], function)

    def each_numbered(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._told([(model, number, *arguments) for number, model in enumerate(self.models)], function)

    def _told(self, given: list[tuple[Any, ...]], function: Callable[..., Any]) -> Iterator[Any]:
        asked = [self.client.submit(function, *each, pure=False) for each in given]
        return (future.result() for future in asked)

    def answered(self, frame: Any, row: str, function: Callable[..., Any], meta: Any, *arguments: Any) -> Any:
        """A Dask frame: what a function says of the lines of another one, each asked where the rows are."""
        import dask.dataframe as dd

        parts = self.client.compute(shared_out(frame, row, self.count).to_delayed())
        by_number = dict(zip(self.numbers, self.models, strict=True))
        answers = [
            self.client.submit(answer, function, by_number.get(number, self.models[0]), part, *arguments, pure=False)
            for number, part in enumerate(parts)
        ]
        return dd.from_delayed(answers, meta=meta, verify_meta=False)


class Shards:
    """Answers of a model in shards: every row is asked where it is known.

    While they lie on a cluster ``problem`` and ``X`` are what its certificate is about:
    ``spectraplex.verify(model.certificate_, model.shards_.problem, model.shards_.X)`` runs there.
    """

    def __init__(self, source: Source, problem: Any = None, X: Any = None) -> None:
        self.source, self.problem, self.X = source, problem, X

    def predict(self, model: Any, first: Array, second: Array) -> Array:
        cols = model.column_labels_.codes(second, OWNER, "column labels")
        out = serving.linked(model, model.offset_ + np.where(cols >= 0, model.column_intercepts_[cols], 0.0))
        for places, values in self.source.each(predicted_here, first, second):
            out[places] = values
        return np.asarray(out)

    def embed(self, model: Any, rows: Array) -> Array:
        out = np.zeros((rows.size, model.s_.size))
        for places, values in self.source.each(embedded_here, rows):
            out[places] = values
        return out

    def recommend(self, rows: Array, n: int, exclude_seen: bool, allow: Array) -> list[Any]:
        answers: list[Any] = [None] * rows.size
        for places, values in self.source.each(recommended_here, rows, n, exclude_seen, allow):
            for place, value in zip(places, values, strict=True):
                answers[place] = value
        if any(answer is None for answer in answers):  # the columns that are best on the whole
            common = next(iter(self.source.each(recommended_to, n, allow)))
            answers = [common if answer is None else answer for answer in answers]
        return answers


def answer(function: Callable[..., Any], model: Any, part: Any, *arguments: Any) -> Any:
    """Without the number of the shard, which the lines came with."""
    return function(model, part.reset_index(drop=True), *arguments)


def predicted_here(model: Any, first: Array, second: Array) -> tuple[Array, Array]:
    """Which of the pairs have a row of this shard, and their predictions."""
    rows = model.row_labels_.codes(first, OWNER, "row labels")
    own = np.nonzero(rows >= 0)[0]
    cols = model.column_labels_.codes(second[own], OWNER, "column labels")
    return own, serving.linked(model, serving.linear(model, rows[own], cols))


def embedded_here(model: Any, rows: Array) -> tuple[Array, Array]:
    codes = model.row_labels_.codes(rows, OWNER, "row labels")
    own = np.nonzero(codes >= 0)[0]
    return own, serving.taken(serving.row_factors(model), codes[own])


def recommended_here(model: Any, rows: Array, n: int, exclude_seen: bool, allow: Array) -> tuple[Array, list[Any]]:
    codes = model.row_labels_.codes(rows, OWNER, "row labels")
    own = np.nonzero(codes >= 0)[0]
    return own, serving.recommend(model, codes[own], n, exclude_seen, allow)


def recommended_to(model: Any, n: int, allow: Array) -> Any:
    """What a row that nobody knows is recommended."""
    return serving.recommend(model, np.full(1, -1), n, True, allow)[0]


def shard_model(part: Rows, state: Any, slots: tuple[int, int, int], common: Any) -> Any:
    """The model of one shard: what all have in common, and the rows that are its own."""
    U, intercepts, scales = (state[0][slot] for slot in slots)
    model = copy.copy(common)
    model.row_labels_ = Labels.of(as_column(part.labels, OWNER, "row labels"))
    model.U_ = model.profiles_ = U
    model.row_intercepts_, model.row_scales_ = intercepts[:, 0], scales[:, 0]
    model.observations_, model.shape_ = observed(part), part.shape
    return model
