"""What the raw results of ``projection`` say, as the few numbers that its text, claims and figure share."""

from __future__ import annotations

from dataclasses import dataclass

from .. import data
from ..document import Document, Run

_SCHEDULES = {"exact": "exact projections", "loose": "δ fixed, loose", "tight": "δ fixed, tight"}
_METHODS = {
    "adaptive": "adaptive ROR-CG",
    "cg": "CG with line search",
    "paper": "ROR-CG as the paper ran it",
    "printed": "ROR-CG as printed",
}


@dataclass(frozen=True)
class Bracket:
    """The optimum lies between ``lower`` (proven) and ``upper`` (a value that was reached)."""

    lower: float
    upper: float
    smoothed: float
    mu: float
    seconds: float


def problems(document: Document) -> list[str]:
    return [str(name) for name in document.distinct("problem")]


def bracket(document: Document, problem: str) -> Bracket:
    """From the smoothed problem, and from the best value of any run on the same set."""
    (found,) = document.find(problem=problem, kind="bracket")
    outcome = found.outcome
    reached = [run.outcome["best"][-1] for run in comparable(document, problem)]
    lower = max(outcome["dual_lower"], outcome["smoothed_lower"])
    return Bracket(
        lower, min([outcome["upper"], *reached]), outcome["smoothed_lower"], outcome["mu"], outcome["seconds"]
    )


def comparable(document: Document, problem: str) -> list[Run]:
    """All runs on the problem that the bracket is about: not those on tables of other sizes."""
    return [run for run in document.find(problem=problem, kind="run") if run.settings["study"] != "sizes"]


def schedule(document: Document, problem: str, name: str, kappa: float = 0.25) -> list[Run]:
    """The runs of one schedule, one for each seed."""
    return document.find(problem=problem, kind="run", study="schedules", schedule=name, kappa=kappa)


def label(run: Run) -> str:
    """What a run did, in a few words."""
    settings = run.settings
    if settings["study"] == "methods":
        return _METHODS[settings["method"]]
    if settings["schedule"] == "derived":
        return f"δ ∝ 1/k, κ = {settings['kappa']:g}"
    return _SCHEDULES[settings["schedule"]]


def above(run: Run, lower: float, name: str = "best") -> float:
    """How far a run ended above the lower bound."""
    return float(run.outcome[name][-1]) - lower


def each(run: Run, name: str) -> float:
    """Spent on a projection, on average."""
    return float(run.outcome[name][-1]) / run.outcome["projections"]


def inexact(document: Document) -> list[Run]:
    """Every run whose projections were certified and then compared with the exact ones."""
    return [run for run in document.find(kind="run") if run.settings["schedule"] != "exact"]


def about(run: Run) -> str:
    """The data and the set, in words."""
    settings, (m, n) = run.settings, run.outcome["shape"]
    if settings["problem"] == "hinge":
        return (
            f"hinge loss on {run.outcome['terms']:,} pairs of digits, {m}×{n} metrics of trace {settings['radius']:g}"
        )
    table = f"{m}×{n} corner of {data.words(settings['set'], settings['where'])}"
    return f"ℓ1 loss on {run.outcome['terms']:,} ratings, {table}, nuclear norm ≤ {settings['radius']:g}"


def number(value: float) -> str:
    """Three digits, and no powers of ten where people would write none."""
    return f"{value:,.0f}" if 100 <= value < 1e7 else f"{value:.3g}"


def short(problem: str) -> str:
    return {"l1": "ℓ1 completion", "hinge": "hinge-loss metric"}[problem]
