"""A file of counts by its kind."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from .arrays import ARRAYS, from_arrays
from .documents import from_document, is_document
from .forms import from_lines
from .held import Asked, Tomogram
from .lines import lines_of

_OTHER = (".xlsx", ".xls", ".ods", ".h5", ".hdf5", ".pkl", ".pickle", ".parquet", ".feather", ".zip")


def read_tomogram(path: Path, encoding: str | None = None, asked: Asked | None = None) -> Tomogram:
    """A file of counts."""
    asked = Asked(encoding) if asked is None else asked
    ending = path.suffix.lower()
    if ending in _OTHER:
        raise ValueError(
            f"{path}: files of this kind are not read here; write the counts as CSV (setting, outcome, count), JSON or "
            "npz (arrays settings and counts)."
        )
    if ending in ARRAYS:
        return from_arrays(path, asked)
    text = _text(path, asked.encoding)
    if not text.strip():
        raise ValueError(f"{path}: the file is empty.")
    if is_document(path, text):
        return from_document(path, text, asked)
    return from_lines(lines_of(path, text), asked)


def _text(path: Path, encoding: str | None) -> str:
    raw = path.read_bytes()
    try:
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        return raw.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; give --encoding if it is, or write the counts as CSV.") from None
    except LookupError:
        raise ValueError(f"The encoding {encoding!r} is not known; utf-8 and latin-1 are.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: the archive is incomplete or damaged ({str(error).rstrip('.')}).") from None
