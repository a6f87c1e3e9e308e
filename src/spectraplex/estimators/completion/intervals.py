"""Intervals: how far values that a fit has not seen lie from what it predicts, and so from what it will predict.

Observations are kept aside as while a radius is chosen, the others are fitted, and what is left of those kept aside,
divided by a scale that follows from how often row and column were observed, is ranked. The ends of an interval are two
places in that ranking, times the scale: split conformal prediction. On as many new pairs as there are like those kept
aside the intervals hold their level, whatever the loss and however wrong the model is.

A pair whose row has no observation is judged by how well the held-out values are predicted without their rows, and the
same for columns: four rankings in all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import is_real
from ...matrices.factors import Rectangular
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ..input.observations import OWNER, Observations
from .featuring import spoken
from .folds import asides
from .parameters import as_fitted, fitted_recipe
from .recipe import Recipe, Solution, default_stop, plainly, solved
from .serving import linear, linked, of_fit

_CASES = ((True, True), (False, True), (True, False), (False, False))  # whether row and column are known


@dataclass(frozen=True, eq=False)
class Calibration:
    """For each of four cases the scale (constant, share of rows, share of columns), and ranked, scaled residuals."""

    scales: Array
    scores: tuple[Array, ...]
    weights: tuple[Array, ...]

    def packed(self) -> dict[str, Array]:
        """Plain arrays."""
        counts = np.array([each.size for each in self.scores])
        return {
            "calibration.scales": self.scales,
            "calibration.counts": counts,
            "calibration.scores": np.concatenate(self.scores),
            "calibration.weights": np.concatenate(self.weights),
        }

    @classmethod
    def unpacked(cls, arrays: dict[str, Array]) -> Calibration:
        """What ``packed`` gave; a ValueError where it does not fit together."""
        scales, counts, scores, weights = (
            np.asarray(arrays[f"calibration.{name}"]) for name in ("scales", "counts", "scores", "weights")
        )
        whole = (
            scores.shape == weights.shape == (int(counts.sum()),) and scales.shape == (4, 3) and counts.shape == (4,)
        )
        if not whole or not all(np.isfinite(each).all() for each in (scales, scores, weights)) or (weights < 0).any():
            raise ValueError("the calibration of intervals does not fit")
        cuts = np.cumsum(counts)[:-1]
        return cls(scales, tuple(np.split(scores, cuts)), tuple(np.split(weights, cuts)))


def level_of(interval: Any) -> float:
    """A share between 0 and 1."""
    if not is_real(interval) or not 0.0 < float(interval) < 1.0:
        raise ValueError(
            f"{OWNER}: interval is the share of values that are to lie inside, between 0 and 1 such as 0.9, got "
            f"{interval!r}."
        )
    return float(interval)


def refuse(model: Any) -> None:
    """Where there is no interval to be had."""
    if model.loss == "logistic":
        raise ValueError(
            f"{OWNER}: an interval goes with numbers, and the values of the logistic loss are two classes; "
            "predict_proba says how likely each is."
        )
    if "shards_" in vars(model):
        raise ValueError(
            f"{OWNER}: interval needs all rows on this machine, and those of this model lie in shards; fit again."
        )


def calibrated(model: Any) -> Calibration:
    """How far off a model is on what it has not seen; worked out once and kept."""
    known: Calibration | None = vars(model).get("calibration_")
    if known is None:
        with one_blas_thread:
            known = model.calibration_ = _calibrate(model)
    return known


def ends(model: Any, rows: Array, cols: Array, level: float) -> tuple[Array, Array, Array]:
    """Predictions, and lower and upper ends, of pairs by their places (−1 for what is not known)."""
    known, z = calibrated(model), linear(model, rows, cols)
    counts = [_at(each, codes) for each, codes in zip(model.observations_.counts(), (rows, cols), strict=True)]
    low, high = np.empty(z.size), np.empty(z.size)
    for case, (row, col) in enumerate(_CASES):
        here = ((counts[0] > 0) == row) & ((counts[1] > 0) == col)
        below, above = _quantiles(known.scores[case], known.weights[case], level)
        scale = _basis(counts[0][here], counts[1][here], case) @ known.scales[case]
        low[here], high[here] = z[here] + _times(below, scale), z[here] + _times(above, scale)
    return linked(model, z), linked(model, low), linked(model, high)


def asked(model: Any, rows: Array, cols: Array, level: float) -> tuple[Array, Array, Array]:
    """The same, refusing a model that has no intervals."""
    refuse(model)
    refuse_few(model, level)
    return ends(model, rows, cols, level)


def refuse_few(model: Any, level: float) -> None:
    """Where the range of what was observed, which predictions are kept within, holds less than was asked for.

    A new value lies within the range of n others like it with a probability of (n − 1)/(n + 1).
    """
    count = model.observations_.values.size
    needed = math.ceil((1.0 + level) / (1.0 - level) - 1e-9)
    if model.clip and count < needed:
        most = (count - 1) / (count + 1)
        raise ValueError(
            f"{OWNER}: {count} observations are too few for intervals that hold {level:g} of all values: {needed} are "
            f"needed, and with {count} at most {most:.2g} can be asked for; clip=False gives intervals without ends."
        )


def _times(end: float, scale: Array) -> Array:
    """An end that is infinite stays so, also where the scale is zero."""
    return np.full(scale.size, end) if math.isinf(end) else end * scale


def _at(counts: Array, codes: Array) -> Array:
    """Of every place, zero where it is −1."""
    return np.where(codes >= 0, counts[np.maximum(codes, 0)], 0.0)


def _calibrate(model: Any) -> Calibration:
    seen, late = of_fit(model), vars(model).get("latest_")
    used, recipe = as_fitted(model, seen), fitted_recipe(model)
    left: list[list[Array]] = [[] for _ in _CASES]  # basis, residual and weight of every held-out value, by cases
    for aside in asides(seen, float(model.validation), late):
        train, valid = used.part(~aside), used.part(aside)
        if len(train) and len(valid):
            for held, more in zip(left, _left(model, recipe, train, valid), strict=True):
                held.append(more)
    parts = [_ranked(np.concatenate(held) if held else np.empty((0, 5))) for held in left]
    scales, scores, weights = zip(*parts, strict=True)
    return Calibration(np.array(scales), scores, weights)


def _left(model: Any, recipe: Recipe, train: Observations, valid: Observations) -> list[Array]:
    """For each case five columns: the basis of the scale, what is left of values that were kept aside, and weights."""
    objective = recipe.objective(train, recipe.offset(train))
    radius = model.radius_ * len(train) / (len(train) + len(valid))
    stop = default_stop(objective, float(model.tolerance), int(model.max_iter))
    found = solved(objective, radius, stop, seed=model.seed_)
    counts = [each[codes] for each, codes in zip(train.counts(), (valid.rows, valid.cols), strict=True)]
    weights = np.ones(len(valid)) if valid.weights is None else valid.weights
    out = []
    for case, (row, col) in enumerate(_CASES):
        usable = np.ones(len(valid), bool)
        for known, count in zip((row, col), counts, strict=True):
            usable &= (count > 0) | (not known)
        z = _predicted(plainly(objective), found, valid, row, col)
        columns = np.column_stack([_basis(counts[0], counts[1], case), valid.values - z, weights])
        out.append(columns[usable])
    return out


def _predicted(objective: Any, found: Solution, valid: Observations, row: bool, col: bool) -> Array:
    """What is said of pairs when their rows, or columns, are not known."""
    z = np.full(len(valid), float(objective.offset))
    sides = zip((row, col), (found.rows, found.cols), spoken(objective, found), (valid.rows, valid.cols), strict=True)
    for known, effects, told, codes in sides:
        z += (effects if known else told)[codes]
    if row and col:
        entries = Rectangular(found.profiles, found.X.s, found.X.V).entries(valid.rows, valid.cols)
        scales = objective.scales
        z += entries if scales is None else entries * scales[0][valid.rows] * scales[1][valid.cols]
    return z


def _basis(rows: Array, cols: Array, case: int) -> Array:
    """1, 1/√(1 + observations of the row) and the same of the column; zero where that is not known."""
    known = _CASES[case]
    parts = [
        1.0 / np.sqrt(1.0 + count) if each else np.zeros(count.size)
        for each, count in zip(known, (rows, cols), strict=True)
    ]
    return np.column_stack([np.ones(rows.size), *parts])


def _ranked(columns: Array) -> tuple[Array, Array, Array]:
    """The scale of one case, and its residuals divided by that, in their order, with weights."""
    from scipy.optimize import nnls

    basis, residuals, weights = columns[:, :3], columns[:, 3], columns[:, 4]
    if not residuals.size:
        return np.zeros(3), np.empty(0), np.empty(0)
    root = np.sqrt(weights)
    scale = nnls(basis * root[:, None], np.abs(residuals) * root)[0]
    sizes = basis @ scale
    scores = np.divide(residuals, sizes, out=np.zeros(residuals.size), where=sizes > 0)
    order = np.argsort(scores, kind="stable")
    return np.asarray(scale), scores[order], weights[order]


def _quantiles(scores: Array, weights: Array, level: float) -> tuple[float, float]:
    """The two ends among ranked residuals: half of what is outside below, half above; zero always lies between."""
    share = 0.5 * (1.0 + level)
    above = _quantile(scores, weights, share)
    below = -_quantile(-scores[::-1], weights[::-1], share)
    return min(below, 0.0), max(above, 0.0)


def _quantile(scores: Array, weights: Array, share: float) -> float:
    """The least score with so large a share at or below it, were there one more that is larger than all."""
    total = float(weights.sum())
    if not scores.size or not total > 0:
        return math.inf
    wanted = share * (total + total / scores.size)
    place = int(np.searchsorted(np.cumsum(weights), wanted * (1.0 - 1e-12)))
    return math.inf if place >= scores.size else float(scores[place])
