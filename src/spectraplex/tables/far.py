"""Tables in many files, read by a cluster: Parquet or CSV, on any path that Dask reads.

The files are looked at first, one after the other: what is missing, cannot be read or has other columns is told with
the file's name, before any work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .digits import remedy
from .layout import MISSING, Asked, chosen, guessed
from .records import Layout

_MOST = 2000  # files that are looked at; the others are as those
_TEXT = (".csv", ".tsv", ".txt", ".dat", ".data")


@dataclass(frozen=True, eq=False)
class FarFiles:
    """A frame that is not read yet, the names of its row, column and value columns, and how that was decided."""

    frame: Any
    names: tuple[str, str, str]
    guess: str
    files: int


def address(path: Path) -> str:
    """As it was typed: a ``Path`` makes one slash of the two in s3://bucket."""
    return re.sub(r"^([a-z][a-z0-9+.-]+):/(?!/)", r"\1://", str(path))


def read_far(path: Path, asked: Asked) -> FarFiles:
    """Files that a pattern or a folder names."""
    if asked.matrix:
        raise ValueError("--cluster reads files with one observation a line; --matrix is for one machine.")
    where = address(path)
    fs, files = _listed(where)
    kind = _kind(where, files)
    return _parquet(where, fs, files, asked) if kind == "parquet" else _text(where, fs, files, asked)


def _listed(where: str) -> tuple[Any, list[str]]:
    import fsspec

    protocol = where.partition("://")[0] if "://" in where else "file"
    try:
        fs, bare = fsspec.core.url_to_fs(where)
        found = sorted(fs.glob(bare)) if any(mark in bare for mark in "*?[") else [bare]
        files: list[str] = []
        for each in found:
            if fs.isdir(each):
                files += sorted(name for name in fs.find(each) if not Path(name).name.startswith(("_", ".")))
            elif fs.exists(each):
                files.append(each)
    except (ImportError, ValueError) as error:
        raise ValueError(f"{where}: {protocol} files cannot be read here ({str(error).rstrip('.')}).") from None
    if not files:
        raise ValueError(
            f"{where}: there is no such file; name a file, a folder, or a pattern such as 'ratings/*.parquet'."
        )
    return fs, files


def _kind(where: str, files: list[str]) -> str:
    kinds = {_ending(file) for file in files}
    if len(kinds) > 1:
        names = " and ".join(Path(next(file for file in files if _ending(file) == kind)).name for kind in sorted(kinds))
        raise ValueError(f"{where}: files of more than one kind ({names}); give a pattern such as '*.parquet'.")
    return kinds.pop()


def _ending(file: str) -> str:
    endings = [ending.lower() for ending in Path(file).suffixes if ending.lower() not in (".gz", ".zip", ".snappy")]
    last = endings[-1] if endings else ""
    if last in (".parquet", ".pq"):
        return "parquet"
    if last in _TEXT:
        return "text"
    raise ValueError(f"{file}: --cluster reads Parquet and CSV files; the ending {last or 'of this one'!r} is neither.")


def _parquet(where: str, fs: Any, files: list[str], asked: Asked) -> FarFiles:
    import dask.dataframe as dd
    import pyarrow.parquet as pq

    schemas = []
    for file in files[:_MOST]:
        try:
            with fs.open(file, "rb") as raw:
                schemas.append(pq.read_schema(raw))
        except Exception as error:  # pyarrow has many kinds
            words = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
            raise ValueError(f"{file} cannot be read as Parquet ({words}).") from None
    first = schemas[0]
    numeric = [_is_numeric(first.field(name).type) for name in first.names]
    sample = (tuple("1" if number else "x" for number in numeric),)
    layout = Layout(",", True, tuple(first.names), False, sample)
    names = _names(where, layout, asked)
    for file, schema in zip(files, schemas, strict=False):
        for name, role in zip(names, ("row", "column", "value"), strict=True):
            if name not in schema.names:
                raise ValueError(
                    f"{file} has no column {name!r}, which {files[0]} has; it has {', '.join(schema.names)}."
                )
            here, there = _is_numeric(schema.field(name).type), _is_numeric(first.field(name).type)
            if here != there or (role == "value" and not here):
                kind = "numbers are" if there or role == "value" else "text is"
                raise ValueError(f"{file}: column {name!r} holds {schema.field(name).type}, where {kind} needed.")
    frame = dd.read_parquet(where if len(files) > _MOST else [fs.unstrip_protocol(file) for file in files])
    return FarFiles(frame[list(names)], names, _told(where, files, names), len(files))


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _text(where: str, fs: Any, files: list[str], asked: Asked) -> FarFiles:
    import dask.dataframe as dd

    encoding = asked.encoding or "utf-8-sig"
    layouts = []
    for file in files[:_MOST]:
        try:
            with fs.open(file, "rt", encoding=encoding, compression="infer", newline="") as raw:
                beginning = [line for _, line in zip(range(200), raw, strict=False)]
        except (OSError, UnicodeError, EOFError) as error:
            raise ValueError(f"{file} cannot be read as text ({str(error).splitlines()[0].rstrip('.')}).") from None
        layouts.append(guessed(file, beginning, asked))
    first = layouts[0]
    for file, layout in zip(files, layouts, strict=False):
        if (layout.delimiter, layout.header, layout.names) != (first.delimiter, first.header, first.names):
            raise ValueError(
                f"{file} is laid out otherwise than {files[0]}; say --delimiter and --header, or convert it."
            )
    names = _names(where, first, asked)
    places = [first.names.index(name) for name in names]
    for file, layout in zip(files, layouts, strict=False):
        fields = [line[places[2]] for line in layout.sample]
        if asked.drop_empty:
            fields = [field for field in fields if field.strip().lower() not in MISSING]
        bad = next((field for field in fields if first.digits.plain(field) is None), None)
        if bad is not None:
            missing = (
                "; --drop-empty leaves out lines without a value" if bad.strip().lower() in MISSING else remedy(bad)
            )
            raise ValueError(f"{file}: column {names[2]!r} holds {bad!r}, where numbers are needed{missing}.")
    packed = files[0].lower().endswith((".gz", ".zip"))
    exact = _to_the_last_digit() if len(first.delimiter) == 1 else {"engine": "python"}
    frame = dd.read_csv(
        [fs.unstrip_protocol(file) for file in files],
        sep=first.delimiter if first.delimiter != " " else r"\s+",
        header=0 if first.header else None,
        names=list(first.names),
        usecols=list(names),
        dtype={names[0]: str, names[1]: str, names[2]: float},
        encoding=encoding,
        compression="infer" if packed else None,
        blocksize=None if packed else "64MB",
        decimal=first.digits.decimal,
        thousands=first.digits.thousands or None,
        **exact,
    )
    return FarFiles(frame[list(names)], names, _told(where, files, names), len(files))


def _to_the_last_digit() -> dict[str, str]:
    """Numbers are read to their last digit: pandas does so by itself from 3.1 on, and earlier if it is asked."""
    import pandas

    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"engine": "c"} if version >= (3, 1) else {"engine": "c", "float_precision": "round_trip"}


def _names(where: str, layout: Layout, asked: Asked) -> tuple[str, str, str]:
    row, column, value = (layout.names[place] for place in chosen(where, layout, asked))
    return row, column, value


def _told(where: str, files: list[str], names: tuple[str, str, str]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    return f"{where}: {count}; rows from {names[0]!r}, columns from {names[1]!r}, values from {names[2]!r}"
