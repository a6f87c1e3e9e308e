"""The whole comparison: one process per run, one at a time; finished runs are kept and reused."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import problems, solvers
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
        "machine": machine(plan.threads),
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
            what = f"{task['problem']} · {task['peer']} {_words(task['setting'])}"
            say(f"[{number}/{len(tasks)}] {what} · up to {left / 60:.0f} min left")
            began = time.perf_counter()
            found = _do(plan, task)
            waiting.pop(0)
            beside += 0.2 * (time.perf_counter() - began - (found["seconds"] or 0.0) - beside)
            say(f"        {_summary(found, task)}")
        document["runs"].append(found)
        _write(plan.folder / "peers.json", document)
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
    found = _child(plan, task, task["limit_seconds"] + plan.grace_seconds)
    shown = {key: task[key] for key in ("problem", "peer", "title", "setting", "limit_seconds", "threads")}
    empty = {"seconds": None, "curve": [], "certified": [], "rank": None, "peak_mb": None, "answer": None}
    found = shown | {"blas_threads": None, "warm_up_seconds": None} | empty | found
    _write(_path(plan, task), found)
    return found


def _reference(plan: Plan, name: str) -> dict:
    path = plan.folder / "runs" / f"reference--{name}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    if plan.only_kept:
        return {"message": "nothing was kept of it"}
    say(f"{name}: the optimum and the multiplier, by our own certified solve")
    task = {"problem": name, "peer": None, "limit_seconds": 600.0, "threads": plan.threads}
    found = _child(plan, task, 600.0 + plan.grace_seconds)
    if "optimum" in found:
        _write(path, found)
    return found


def _child(plan: Plan, task: dict, timeout: float) -> dict:
    """One process; whatever becomes of it, a dictionary comes back."""
    with tempfile.TemporaryDirectory() as scratch:
        task_path, out_path = Path(scratch) / "task.json", Path(scratch) / "run.json"
        task_path.write_text(json.dumps(task), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.peers", "child", str(task_path), str(out_path)]
        try:
            done = subprocess.run(
                command, env=environment(plan.threads), stderr=subprocess.PIPE, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            if not out_path.is_file():  # else it was killed while certifying
                return {"status": "killed", "message": f"no answer {timeout:.0f} s after it started"}
        if out_path.is_file():
            return json.loads(out_path.read_text(encoding="utf-8"))
        lines = done.stderr.strip().splitlines() or [""]
        return {"status": "failed", "message": f"exit status {done.returncode}: {lines[-1]}"[:300]}


def environment(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
    return {**os.environ, **{name: str(threads) for name in names}}


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
    _write(path, found)
    return found


def machine(threads: int) -> dict:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "missing"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else None
    facts = {"cpu": _cpu(), "cores": cores, "memory_gb": memory and round(memory, 1), "threads": threads}
    return facts | {"system": platform.system(), "python": platform.python_version(), "versions": versions}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def forget(folder: Path) -> None:
    """Throw earlier runs away."""
    shutil.rmtree(folder / "runs", ignore_errors=True)


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def _words(setting: dict) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in setting.items()
    )


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


def _write(path: Path, content: dict) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=1 if path.name != "peers.json" else None), encoding="utf-8")
    os.replace(partial, path)
