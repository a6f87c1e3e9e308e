"""The report: one HTML file about a fitted model, for people. No network, no script; the same model, the same bytes."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..estimators import MatrixCompletion
from ..estimators.completion import parameters
from ..files import aside
from . import figures as figures
from . import solve_figures as solve_figures
from .facts import Glance, examples, fit_of, glance
from .ranks import Ranked, ranked
from .scores import Biases, Judged, as_used, judged, measures, seed_of
from .words import brief, counted, decimals, fixed, given, label_text, percent, shown

__all__ = ["render", "write"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def write(
    model: MatrixCompletion,
    path: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
    held_out: tuple[Any, Any] | None = None,
    how: str = "",
    command: str | Sequence[str] | None = None,
    ranks: Ranked | None = None,
) -> Path:
    """Write a report on a fitted model to one HTML file; it is written aside first, then renamed.

    Parameters
    ----------
    model : a fitted ``MatrixCompletion``.
    path : the file, such as "report.html"; its folder must exist.
    source : where the data came from, such as the name of a file; only shown.
    held_out : (pairs, values) that were not fitted, as ``fit`` takes them: the error on them is then the one reported.
        Without them, the scores that chose the radius are, and the page says what they are worth.
    how : which those are, such as "the latest tenth"; only shown.
    command : what was typed to get here; only shown. A list of words is quoted for a shell.
    ranks : figures of the recommendations on ``held_out``, where somebody has them already; else they are worked out.

    Returns
    -------
    Path
        The file.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"report: {place} is a folder; name a file in it, such as {place / 'report.html'}.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"report: there is no folder {place.parent}; make it first.")
    page = render(model, source=source, held_out=held_out, how=how, command=command, ranks=ranks)
    with aside(place) as part:
        part.write_bytes(page.encode("utf-8"))
    return place


def render(
    model: MatrixCompletion,
    *,
    source: str | os.PathLike[str] | None = None,
    held_out: tuple[Any, Any] | None = None,
    how: str = "",
    command: str | Sequence[str] | None = None,
    ranks: Ranked | None = None,
) -> str:
    """The page itself, as text; see ``write``."""
    from sklearn.utils.validation import check_is_fitted

    template = _template()
    if not isinstance(model, MatrixCompletion):
        raise TypeError(f"report: the model must be a MatrixCompletion, got {type(model).__name__}.")
    check_is_fitted(model, "U_")
    recipe, used = parameters.fitted_recipe(model), as_used(model)
    biases = Biases.of(recipe, used)
    alone = biases.value
    if (
        len(model.row_labels_),
        len(model.column_labels_),
    ) != model.shape_:  # more was folded in: it is about the others
        alone = 0.0
    elif recipe.ridges is None:
        alone = float(recipe.losses().evaluate(np.zeros(len(used)), used.values, used.weights)[0])
    data, fit, judge = glance(model), fit_of(model), judged(model, held_out, biases)
    measure = measures(model)[0][0]
    drawn = {
        "data": (figures.values(data), figures.per(data.rows), figures.per(data.columns), figures.unevenness(data)),
        "solve": (solve_figures.convergence(model), solve_figures.gaps(model)),
        "certificate": (solve_figures.certificate(model, alone),),
        "path": (solve_figures.path(model, judge, measure),),
        "singular": (solve_figures.singular(model), figures.parts_of(model, fit)),
        "fit": (figures.residuals(model, fit, judge), figures.calibration(model, fit, judge)),
        "judge": (figures.baselines(judge),),
    }
    return template.render(
        model=model,
        names=_names(model),
        source=None if source is None else label_text(os.fspath(source)),
        data=data,
        fit=fit,
        judge=judge,
        ranks=ranks or ranked(model, judge),
        how=how,
        latest=vars(model).get("latest_") is not None,
        features=recipe.features is not None,
        measure=measure,
        alone=alone,
        ridges=recipe.ridges,
        exponent=recipe.exponent,
        gains=_gains(judge),
        figures={name: [each for each in group if each is not None] for name, group in drawn.items()},
        examples=examples(model, fit, judge),
        best=int(np.argmin(model.path_["score"])) if model.path_["score"].size else None,
        command=command if command is None or isinstance(command, str) else shlex.join(map(os.fspath, command)),
        settings=_settings(model),
        code=_code(model),
        seed=seed_of(model),
        versions=_versions(),
        folded=data.rows.count - int(model.shape_[0]),
        folded_columns=len(model.column_labels_) - int(model.shape_[1]),
        empty=_empty(data),
        after=decimals(*model.range_),
    )


def ready() -> None:
    """Raise ImportError, with the remedy, when a report cannot be written."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install jinja2.") from error


def _template() -> Any:
    ready()
    return _compiled()


def _compiled() -> Any:
    return environment().get_template("report.html.j2")


@cache
def environment() -> Any:
    """Where the templates are, with the filters that they use."""
    ready()
    import jinja2

    room = jinja2.Environment(
        loader=jinja2.PackageLoader("spectraplex", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    room.filters |= {
        "shown": shown,
        "brief": brief,
        "percent": percent,
        "fixed": fixed,
        "given": given,
        "plain": _plain,
    }
    room.globals["counted"] = counted
    return room


def _plain(value: Any) -> str:
    """A number in full, for whoever reads the page with a program."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def _names(model: Any) -> tuple[str, str]:
    """What rows and columns are called: as in the frame they came from."""
    names = [label_text(name) for name in getattr(model, "feature_names_in_", ())]
    return (names[0], names[1]) if len(names) == 2 else ("row", "column")


def _gains(judge: Judged) -> list[tuple[str, float]]:
    """By how much of its error each baseline is worse."""
    return [(each.name, 1.0 - judge.ours / each.errors[0]) for each in judge.others if each.errors[0] > 0]


def _settings(model: Any) -> list[tuple[str, str, bool]]:
    """Name, value, and whether it is other than the default."""
    defaults = {name: each.default for name, each in signature(type(model).__init__).parameters.items()}
    out = []
    for name, value in model.get_params(deep=False).items():
        shown = "not set" if value is None else _written(value)
        out.append((name, shown, _written(value) != _written(defaults.get(name))))
    return out


def _written(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(_written(part) for part in value)})"
    return f"a {type(value).__name__}"  # its own words may hold an address, which is another one every time


def _code(model: Any) -> str:
    given = model.get_params(deep=False)
    changed = ", ".join(f"{name}={_written(given[name])}" for name, _, other in _settings(model) if other)
    return f"MatrixCompletion({changed})"


def _versions() -> list[tuple[str, str]]:
    out = [("spectraplex", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            out.append((name, version(name)))
        except PackageNotFoundError:  # pragma: no cover - they are needed to get here
            continue
    return out


def _empty(data: Glance) -> str:
    """Rows and columns without any observation, in words."""
    parts = [counted(side.empty, side.name) for side in (data.rows, data.columns) if side.empty]
    return " and ".join(parts)
