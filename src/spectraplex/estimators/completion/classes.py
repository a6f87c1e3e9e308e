"""Two classes: what ``loss="logistic"`` adds to an estimator, so that scikit-learn scores it as a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...objectives.frames import is_far
from ...places.numpy import Array
from ..input.observations import OWNER, pair_columns
from . import serving
from .serving import bottom


def _two(model: Any) -> bool:
    if model.loss != "logistic":
        raise AttributeError(f"{OWNER}: there are classes with loss='logistic' only, and the loss is {model.loss!r}.")
    return True


class TwoClasses(RegressorMixin):
    """``classes_``, ``predict_proba``, ``decision_function`` with the logistic loss; R² or accuracy as the score."""

    @property
    def classes_(self) -> Array:
        """The two classes, 0 and 1 or −1 and 1, in the order of the columns of ``predict_proba``."""
        _two(self)
        check_is_fitted(self, "s_")
        return np.array([int(bottom(self)), 1])

    @available_if(_two)
    def predict_proba(self, X: Any) -> Array:
        """The probabilities of the two classes, an (n, 2) array; with ``loss="logistic"`` only."""
        me: Any = self
        check_is_fitted(me, "s_")
        _refuse_far(X, "predict_proba")
        low = bottom(me)
        likely = (me.predict(X) - low) / (1.0 - low)
        return np.column_stack([1.0 - likely, likely])

    @available_if(_two)
    def decision_function(self, X: Any) -> Array:
        """The log-odds of the larger class, n numbers; with ``loss="logistic"`` only."""
        me: Any = self
        check_is_fitted(me, "s_")
        _refuse_far(X, "decision_function")
        me._refuse_shards("decision_function")
        first, second, _ = pair_columns(X, getattr(me, "feature_names_in_", None))
        return serving.linear(me, *me._placed(first, second))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; with ``loss="logistic"`` the share of values whose class is the likelier one."""
        me: Any = self
        if me.loss != "logistic":
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score

        likely = self.predict_proba(X)
        return float(accuracy_score(y, self.classes_[(likely[:, 1] > 0.5).astype(int)], sample_weight=sample_weight))


def tagged(tags: Tags) -> Tags:
    """The tags of a classifier, so that scorers ask for probabilities and folds are made by class."""
    tags.estimator_type, tags.regressor_tags = "classifier", None
    tags.classifier_tags = ClassifierTags(poor_score=True, multi_class=False)
    return tags


def _refuse_far(X: Any, what: str) -> None:
    if is_far(X):
        raise ValueError(f"{OWNER}: {what} is for pairs on this machine; predict takes Dask frames.")
