"""A certificate and a saved run mean the same in another process: a user's own function, objective and method, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = '''
"""What a user writes: a function, an objective without parts, and a method."""
import sys
from dataclasses import dataclass

import numpy as np
import spectraplex as sx
from spectraplex.methods.oracle import base, begin, find

A = np.diag([0.9, 0.5, 0.2, -0.4, -1.0]) + 0.1


def half_square(X):
    return 0.5 * float(np.sum((X - A) ** 2)), X - A


class Plain:
    """An objective of one's own; it says nothing of its data."""

    shape, dtype = (5, 5), "float64"

    def __init__(self):
        self.inside = sx.Distance(A)

    def __getattr__(self, name):
        if name in ("measure", "combine", "evaluate", "along", "pair", "gradient"):
            return getattr(self.inside, name)
        raise AttributeError(name)


@dataclass(frozen=True)
class Memory:
    t: int


class Fixed:
    Memory = Memory

    def __init__(self, size):
        self.size = size

    def init(self, problem, point, rng):
        point, _, step = begin(problem, point, rng)
        return point, Memory(1), step

    def step(self, problem, point, memory, rng):
        descent = problem.descent(point)
        found = find(descent, base(problem, point), rng)
        dz = problem.lifted.combine(1.0, problem.image_of(found.vector), -1.0, point.image)
        new = problem.ahead(point, point.atoms.blend(found.vector, self.size), dz, self.size)
        return new, Memory(memory.t + 1), sx.Step("toward", self.size, descent.products, found.gap)


objective = {"smooth": lambda: sx.Smooth(half_square, (5, 5)), "plain": Plain}[sys.argv[2]]()
problem = sx.Problem(objective, sx.Spectrahedron(5))
'''

WRITE = """
sx.solve(problem, Fixed(0.1), sx.Stop(max_steps=12)).save(sys.argv[1])
whole = sx.solve(problem, Fixed(0.1), sx.Stop(max_steps=20), certify=False)
print(len(whole.trace), whole.value.hex())
"""

READ = """
result = sx.load(sys.argv[1])
said = sx.verify(result.certificate, problem, result.X)
assert said, str(said)
assert sx.verify(result.certificate.to_json(), problem, sys.argv[1])
on = sx.solve(problem, Fixed(0.1), sx.Stop(max_steps=8), start=result, certify=False)
print(len(on.trace), on.value.hex())
other = sx.solve(problem, Fixed(0.2), sx.Stop(max_steps=1), start=result, certify=False)
assert other.trace[-1].step == 13  # another setting is another method: it starts from the point, and counts on
"""


def run(folder: Path, code: str, *words: str, **environment: str) -> str:
    # a module with the definitions, so that nothing depends on being the main script
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    call = [sys.executable, "-c", "import sys\nfrom own import *\n" + code, *words]
    done = subprocess.run(call, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("kind", ["smooth", "plain"])
def test_own_functions_and_methods_are_recognised_in_a_new_process(kind, tmp_path):
    whole = run(tmp_path, WRITE, "saved", kind)
    # the same machine, another process: bit for bit
    assert run(tmp_path, READ, "saved", kind) == whole


@pytest.mark.parametrize("kernel", ["Nehalem", "Haswell"])
def test_what_one_processor_wrote_another_one_verifies(kernel, tmp_path):
    """OPENBLAS_CORETYPE simulates another processor; where BLAS is not OpenBLAS it does nothing."""
    run(tmp_path, WRITE, "saved", "smooth", OPENBLAS_NUM_THREADS="1")
    steps = run(tmp_path, READ, "saved", "smooth", OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS="2").split()[0]
    assert int(steps) > 12
