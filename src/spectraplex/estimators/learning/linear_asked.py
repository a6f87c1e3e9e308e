"""What the linear learners may be asked for: their settings, weights and features, each refused with a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ...checks import is_flag, is_real, is_whole, is_word, number, radius_setting, setting, whole
from ...places.numpy import Array

_FAR = 1e100  # weights whose squares, times those of data, are still numbers


def check(model: Any) -> None:
    """Refuse a setting that makes no sense, naming it."""
    owner, wants, cv = type(model).__name__, partial(setting, model), model.cv
    radius_setting(model)
    fine = is_word(cv, "auto") or (is_whole(cv) and cv >= 2) or _are_splits(cv)
    wants("cv", "a whole number ≥ 2, 'auto', or a list of (train, test) indices", fine)
    wants("tol", "a number between 0 and 1", is_real(model.tol) and 0 < model.tol < 1)
    for name in ("fit_intercept", "standardize"):
        wants(name, "True or False", is_flag(getattr(model, name)))
    number(owner, "intercept_ridge", model.intercept_ridge, positive=True)
    whole(owner, "max_iter", model.max_iter)
    whole(owner, "random_state", model.random_state, least=0)


def _are_splits(cv: Any) -> bool:
    pairs = isinstance(cv, list) and bool(cv) and all(isinstance(each, tuple) and len(each) == 2 for each in cv)
    return pairs and all(np.ndim(part) == 1 and np.asarray(part).dtype.kind in "iu" for each in cv for part in each)


def parts_or_say(owner: str, cv: Any, samples: int) -> None:
    """Refuse samples to fit or to keep aside that are not there."""
    for part in (np.asarray(part) for pair in cv for part in pair) if isinstance(cv, list) else ():
        wrong = part[(part < 0) | (part >= samples)]
        if wrong.size:
            raise ValueError(
                f"{owner}: cv names sample {int(wrong[0])}, but samples are numbered from 0 to {samples - 1}."
            )


def weights_or_say(owner: str, weights: Any, count: int) -> Array | None:
    """The weight of each sample, none negative and not all zero; None where all are one."""
    if weights is None:
        return None
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim == 0:
        given = np.full(count, float(given))
    if given.shape != (count,):
        raise ValueError(
            f"{owner}: sample_weight has shape {given.shape}; give one weight for each of {count} samples."
        )
    wrong = ~np.isfinite(given) | (given < 0.0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"{owner}: sample_weight[{i}] is {given[i]}; weights are finite and at least zero.")
    if not given.any():
        raise ValueError(f"{owner}: all of sample_weight are zero; there is nothing to fit.")
    top = float(given.max())
    if not 1.0 / _FAR < top < _FAR:
        remedy = "divide them" if top > 1.0 else "multiply them"
        raise ValueError(f"{owner}: the largest of sample_weight is {top:.3g}; {remedy} by a number.")
    return None if (given == 1.0).all() else given


def sizes_or_say(owner: str, data: Any) -> None:
    """Refuse numbers whose squares leave the range of floating point."""
    held = data.data if hasattr(data, "indptr") else data
    top = float(np.abs(held).max(initial=0.0))
    if top > 1e150:
        raise ValueError(f"{owner}: X holds numbers as large as {top:.3g}; divide its features.")


@contextmanager
def whole_or_before(model: Any) -> Iterator[None]:
    """A fit that fails leaves the estimator as it was."""
    before = dict(model.__dict__)
    try:
        yield
    except BaseException:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise
