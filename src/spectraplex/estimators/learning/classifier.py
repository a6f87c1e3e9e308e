"""NuclearNormClassifier: many classes that share few directions, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ...checks import is_word
from ...hooks import Hooks
from ...losses import Softmax
from ...places.numpy import Array
from ..callbacks import CallbackSupport, with_callbacks
from . import linear_streaming, streaming
from .classifier_recipe import ClassRecipe, class_weights_or_say
from .linear_asked import check, parts_or_say, sizes_or_say, weights_or_say, whole_or_before
from .linear_fitting import fit
from .linear_learner import LinearLearner

OWNER = "NuclearNormClassifier"
_FROZEN = ("radius", "class_weight", "fit_intercept", "standardize")  # from one partial_fit to the next


class NuclearNormClassifier(CallbackSupport, ClassifierMixin, LinearLearner):
    """Multinomial logistic regression whose matrix of weights W (features × classes) has a bounded nuclear norm.

        minimise  Σ wᵢ softmax loss(x̃ᵢᵀW + log shares + b; yᵢ) + ½κ‖b‖²   subject to ‖W‖_* ≤ radius

    x̃ are the features, centred and scaled. The bound lets classes share directions: W has few of them, which helps
    where there are many classes with few samples each. The problem is convex, with the intercepts b inside it, and
    ``certificate_`` bounds how far the fit is from the best there is. Sparse features stay sparse.

    Parameters
    ----------
    radius : bound on the nuclear norm of W; "auto" takes the one with the least loss in cross-validation, on a path of
        growing radii where each solution starts the next.
    class_weight : None, "balanced", or a dictionary class → weight, as everywhere in scikit-learn.
    fit_intercept : whether there are intercepts (then features are centred, too).
    intercept_ridge : κ. What it holds back is the distance from the logarithms of the shares of the classes, so that a
        model without features pays nothing.
    standardize : divide every feature by its standard deviation.
    tol : the fit ends at a certified gap of this share of its value.
    max_iter : most steps of the solver.
    cv : folds, or a list of (train, test) indices; "auto": five folds up to 2,000 samples, three up to
        20,000, beyond a fifth is kept aside once. Which samples are kept aside follows from the data, not their order.
    random_state : a whole number: seeds the solver and its certificates.

    Attributes
    ----------
    classes_ : the labels, sorted.
    coef_, intercept_ : (classes, features) and (classes,), in the units of X; worked out when they are asked for.
    U_, s_, V_ : W in factors, for centred and scaled features.
    radius_ : given or chosen. ``path_`` : the radii tried, and their mean held-out loss ("radius", "score").
    rank_ : of W.
    certificate_, solution_ : ``spectraplex.verify(certificate_, model.problem(X, y), solution_)`` checks it again.
    n_iter_, status_ : steps of the solver, and why it ended.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectraplex.estimators import NuclearNormClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuclearNormClassifier(radius=8.0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.rank_
    (True, 2)
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        class_weight: Any = None,
        fit_intercept: bool = True,
        intercept_ridge: float = 0.01,
        standardize: bool = True,
        tol: float = 1e-3,
        max_iter: int = 500,
        cv: Any = "auto",
        random_state: int = 0,
    ) -> None:
        self.radius = radius
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_ridge = intercept_ridge
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    # ----------------------------------------------------------------------------------------------------- fitting

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuclearNormClassifier:
        """Fit to samples and their classes.

        Parameters
        ----------
        X : samples × features, dense or sparse.
        y : the class of each sample: numbers or words.
        sample_weight : at least zero, one a sample; a weight of two counts as the sample twice.
        """
        return self._fit(X, y, sample_weight, Hooks())

    def _fit(self, X: Any, y: Any, sample_weight: Any, hooks: Hooks) -> NuclearNormClassifier:
        with whole_or_before(self):
            recipe, classes = self._recipe(X, y, sample_weight, reset=True)
            found = fit(self, recipe, hooks).attributes() | {"_settings": streaming.settings_of(self, _FROZEN)}
            self.__dict__.update(found, classes_=classes, _samples=int(recipe.kept.size), _stream=None)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NuclearNormClassifier:
        """Learn from one batch of a stream, by ``sx.online.OnlineConditionalGradient``: see docs/quickstart-streams.md.

        The first call settles the classes, the scale of the features, and with radius="auto" the radius, by
        cross-validation on its samples. After ``fit`` it goes on from what was fitted, with its radius and scales.
        Intercepts may move inside the nuclear norm; ``intercept_ridge`` is not used. Nothing is certified:
        ``certificate_`` is None, ``solution_`` and ``status_`` are gone, and ``n_iter_`` counts eigenvectors. A batch
        that is refused changes nothing.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``.
        classes : all classes that there will be; needed in the first call, and may be left out later.
        """
        with whole_or_before(self):
            known = self._classes(classes)
            recipe, _ = self._recipe(X, y, sample_weight, reset=not hasattr(self, "_model"), known=known)
            found = linear_streaming.after(self, recipe, Softmax(), recipe.labels, recipe.weights, _FROZEN)
            streaming.take(self, found | {"classes_": known})
        return self

    def _classes(self, classes: Any) -> Array:
        """The classes of a stream, sorted."""
        if is_word(self.class_weight, "balanced"):
            raise ValueError(
                f"{OWNER}.partial_fit: class_weight='balanced' needs all samples at once; give a dictionary, or "
                "sample_weight."
            )
        before = getattr(self, "classes_", None)
        if classes is None:
            if before is None:
                raise ValueError(f"{OWNER}.partial_fit: classes must be passed on the first call to partial_fit.")
            return np.asarray(before)
        listed = np.asarray(classes)
        if listed.ndim != 1 or (listed.dtype.kind == "f" and not np.isfinite(listed).all()):
            raise ValueError(
                f"{OWNER}.partial_fit: classes must be a list of labels, none of them NaN, got {classes!r}."
            )
        given = np.unique(listed)
        if before is not None and not np.array_equal(given, before):
            raise ValueError(
                f"{OWNER}.partial_fit: classes are {given.tolist()} and were {np.asarray(before).tolist()} in the call "
                "before; leave classes out, or fit anew."
            )
        if given.size < 2:
            raise ValueError(f"{OWNER}.partial_fit: classes has {given.size} class; a classifier needs two or more.")
        return given

    def _recipe(
        self, X: Any, y: Any, sample_weight: Any, reset: bool, known: Array | None = None
    ) -> tuple[ClassRecipe, Array]:
        check(self)
        if y is None:
            raise ValueError(f"{OWNER}: requires y to be passed, but the target y is None.")
        X, y = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = weights_or_say(OWNER, sample_weight, X.shape[0])
        sizes_or_say(OWNER, X)
        parts_or_say(OWNER, self.cv, X.shape[0])
        kept = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        if weights is not None and kept.size < X.shape[0]:
            X, y, weights = X[kept], y[kept], weights[kept]
        classes, labels = np.unique(y, return_inverse=True)
        labels = labels.reshape(-1)
        if known is not None:
            strange = ~np.isin(classes, known)
            if strange.any():
                raise ValueError(
                    f"{OWNER}.partial_fit: y has the class {classes[strange].tolist()[0]!r}, which is not among the "
                    "classes of the first call; name all of them there."
                )
            classes, labels = known, np.searchsorted(known, classes)[labels]
        if classes.size < 2:
            raise ValueError(f"{OWNER}: y has only one class, {classes.tolist()[0]!r}; a classifier needs two or more.")
        each = class_weights_or_say(OWNER, self.class_weight, classes, labels, weights)
        if each is not None:
            weights = each[labels] if weights is None else weights * each[labels]
        ridge = float(self.intercept_ridge) if self.fit_intercept else None
        return ClassRecipe(X, kept, labels, classes.size, weights, ridge, bool(self.standardize)), classes

    # --------------------------------------------------------------------------------------------------- answering

    def decision_function(self, X: Any) -> Array:
        """The score of every class; of two classes, how much the second is ahead."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class with the highest score."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """The probability of every class."""
        scores = self._scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms, also where a probability is too small to be held."""
        scores = self._scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    @property
    def coef_(self) -> Array:
        return self._coefficients()[0]

    @property
    def intercept_(self) -> Array:
        return self._coefficients()[1]
