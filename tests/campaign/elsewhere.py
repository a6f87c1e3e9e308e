"""Certificates travel: what was saved here must verify, and go on, in another process with other BLAS kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import spectraplex as sx

from .classes import make

#: words → what is different there; a kernel that the processor lacks is replaced by OpenBLAS itself
SETTINGS: dict[str, dict[str, str]] = {
    "two BLAS threads": {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    "kernels for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "kernels for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
}


def keep(spool: Path, name: str, seed: int, method: str, result: sx.Result) -> None:
    """Save a result where the other processes will look for it; the problem is built again from class and seed."""
    folder = result.save(spool / f"{name}@{seed}")
    (folder / "method").write_text(method)


def elsewhere(spool: Path, names: tuple[str, ...] = tuple(SETTINGS)) -> list[dict[str, Any]]:
    """Look at everything kept, once in each setting; a list of misses, each with name, seed, word and detail."""
    if not any(spool.iterdir()):
        return []
    found = []
    for words in names:
        command = [sys.executable, "-m", "tests.campaign", "--elsewhere", str(spool)]
        root = Path(__file__).resolve().parent.parent.parent
        there = os.environ | SETTINGS[words]
        done = subprocess.run(command, cwd=root, env=there, capture_output=True, text=True, timeout=1800)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            found.append({"name": "elsewhere", "seed": 0, "word": f"{words}: the process failed", "detail": last})
            continue
        for line in done.stdout.splitlines():
            miss = json.loads(line)
            found.append(miss | {"word": f"elsewhere: {miss['word']}", "detail": f"{words}: {miss['detail']}"})
    return found


def look(spool: Path) -> None:
    """In the other process: every kept result, one line of JSON for each miss."""
    for folder in sorted(spool.iterdir()):
        name, _, seed = folder.name.rpartition("@")
        for word, detail in _misses(name, int(seed), folder):
            print(json.dumps({"name": name, "seed": int(seed), "word": word, "detail": detail}))


def _misses(name: str, seed: int, folder: Path) -> list[tuple[str, str]]:
    from .attack import Report, bracket

    report = Report(name, seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            case, loaded = make(name, seed), sx.load(folder)
            for what in (loaded, folder):
                verdict = sx.verify(loaded.certificate, case.problem, what)
                if not verdict:
                    report.miss("refused", verdict)
                    break
            again = sx.solve(case.problem, (folder / "method").read_text(), sx.Stop(max_steps=1), start=loaded)
            bracket(report, case, again.certificate, "resumed")
            bracket(report, case, sx.certify(case.problem, loaded.X), "certify")
    except Exception as error:
        report.miss(type(error).__name__, str(error))
    return report.misses
