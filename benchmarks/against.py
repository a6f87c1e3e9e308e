"""This checkout against an earlier commit, in turns: seconds, products and memory of the solves that users wait for.

``python -m benchmarks against REV`` lays the commit REV out in a temporary folder and runs each solve there and here,
each time in a process of its own, one after the other; medians of five such pairs. Without REV it is the last commit
before the objectives were measurements × losses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

BEFORE = "2013aa3"
PAIRS = 5
LIMITS = {"seconds": 1.10, "products": 1.05, "MB": 1.10}
MANY = tuple(range(2000, 5001, 250))  # one radius takes half or twice the products by luck; all of them tell
#: name → (table, radii, certified relative gap); no radius stands for ``MatrixCompletion()``
JOBS = {
    "100k, radius 2500, to 1e-3": ("100k", (2500,), 1e-3),
    "100k, radius 3500, to 1e-3": ("100k", (3500,), 1e-3),
    "100k, radius 5000, to 1e-3": ("100k", (5000,), 1e-3),
    "100k, 13 radii, to 1e-3": ("100k", MANY, 1e-3),
    "1M, radius 18000, to 1e-2": ("1m", (18000,), 1e-2),
    "MatrixCompletion() on 100k": ("100k", (), 0.0),
}
CODE = """
import json, resource, sys, time, warnings
import numpy as np
import spectraplex as sx
from spectraplex import datasets
from spectraplex.estimators import MatrixCompletion

warnings.simplefilter("ignore")
name, radii, gap = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
table = datasets.movielens(name, download=False)
small = datasets.ratings_like(60, 40, 720)
if radii:
    def problem(table, radius):
        fit = sx.Completion(table.rows, table.cols, table.values, table.shape)
        return sx.Problem(fit, sx.NuclearBall(table.shape, radius))
    tasks = [problem(table, radius) for radius in radii]
    sx.solve(problem(small, 100.0), stop=sx.Stop(relative_gap=1e-4))
    sx.solve(tasks[0], stop=sx.Stop(max_steps=1))
    began = time.perf_counter()
    products = sum(sx.solve(each, stop=sx.Stop(relative_gap=gap, max_seconds=120)).products for each in tasks)
else:
    pairs = lambda table: np.column_stack([table.rows, table.cols])
    MatrixCompletion().fit(pairs(small), small.values)
    began = time.perf_counter()
    MatrixCompletion().fit(pairs(table), table.values)
    products = None
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps({"seconds": seconds, "products": products, "MB": peak}))
"""


def run(revision: str = BEFORE) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "before"
        try:
            _git("worktree", "add", "--detach", str(there), revision)
        except subprocess.CalledProcessError as failed:
            yield f"{revision} cannot be laid out: {failed.stderr.strip()}"
            return
        try:
            yield f"{'':<28}{'seconds':>24}{'products':>28}{'MB':>24}"
            for name, job in JOBS.items():
                yield _compared(name, job, there)
        finally:
            _git("worktree", "remove", "--force", str(there))


def _compared(name: str, job: tuple[str, tuple[int, ...], float], there: Path) -> str:
    found: dict[str, list[dict]] = {"before": [], "now": []}
    for _ in range(PAIRS):
        for which, root in (("before", there), ("now", Path.cwd())):
            done = _measured(root, job)
            if isinstance(done, str):
                return f"{name:<28}{which}: {done}"
            found[which].append(done)
    words = f"{name:<28}"
    for what, limit in LIMITS.items():
        old, new = ([each[what] for each in found[which]] for which in ("before", "now"))
        if None in (*old, *new):
            words += f"{'–':>28}"
            continue
        ratio = median(new) / median(old)
        verdict = "met" if ratio <= limit else "MISSED"
        words += f"{median(old):>10.4g} → {median(new):<8.4g} {verdict:>6}"
    return words


def _measured(root: Path, job: tuple[str, tuple[int, ...], float]) -> dict | str:
    """What a process of that checkout found, or the last line of what went wrong."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    table, radii, gap = job
    words = [sys.executable, "-c", CODE, table, json.dumps(radii), str(gap)]
    done = subprocess.run(words, env=environment, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return dict(json.loads(done.stdout))


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True, text=True)
