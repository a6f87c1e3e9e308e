"""A model in shards as a folder: what all rows have in common in columns.npz, and a file for the rows of each shard.

The arrays of both together are those of a whole model (store.py). Workers write their own rows, so they must see the
folder; whoever reads has one shard in memory at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..input.labels import Labels
from ..input.observations import Observations
from .shards import Shards
from .store_parts import COLUMNS, Altered, listed, read_arrays, write_arrays, write_parts

ROWS = ("U_", "row_intercepts_", "row_scales_", "row_labels", "rows", "cols", "values", "weights")


def write(folder: Path, model: Any, facts: dict[str, Any]) -> None:
    """Everything into an empty folder that the workers see, too."""
    shards: Shards = vars(model)["shards_"]
    marks, counted = {}, []
    here = str(folder.resolve())
    try:
        for number, (mark, count) in enumerate(shards.source.each_numbered(write_rows, here)):
            marks[_name(number)] = mark
            counted.append(count)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the workers cannot write their rows there ({error.strerror}); name a folder that all see",
            here,
        ) from None
    arrays, document = _common(model).to_arrays()
    for name in (*ROWS, "profiles_"):
        arrays.pop(name, None)
    arrays["column_counts_"] = vars(model)["column_counts_"]
    document["shape"], document["shards"] = list(model.shape_), counted
    write_parts(folder, model, {COLUMNS: None}, arrays, document, facts, marks)


def write_rows(model: Any, number: int, folder: str) -> tuple[str, int]:
    """The rows of one shard, written by the worker that has them; the mark of the file, and how many there are."""
    arrays, _ = model.to_arrays()
    path = Path(folder) / _name(number)
    mark = write_arrays(path, {name: arrays[name] for name in ROWS if name in arrays})
    return mark, len(model.row_labels_)


def _name(number: int) -> str:
    return f"rows-{number:05d}.npz"


def _common(model: Any) -> Any:
    """The model without any row: what it takes to write the rest down."""
    bare: Any = copy.copy(model)
    vars(bare).pop("shards_")
    rank, n = model.s_.size, len(model.column_labels_)
    bare.U_ = bare.profiles_ = np.zeros((0, rank))
    bare.row_intercepts_ = bare.row_scales_ = np.zeros(0)
    bare.row_labels_ = Labels(np.zeros(0, np.int64))
    bare.observations_ = Observations(*(np.zeros(0, np.int64),) * 2, np.zeros(0), None, (0, n))
    return bare


@dataclass(frozen=True, eq=False)
class InFolder:
    """The models of the shards, read one after the other; ``kind`` is the class of the estimator."""

    kind: Any
    folder: Path
    common: dict[str, Array]
    document: dict[str, Any]
    marks: dict[str, str]

    def each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        for name in sorted(self.marks):
            yield function(self.model(name), *arguments)

    def each_numbered(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """The same; the function is told the number of the shard, too."""
        for number, name in enumerate(sorted(self.marks)):
            yield function(self.model(name), number, *arguments)

    def model(self, name: str) -> Any:
        arrays = self.common | read_arrays(self.folder, name, self.marks[name])
        rows, n = arrays["U_"].shape[0], arrays["V_"].shape[0]
        document = self.document | {"shape": [rows, n]}
        model: Any = self.kind.from_arrays(arrays | {"profiles_": arrays["U_"]}, document)
        model.column_counts_ = arrays["column_counts_"]
        return model


def read(kind: Any, folder: Path, document: dict[str, Any]) -> Any:
    """The model of a folder; its rows stay there."""
    marks = {name: mark for name, mark in document["files"].items() if name != COLUMNS}
    for name in marks:
        if not (folder / name).is_file():
            raise Altered(f"{folder}: {name} is missing; the model is not complete. Fit it again.")
    common, inside = listed(document, read_arrays(folder, COLUMNS, document["files"][COLUMNS]))
    source = InFolder(kind, folder, common, inside, marks)
    model: Any = source.model(min(marks))
    for name in ("U_", "profiles_", "row_intercepts_", "row_scales_", "row_labels_", "observations_"):
        delattr(model, name)
    model.shape_, model.shards_ = tuple(inside["shape"]), Shards(source)
    return model
