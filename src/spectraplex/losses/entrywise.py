"""The losses of a table's entries by their old address; they live in files of their own."""

from __future__ import annotations

from .huber import Huber
from .logistic import Logistic
from .protocol import Conjugate, Loss
from .separable import steepest
from .squared import Squared

__all__ = ["Conjugate", "Huber", "Logistic", "Loss", "Squared", "steepest"]
