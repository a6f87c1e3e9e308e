"""The scikit-learn face: estimators for people with a half-empty table."""

from .imputer import NuclearNormImputer

__all__ = ["NuclearNormImputer"]
