"""The figures of theorem1: errors under the three bounds, and what the accuracy of the eigenvectors does to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import plots
from ..document import Document
from .read import Curves, Setting, bounds, curves, settings

_BLUE, _ORANGE, _, _RED, _GREEN, _PINK = plots.COLOURS[:6]
#: method → label, colour, dashes.
METHODS: dict[str, tuple[str, str, Any]] = {
    "ror": ("ROR-CG (Algorithm 2 as printed), mean and 5–95 % of seeds", _RED, "-"),
    "cg": ("CG, exact line search", _BLUE, "--"),
    "cg-open-loop": ("CG, step 2/(t + 2)", _GREEN, "-."),
}
_BOUNDS = (("bound 54β/(t+8)", "-"), ("bound ~ (√r/t)^(4/3)", (0, (6, 2))), ("bound ~ 1/(λt)²", (0, (1, 2))))
_ACCURACIES: tuple[tuple[dict[str, Any], str, str, Any], ...] = (
    ({"factor": 0.0}, "exact", _RED, "-"),
    ({"factor": 1.0}, "ξ$_t$", _BLUE, "--"),
    ({"factor": 10.0}, "10 ξ$_t$", _ORANGE, "-."),
    ({"fixed": 0.01}, "ξ = 0.01", _PINK, (0, (6, 1, 1, 1, 1, 1))),
)
_ERROR = "$f(X_t) - f^*$"
_LOWEST = 1e-12


def draw(document: Document) -> dict[str, Any]:
    """Two figures."""
    return {"theorem1": errors(document), "theorem1-accuracy": accuracy(document)}


def errors(document: Document) -> Any:
    """One panel a setting: mean errors of three methods under the bounds."""
    shown = settings(document, oracle="exact")
    longer = {replace(setting, steps=0): setting for setting in shown if setting.long}  # shown in place of the others
    shown = [longer.get(replace(setting, steps=0), setting) for setting in shown if not setting.long]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure = plots.blank(11.0, 2.55 * rows + 1.0)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for place, setting in enumerate(shown):
        panel = panels[place // columns, place % columns]
        _bounds(panel, curves(document, setting, "ror"), setting)
        for method, (label, colour, dashes) in METHODS.items():
            found = curves(document, setting, method)
            if method == "ror":
                low, high = np.quantile(found.errors, [0.05, 0.95], axis=0)
                panel.fill_between(found.steps, _seen(low), _seen(high), color=colour, alpha=0.18, linewidth=0)
            _line(panel, found, label=label, color=colour, linestyle=dashes, linewidth=2.0)
        panel.set_title(setting.label, fontsize=9, color=plots.INK)
        _axes(panel)
        panel.set_ylim(_LOWEST, 30.0)
    for panel in panels[-1]:
        panel.set_xlabel("steps t")
    for row in panels:
        row[0].set_ylabel(_ERROR)
    for panel in panels.ravel()[len(shown) :]:
        panel.set_visible(False)
    _legend(figure, panels[0, 0], 3)
    return figure


def accuracy(document: Document) -> Any:
    """Every error as large as allowed, where that was run; and the library's search, asked for the same accuracies."""
    worst, large = settings(document, oracle="worst"), settings(document, oracle="asked")
    figure = plots.blank(11.0, 4.4)
    panels = figure.subplots(1, len(worst) + len(large), squeeze=False, sharey=True)[0]
    for panel, setting in zip(panels, worst + large, strict=True):
        oracle = "worst" if setting in worst else "asked"
        for place, (how, label, colour, dashes) in enumerate(_ACCURACIES):
            exact = place == 0 and oracle == "worst"
            asked: dict[str, Any] = {"oracle": "exact"} if exact else {"oracle": oracle, **how}
            found = curves(document, setting, "ror", **asked)
            if place == 0:
                first = bounds(found.steps, setting)[0]
                panel.plot(found.steps, first, color="#777777", linewidth=1.2, label=_BOUNDS[0][0])
            _line(panel, found, label=label, color=colour, linestyle=dashes, linewidth=2.0)
        what = "every error as large as allowed" if oracle == "worst" else "the library's search"
        panel.set_title(f"{what}\n{setting.label}, d = {setting.d}", fontsize=10, color=plots.INK)
        panel.set_xlabel("steps t")
        _axes(panel)
        panel.set_ylim(1e-8, 10.0)
    panels[0].set_ylabel("mean of " + _ERROR)
    _legend(figure, panels[0], len(_ACCURACIES) + 1, title="accuracy of the eigenvectors in ROR-CG")
    return figure


def _bounds(panel: Any, found: Curves, setting: Setting) -> None:
    for bound, (label, dashes) in zip(bounds(found.steps, setting), _BOUNDS, strict=True):
        panel.plot(found.steps, bound, color="#777777", linestyle=dashes, linewidth=1.2, label=label)


def _line(panel: Any, found: Curves, **style: Any) -> None:
    panel.plot(found.steps, _seen(found.mean), **style)


def _seen(values: Any) -> Any:
    """What a logarithmic axis can show: nothing below the picture's own floor, no negative rounding."""
    return np.maximum(values, _LOWEST / 10)


def _axes(panel: Any) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")
    plots.quiet(panel)
    panel.tick_params(labelsize=9)


def _legend(figure: Any, panel: Any, columns: int, title: str | None = None) -> None:
    handles, labels = panel.get_legend_handles_labels()
    where = "outside lower center"
    figure.legend(handles, labels, loc=where, ncols=columns, frameon=False, handlelength=3.2, title=title)
