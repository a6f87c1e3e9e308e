"""The operations of a program for shards, by their names; shards.py runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .here import HERE

OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(name: str) -> Callable[..., Any]:
    """An operation by its name; every verb of this machine's place is one, on the rows of the shard.

    A name with a module before it (``qualified``) is known after that was imported: a worker may not have it yet.
    """
    module, _, short = name.rpartition(":")
    if module and short not in OPERATIONS:
        importlib.import_module(module)
    if short in OPERATIONS:
        return OPERATIONS[short]
    verb = getattr(HERE, short)
    return lambda _shard, *arguments: verb(*arguments)


def qualified(name: str) -> str:
    """The name of an operation with the module that defines it; a verb is its own name."""
    return f"{OPERATIONS[name].__module__}:{name}" if name in OPERATIONS else name


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function an operation: its first argument is the shard itself."""
    OPERATIONS[function.__name__] = function
    return function
