"""Files that are not text: Parquet, npz and npy arrays, Matrix Market."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..estimators.labels import Labels, distinct, objects
from ..estimators.observations import as_frame, frame_column, frame_numbers, matrix_entries
from .layout import Asked, Layout, chosen, is_number, place_of
from .tables import Table

_TRIPLE = ("rows", "cols", "values")


def read_array(path: Path, kind: str, asked: Asked) -> Table:
    """A matrix whose labels are its indices, counted from zero; in an npz, a scipy sparse matrix, an array with NaN
    where nothing is, or arrays rows, cols and values."""
    told = f"{path}: indices are the labels, counted from 0"
    try:
        held = _mtx(path) if kind == ".mtx" else _numpy(path)
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as {kind[1:]} ({str(error).rstrip('.')}).") from error
    if isinstance(held, dict):
        rows, cols = (np.asarray(held[name]) for name in _TRIPLE[:2])
        values = np.asarray(held["values"], float)
        if not rows.ndim == cols.ndim == values.ndim == 1 or not rows.size == cols.size == values.size:
            raise ValueError(f"{path}: rows, cols and values must be of one length.")
        (row_labels, rows), (column_labels, cols) = distinct(rows), distinct(cols)
        labels, told = (Labels(row_labels), Labels(column_labels)), f"{path}: arrays rows, cols and values"
    else:
        try:
            rows, cols, values, shape = matrix_entries(held)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: {str(error).removeprefix('MatrixCompletion: ')}") from None
        labels = (Labels.range(shape[0]), Labels.range(shape[1]))
    return _table(path, rows, cols, values, labels, ("row", "column", "value"), told, {"matrix": asked.matrix}, asked)


def _mtx(path: Path) -> Any:
    from scipy.io import mmread

    return mmread(path)


def _numpy(path: Path) -> Any:
    from scipy.sparse import load_npz

    if path.stat().st_size == 0:
        raise ValueError("it is empty")
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded as file:
        names = file.files
        if set(_TRIPLE) <= set(names):
            return {name: file[name] for name in _TRIPLE}
        if "format" not in names:
            two = [name for name in names if file[name].ndim == 2]
            if len(two) != 1:
                raise ValueError(
                    f"it holds {', '.join(names) or 'nothing'}; needed is one array of two dimensions, a scipy sparse "
                    "matrix, or arrays rows, cols and values"
                )
            return file[two[0]]
    return load_npz(path)


def read_frame(path: Path) -> Any:
    """A Parquet file as a data frame of whichever of polars and pyarrow is here."""
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


def read_parquet(path: Path, asked: Asked) -> Table:
    """Columns keep their types: an id that is a number stays one."""
    frame = read_frame(path)
    names = tuple(frame.columns)
    numeric = [frame.get_column(word).dtype.is_numeric() for word in names]
    # what a text file shows of its columns in a line: numbers where they are
    layout = Layout("", True, names, False, (tuple("0" if each else "x" for each in numeric),))
    if asked.matrix:
        return _wide(path, frame, layout, asked)
    where = chosen(str(path), layout, asked)
    row, column, value = (names[k] for k in where)
    holes = np.asarray(frame.get_column(value).is_null().to_numpy(), bool)
    if asked.drop_empty and holes.any():
        import narwhals as nw

        frame = frame.filter(~nw.col(value).is_null())
    try:
        first, second = frame_column(frame, row), frame_column(frame, column)
        values = frame_numbers(frame, value)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('MatrixCompletion: ')}") from None
    (row_labels, rows), (column_labels, cols) = distinct(first), distinct(second)
    told = f"{path}: rows from {row!r}, columns from {column!r}, values from {value!r}"
    reading = {"row": row, "column": column, "value": value, "matrix": False}
    labels = (Labels(row_labels), Labels(column_labels))
    return _table(path, rows, cols, values, labels, (row, column, value), told, reading, asked)


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
        column = frame_column(frame, layout.names[labelled])
        found, order = distinct(column)
        if found.size < column.size:
            raise ValueError(f"{path}: labels in column {layout.names[labelled]!r} repeat; rows need different ones.")
        row_labels = Labels(found)
    array = np.column_stack([np.asarray(frame.get_column(word).to_numpy(), float) for word in kept])
    rows, cols, values, _ = matrix_entries(array)
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
