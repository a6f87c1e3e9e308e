"""What the fingerprint of a table's fit is made of: the same on one machine and in shards."""

from __future__ import annotations

from typing import Any

from ..fingerprint import identity
from ..places.numpy import Array

TABLE = "table"  # what fingerprints call a fit of a table's entries


def table_kind(loss: Any, dtype: str, weighted: bool) -> str:
    """The loss with its settings, and what is observed."""
    return f"{identity(loss)} of {dtype} numbers{', weighted' if weighted else ''}"


def table_parts(shape: tuple[int, int], kind: str, count: int, *marks: Array) -> tuple[Any, ...]:
    """Marks are of the entries, and of scales of rows and of columns where there are any (places/marks.py)."""
    return (f"{shape[0]}×{shape[1]} table with {count} entries", kind, *marks)
