"""The figures of theorem1: errors under the three bounds, and what the accuracy of the eigenvectors does to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plots
from .document import Document
from .theorem1_fit import Curves, Setting, bounds, curves, settings, together

_BLUE, _ORANGE, _GREY, _RED, _GREEN, _PINK = plots._COLOURS[:6]
#: method → label, colour, dashes.
METHODS: dict[str, tuple[str, str, Any]] = {
    "ror": ("ROR-CG (Algorithm 2 as printed), mean and 5–95 % of seeds", _RED, "-"),
    "cg": ("CG, exact line search", _BLUE, "--"),
    "cg-open-loop": ("CG, step 2/(t + 2)", _GREEN, "-."),
}
_BOUNDS = (("bound 54β/(t+8)", "-"), ("bound ~ (√r/t)^(4/3)", (0, (6, 2))), ("bound ~ 1/(λt)²", (0, (1, 2))))
_LOWEST = 1e-12


def draw(document: Document) -> dict[str, Any]:
    """Two figures."""
    return {"theorem1": errors(document), "theorem1-accuracy": accuracy(document)}


def errors(document: Document) -> Any:
    """One panel a setting: mean errors of three methods under the bounds."""
    shown = settings(document, oracle="exact")
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure = plots._figure(11.0, 2.55 * rows + 1.0)
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
        panel.set_title(setting.label, fontsize=10, color=plots._INK)
        _axes(panel)
        panel.set_ylim(_LOWEST, 30.0)
    for panel in panels[-1]:
        panel.set_xlabel("steps t")
    for row in panels:
        row[0].set_ylabel("f(X_t) − f*")
    for panel in panels.ravel()[len(shown) :]:
        panel.set_visible(False)
    _legend(figure, panels[0, 0], 3)
    return figure


def accuracy(document: Document) -> Any:
    """Worst-case oracles on each problem where they were run; and the library's search, asked against made."""
    shown = settings(document, oracle="worst")
    figure = plots._figure(11.0, 4.6)
    panels = figure.subplots(1, len(shown) + 1, squeeze=False)[0]
    variants = (
        ("exact", {}, "exact eigenvectors", _RED, "-"),
        ("worst", {"factor": 1.0}, "every error as large as ξ_t allows", _BLUE, "--"),
        ("worst", {"factor": 10.0}, "… as 10 ξ_t", _ORANGE, "-."),
        ("worst", {"fixed": 0.01}, "… as ξ = 0.01", _PINK, (0, (6, 1, 1, 1, 1, 1))),
    )
    for panel, setting in zip(panels, shown, strict=False):
        found = curves(document, setting, "ror")
        panel.plot(found.steps, bounds(found.steps, setting)[0], color="#777777", linewidth=1.2, label=_BOUNDS[0][0])
        for oracle, how, label, colour, dashes in variants:
            found = curves(document, setting, "ror", oracle, **how)
            _line(panel, found, label=label, color=colour, linestyle=dashes, linewidth=2.0)
        panel.set_title(f"{setting.label} (d = {setting.d})", fontsize=10, color=plots._INK)
        panel.set_ylim(1e-8, 10.0)
        panel.set_ylabel("mean f(X_t) − f*")
    _asked(panels[-1], document)
    for panel in panels:
        _axes(panel)
        panel.set_xlabel("steps t")
    _legend(figure, panels[0], 3)
    return figure


def _asked(panel: Any, document: Document) -> None:
    """The library's own search: ξ it was asked for, the error it made, both on a large problem."""
    (setting,) = settings(document, oracle="asked")
    runs = document.find(oracle="asked", factor=1.0)
    t = np.array(runs[0].outcome["steps"])[:-1]
    made = together(runs, "made")[:, :-1]
    panel.plot(t, together(runs, "asked")[0, :-1], color=_BLUE, linestyle="--", linewidth=2.0)
    panel.fill_between(t, _seen(made.min(axis=0)), _seen(made.max(axis=0)), color=_GREY, alpha=0.3, linewidth=0)
    panel.plot(t, _seen(made.mean(axis=0)), color="#000000", linestyle=(0, (3, 1)), linewidth=1.6)
    panel.annotate("ξ_t, asked for", (t[len(t) // 2], 2.0 * together(runs, "asked")[0, len(t) // 2]), color=_BLUE)
    panel.annotate("error made: mean, range over seeds", (0.05, 0.05), xycoords="axes fraction", fontsize=9)
    panel.set_title(f"the library's eigenvector search, d = {setting.d}", fontsize=10, color=plots._INK)
    panel.set_ylabel("λ_max − vᵀAv")
    panel.set_ylim(_LOWEST, 10.0)


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
    plots._plain(panel)
    panel.tick_params(labelsize=9)


def _legend(figure: Any, panel: Any, columns: int) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.2)
