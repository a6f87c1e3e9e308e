"""A table with holes, whatever file it came in: places, values, and labels as the file has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.input.labels import Labels
from ..estimators.input.observations import Observations
from ..fingerprint import fingerprint
from ..places.numpy import Array


@dataclass(frozen=True, eq=False)
class Table:
    """What was read: value k stands at (rows[k], cols[k]); labels are text where the file is text.

    ``reading`` says how it was read, so that the same file can be read the same way again; ``guess`` says it to a
    person; ``names`` are those of the row, column and value columns; ``locate`` finds where value k is in the file;
    ``when`` orders the pairs by time, in the order of the table, if times were asked for.
    """

    rows: Array
    cols: Array
    values: Array
    row_labels: Labels
    column_labels: Labels
    names: tuple[str, str, str]
    name: str
    reading: dict[str, Any]
    guess: str
    locate: Callable[[int], str]
    when: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_labels), len(self.column_labels)

    def __len__(self) -> int:
        return int(self.values.size)

    def observations(self) -> Observations:
        return Observations(self.rows, self.cols, self.values, None, self.shape)

    @property
    def mark(self) -> str:
        """A fingerprint of the data, whatever the order of the file."""
        order = np.lexsort((self.values, self.cols, self.rows))
        labels = (self.row_labels.packed(), self.column_labels.packed())
        return fingerprint(*labels, self.rows[order], self.cols[order], self.values[order])


def as_text(label: Any) -> str:
    """A label as it stands in a text file; whole numbers and words as they are."""
    if isinstance(label, str):
        return label
    return label.isoformat() if hasattr(label, "isoformat") else str(label)


def codes_of(labels: Labels, asked: Sequence[Any]) -> Array:
    """The place of every label, −1 for one that is not there; 7 and "7" are the same label here."""
    places = {as_text(label): place for place, label in enumerate(labels.values.tolist())}
    return np.fromiter((places.get(as_text(label), -1) for label in asked), np.int64, len(asked))
