"""Learners beside what people use: metrics and kernels, classes and tasks..

``python -m benchmarks learning`` runs all that are there; ``python -m benchmarks learning metric`` one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

PARTS = ("metric", "linear")


def run(*names: str) -> Iterator[str]:
    """The lines of the parts that are asked for, of all that exist by default."""
    for name in names or PARTS:
        if find_spec(f"benchmarks.learners.{name}") is not None:
            yield f"-- {name}"
            yield from import_module(f"benchmarks.learners.{name}").run()
