"""One file a peer; names that begin with an underscore are shared code. ``names()`` lists them, ours first."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def names() -> list[str]:
    found = [each.name for each in pkgutil.iter_modules(__path__) if not each.name.startswith("_")]
    return sorted(found, key=lambda name: (name != "ours", name))


def peer(name: str) -> ModuleType:
    """The module of a peer; it imports the tool it wraps only when it runs."""
    return importlib.import_module(f"{__name__}.{name}")
