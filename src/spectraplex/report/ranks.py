"""How good recommendations are: where high held-out values come among all columns that a row has not seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..metrics import Ranking, evaluate
from .scores import Judged, seed_of

K = 10  # columns that are recommended to a row
SHARE = 0.6  # held-out values from this quantile of the fitted ones on are relevant
_LEAST = 20  # rows: the mean over fewer says little
_MOST = 2000  # rows that are ranked; a mean over so many is known well enough


@dataclass(frozen=True)
class Ranked:
    """Figures of the model and of simple orders, by name, over all or some of the rows with something relevant."""

    relevant: float
    because: str
    rows: int
    figures: dict[str, Ranking]

    @property
    def ranked(self) -> int:
        return self.figures["model"].rows

    @property
    def whose(self) -> str:
        """Over which rows the means are."""
        if self.ranked == self.rows:
            return f"{self.rows:,} rows"
        return f"{self.ranked:,} rows, drawn at random from {self.rows:,},"

    @classmethod
    def of(cls, document: dict[str, Any]) -> Ranked:
        """From what stands in model.json."""
        known = {name: document[name] for name in ("relevant", "because", "rows")}
        figures = document["figures"].items()
        size = {"k": document["k"], "rows": document["ranked"]}
        return cls(**known, figures={name: Ranking(**size, **each) for name, each in figures})

    def document(self) -> dict[str, Any]:
        """For model.json."""
        figures = {name: asdict(each) for name, each in self.figures.items()}
        wanted = ("recall", "precision", "ndcg", "map", "coverage")
        return {
            "k": K,
            "relevant": self.relevant,
            "because": self.because,
            "rows": self.rows,
            "ranked": self.ranked,
            "whose": self.whose,
            "figures": {name: {key: each[key] for key in wanted} for name, each in figures.items()},
        }


def ranked(model: Any, judge: Judged) -> Ranked | None:
    """Rank for the rows of what was held out, as ``recommend`` does; None where too few have something relevant.

    At most 2,000 rows are ranked, drawn by the seed of the fit. A held-out pair that was fitted, too, is left out.
    """
    if judge.pairs is None or judge.new is None or judge.observed is None:
        return None
    least, because = _threshold(model)
    which = judge.new & (judge.observed >= least)
    first, second = (labels[which].tolist() for labels in judge.pairs)
    rows = list(dict.fromkeys(first))
    if len(rows) < _LEAST:
        return None
    chosen = set(rows)
    if len(rows) > _MOST:
        places = np.random.default_rng(seed_of(model) or 0).choice(len(rows), _MOST, replace=False)
        chosen = {rows[place] for place in places.tolist()}
    pairs = [(row, column) for row, column in zip(first, second, strict=True) if row in chosen]
    return Ranked(least, because, len(rows), evaluate(model, pairs, k=K))


def _threshold(model: Any) -> tuple[float, str]:
    """The least relevant value, and what it is."""
    if model.loss == "logistic":
        return 1.0, "the higher of the two values"
    least = float(np.quantile(model.observations_.values, SHARE, method="higher"))
    return least, f"the {100 * SHARE:.0f} % quantile of the fitted values"
