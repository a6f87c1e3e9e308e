"""What NuclearNormClassifier and NuclearNormRegressor have in common: a linear model, and the problem it solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ...places.numpy import Array
from ...problem import Problem
from . import streaming
from .linear_fitting import Model, objective_of, problem_of


class LinearLearner(BaseEstimator, ABC):
    """Scores are linear in the features. A class that extends this has ``_recipe``, which reads the data of ``fit``."""

    tol: float
    radius_: float
    _model: Model

    @abstractmethod
    def _recipe(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Any]: ...

    def problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """The convex problem that was solved, from the data of ``fit``."""
        check_is_fitted(self)
        streaming.certified(self)
        recipe, _ = self._recipe(X, y, sample_weight, reset=False)
        return problem_of(objective_of(recipe, float(self.tol)), self.radius_)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        data = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return self._model.scores(data)

    def _coefficients(self) -> tuple[Array, Array]:
        """(outputs × features, outputs)."""
        check_is_fitted(self)
        return self._model.coefficients()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
