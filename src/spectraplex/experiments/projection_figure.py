"""The figure of ``projection``: convergence, eigenvectors per projection, certificates, and seconds by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..plots import _COLOURS, _INK, _figure, _plain
from .document import Document, Run
from .projection_reading import about, bracket, comparable, label, problems, schedule, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# label → colour, dashes, width; drawn in this order, so that what others cover comes last
_LINES: dict[str, tuple[str, Any, float]] = {
    "exact projections": ("#BBBBBB", "-", 5.0),
    "δ fixed, tight": (_COLOURS[4], (0, (6, 1, 1, 1, 1, 1)), 1.8),
    "δ ∝ 1/k, κ = 0.25": (_COLOURS[0], "-", 2.0),
    "δ ∝ 1/k, κ = 1": (_COLOURS[3], (0, (5, 2)), 1.8),
    "δ fixed, loose": (_COLOURS[5], (0, (1, 1)), 2.2),
    "CG with line search": (_COLOURS[7], "-.", 1.4),
}


def draw(document: Document) -> dict[str, Figure]:
    """``projection``: one row a problem, and in the last column certificates and sizes."""
    names = problems(document)
    figure = _figure(12.5, 4.1 * len(names) + 0.9)
    grid = figure.subplots(len(names), 3, squeeze=False)
    sized = document.find(kind="run", study="sizes")
    for row, (panels, name) in enumerate(zip(grid, names, strict=True)):
        runs = _lines(document, name)
        _convergence(panels[0], document, name, runs)
        _spent(panels[1], runs)
        if row == 1 and sized:
            _sizes(panels[2], sized)
        else:
            _certificates(panels[2], schedule(document, name, "derived")[0])
        words = panels[0].set_title(about(runs[0]), loc="left", fontsize=11, color=_INK)
        words.set_in_layout(False)  # it runs over all three panels
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, handlelength=3.6)
    small = " A miniature: it shows the way and proves nothing." if document.quick else ""
    figure.suptitle(
        f"Projected subgradient steps, the projections by rank-one steps to a certified accuracy δ.{small}",
        color=_INK,
        fontsize=13,
        x=0.01,
        ha="left",
    )
    return {"projection": figure}


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
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("outer iterations k")
    panel.set_ylabel(f"{short(name)}: best f − proven bound")
    _plain(panel)


def _spent(panel: Any, runs: list[Run]) -> None:
    for run in runs:
        if run.settings["schedule"] == "exact":
            continue
        k, total = np.array(run.outcome["k"], float), np.array(run.outcome["eigenvectors"])
        between = np.diff(np.r_[0.0, total]) / np.diff(np.r_[0.0, k])
        _line(panel, run, k, np.maximum(between, 0.5))
    n = min(runs[0].outcome["shape"])
    panel.axhline(n, color="#888888", linewidth=1.2)
    panel.annotate(f"all {n} of a decomposition", (1, n), va="bottom", fontsize=10, color="#555555")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("outer iterations k")
    panel.set_ylabel("leading eigenvectors per projection")
    _plain(panel)


def _certificates(panel: Any, run: Run) -> None:
    outcome = run.outcome
    k = outcome["k"]
    panel.plot(k, outcome["wanted"], color="#BBBBBB", linewidth=5.0, label="asked for, δ ∝ 1/k")
    panel.plot(k, outcome["gap"], color=_COLOURS[0], linewidth=2.0, label="certified gap g")
    panel.plot(
        k, outcome["distance2"], color=_COLOURS[3], linestyle="--", linewidth=1.8, label="true ‖P̃ − P‖² (must be ≤ g)"
    )
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("outer iterations k")
    panel.set_ylabel("squared distance")
    panel.legend(frameon=False, fontsize=10, loc="lower left")
    _plain(panel)


def _sizes(panel: Any, runs: list[Run]) -> None:
    place = np.arange(len(runs))
    for name, words, colour, marker in (
        ("seconds_exact", "full decomposition", "#999999", "s"),
        ("seconds", "rank-one steps and certificate", _COLOURS[0], "o"),
    ):
        taken = [run.outcome[name][-1] / run.outcome["projections"] for run in runs]
        panel.plot(place, taken, color=colour, marker=marker, linewidth=2.0, label=words)
    panel.set_yscale("log")
    panel.set_xticks(place, [f"{run.outcome['shape'][0]}×{run.outcome['shape'][1]}" for run in runs])
    panel.set_xlabel("corner of the ratings (ℓ1, first 10 projections)")
    panel.set_ylabel("processor seconds per projection")
    panel.legend(frameon=False, fontsize=10, loc="upper left")
    _plain(panel)
