"""docs/peers.md and its pictures, from the document of a run: every number on the page comes from it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from spectraplex import plots

from .common import machine_words
from .verdict import (
    ERRORS,
    OURS,
    best_peer,
    clock,
    optimum,
    peers_of,
    ratio,
    runs_of,
    seconds_to_certified,
    seconds_to_error,
    targets,
    title,
)

_COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#999999", "#009E73", "#CC79A7", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 1)))
FLOOR = 1e-7  # the clock of the others stops here, so nothing below is drawn


def write(document: dict, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [
        plots.save(picture(document, certified), folder / name)
        for name, certified in (("peers-value.png", False), ("peers-gap.png", True))
    ]
    page = folder / "peers.md"
    page.write_text("\n".join(lines(document)) + "\n", encoding="utf-8")
    return [page, *pictures]


def lines(document: dict) -> list[str]:
    out = ["# Against other tools", "", *_setting(document), "", "## Who wins where", ""]
    out += [_words(document, name) for name in document["problems"]]
    out += ["", "![relative error against seconds](peers-value.png)", ""]
    out += ["![certified relative gap against seconds](peers-gap.png)", "", "## Seconds, and ratios", ""]
    out += [
        "The best setting of each peer counts, for each column anew. *Ratio*: the best peer's seconds over ours; with",
        "\\>, no peer arrived within its time, and the ratio is the longest of their runs over ours.",
        "",
    ]
    for name in document["problems"]:
        out += _table(document, name)
    out += ["## Targets", "", "| | target | measured |", "|---|---|---|"]
    marks = {True: "met", False: "**MISSED**", None: "open"}
    out += [f"| {marks[met]} | {label} | {words} |" for label, words, met in targets(document)]
    out += ["", "## Every run", "", "All settings of all grids; MB is peak memory over the loaded data.", ""]
    out += [
        "| problem | peer | setting | BLAS threads | end | seconds | relative error | certified gap | MB | warm-up |"
    ]
    out += ["|---|---|---|---|---|---|---|---|---|---|"]
    return out + [_row(document, run) for run in document["runs"]]


def _setting(document: dict) -> list[str]:
    machine, first = document["machine"], document["first_call"]
    text = [
        "Everybody minimises ½Σ(Z_ij − r_ij)² over observed entries and the nuclear-norm ball, on one machine, one",
        "after the other, by `make bench-peers`, which keeps finished runs and does those that are missing;",
        "`python -m benchmarks.peers page` wrote this page from its results.",
        "",
        *machine_words(machine),
        f"- Threads: at most {machine['threads']} for everybody (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and the like).",
        "  Ours go to sparse kernels, with BLAS kept at one. The others run with one BLAS thread or all, whichever",
        "  took more steps a second in a pilot of five seconds on the same problem, off the clock.",
        "- Each run has its own process; the clock starts before a tool builds its form of the data and stands still",
        "  while f is evaluated, by one function for all, from the observed entries of the iterate.",
        "- Errors are relative to f*: known to all digits used on MovieLens-100k, from our own certified solve on",
        "  generated tables; on MovieLens-1M it is known to lie in a bracket, errors are taken from its low end, and",
        "  those finer than the bracket are left out (–).",
        "- The others certify nothing. We certify their iterates for them, off their clock, and keep the best bound so",
        "  far: this favours them. Our own certified gaps were found inside our clock.",
        "- softImpute solves the penalised problem. Its λ is that of our answer, given to it for nothing, and its",
        "  iterate is evaluated at its best multiple inside the ball.",
        "- CVXPY runs on the small table only. It shows nothing before it ends, so each tolerance is one point.",
    ]
    if first:
        text += [
            f"- Import and first solve of a process of ours, apart from all clocks below: {first['compiling']:.1f} s",
            f"  when the kernels must be compiled (once for an installation), {first['cached']:.1f} s afterwards.",
        ]
    return text


def _words(document: dict, name: str) -> str:
    """One sentence a problem."""
    parts = []
    for error in (1e-2, 1e-3, 1e-6):
        ours = seconds_to_error(document, name, OURS, error)
        peer, theirs = best_peer(document, name, seconds_to_error, error)
        if math.isnan(ours):
            continue
        if math.isinf(ours) and peer is None:
            parts.append(f"nobody reaches {error:g}")
        elif peer is None:
            parts.append(f"only we reach {error:g} ({clock(ours)})")
        elif ours <= theirs:
            parts.append(f"we win to {error:g} by {theirs / ours:.1f}× over {title(document, peer)}")
        else:
            us = clock(ours) if math.isfinite(ours) else "we do not get there"
            parts.append(f"**{title(document, peer)} wins to {error:g}** ({clock(theirs)} against {us})")
    return f"- {document['problems'][name]['title']}: {'; '.join(parts)}."


def _table(document: dict, name: str) -> list[str]:
    problem = document["problems"][name]
    low, high = problem["optimum"]
    star = f"f* = {high:.8g}" if (high - low) <= 1e-6 * high else f"f* in [{low:.8g}, {high:.8g}]"
    heads = [*(f"{error:g}" for error in ERRORS), "certified 1e-2", "certified 1e-3"]
    out = [f"**{problem['title']}** ({star}, {problem['limit_seconds']:g} s each)", ""]
    out += [f"| | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 1)}"]
    questions: list[tuple[Any, float]] = [(seconds_to_error, error) for error in ERRORS]
    questions += [(seconds_to_certified, 1e-2), (seconds_to_certified, 1e-3)]
    for peer in peers_of(document, name):
        if runs_of(document, name, peer):
            cells = [clock(ask(document, name, peer, level)) for ask, level in questions]
        else:
            cells = [next(r["status"] for r in document["runs"] if r["problem"] == name and r["peer"] == peer)] * len(
                heads
            )
        out.append(f"| {title(document, peer)} | {' | '.join(cells)} |")
    cells = []
    for ask, level in questions:
        ours, (_, theirs) = ask(document, name, OURS, level), best_peer(document, name, ask, level)
        cells.append(_times(document, name, ours, theirs))
    out.append(f"| *ratio* | {' | '.join(cells)} |")
    ours = seconds_to_certified(document, name, OURS, 1e-3)
    peer, theirs = best_peer(document, name, seconds_to_error, 1e-3)
    who = f"{title(document, peer)}, {clock(theirs)}" if peer else "no peer arrives"
    if not math.isnan(seconds_to_error(document, name, OURS, 1e-3)):
        out += [
            "",
            f"Our *certified* 1e-3 ({clock(ours)}) against the best peer's *uncertified* 1e-3 ({who}): "
            f"{_times(document, name, ours, theirs)}.",
        ]
    return [*out, ""]


def _times(document: dict, name: str, ours: float, theirs: float) -> str:
    times, least = ratio(document, name, ours, theirs)
    return "–" if math.isnan(times) else f"{'> ' if least else ''}{times:.1f}×"


def _row(document: dict, run: dict) -> str:
    setting = ", ".join(f"{key} {value}" for key, value in run["setting"].items())
    cells = [run["problem"], run["title"], setting]
    if not run["curve"]:
        return f"| {' | '.join(cells)} | | {run['status']}: {run['message'].replace('|', '/')} | | | | | |"
    star, _ = optimum(document["problems"][run["problem"]])
    error = min(value for _, value in run["curve"]) / star - 1
    gaps = [(value - bound) / value for _, value, bound in run["certified"]]
    gap = f"{max(min(gaps), 0.0):.1e}" if gaps else "none"
    cells += [str(run["blas_threads"]), run["status"], f"{run['seconds']:.2f}", f"{max(error, 0.0):.1e}", gap]
    return f"| {' | '.join(cells)} | {run['peak_mb']:.0f} | {run['warm_up_seconds']:.1f} s |"


def picture(document: dict, certified: bool) -> Any:
    """One panel a problem: the best that any setting of a peer shows by then."""
    from matplotlib.figure import Figure

    names = list(document["problems"])
    columns = min(2, len(names))
    rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(10.0, 3.4 * rows + 1.0), layout="constrained", facecolor="white")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    everybody = list(dict.fromkeys(run["peer"] for run in document["runs"]))
    for panel, name in zip(panels, names, strict=False):
        star, _ = optimum(document["problems"][name])
        for place, peer in enumerate(everybody):
            points = _envelope(runs_of(document, name, peer), star, certified)
            if points:
                look = {"color": _COLOURS[place % 8], "linestyle": _DASHES[place % 8]}
                look |= {"linewidth": 2.6 if peer == OURS else 1.8, "drawstyle": "steps-post"}
                look |= {"marker": "o", "markersize": 4} if len(points) < 4 else {}
                panel.plot(*zip(*points, strict=True), label=title(document, peer), **look)
        panel.set(xscale="log", yscale="log", xlabel="seconds")
        panel.set_title(document["problems"][name]["title"], fontsize=10)
        panel.set_ylabel("certified relative gap" if certified else "relative error")
        panel.set_ylim(FLOOR, 2.0)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, which="major", color="#DDDDDD", linewidth=0.7)
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    named = {label: line for panel in panels for line, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4, frameon=False, handlelength=3.2)
    return figure


def _envelope(runs: list[dict], star: float, certified: bool) -> list[tuple[float, float]]:
    if certified:
        points = [(at, (value - bound) / value) for run in runs for at, value, bound in run["certified"]]
    else:
        points = [(at, value / star - 1.0) for run in runs for at, value in run["curve"]]
    best, out = math.inf, []
    for at, height in sorted(points):
        if height < best:
            best = height
            out.append((max(at, 1e-3), max(best, FLOOR)))
    if out and not certified:
        out.append((max(run["seconds"] for run in runs), out[-1][1]))
    return out
