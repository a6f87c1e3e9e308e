"""Checkpoints: a run that was killed ends with the very factors of one that was not; Ctrl-C writes what there is."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import fitting, journal
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like

ROOT = Path(__file__).parent.parent
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}


def write(path: Path, rows: int, columns: int, count: int, seed: int = 0) -> Path:
    table = ratings_like(rows, columns, count, seed=seed)
    lines = [f"{r},{c},{v:g}" for r, c, v in zip(table.rows, table.cols, table.values, strict=True)]
    path.write_text("user,item,rating\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def factors(model: Path) -> dict[str, bytes]:
    with np.load(model / "factors.npz") as held:
        return {name: held[name].tobytes() for name in held.files}


class Killed(BaseException):
    """Stands in for SIGKILL where a whole process is not needed: nothing of ours catches it."""


def job(data: Path, out: Path, **said: object) -> fitting.Job:
    return fitting.Job(data, out, {"checkpoint": 0.0, "report": False, "tolerance": 1e-4, **said}, quiet=True)


def test_a_run_killed_at_any_step_ends_with_the_same_factors(tmp_path, monkeypatch):
    data = write(tmp_path / "r.csv", 60, 40, 900)
    fitting.complete(job(data, tmp_path / "whole", checkpoint=None))
    wanted = factors(tmp_path / "whole")
    written = journal.Journal.write
    steps = 0

    def counted(self, partial):
        nonlocal steps
        steps += 1
        written(self, partial)

    monkeypatch.setattr(journal.Journal, "write", counted)
    fitting.complete(job(data, tmp_path / "kept"))
    assert factors(tmp_path / "kept") == wanted
    assert steps > 10
    for last in range(1, steps + 1, 3):
        seen = 0

        def killed(self, partial, last=last):
            nonlocal seen
            seen += 1
            written(self, partial)
            if seen == last:
                raise Killed

        out = tmp_path / f"killed-{last}"
        monkeypatch.setattr(journal.Journal, "write", killed)
        with pytest.raises(Killed):
            fitting.complete(job(data, out))
        monkeypatch.setattr(journal.Journal, "write", written)
        assert not out.exists() and journal.folder_of(out).is_dir()
        fitting.resume(out, None, True, ())
        assert factors(out) == wanted
        assert not journal.folder_of(out).exists()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "spectraplex", *words]


def test_killed_with_signal_9_at_five_random_moments(tmp_path):
    data, out = write(tmp_path / "r.csv", 400, 300, 12_000), tmp_path / "model"
    options = ["--tolerance", "1e-5", "--no-report", "--quiet"]
    subprocess.run(command("complete", str(data), "-o", str(tmp_path / "whole"), *options), env=ENVIRONMENT, check=True)
    draw, kills = random.Random(0), 0
    words = ["complete", str(data), "-o", str(out), "--checkpoint", "0", *options]
    folder = journal.folder_of(out)
    for _ in range(5):
        before = sorted(folder.glob("*-*"))
        with subprocess.Popen(command(*words), env=ENVIRONMENT, stdout=subprocess.DEVNULL) as run:
            while run.poll() is None and sorted(folder.glob("*-*")) == before:
                time.sleep(0.002)  # until it has begun to write
            time.sleep(draw.random() * 0.3)
            run.send_signal(signal.SIGKILL)
        if out.exists():
            break
        kills += run.returncode == -signal.SIGKILL
        words = ["resume", str(out), "--quiet"]
    assert kills == 5
    subprocess.run(command("resume", str(out), "--quiet"), env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    assert factors(out) == factors(tmp_path / "whole")
    assert not list(tmp_path.glob(".*"))
