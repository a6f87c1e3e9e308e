"""What ``partial_fit`` of all learners shares: how a batch is parted, what must stay, what is left of a fit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...places.numpy import Array

ARRIVAL = 8  # samples that the learner sees at a time, with one eigenvector each time
RATE = 2.0  # the one with the least bound on the regret is slower where arrivals are alike
_FAR = 100.0  # standard deviations: data so far outside is taken for an accident

#: What only a solve leaves behind: an online learner certifies nothing.
_SOLVED = ("solution_", "status_", "result_", "n_rounds_", "points_", "triplets_", "bounds_")


class Quiet:
    """Nobody is told how a search for the radius goes on."""

    observers: tuple[Any, ...] = ()

    def scored(self, radius: float, score: float) -> None:
        """Nothing."""


def arrivals(samples: int) -> Iterator[Array]:
    """Rows of a batch in parts of nearly the same size."""
    return iter(np.array_split(np.arange(samples), -(-samples // ARRIVAL)))


def is_far(scaled: Array) -> bool:
    """Whether some standardised number is no likely one."""
    return bool(np.abs(scaled).max(initial=0.0) > _FAR)


def settings_of(model: Any, names: Iterable[str]) -> dict[str, Any]:
    """Settings that must stay from call to call."""
    return {name: copy.deepcopy(getattr(model, name)) for name in names}


def unchanged(owner: str, model: Any, names: Iterable[str]) -> None:
    """Refuse a setting that was another one in the first call, or in ``fit``."""
    for name in names:
        before, now = model._settings[name], getattr(model, name)
        if before != now:
            raise ValueError(
                f"{owner}.partial_fit: {name} was {before!r} in the call before and is {now!r} now; fit anew to change "
                "it."
            )


def enough(owner: str, samples: int, standardize: bool) -> None:
    if standardize and samples < 2:
        raise ValueError(
            f"{owner}.partial_fit: the first batch settles what features are divided by, and 1 sample does not say; "
            "begin with a larger batch, or set standardize=False."
        )


def take(model: Any, found: dict[str, Any]) -> None:
    """A batch is learned: what a solve left goes, what was found comes."""
    for name in _SOLVED:
        model.__dict__.pop(name, None)
    model.__dict__.update(found)


def certified(model: Any) -> None:
    """Refuse to speak of a solved problem after ``partial_fit``."""
    if model.certificate_ is None:
        raise ValueError(
            f"{type(model).__name__}.problem: after partial_fit there is no certificate and no problem that was "
            "solved; fit has both."
        )


@contextmanager
def heard(owner: str) -> Iterator[list[Any]]:
    """What the learner says of arrivals that pull unusually hard, or too hard; other warnings go on."""
    found: list[Any] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield found
        except ValueError as error:
            if "too large to go on with" not in str(error):
                raise
            raise ValueError(
                f"{owner}.partial_fit: features or targets of this batch are so large that their loss or its gradient "
                "leaves the range of floating point; nothing was changed. Look at them."
            ) from None
    for each in caught:
        if issubclass(each.category, RuntimeWarning):
            found.append(each)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def say(owner: str, unusual: list[Any], far: bool) -> None:
    """One sentence about a batch. Where a model fits almost perfectly, harmless samples pull unusually hard, too."""
    if unusual and far:
        warnings.warn(
            f"{owner}.partial_fit: this batch has features or targets more than {_FAR:g} standard deviations from what "
            "the first call saw, and their samples were counted for less; look at them.",
            RuntimeWarning,
            stacklevel=4,
        )
