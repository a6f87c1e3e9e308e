"""The scikit-learn face: estimators for people with a half-empty table."""

from .completion.estimator import MatrixCompletion
from .completion.exchange import radius_for
from .imputation.estimator import NuclearNormImputer

__all__ = ["MatrixCompletion", "NuclearNormImputer", "radius_for"]
