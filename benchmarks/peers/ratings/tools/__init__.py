"""One file a tool. It imports what it wraps only when it works, and has::

    TITLE, THREADED                    its name; whether a fit uses more than one thread
    rows(set name) -> list of Row      what is compared: a setting, or a grid to choose from
    prepare(train)                     the training ratings in the tool's own form, off the clock
    fit(data, setting, threads)        the model; this is what is timed
    predict(model, rows, cols)         predicted ratings, with the tool's own answer for what it has not seen

and, where it needs something else, ``warm_up()`` (a larger table for the throw-away fit) and ``tune(data, set name)``
(its own way to choose: model, chosen setting, seconds of choosing, seconds of the last fit).
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

SEED = 0  # of every tool that draws random numbers


@dataclass(frozen=True)
class Row:
    """A row of the table. More than one setting: they are chosen from, on training ratings."""

    name: str
    title: str
    settings: tuple[dict, ...]
    timed: bool = False  # its time is compared with that of the other timed rows, beside which it runs
    long: bool = False  # only when asked for


def names() -> list[str]:
    found = [each.name for each in pkgutil.iter_modules(__path__)]
    return sorted(found, key=lambda name: (name == "ours", name != "surprise", name))  # the order of the table


def tool(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def grid(name: str, **candidates: list[dict]) -> tuple[dict, ...]:
    """A set's own grid; the quick set takes the first two of the first."""
    return tuple(candidates[name] if name in candidates else next(iter(candidates.values()))[:2])
