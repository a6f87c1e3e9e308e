"""NuclearNormRegressor: many tasks that share few directions, targets missing here and there, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from ...checks import is_word, number
from ...hooks import Hooks
from ...places.numpy import Array
from ..callbacks import CallbackSupport, with_callbacks
from . import linear_streaming, streaming
from .linear_asked import check, parts_or_say, sizes_or_say, weights_or_say, whole_or_before
from .linear_fitting import fit
from .linear_learner import LinearLearner
from .regressor_recipe import TaskRecipe, spread

OWNER = "NuclearNormRegressor"
LOSSES = ("squared", "huber", "poisson-log")
_FROZEN = ("radius", "loss", "delta", "fit_intercept", "standardize")  # from one partial_fit to the next


class NuclearNormRegressor(CallbackSupport, MultiOutputMixin, RegressorMixin, LinearLearner):
    """Linear regression of many tasks whose matrix of weights W (features × tasks) has a bounded nuclear norm.

        minimise  Σ wᵢ ℓ(x̃ᵢᵀW + offset + b; yᵢ) + ½κ‖b‖²   subject to ‖W‖_* ≤ radius

    x̃ are the features, centred and scaled. The bound lets tasks share directions: W has few of them, which helps where
    tasks are many and alike. Targets may be missing (NaN). The problem is convex, with the intercepts b inside it, and
    ``certificate_`` bounds how far the fit is from the best there is. Sparse features stay sparse.

    Parameters
    ----------
    radius : bound on the nuclear norm of W; "auto" takes the one with the least loss in cross-validation, on a path of
        growing radii where each solution starts the next.
    loss : "squared"; "huber", linear beyond ``delta``; "poisson-log" for counts: the logarithm of the mean is linear,
        and ``predict`` gives the mean.
    delta : where the Huber loss goes over to a line, in units of the spread of a task's targets.
    fit_intercept : whether there are intercepts (then features are centred, too).
    intercept_ridge : κ. What it holds back is the distance from the mean of a task (its median with "huber", the
        logarithm of its mean with "poisson-log"), so that a model without features pays nothing.
    standardize : divide every feature, and the targets of every task (not counts), by their standard deviation (the
        median absolute deviation with "huber").
    tol : the fit ends at a certified gap of this share of its value.
    max_iter : most steps of the solver.
    cv : folds, or a list of (train, test) indices; "auto": five folds up to 2,000 samples, three up to
        20,000, beyond a fifth is kept aside once. Which samples are kept aside follows from the data, not their order.
    random_state : a whole number: seeds the solver and its certificates.

    Attributes
    ----------
    coef_, intercept_ : (tasks, features) and (tasks,), in the units of X and y (of the logarithm of the mean with
        "poisson-log"); worked out when they are asked for.
    target_scale_ : what the targets of each task were divided by.
    U_, s_, V_ : W in factors, for centred and scaled features and targets.
    radius_ : given or chosen. ``path_`` : the radii tried, and their mean held-out loss ("radius", "score").
    rank_ : of W.
    certificate_, solution_ : ``spectraplex.verify(certificate_, model.problem(X, y), solution_)`` checks it again.
    n_iter_, status_ : steps of the solver, and why it ended.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from spectraplex.estimators import NuclearNormRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> y = X @ np.outer([1.0, -1.0, 0.0, 2.0], [1.0, 2.0, 3.0])
    >>> y[3, 1] = np.nan
    >>> NuclearNormRegressor(radius=50.0).fit(X, y).predict([[1.0, 1.0, 1.0, 1.0]]).round(2)
    array([[2., 4., 6.]])
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        loss: str = "squared",
        delta: float = 1.0,
        fit_intercept: bool = True,
        intercept_ridge: float = 1.0,
        standardize: bool = True,
        tol: float = 1e-3,
        max_iter: int = 500,
        cv: Any = "auto",
        random_state: int = 0,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.delta = delta
        self.fit_intercept = fit_intercept
        self.intercept_ridge = intercept_ridge
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    # ----------------------------------------------------------------------------------------------------- fitting

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuclearNormRegressor:
        """Fit to samples and their targets.

        Parameters
        ----------
        X : samples × features, dense or sparse.
        y : samples × tasks, or one number a sample; NaN (or masked) where a target is missing.
        sample_weight : at least zero, one a sample; a weight of two counts as the sample twice.
        """
        return self._fit(X, y, sample_weight, Hooks())

    def _fit(self, X: Any, y: Any, sample_weight: Any, hooks: Hooks) -> NuclearNormRegressor:
        with whole_or_before(self):
            recipe, flat = self._recipe(X, y, sample_weight, reset=True)
            found = fit(self, recipe, hooks).attributes()
            kind: dict[str, Any] = {"_flat": flat, "_counts": recipe.loss == "poisson-log"}
            kind |= {"_settings": streaming.settings_of(self, _FROZEN), "_samples": int(recipe.kept.size)}
            self.__dict__.update(found, target_scale_=recipe.scale, _stream=None, **kind)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuclearNormRegressor:
        """Learn from one batch of a stream, by ``sx.online.OnlineConditionalGradient``: see docs/quickstart-streams.md.

        The first call settles the scale of features and targets (every task needs a target there), and with
        radius="auto" the radius, by cross-validation on its samples. After ``fit`` it goes on from what was fitted,
        with its radius and scales. Intercepts may move inside the nuclear norm; ``intercept_ridge`` is not used.
        Nothing is certified: ``certificate_`` is None, ``solution_`` and ``status_`` are gone, and ``n_iter_`` counts
        eigenvectors. A batch that is refused changes nothing.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``, NaN where a target is missing.
        """
        with whole_or_before(self):
            settled = self.target_scale_ if hasattr(self, "_model") else None
            recipe, flat = self._recipe(X, y, sample_weight, reset=settled is None, settled=settled)
            cells = None if recipe.cells is None else np.broadcast_to(recipe.cells, recipe.targets.shape)
            loss = linear_streaming.loss_of(recipe.loss, float(self.delta))
            found = linear_streaming.after(self, recipe, loss, recipe.targets, cells, _FROZEN)
            kind = {"_flat": flat, "_counts": recipe.loss == "poisson-log", "target_scale_": recipe.scale}
            streaming.take(self, found | kind)
        return self

    def _recipe(
        self, X: Any, y: Any, sample_weight: Any, reset: bool, settled: Array | None = None
    ) -> tuple[TaskRecipe, bool]:
        check(self)
        if not any(is_word(self.loss, name) for name in LOSSES):
            raise ValueError(f"{OWNER}: loss must be one of {', '.join(LOSSES)}, got {self.loss!r}.")
        number(OWNER, "delta", self.delta, positive=True)
        if y is None:
            raise ValueError(f"{OWNER}: requires y to be passed, but the target y is None.")
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        y = _targets(X, y)
        flat = y.ndim == 1
        table = y[:, None] if flat else y
        weights = weights_or_say(OWNER, sample_weight, X.shape[0])
        sizes_or_say(OWNER, X)
        parts_or_say(OWNER, self.cv, X.shape[0])
        seen = ~np.isnan(table)
        kept = np.flatnonzero(seen.any(axis=1) & (True if weights is None else weights > 0.0))
        if kept.size == 0:
            raise ValueError(f"{OWNER}: no target was observed: all of y is NaN; there is nothing to fit.")
        if kept.size < table.shape[0]:
            X, table, seen = X[kept], table[kept], seen[kept]
            weights = None if weights is None else weights[kept]
        if settled is not None and (settled.size != table.shape[1] or flat != self._flat):
            before = "one number a sample" if self._flat else f"{settled.size} tasks"
            raise ValueError(f"{OWNER}.partial_fit: y has shape {y.shape}, but the call before had {before}.")
        empty = ~seen.any(axis=0)
        if empty.any() and settled is None:
            raise ValueError(f"{OWNER}: task {int(np.argmax(empty))} has no target, all are NaN; leave its column out.")
        if self.loss == "poisson-log":
            low = np.where(seen, table, 0.0)
            if (low < 0.0).any():
                i, j = (int(place) for place in np.argwhere(low < 0.0)[0])
                raise ValueError(f"{OWNER}: y[{i}, {j}] is {low[i, j]:g}; counts are at least zero with poisson-log.")
        if not np.abs(np.where(seen, table, 0.0)).max() < 1e150:
            raise ValueError(f"{OWNER}: y holds numbers larger than 1e150; divide it.")
        return self._scaled(X, kept, table, seen, weights, settled), flat

    def _scaled(
        self, X: Any, kept: Array, table: Array, seen: Array, weights: Array | None, settled: Array | None
    ) -> TaskRecipe:
        """Targets divided by what their tasks are divided by."""
        each = np.ones((table.shape[0], 1)) if weights is None else weights[:, None]
        cell = None if weights is None and seen.all() else each * seen if not seen.all() else each
        scale = np.ones(table.shape[1]) if settled is None else settled
        if settled is None and self.standardize and self.loss != "poisson-log":
            scale = spread(table, np.broadcast_to(each * seen, table.shape), self.loss == "huber")
        delta = float(self.delta) if self.loss == "huber" else np.inf
        ridge = float(self.intercept_ridge) if self.fit_intercept else None
        targets = np.where(seen, table, 0.0) / scale
        return TaskRecipe(X, kept, targets, cell, weights, ridge, bool(self.standardize), self.loss, delta, scale)

    # --------------------------------------------------------------------------------------------------- answering

    def predict(self, X: Any) -> Array:
        """Targets of all tasks; means of counts with "poisson-log"."""
        scores = self._scores(X)
        out = np.exp(np.minimum(scores, 700.0)) if self._counts else scores * self.target_scale_
        return np.asarray(out[:, 0] if self._flat else out)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the mean over tasks; missing targets (NaN) count nowhere, nor do tasks with fewer than two targets."""
        found = self.predict(X)
        table = _targets(X, y).reshape(found.shape[0], -1)
        if table.shape[1] != found.reshape(found.shape[0], -1).shape[1]:
            raise ValueError(f"{OWNER}.score: y has {table.shape[1]} tasks, but predictions have shape {found.shape}.")
        weights, found = weights_or_say(OWNER, sample_weight, table.shape[0]), found.reshape(table.shape)
        seen = ~np.isnan(table)
        tasks = np.flatnonzero(seen.sum(axis=0) >= min(2, table.shape[0]))
        if not tasks.size:
            raise ValueError(
                f"{OWNER}.score: no task in y has two targets that are not NaN; there is nothing to judge by."
            )
        each = []
        for k in tasks:
            rows = seen[:, k]
            each.append(
                r2_score(table[rows, k], found[rows, k], sample_weight=None if weights is None else weights[rows])
            )
        return float(np.mean(each))

    @property
    def coef_(self) -> Array:
        coef = self._coefficients()[0] * self.target_scale_[:, None]
        return np.asarray(coef[0] if self._flat else coef)

    @property
    def intercept_(self) -> Any:
        found = self._coefficients()[1] * self.target_scale_
        return float(found[0]) if self._flat else found


def _targets(X: Any, y: Any) -> Array:
    """Numbers, NaN where one is missing or masked, as many as there are samples."""
    if np.ma.isMaskedArray(y):
        y = np.ma.filled(y.astype(np.float64), np.nan)
    y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y")
    check_consistent_length(X, y)
    return np.asarray(y)
