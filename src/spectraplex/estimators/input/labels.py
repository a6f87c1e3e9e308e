"""Labels of rows and columns: whatever a file or a frame calls them, kept exactly, and found again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...places.numpy import Array

_EXACT = 2.0**53  # whole numbers up to here are themselves as floats


@dataclass(frozen=True, eq=False)
class Labels:
    """Distinct labels, sorted where they can be; label i is that of row (or column) i.

    Whole numbers are int64 or uint64 and other numbers float64; strings and everything else stay Python objects, so
    that "007" is not 7 and no id is rounded. ``counted`` says that they are 0 … n − 1, a matrix's own indices.
    """

    values: Array
    counted: bool = False

    @classmethod
    def range(cls, count: int) -> Labels:
        return cls(np.arange(count), True)

    @classmethod
    def of(cls, values: Array) -> Labels:
        """Labels in any order."""
        return _unsorted(values)

    def __len__(self) -> int:
        return int(self.values.size)

    @cached_property
    def kind(self) -> str:
        """ "numbers", "dates", "text", or "things" (anything that can be compared and hashed)."""
        return _kind(self.values)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.values.tolist())}

    def codes(self, column: Array, owner: str, name: str) -> Array:
        """The place of every label, −1 for one that is not here."""
        asked, first = _kind(column), column[:1].tolist()[:1]
        if asked == "things" and self.kind in ("text", "numbers"):  # some of them may be of another kind
            kinds = ((_kind(objects([label])), label) for label in column.tolist())
            asked, *first = next((each for each in kinds if each[0] not in (self.kind, "things")), (asked, *first))
        if "things" not in (asked, self.kind) and asked != self.kind and column.size and len(self):
            raise ValueError(
                f"{owner}: {name} are {asked} such as {first[0]!r}, but the model was fitted with {self.kind} such as "
                f"{self.values[:1].tolist()[0]!r}; give labels of the same kind."
            )
        if column.dtype.kind in "iufM" and self.values.dtype.kind in "iufM":
            return self._search(column)
        places = self._places
        return np.fromiter((places.get(label, -1) for label in column.tolist()), np.int64, column.size)

    def _search(self, column: Array) -> Array:
        known, found = self.values, np.zeros(column.size, bool)
        if not known.size:
            return np.full(column.size, -1)
        if column.dtype != known.dtype and "f" not in (column.dtype.kind, known.dtype.kind):
            return self._across(column)  # int64 beside uint64: NumPy would compare them as floats
        if column.dtype.kind != known.dtype.kind and "f" in (column.dtype.kind, known.dtype.kind):
            return self._across(column)
        place = np.minimum(np.searchsorted(known, column), known.size - 1)
        found = known[place] == column
        return np.where(found, place, -1)

    def _across(self, column: Array) -> Array:
        """Python compares numbers of different types exactly."""
        places = self._places
        return np.fromiter((places.get(label, -1) for label in column.tolist()), np.int64, column.size)

    def joined(self, column: Array) -> Labels:
        """These labels, in their places, and behind them those of a column that are new."""
        fresh = distinct(column)[0]
        new = self.codes(fresh, "MatrixCompletion", "labels") < 0
        if not new.any():
            return self
        if fresh.dtype == self.values.dtype and fresh.dtype != object:
            return _unsorted(np.concatenate([self.values, fresh[new]]))
        return _unsorted(objects([*self.values.tolist(), *fresh[new].tolist()]))

    def packed(self, owner: str = "MatrixCompletion") -> Array:
        """A plain array: numbers and dates as they are, anything else as the bytes of a JSON document."""
        if self.values.dtype != object:
            return self.values
        for label in self.values.tolist():
            if not isinstance(label, str | int | float | bool):
                raise TypeError(
                    f"{owner}: the label {label!r} is a {type(label).__name__}; only strings and numbers can "
                    "be written to a file."
                )
        return np.frombuffer(json.dumps(self.values.tolist()).encode("ascii"), np.uint8)

    @classmethod
    def unpacked(cls, array: Array, counted: bool) -> Labels:
        if array.dtype != np.uint8:
            return _unsorted(array, counted)
        return cls(objects(json.loads(array.tobytes().decode("ascii"))), counted)


def _unsorted(values: Array, counted: bool = False) -> Labels:
    """Labels that need not be sorted: kept as objects, found by hash, if they are not."""
    ordered = values.dtype == object or bool(np.all(values[1:] > values[:-1]))
    return Labels(values if ordered else objects(values.tolist()), counted)


def _kind(values: Array) -> str:
    if values.dtype.kind in "iuf":
        return "numbers"
    if values.dtype.kind == "M":
        return "dates"
    held = values.tolist()
    if all(type(label) is str for label in held):
        return "text"
    if all(isinstance(label, int | float) for label in held):
        return "numbers"
    return "things"


def objects(labels: list[Any]) -> Array:
    """A one-dimensional array of Python objects, even where they are sequences themselves."""
    out = np.empty(len(labels), object)
    out[:] = labels
    return out


def as_column(values: Any, owner: str, name: str) -> Array:
    """Labels as int64, uint64, float64, datetime64 or Python objects; a missing one is refused, saying where."""
    array = values if isinstance(values, np.ndarray) else objects(list(values))
    if array.dtype == object and array.size and all(isinstance(label, np.datetime64) for label in array.tolist()):
        array = np.array(array.tolist())
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind in "USTV":
        array = objects(array.tolist())
    if array.dtype.kind == "c":
        raise ValueError(f"{owner}: Complex data not supported: {name} must be labels, such as ids or names.")
    if array.dtype == object:
        held = [label.item() if isinstance(label, np.generic) else label for label in array.tolist()]
        kinds = {type(label) for label in held}
        if kinds <= {int, bool} and held:
            low, high = min(held), max(held)
            if low >= -(2**63) and high < 2**63:
                return np.array(held, np.int64)
            if low >= 0 and high < 2**64:
                return np.array(held, np.uint64)
        elif kinds == {float}:
            array = np.array(held, np.float64)
        if array.dtype == object:
            if not kinds <= {str}:
                _present(held, owner, name)
            return objects(held)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        bad = ~np.isfinite(array)
        if bad.any():
            _missing(owner, name, int(np.argmax(bad)), array[bad][0])
        whole = array == np.floor(array)
        if whole.all() and np.abs(array).max(initial=0.0) <= _EXACT:
            return array.astype(np.int64)
        return array
    if array.dtype.kind == "M":
        bad = np.isnat(array)
        if bad.any():
            _missing(owner, name, int(np.argmax(bad)), "NaT")
        return array
    return array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)


def _present(held: list[Any], owner: str, name: str) -> None:
    for place, label in enumerate(held):
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"{owner}: argument must be a string or a number: {name}[{place}] is a {type(label).__name__}, "
                "which cannot be a label."
            ) from None
        # NaN, NaT and pandas' NA are the things that do not equal themselves
        if label is None or type(label).__name__ == "NAType" or label != label:
            _missing(owner, name, place, label)


def _missing(owner: str, name: str, place: int, label: Any) -> None:
    words = "infinity" if isinstance(label, float) and label in (np.inf, -np.inf) else "missing (NaN)"
    raise ValueError(f"{owner}: {name}[{place}] is {words}; leave observations without a label out.")


def distinct(column: Array) -> tuple[Array, Array]:
    """The distinct labels, sorted where they can be, and the place of every one."""
    if column.dtype.kind in "iu" and column.size:
        low, high = int(column.min()), int(column.max())
        if high - low <= max(4 * column.size, 1 << 16) and abs(low) < 2**62 and abs(high) < 2**62:  # looked up
            there = np.zeros(high - low + 1, bool)
            places = (column - column.dtype.type(low)).astype(np.intp)
            there[places] = True
            values = (np.flatnonzero(there) + low).astype(column.dtype)
            return values, (np.cumsum(there) - 1)[places]
    if column.dtype != object:
        values, inverse = np.unique(column, return_inverse=True)
        return values, inverse.reshape(-1)
    known: dict[Any, int] = {}
    codes = np.fromiter((known.setdefault(label, len(known)) for label in column.tolist()), np.int64, column.size)
    labels = list(known)
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # of kinds that have no order: as they came
        return objects(labels), codes
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels))
    return objects([labels[i] for i in order]), rank[codes]
