"""The figures of table1: how steps and seconds grow, and the map of who is cheapest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ..document import Document
from .read import (
    DECADES,
    LABELS,
    TITLES,
    Fit,
    chart,
    dimensions,
    fit_conditioning,
    fit_smallest,
    line,
    middle,
    middle_d,
    per_step,
)
from .run import EPSILONS, METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colour, dashes and marker: apart for colour-blind eyes, and in grey.
STYLES: dict[str, tuple[str, Any, str]] = {
    "pgd": ("#999999", ":", "s"),
    "apgd": ("#009E73", (0, (3, 1)), "D"),
    "cg": ("#0072B2", "--", "o"),
    "ror": ("#E69F00", "-.", "^"),
    "ror-adaptive": ("#D55E00", "-", "v"),
}
_LETTERS = {"pgd": "P", "apgd": "A", "cg": "C", "ror": "R", "ror-adaptive": "R+"}
_UNITS = {"seconds": "processor seconds", "flops": "flops (model)"}


def draw(document: Document) -> dict[str, Figure]:
    """Growth ("table1") and map ("table1-map")."""
    return {"table1": growth(document), "table1-map": mapped(document)}


def growth(document: Document) -> Figure:
    """Six panels: error against steps; steps against β/α and 1/λ_min; the cost of a step and the total against d."""
    figure = plots.blank(10.5, 7.2)
    panels = figure.subplots(2, 3).ravel()
    _errors(panels[0], document)
    fits = {method: fit_conditioning(document, method) for method in METHODS}
    _steps(panels[1], fits, "β/α")
    for method, power, label in (("pgd", 1.0, "β/α"), ("apgd", 0.5, "√(β/α)")):
        found = fits[method]
        if found is not None:
            _guide(panels[1], found.x, found.steps[0] / found.x[0] ** power, power, label)
    _steps(panels[2], {method: fit_smallest(document, "entries", method) for method in METHODS}, "1/λ_min(X*)")
    panels[1].set_title("steps, by conditioning", fontsize=11)
    panels[2].set_title("steps, by smallest eigenvalue", fontsize=11)
    _per_step(panels[3], document, "distance", "one step, dense A", 2.0)
    _per_step(panels[4], document, "sparse", "one step, sparse A", 1.0)
    _totals(panels[5], document)
    for panel in panels:
        panel.set_xscale("log")
        panel.set_yscale("log")
        plots.quiet(panel)
    for panel in panels[1:]:  # few values: a tick at each of them, and no others
        _ticks(panel)
    handles = [
        panels[0].plot([], [], color=c, linestyle=dashes, marker=marker, label=LABELS[method])[0]
        for method, (c, dashes, marker) in STYLES.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, handlelength=3.0)
    return figure


def _errors(panel: Any, document: Document) -> None:
    """One curve per method: the median number of steps at each ε."""
    d = middle_d(document)
    for method, (colour, dashes, marker) in STYLES.items():
        runs = document.find(method=method, d=d, **line(document, "entries"))
        steps = np.array([middle(runs, "step", epsilon) for epsilon in EPSILONS])
        kept = np.isfinite(steps)
        panel.plot(steps[kept], np.array(EPSILONS)[kept], color=colour, linestyle=dashes, linewidth=1.8)
        panel.plot(steps[kept][-1:], np.array(EPSILONS)[kept][-1:], marker, color=colour, markersize=5)
    panel.set_title(f"weighted entries, d = {d}", fontsize=11)
    panel.set_xlabel("eigenvectors or decompositions")
    panel.set_ylabel("ε reached, in units of β")


def _steps(panel: Any, fits: dict[str, Fit | None], name: str) -> None:
    ends = []
    for method, found in fits.items():
        if found is not None:
            colour, dashes, marker = STYLES[method]
            panel.plot(found.x, found.steps, color=colour, linestyle=dashes, marker=marker, markersize=5)
            last = int(np.argmax(found.x))
            ends.append((found.steps[last], found.x[last], f"ε = {found.epsilon:.0e}".replace("e-0", "e−"), colour))
    span = math.log(panel.dataLim.y1 / panel.dataLim.y0) if ends else 1.0
    below = -math.inf
    for y, x, label, colour in sorted(ends):  # lifted where it would lie on the one below
        height = max(math.log(y) / span, below + 0.06)
        lift = 150 * (height - math.log(y) / span)  # a panel is about 150 points high
        place = {"xytext": (5, lift), "textcoords": "offset points", "va": "center"}
        panel.annotate(label, (x, y), **place, fontsize=8, color=colour)
        below = height
    if not any(fits.values()):
        panel.annotate("not varied here", (0.5, 0.5), xycoords="axes fraction", ha="center", color="#888888")
    panel.margins(x=0.3)
    panel.set_xlabel(name)
    panel.set_ylabel("steps to ε")


def _per_step(panel: Any, document: Document, family: str, title: str, power: float) -> None:
    """Seconds of a step; guides have the slopes of the paper's table, through the last points of pgd and ror."""
    sizes = dimensions(document)
    for method, (colour, dashes, marker) in STYLES.items():
        seconds = [per_step(document.find(method=method, d=d, **line(document, family)), "seconds") for d in sizes]
        panel.plot(sizes, seconds, color=colour, linestyle=dashes, marker=marker, markersize=5)
    for method, slope, label in (("pgd", 3.0, "d³"), ("ror", power, "d²" if power == 2.0 else "d")):
        last = per_step(document.find(method=method, d=sizes[-1], **line(document, family)), "seconds")
        _guide(panel, sizes, last / sizes[-1] ** slope, slope, label)
    panel.set_title(title, fontsize=11)
    panel.set_xlabel("dimension d")
    panel.set_ylabel("processor seconds per step")


def _guide(panel: Any, x: Sequence[float], factor: float, power: float, label: str) -> None:
    """factor·x^power, thin, with its formula above the middle."""
    ends = np.array([min(x), max(x)], float)
    panel.plot(ends, factor * ends**power, color="#AAAAAA", linewidth=0.9, zorder=0)
    centre = math.sqrt(ends[0] * ends[1])
    place = {"xytext": (-3, 3), "textcoords": "offset points", "ha": "right", "va": "bottom"}
    panel.annotate(label, (centre, factor * centre**power), **place, fontsize=9, color="#666666")


def _ticks(panel: Any) -> None:
    drawn = [x for each in panel.lines if each.get_marker() != "None" for x in each.get_xdata()]
    panel.minorticks_off()
    if drawn:
        marks = sorted(set(drawn))
        panel.set_xticks(marks, [f"{mark:,.3g}" if mark < 1000 else f"{mark:,.0f}" for mark in marks])


def _totals(panel: Any, document: Document) -> None:
    """Seconds to an ε that most methods reach; a gap where one was stopped before."""
    epsilon = DECADES[2]
    sizes = dimensions(document)
    for method, (colour, dashes, marker) in STYLES.items():
        runs = [document.find(method=method, d=d, **line(document, "entries")) for d in sizes]
        seconds = [middle(each, "seconds", epsilon) for each in runs]
        shown = [each if math.isfinite(each) else math.nan for each in seconds]
        panel.plot(sizes, shown, color=colour, linestyle=dashes, marker=marker, markersize=5)
    panel.set_title(f"weighted entries, to ε = {epsilon:g}", fontsize=11)
    panel.set_xlabel("dimension d")
    panel.set_ylabel("processor seconds in all")


def mapped(document: Document) -> Figure:
    """Which method is cheapest at each dimension and accuracy: by seconds above, by the model's flops below."""
    figure = plots.blank(10.0, 6.4)
    panels = figure.subplots(2, len(TITLES))
    sizes = dimensions(document)
    for row, column in zip(panels, _UNITS, strict=True):
        for panel, (family, title) in zip(row, TITLES.items(), strict=True):
            _tiles(panel, chart(document, family, column), sizes, column)
            panel.set_title(f"{title}\nby {_UNITS[column]}", fontsize=10.5)
            panel.set_xlabel("dimension d")
    for row in panels:
        row[0].set_ylabel("accuracy ε, in units of β")
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=STYLES[method][0], alpha=0.55, label=f"{_LETTERS[method]}  {LABELS[method]}")
        for method in METHODS
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _tiles(panel: Any, found: Any, sizes: list[int], column: str) -> None:
    from matplotlib.patches import Rectangle

    for i, d in enumerate(sizes):
        for j, epsilon in enumerate(DECADES):
            best = found[d, epsilon]
            colour = "#FFFFFF" if best is None else STYLES[best.method][0]
            tile = Rectangle((i, j), 1, 1, facecolor=colour, alpha=0.55, edgecolor="white", linewidth=1.5)
            panel.add_patch(tile)
            words = "none" if best is None else _LETTERS[best.method] + ("?" if best.unsure else "")
            panel.annotate(words, (i + 0.5, j + 0.62), ha="center", va="center", fontsize=11, weight="bold")
            if best is not None:
                spent = _short(best.spent, column)
                panel.annotate(spent, (i + 0.5, j + 0.25), ha="center", va="center", fontsize=7.5)
    panel.set_xlim(0, len(sizes))
    panel.set_ylim(0, len(DECADES))
    panel.set_xticks([i + 0.5 for i in range(len(sizes))], [f"{d:,}" for d in sizes])
    panel.set_yticks([j + 0.5 for j in range(len(DECADES))], [_power(epsilon) for epsilon in DECADES])
    panel.tick_params(length=0, labelsize=9)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _power(epsilon: float) -> str:
    return f"$10^{{{round(math.log10(epsilon))}}}$"


def _short(spent: float, column: str) -> str:
    if column == "flops":
        return f"{spent:.0e}".replace("e+0", "e").replace("e+", "e")
    if spent < 0.1:
        return f"{1e3 * spent:.2g} ms"
    return f"{spent:.2g} s" if spent < 100 else f"{spent:.0f} s"
