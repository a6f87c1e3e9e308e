"""KernelLearner: a positive semidefinite kernel of bounded trace from pairs that are alike and pairs that are not."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import is_real, is_word, number, share, whole
from ...domains.sets import TraceBall
from ...hooks import Hooks
from ...matrices.factors import Factors, Symmetric
from ...objectives.fit import Fit
from ...paths.point import rank_of
from ...paths.walk import path
from ...places.numpy import Array
from ...places.threads import one_blas_thread
from ...problem import Problem
from ...solve import solve
from ...stop import Status, Stop
from ..callbacks import CallbackSupport, Told, with_callbacks
from .kernel_features import landmarks, of_laplacian
from .kernel_input import OWNER, pairs_of, pairs_of_labels
from .kernel_pairs import KernelPairs
from .metric_input import seed_of
from .metric_loss import loss_of

PARTED = 0.5  # the entry of the kernel that parts similar pairs (1 and more) from dissimilar ones (0 and less)
_RADII = (8.0, 32.0, 128.0)
_FOLDS, _SMALL = 3, 0.05
_ROUGH = 0.3  # gap of a solve that is only compared: signs of unseen pairs settle long before the gap does
_LARGEST = 1e6
_COARSE = Stop(relative_gap=0.1, max_steps=100)


class KernelLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupport, BaseEstimator):
    """K = ΦXΦᵀ with X ⪰ 0 of trace at most ``radius``: similar pairs at 1 or more, dissimilar ones at 0 or less.

    Φ are features of a Gaussian kernel through landmarks (Nyström), so that the kernel goes on to new points. The
    problem is convex, and ``certificate_`` bounds how far the fit is from the best one.

    There is no ``partial_fit``: landmarks and pairs are about the points of one ``fit``, and later points could not be
    compared with them. Of a stream, learn a ``MetricLearner`` batch by batch, or fit anew on a sample of all points.

    Parameters
    ----------
    radius : "auto" tries radii from 8 to 128 (times the root mean square of entries, with "squared") on three folds of
        the pairs, each solution beginning at the one before; or a positive number.
    loss : "hinge" (smoothed) or "logistic", for similar and dissimilar pairs; "squared" where ``y`` are the entries of
        the kernel themselves.
    n_landmarks : how many points stand for all in Φ; with a Laplacian, how many of its eigenvectors.
    gamma : of exp(−gamma·‖x − y‖²) over standardised features; None takes one over half the mean squared distance.
    tolerance : the problem is solved to a certified gap of this share of its value.
    max_iter : most steps of the solver.
    random_state : decides the landmarks, the folds and random starts of eigenvectors.

    Attributes
    ----------
    kernel_ : the kernel of the training points, for ``SVC(kernel="precomputed")``.
    embedding_ : training points as rows whose products are ``kernel_``.
    metric_ : X in factors. ``features_`` : Φ of the training points.
    radius_, path_ : the radius fitted with; what was tried, arrays "radius", "error", "rank".
    pairs_, targets_ : what was fitted. ``certificate_``, ``result_``, ``n_iter_``, ``status_``, ``rank_``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectraplex.estimators import KernelLearner
    >>> X, y = load_wine(return_X_y=True)
    >>> KernelLearner(radius=64.0).fit(X, y).kernel_.shape
    (178, 178)
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        loss: str = "hinge",
        n_landmarks: int = 200,
        gamma: float | None = None,
        tolerance: float = 0.01,
        max_iter: int = 100,
        random_state: Any = 0,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, laplacian: Any = None) -> KernelLearner:
        """Learn from pairs, or from labels.

        Parameters
        ----------
        X : points × features.
        y : with ``pairs``, +1 for each similar pair and −1 (or 0) for each dissimilar one, or entries of the kernel
            where the loss is squared. Without ``pairs``, a label a point; at most 20,000 pairs of points are compared.
        pairs : (number, 2) places of rows in X.
        laplacian : of a graph between the points. The kernel is then smooth along the graph, and knows these points
            alone: ``transform`` and ``kernel`` refuse others.
        """
        before = self.__dict__.copy()
        try:
            self._fit(X, y, pairs, laplacian)
        except BaseException:  # what an earlier fit left stays as it was
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, y: Any, pairs: Any, laplacian: Any) -> None:
        radius, stop = self._settings()
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        seed = seed_of(OWNER, self.random_state)
        rng, squared = np.random.default_rng(seed), self.loss == "squared"
        if pairs is None:
            pairs, values = pairs_of_labels(y, len(table), rng)
        else:
            pairs, values = pairs_of(pairs, y, len(table), squared)
        count = whole(OWNER, "n_landmarks", self.n_landmarks)
        gamma = None if self.gamma is None else number(OWNER, "gamma", self.gamma, positive=True)
        with one_blas_thread, Told(self, Hooks()) as told:
            if laplacian is None:
                base = landmarks(table, count, gamma, rng)
                features = base.features(table)
            else:
                base, features = None, of_laplacian(laplacian, count, len(table), OWNER)
            tried: dict[str, Array] = {name: np.zeros(0) for name in ("radius", "error", "rank")}
            if radius is None:
                radius, tried = self._chosen(features, pairs, values, stop, seed, told)
            fit = self._objective(features, pairs, values)
            problem = Problem(fit, TraceBall(fit.shape[0], radius))
            start = _towards(fit, radius, self._radii(values), seed)
            result = solve(problem, stop=_stop(fit, stop), start=start, seed=seed, observers=told.observers)
        assert isinstance(result.X, Symmetric)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.base_, self.features_, self.pairs_, self.targets_ = base, features, pairs, values
        self.radius_, self.path_, self.metric_, self.result_ = radius, tried, result.X, result
        self.certificate_, self.status_ = result.certificate, result.status.name
        self.n_iter_, self.rank_ = max(1, result.trace[-1].step), rank_of(result.X)
        spectrum, vectors = result.X.eigh()
        self.turn_ = vectors * np.sqrt(spectrum)
        self.embedding_ = features @ self.turn_
        if result.status not in (Status.GAP, Status.FLOOR, Status.OBSERVER):
            warnings.warn(
                f"{OWNER}: the certified gap is {result.gap:.3g} of {result.value:.3g} after {self.n_iter_} steps; "
                "raise max_iter or tolerance.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _settings(self) -> tuple[float | None, Stop]:
        if not any(is_word(self.loss, word) for word in ("hinge", "logistic", "squared")):
            raise ValueError(f"{OWNER}: loss must be 'hinge', 'logistic' or 'squared', got {self.loss!r}.")
        radius = None
        if not is_word(self.radius, "auto"):
            radius = float(self.radius) if is_real(self.radius) else 0.0
            largest, words = (np.finfo(float).max, "finite") if self.loss == "squared" else (_LARGEST, "at most 10⁶")
            if not 0.0 < radius <= largest:
                raise ValueError(f"{OWNER}: radius must be 'auto' or a number above 0, {words}, got {self.radius!r}.")
        tolerance, most = share(OWNER, "tolerance", self.tolerance), whole(OWNER, "max_iter", self.max_iter)
        return radius, Stop(relative_gap=tolerance, max_steps=most)

    def _objective(self, features: Array, pairs: Array, values: Array) -> Fit:
        """The mean charge; a dissimilar pair is measured with its sign turned, and is to be 0 or more."""
        weights = np.full(len(pairs), 1.0 / len(pairs))
        if self.loss == "squared":
            return Fit(KernelPairs(features, pairs, np.ones(len(pairs))), values, "squared", weights)
        alike = values > 0
        measured = KernelPairs(features, pairs, np.where(alike, 1.0, -1.0))
        return Fit(measured, np.where(alike, 1.0, 0.0), loss_of(self.loss, 0.5), weights)

    def _radii(self, values: Array) -> tuple[float, ...]:
        """Those to try: in units of the entries of the kernel, where they are given."""
        unit = _unit(values) if self.loss == "squared" else 1.0
        return tuple(unit * each for each in _RADII)

    def _chosen(
        self, features: Array, pairs: Array, values: Array, stop: Stop, seed: int, told: Any
    ) -> tuple[float, dict[str, Array]]:
        """The radius that judges best the pairs that were kept aside."""
        order = np.random.default_rng(seed).permutation(len(pairs))
        radii = self._radii(values)
        count, errors, ranks = min(_FOLDS, len(pairs)), np.zeros(len(radii)), np.zeros(len(radii), int)
        for k in range(count if count > 1 else 0):
            held, rest = order[k::count], np.delete(order, np.s_[k::count])
            fit = self._objective(features, pairs[rest], values[rest])
            rough = _stop(fit, Stop(relative_gap=max(_ROUGH, stop.relative_gap or 0.0), max_steps=stop.max_steps))
            found = path(Problem(fit, TraceBall(fit.shape[0], radii[-1])), radii, stop=rough, seed=seed)
            if len(found) < len(radii):
                raise KeyboardInterrupt
            entries = KernelPairs(features, pairs[held], np.ones(held.size))
            for place, point in enumerate(found):
                z = entries.measure(*point.X.triple())
                missed = (z - values[held]) ** 2 if self.loss == "squared" else (z > PARTED) != (values[held] > 0)
                errors[place] += float(np.sum(missed)) / len(pairs)
                ranks[place] = max(ranks[place], rank_of(point.X))
        for size, error in zip(radii, errors, strict=True):
            told.scored(size, error)
        return radii[int(np.argmin(errors))], {"radius": np.array(radii), "error": errors, "rank": ranks}

    # --------------------------------------------------------------------------------------------------- answering

    @property
    def kernel_(self) -> Array:
        """The kernel of the training points."""
        check_is_fitted(self, "embedding_")
        return np.asarray(self.embedding_ @ self.embedding_.T)

    def transform(self, X: Any) -> Array:
        """Points as rows whose products are the kernel."""
        check_is_fitted(self, "embedding_")
        table = validate_data(self, X, dtype=np.float64, reset=False)
        if self.base_ is None:
            raise ValueError(f"{OWNER}: with a Laplacian the kernel knows the training points alone; use kernel_.")
        made: Array = self.base_.features(table) @ self.turn_
        return made

    def fit_transform(self, X: Any, y: Any = None, **given: Any) -> Array:
        """``fit``, and the training points as rows whose products are the kernel; with a Laplacian, too."""
        return np.asarray(self.fit(X, y, **given).embedding_)

    def kernel(self, X: Any, Y: Any = None) -> Array:
        """The kernel between the rows of X and those of Y, by default the training points (for ``SVC``)."""
        left = self.transform(X)
        right = self.embedding_ if Y is None else self.transform(Y)
        return np.asarray(left @ right.T)

    def problem(self) -> Problem:
        """The problem solved: ``spectraplex.verify(certificate_, problem(), metric_)`` checks its certificate."""
        check_is_fitted(self, "embedding_")
        fit = self._objective(self.features_, self.pairs_, self.targets_)
        return Problem(fit, TraceBall(fit.shape[0], self.radius_))

    @property
    def _n_features_out(self) -> int:
        return int(self.turn_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _towards(fit: Fit, radius: float, radii: Sequence[float], seed: int) -> Factors | None:
    """The solution of the largest smaller radius that is tried: of many solutions the fit then ends near a simple one.

    Where all pairs can be met there are many; without this the one found judged unseen pairs worse.
    """
    sizes = [size for size in radii if size < radius]
    if not sizes:
        return None
    found = path(Problem(fit, TraceBall(fit.shape[0], sizes[-1])), sizes, stop=_stop(fit, _COARSE), seed=seed)
    if len(found) < len(sizes):
        raise KeyboardInterrupt
    return found[-1].X


def _stop(fit: Fit, asked: Stop) -> Stop:
    """A certified gap of a share of the value, or of a twentieth of what X = 0 has."""
    zero = fit.evaluate(np.zeros(fit.targets.size))[0]
    share_of = asked.relative_gap or 0.0
    return Stop(relative_gap=share_of, gap=share_of * _SMALL * zero, max_steps=asked.max_steps)


def _unit(values: Array) -> float:
    """The root mean square of entries; one where all are zero."""
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean((values / largest) ** 2))) if largest > 0.0 else 1.0
