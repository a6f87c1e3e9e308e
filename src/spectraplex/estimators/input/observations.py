"""What was observed, from whatever it came in: pairs of labels, a data frame, a sparse matrix, an array with holes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import numbers
from ...places.numpy import Array
from .labels import as_column, objects

OWNER = "MatrixCompletion"


@dataclass(frozen=True, eq=False)
class Observations:
    """Entries of a table: places counted from zero, values, and positive weights (None: all one)."""

    rows: Array
    cols: Array
    values: Array
    weights: Array | None
    shape: tuple[int, int]

    def __len__(self) -> int:
        return int(self.values.size)

    def part(self, which: Array) -> Observations:
        weights = None if self.weights is None else self.weights[which]
        return Observations(self.rows[which], self.cols[which], self.values[which], weights, self.shape)

    def joined(self, other: Observations) -> Observations:
        """Both, in the larger shape."""
        weights = None
        if self.weights is not None or other.weights is not None:
            both = [np.ones(len(part)) if part.weights is None else part.weights for part in (self, other)]
            weights = np.concatenate(both)
        shape = (max(self.shape[0], other.shape[0]), max(self.shape[1], other.shape[1]))
        pairs = ((self.rows, other.rows), (self.cols, other.cols), (self.values, other.values))
        rows, cols, values = (np.concatenate(pair) for pair in pairs)
        return Observations(rows, cols, values, weights, shape)

    @staticmethod
    def stacked(parts: list[Observations], shape: tuple[int, int]) -> Observations:
        """Those of tables below each other; the rows of each begin where the part before ends."""
        firsts = np.cumsum([0, *(part.shape[0] for part in parts)])
        rows = np.concatenate([part.rows + first for part, first in zip(parts, firsts, strict=False)])
        cols, values = np.concatenate([part.cols for part in parts]), np.concatenate([part.values for part in parts])
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([np.ones(len(part)) if part.weights is None else part.weights for part in parts])
        return Observations(rows, cols, values, weights, shape)

    def tidy(self) -> Observations:
        """In the order of the table, with the same observation twice as one of double weight.

        So a fit does not depend, not even in its last digit, on the order of the data, nor on whether an observation
        came twice or with weight two.
        """
        key = self.rows.astype(np.int64) * self.shape[1] + self.cols
        order = table_order(self.rows, self.cols, self.shape)
        if not (np.diff(key[order]) == 0).any():
            return self.part(order)
        order = np.lexsort((self.values, key))
        new = np.ones(order.size, bool)
        new[1:] = (np.diff(key[order]) != 0) | (np.diff(self.values[order]) != 0)
        weights = np.bincount(np.cumsum(new) - 1, None if self.weights is None else self.weights[order]).astype(float)
        first = order[new]
        kept = None if (weights == 1.0).all() else weights
        return Observations(self.rows[first], self.cols[first], self.values[first], kept, self.shape)

    def counts(self) -> tuple[Array, Array]:
        """Observations (or their weights) in every row and in every column."""
        return np.bincount(self.rows, self.weights, self.shape[0]), np.bincount(self.cols, self.weights, self.shape[1])


def table_order(rows: Array, cols: Array, shape: tuple[int, int]) -> Array:
    """By row, then by column, then as they came; short numbers are sorted in a few passes, without comparisons."""
    if max(shape) > 1 << 16:
        return np.argsort(rows.astype(np.int64) * shape[1] + cols, kind="stable")
    by_column = np.argsort(cols.astype(np.uint16), kind="stable")
    return by_column[np.argsort(rows.astype(np.uint16)[by_column], kind="stable")]


def pair_columns(pairs: Any, names: Any = None, owner: str = OWNER) -> tuple[Array, Array, list[str] | None]:
    """The two columns of labels, each of its own type, and their names where the pairs are a frame.

    ``owner`` is, here and below, the estimator in whose name bad input is refused.
    """
    from scipy.sparse import issparse

    if issparse(pairs):
        how = (
            "for a sparse matrix of values use fit_matrix" if owner == OWNER else "give np.transpose(matrix.nonzero())"
        )
        raise TypeError(f"{owner}: Sparse data was passed as pairs, but pairs are two columns of labels; {how}.")
    refuse_masked(pairs, "pairs", owner)
    frame = as_frame(pairs, owner)
    if frame is not None:
        wanted = list(frame.columns)
        if names is not None and wanted != list(names) and all(isinstance(name, str) for name in wanted):
            _has(wanted, names, owner)
            wanted = list(names)
        _two(len(wanted), len(frame), owner)
        called = wanted if all(isinstance(name, str) for name in wanted) else None
        return frame_column(frame, wanted[0], owner), frame_column(frame, wanted[1], owner), called
    if isinstance(pairs, list | tuple):  # one column at a time: NumPy would make strings or floats of both
        try:
            first, second = zip(*pairs, strict=True) if len(pairs) else ((), ())
        except (TypeError, ValueError):
            return (*_array_columns(_even(pairs, "pairs", owner), owner), None)
        return as_column(first, owner, "row labels"), as_column(second, owner, "column labels"), None
    return (*_array_columns(np.asarray(pairs), owner), None)


def _has(columns: list[str], names: Any, owner: str) -> None:
    """A frame without the columns of the fit may have them in another order; nobody guesses which is which."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(
            f"{owner}: The feature names should match those that were passed during fit: the frame has no column "
            f"{missing[0]!r}, it has {', '.join(map(repr, columns[:20]))}; rename its columns, or give an array."
        )


def _even(rows: Any, name: str, owner: str = OWNER) -> Array:
    try:
        return np.asarray(rows)
    except ValueError:
        raise ValueError(f"{owner}: {name} are ragged: all of them need the same length.") from None


def refuse_masked(values: Any, name: str, owner: str = OWNER) -> None:
    """NumPy drops a mask without a word, and what it hid would count."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise ValueError(f"{owner}: {name} have masked entries; leave those out.")


def _array_columns(array: Array, owner: str) -> tuple[Array, Array]:
    if array.ndim != 2:
        raise ValueError(
            f"{owner}: Expected 2D array, got {array.ndim}D array instead: pairs must have two columns, row label and "
            "column label. Reshape your data, for one pair as [[row, column]]."
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        empty = "sample(s)" if array.shape[0] == 0 else "feature(s)"
        raise ValueError(f"{owner}: 0 {empty} (shape={array.shape}) while a minimum of 1 is required: nothing to do.")
    for name, column in (("row labels", array[:, 0]), ("column labels", array[:, -1])):
        if column.dtype.kind in "fc":
            as_column(column, owner, name)  # what is no label at all is told before how many there are
    _two(array.shape[1], array.shape[0], owner)
    return as_column(array[:, 0], owner, "row labels"), as_column(array[:, 1], owner, "column labels")


def _two(features: int, samples: int, owner: str) -> None:
    if features != 2:
        raise ValueError(
            f"X has {features} features, but {owner} is expecting 2 features as input: row label and column label "
            f"(n_samples={samples}, n_features={features})."
        )


def as_frame(data: Any, owner: str = OWNER) -> Any:
    """The data as a narwhals frame, or None when it is no data frame."""
    if isinstance(data, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            return frame.collect()
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{owner}: the frame has columns of one name ({error}); rename them.") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _whole(frame: Any, name: Any, owner: str) -> Any:
    """A column that is there and has no holes."""
    if name not in frame.columns:
        raise ValueError(f"{owner}: the frame has no column {name!r}; it has {', '.join(map(str, frame.columns))}.")
    series = frame.get_column(name)
    holes = int(series.null_count())
    if holes:
        place = int(np.argmax(np.asarray(series.is_null().to_numpy(), bool)))
        raise ValueError(f"{owner}: {name}[{place}] is missing (NaN); leave such rows out ({holes} in all).")
    return series


def frame_column(frame: Any, name: Any, owner: str = OWNER) -> Array:
    """A column of labels; strings stay strings, ids stay whole, and missing ones are refused."""
    series = _whole(frame, name, owner)
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float():
        return as_column(np.asarray(series.to_numpy()), owner, str(name))
    return as_column(objects(series.to_list()), owner, str(name))


def frame_numbers(frame: Any, name: str, owner: str = OWNER) -> Array:
    """A column of numbers: text is refused with its line, and so are missing values."""
    series = _whole(frame, name, owner)
    if series.dtype.is_integer() or series.dtype.is_float():
        return np.asarray(series.to_numpy(), np.float64)
    out = []
    for place, value in enumerate(series.to_list()):
        try:
            out.append(float(value))
        except (TypeError, ValueError):
            raise ValueError(f"{owner}: {name}[{place}] is {value!r}, which is not a number.") from None
    return np.array(out, np.float64)


def matrix_labels(M: Any, shape: tuple[int, int]) -> tuple[Array | None, Array | None]:
    """What a data frame calls its rows (pandas' index) and columns; None where it only counts them."""
    frame = as_frame(M)
    if frame is None:
        return None, None
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    named = (None if index is None else list(index), list(frame.columns))
    rows, cols = (
        None if each is None or each == list(range(count)) else as_column(objects(each), OWNER, f"{side} labels")
        for each, count, side in zip(named, shape, ("row", "column"), strict=True)
    )
    return rows, cols


def matrix_entries(M: Any) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Positions and values of what is observed in a sparse matrix (all that is stored) or an array (all but NaN)."""
    from scipy.sparse import issparse

    if issparse(M):
        if len(M.shape) != 2:
            raise ValueError(f"{OWNER}: the matrix must have 2 dimensions, got shape {M.shape}.")
        if M.dtype.kind == "c":
            raise TypeError(f"{OWNER}: the matrix must hold real numbers, got dtype {M.dtype}.")
        table = M.tocoo(copy=True)  # not by rows: a matrix may have more of them than there is memory
        table.sum_duplicates()  # what a matrix in coordinates means by the same place twice
        values = numbers(OWNER, "the stored values", table.data, ndim=1)
        rows, cols = np.asarray(table.row, np.int64), np.asarray(table.col, np.int64)
    else:
        frame = as_frame(M)
        if np.ma.isMaskedArray(M):
            M = np.ma.filled(M.astype(np.float64), np.nan)
        array = _even(M, "the rows of the matrix") if frame is None else np.asarray(frame.to_numpy())
        if array.dtype == object:
            try:
                array = array.astype(np.float64)  # None becomes NaN
            except (TypeError, ValueError) as error:
                raise TypeError(f"{OWNER}: the matrix must hold real numbers ({error}).") from None
        if array.dtype.kind not in "buif":
            raise TypeError(f"{OWNER}: the matrix must hold real numbers, got dtype {array.dtype}.")
        if array.ndim != 2:
            raise ValueError(f"{OWNER}: the matrix must have 2 dimensions, got shape {array.shape}.")
        rows, cols = np.nonzero(~np.isnan(array)) if array.dtype.kind == "f" else np.nonzero(np.ones(array.shape))
        values, table = numbers(OWNER, "the matrix", array[rows, cols], ndim=1), array
    shape = (int(table.shape[0]), int(table.shape[1]))
    if min(shape) < 1 or not values.size:
        raise ValueError(f"{OWNER}: nothing is observed in a matrix of shape {shape}; there is nothing to fit.")
    return rows, cols, values, shape
