"""Online learning, measured: regret against the best fixed X, certified, beside the theory's bound.

Two streams. "ratings" are those of MovieLens-latest-small in the order of their time stamps, less 3.5, some at a time
(where it cannot be had, those of a generated table in random order). "drift" is a table of low rank whose factors turn
a little at every arrival, with noise: no fixed X fits it for long. Every arrival is a squared loss of some entries.

Settings: stream, source, learner ("ocg" or "rank-one"), rate, radius, arrivals, per (observations in one), seed.
Outcome, curves over ``arrivals`` of a grid::

    suffered    the learner's loss so far
    constant    the loss of zero, which is what a learner plays that never moves
    best, lower the least loss of a fixed X on the arrivals so far, and its certified lower bound
    bound       the theory's bound on the regret, from the norms of the gradients as they came
    atoms, lost atoms at the end; how far recompressing moved the point and the average
    seconds     of a processor, the learner's updates alone
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import datasets
from ...domains.sets import NuclearBall
from ...measurements.entries import Entries
from ...online import OnlineConditionalGradient, OnlineRankOneRegularized
from ...online.learner import _Learner
from ...places.numpy import Array
from ...stop import Stop
from .. import data
from ..runner import Task

LEARNERS = {"ocg": OnlineConditionalGradient, "rank-one": OnlineRankOneRegularized}
MIDDLE = 3.5  # what is taken off a rating, fixed before any came
_GRID = 7  # points of a curve, each twice as late as the one before
_GAP = 5e-3  # of the batch solver, as a share of what the learner suffered


@dataclass(frozen=True)
class Drift:
    """A table of low rank whose left factor turns by so much at every arrival."""

    shape: tuple[int, int]
    rank: int
    turn: float
    noise: float = 0.1


_DRIFT, _QUICK = Drift((200, 150), 3, 2e-3), Drift((30, 20), 2, 5e-3)


def tasks(quick: bool = False) -> list[Task]:
    """Both learners on both streams; the first one also with longer steps than those with the least bound."""
    name = "quick" if quick else "latest-small"
    ratings: dict[str, Any] = {"stream": "ratings", "data": name, "source": source(name)}
    ratings |= {"radius": 60.0 if quick else 1000.0, "per": 50 if quick else 100, "arrivals": 16 if quick else 1000}
    drift: dict[str, Any] = {"stream": "drift", "quick": quick, "source": data.GENERATED}
    drift |= {"radius": 30.0 if quick else 250.0, "per": 30 if quick else 100, "arrivals": 32 if quick else 600}
    found = []
    for each in (ratings, drift):
        for learner, rate in (("ocg", 1.0), ("ocg", 8.0), ("rank-one", 1.0)):
            setting = each | {"learner": learner, "rate": rate, "seed": 0}
            found.append(Task(f"{each['stream']} {learner} rate {rate:g} seed 0", setting))
    return found


def source(name: str) -> str:
    """Whether the ratings with their time stamps are here."""
    if name == "quick":
        return data.GENERATED
    return data.source(name)


def arrivals(settings: dict[str, Any]) -> tuple[tuple[int, int], list[tuple[Entries, Array]]]:
    """The shape of the table, and the stream."""
    if settings["stream"] == "drift":
        shape, stream = _drifting(settings)
    else:
        shape, stream = _rated(settings)
    return shape, list(stream)


def _rated(settings: dict[str, Any]) -> tuple[tuple[int, int], Iterator[tuple[Entries, Array]]]:
    if settings["source"] == data.REAL:
        path = datasets._find("latest-small", datasets._FILES["latest-small"], "auto")
        read = np.loadtxt(path, delimiter=",", skiprows=1)
        read = read[np.lexsort((read[:, 1], read[:, 0], read[:, 3]))]
        rows, cols = (np.unique(read[:, k], return_inverse=True)[1].reshape(-1) for k in (0, 1))
        values, shape = read[:, 2], (int(rows.max()) + 1, int(cols.max()) + 1)
    else:
        rows, cols, values, shape = data.ratings("quick", data.GENERATED)
        order = np.random.default_rng(0).permutation(rows.size)
        rows, cols, values = rows[order], cols[order], values[order]
    per, count = settings["per"], settings["arrivals"]

    def stream() -> Iterator[tuple[Entries, Array]]:
        for t in range(min(count, rows.size // per)):
            some = slice(t * per, (t + 1) * per)
            yield Entries(rows[some], cols[some], shape), values[some] - MIDDLE

    return shape, stream()


def _drifting(settings: dict[str, Any]) -> tuple[tuple[int, int], Iterator[tuple[Entries, Array]]]:
    how = _QUICK if settings["quick"] else _DRIFT
    (m, n), rank = how.shape, how.rank
    rng, per = np.random.default_rng([7, settings["seed"]]), settings["per"]

    def stream() -> Iterator[tuple[Entries, Array]]:
        U, V = rng.standard_normal((m, rank)), rng.standard_normal((n, rank)) / np.sqrt(rank)
        for _ in range(settings["arrivals"]):
            cells = np.sort(rng.choice(m * n, per, replace=False))
            rows, cols = np.divmod(cells, n)
            truth = np.einsum("ek,ek->e", U[rows], V[cols])
            yield Entries(rows, cols, (m, n)), truth + how.noise * rng.standard_normal(per)
            U = np.sqrt(1.0 - how.turn**2) * U + how.turn * rng.standard_normal(U.shape)

    return (m, n), stream()


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """One learner on one stream; the batch solver says at some arrivals what the best fixed X would have lost."""
    shape, stream = arrivals(settings)
    domain = NuclearBall(shape, settings["radius"])
    learner: _Learner = LEARNERS[settings["learner"]](domain, rate=settings["rate"], seed=settings["seed"])
    grid = grid_of(len(stream))
    names = ("arrivals", "suffered", "constant", "best", "lower", "bound")
    out: dict[str, list[float]] = {name: [] for name in names}
    spent = constant = 0.0
    for t, (entries, values) in enumerate(stream, 1):
        began = time.process_time()
        learner.update(entries, values)
        spent += time.process_time() - began
        constant += 0.5 * float(values @ values)
        if t in grid:
            found = learner.regret(stream[:t], Stop(gap=_GAP * learner.suffered, max_steps=300))
            bound = learner.bound().value if isinstance(learner, OnlineConditionalGradient) else np.nan
            row = (t, learner.suffered, constant, found.best, found.lower_bound, bound)
            for name, value in zip(names, row, strict=True):
                out[name].append(float(value))
    lost = learner.lost
    return out | {"atoms": len(learner._state.mixture), "lost": list(lost), "seconds": spent}


def grid_of(count: int) -> list[int]:
    """The last arrival, half of it, a quarter, …"""
    return sorted({max(count >> k, 1) for k in range(_GRID)})
