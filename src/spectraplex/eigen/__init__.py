"""Leading eigenvectors, and numbers that are at least the largest eigenvalue."""

from .bounds import upper_bound
from .leading import leading

__all__ = ["leading", "upper_bound"]
