"""The claims of ``projection``, recomputed from raw results."""

from __future__ import annotations

from ..claims import Claim
from ..document import Document
from .read import above, bracket, comparable, each, inexact, label, number, problems, schedule, short

FACTOR = 2.0  # how much farther above the bound than exact projections the derived schedule may end


def claims(document: Document) -> list[Claim]:
    """What must hold, from the raw numbers."""
    found = [_true(document)]
    for name in problems(document):
        found += [_bounded(document, name), _promised(document, name), _close(document, name), _cheaper(document, name)]
    found += [_reaches(document, method) for method in ("paper", "printed")]
    return found


def _true(document: Document) -> Claim:
    runs = inexact(document)
    gap, value = (max(run.outcome[name] for run in runs) for name in ("worst", "worst_value"))
    count = sum(run.outcome["projections"] for run in runs)
    return Claim(
        "both problems, every method and schedule",
        "Every certificate is true: ‖P̃ − P‖² is at most the certified Frank-Wolfe gap, and at most twice the certified "
        "gap in value",
        f"{count:,} projections; the largest excess over the first is {gap:.3g}, over the second {value:.3g} "
        "(negative: none)",
        gap <= 0 and value <= 0,
    )


def _bounded(document: Document, name: str) -> Claim:
    known = bracket(document, name)
    least = min(min(run.outcome[curve]) for run in comparable(document, name) for curve in ("value", "average"))
    return Claim(
        short(name),
        "No value falls below the proven lower bound",
        f"lowest value {least:.8g}, bound {known.lower:.8g} (that of the smoothed problem: {known.smoothed:.8g})",
        least >= known.lower,
    )


def _promised(document: Document, name: str) -> Claim:
    known = bracket(document, name)
    share = max(
        (average - known.lower) / bound
        for run in comparable(document, name)
        for average, bound in zip(run.outcome["average"], run.outcome["bound"], strict=True)
    )
    return Claim(
        short(name),
        "The average iterate obeys the bound of the perturbed subgradient method, with the certified gaps in it",
        f"at most {share:.2g} of what is promised",
        share <= 1,
    )


def _close(document: Document, name: str) -> Claim:
    known, (exact,) = bracket(document, name), schedule(document, name, "exact")
    derived, outer = schedule(document, name, "derived"), exact.outcome["projections"]
    best, average = (
        max(above(run, known.lower, curve) / above(exact, known.lower, curve) for run in derived)
        for curve in ("best", "average")
    )
    measured = f"{best:.3f} times as far (best iterate), {average:.3f} (average iterate); {len(derived)} seeds"
    return Claim(
        short(name),
        "Under the derived schedule inexact projections end no farther above the bound than "
        f"{FACTOR:g} times what exact ones reach in {outer} outer iterations",
        f"not judged by a miniature of {outer} iterations ({measured})" if document.quick else measured,
        None if document.quick else max(best, average) <= FACTOR,
    )


def _cheaper(document: Document, name: str) -> Claim:
    derived = schedule(document, name, "derived")
    sizes = [run for run in document.find(kind="run", study="sizes") if run.settings["problem"] == name]
    told = [
        f"{run.outcome['shape'][0]}×{run.outcome['shape'][1]}, {run.outcome['projections']} projections: "
        f"{number(each(run, 'eigenvectors'))} eigenvectors and "
        f"{number(each(run, 'seconds') / each(run, 'seconds_exact'))} times the processor time each"
        for run in [derived[0], *sizes]
    ]
    holds = all(each(run, "seconds") < each(run, "seconds_exact") for run in [*derived, *sizes])
    return Claim(
        short(name),
        "A projection by rank-one steps, certificate included, takes less time than a full decomposition",
        ("a miniature says nothing about time; " if document.quick else "") + "; ".join(told),
        None if document.quick else holds,
        ours=False,
    )


def _reaches(document: Document, method: str) -> Claim:
    runs = document.find(kind="run", study="methods", method=method)
    missed, count = sum(run.outcome["unreached"] for run in runs), sum(run.outcome["projections"] for run in runs)
    most = runs[0].settings["max_steps"]
    measured = f"{missed} of {count} projections did not"
    return Claim(
        "both problems",
        f"{label(runs[0])} reaches the derived tolerance within {most} eigenvectors a projection",
        f"a miniature does not decide this ({measured})" if document.quick else measured,
        None if document.quick else missed == 0,
        ours=False,
    )
