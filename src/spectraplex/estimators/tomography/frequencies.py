"""Relative frequencies and the shots behind them: together they are counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import is_real, numbers
from ...places.numpy import Array
from .signs import OWNER

_SUM = 0.05  # how far frequencies that were written with few digits may sum to something else than one
_NEAR = 0.1  # of a shot: frequencies times shots that are all so near to whole numbers are those
_LITTLE = 1.5  # shots a setting: fractions that sum to no more are frequencies


def shots_of(shots: Any, names: Sequence[Any], find: Callable[[Any], Any]) -> Array | None:
    """The shots of each of the settings with these names; ``find`` says which setting a key of a dictionary is."""
    if shots is None:
        return None
    if isinstance(shots, Mapping):
        held = {find(key): _one(count) for key, count in shots.items()}
        missing = next((name for name in names if name not in held), None)
        if missing is not None:
            raise ValueError(
                f"{OWNER}: shots has no number for setting {_word(missing)!r}; give one for every setting."
            )
        return np.array([held[name] for name in names])
    if is_real(shots):
        return np.full(len(names), _one(shots))
    each = numbers(OWNER, "shots", shots, ndim=1)
    if each.dtype.kind == "c" or each.size != len(names):
        raise ValueError(
            f"{OWNER}: shots must be one number, one for each of the {len(names)} settings, or a dictionary "
            f"setting → shots; got {each.size} numbers."
        )
    return np.array([_one(one) for one in each])


def _one(shots: Any) -> float:
    if not is_real(shots) or not 0.0 <= float(shots) < np.inf:
        raise ValueError(f"{OWNER}: shots must be numbers that are not negative, got {shots!r}.")
    return float(shots)


def counted(row: Array, shots: float, name: str) -> Array:
    """The counts of one setting, given as frequencies, percentages, or as counts already."""
    total = float(row.sum())
    if total == 0.0:
        return row
    if abs(total - shots) <= _NEAR:
        return row
    scale = next((unit for unit in (1.0, 100.0) if abs(total - unit) <= _SUM * unit), None)
    if scale is None:
        raise ValueError(
            f"{OWNER}: {name}: all outcomes sum to {total:.6g}, which is neither one (frequencies) nor 100 (per cent) "
            f"nor the {shots:g} shots that were said; no outcome may be missing."
        )
    near = np.round(row * (shots / scale))
    if near.sum() == shots and np.abs(row * (shots / scale) - near).max() <= _NEAR:
        return near
    if scale != 1.0 and not (row % 1.0).any():
        raise ValueError(
            f"{OWNER}: {name}: the counts sum to {total:g}, but {shots:g} shots were said; leave shots out where "
            "counts are given."
        )
    return row * (shots / total)


def counts_or_say(counts: Array, shots: Array) -> None:
    """Refuse what can only be frequencies: the likelihood and all error bars are about shots."""
    if (counts % 1.0).any() and float(shots.max()) <= _LITTLE:
        raise ValueError(
            f"{OWNER}: the counts are fractions that sum to about {float(shots.max()):.3g} a setting, so they are "
            "frequencies, which do not say how sure they are. Say of how many shots: fit(…, shots=100), or one number "
            "a setting (--shots 100 in a shell)."
        )


def _word(setting: Any) -> str:
    return "".join(setting) if isinstance(setting, tuple) and all(len(one) == 1 for one in setting) else str(setting)
