"""The table of a run, its targets, and docs/peers-clicks.md; every number comes from the document."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, median

from ..common import machine_words, words
from .tools import TOOLS

HEADS = ("NDCG@10", "recall@10", "MAP@10", "coverage", "fit", "chosen from", "choosing")


def done(document: dict, name: str, tool: str) -> list[dict]:
    return [
        each for each in document["runs"] if each["set"] == name and each["tool"] == tool and each["status"] == "done"
    ]


def rows(document: dict, name: str) -> list[tuple[str, list[str]]]:
    """Title and cells of every tool; means over splits, the fit's median."""
    out = []
    for tool in TOOLS:
        found = done(document, name, tool.name)
        failed = [each for each in document["runs"] if (each["set"], each["tool"]) == (name, tool.name)]
        if not found:
            out += [(tool.title, [each["status"], *[""] * (len(HEADS) - 1)]) for each in failed[:1]]
            continue
        cells = [f"{mean(each[key] for each in found):.4f}" for key in ("ndcg", "recall", "map")]
        cells += [
            f"{mean(each['coverage'] for each in found):.2f}",
            f"{median(each['seconds'] for each in found):.2f} s",
        ]
        many, tuning = len(found[0]["settings"]), [each["tuning_seconds"] for each in found]
        cells += [f"{many} settings", f"{median(tuning):.0f} s"] if many > 1 else ["", ""]
        out.append((tool.title, cells))
    return out


def targets(document: dict) -> list[tuple[str, str, bool | None]]:
    """Ours at least implicit's tuned ALS; beside EASE it is told who wins."""
    out: list[tuple[str, str, bool | None]] = []
    for name, held in document["sets"].items():
        mine = done(document, name, "ours")
        for other, must in (("als", True), ("ease", False)):
            theirs = done(document, name, other)
            if not mine or not theirs:
                continue
            for key, label in (("ndcg", "NDCG@10"), ("recall", "recall@10"), ("map", "MAP@10"))[: 2 if must else 3]:
                ours, peer = (mean(each[key] for each in found) for found in (mine, theirs))
                title = theirs[0]["title"]
                said = f"{ours:.4f} against {peer:.4f}"
                out.append((f"{held['title']}: {label} beside {title}", said, ours >= peer if must else None))
                if not must:
                    out[-1] = (out[-1][0], f"{said}: {'ours' if ours >= peer else 'EASE'} is better", None)
    return out


def report(document: dict) -> list[str]:
    out = []
    for name, held in document["sets"].items():
        out += ["", held["title"]]
        out += [f"  {title:34}{'  '.join(f'{cell:>9}' for cell in cells)}" for title, cells in rows(document, name)]
    marks = {True: "met", False: "MISSED", None: "told"}
    return [*out, "", *(f"{marks[met]:7} {label}: {said}" for label, said, met in targets(document))]


def write(document: dict, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "peers-clicks.md"
    page.write_text("\n".join(lines(document)) + "\n", encoding="utf-8")
    return [page]


def lines(document: dict) -> list[str]:
    out = [
        "# Ranking clicks",
        "",
        "How well `OneClassCompletion` and others rank held-out clicks, on one machine, one after the other, by",
        "`make bench-peers-clicks`; `python -m benchmarks.peers page` wrote this page from its results.",
        "",
        *machine_words(document["machine"]),
        "- A click is a rating of four stars or more. A fifth of every user's clicks is the test; all films that a",
        "  user has not clicked in training are ranked; means over users with a test click, then over splits.",
        "- *tuned*: each setting of a grid is fitted to four fifths of every user's training clicks, and the one with",
        "  the best NDCG@10 on the other fifth is fitted to all of them. *choosing* is the time that this takes,",
        "  beside the last fit. The grids stand in `benchmarks/peers/clicks/tools.py`; those of others were narrowed",
        "  by hand on such a cut of the training clicks of split 0, and our own defaults were settled there. The test",
        "  clicks are looked at once.",
        "- `OneClassCompletion` has nothing set: it chooses its radius and its weight of unseen cells by itself, which",
        "  is part of its time under *fit*. EASE is its closed form in NumPy; BPR shares work out to threads without",
        "  locks, so its answers differ a little from run to run.",
        "- *fit* and *choosing* are wall-clock times: other work on the machine makes them several times longer.",
        "",
    ]
    for name, held in document["sets"].items():
        m, n = held["shape"]
        out += [
            f"## {held['title']}",
            "",
            f"{held['train']:,} training and {held['test']:,} test clicks, {m:,} × {n:,}; ",
        ]
        out[-1] += f"{len(held['splits'])} split(s)."
        out += ["", f"| | {' | '.join(HEADS)} |", f"|{'---|' * (len(HEADS) + 1)}"]
        out += [f"| {title} | {' | '.join(cells)} |" for title, cells in rows(document, name)]
        chosen = []
        for tool in TOOLS:
            said = dict.fromkeys(words(each["chosen"]) for each in done(document, name, tool.name) if each["chosen"])
            chosen += [f"- {tool.title}: {'; '.join(said)}"] if said else []
        out += ["", "Chosen:", "", *chosen, ""]
    out += ["## Targets", "", "| | | measured |", "|---|---|---|"]
    marks = {True: "met", False: "**MISSED**", None: "told"}
    return [*out, *(f"| {marks[met]} | {label} | {said} |" for label, said, met in targets(document))]
