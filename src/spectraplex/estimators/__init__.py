"""The scikit-learn face: estimators for people with a half-empty table."""

from .completion import MatrixCompletion
from .exchange import radius_for
from .imputer import NuclearNormImputer

__all__ = ["MatrixCompletion", "NuclearNormImputer", "radius_for"]
