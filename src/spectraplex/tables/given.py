"""A file as it was given: standard input and pipes are laid down first, and what we cannot read is told by its name."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .opened import READABLE

ARRAYS = (".npz", ".npy", ".mtx")
_PACKED = (".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz", ".lz4")
_OTHER = (".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".h5", ".hdf5", ".rds", ".sav", ".dta")


def name_of(path: Path) -> str:
    """As messages say it."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def given(path: Path, readable: str = READABLE, arrays: bool = True) -> Iterator[Path]:
    """A path that can be read twice: a table's layout is guessed from its beginning, and then it is read.

    Messages of what is wrong with it name what was given.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file.")
    ending = path.suffix.lower()
    if ending in _PACKED:
        raise ValueError(f"{path}: files of this kind are not unpacked here; unpack it and name the file in it.")
    if ending in _OTHER or (ending in ARRAYS and not arrays):
        raise ValueError(f"{path} cannot be read here; write the table as CSV, and give {readable}.")
    if str(path) != "-" and (path.is_file() or not path.exists()):
        yield path
        return
    with tempfile.TemporaryDirectory() as room:
        laid = Path(room) / ("data" if str(path) == "-" else path.name)
        with laid.open("wb") as out:
            if str(path) == "-":
                shutil.copyfileobj(sys.stdin.buffer, out)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, out)
        try:
            yield laid
        except ValueError as error:
            raise ValueError(str(error).replace(str(laid), name_of(path))) from None
