"""The demo's first part: a half-empty table of ratings with labels, from a fit with nothing set to a report."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import datasets, report
from ..estimators import MatrixCompletion
from ..report.scores import judged


@dataclass(frozen=True, eq=False)
class Table:
    """A fitted model, what was kept aside for it, and its error there beside those of the baselines."""

    model: MatrixCompletion
    held_out: tuple[np.ndarray, np.ndarray]
    error: float
    baselines: dict[str, float]
    seconds: float
    title: str


def fit(quick: bool = False) -> Table:
    """Generate ratings, keep a tenth aside, fit the rest with nothing set, and judge.

    Parameters
    ----------
    quick : a small table, for tests.
    """
    people, films, count = (120, 80, 3_000) if quick else (1_000, 600, 60_000)
    table = datasets.ratings_like(people, films, count, rank=5, noise=0.5, seed=5)
    pairs = np.array(
        [(f"person {row}", f"film {col}") for row, col in zip(table.rows, table.cols, strict=True)], object
    )
    kept = np.random.default_rng(5).random(len(pairs)) < 0.1
    held_out = (pairs[kept], table.values[kept])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told below, in words
        began = time.perf_counter()
        model = MatrixCompletion().fit(pairs[~kept], table.values[~kept])
        seconds = time.perf_counter() - began
    if model.status_ == "INTERRUPTED":
        raise KeyboardInterrupt
    found = judged(model, held_out)
    baselines = {each.name: each.errors[0] for each in found.others}
    title = f"{count:,} ratings of {films:,} films by {people:,} people (generated)"
    return Table(model, held_out, found.ours, baselines, seconds, title)


def told(table: Table) -> str:
    """What came out, in lines."""
    model, certificate = table.model, table.model.certificate_
    person = model.row_labels_.values[0]
    best = ", ".join(f"{film} ({stars:.1f})" for film, stars in model.recommend([person], n=3)[0])
    beside = ", ".join(f"{name.lower()} {error:.3f}" for name, error in table.baselines.items())
    lines = (
        f"{table.title}; a tenth was kept aside.",
        f"MatrixCompletion() with nothing set, fitted in {table.seconds:.1f} s:\n",
        f"test RMSE       {table.error:.3f} stars ({beside})",
        f"chosen radius   {model.radius_:,.0f}, of {len(model.path_['radius'])} tried; rank {model.rank_}",
        f"certified gap   {certificate.gap / certificate.value:.1%} of the value",
        f"{f'for {person}':<15} {best}",
    )
    return "\n".join(f"  {line}" for line in lines)


def write(table: Table, path: Path) -> Path:
    """The report about it."""
    return report.write(table.model, path, source="generated ratings", held_out=table.held_out)
