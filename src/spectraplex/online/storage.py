"""A learner's folder: arrays in one npz, everything else in one JSON, never a pickle."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..files import aside, number, plain, words_and_arrays
from .ground import Ground, Mixture
from .ledger import Ledger
from .search import Space
from .state import State
from .total import Total

_FORMAT = 2
_MIXTURES = ("mixture", "home", "past")


def write(folder: Path, state: State, settings: dict[str, Any]) -> Path:
    """Both files, each aside first, then renamed."""
    if not folder.is_dir():
        raise ValueError(f"{settings['learner']}.save: the folder {folder} does not exist; make it first.")
    arrays: dict[str, Any] = {"passed": state.passed, "space.V": state.space.V, "space.P": state.space.P}
    arrays["space.Q"] = state.space.Q
    for name in _MIXTURES:
        held: Mixture = getattr(state, name)
        arrays |= {f"{name}.U": held.U, f"{name}.V": held.V, f"{name}.w": held.w}
    arrays |= {f"total.{name}": array for name, array in state.total.flat().items()}
    document = {"format": _FORMAT, "version": __version__} | {name: plain(value) for name, value in settings.items()}
    document["ledger"] = {name: plain(value) for name, value in asdict(state.ledger).items()}
    document["sums"] = {"pulled": plain(state.pulled), "square": plain(state.square)}
    with aside(folder / "learner.npz") as part, part.open("wb") as out:
        np.savez(out, **arrays)
    with aside(folder / "learner.json") as part:
        part.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return folder


def read(folder: Path, learner: str) -> tuple[dict[str, Any], Callable[[Ground], State]]:
    """Its settings, and what makes its state on a set."""
    document, arrays = words_and_arrays(f"{learner}.load", folder, "learner", "learner")
    if document.get("format") != _FORMAT:
        raise ValueError(f"{learner}.load: {folder} is damaged, or of another version.")
    if document.get("learner") != learner:
        raise ValueError(f"{learner}.load: {folder} holds a {document.get('learner')}; load it with that class.")

    def made(ground: Ground) -> State:
        try:
            return _state(ground, document, arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{learner}.load: {folder} is damaged ({error}).") from error

    try:
        settings = {name: number(document[name]) for name in ("domain", "loss", "lipschitz", "rate", "accuracy")}
        settings |= {name: int(document[name]) for name in ("max_atoms", "seed")}
        return settings | {"past": int(document.get("past", 0))}, made
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{learner}.load: {folder} is damaged (missing or unknown entry: {error}).") from error


def _state(ground: Ground, document: dict[str, Any], arrays: dict[str, Any]) -> State:
    mixtures = {name: _mixture(ground, name, arrays) for name in _MIXTURES}
    total = {name.removeprefix("total."): array for name, array in arrays.items() if name.startswith("total.")}
    sums, ledger = document["sums"], document["ledger"]
    state = State(
        passed=arrays["passed"],
        total=Total.of_flat(ground.shape, total),
        space=Space(arrays["space.V"], arrays["space.P"], arrays["space.Q"]),
        ledger=Ledger(**{name: number(value) for name, value in ledger.items()}),
        pulled=float(number(sums["pulled"])),
        square=float(number(sums["square"])),
        **mixtures,
    )
    if state.passed.shape != state.mixture.w.shape or state.space.V.shape[1] != state.space.P.shape[1]:
        raise ValueError("parts of different lengths")
    return state


def _mixture(ground: Ground, name: str, arrays: dict[str, Any]) -> Mixture:
    held = Mixture(arrays[f"{name}.U"], arrays[f"{name}.V"], arrays[f"{name}.w"], ground)
    (m, n), k = ground.shape, held.w.size
    fits = held.U.shape == (m, k) and held.V.shape == (n, k)
    fine = fits and all(np.isfinite(part).all() for part in (held.U, held.V, held.w)) and bool((held.w >= 0).all())
    if not fine or (name != "past" and held.w.sum() > 1 + 1e-9):
        raise ValueError(f"{name} is no point of the set")
    return held
