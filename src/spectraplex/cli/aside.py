"""A file takes the place of what was there when all went well, and not before; for folders see ``store_aside``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..estimators.completion.store_aside import about, folder_aside, refuse_folder
from ..files import aside

__all__ = ["file_aside", "folder_aside", "refuse_file", "refuse_folder"]


def refuse_file(out: Path) -> None:
    """The same for a file: a folder, or a place where no file can be."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name a file.")
    if not out.parent.is_dir():
        raise ValueError(f"{out}: there is no folder {out.parent}; make it first.")


@contextmanager
def file_aside(out: Path) -> Iterator[Path]:
    """A file beside the one that is wanted, which takes its place when all went well and else disappears.

    A link stays one, and a device or a pipe is written to as it is: another file must not take its place.
    """
    refuse_file(out)
    try:
        if out.exists() and not out.is_file():
            yield out
            return
        with aside(out.resolve()) as part:
            yield part
    except OSError as error:
        raise about(error, out) from None
