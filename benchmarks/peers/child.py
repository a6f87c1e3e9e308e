"""One run in a process of its own: warm up, load, run against the clock, then certify what was kept, off the clock."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from spectraplex.certificates.dual import Candidate
from spectraplex.certificates.lower import lower_bound

from . import problems
from .common import hand_back
from .recorder import Recorder, forget_peak, resident_mb
from .solvers import peer as peer_module
from .verdict import optimum

THRESHOLDS = (0.2, 1e-2, 1e-3)  # certified relative gaps whose moment is looked for among all images kept
PILOT_SECONDS = 5.0
_EVERY = 5  # otherwise every fifth image is certified: one per 60 % of time


def main(task_path: str, out_path: str) -> int:
    """Read the task, write the run; exceptions become the message of a failed run."""
    task = json.loads(Path(task_path).read_text(encoding="utf-8"))
    return hand_back(out_path, run(task))


def run(task: dict) -> Iterator[dict]:
    """The run, and once more with what was certified afterwards, in case that takes too long; or what is known."""
    if task["peer"] is None:
        yield problems.reference(task["problem"], task["limit_seconds"])
        return
    began = time.perf_counter()
    peer, setting = peer_module(task["peer"]), task["setting"]
    small = getattr(peer, "warm_up", problems.tiny)()
    peer.run(small, Recorder(small, 5.0 if hasattr(peer, "warm_up") else 0.2), setting)
    warm_up = time.perf_counter() - began
    table = problems.load(task["problem"], task["multiplier"])
    ours = task["peer"] == "ours"
    with tempfile.TemporaryDirectory() as scratch:
        # within 1e-7 nothing is left to be measured; we run on until our own gap is certified
        goal = -np.inf if ours else optimum(task)[0] * (1 + 1e-7)
        recorder = Recorder(table, task["limit_seconds"], goal, None if ours else Path(scratch))
        whole = ours or getattr(peer, "CONIC", False)  # a conic solver is one step
        threads = task["threads"] if whole else best_threads(peer, table, setting, task["threads"], recorder)
        forget_peak()
        before = resident_mb(peak=False)
        with threadpool_limits(limits=threads):
            recorder.start()
            answer = peer.run(table, recorder, setting)
        peak = resident_mb(peak=True) - before
        found = {
            "status": "limit" if recorder.stopped_at >= task["limit_seconds"] else "done",
            "message": "",
            "blas_threads": 1 if ours else threads,
            "warm_up_seconds": warm_up,
            "seconds": recorder.stopped_at,
            "curve": recorder.curve,
            "certified": recorder.certified,
            "rank": recorder.rank,
            "peak_mb": max(peak, 0.0),
            "answer": look_at(table, answer, recorder.image),
        }
        yield found
        if not ours:
            yield found | {"certified": certify(table, recorder.saved, max(60.0, 0.5 * task["limit_seconds"]))}


def best_threads(peer: Any, table: problems.Table, setting: dict, most: int, recorder: Recorder) -> int:
    """One BLAS thread or all of them: whichever took more steps a second in a short pilot, off the clock.

    ``solve`` keeps BLAS at one thread because small products lose by more; the others get the same choice.
    """
    speeds = {}
    for threads in sorted({1, most}, reverse=True):
        pilot = Recorder(table, min(PILOT_SECONDS, 0.1 * recorder.limit_seconds), recorder.goal)
        with threadpool_limits(limits=threads):
            pilot.start()
            peer.run(table, pilot, setting)
        if pilot.steps == 1 and pilot.stopped_at >= pilot.limit_seconds:
            return most  # a step longer than the pilot is dense LAPACK work, which gains from threads
        speeds[threads] = pilot.steps / pilot.stopped_at
    return max(speeds, key=speeds.__getitem__)


def look_at(table: problems.Table, answer: Any, image: np.ndarray | None) -> dict | None:
    """The last iterate whole: is it inside the ball, and are its entries those that were evaluated?"""
    if answer is None or image is None:
        return None
    if isinstance(answer, tuple):
        U, s, V = answer
        norm = float(np.abs(s) @ (np.linalg.norm(U, axis=0) * np.linalg.norm(V, axis=0)))  # at least the nuclear norm
        entries = table.entries(U, s, V)
    else:
        if answer.size > 5_000_000:
            return None  # its decomposition would take longer than the run
        norm = float(np.linalg.svd(answer, compute_uv=False).sum())
        entries = answer[table.rows, table.cols]
    value = table.value(image)
    error = abs(table.value(entries) - value) / max(value, 1e-300)
    return {"norm_over_radius": norm / table.radius, "value_error": error}


def certify(
    table: problems.Table, saved: list[tuple[float, float, Path]], max_seconds: float = 60.0
) -> list[list[float]]:
    """Certified bounds at the kept images: some spread in time, then those around the moments that matter."""
    task, rng, began = table.problem(), np.random.default_rng(0), time.perf_counter()
    bounds: dict[int, float] = {}

    def bound(k: int) -> None:
        if k not in bounds and time.perf_counter() - began < max_seconds:
            image = np.load(saved[k][2])
            most = float(min(task.domain.dimension + 10, 1000))
            found = lower_bound(
                task, [Candidate.at(task, image)], saved[k][1], failure=1e-11, rng=rng, share=0.05, products=most
            )
            bounds[k] = found.value

    def curve() -> list[tuple[int, float]]:
        """(index, relative gap) with the best bound so far."""
        order = sorted(bounds)
        best = np.maximum.accumulate([bounds[k] for k in order])
        return [(k, 1.0 - bound / saved[k][1]) for k, bound in zip(order, best, strict=True)]

    for k in range(len(saved) - 1, -1, -_EVERY):  # the last one first: it matters most
        bound(k)
    for threshold in THRESHOLDS:
        while True:
            shown = curve()
            first = next((j for j, (_, gap) in enumerate(shown) if gap <= threshold), None)
            if not first or shown[first][0] - shown[first - 1][0] < 2:
                break
            middle = (shown[first][0] + shown[first - 1][0]) // 2
            bound(middle)
            if middle not in bounds:
                break  # out of time
    order = sorted(bounds)
    best = np.maximum.accumulate([bounds[k] for k in order]).tolist()
    return [[saved[k][0], saved[k][1], bound] for k, bound in zip(order, best, strict=True)]
