"""One run in a process of its own: warm up, load, run against the clock, then certify what was kept, off the clock."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from spectraplex.certificate import Candidate, lower_bound

from . import problems
from .recorder import Recorder, forget_peak, resident_mb
from .solvers import peer as peer_module

THRESHOLDS = (0.2, 1e-2, 1e-3)  # certified relative gaps whose moment is looked for among all images kept
_EVERY = 5  # otherwise every fifth image is certified: one per 60 % of time


def main(task_path: str, out_path: str) -> int:
    """Read the task, write the run; exceptions become the message of a failed run."""
    task = json.loads(Path(task_path).read_text(encoding="utf-8"))
    try:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=task["threads"]):
            found = problems.reference(task["problem"], task["limit_seconds"]) if task["peer"] is None else run(task)
    except ImportError as error:
        found = {"status": "missing", "message": str(error)}
    except Exception as error:
        found = {"status": "failed", "message": f"{type(error).__name__}: {error}"[:300]}
    partial = Path(out_path + ".part")
    partial.write_text(json.dumps(found), encoding="utf-8")
    os.replace(partial, out_path)
    return 0


def run(task: dict) -> dict:
    began = time.perf_counter()
    peer, setting = peer_module(task["peer"]), task["setting"]
    small = problems.tiny()
    peer.run(small, Recorder(small, 0.2), setting)
    warm_up = time.perf_counter() - began
    table = problems.load(task["problem"], task["multiplier"])
    table.value(table.values)
    ours = task["peer"] == "ours"
    with tempfile.TemporaryDirectory() as scratch:
        # within 1e-7 nothing is left to be measured; we run on until our own gap is certified
        goal = -np.inf if ours else task["optimum"][0] * (1 + 1e-7)
        recorder = Recorder(table, task["limit_seconds"], goal, None if ours else Path(scratch))
        forget_peak()
        before = resident_mb(peak=False)
        recorder.start()
        answer = peer.run(table, recorder, setting)
        seconds = recorder.seconds if ours else recorder.stopped_at
        peak = resident_mb(peak=True) - before
        certified = recorder.certified if ours else certify(table, recorder.saved)
    return {
        "status": "limit" if seconds >= task["limit_seconds"] else "done",
        "message": "",
        "warm_up_seconds": warm_up,
        "seconds": seconds,
        "curve": recorder.curve,
        "certified": certified,
        "rank": recorder.rank,
        "peak_mb": max(peak, 0.0),
        "answer": look_at(table, answer, recorder.image),
    }


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


def certify(table: problems.Table, saved: list[tuple[float, float, Path]]) -> list[list[float]]:
    """Certified bounds at the kept images: some spread in time, then those around the moments that matter."""
    task, rng = table.problem(), np.random.default_rng(0)
    bounds: dict[int, float] = {}

    def bound(k: int) -> None:
        if k not in bounds:
            image = np.load(saved[k][2])
            most = float(min(task.domain.dimension + 10, 600))
            found = lower_bound(
                task, [Candidate.at(task, image)], saved[k][1], failure=1e-11, rng=rng, share=0.05, products=most
            )
            bounds[k] = found.value

    def curve() -> list[tuple[int, float]]:
        """(index, relative gap) with the best bound so far."""
        best, out = -np.inf, []
        for k in sorted(bounds):
            best = max(best, bounds[k])
            out.append((k, (saved[k][1] - best) / saved[k][1]))
        return out

    for k in sorted({*range(0, len(saved), _EVERY), len(saved) - 1} if saved else ()):
        bound(k)
    for threshold in THRESHOLDS:
        while True:
            shown = curve()
            first = next((j for j, (_, gap) in enumerate(shown) if gap <= threshold), None)
            if not first or shown[first][0] - shown[first - 1][0] < 2:
                break
            bound((shown[first][0] + shown[first - 1][0]) // 2)
    best, out = -np.inf, []
    for k in sorted(bounds):
        best = max(best, bounds[k])
        out.append([saved[k][0], saved[k][1], best])
    return out
