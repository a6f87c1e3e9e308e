"""The report on a state: one HTML file about a fitted ``StateTomography``. No network, no script."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import StateTomography
from ..estimators.tomography.fitting import Task
from ..files import aside
from . import _settings, _versions, environment, state_figures
from .words import label_text, shown

_DRAWN = 12  # qubits up to which the matrix is made for its picture


def write(
    model: StateTomography,
    path: str | os.PathLike[str],
    *,
    target: Any = None,
    source: str | os.PathLike[str] | None = None,
    command: str | Sequence[str] | None = None,
) -> Path:
    """Write a report on a fitted state to one HTML file; it is written aside first, then renamed.

    Parameters
    ----------
    model : a fitted ``StateTomography``; after ``bootstrap`` the page has intervals.
    path : the file, such as "report.html"; its folder must exist.
    target : a state to compare with, as ``fidelity`` takes it.
    source, command : where the counts came from and what was typed; only shown.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"report: {place} is a folder; name a file in it, such as {place / 'report.html'}.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"report: there is no folder {place.parent}; make it first.")
    page = render(model, target=target, source=source, command=command)
    with aside(place) as part:
        part.write_bytes(page.encode("utf-8"))
    return place


def render(
    model: StateTomography,
    *,
    target: Any = None,
    source: str | os.PathLike[str] | None = None,
    command: str | Sequence[str] | None = None,
) -> str:
    """The page itself, as text; see ``write``."""
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, StateTomography):
        raise TypeError(f"report: the model must be a StateTomography, got {type(model).__name__}.")
    check_is_fitted(model, "state_")
    level = None if model.replicas_ is None else 0.95
    dimension = model.state_.vectors.shape[0]
    count = int(min(dimension, 16))
    values = model.eigenvalues(level, count)
    each = model.fit_per_setting()
    drawn = [state_figures.eigenvalues(list(values))]
    if dimension <= 1 << _DRAWN:
        rho = model.density_matrix()
        drawn = [state_figures.matrix(rho, "real"), state_figures.matrix(rho, "imaginary"), *drawn]
    worst = np.argsort(-each.excess)[:8]
    return str(
        environment()
        .get_template("state.html.j2")
        .render(
            model=model,
            source=None if source is None else label_text(os.fspath(source)),
            command=command if command is None or isinstance(command, str) else shlex.join(map(os.fspath, command)),
            dimension=dimension,
            rank=int(model.state_.weights.size),
            numbers=numbers(model, target, level),
            level=level,
            figures=drawn,
            fit=state_figures.settings(each),
            goodness=model.goodness_of_fit(),
            worst=[(each.settings[k], each.shots[k], each.deviance[k], each.excess[k]) for k in worst],
            certificate=certificate_words(model),
            settings=_settings(model),
            versions=_versions(),
        )
    )


def numbers(model: StateTomography, target: Any, level: float | None) -> list[tuple[str, str, str]]:
    """Name, number and interval of what is said about a state."""
    asked: list[tuple[str, Any]] = []
    if target is not None:
        name = f"Fidelity with {target}" if isinstance(target, str) else "Fidelity with the target"
        asked.append((name, model.fidelity(target, level)))
    asked += [("Purity", model.purity(level)), ("Entropy, bits", model.entropy(level))]
    n = len(model.local_)
    if 1 < n <= 8:
        half = list(range(n // 2))
        words = "the first part" if n // 2 == 1 else f"the first {n // 2} parts"
        asked.append((f"Negativity, {words} against the rest", model.negativity(half, level)))
    out = []
    for name, found in asked:
        ends = "" if level is None else f"{shown(found.low, 4)} to {shown(found.high, 4)}"
        out.append((name, shown(float(found), 4), ends))
    return out


def certificate_words(model: StateTomography) -> str:
    """What was proven, in words."""
    task: Task = model._fitted
    gained = model.mixed_value_ - model.value_
    share = shown(100 * model.gap_ / gained, 2) if gained > 0 else ""
    share = f", at most {share} % of what is gained over the fully mixed state" if share else ""
    if task.likelihood == "multinomial":
        what = f"The log-likelihood of any other state is at most {shown(model.gap_, 3)} nats above this one's{share}."
    else:
        what = f"The misfit of any other state is at most {shown(model.gap_, 3)} below this one's{share}."
    kind, failure = model.certificate_.kind, model.certificate_.failure
    if kind == "proven":
        return f"{what} This is proven, up to rounding that is counted in."
    if kind == "none":
        return "Nothing is certified about this fit."
    return f"{what} The proof is wrong with a probability of at most {failure:.0e}."
