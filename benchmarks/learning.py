"""Learners beside their peers: python -m benchmarks learning [PART …]; a part is a module in learners/."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator

PARTS = {"linear": "learners.linear", "metric": "learners.metric"}


def run(*names: str) -> Iterator[str]:
    """All parts that are there, or those named."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        yield f"Unknown part {unknown[0]!r}; known: {', '.join(PARTS)}."
        return
    for name in names or PARTS:
        module = f"benchmarks.{PARTS[name]}"
        if importlib.util.find_spec(module) is not None:
            yield f"-- {name}"
            yield from importlib.import_module(module).run()
