"""The scikit-learn face: estimators for people with a half-empty table."""

from .completion import MatrixCompletion
from .imputer import NuclearNormImputer

__all__ = ["MatrixCompletion", "NuclearNormImputer"]
