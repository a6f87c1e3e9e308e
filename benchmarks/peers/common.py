"""What both comparisons share: a process a run, files written aside and renamed, the machine, and what is said."""

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
from collections.abc import Iterable
from pathlib import Path

COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LK_NUM_THREADS",
)


def in_child(arguments: list[str], task: dict, threads: int, timeout: float) -> dict:
    """One process of ``python -m benchmarks.peers``; whatever becomes of it, a dictionary comes back."""
    with tempfile.TemporaryDirectory() as scratch:
        task_path, out_path = Path(scratch) / "task.json", Path(scratch) / "run.json"
        task_path.write_text(json.dumps(task), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.peers", *arguments, str(task_path), str(out_path)]
        talk = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}  # some tools greet on stdout
        try:
            done = subprocess.run(command, env=environment(threads), text=True, timeout=timeout, check=False, **talk)
        except subprocess.TimeoutExpired:
            if not out_path.is_file():  # else it was killed while certifying
                return {"status": "killed", "message": f"no answer {timeout:.0f} s after it started"}
        if out_path.is_file():
            return json.loads(out_path.read_text(encoding="utf-8"))
        lines = done.stderr.strip().splitlines() or [""]
        return {"status": "failed", "message": f"exit status {done.returncode}: {lines[-1]}"[:300]}


def hand_back(out_path: str, found: Iterable[dict]) -> int:
    """The child's side: write what is found as it comes; exceptions become the message of a failed run."""
    try:
        for each in found:
            write(Path(out_path), each)
    except ImportError as error:
        write(Path(out_path), {"status": "missing", "message": str(error)})
    except Exception as error:
        write(Path(out_path), {"status": "failed", "message": f"{type(error).__name__}: {error}"[:300]})
    return 0


def environment(threads: int) -> dict[str, str]:
    return {**os.environ, **{name: str(threads) for name in COUNTS}}


def machine(threads: int, packages: Iterable[str]) -> dict:
    versions = {}
    for package in packages:
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


def machine_words(machine: dict) -> list[str]:
    """The machine as the first lines of a page."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return [
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']},",
        f"  Python {machine['python']}; {versions}.",
    ]


def write(path: Path, content: dict, indent: int | None = None) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=indent), encoding="utf-8")
    os.replace(partial, path)


def forget(folder: Path) -> None:
    """Throw earlier runs away."""
    shutil.rmtree(folder / "runs", ignore_errors=True)


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def words(setting: dict) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in setting.items()
    )
