"""What a newcomer meets: import speed and quietness, compilation cache, the README's and docs' examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_import_loads_no_compiler_and_nothing_heavy():
    done = run(
        "import sys, spectraplex; print([m for m in ('numba', 'sklearn', 'matplotlib', 'torch') if m in sys.modules])"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]" and done.stderr == ""


def test_kernels_run_where_no_cache_can_be_written():
    """numba refuses to cache where it finds no folder to write to; the kernels must then compile without."""
    code = """
import numba
jit = numba.njit
def refuses(*args, **options):
    if options.get("cache"):
        raise RuntimeError("cannot cache function: no locator available")
    return jit(*args, **options)
numba.njit = refuses
import spectraplex as sx, spectraplex.places.kernels as kernels
f = sx.Completion([0, 1, 1], [0, 0, 1], [1.0, 2.0, 3.0], (2, 2))
r = sx.solve(sx.Problem(f, sx.NuclearBall((2, 2), 2.0)), "cg", sx.Stop(max_steps=5))
print(r.value > 0, type(kernels.gather._cache).__name__)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "NullCache"]


def blocks(path: Path) -> list[tuple[str, str]]:
    """Every python block of a page, with the output block that follows it, if one does."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", text, re.DOTALL)
    return [(code, output) for code, output in found]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    namespace: dict[str, object] = {}
    for code, output in found:
        exec(compile(code, str(page), "exec"), namespace)
        printed = capsys.readouterr().out
        assert printed.strip() == output.strip()
    if page == ROOT / "README.md" or page.name.startswith("quickstart"):
        assert any(output for _, output in found)


def test_docstring_examples():
    import doctest

    import spectraplex.estimators.completion.estimator
    import spectraplex.estimators.completion.exchange
    import spectraplex.estimators.imputation.estimator
    import spectraplex.objectives.completion
    import spectraplex.penalized
    import spectraplex.problem

    estimators = spectraplex.estimators
    faces = (estimators.completion.estimator, estimators.completion.exchange, estimators.imputation.estimator)
    for module in (*faces, spectraplex.objectives.completion, spectraplex.penalized, spectraplex.problem):
        failed, tried = doctest.testmod(module)
        assert tried > 0 and failed == 0
