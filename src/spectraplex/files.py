"""What every file of ours is written with: aside and then renamed, and numbers that JSON holds exactly."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np


def beside(path: Path) -> Path:
    """Where this process writes before it renames."""
    return path.with_name(f".{path.name}.part-{os.getpid()}")


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A file beside the one that is wanted, which takes its place when all went well and else disappears."""
    part = beside(path)
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def plain(value: Any) -> Any:
    """A number or string that JSON holds exactly; infinities and NaN as words."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def number(value: Any) -> Any:
    """Back from ``plain``."""
    return float(value["number"]) if isinstance(value, dict) and set(value) == {"number"} else value


def words_and_arrays(owner: str, folder: Path, stem: str, what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``stem``.json and ``stem``.npz of a folder hold; never a pickle."""
    words, arrays = folder / f"{stem}.json", folder / f"{stem}.npz"
    for path in (words, arrays):
        if not path.is_file():
            raise ValueError(f"{owner}: {folder} holds no saved {what}: {path.name} is missing.")
    try:
        document = json.loads(words.read_text(encoding="utf-8"))
        with arrays.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
    except (ValueError, OSError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"{owner}: {folder} is damaged ({error}).") from error
    if not isinstance(document, dict):
        raise ValueError(f"{owner}: {folder} is damaged ({words.name} is not an object).")
    return document, held
