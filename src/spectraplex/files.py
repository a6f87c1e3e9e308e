"""What every file of ours is written with: aside and then renamed, and numbers that JSON holds exactly."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
