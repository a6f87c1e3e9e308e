"""Some of the observations of a fit: which can be chosen without the others, and what is left of a loss with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses.protocol import Loss, LossFacts, Prepared
from ..measurements.protocol import Facts
from ..places.numpy import Array


def choosable(facts: Facts, loss: Loss) -> bool:
    """Whether measurements can be chosen, and what belongs together in the loss is a row of them, or nothing is."""
    if facts.some is None:
        return False
    if not hasattr(loss, "groups"):
        return True
    if LossFacts.of(loss).some is None or facts.row is None or loss.groups is None:
        return False
    return np.array_equal(loss.groups, np.repeat(np.arange(loss.groups.size // facts.row), facts.row))


def chosen(facts: Facts, whole: Prepared, index: Array) -> tuple[Any, Prepared, Array]:
    """The measurements and the loss of these observations (rows where there are rows), and their places in an image."""
    assert facts.some is not None
    row, some = facts.row, LossFacts.of(whole.loss).some
    at = index if row is None else (index[:, None] * row + np.arange(row)).reshape(-1)
    loss = whole.loss if some is None else some(at)
    weights = None if whole.weights is None else whole.weights[at]
    return facts.some(index), Prepared(loss, whole.targets[at], weights), at
