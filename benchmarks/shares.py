"""Where the time of the default method goes, room by room, and how one evaluation grows with the rank and with d."""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.methods.descent import descend

from .data import problem, ratings
from .kernels import best

PACKAGE = str(Path(sx.__file__).parent)
RANKS = (8, 16, 32, 64, 128, 256)
SIDES = ((1_000, 2_000), (4_000, 8_000), (16_000, 32_000), (64_000, 128_000))


def _room(filename: str) -> str:
    if filename.startswith(PACKAGE):
        return str(Path(filename).relative_to(PACKAGE).with_suffix(""))
    return "decompositions (LAPACK)" if "linalg" in filename else "NumPy and the rest"


def _shares(task: sx.Problem, stop: sx.Stop) -> str:
    profile = cProfile.Profile()
    profile.enable()
    result = sx.solve(task, stop=stop)
    profile.disable()
    spent: dict[str, float] = defaultdict(float)
    for (filename, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        spent[_room(filename)] += own
    total = sum(spent.values())
    largest = sorted(spent.items(), key=lambda item: -item[1])[:8]
    said = ", ".join(f"{room} {100 * seconds / total:.0f} %" for room, seconds in largest)
    return f"{result.seconds:.2f} s: {said}"


def _evaluation(task: sx.Problem, rank: int) -> float:
    """Seconds of one step of the local descent at this rank."""
    Y = np.random.default_rng(0).standard_normal((task.domain.dimension, rank))
    Y /= np.linalg.norm(Y)
    short, long = (best(lambda n=n: descend(task, Y, None, 1.0, most=n, fading=0.0, single=True), 2) for n in (2, 7))
    return (long - short) / 5


def run() -> Iterator[str]:
    table, large = ratings("100k"), ratings("1m")
    sx.solve(problem(table, 5000.0), stop=sx.Stop(max_steps=4))
    for radius in (2500.0, 5000.0):
        yield f"{table.name}, radius {radius:g}, {_shares(problem(table, radius), sx.Stop(relative_gap=1e-3))}"
    yield f"{large.name}, radius 18000, 12 steps, {_shares(problem(large, 18000.0), sx.Stop(max_steps=12))}"
    task = problem(large, 18000.0)
    for rank in RANKS:
        seconds = _evaluation(task, rank)
        each = 1e9 * seconds / len(large) / rank
        cost = f"{1e3 * seconds:.1f} ms, {each:.2f} ns per entry and column"
        yield f"{large.name}, rank {rank:3d}: an evaluation takes {cost}"
    for m, n in SIDES:
        made = ratings_like(m, n, 500_000)
        seconds = _evaluation(problem(made, 1e4), 32)
        yield f"500,000 observations of a {m}×{n} table, rank 32: an evaluation takes {1e3 * seconds:.1f} ms"
