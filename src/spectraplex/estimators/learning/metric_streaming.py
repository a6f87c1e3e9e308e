"""``MetricLearner.partial_fit``: triplets within each batch, some points an arrival of the online learner."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...domains.sets import TraceBall
from ...matrices.factors import Symmetric
from ...measurements.differences import Differences
from ...online import OnlineConditionalGradient, partial_fit
from ...paths.point import rank_of
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from . import metric_frame as frames
from . import streaming
from .metric_choose import Choice, choose, choose_given, radii
from .metric_fitting import bounds_of, given_of, labels_of, nothing_tried
from .metric_frame import Frame
from .metric_input import OWNER, recipe_of, shares_of, size_of
from .metric_recipe import PAIRED, Recipe, embedded, framed, neighbours

#: Settings that stay from one call to the next.
FROZEN = ("radius", "penalty", "loss", "keep", "whitening")


@dataclass(frozen=True, eq=False)
class Batch:
    """Points of a batch, what is compared among them, and in which frame."""

    frame: Frame
    points: Array
    triplets: Array
    bounds: Array | float
    choice: Choice
    classes: Array | None = None


def learned(model: Any, table: Array, y: Any, triplets: Any, pairs: Any, seed: int) -> dict[str, Any]:
    """One batch: the new attributes of the learner. Nothing of it changes here."""
    if model.penalty is not None:
        raise ValueError(
            f"{OWNER}.partial_fit: a price of the trace bounds nothing that a stream could be judged by; give a radius "
            "in place of penalty."
        )
    recipe, known = recipe_of(model), hasattr(model, "components_")
    with one_blas_thread, streaming.heard(OWNER) as unusual:
        if known:
            streaming.unchanged(OWNER, model, FROZEN)
        given = triplets is not None or pairs is not None
        make = _given if given else _labelled
        batch = make(model, recipe, table, (y, triplets, pairs), seed, known)
        learner = _after(getattr(model, "_stream", None) if known else None, model, recipe, batch, seed, known)
    streaming.say(OWNER, unusual, streaming.is_far(batch.frame.standard(table)))
    X = learner.X
    assert isinstance(X, Symmetric)
    components = batch.frame.components(X, recipe.keep)
    found = {"metric_": X, "components_": components, "mean_": batch.frame.mean, "rank_": rank_of(X)}
    found |= {"radius_": float(batch.choice.radius), "penalty_": None, "whitening_": batch.choice.whitening}
    found |= {
        "keep_": recipe.keep,
        "path_": batch.choice.path,
        "n_iter_": learner.arrivals,
        "certificate_": None,
        "plain_": False,
    }
    found |= {"recipe_": recipe, "_frame": batch.frame, "_stream": learner}
    if batch.classes is not None:
        found["classes_"] = np.union1d(model.classes_, batch.classes) if hasattr(model, "classes_") else batch.classes
    return found | {"_settings": streaming.settings_of(model, FROZEN)}


def _labelled(model: Any, recipe: Recipe, table: Array, given: tuple[Any, Any, Any], seed: int, known: bool) -> Batch:
    """Target neighbours and impostors among the points of the batch, under the metric so far."""
    classes, codes = labels_of(table, given[0])
    if known:
        frame, choice = model._frame, Choice(model.radius_, model.whitening_, model.path_)
        points, X = frame.points(table), model.metric_
    else:
        standard, size, X = frames.standardised(table), size_of(model), None
        Z, shares = standard.standard(table), shares_of(model)
        choice = Choice(size or 0.0, shares[0], nothing_tried())
        if size is None:
            choice = choose(recipe, standard, Z, codes, shares, seed, streaming.Quiet().scored)
        frame, points = framed(standard, Z, codes, choice.whitening, recipe.targets)
    triplets = neighbours(recipe, embedded(points, X, recipe.keep), codes)
    return Batch(frame, points, triplets, bounds_of(None), choice, classes)


def _given(model: Any, recipe: Recipe, table: Array, given: tuple[Any, Any, Any], seed: int, known: bool) -> Batch:
    """Triplets or pairs that were given, of places in the batch."""
    triplets, alike = given_of(*given, len(table))
    bounds = bounds_of(alike)
    if known:
        choice = Choice(model.radius_, model.whitening_, model.path_)
        return Batch(model._frame, model._frame.points(table), triplets, bounds, choice)
    shares, size, standard = shares_of(model), size_of(model), frames.standardised(table)
    if len(shares) == 1 and shares[0] != 0.0:
        raise ValueError(f"{OWNER}: whitening needs labels; leave it at 'auto' with triplets or pairs.")
    near = triplets if alike is None else triplets[alike]
    frame, points = frames.in_units(standard, standard.standard(table), near[:, 0], near[:, 1])
    choice = Choice(size or radii(points)[1], 0.0, nothing_tried())
    if size is None:
        choice = choose_given(recipe, points, triplets, bounds, PAIRED, seed, streaming.Quiet().scored)
    return Batch(frame, points, triplets, bounds, choice)


def _after(
    learner: OnlineConditionalGradient | None, model: Any, recipe: Recipe, batch: Batch, seed: int, known: bool
) -> OnlineConditionalGradient:
    """The learner with the triplets of the batch, those of some points at a time; the one before stays as it was."""
    whole = recipe.objective(batch.points, batch.triplets, batch.bounds)
    domain = TraceBall(whole.shape[0], batch.choice.radius)
    asked: dict[str, Any] = dict(rate=streaming.RATE, seed=seed)
    if known and learner is None:  # from where fit ended
        past = -(-len(model.points_) // streaming.ARRIVAL)
        learner = OnlineConditionalGradient(domain, whole.loss, start=model.metric_, past=past, **asked)
    learner = copy.copy(learner)
    anchors, place = np.unique(batch.triplets[:, 0], return_inverse=True)
    for rows in streaming.arrivals(anchors.size):
        some = np.flatnonzero((place.reshape(-1) >= rows[0]) & (place.reshape(-1) <= rows[-1]))
        measured = Differences(batch.points, batch.triplets[some])
        weights = np.full(some.size, 1.0 / some.size)
        learner = partial_fit(learner, domain, whole.loss, measured, whole.targets[some], weights, **asked)
    assert learner is not None
    return learner
