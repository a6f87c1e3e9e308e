"""The tables the benchmarks use: real ratings where they are, generated ones where not, and a word saying which."""

from __future__ import annotations

import spectraplex as sx
from spectraplex import datasets


def ratings(name: str) -> datasets.Ratings:
    try:
        return datasets.movielens(name, download=False)
    except FileNotFoundError:
        if name == "100k":
            return datasets.ratings_like(943, 1682, 100_000)
        return datasets.ratings_like(6040, 3706, 1_000_209)


def problem(table: datasets.Ratings, radius: float) -> sx.Problem:
    return sx.Problem(
        sx.Completion(table.rows, table.cols, table.values, table.shape), sx.NuclearBall(table.shape, radius)
    )


def verdict(ratio: float, limit: float) -> str:
    return f"{ratio:.2f}× (limit {limit:g}×: {'met' if ratio <= limit else 'MISSED'})"
