"""docs/peers-ratings.md, from the document of a run: every number on the page comes from it."""

from __future__ import annotations

from pathlib import Path

from ..common import machine_words
from .verdict import HEADS, lines_of, targets


def write(document: dict, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "peers-ratings.md"
    page.write_text("\n".join(lines(document)) + "\n", encoding="utf-8")
    return [page]


def lines(document: dict) -> list[str]:
    machine = document["machine"]
    out = [
        "# Predicting ratings",
        "",
        "How well `MatrixCompletion` and other tools predict held-out ratings, on one machine, one after the other, by",
        "`make bench-peers-ratings`, which keeps finished runs and does those that are missing;",
        "`python -m benchmarks.peers page` wrote this page from its results.",
        "",
        *machine_words(machine),
        f"- Threads: at most {machine['threads']} for everybody; a tool whose fit uses one thread is marked so.",
        "- Everybody gets the same ratings in the same order; predictions are clipped to 1 … 5; one function computes",
        "  the error. Each fit has a process of its own.",
        "- *fit*: the fit alone, with the data in the tool's own form and all loaded and compiled by a throw-away fit",
        "  of a small table; the median over splits. *peak memory*: over the loaded arrays, with the tool's own form",
        "  of the data and the choosing; the most over splits.",
        "- *tuned*: each setting of a grid is fitted to 90 % of the training ratings, and the one with the least error",
        "  on the other 10 % is fitted to all of them, on each split anew; ours is scikit-learn's `GridSearchCV` on",
        "  the same training ratings, each candidate choosing its own radius. *choosing* is the time that this takes,",
        "  beside the last fit. The grids stand in `benchmarks/peers/ratings/tools/`; those of others were narrowed by",
        "  hand to where they do well on these very sets, which favours them. Our own defaults (ridges, exponent of",
        "  the weighting) were settled by looking at these sets, too.",
        "- cornac and LIBMF share ratings out to threads without locks: their answers differ a little from run to run.",
        "",
    ]
    for name, held in document["sets"].items():
        out += _table(document, name, held)
    out += ["## Targets", "", "| | target | measured |", "|---|---|---|"]
    marks = {True: "met", False: "**MISSED**", None: "open"}
    out += [f"| {marks[met]} | {label} | {words} |" for label, words, met in targets(document)]
    out += ["", "The ratio is taken of each pair of fits that ran one after the other, and its median counts."]
    return out


def _table(document: dict, name: str, held: dict) -> list[str]:
    rows, columns = held["shape"]
    out = [f"## {held['title']}", "", f"{held['observed']:,} ratings, {rows:,} × {columns:,}.", ""]
    out += [f"| | {' | '.join(HEADS)} |", f"|{'---|' * (len(HEADS) + 1)}"]
    found = lines_of(document, name)
    for line in found:
        cells = [cell.replace("|", "/") for cell in line.cells(document["machine"]["threads"])]
        out.append(f"| {line.title} | {' | '.join(cells)} |")
    chosen = [f"- {line.title}: {line.chosen()}" for line in found if line.chosen()]
    return [*out, "", *(["Chosen:", "", *chosen, ""] if chosen else [])]
