"""What goes out: tables as CSV or JSON, words as lines; whatever the encoding of standard output can hold."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def csv_text(records: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """Records as lines. A field is quoted where it has to be; ``csv`` forgets a carriage return."""
    marks = (delimiter, '"', "\n", "\r")
    lines = []
    for record in records:
        fields = [
            f'"{field.replace(chr(34), chr(34) * 2)}"' if any(mark in field for mark in marks) else field
            for field in record
        ]
        lines.append(delimiter.join(fields) if fields != [""] else '""')
    return "\n".join(lines) + "\n"


def put_json(document: Any, out: Path | None = None) -> None:
    """Readable where the letters can be written; else the same document with letters as numbers."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        text.encode("utf-8" if out is not None else sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    put(text, out)


def put(text: str, out: Path | None = None) -> None:
    """Data: to a file, written aside, or to standard output; never with letters changed."""
    if out is not None:
        from .aside import file_aside

        with file_aside(out) as part:
            part.write_text(text, encoding="utf-8", newline="")
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        raise ValueError(
            f"Standard output is in {error.encoding} and cannot hold {letter!a}; write to a file with --out, or set "
            "PYTHONIOENCODING=utf-8."
        ) from None
    _write(text)


def put_words(text: str) -> None:
    """For people: what standard output cannot hold is shown by its number."""
    encoding = sys.stdout.encoding or "utf-8"
    _write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = "Standard output"
        raise
