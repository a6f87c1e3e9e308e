"""The scikit-learn face."""

from .completion import MatrixCompletion

__all__ = ["MatrixCompletion"]
