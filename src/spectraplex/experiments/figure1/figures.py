"""The pictures of figure1: a grid of panels, readings of θ down, data sets across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ..document import Document
from .names import LABELS, title
from .read import Curves, Setting, best_paper, curves, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: method → colour and dashes; "paper" is the best β of the paper's variant.
_LOOKS = {
    "cg": ("#0072B2", "--"),
    "away": ("#E69F00", "-."),
    "pairwise": ("#CC79A7", (0, (6, 1, 1, 1, 1, 1))),
    "ror": ("#999999", ":"),
    "paper": ("#009E73", (0, (8, 2))),
    "ror-adaptive": ("#D55E00", "-"),
    "hybrid": ("#000000", (0, (1, 1))),
}
_ACROSS = {
    "eigenvectors": "leading eigenvectors",
    "seconds": "processor seconds (one thread)",
    "atoms": "atoms kept",
}


def panels(document: Document, against: str, centred: bool) -> Figure:
    """One picture: f above the certified lower bound, mean and range over the seeds."""
    shown = [setting for setting in settings(document) if setting.centred == centred]
    sets = list(dict.fromkeys(setting.data for setting in shown))
    readings = list(dict.fromkeys(setting.reading for setting in shown))
    figure = plots.blank(10.0, 3.0 * len(readings) + 0.9)
    grid = figure.subplots(len(readings), len(sets), squeeze=False)
    for setting in shown:
        panel = grid[readings.index(setting.reading)][sets.index(setting.data)]
        _panel(panel, document, setting, against)
        panel.set_title(title(setting), fontsize=11, loc="left")
        if setting.reading == readings[-1]:
            panel.set_xlabel(_ACROSS[against])
        if setting.data == sets[0]:
            panel.set_ylabel("f − lower bound")
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, handlelength=3.2)
    return figure


def _panel(panel: Any, document: Document, setting: Setting, against: str) -> None:
    bound, best = (setting.reference(document)[name] for name in ("lower_bound", "value"))
    lowest = np.inf
    for name, (colour, dashes) in _LOOKS.items():
        method = best_paper(document, setting) if name == "paper" else name
        found = curves(document, setting, method)
        across = _across(found, against)
        heights = np.maximum(found.values - bound, 1e-300)
        shown = "ROR-CG as run in the paper, best β" if name == "paper" else LABELS[name]
        panel.plot(across, heights.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.9, label=shown)
        if against == "eigenvectors":
            low, high = heights.min(axis=0), heights.max(axis=0)
            panel.fill_between(across, low, high, color=colour, alpha=0.18, linewidth=0)
        panel.plot(across[-1:], heights.mean(axis=0)[-1:], "o", color=colour, markersize=4)
        lowest = min(lowest, float(heights.mean(axis=0)[-1]))
    width = best - bound
    if width > 0.2 * lowest:  # else nothing on the picture comes near the uncertainty of f*
        panel.axhspan(0.1 * lowest, width, color="#EFEFEF", zorder=0, linewidth=0)
    panel.set_yscale("log")
    panel.set_ylim(bottom=0.5 * lowest)
    panel.set_xlim(left=0)
    panel.text(
        0.98,
        0.96,
        f"f* within {_width(width)} of {bound:.6g}",
        transform=panel.transAxes,
        ha="right",
        va="top",
        fontsize=9,
    )
    plots.quiet(panel)


def _across(found: Curves, against: str) -> Any:
    return found.eigenvectors if against == "eigenvectors" else getattr(found, against).mean(axis=0)


def _width(width: float) -> str:
    return f"{width:.1g}" if width >= 1e-12 else "rounding"
