"""Fingerprints: what a certificate or a saved run is about, so that it is not taken for something else.

They name data and settings: arrays by their bytes, numbers by their exact value, functions and classes by their
qualified name. Never a value that was computed, a ``repr`` or a memory address, which differ between machines, numbers
of threads and processes.
"""

from __future__ import annotations

import dataclasses
import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .matrices.factors import Factors, Symmetric
from .places.marks import rows_mark
from .places.numpy import Array
from .places.tall import Tall

if TYPE_CHECKING:
    from .objectives.facts import ObjectiveFacts
    from .problem import Problem


def fingerprint(*parts: Any) -> str:
    """SHA-256 of arrays (shape, type, bytes) and strings."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode())
        else:
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.data if array.size else b"")
        digest.update(b"\x00")
    return digest.hexdigest()


def identity(thing: Any, depth: int = 4) -> str:
    """The name and the settings of a method, a loss, a domain or a function, the same in every process.

    A dataclass by its fields, other objects by their public attributes, a function by its qualified name alone.
    """
    if thing is None or isinstance(thing, bool | int | str | bytes | np.bool_ | np.integer):
        return f"{type(thing).__name__} {thing!r}" if not isinstance(thing, np.generic) else f"int {int(thing)}"
    if isinstance(thing, float | np.floating):
        return float(thing).hex()
    if isinstance(thing, np.ndarray):
        return fingerprint(thing) if thing.dtype != object else f"array of objects {thing.shape}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(identity(each, depth - 1) for each in thing) + "]"
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{key}: {identity(thing[key], depth - 1)}" for key in sorted(thing, key=str)) + "}"
    if isinstance(thing, partial):
        return f"partial({identity(thing.func, depth - 1)}, {identity(thing.args)}, {identity(thing.keywords)})"
    if isinstance(thing, type) or hasattr(thing, "__qualname__"):
        return str(thing.__qualname__)
    name = type(thing).__qualname__
    if depth <= 0:
        return name
    if dataclasses.is_dataclass(thing):
        settings = {each.name: getattr(thing, each.name) for each in dataclasses.fields(thing)}
    else:
        settings = {key: value for key, value in getattr(thing, "__dict__", {}).items() if not key.startswith("_")}
    return name + identity(settings, depth - 1)


def array_fingerprint(array: Array | Tall) -> str:
    """Of an array by its mark (places/marks.py), which shards of it can add up."""
    array = array if isinstance(array, Tall) else np.atleast_1d(array)
    mark = array.mark() if isinstance(array, Tall) else rows_mark(array)
    return fingerprint(f"{array.dtype.str}{array.shape}", mark)


def factors_fingerprint(X: Factors) -> str:
    """Of factors wherever they are: nothing tall comes here."""
    place, (U, s, V) = X.place, X.triple()
    sides = (U,) if isinstance(X, Symmetric) else (U, V)
    names = (f"{place.kind(side).name} {place.length(side)}×{place.width(side)}" for side in sides)
    return fingerprint(type(X).__name__, *names, *(place.mark(side) for side in sides), s)


def data_fingerprint(problem: Problem) -> str:
    """Of everything the problem depends on.

    An objective says what that is with ``parts()`` (arrays and strings). One that does not is known by its qualified
    name, shape and dtype alone, and ``verify`` then compares its value at X.
    """
    return problem.fingerprint


def of_problem(facts: ObjectiveFacts, domain: Any) -> str:
    """See ``data_fingerprint``; a penalty's bound on the norm of a solution is no part of the problem."""
    objective = facts.objective
    named = (identity(domain.known()), facts.called or type(objective).__qualname__)
    if facts.parts is not None:
        return fingerprint(*named, *facts.parts())
    m, n = objective.shape
    return fingerprint(*named, f"{m}×{n}", str(objective.dtype))


def stream(seed: int, *marks: str) -> np.random.Generator:
    """Random numbers that depend on a seed and on fingerprints: nobody can build a problem that expects them."""
    words = [int(mark[i : i + 8], 16) for mark in marks for i in range(0, 64, 8)]
    return np.random.default_rng([seed, *words])
