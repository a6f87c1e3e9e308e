"""MetricLearner: which distances tell classes (or given pairs and triplets) apart, as one certified convex problem."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ...hooks import Hooks
from ...matrices.factors import Symmetric
from ...paths.point import rank_of
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ...problem import Problem
from ...stop import Status
from ..callbacks import CallbackSupport, Told, with_callbacks
from . import streaming
from .metric_fitting import Fitted, fit_given, fit_labelled, problem_of
from .metric_input import OWNER, point_pairs, seed_of
from .metric_streaming import FROZEN, learned


class MetricLearner(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CallbackSupport,
    BaseEstimator,
):
    """A Mahalanobis metric under which points of a class are near each other, and a linear map to where it is plain.

    Over features that are standardised (and whitened, perhaps) it learns X ⪰ 0 with

        minimise the mean of ℓ(1 − [d²(a, n) − d²(a, p)]) over triplets,  d²(x, y) = keep·‖x − y‖² + (x − y)ᵀX(x − y),

    where the trace of X is at most ``radius``. n is a near point of another class than a, p a near one of its own.
    Sizes are in units of the mean squared distance of target neighbours. The problem is convex: ``certificate_`` bounds
    how far the metric is from the best one for its triplets.

    Parameters
    ----------
    radius : "auto" tries an eighth of and half as much as there are features (that vary), on two folds or more until
        900 points were kept aside, and takes the one where most neighbours of those are of their class. Where votes of
        neighbours are not better than without a metric, features stay as they are: see ``plain_``. With triplets or
        pairs it tries twice as much as there are features, too, on three folds. Or a positive number.
    penalty : a price of the trace in place of a bound.
    loss : "hinge" (smoothed) or "logistic".
    n_neighbors : target neighbours of each point.
    n_impostors : points of other classes that each target neighbour is compared with, the nearest ones.
    keep : how much of the plain metric is kept beside X. With 0 ``transform`` gives as few columns as X has rank
        (one of zeros where X is zero).
    whitening : share of the scatter within classes that is made round before X is learned. "auto" chooses 0 or 0.9
        together with the radius, and is 0 where a radius or penalty or no labels are given.
    rounds : how often neighbours are chosen: at first plain ones, then those under the metric found so far. With
        radius="auto" a metric of the folds stands for the first of several rounds.
    tolerance : each problem is solved to a certified gap of this share of its value.
    max_iter : most steps of the solver for one problem.
    random_state : decides the folds, and random starts of eigenvectors.

    Attributes
    ----------
    metric_ : X in factors, of the lowest rank that the solution has; ``vectors`` (columns) and ``weights``.
    components_ : C with ``transform(x)`` = C(x − ``mean_``).
    radius_, penalty_, whitening_, keep_ : those fitted with; radius_ or penalty_ is None.
    plain_ : whether ``transform``, ``score_pairs`` and ``mahalanobis`` leave the standardised features as they are,
        because radius="auto" found no metric whose neighbours vote better. ``metric_``, ``certificate_`` and
        ``problem`` are of the metric that was learned all the same; give ``radius=model.radius_`` and
        ``whitening=model.whitening_`` to have that one.
    path_ : what was tried: arrays "radius" (0 with labels: features as they are), "whitening", "error" (the share of
        neighbours, triplets or pairs kept aside that were judged wrongly), "wrong" (with labels, the share of votes of
        ``n_neighbors`` that were wrong), "rank"; empty when nothing was chosen.
    triplets_ : those of the last round. ``points_`` : the training points, standardised and whitened.
    certificate_, result_, n_iter_, status_, rank_ : of the last problem; ``n_rounds_`` rounds were made.
    classes_ : the labels seen, when labels were given.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectraplex.estimators import MetricLearner
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MetricLearner(radius=16.0).fit(X, y)
    >>> model.transform(X).shape[1] < 13
    True
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        penalty: Any = None,
        loss: str = "hinge",
        n_neighbors: int = 3,
        n_impostors: int = 10,
        keep: float = 0.0,
        whitening: Any = "auto",
        rounds: int = 3,
        tolerance: float = 0.01,
        max_iter: int = 100,
        random_state: Any = 0,
    ) -> None:
        self.radius = radius
        self.penalty = penalty
        self.loss = loss
        self.n_neighbors = n_neighbors
        self.n_impostors = n_impostors
        self.keep = keep
        self.whitening = whitening
        self.rounds = rounds
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, triplets: Any = None, pairs: Any = None) -> MetricLearner:
        """Learn from labels, or from comparisons that are given.

        Parameters
        ----------
        X : points × features.
        y : a label a point; with ``pairs``, +1 for each similar pair and −1 (or 0) for each dissimilar one.
        triplets : (number, 3) places of rows in X: the third is to be farther from the first than the second is.
        pairs : (number, 2) places of rows in X. Similar ones are to lie at d² ≤ ½, dissimilar ones at d² ≥ 1½.
        """
        before = self.__dict__.copy()
        try:
            self._fit(X, y, triplets, pairs)
        except BaseException:  # what an earlier fit left stays as it was
            self.__dict__ = before
            raise
        return self

    def partial_fit(self, X: Any, y: Any = None, *, triplets: Any = None, pairs: Any = None) -> MetricLearner:
        """Learn from one batch of a stream, by ``sx.online.OnlineConditionalGradient``: see docs/quickstart-streams.md.

        Neighbours are looked for within the batch, so it should have several points of each of its classes. The first
        call settles how features are scaled (and whitened), and with radius="auto" the radius, tried on its points.
        After ``fit`` it goes on from the metric fitted, with its radius and scales. Nothing is certified:
        ``certificate_`` is None, ``result_``, ``status_``, ``points_`` and ``triplets_`` are gone, and ``n_iter_``
        counts eigenvectors. A batch that is refused changes nothing.

        Parameters
        ----------
        X, y, triplets, pairs : as in ``fit``, all within this batch.
        """
        before = self.__dict__.copy()
        try:
            first = not hasattr(self, "components_")
            table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2, reset=first)
            seed = seed_of(OWNER, self.random_state)
            streaming.take(self, learned(self, table, y, triplets, pairs, seed))
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, y: Any, triplets: Any, pairs: Any) -> None:
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        seed = seed_of(OWNER, self.random_state)
        with one_blas_thread, Told(self, Hooks()) as told:
            if triplets is None and pairs is None:
                fitted = fit_labelled(self, table, y, seed, told)
            else:
                fitted = fit_given(self, table, y, triplets, pairs, seed, told)
        self._take(fitted)

    def _take(self, fitted: Fitted) -> None:
        found, recipe = fitted.found, fitted.recipe
        self._stream, self._frame, self._settings = None, found.frame, streaming.settings_of(self, FROZEN)
        self.metric_, self.result_ = found.X, found.result
        self.plain_, learned = fitted.plain is not None, found.frame.components(found.X, recipe.keep)
        self.components_ = learned if fitted.plain is None else fitted.plain.plain()
        self.mean_, self.points_, self.triplets_ = found.frame.mean, found.points, found.triplets
        self.radius_ = None if recipe.priced else fitted.size
        self.penalty_ = fitted.size if recipe.priced else None
        self.whitening_, self.keep_, self.path_ = fitted.whitening, recipe.keep, fitted.path
        self.certificate_, self.status_ = found.result.certificate, found.result.status.name
        self.n_iter_, self.n_rounds_ = max(1, found.result.trace[-1].step), found.rounds
        self.rank_, self.recipe_, self.bounds_ = rank_of(found.X), recipe, found.bounds
        if fitted.classes is not None:
            self.classes_ = fitted.classes
        else:
            self.__dict__.pop("classes_", None)
        if found.result.status not in (Status.GAP, Status.FLOOR, Status.OBSERVER):
            warnings.warn(
                f"{OWNER}: the certified gap is {self.certificate_.gap:.3g} of {self.certificate_.value:.3g} after "
                f"{self.n_iter_} steps; raise max_iter or tolerance.",
                ConvergenceWarning,
                stacklevel=5,
            )

    # --------------------------------------------------------------------------------------------------- answering

    def transform(self, X: Any) -> Array:
        """Points where plain distances are those of the learned metric."""
        check_is_fitted(self, "components_")
        table = validate_data(self, X, dtype=np.float64, reset=False)
        made: Array = (table - self.mean_) @ self.components_.T
        return made

    def score_pairs(self, pairs: Any) -> Array:
        """Learned distances of pairs of points, (number, 2, features); after ``fit(pairs=…)``, similar ones below 1."""
        check_is_fitted(self, "components_")
        table = point_pairs(pairs, self.components_.shape[1])
        apart = (table[:, 0] - table[:, 1]) @ self.components_.T
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", apart, apart)))

    def mahalanobis(self) -> Symmetric:
        """The whole metric over the features as they were given, in factors: d²(x, y) = (x − y)ᵀM(x − y)."""
        check_is_fitted(self, "components_")
        vectors = self.components_.T
        sizes = np.linalg.norm(vectors, axis=0)
        kept = sizes > 0.0
        return Symmetric(np.ascontiguousarray(vectors[:, kept] / sizes[kept]), sizes[kept] ** 2)

    def problem(self) -> Problem:
        """The last problem solved: ``spectraplex.verify(certificate_, problem(), metric_)`` checks its certificate."""
        check_is_fitted(self, "components_")
        streaming.certified(self)
        return problem_of(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
