"""Import, and the first solve of a process, with and without a compilation cache."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from os import environ

IMPORT = "import time; t = time.perf_counter(); import spectraplex; print(time.perf_counter() - t)"
SOLVE = """
import time
import spectraplex as sx
from spectraplex.datasets import ratings_like
r = ratings_like(300, 200, 30_000)
t = time.perf_counter()
f = sx.Completion(r.rows, r.cols, r.values, r.shape)
sx.solve(sx.Problem(f, sx.NuclearBall(r.shape, 500)), stop=sx.Stop(max_steps=20))
print(time.perf_counter() - t)
"""


def seconds(code: str, **environment: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**environ, **environment}
    )
    return float(done.stdout)


def run() -> Iterator[str]:
    times = sorted(seconds(IMPORT) for _ in range(5))
    yield f"import spectraplex: median {times[2]:.2f} s, worst of 5 {times[-1]:.2f} s (limit 1 s)"
    with tempfile.TemporaryDirectory() as cache:
        cold = seconds(SOLVE, NUMBA_CACHE_DIR=cache)
        warm = min(seconds(SOLVE, NUMBA_CACHE_DIR=cache) for _ in range(2))
    yield f"first solve of a process: {cold:.1f} s when kernels must be compiled, {warm:.2f} s once they are cached"
