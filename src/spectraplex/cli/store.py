"""The model folders of the shell, which are those of ``MatrixCompletion.save`` and ``load``."""

from __future__ import annotations

from pathlib import Path

from ..estimators import MatrixCompletion
from ..estimators.completion import store
from ..estimators.completion.store import Stored, status_of, write

__all__ = ["Stored", "read", "status_of", "write"]


def read(folder: Path) -> Stored:
    """The model of a folder; a missing or altered file is named."""
    return store.read(MatrixCompletion, folder)
