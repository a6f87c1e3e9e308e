"""A file as its bytes, whether it lies there plain, gzipped, or in a zip archive."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


@contextmanager
def bytes_of(path: Path, wanted: tuple[str, ...], lone: bool = True) -> Iterator[tuple[str, IO[bytes]]]:
    """The name of a file as messages say it, and its bytes, unpacked.

    In a zip archive, of the first member with a wanted name; else, if ``lone`` allows it, of the only one there is.
    """
    name = str(path)
    try:
        with open(path, "rb") as file:
            kind = file.read(4)
            file.seek(0)
            if kind.startswith(b"PK\3\4") or kind == b"PK\5\6" or path.suffix.lower() == ".zip":
                with zipfile.ZipFile(file) as archive:
                    inside = _member(name, archive, wanted, lone)
                    name = f"{name}: {inside}"
                    with _opened(name, archive, inside) as packed, _unpacked(packed) as raw:
                        yield name, raw
            else:
                with _unpacked(file) as raw:
                    yield name, raw
    except _DAMAGED as error:
        raise ValueError(
            f"{name}: the archive is incomplete or damaged ({str(error).rstrip('.')}); delete it and get it again."
        ) from error


@contextmanager
def _unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    start = file.read(2)
    file.seek(0)
    if start == b"\x1f\x8b":  # not by its name: browsers unpack a .gz and keep the name
        with gzip.open(file) as raw:
            yield cast(IO[bytes], raw)
    else:
        yield file


def _opened(name: str, archive: zipfile.ZipFile, inside: str) -> IO[bytes]:
    try:
        return archive.open(inside)
    except RuntimeError as error:  # a password, a compression that is not built in
        why = str(error).rstrip(".")
        raise ValueError(f"{name}: cannot be unpacked here ({why}); unpack it and read the file itself.") from error


def _member(name: str, archive: zipfile.ZipFile, wanted: tuple[str, ...], lone: bool) -> str:
    inside = [entry for entry in archive.namelist() if not entry.endswith("/") and "__MACOSX" not in entry]
    for file in wanted:
        fitting = [entry for entry in inside if PurePosixPath(entry).name in (file, f"{file}.gz")]
        if fitting:
            return min(fitting, key=lambda entry: entry.count("/"))
    if len(inside) == 1 and lone:
        return inside[0]
    held = ", ".join(inside[:8]) + (", …" if len(inside) > 8 else "") if inside else "nothing"
    looked = " or ".join(wanted)
    raise ValueError(
        f"{name}: no ratings in this archive; looked for {looked}, it holds {held}. Unpack it and name the file."
    )
