"""From the document to answers: who is how soon within what, the ratios, the targets met or missed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

ERRORS = (1e-2, 1e-3, 1e-4, 1e-6)
OURS = "ours"
FASTER_TO_VALUE = {"100k-2500": 30.0, "100k-3500": 15.0, "100k-5000": 20.0}  # to a relative error of 1e-3
FASTER_TO_CERTIFIED = 10.0  # to a certified relative gap of 1e-3
BASIC = ("frank_wolfe", "frank_wolfe_open_loop")  # the 20 lines
ROOM_MB = 300.0


def optimum(problem: dict) -> tuple[float, float]:
    """f* to measure errors from, and the relative error below which they mean nothing.

    A bracket narrower than 1e-6 is as good as a number; of a wider one the low end, so that no error is understated.
    """
    low, high = problem["optimum"]
    width = (high - low) / high
    return (high, 0.0) if width <= 1e-6 else (low, width)


def runs_of(document: dict, problem: str, peer: str) -> list[dict]:
    return [run for run in document["runs"] if run["problem"] == problem and run["peer"] == peer and run["curve"]]


def peers_of(document: dict, problem: str) -> list[str]:
    """Everybody who was asked, in the order of the document."""
    return list(dict.fromkeys(run["peer"] for run in document["runs"] if run["problem"] == problem))


def title(document: dict, peer: str) -> str:
    return next(run["title"] for run in document["runs"] if run["peer"] == peer)


def seconds_to_error(document: dict, problem: str, peer: str, error: float) -> float:
    """The best setting's first moment within a relative error; inf when none got there, nan when it means nothing."""
    value, floor = optimum(document["problems"][problem])
    if error < floor:
        return math.nan
    goal = value * (1 + error)
    times = (at for run in runs_of(document, problem, peer) for at, reached in run["curve"] if reached <= goal)
    return min(times, default=math.inf)


def seconds_to_certified(document: dict, problem: str, peer: str, gap: float) -> float:
    """The same for a certified relative gap (for the others: certified by us, at no cost to them)."""
    points = (point for run in runs_of(document, problem, peer) for point in run["certified"])
    return min((at for at, value, bound in points if value - bound <= gap * value), default=math.inf)


def best_peer(document: dict, problem: str, question, *arguments: float) -> tuple[str | None, float]:
    """The fastest of the others, and its seconds."""
    others = [peer for peer in peers_of(document, problem) if peer != OURS]
    times = {peer: question(document, problem, peer, *arguments) for peer in others}
    reached = {peer: seconds for peer, seconds in times.items() if math.isfinite(seconds)}
    if not reached:
        return None, math.inf
    name = min(reached, key=reached.__getitem__)
    return name, reached[name]


def longest(document: dict, problem: str) -> float:
    """The longest any of the others ran: who did not arrive needs at least this."""
    seconds = [run["seconds"] or 0.0 for run in document["runs"] if run["problem"] == problem and run["peer"] != OURS]
    return max(seconds, default=0.0)


def ratio(document: dict, problem: str, ours: float, theirs: float) -> tuple[float, bool]:
    """(how many times as long the best of the others takes, whether that is only a lower bound)."""
    if not math.isfinite(ours):
        return math.nan, False
    if math.isfinite(theirs):
        return theirs / ours, False
    return longest(document, problem) / ours, True


def targets(document: dict) -> Iterator[tuple[str, str, bool | None]]:
    """(what was aimed at, what came out, met), None where the run says nothing about it."""
    for name, wanted in FASTER_TO_VALUE.items():
        label = f"{name}: relative error 1e-3 at least {wanted:g}× sooner than the best peer"
        yield (label, *_faster(document, name, seconds_to_error, seconds_to_error, 1e-3, wanted))
        label = f"{name}: certified gap 1e-3 at least {FASTER_TO_CERTIFIED:g}× sooner than any peer's certified 1e-3"
        yield (label, *_faster(document, name, seconds_to_certified, seconds_to_certified, 1e-3, FASTER_TO_CERTIFIED))
        if name in document["problems"]:
            reached = seconds_to_error(document, name, OURS, 1e-6)
            met = math.isfinite(reached) if runs_of(document, name, OURS) else None
            yield f"{name}: relative error 1e-6 reached", clock(reached), met
        else:
            yield f"{name}: relative error 1e-6 reached", "not run", None
    yield _million(document)
    yield from _memory(document)


def _faster(document: dict, name: str, mine, others, level: float, wanted: float) -> tuple[str, bool | None]:
    if name not in document["problems"] or not runs_of(document, name, OURS) or len(peers_of(document, name)) < 2:
        return "not run", None
    ours = mine(document, name, OURS, level)
    peer, theirs = best_peer(document, name, others, level)
    times, least = ratio(document, name, ours, theirs)
    who = f"{title(document, peer)} {clock(theirs)}" if peer else "no peer arrived"
    words = (
        f"{'more than ' if least else ''}{times:.1f}× (we {clock(ours)}, {who})"
        if times == times
        else "we did not arrive"
    )
    if least and times < wanted:
        return f"{words}: the limit is too short to say", None
    return words, times >= wanted


def _million(document: dict) -> tuple[str, str, bool | None]:
    name, label = "1m-18000", "1m-18000: our certified 1e-2 sooner than the 20-line Frank-Wolfe's certified 20 %"
    asked = [peer for peer in BASIC if name in document["problems"] and runs_of(document, name, peer)]
    if not asked or not runs_of(document, name, OURS):
        return label, "not run", None
    ours = seconds_to_certified(document, name, OURS, 1e-2)
    theirs = min(seconds_to_certified(document, name, peer, 0.2) for peer in asked)
    ran = max(run["seconds"] for peer in asked for run in runs_of(document, name, peer))
    words = f"we {clock(ours)}, Frank-Wolfe {clock(theirs)} (it ran for {ran:.0f} s)"
    if not math.isfinite(theirs) and ours > ran:
        return label, f"{words}: the limit is too short to say", None if math.isfinite(ours) else False
    return label, words, ours < theirs


def _memory(document: dict) -> Iterator[tuple[str, str, bool | None]]:
    for name, problem in document["problems"].items():
        runs = [run for run in runs_of(document, name, OURS) if run["peak_mb"] is not None and run["rank"]]
        if runs:
            worst = max(runs, key=lambda run: run["peak_mb"] - allowance(problem, run["rank"]))
            most = allowance(problem, worst["rank"])
            label = f"{name}: memory over the data below 30·(m+n)·rank numbers and {ROOM_MB:g} MB"
            yield label, f"{worst['peak_mb']:.0f} of {most:.0f} MB at {worst['rank']} atoms", worst["peak_mb"] <= most


def allowance(problem: dict, rank: int) -> float:
    return 30.0 * sum(problem["shape"]) * rank * 8 / 2**20 + ROOM_MB


def clock(seconds: float) -> str:
    if math.isnan(seconds):
        return "–"
    if math.isinf(seconds):
        return "not reached"
    return f"{seconds:.3f} s" if seconds < 0.1 else f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def report(document: dict) -> list[str]:
    """What is printed after a run."""
    lines = ["", "seconds to a relative error, and to a certified relative gap, of …"]
    for name, problem in document["problems"].items():
        lines.append(f"{problem['title']}")
        for peer in peers_of(document, name):
            if not runs_of(document, name, peer):
                failed = next(run for run in document["runs"] if run["problem"] == name and run["peer"] == peer)
                lines.append(f"  {title(document, peer):32s} {failed['status']}: {failed['message']}")
                continue
            errors = (f"{e:g}: {clock(seconds_to_error(document, name, peer, e))}" for e in ERRORS)
            certified = clock(seconds_to_certified(document, name, peer, 1e-3))
            lines.append(f"  {title(document, peer):32s} {', '.join(errors)}; certified 0.001: {certified}")
    return [*lines, "", "targets", *target_lines(targets(document))]


def target_lines(found: Iterable[tuple[str, str, bool | None]]) -> list[str]:
    return [
        f"  {'met   ' if met else 'open  ' if met is None else 'MISSED'} {label}: {words}"
        for label, words, met in found
    ]
