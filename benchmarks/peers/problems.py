"""The tables everybody fits, the one evaluator of f, and what is known about the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import spectraplex as sx
from spectraplex import datasets


@dataclass(frozen=True)
class Spec:
    """A problem by name: cheap to hold, nothing is loaded before ``load``."""

    title: str
    source: Callable[[], datasets.Ratings]
    radius: float
    limit_seconds: float
    optimum: tuple[float, float] | None = None  # None: the reference solve finds it, certified
    reference_gap: float = 1e-6  # relative, asked of the reference solve
    finest_gap: float = 1e-6  # relative, that we are asked for
    conic: bool = False  # small enough for a conic solver


def _real(name: str) -> Callable[[], datasets.Ratings]:
    return lambda: datasets.movielens(name, download=False)


def _generated() -> datasets.Ratings:
    return datasets.ratings_like(943, 1682, 100_000)


# Time limits are just long enough to decide every target; --limit draws longer curves.
SPECS = {
    "100k-2500": Spec("MovieLens-100k, radius 2500", _real("100k"), 2500.0, 10.0, (67945.055, 67945.055), 1e-4),
    "100k-3500": Spec("MovieLens-100k, radius 3500", _real("100k"), 3500.0, 20.0, (37867.016, 37867.016), 1e-4),
    "100k-5000": Spec("MovieLens-100k, radius 5000", _real("100k"), 5000.0, 30.0, (16570.033, 16570.033), 1e-4),
    "generated": Spec("generated, 943×1682, 100,000 observed, radius 4000", _generated, 4000.0, 12.0),
    "small": Spec(
        "generated, 60×40, 720 observed, radius 165",
        lambda: datasets.ratings_like(60, 40, 720),
        165.0,
        10.0,
        reference_gap=1e-9,
        conic=True,
    ),
    "1m-18000": Spec("MovieLens-1M, radius 18000", _real("1m"), 18000.0, 130.0, (241862.0, 242118.0), 1e-2, 1e-3),
    "quick": Spec(
        "generated, 40×30, 500 observed, radius 115",
        lambda: datasets.ratings_like(40, 30, 500),
        115.0,
        1.0,
        None,
        1e-8,
        conic=True,
    ),
}
FULL = tuple(name for name in SPECS if name != "quick")


@dataclass(frozen=True, eq=False)
class Table:
    """What a peer gets: observed entries sorted by row and column, the radius, and λ where it needs one."""

    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    radius: float
    multiplier: float = float("nan")

    def value(self, image: np.ndarray) -> float:
        """f from the observed entries of an iterate: the evaluator, the same for everybody."""
        misfit = np.asarray(image, dtype=float) - self.values
        return 0.5 * float(misfit @ misfit)

    def entries(self, U: np.ndarray, s: np.ndarray, V: np.ndarray) -> np.ndarray:
        """The observed entries of U diag(s) Vᵀ."""
        return sx.Rectangular(U, s, V).entries(self.rows, self.cols)

    def inside(self, U: np.ndarray, s: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, float]:
        """The best multiple of U diag(s) Vᵀ (orthonormal columns) that lies in the ball: observed entries, factor."""
        image = self.entries(U, s, V)
        square, norm = float(image @ image), float(np.abs(s).sum())
        if square == 0.0 or norm == 0.0:
            return image, 1.0
        factor = max(0.0, min(float(image @ self.values) / square, self.radius / norm))
        return factor * image, factor

    def problem(self) -> sx.Problem:
        return sx.Problem(
            sx.Completion(self.rows, self.cols, self.values, self.shape), sx.NuclearBall(self.shape, self.radius)
        )


def load(name: str, multiplier: float = float("nan")) -> Table:
    return table_of(SPECS[name].source(), SPECS[name].radius, multiplier)


def table_of(ratings: datasets.Ratings, radius: float, multiplier: float = float("nan")) -> Table:
    order = np.lexsort((ratings.cols, ratings.rows))
    rows, cols, values = (np.ascontiguousarray(part[order]) for part in (ratings.rows, ratings.cols, ratings.values))
    return Table(rows, cols, values.astype(float), ratings.shape, radius, multiplier)


def tiny() -> Table:
    """For warm-up solves."""
    return table_of(datasets.ratings_like(20, 15, 150, seed=7), 50.0, 1.0)


def reference(name: str, max_seconds: float = 600.0) -> dict:
    """f* (known, or bracketed by our own certified solve) and the multiplier λ = ⟨−∇f, Z⟩/radius at our answer.

    At the optimum that λ is σ₁(∇f), so that ½Σ(Z−r)² + λ‖Z‖_* has the same minimiser. It is handed to the
    peer that needs it for nothing.
    """
    spec, table = SPECS[name], load(name)
    result = sx.solve(table.problem(), stop=sx.Stop(relative_gap=spec.reference_gap, max_seconds=max_seconds))
    image = table.entries(*result.X.triple())
    low, high = spec.optimum or (result.lower_bound, result.value)
    return {
        "title": spec.title,
        "shape": list(table.shape),
        "observed": int(table.values.size),
        "radius": spec.radius,
        "optimum": [low, high],
        "multiplier": float((table.values - image) @ image) / spec.radius,
    }
