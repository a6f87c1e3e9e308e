"""What the raw results of figure1 say: averages over seeds, who wins, by how much, and where the curves cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...places.numpy import Array
from ..document import Document, Run

#: Everything but the hybrid method spends one leading eigenvector per step.
HYBRID = "hybrid"
PAPER = "ror-paper"


@dataclass(frozen=True)
class Setting:
    """One problem of the figure: a table of ratings, a radius, with or without its mean."""

    data: str
    source: str
    radius: float
    reading: str
    centred: bool

    def runs(self, document: Document, method: str) -> list[Run]:
        return document.find(kind="curve", method=method, **self.__dict__)

    def reference(self, document: Document) -> dict[str, Any]:
        found = document.find(kind="reference", **self.__dict__)[0].outcome
        return found | {"lower_bound": found["lower_bound"] + 0.0}  # never −0

    def methods(self, document: Document) -> list[str]:
        return document.distinct("method", kind="curve", **self.__dict__)


@dataclass(frozen=True)
class Curves:
    """The runs of one method on one setting: a row per seed, a column per number of eigenvectors 1 … T."""

    method: str
    values: Array
    products: Array
    seconds: Array
    atoms: Array
    gaps: Array  # certified by each run itself, for its last point

    @property
    def eigenvectors(self) -> Array:
        return np.arange(1, self.values.shape[1] + 1)

    @property
    def mean(self) -> Array:
        return np.asarray(self.values.mean(axis=0))

    @property
    def last(self) -> float:
        return float(self.values[:, -1].mean())

    @property
    def spread(self) -> float:
        """Half of what lies between the least and the greatest last value."""
        return float(np.ptp(self.values[:, -1])) / 2


def settings(document: Document) -> list[Setting]:
    names = ("data", "source", "radius", "reading", "centred")
    return [Setting(**{name: run.settings[name] for name in names}) for run in document.find(kind="reference")]


def curves(document: Document, setting: Setting, method: str) -> Curves:
    """A method's runs; a run that ended early (at rounding level) stays where it was.

    The hybrid method's steps are not eigenvectors: it is aligned by products. Its value "at t eigenvectors" is the best
    it had when it had spent no more products than CG, on average, on its first t.
    """
    runs = setting.runs(document, method)
    if method == HYBRID:
        return _aligned(runs, curves(document, setting, "cg"))
    count = max(run.settings["steps"] for run in runs)
    columns = {name: np.array([_extended(run.outcome[name], count) for run in runs]) for name in _COLUMNS}
    return Curves(method, gaps=np.array([run.outcome["gap"] for run in runs]), **columns)


_COLUMNS = ("values", "products", "seconds", "atoms")


def _extended(column: list[float], count: int) -> list[float]:
    return (column + [column[-1]] * count)[:count]


def _aligned(runs: list[Run], cg: Curves) -> Curves:
    budget = cg.products.mean(axis=0)
    rows: dict[str, list[Array]] = {name: [] for name in _COLUMNS}
    for run in runs:
        spent = np.array(run.outcome["products"])
        place = np.searchsorted(spent, budget, side="right") - 1  # −1: not even its first step was affordable yet
        for name in _COLUMNS:
            column = np.array(run.outcome[name], dtype=float)
            column = np.minimum.accumulate(column) if name == "values" else column
            missing = column[0] if name == "values" else 0.0
            rows[name].append(np.where(place >= 0, column[np.maximum(place, 0)], missing))
    gaps = np.array([run.outcome["gap"] for run in runs])
    return Curves(HYBRID, gaps=gaps, **{name: np.array(row) for name, row in rows.items()})


def best_paper(document: Document, setting: Setting) -> str:
    """The β of the stated grid with which the paper's variant ends lowest."""
    named = [method for method in setting.methods(document) if method.startswith(PAPER)]
    return min(named, key=lambda method: curves(document, setting, method).last)


def best_ror(document: Document, setting: Setting) -> str:
    """The form of ROR-CG that ends lowest."""
    named = [method for method in setting.methods(document) if method.startswith("ror")]
    return min(named, key=lambda method: curves(document, setting, method).last)


def crossing(lower: Curves, upper: Curves) -> int | None:
    """The number of eigenvectors from which on ``lower``'s mean stays below ``upper``'s; None if it does not."""
    above = np.flatnonzero(lower.mean >= upper.mean)
    if above.size == 0:
        return 1
    return None if above[-1] == lower.mean.size - 1 else int(above[-1]) + 2
