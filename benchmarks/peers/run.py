"""The whole comparison: one process per run, one at a time; finished runs are kept and reused."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import problems, solvers
from .common import environment, in_child, machine, say, words, write
from .verdict import optimum

PACKAGES = ("spectraplex", "numpy", "scipy", "numba", "copt", "cvxpy-base", "scs", "clarabel")
GRACE_SECONDS = 600.0  # beyond the limit: loading, warming up, certifying afterwards
FIRST_CALL = """
import json, time
began = time.perf_counter()
import spectraplex as sx
from spectraplex.datasets import ratings_like
r = ratings_like(60, 50, 900, seed=7)
sx.solve(sx.Problem(sx.Completion(r.rows, r.cols, r.values, r.shape), sx.NuclearBall(r.shape, 100.0)))
print(time.perf_counter() - began)
"""


@dataclass(frozen=True)
class Plan:
    folder: Path
    problems: tuple[str, ...]
    peers: tuple[str, ...]
    limit_seconds: float | None = None  # None: each problem's own
    threads: int = 2
    grids: dict[str, list[dict]] = field(default_factory=dict)  # instead of a peer's own, for a smoke test
    grace_seconds: float = GRACE_SECONDS
    only_kept: bool = False  # nothing new is run


def run(plan: Plan) -> dict:
    """Do what is not done yet; returns the document and writes it to ``folder/peers.json``."""
    (plan.folder / "runs").mkdir(parents=True, exist_ok=True)
    document: dict = {
        "format": 1,
        "machine": machine(plan.threads, PACKAGES),
        "first_call": first_call(plan) if "ours" in plan.peers else None,
    }
    document |= {"problems": {}, "runs": []}
    for name in plan.problems:
        known = _reference(plan, name)
        if "optimum" in known:
            known["limit_seconds"] = plan.limit_seconds or problems.SPECS[name].limit_seconds
            document["problems"][name] = known
        else:
            say(f"{name}: left out, {known.get('message')}")
    tasks = [task for name in document["problems"] for task in _tasks(plan, name, document["problems"][name])]
    if plan.only_kept:
        tasks = [task for task in tasks if _kept(plan, task) is not None]
    waiting = [task for task in tasks if _kept(plan, task) is None]
    say(f"{len(tasks)} runs, {len(tasks) - len(waiting)} of them already done")
    beside = 5.0  # seconds a run takes beside its clock; measured as they come
    for number, task in enumerate(tasks, 1):
        found = _kept(plan, task)
        if found is None:
            left = sum(each["limit_seconds"] + beside for each in waiting)
            what = f"{task['problem']} · {task['peer']} {words(task['setting'])}"
            say(f"[{number}/{len(tasks)}] {what} · up to {left / 60:.0f} min left")
            began = time.perf_counter()
            found = _do(plan, task)
            waiting.pop(0)
            beside += 0.2 * (time.perf_counter() - began - (found["seconds"] or 0.0) - beside)
            say(f"        {_summary(found, task)}")
        document["runs"].append(found)
        write(plan.folder / "peers.json", document)
    return document


def _tasks(plan: Plan, name: str, known: dict) -> list[dict]:
    tasks = []
    for peer in plan.peers:
        module = solvers.peer(peer)
        if getattr(module, "CONIC", False) and not problems.SPECS[name].conic:
            continue
        for setting in plan.grids.get(peer, module.GRID):
            if setting.get("relative_gap", 1.0) < problems.SPECS[name].finest_gap:
                continue
            task = {"problem": name, "peer": peer, "title": module.TITLE, "setting": setting}
            task |= {"limit_seconds": known["limit_seconds"], "threads": plan.threads}
            tasks.append(task | {"optimum": known["optimum"], "multiplier": known["multiplier"]})
    return tasks


def _path(plan: Plan, task: dict) -> Path:
    words = "-".join(f"{value:g}" if isinstance(value, float) else str(value) for value in task["setting"].values())
    return plan.folder / "runs" / f"{task['problem']}--{task['peer']}--{words}.json"


def _kept(plan: Plan, task: dict) -> dict | None:
    """An earlier run of the same task; one without its tool, or that failed, or with another limit, is done again."""
    path = _path(plan, task)
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    same = all(found.get(key) == task[key] for key in ("setting", "limit_seconds", "threads"))
    return found if same and found["status"] not in ("missing", "failed") else None


def _do(plan: Plan, task: dict) -> dict:
    found = in_child(["child"], task, plan.threads, task["limit_seconds"] + plan.grace_seconds)
    shown = {key: task[key] for key in ("problem", "peer", "title", "setting", "limit_seconds", "threads")}
    empty = {"seconds": None, "curve": [], "certified": [], "rank": None, "peak_mb": None, "answer": None}
    found = shown | {"blas_threads": None, "warm_up_seconds": None} | empty | found
    write(_path(plan, task), found, indent=1)
    return found


def _reference(plan: Plan, name: str) -> dict:
    path = plan.folder / "runs" / f"reference--{name}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    if plan.only_kept:
        return {"message": "nothing was kept of it"}
    say(f"{name}: the optimum and the multiplier, by our own certified solve")
    task = {"problem": name, "peer": None, "limit_seconds": 600.0, "threads": plan.threads}
    found = in_child(["child"], task, plan.threads, 600.0 + plan.grace_seconds)
    if "optimum" in found:
        write(path, found, indent=1)
    return found


def first_call(plan: Plan) -> dict | None:
    """Import and first solve of a process of ours: kernels compiled, and kernels loaded from the cache."""
    path = plan.folder / "runs" / "first-call.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as cache:
        env = environment(plan.threads) | {"NUMBA_CACHE_DIR": cache}
        times = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALL], env=env, capture_output=True, text=True, check=False
            )
            if done.returncode:
                return None
            times.append(float(done.stdout))
    found = {"compiling": times[0], "cached": times[1]}
    write(path, found, indent=1)
    return found


def _summary(found: dict, task: dict) -> str:
    if not found["curve"]:
        return f"{found['status']}: {found['message']}"
    star, _ = optimum(task)
    value = min(point[1] for point in found["curve"])
    gaps = [(value - bound) / value for _, value, bound in found["certified"]]
    gap = f"certified gap {min(gaps):.1e}" if gaps else "nothing certified"
    memory = f"{found['peak_mb']:.0f} MB, warm-up {found['warm_up_seconds']:.1f} s"
    error = f"relative error {max(value / star - 1, 0.0):.1e}"
    return f"{found['status']} after {found['seconds']:.2f} s, {error}, {gap}, {memory}"
