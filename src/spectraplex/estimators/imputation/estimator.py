"""NuclearNormImputer: NaN in, complete table out, as a scikit-learn transformer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ...hooks import Hooks
from ...paths.point import rank_of
from ...places.numpy import EPS, Array
from ...places.threads import one_blas_thread
from ...stop import Status
from ..callbacks import CallbackSupport, Heard, with_callbacks
from ..devices import solver_for
from .asked import bounds, check, is_nan
from .table import Model, Settings, Watch, fit

_FAR = 10.0  # standard deviations: an entry farther from its mean counts as that far, or it would rule all others
_WIDE = 300  # columns above which a covariance of all of them costs more than it tells
_PATH = ("n_neighbors", "noise", "radius", "score", "rank", "gap")


class NuclearNormImputer(CallbackSupport, TransformerMixin, BaseEstimator):
    """Fill the holes of a table by what its columns and its rows have in common.

    An entry is expected where the rows most like its own are (or at the mean of its column), and the rest is a matrix
    Z of bounded nuclear norm, fitted to the observed entries in the metric of the columns' own covariance. Given the
    local means and the metric, Z solves a convex problem, and ``certificate_`` says how far from its optimum Z can be.
    How many neighbours and which radius is chosen by predicting entries held out, unless given.

    Parameters
    ----------
    radius : bound on the nuclear norm of Z·S^(−½), S the metric; "auto" tries several on entries held out.
    n_neighbors : how many rows a local mean is taken over, 0 for the mean of the column; "auto" tries some.
    metric : "learned" (the covariance of the columns), "identity" (all columns alike and unrelated: the plain nuclear
        norm, and no neighbours), or "auto": learned up to 300 columns.
    standardize : divide every column by its standard deviation, inside; otherwise all by the same number.
    missing_values : what stands for a hole, NaN or a number.
    add_indicator : append one column of zeros and ones for every column that had holes in ``fit``.
    keep_empty_features : keep columns without any observation, filled with zeros; otherwise they are dropped.
    min_value, max_value : bounds on what is filled in: a number, one for each column, None, or "observed", the least
        and the largest value that the column had in ``fit``.
    tol : the accuracy of the fitted entries, certified: their distance from those of the exact solution, in the mean
        square and in standard deviations.
    max_iter : most steps of a solve.
    validation_fraction : share of the observed entries held out to choose by; repeated where these are few.
    random_state : decides which entries are held out. The default makes the result reproducible.
    device : where problems are solved: None is this machine, "cuda" a GPU, "cpu" Torch on this processor, and "auto"
        a GPU where there is one and the table is large enough. What comes back is NumPy's. Needs the extra ``torch``.

    Attributes
    ----------
    completed_ : the table of ``fit``, completed: Z itself.
    certificate_ : of the convex problem ``problem_`` at ``solution_``; None where there was nothing to solve (fewer
        than two columns that vary). ``spectraplex.verify(certificate_, problem_, solution_)`` checks it again.
    radius_, n_neighbors_ : given or chosen.
    path_ : what was tried: arrays n_neighbors, noise, radius, score (RMSE on entries held out), rank, gap; empty where
        nothing had to be chosen.
    rank_ : of Z. ``n_iter_`` : steps of the last solve.
    mean_, scale_ : of the columns.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from spectraplex.estimators import NuclearNormImputer
    >>> table = np.outer(np.arange(1.0, 21), [1.0, 2.0, -1.0])
    >>> table[4, 1] = np.nan
    >>> round(float(NuclearNormImputer().fit_transform(table)[4, 1]))
    10
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        n_neighbors: Any = "auto",
        metric: str = "auto",
        standardize: bool = True,
        missing_values: Any = np.nan,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        min_value: Any = "observed",
        max_value: Any = "observed",
        tol: float = 0.01,
        max_iter: int = 1000,
        validation_fraction: float = 0.1,
        random_state: Any = 0,
        device: Any = None,
    ) -> None:
        self.radius = radius
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.min_value = min_value
        self.max_value = max_value
        self.tol = tol
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device

    # --------------------------------------------------------------------------------------------------------- fit

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> NuclearNormImputer:
        """Learn from a table with holes; ``y`` is not looked at."""
        return self._fit(X, y, Hooks())

    def _fit(self, X: Any, y: Any, hooks: Hooks) -> NuclearNormImputer:
        check(self)
        table = self._table(X, reset=True)
        missing = np.isnan(table)
        empty = missing.all(axis=0)
        if empty.all() and not self.keep_empty_features:
            raise ValueError(
                f"{type(self).__name__}: none of the {table.size} entries is observed; there is nothing to learn from."
            )
        if empty.any() and not self.keep_empty_features:
            names = getattr(self, "feature_names_in_", np.arange(table.shape[1]))[empty]
            warnings.warn(
                f"{type(self).__name__}: no value was observed in column(s) {', '.join(map(str, names))}, which are "
                "left out; keep_empty_features=True keeps them, filled with zeros.",
                stacklevel=3,
            )
        self._kept = np.ones_like(empty) if self.keep_empty_features else ~empty
        self._holed = np.nonzero(missing.any(axis=0))[0]
        self._describe(table)
        self._limits = bounds(self, table)
        with Heard(self, X, y, hooks) as watch:
            self._learn(table, watch)
        return self

    def _learn(self, table: Array, watch: Watch) -> None:
        predicted = np.zeros(table.shape)
        self._model: Model | None = None
        self.certificate_ = self.problem_ = self.solution_ = None
        self.radius_, self.n_neighbors_, self.rank_, self.n_iter_ = 0.0, 0, 0, 0
        self.path_ = {name: np.empty(0) for name in _PATH}
        if self._varying.sum() >= 2:
            wide = int(self._varying.sum()) > _WIDE
            learned = self.metric == "learned" or (self.metric == "auto" and not wide)
            settings = Settings(
                radius=None if isinstance(self.radius, str) else float(self.radius),
                neighbours=0 if not learned else None if isinstance(self.n_neighbors, str) else int(self.n_neighbors),
                learned=learned,
                tol=float(self.tol),
                max_steps=int(self.max_iter),
                held=float(self.validation_fraction),
                seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
                solver=solver_for(type(self).__name__, self.device, int((~np.isnan(table)).sum())),
            )
            with one_blas_thread:
                fitted = fit(self._standardized(table), settings, watch)
            if fitted.result.status not in (Status.GAP, Status.FLOOR):
                warnings.warn(
                    f"{type(self).__name__}: {fitted.result.status.value} Here that is max_iter={self.max_iter} "
                    f"and tol={self.tol:g}.",
                    ConvergenceWarning,
                    stacklevel=5,
                )
            predicted[:, self._varying] = fitted.predicted
            self._model = fitted.model
            self.certificate_, self.problem_ = fitted.result.certificate, fitted.problem
            self.solution_ = fitted.result.X
            self.radius_, self.n_neighbors_ = fitted.radius, fitted.neighbours
            self.rank_, self.n_iter_ = rank_of(fitted.result.X), max(1, fitted.result.trace[-1].step)
            rows = [(t.neighbours, t.noise, t.radius, t.score, t.rank, t.gap) for t in fitted.path]
            self.path_ = {name: np.array([row[place] for row in rows]) for place, name in enumerate(_PATH)}
        self.completed_ = self._filled(table, predicted)[:, self._kept]

    def _describe(self, table: Array) -> None:
        """Mean and scale of the columns, overflow and rounding kept away; and which columns vary at all."""
        seen = ~np.isnan(table)
        largest = np.max(np.abs(np.where(seen, table, 0.0)), axis=0)
        if not np.isfinite(4.0 * largest).all():  # differences of such numbers are none any more
            place, owner = int(np.argmax(largest)), type(self).__name__
            raise ValueError(
                f"{owner}: column {place} holds numbers as large as {largest[place]:.3g}; divide them all."
            )
        unit = np.where(largest > 0.0, largest, 1.0)
        counts = np.maximum(seen.sum(axis=0), 1)
        scaled = np.where(seen, table / unit, 0.0)
        mean = scaled.sum(axis=0) / counts
        deviation = np.sqrt((np.where(seen, scaled - mean, 0.0) ** 2).sum(axis=0) / counts)
        self._varying = deviation > 64 * EPS
        self.mean_ = mean * unit
        self.scale_ = own = np.where(self._varying, deviation * unit, 1.0)
        if not self.standardize and self._varying.any():
            top = self.scale_[self._varying].max()
            self.scale_ = np.full(table.shape[1], top * np.sqrt(np.mean((self.scale_[self._varying] / top) ** 2)))
        self._far = _FAR * own / self.scale_

    # --------------------------------------------------------------------------------------------------- transform

    def transform(self, X: Any) -> Any:
        """Fill the holes of any rows, each by its own small convex problem in the metric that ``fit`` learned."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        predicted = np.zeros(table.shape)
        holed = np.isnan(table).any(axis=1)
        if self._model is not None and holed.any():
            with one_blas_thread:
                parts = self._model.predict(self._standardized(table[holed]))
            predicted[np.ix_(holed, self._varying)] = parts
        out = self._filled(table, predicted)[:, self._kept]
        if self.add_indicator:
            out = np.hstack([out, np.isnan(table[:, self._holed]).astype(float)])
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that come out: those kept, then those of the indicator."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        extra = [f"missingindicator_{name}" for name in names[self._holed]] if self.add_indicator else []
        return np.concatenate([names[self._kept], np.asarray(extra, dtype=object)])

    def _standardized(self, table: Array) -> Array:
        varying = self._varying
        scaled = (table[:, varying] - self.mean_[varying]) / self.scale_[varying]
        return np.clip(scaled, -self._far[varying], self._far[varying])

    def _filled(self, table: Array, predicted: Array) -> Array:
        values = np.where(self._varying, self.mean_ + self.scale_ * predicted, self.mean_)
        return np.where(np.isnan(table), np.clip(values, *self._limits), table)

    # ------------------------------------------------------------------------------------------------- at the door

    def _table(self, X: Any, reset: bool) -> Array:
        holes_are_nan = is_nan(self.missing_values)
        if np.ma.isMaskedArray(X):  # a mask is another way to say what is missing; NumPy would drop it
            X = np.ma.filled(X.astype(np.float64), self.missing_values)
        finite = "allow-nan" if holes_are_nan else True
        table = validate_data(self, X, reset=reset, dtype=np.float64, order="C", copy=True, ensure_all_finite=finite)
        if not holes_are_nan:
            table[table == self.missing_values] = np.nan
        return np.asarray(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_nan(self.missing_values)
        return tags
