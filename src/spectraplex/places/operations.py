"""The operations of a program for shards, by their names; shards.py runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .here import HERE

OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(name: str) -> Callable[..., Any]:
    """An operation by its name; every verb of this machine's place is one, on the rows of the shard."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    verb = getattr(HERE, name)
    return lambda _shard, *arguments: verb(*arguments)


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function an operation: its first argument is the shard itself."""
    OPERATIONS[function.__name__] = function
    return function
