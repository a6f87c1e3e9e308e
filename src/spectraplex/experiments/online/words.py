"""Online learning for people: its table, its picture, its sentences and its claims, from raw results alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ...places.numpy import Array
from .. import data
from ..claims import Claim
from ..document import Document, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {"ocg": "online conditional gradient", "rank-one": "rank-one-regularised"}
_THEORY = 0.75
_LAST = 4  # points of a curve that an exponent is fitted to


def name_of(run: Run) -> str:
    """The learner in words."""
    rate = run.settings["rate"]
    return _LABELS[run.settings["learner"]] + ("" if rate == 1.0 else f", rate {rate:g}")


def where(run: Run) -> str:
    """The stream in words."""
    settings = run.settings
    if settings["stream"] == "drift":
        return f"a table that drifts, radius {settings['radius']:g}, seed {settings['seed']}"
    real = settings["source"] == data.REAL
    what = "MovieLens-latest-small in the order of time" if real else "ratings of a GENERATED table"
    return f"{what}, radius {settings['radius']:g}"


def regret(run: Run) -> tuple[Array, Array]:
    """At least, and at most."""
    suffered, best, lower = (np.array(run.outcome[name]) for name in ("suffered", "best", "lower"))
    return suffered - best, suffered - lower


def exponent(run: Run) -> float | None:
    """The slope of the regret against the arrivals, both as logarithms, at the last points; None below zero."""
    t, high = np.array(run.outcome["arrivals"])[-_LAST:], regret(run)[1][-_LAST:]
    if t.size < 3 or not (high > 0.0).all():
        return None
    return float(np.polyfit(np.log(t), np.log(high), 1)[0])


def rows(document: Document) -> Iterator[dict[str, Any]]:
    """One line for every learner, stream and arrival of the grid."""
    for run in document.runs:
        head = {name: run.settings[name] for name in ("stream", "source", "learner", "rate", "radius", "seed", "per")}
        for place, t in enumerate(run.outcome["arrivals"]):
            names = ("suffered", "constant", "best", "lower", "bound")
            yield head | {"arrivals": int(t)} | {name: run.outcome[name][place] for name in names}


def draw(document: Document) -> dict[str, Figure]:
    """Regret against arrivals, with the bound; one panel a stream."""
    figure = plots.blank(10.0, 4.4)
    streams = document.distinct("stream")
    panels = figure.subplots(1, len(streams), squeeze=False)[0]
    for panel, stream in zip(panels, streams, strict=True):
        runs = [run for run in document.find(stream=stream) if run.settings["seed"] == 0]
        for run, colour, marker in zip(runs, plots.COLOURS, "os^Dvx", strict=False):
            t, high = run.outcome["arrivals"], regret(run)[1]
            panel.plot(t, np.where(high > 0, high, np.nan), marker + "-", color=colour, label=name_of(run))
            if run.settings["learner"] == "ocg":
                panel.plot(t, run.outcome["bound"], "--", color=colour, linewidth=1.2, label=f"bound, {name_of(run)}")
        t = np.array(runs[0].outcome["arrivals"])
        still = np.array(runs[0].outcome["constant"]) - np.array(runs[0].outcome["lower"])
        panel.plot(t, still, ":", color="#555555", linewidth=1.5, label="who never moves")
        top = float(np.nanmax(regret(runs[0])[1]))
        panel.plot(t, top * (t / t[-1]) ** _THEORY, color="#bbbbbb", linewidth=1.0, label="slope ¾")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(where(runs[0]), fontsize=9, loc="left")
        panel.set_xlabel("arrivals")
        plots.quiet(panel)
    panels[0].set_ylabel("regret against the best fixed X")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return {"online": figure}


def text(document: Document) -> str:
    """The figures at the last arrival."""
    lines = ["| stream | learner | arrivals | regret | bound | who never moves | exponent | arrivals a second |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for run in document.runs:
        low, high = (each[-1] for each in regret(run))
        bound, t = run.outcome["bound"][-1], int(run.outcome["arrivals"][-1])
        told = f"{bound:,.0f}" if np.isfinite(bound) else "none"
        still, slope = run.outcome["constant"][-1] - run.outcome["lower"][-1], exponent(run)
        cells = (
            where(run),
            name_of(run),
            f"{t:,}",
            f"{low:,.0f} … {high:,.0f}",
            told,
            f"{still:,.0f}",
            "none" if slope is None else f"{slope:.2f}",
            f"{t / run.outcome['seconds']:,.0f}" if run.outcome["seconds"] else "not timed",
        )
        lines.append("| " + " | ".join(cells) + " |")
    parts = (
        "## Online learning",
        "Regret is what a learner lost on all arrivals less what the best fixed X would have lost; the batch solver "
        "certifies that X, so the regret is between two numbers. The bound is that of the theory with its constants, "
        "from the norms of the gradients as they came; it grows like T^¾. The exponent is the slope of the regret over "
        f"the last {_LAST} points, each twice as late as the one before. Who never moves plays zero. `rate` multiplies "
        "the step constant that has the least bound. No bound is known for the rank-one-regularised learner, which is "
        "an experiment. Seconds are those of one processor.",
        "\n".join(lines),
    )
    return "\n\n".join(parts) + "\n"


def claims(document: Document) -> list[Claim]:
    """The regret is below the bound everywhere; its exponent is reported."""
    found = []
    for run in document.runs:
        place, name = f"online, {where(run)}", name_of(run)
        if run.settings["learner"] == "ocg":
            share = float(np.max(regret(run)[1] / np.array(run.outcome["bound"])))
            statement = f"the regret of {name} is below the theory's bound at every point of the grid"
            found.append(Claim(place, statement, f"largest share of the bound: {share:.2g}", share <= 1.0))
        slope = exponent(run)
        holds = None if slope is None or document.quick else slope <= _THEORY
        measured = "none: too few points, or no regret" if slope is None else f"exponent {slope:.2f}"
        statement = f"at its last arrivals the regret of {name} grows no faster than T^¾"
        found.append(Claim(place, statement, measured, holds, ours=False))
    return found
