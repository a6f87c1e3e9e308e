"""``partial_fit`` of linear models: batches for the online learner, some samples an arrival.

What features and targets are centred and scaled by, the offsets and the radius are settled in the first call. Then

    scores of a sample = offset + [x̃, 1]·W,   ‖W‖_* ≤ radius,

so intercepts may move, inside the nuclear norm. After ``fit`` the offsets are its intercepts, and the learner starts at
its matrix and counts its samples as arrivals of the past.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import is_word
from ...domains.sets import NuclearBall
from ...hooks import Hooks
from ...losses import Huber, PoissonLog, Softmax, Squared
from ...losses.protocol import LossFacts, Prepared, Shape
from ...matrices.factors import Rectangular
from ...measurements.features import Features
from ...online import OnlineConditionalGradient, partial_fit
from ...online.total import DENSE
from ...paths.point import rank_of
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from . import streaming
from .linear_data import Moments, moments_of
from .linear_fitting import Model, Recipe, chosen, objective_of

_TINY = 1e-9  # a radius that is rounding alone
_NO_PATH: dict[str, Array] = {"radius": np.empty(0), "score": np.empty(0)}


@dataclass(frozen=True, eq=False)
class Beside:
    """ℓ(z + offset; b) over tables of outputs; a target that is missing has weight zero."""

    loss: Any
    offset: Array

    @property
    def name(self) -> str:
        return str(self.loss.name)

    @property
    def curvature(self) -> float:
        return LossFacts.of(self.loss).curvature

    def prepare(self, targets: Any, weights: Any, shape: Shape) -> Prepared:
        own: Any = self
        if isinstance(self.loss, Softmax):
            found = self.loss.prepare(targets, weights, shape)
            own = replace(self, loss=found.loss)
            return replace(found, loss=own)
        return Prepared(own, targets.reshape(-1), None if weights is None else weights.reshape(-1))

    def evaluate(self, z: Array, b: Array, weights: Array | None) -> tuple[float, Array]:
        value, slope = self.loss.evaluate((z.reshape(-1, self.offset.size) + self.offset).reshape(-1), b, weights)
        return float(value), np.asarray(slope)


@dataclass(frozen=True, eq=False)
class Stream:
    """A learner of a linear model, and what was settled in the first call."""

    domain: NuclearBall
    loss: Beside
    moments: Moments
    intercept: bool
    seed: int
    learner: OnlineConditionalGradient | None = None
    far: bool = False  # whether the last batch was

    @classmethod
    def first(cls, model: Any, recipe: Recipe, loss: Any, offset: Array, radius: float) -> Stream:
        moments = moments_of(recipe.data, recipe.weights, recipe.ridge is not None, recipe.standardize)
        return cls._of(model, loss, moments, offset, radius)

    @classmethod
    def onwards(cls, model: Any, loss: Any) -> Stream:
        """From where ``fit`` ended."""
        found: Model = model._model
        new = cls._of(model, loss, found.moments, found.intercept, model.radius_)
        U = np.vstack([found.U, np.zeros((1, found.s.size))]) if new.intercept else found.U
        start, past = Rectangular(np.ascontiguousarray(U), found.s, found.V), -(-model._samples // streaming.ARRIVAL)
        asked: dict[str, Any] = dict(rate=streaming.RATE, seed=new.seed, start=start, past=past)
        return replace(new, learner=OnlineConditionalGradient(new.domain, new.loss, **asked))

    @classmethod
    def _of(cls, model: Any, loss: Any, moments: Moments, offset: Array, radius: float) -> Stream:
        intercept = bool(model.fit_intercept)
        if (moments.mean.size + intercept) * offset.size > DENSE:
            raise ValueError(
                f"{type(model).__name__}.partial_fit: {moments.mean.size:,} features times {offset.size:,} outputs are "
                f"more than the {DENSE:,} numbers that a stream keeps; choose features, or use fit."
            )
        domain = NuclearBall((moments.mean.size + intercept, offset.size), radius)
        return cls(domain, Beside(loss, offset), moments, intercept, int(model.random_state))

    def after(self, data: Any, targets: Array, weights: Array | None) -> Stream:
        """With one batch more; this one stays as it was. Weights are one a sample with softmax, else one a target."""
        learner, outputs, far = copy.copy(self.learner), self.domain.shape[1], self.outside(targets)
        for rows in streaming.arrivals(data.shape[0]):
            part = data[rows].toarray() if hasattr(data, "toarray") else data[rows]
            made = (part - self.moments.mean) / self.moments.scale
            far = far or streaming.is_far(made)
            made = np.column_stack([made, np.ones(rows.size)]) if self.intercept else made
            some = None if weights is None else weights[rows]
            arrival = (Features(made, outputs), targets[rows], some)
            learner = partial_fit(learner, self.domain, self.loss, *arrival, rate=streaming.RATE, seed=self.seed)
        return replace(self, learner=learner, far=far)

    def outside(self, targets: Array) -> bool:
        """Whether targets are far from what the offsets say; classes never are."""
        if isinstance(self.loss.loss, Softmax):
            return False
        if isinstance(self.loss.loss, PoissonLog):
            return streaming.is_far(targets / np.exp(self.loss.offset))
        return streaming.is_far(targets - self.loss.offset)

    def attributes(self) -> dict[str, Any]:
        """What an estimator shows of it."""
        assert self.learner is not None
        U, s, V = (np.asarray(part) for part in self.learner.X.triple())
        rows, moved = self.moments.mean.size, (V * s) @ U[-1] if self.intercept else 0.0
        X = Rectangular(np.ascontiguousarray(U[:rows]), s, V)
        U, s, V = X.svd()
        model = Model(self.moments, U, s, V, self.loss.offset + moved)
        shown = {"U_": U, "s_": s, "V_": V, "rank_": rank_of(X), "radius_": float(self.domain.radius)}
        return shown | {"n_iter_": self.learner.arrivals, "_model": model, "_stream": self}


def after(
    model: Any, recipe: Recipe, loss: Any, targets: Array, weights: Array | None, frozen: Iterable[str]
) -> dict[str, Any]:
    """One batch for a linear model: its new attributes. Nothing of the model changes here."""
    owner, stream = type(model).__name__, getattr(model, "_stream", None)
    path = getattr(model, "path_", _NO_PATH)
    with one_blas_thread, streaming.heard(owner) as unusual:
        if hasattr(model, "_model"):
            streaming.unchanged(owner, model, frozen)
            stream = Stream.onwards(model, loss) if stream is None else stream
        else:
            streaming.enough(owner, recipe.data.shape[0], recipe.standardize)
            offset, radius = recipe.outputs(None).offset, model.radius
            if is_word(radius, "auto"):
                told: Any = streaming.Quiet()
                walked = chosen(model, recipe, objective_of(recipe, float(model.tol)), told, Hooks())
                if not walked.path["radius"].size or not walked.radius > _TINY:
                    raise ValueError(
                        f"{owner}.partial_fit: the first batch does not say which radius is best; give a number, or "
                        "begin with a larger batch whose targets vary."
                    )
                radius, path = walked.radius, walked.path
            stream = Stream.first(model, recipe, loss, offset, float(radius))
        new = stream.after(recipe.data, targets, weights)
    streaming.say(owner, unusual, new.far)
    found = new.attributes()
    return found | {"certificate_": None, "path_": path, "_settings": streaming.settings_of(model, frozen)}


def loss_of(name: str, delta: float) -> Any:
    """The loss of a regressor by its name."""
    return {"squared": Squared(), "huber": Huber(delta), "poisson-log": PoissonLog()}[name]
