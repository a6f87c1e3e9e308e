"""What a step costs: ROR-CG, which the paper calls "essentially identical" to CG, against CG at equal accuracy.

On the problems of figure1 (ratings as they are). Outcome: ``steps`` of the run at which steps were timed, ``atoms``
there, ``accuracy`` ξ asked of every eigenvector, and for each of ``TIMED`` the processor's seconds (one thread, median)
of one step.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from ...matrices.atoms import Atoms
from ...methods import ConditionalGradient, RankOneRegularized
from ...methods.oracle import FRACTION, Direction, find
from ...problem import Point
from ...solve import solve
from ...stop import Stop
from ...trace import Record
from .. import data
from ..figure1.run import RADII, problem_of
from ..runner import Task

TIMED = ("cg", "ror", "ror-greedy")
_AT = (10, 30, 60, 100, 200, 300)


def tasks(quick: bool = False) -> list[Task]:
    """One timing per set and radius, each alone on the machine."""
    found = []
    for name, radii in ({"quick": (60.0,)} if quick else RADII).items():
        for radius in radii:
            setting = {
                "data": name,
                "source": data.source(name),
                "radius": radius,
                "at": [5, 15] if quick else list(_AT),
            }
            setting["repeats"] = 3 if quick else 15
            found.append(Task(f"{name} {radius:g}", setting, 5.0 if name == "1m" else 1.0, alone=True))
    return found


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """Processor seconds of a step of each method, in turns, at one and the same accuracy ξ of its eigenvector.

    All start from the same points, those of the adaptive run with its atoms, and take two steps; the second is timed,
    so that each has the warm start it always has. ξ is what CG asks by itself: a tenth of the gap its vector reveals.
    """
    problem, at = problem_of(settings), settings["at"]
    seen: dict[int, Point] = {}

    def keep(record: Record, point: Point) -> None:  # these few alone: a point holds an image
        if record.step in at:
            seen[record.step] = point

    solve(problem, "ror-adaptive", Stop(max_steps=max(at)), observers=[keep], certify=False)
    outcome: dict[str, Any] = {"steps": at, "atoms": [], "accuracy": [], **{name: [] for name in TIMED}}
    for t in at:
        point, cg, rng = seen[t], ConditionalGradient(), np.random.default_rng(0)
        accuracy = FRACTION * cg.step(problem, *cg.init(problem, point, rng)[:2], rng)[2].estimated_gap
        same = partial(_to_accuracy, accuracy)
        greedy = RankOneRegularized(select="worthy", step="line-search", beta="adaptive", oracle=same)
        racers: tuple[Any, ...] = (ConditionalGradient(oracle=same), RankOneRegularized(oracle=same), greedy)
        times: dict[str, list[float]] = {name: [] for name in TIMED}
        for turn in range(settings["repeats"]):
            for name, racer in zip(TIMED, racers, strict=True):
                rng = np.random.default_rng(turn)
                # columns of its own: points share a buffer, and what the others append would be scored, too
                own = problem.point(Atoms.of(point.atoms.vectors, point.atoms.weights))
                first, memory, _ = racer.init(problem, own, rng)
                second, memory, _ = racer.step(problem, first, memory, rng)
                began = time.process_time()
                racer.step(problem, second, memory, rng)
                times[name].append(time.process_time() - began)
        outcome["atoms"].append(len(point.atoms))
        outcome["accuracy"].append(accuracy)
        for name, measured in times.items():
            outcome[name].append(float(np.median(measured)))
    return outcome


def _to_accuracy(
    asked: float, operator: Any, beat: float, rng: np.random.Generator, guess: Any = None, plain: bool = False, **_: Any
) -> Direction:
    """The eigenvector to one accuracy, whatever the method would ask."""
    return find(operator, beat, rng, guess, accuracy=asked, plain=plain)
