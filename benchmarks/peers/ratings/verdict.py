"""From the document to answers: the table's rows, the limits met or missed, and the ratio of fit times."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from ..common import words
from ..verdict import clock, target_lines

LIMITS = {
    ("100k", "auto"): 0.912,
    ("100k", "tuned"): 0.908,
    ("1m", "auto"): 0.846,
    ("1m", "tuned"): 0.8425,
}
RATIO = 1.0  # our fit with a radius given over Surprise's SVD: no slower
HEADS = ("test RMSE", "fit", "chosen from", "choosing", "peak memory", "threads")


@dataclass(frozen=True)
class Line:
    """One row of the table of a set, over its splits and repetitions."""

    tool: str
    row: str
    every: list[dict]
    splits: int  # how many there should be

    @property
    def title(self) -> str:
        return self.every[0]["title"]

    @property
    def runs(self) -> list[dict]:
        """Those that ended well."""
        return [run for run in self.every if run["rmse"] is not None]

    @property
    def rmse(self) -> float:
        """The mean over splits (the mean of its repetitions for each)."""
        splits: dict[str, list[float]] = {}
        for run in self.runs:
            splits.setdefault(run["split"], []).append(run["rmse"])
        return statistics.fmean(statistics.fmean(each) for each in splits.values())

    @property
    def whole(self) -> bool:
        return len({run["split"] for run in self.runs}) == self.splits

    def cells(self, threads: int) -> list[str]:
        if not self.runs:
            return [f"{self.every[0]['status']}: {self.every[0]['message']}", *[""] * (len(HEADS) - 1)]
        part = "" if self.whole else f" ({len({run['split'] for run in self.runs})} of {self.splits} splits)"
        tuned = [run["tuning_seconds"] for run in self.runs if run["tuning_seconds"] is not None]
        return [
            f"{self.rmse:.4f}{part}",
            clock(statistics.median(run["seconds"] for run in self.runs)),
            f"{len(self.runs[0]['settings'])} settings" if tuned else "",
            f"{statistics.median(tuned):.0f} s" if tuned else "",
            f"{max(run['peak_mb'] for run in self.runs):.0f} MB",
            str(threads if self.runs[0]["threaded"] else 1),
        ]

    def chosen(self) -> str:
        """What the grid gave, split by split where they differ."""
        found = list(dict.fromkeys(words(run["chosen"]) for run in self.runs if run["tuning_seconds"] is not None))
        return "; ".join(found)


def lines_of(document: dict, name: str) -> list[Line]:
    """In the order of the table, which is not the order in which they ran."""
    found: dict[tuple[int, str, str], list[dict]] = {}
    for run in document["runs"]:
        if run["set"] == name:
            found.setdefault((run["place"], run["tool"], run["row"]), []).append(run)
    splits = len(document["sets"][name]["splits"])
    return [Line(tool, row, runs, splits) for (_, tool, row), runs in sorted(found.items())]


def pairs(document: dict, name: str) -> list[float]:
    """Seconds of our fit with a radius given over those of the SVD that ran beside it."""
    seconds = {
        (run["tool"], run["row"], run["split"], run["repeat"]): run["seconds"]
        for run in document["runs"]
        if run["set"] == name and run["seconds"] is not None
    }
    return [
        ours / seconds["surprise", "svd", split, repeat]
        for (tool, row, split, repeat), ours in seconds.items()
        if (tool, row) == ("ours", "given") and ("surprise", "svd", split, repeat) in seconds
    ]


def targets(document: dict) -> Iterator[tuple[str, str, bool | None]]:
    """(what was aimed at, what came out, met), None where the run says nothing about it."""
    for (name, row), limit in LIMITS.items():
        line = next((line for line in _held(document, name) if (line.tool, line.row) == ("ours", row)), None)
        what = {"auto": "nothing set", "tuned": "tuned by GridSearchCV on training ratings"}[row]
        label = f"{name}: MatrixCompletion, {what}, test RMSE at most {limit:g}"
        if line is None or not line.runs or not line.whole:
            yield label, "not run on every split", None
        else:
            yield label, f"{line.rmse:.4f}", line.rmse <= limit
    for name in ("100k", "1m"):
        label = f"{name}: MatrixCompletion(radius=given) against Surprise's SVD, ratio of fit times at most {RATIO:g}"
        ratios = pairs(document, name) if name in document["sets"] else []
        if not ratios:
            yield label, "not run", None
        else:
            middle = statistics.median(ratios)
            spread = f"{min(ratios):.2f} … {max(ratios):.2f} in {len(ratios)} pairs"
            yield label, f"{middle:.2f} ({spread})", middle <= RATIO


def _held(document: dict, name: str) -> list[Line]:
    return lines_of(document, name) if name in document["sets"] else []


def report(document: dict) -> list[str]:
    """What is printed after a run."""
    threads, out = document["machine"]["threads"], []
    for name, held in document["sets"].items():
        lines = lines_of(document, name)
        rows = [["", *HEADS], *([line.title, *line.cells(threads)] for line in lines)]
        # a sentence about a tool that is not there may stick out
        told = [row for row in rows if row[2]]
        widths = [max(len(row[k]) for row in (told if k else rows)) for k in range(len(rows[0]))]
        out += ["", held["title"]]
        out += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        out += [f"  {line.title}, chosen: {line.chosen()}" for line in lines if line.chosen()]
    return [*out, "", "targets", *target_lines(targets(document))]
