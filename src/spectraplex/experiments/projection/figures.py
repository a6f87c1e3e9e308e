"""The figure of ``projection``: convergence, eigenvectors per projection, certificates, and seconds by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...plots import COLOURS, INK, blank, quiet
from ..document import Document, Run
from .read import about, bracket, comparable, label, problems, schedule, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# label → colour, dashes, width; drawn in this order, so that what others cover comes last
_LINES: dict[str, tuple[str, Any, float]] = {
    "exact projections": ("#BBBBBB", "-", 5.0),
    "δ fixed, tight": (COLOURS[4], (0, (6, 1, 1, 1, 1, 1)), 1.8),
    "δ ∝ 1/k, κ = 0.25": (COLOURS[0], "-", 2.0),
    "δ ∝ 1/k, κ = 1": (COLOURS[3], (0, (5, 2)), 1.8),
    "δ fixed, loose": (COLOURS[5], (0, (1, 1)), 2.2),
    "CG with line search": (COLOURS[7], "-.", 1.4),
}


def draw(document: Document) -> dict[str, Figure]:
    """``projection``: one row a problem, and in the last column certificates and sizes."""
    names = problems(document)
    figure = blank(12.5, 4.2 * len(names) + 0.9)
    sized = document.find(kind="run", study="sizes")
    handles: dict[str, Any] = {}
    for row, (part, name) in enumerate(zip(figure.subfigures(len(names), 1, squeeze=False)[:, 0], names, strict=True)):
        runs, panels = _lines(document, name), part.subplots(1, 3)
        part.suptitle(_sentence(about(runs[0])), x=0.01, ha="left", fontsize=11.5, color=INK)
        _convergence(panels[0], document, name, runs)
        _spent(panels[1], runs)
        if row == 1 and sized:
            _sizes(panels[2], sized)
        else:
            _certificates(panels[2], schedule(document, name, "derived")[0])
        handles |= dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, frameon=False, handlelength=3.6)
    title = "Projected subgradient steps, projected by rank-one steps to a certified accuracy δ"
    small = " (a miniature, it proves nothing)" if document.quick else ""
    figure.suptitle(title + small, color=INK, fontsize=13, x=0.01, ha="left")
    return {"projection": figure}


def _sentence(words: str) -> str:
    return words if words.startswith("ℓ") else words[0].upper() + words[1:]


def _logarithmic(axis: Any, steps: tuple[float, ...] = (1.0,)) -> None:
    """Marks as plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _outer(panel: Any) -> None:
    _logarithmic(panel.xaxis, (1.0, 2.0, 5.0))
    panel.set_xlabel("outer iterations k")
    quiet(panel)


def _lines(document: Document, name: str) -> list[Run]:
    """One run for each line of the figure: the first seed."""
    first: dict[str, Run] = {}
    for run in comparable(document, name):
        first.setdefault(label(run), run)
    return [first[each] for each in _LINES if each in first]


def _line(panel: Any, run: Run, x: Any, y: Any) -> None:
    name = label(run)
    colour, dashes, width = _LINES[name]
    panel.plot(x, y, color=colour, linestyle=dashes, linewidth=width, label=name)


def _convergence(panel: Any, document: Document, name: str, runs: list[Run]) -> None:
    known = bracket(document, name)
    lowest = known.upper - known.lower
    for run in runs:
        _line(panel, run, run.outcome["k"], np.maximum(np.array(run.outcome["best"]) - known.lower, 0.5 * lowest))
    if lowest > 0:
        panel.axhspan(0.5 * lowest, lowest, color="#E8E8E8", zorder=0, linewidth=0)
        panel.set_ylim(bottom=0.5 * lowest)
        where = {"xycoords": panel.get_yaxis_transform(), "fontsize": 10, "color": "#555555", "va": "center"}
        panel.annotate("the optimum is somewhere in this band", (0.03, 0.7 * lowest), **where)
    panel.set_ylabel(f"{short(name)}: best f − proven bound")
    _logarithmic(panel.yaxis)
    _outer(panel)


def _spent(panel: Any, runs: list[Run]) -> None:
    for run in runs:
        if run.settings["schedule"] == "exact":
            continue
        k, total = np.array(run.outcome["k"], float), np.array(run.outcome["eigenvectors"])
        _line(panel, run, k, np.where(total > 0, total / k, np.nan))
    n = min(runs[0].outcome["shape"])
    panel.axhline(n, color="#888888", linewidth=1.2)
    panel.annotate(f"a decomposition: all {n}", (1, 1.06 * n), va="bottom", fontsize=10, color="#555555")
    panel.set_ylabel("eigenvectors per projection, mean so far")
    _logarithmic(panel.yaxis, (1.0, 2.0, 5.0))
    panel.set_ylim(0.8, 2.0 * n)
    _outer(panel)


def _certificates(panel: Any, run: Run) -> None:
    outcome = run.outcome
    k = outcome["k"]
    panel.plot(k, outcome["wanted"], color="#BBBBBB", linewidth=5.0, label="asked for, δ ∝ 1/k")
    panel.plot(k, outcome["gap"], color=COLOURS[0], linewidth=2.0, label="certified gap g")
    panel.plot(
        k, outcome["distance2"], color=COLOURS[3], linestyle="--", linewidth=1.8, label="true ‖P̃ − P‖² (must be ≤ g)"
    )
    panel.set_ylabel("squared distance")
    _logarithmic(panel.yaxis)
    panel.set_ylim(bottom=0.05 * max(min(outcome["distance2"]), 1e-12))  # room for the legend
    panel.legend(frameon=False, fontsize=10, loc="lower left")
    _outer(panel)


def _sizes(panel: Any, runs: list[Run]) -> None:
    place = np.arange(len(runs))
    for name, words, colour, marker in (
        ("seconds_exact", "full decomposition", "#999999", "s"),
        ("seconds", "rank-one steps and certificate", COLOURS[0], "o"),
    ):
        taken = [run.outcome[name][-1] / run.outcome["projections"] for run in runs]
        panel.plot(place, taken, color=colour, marker=marker, linewidth=2.0, label=words)
    _logarithmic(panel.yaxis, (1.0, 2.0, 5.0))
    panel.set_xticks(place, [f"{run.outcome['shape'][0]}×{run.outcome['shape'][1]}" for run in runs])
    panel.margins(x=0.12)
    panel.set_xlabel("corner of the ratings (ℓ1, first 10 projections)")
    panel.set_ylabel("processor seconds per projection")
    panel.legend(frameon=False, fontsize=10, loc="upper left")
    quiet(panel)
