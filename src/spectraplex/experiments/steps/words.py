"""The cost of a step for people: its table, its picture, its sentences and its claims, from raw results alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ...places.numpy import Array
from .. import data
from ..claims import Claim
from ..document import Document, Run
from ..figure1.run import HALF
from .run import TIMED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {"ror": "ROR-CG as printed", "ror-greedy": "ROR-CG, adaptive"}
_MOST = {"ror": {"100k": 1.2, "1m": 1.2}, "ror-greedy": {"100k": 1.3, "1m": 1.5}}


def _where(run: Run) -> str:
    name = run.settings["data"]
    return f"{data.words(name, run.settings['source'], HALF[name])}, radius {run.settings['radius']:g}"


def _ratio(run: Run, name: str) -> Array:
    return np.array(run.outcome[name]) / np.array(run.outcome["cg"])


def rows(document: Document) -> Iterator[dict[str, Any]]:
    """One line per timing."""
    for run in document.runs:
        for place, t in enumerate(run.outcome["steps"]):
            setting = {name: run.settings[name] for name in ("data", "source", "radius")}
            times = {f"{name}_seconds": run.outcome[name][place] for name in TIMED}
            yield setting | {"step": t, "atoms": run.outcome["atoms"][place], **times}


def draw(document: Document) -> dict[str, Figure]:
    """Ratio against atoms."""
    figure = plots.blank(10.0, 4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (name, label) in zip(panels, _LABELS.items(), strict=True):
        for place, run in enumerate(document.runs):
            colour, marker = plots.COLOURS[place % len(plots.COLOURS)], "os^Dvx"[place % 6]
            panel.plot(run.outcome["atoms"], _ratio(run, name), marker + "-", color=colour, label=_where(run))
        panel.axhline(1.0, color="#888888", linewidth=1.0)
        for most in set(_MOST[name].values()):
            panel.axhline(most, color="#888888", linestyle="--", linewidth=1.2)
        panel.set_title(label, fontsize=11, loc="left")
        panel.set_xlabel("atoms")
        plots.quiet(panel)
    panels[0].set_ylabel("cost of a step / that of a CG step")
    panels[0].set_ylim(bottom=0.0)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    return {"steps": figure}


def text(document: Document) -> str:
    """The ratios, and what they come from."""
    lines = ["| where | atoms | ROR-CG as printed / CG | adaptive ROR-CG / CG |", "|---|---|---|---|"]
    for run in document.runs:
        atoms = f"{min(run.outcome['atoms'])} … {max(run.outcome['atoms'])}"
        cells = [_range(_ratio(run, name)) for name in _LABELS]
        lines.append(f"| {_where(run)} | {atoms} | {cells[0]} | {cells[1]} |")
    parts = (
        "## The cost of a step",
        'The paper calls the cost of a step of ROR-CG "essentially identical" to that of CG. Processor seconds of one '
        "step over those of a CG step from the same point, with the same accuracy asked of the eigenvector: least … "
        "greatest along a run, and the mean.",
        "\n".join(lines),
        "What a step as printed has more is the image of one atom; the adaptive form samples three atoms "
        "and a second new vector more without writing their images, scores a sixteenth of all atoms (at least 16), and "
        "searches a few directions at once.",
    )
    return "\n\n".join(parts) + "\n"


def _range(ratios: Array) -> str:
    return f"{ratios.min():.2f} … {ratios.max():.2f}, mean {ratios.mean():.2f}"


def claims(document: Document) -> list[Claim]:
    """Both limits, on the mean along each run."""
    found = []
    for name, form in (("ror", "as printed"), ("ror-greedy", "adaptive")):
        for run in document.runs:
            most = _MOST[name].get(run.settings["data"], 1.5)
            statement = f"a ROR-CG step, {form}, costs within {most:g}× of a CG step at equal eigenvector accuracy"
            ratio = float(_ratio(run, name).mean())
            if document.quick:
                found.append(Claim(_where(run), statement, "a miniature's steps are too short to time", None))
            else:
                found.append(Claim(_where(run), statement, f"{ratio:.2f}×, mean along the run", ratio <= most))
    return found
