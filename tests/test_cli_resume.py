"""Checkpoints: a run that was killed ends with the very factors of one that was not; Ctrl-C writes what there is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import complete as fitting
from spectraplex.cli import journal
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


@pytest.mark.parametrize(
    "said", [pytest.param({}, marks=pytest.mark.slow), {"radius": 60.0, "implicit": 0.5}], ids=["auto", "given"]
)
def test_a_run_killed_at_any_step_ends_with_the_same_factors(tmp_path, monkeypatch, said):
    data = write(tmp_path / "r.csv", 40, 30, 500)
    fitting.complete(job(data, tmp_path / "whole", **said, checkpoint=None))
    wanted = factors(tmp_path / "whole")
    written = journal.Journal.write
    steps = 0

    def counted(self, partial):
        nonlocal steps
        steps += 1
        written(self, partial)

    monkeypatch.setattr(journal.Journal, "write", counted)
    fitting.complete(job(data, tmp_path / "kept", **said))
    assert factors(tmp_path / "kept") == wanted
    assert steps > (2 if said else 10)
    for last in range(1, steps + 1, 2 if said else 7):
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
            fitting.complete(job(data, out, **said))
        monkeypatch.setattr(journal.Journal, "write", written)
        assert not out.exists() and journal.folder_of(out).is_dir()
        fitting.resume(fitting.unfinished(out, None, True, ()))
        assert factors(out) == wanted
        assert not journal.folder_of(out).exists()


DRIVER = """
import os, random, signal, sys, time
from pathlib import Path
from spectraplex.cli.app import app

data, out, whole = sys.argv[1:]
folder, draw = Path(out + ".checkpoint"), random.Random(0)
options = ["--tolerance", "1e-5", "--no-report", "--quiet"]

def child(*words):
    pid = os.fork()
    if pid == 0:
        try:
            app(list(words), standalone_mode=False)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(9)
        os._exit(0)
    return pid

app(["complete", data, "-o", whole, *options], standalone_mode=False)
words = ["complete", data, "-o", out, "--checkpoint", "0", *options]
for _ in range(5):
    pid, writes, before = child(*words), draw.randrange(1, 4), None
    while writes >= 0 and os.waitpid(pid, os.WNOHANG) == (0, 0):
        now = sorted(path.name for path in folder.glob("[ps]*-*"))
        if now != before:
            before, writes = now, writes - 1
        time.sleep(0.001)
    time.sleep(0.02 * draw.random())
    os.kill(pid, signal.SIGKILL)
    print("killed", os.WTERMSIG(os.waitpid(pid, 0)[1]), flush=True)
    words = ["resume", out, "--quiet"]
print("ended", os.waitpid(child(*words), 0)[1], flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_with_signal_9_at_five_random_moments(tmp_path):
    """Every run is a process of its own; the driver forks them, so that what they import is imported once."""
    data, out, whole = write(tmp_path / "r.csv", 120, 90, 2_000), tmp_path / "model", tmp_path / "whole"
    words = [sys.executable, "-c", DRIVER, str(data), str(out), str(whole)]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith(("killed", "ended"))]
    assert said == ["killed 9"] * 5 + ["ended 0"], done.stderr
    assert factors(out) == factors(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "r.csv", "whole"]


def test_ctrl_c_writes_what_there_is_and_resume_goes_on(tmp_path, monkeypatch):
    data, out = write(tmp_path / "r.csv", 40, 30, 500), tmp_path / "model"
    fitting.complete(job(data, tmp_path / "whole", checkpoint=None))
    keep, seen = journal.Journal.keep, 0

    def pressed(self, result):
        nonlocal seen
        seen += self.progress.phase.startswith(phase)
        if seen == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return keep(self, result)

    monkeypatch.setattr(journal.Journal, "keep", pressed)
    words = ["complete", str(data), "-o", str(out), "--tolerance", "1e-4", "--no-report"]
    for phase in ("trying", "fitting"):  # noqa: B007
        seen = 0
        ended = CliRunner().invoke(app, [*words, "--force"])
        assert ended.exit_code == 130, ended.stderr
        assert "(interrupted)" in ended.stdout and "resume" in ended.stderr
        document = json.loads((out / "model.json").read_text(encoding="utf-8"))
        assert document["status"] == "interrupted"
        assert float.fromhex(document["certificate"]["gap"]) < float("inf")
        assert CliRunner().invoke(app, ["verify", str(out), str(data)]).exit_code == 0
        assert "nothing" not in CliRunner().invoke(app, ["info", str(out)]).stderr.lower()
    fitting.resume(fitting.unfinished(out, None, True, ()))
    assert factors(out) == factors(tmp_path / "whole")
    ended = CliRunner().invoke(app, ["resume", str(out)])
    assert ended.exit_code == 2 and "is finished" in ended.stderr


def test_a_checkpoint_of_other_data_is_refused(tmp_path, monkeypatch):
    data, out = write(tmp_path / "r.csv", 30, 20, 300), tmp_path / "model"
    written = journal.Journal.write

    def killed(self, partial):
        written(self, partial)
        raise Killed

    monkeypatch.setattr(journal.Journal, "write", killed)
    with pytest.raises(Killed):
        fitting.complete(job(data, out))
    monkeypatch.undo()
    folder = journal.folder_of(out)
    again = CliRunner().invoke(app, ["complete", str(data), "-o", str(out), "--no-report"])
    assert again.exit_code == 2 and "unfinished run" in again.stderr and folder.is_dir()
    moved = data.rename(tmp_path / "moved.csv")
    gone = CliRunner().invoke(app, ["resume", str(out)])
    assert gone.exit_code == 2 and "--data FILE says where the data are now" in gone.stderr
    moved.unlink()
    write(data, 30, 20, 300, seed=1)
    other = CliRunner().invoke(app, ["resume", str(out)])
    assert other.exit_code == 2 and "not the data that the checkpoint is of" in other.stderr
    # the file itself may be the right one, and what was kept of a solve be of another
    write(data, 30, 20, 300)
    document = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
    document["said"]["weighting"] = "plain"
    (folder / "checkpoint.json").write_text(json.dumps(document), encoding="utf-8")
    other = CliRunner().invoke(app, ["resume", str(folder)])
    assert other.exit_code == 2 and "of other data" in other.stderr
    (next(folder.glob("partial-*")) / "result.npz").write_bytes(b"PK\3\4 no")
    damaged = CliRunner().invoke(app, ["resume", str(out)])
    assert damaged.exit_code == 2 and "damaged" in damaged.stderr
    assert not out.exists()
    (folder / "checkpoint.json").write_text("{", encoding="utf-8")
    damaged = CliRunner().invoke(app, ["resume", str(out)])
    assert damaged.exit_code == 2 and "damaged" in damaged.stderr
    shutil.rmtree(folder)
    nothing = CliRunner().invoke(app, ["resume", str(out)])
    assert nothing.exit_code == 2 and "nothing to resume" in nothing.stderr


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_run(tmp_path, monkeypatch):
    data, out = write(tmp_path / "r.csv", 30, 20, 300), tmp_path / "model"

    def full(self, folder):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spectraplex.result.Result.save", full)
    words = ["complete", str(data), "-o", str(out), "--checkpoint", "0", "--no-report"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("goes on without") == 1
    assert (out / "model.json").is_file()
