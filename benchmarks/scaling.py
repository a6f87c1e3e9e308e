"""Cost per step against the number of observations: 1e5, 1e6, 1e7 (generated tables); it grows linearly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import spectraplex as sx
from spectraplex.datasets import ratings_like

from .data import problem

SIZES = ((943, 1682, 100_000, 60), (6_040, 3_706, 1_000_000, 40), (100_000, 20_000, 10_000_000, 15))


def run() -> Iterator[str]:
    first: dict[str, float] = {}
    for users, items, observed, steps in SIZES:
        table = ratings_like(users, items, observed)
        # a radius in proportion to the norm of the data: the same kind of problem at every size
        task = problem(table, 0.6 * float(np.linalg.norm(table.values)) * 10)
        for name in ("cg", "ror-adaptive"):
            sx.solve(task, name, sx.Stop(max_steps=2), certify=False)
            columns = sx.solve(task, name, sx.Stop(max_steps=steps), certify=False).trace.as_dict()
            step = float(np.median(np.diff(columns["seconds"])))
            products = float(np.mean(np.diff(columns["products"])))
            each = 1e9 * step / products / observed
            growth = "" if name not in first else f", {each / first[name]:.2f}× the figure at 1e5"
            first.setdefault(name, each)
            yield (
                f"{observed:9d} observations, {users}×{items}, {name:12s}: {1e3 * step:8.1f} ms a step, "
                f"{products:5.1f} products, {each:.2f} ns per product and observation{growth}"
            )
