"""Files that are not text: Parquet, npz and npy arrays, Matrix Market."""

from __future__ import annotations

import datetime
import decimal
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.input.labels import Labels, as_column, distinct, objects
from ..estimators.input.observations import as_frame, frame_column, matrix_entries
from ..places.numpy import Array
from .layout import Asked, chosen, is_number, place_of
from .records import Layout
from .table import Table, as_text

_TRIPLE = ("rows", "cols", "values")
_PRINTED = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)


def read_array(path: Path, kind: str, asked: Asked) -> Table:
    """A matrix whose labels are its indices, counted from zero; in an npz, a scipy sparse matrix, an array with NaN
    where nothing is, or arrays rows, cols and values."""
    told = f"{path}: indices are the labels, counted from 0"
    try:
        held = _mtx(path) if kind == ".mtx" else _numpy(path)
    except (ValueError, EOFError, KeyError, OverflowError, RuntimeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as {kind[1:]} ({str(error).rstrip('.')}).") from error
    try:
        if isinstance(held, dict):
            rows, cols, values, labels = _triple(held)
            told = f"{path}: arrays rows, cols and values"
        else:
            rows, cols, values, shape = matrix_entries(held)
            (rows, row_labels), (cols, column_labels) = (
                _indices(codes, count, side, asked)
                for codes, count, side in ((rows, shape[0], "row"), (cols, shape[1], "column"))
            )
            labels = (row_labels, column_labels)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {str(error).removeprefix('MatrixCompletion: ')}") from None
    return _table(path, rows, cols, values, labels, ("row", "column", "value"), told, {"matrix": asked.matrix}, asked)


def _indices(codes: Array, count: int, side: str, asked: Asked) -> tuple[Array, Labels]:
    """Indices as labels. Those of a matrix with millions of empty rows are never all made: they may not fit."""
    seen, places = np.unique(codes, return_inverse=True)
    if seen.size == count:
        return codes, Labels.range(count)
    if asked.drop_empty:
        return places.reshape(-1), Labels(seen)
    gaps = np.flatnonzero(seen != np.arange(seen.size))
    first = int(gaps[0]) if gaps.size else int(seen.size)
    raise ValueError(
        f"{side} {first} has no value at all ({count - seen.size} such in all); give --drop-empty to leave out what is "
        "empty."
    )


def _triple(held: dict[str, Any]) -> tuple[Array, Array, Array, tuple[Labels, Labels]]:
    first, second, values = (np.asarray(held[name]) for name in _TRIPLE)
    if not first.ndim == second.ndim == values.ndim == 1 or not first.size == second.size == values.size:
        raise ValueError("rows, cols and values must be of one length.")
    if values.dtype.kind not in "buif":
        raise ValueError(f"values must be real numbers, got dtype {values.dtype}.")
    (row_labels, rows), (column_labels, cols) = (
        distinct(storable(column, name)) for column, name in ((first, "rows"), (second, "cols"))
    )
    return rows, cols, values.astype(np.float64), (Labels(row_labels), Labels(column_labels))


def storable(column: Array, name: str) -> Array:
    """Labels that a model folder can hold: numbers and text. Dates and decimals become the text that they print as."""
    if column.dtype.kind == "S":
        column = objects([label.decode("utf-8") for label in column.tolist()])
    if column.dtype.kind == "M":
        column = objects(np.datetime_as_string(column).tolist())
    column = as_column(column, "MatrixCompletion", name)
    if column.dtype != object:
        return column
    held = column.tolist()
    other = next((label for label in held if not isinstance(label, (str, int, float, *_PRINTED))), None)
    if other is not None:
        raise ValueError(f"{name} holds {other!r}, a {type(other).__name__}; labels are text, numbers or dates.")
    return objects([as_text(label) if isinstance(label, _PRINTED) else label for label in held])


def _mtx(path: Path) -> Any:
    from scipy.io import mmread

    return mmread(path)


def _numpy(path: Path) -> Any:
    from scipy.sparse import load_npz

    if path.stat().st_size == 0:
        raise ValueError("it is empty")
    with path.open("rb") as opened:
        if opened.read(4) not in (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUM"):
            raise ValueError("it is neither an archive of arrays nor an array, as NumPy writes them")
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded as file:
        names = file.files
        if set(_TRIPLE) <= set(names):
            return {name: file[name] for name in _TRIPLE}
        if "format" not in names:
            two = [name for name in names if getattr(file[name], "ndim", 0) == 2]
            if len(two) != 1:
                raise ValueError(
                    f"it holds {', '.join(names) or 'nothing'}; needed is one array of two dimensions, a scipy sparse "
                    "matrix, or arrays rows, cols and values"
                )
            return file[two[0]]
    matrix = load_npz(path)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # indices that lead outside would be followed
    return matrix


def read_frame(path: Path) -> Any:
    """A Parquet file as a data frame of whichever of polars and pyarrow is here."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file.")
    try:
        import polars
    except ImportError:
        polars = None  # type: ignore[assignment]
    try:
        if polars is not None:
            return as_frame(polars.read_parquet(path))
        try:
            import pyarrow.parquet
        except ImportError:
            raise ValueError(
                f"{path}: reading Parquet needs polars or pyarrow, and neither is installed; pip install pyarrow, or "
                "write the table as CSV."
            ) from None
        return as_frame(pyarrow.parquet.read_table(path))
    except OSError:
        raise
    except Exception as error:  # both have their own kinds
        if isinstance(error, ValueError) and "neither is installed" in str(error):
            raise
        raise ValueError(f"{path} cannot be read as Parquet ({str(error).splitlines()[0][:200]}).") from error


def read_parquet(path: Path, asked: Asked, tell: Callable[[str], None]) -> Table:
    """Columns keep their types: an id that is a number stays one."""
    frame = read_frame(path)
    names = tuple(frame.columns)
    numeric = [frame.get_column(word).dtype.is_numeric() for word in names]
    # what a text file shows of its columns in a line: numbers where they are
    layout = Layout("", True, names, False, (tuple("0" if each else "x" for each in numeric),))
    if asked.matrix:
        wide = _wide(path, frame, layout, asked)
        tell(wide.guess)
        return wide
    where = chosen(str(path), layout, asked)
    row, column, value = (names[k] for k in where)
    told = f"{path}: rows from {row!r}, columns from {column!r}, values from {value!r}"
    tell(told)
    try:
        frame, values = with_values(frame, value, asked)
        first, second = (_labels(frame, name) for name in (row, column))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {str(error).removeprefix('MatrixCompletion: ')}") from None
    (row_labels, rows), (column_labels, cols) = distinct(first), distinct(second)
    reading = {"row": row, "column": column, "value": value, "matrix": False}
    labels = (Labels(row_labels), Labels(column_labels))
    return _table(path, rows, cols, values, labels, (row, column, value), told, reading, asked)


def with_values(frame: Any, name: str, asked: Asked) -> tuple[Any, Array]:
    """The frame without what is to be left out, and its values; nothing else may be missing or infinite."""
    import narwhals as nw

    series = frame.get_column(name)
    holes = np.asarray(series.is_null().to_numpy(), bool)
    if series.dtype.is_float():
        holes = holes | np.asarray(series.is_nan().fill_null(False).to_numpy(), bool)
    if holes.any():
        if not asked.drop_empty:
            raise ValueError(
                f"entry {int(np.argmax(holes)) + 1}: the value in column {name!r} is missing ({int(holes.sum())} such "
                "in all); give --drop-empty to leave out entries without a value."
            )
        frame = frame.filter(nw.new_series("kept", ~holes, backend=frame.implementation))
    if not len(frame):
        return frame, np.empty(0)
    series = frame.get_column(name)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return frame, np.asarray(series.cast(nw.Float64).to_numpy(), float)
    held = series.to_list()
    wrong = next((k for k, value in enumerate(held) if not isinstance(value, str) or not is_number(value)), None)
    if wrong is not None:
        raise ValueError(f"entry {wrong + 1}: the value {held[wrong]!r} in column {name!r} is not a number.")
    return frame, np.array([float(value) for value in held])


def _labels(frame: Any, name: str) -> Array:
    holes = np.asarray(frame.get_column(name).is_null().to_numpy(), bool)
    if holes.any():
        raise ValueError(
            f"entry {int(np.argmax(holes)) + 1}: the label in column {name!r} is missing ({int(holes.sum())} such in "
            "all); an observation needs one."
        )
    return storable(frame_column(frame, name), repr(name))


def _wide(path: Path, frame: Any, layout: Layout, asked: Asked) -> Table:
    labelled: int | None = None
    if asked.row is not None:
        labelled = None if asked.row.lower() == "none" else place_of(str(path), layout, asked.row, "--row")
    elif layout.names and not is_number(layout.sample[0][0]):
        labelled = 0
    kept = [word for k, word in enumerate(layout.names) if k != labelled]
    words = [word for word in kept if not frame.get_column(word).dtype.is_numeric()]
    if words or not kept:
        raise ValueError(
            f"{path}: column {(words or layout.names)[0]!r} holds no numbers; --row names the one with labels."
        )
    row_labels = Labels.range(len(frame))
    order: Array = np.arange(len(frame))
    if labelled is not None:
        try:
            column = _labels(frame, layout.names[labelled])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: {str(error).removeprefix('MatrixCompletion: ')}") from None
        found, order = distinct(column)
        if found.size < column.size:
            raise ValueError(f"{path}: labels in column {layout.names[labelled]!r} repeat; rows need different ones.")
        row_labels = Labels(found)
    array = np.column_stack([np.asarray(frame.get_column(word).to_numpy(), float) for word in kept])
    infinite = np.argwhere(np.isinf(array))
    if infinite.size:
        entry, place = infinite[0]
        raise ValueError(f"{path}: entry {entry + 1} of column {kept[place]!r} is not finite.")
    rows, cols = np.nonzero(~np.isnan(array))
    values = array[rows, cols]
    column_labels, place = distinct(objects(kept))
    told = f"{path}: a wide table; " + (
        "rows counted from 0" if labelled is None else f"row labels from {layout.names[labelled]!r}"
    )
    reading = {"matrix": True} | ({} if labelled is None else {"row": layout.names[labelled]})
    labels = (row_labels, Labels(column_labels))
    return _table(path, order[rows], place[cols], values, labels, ("row", "column", "value"), told, reading, asked)


def _table(
    path: Path,
    rows: Array,
    cols: Array,
    values: Array,
    labels: tuple[Labels, Labels],
    names: tuple[str, str, str],
    told: str,
    reading: dict[str, Any],
    asked: Asked,
) -> Table:
    locate: Callable[[int], str] = lambda place: f"entry {place + 1}"  # noqa: E731
    reading = reading | {"duplicates": asked.duplicates, "drop_empty": asked.drop_empty}
    return Table(rows, cols, values, *labels, names, str(path), reading, told, locate)
