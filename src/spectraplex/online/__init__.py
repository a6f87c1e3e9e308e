"""For data that keeps coming: learners that see each arrival once, and what they lose beside the best fixed X."""

from __future__ import annotations

from .learner import OnlineConditionalGradient, OnlineRankOneRegularized
from .ledger import RegretBound
from .partial import partial_fit
from .regret import Regret

__all__ = ["OnlineConditionalGradient", "OnlineRankOneRegularized", "Regret", "RegretBound", "partial_fit"]


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]
