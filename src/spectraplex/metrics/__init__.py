"""How well a model predicts and ranks: plain functions on numbers and lists of labels, and one for fitted models.

Errors: ``rmse``, ``mae``. Ranking: ``recall_at_k``, ``precision_at_k``, ``ndcg_at_k``, ``map_at_k``, ``coverage``, or
all at once by ``ranking``; ``evaluate`` asks a fitted model and puts simple answers beside it.
"""

from .errors import mae, rmse
from .models import evaluate
from .ranking import Ranking, coverage, map_at_k, ndcg_at_k, precision_at_k, ranking, recall_at_k

__all__ = [
    "Ranking",
    "coverage",
    "evaluate",
    "mae",
    "map_at_k",
    "ndcg_at_k",
    "precision_at_k",
    "ranking",
    "recall_at_k",
    "rmse",
]


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]
