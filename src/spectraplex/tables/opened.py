"""A text file as it is opened: unpacked and decoded; what is not text is refused in a sentence."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, cast

from .unpack import bytes_of

#: What `complete` reads, in words.
READABLE = "a CSV, TSV, Parquet, npz or mtx file"

#: What is said of an empty file.
NOTHING = "there is nothing to read"

#: The files of a zip archive that hold ratings.
RATING_FILES = ("u.data", "ratings.dat", "ratings.csv")

_MARKED = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Opening:
    """How a text file is opened, and what is said of a file that is none.

    ``files`` are looked for in a zip archive; ``lone`` says that the only file there is will do, whatever its name.
    ``forgiving`` reads on where bytes are no text: a title in another encoding must not stop the numbers beside it.
    """

    encoding: str | None = None
    files: tuple[str, ...] = RATING_FILES
    lone: bool = True
    forgiving: bool = False
    empty: str = NOTHING
    binary: str = f"give {READABLE}. If it is one, say its --encoding, such as utf-16-le"


@contextmanager
def text_of(path: Path, how: Opening) -> Iterator[tuple[str, IO[str]]]:
    """The name of a text file as messages say it, and the file, its line ends as they are."""
    with bytes_of(path, how.files, how.lone) as (name, raw):
        head = raw.read(4096)
        raw.seek(0)
        if not head.strip():
            raise ValueError(f"{name} is empty; {how.empty}.")
        known = how.encoding or next((word for mark, word in _MARKED if head.startswith(mark)), "")
        if not known and b"\0" in head:
            raise ValueError(f"{name} is not a text file; {how.binary}.")
        if not isinstance(raw, io.BufferedReader):
            raw = io.BytesIO(raw.read())  # an unpacker is asked whether it is closed, in Python, for every line
        errors = "replace" if how.forgiving else "strict"
        try:
            text = io.TextIOWrapper(raw, encoding=known or "utf-8-sig", errors=errors, newline="")
        except LookupError:
            raise ValueError(
                f"--encoding {how.encoding!r} is not known here; usual ones are utf-8 and latin-1."
            ) from None
        try:
            yield name, _without_mark(text)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name} is not a text file in {error.encoding} (byte {error.object[error.start]:#04x} is none). "
                "If it is a text file, say which --encoding it has, such as latin-1."
            ) from None
        finally:
            text.detach()


def _without_mark(text: IO[str]) -> IO[str]:
    """A first line "sep=;", which spreadsheets write for themselves, is an empty one for us."""
    if re.fullmatch(r'"?sep=.?"?\s*', text.readline(20), re.IGNORECASE) is None:
        text.seek(0)
        return text
    return cast("IO[str]", chain(["\n"], text))
