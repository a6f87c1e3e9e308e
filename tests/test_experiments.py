"""The frame of the experiments: kept, resumable, the same on any number of processes, judged from raw results."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spectraplex.experiments import data, document, runner
from spectraplex.experiments.__main__ import main
from spectraplex.experiments.claims import Claim, in_short, missed
from spectraplex.experiments.document import Document, Run, read
from spectraplex.experiments.figure1 import read as figure1_read
from spectraplex.experiments.figure1 import run as figure1
from spectraplex.experiments.figure1 import words as figure1_report
from spectraplex.experiments.steps import words as steps_report

pytestmark = pytest.mark.slow


@pytest.fixture
def few(monkeypatch):
    """Four curves of the miniature instead of all of it."""
    chosen = [task for task in figure1.tasks(quick=True) if task.settings.get("seed") == 0 and "60 " in task.key][:4]
    assert len(chosen) == 4
    monkeypatch.setattr(figure1, "tasks", lambda quick=False: chosen)
    return chosen


def _numbers(done):
    return [{name: value for name, value in run.outcome.items() if name != "seconds"} for run in done.runs]


def test_results_do_not_depend_on_the_number_of_processes(few, tmp_path):
    one = runner.run("figure1", tmp_path / "one", quick=True, workers=1, stream=io.StringIO())
    two = runner.run("figure1", tmp_path / "two", quick=True, workers=2, stream=io.StringIO())
    assert _numbers(one) == _numbers(two)
    assert [run.key for run in one.runs] == [task.key for task in few]


def test_finished_runs_are_kept_and_damaged_or_outdated_ones_done_again(few, tmp_path, monkeypatch):
    first = runner.run("figure1", tmp_path, quick=True, workers=1, stream=io.StringIO())
    files = sorted((tmp_path / "runs" / "figure1-quick").iterdir())
    files[0].write_text(files[0].read_text()[:100])
    said = io.StringIO()
    again = runner.run("figure1", tmp_path, quick=True, workers=1, stream=said)
    assert "3 finished runs are kept, 1 to go" in said.getvalue()
    assert _numbers(again) == _numbers(first)
    monkeypatch.setattr(runner, "versions", lambda name: {"solver": "another"})
    folder = tmp_path / "runs" / "figure1-quick"
    assert runner._kept(folder, few[0], runner.versions("figure1")) is None
    assert runner._kept(folder, few[0], runner.versions("figure1"), outdated=True)["outcome"]["values"]
    mixed = runner.run("figure1", tmp_path, quick=True, workers=1, stream=io.StringIO(), outdated=True)
    assert _numbers(mixed) == _numbers(first)
    assert mixed.versions["solver"] == ", ".join(sorted(["another", first.versions["solver"]]))


def _started(out, finished):
    """The miniature in a process of its own, once so many of its runs are finished."""
    command = [sys.executable, "-m", "spectraplex.experiments", "figure1", "--quick", "--out", str(out)]
    process = subprocess.Popen([*command, "--workers", "1"], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while len(list((out / "runs" / "figure1-quick").glob("[!.]*.json"))) < finished:
        assert process.poll() is None
        time.sleep(0.02)
    return process


def test_a_run_killed_with_9_leaves_whole_files_and_no_workers_behind(tmp_path):
    with _started(tmp_path, finished=2) as process:
        process.kill()
    folder = tmp_path / "runs" / "figure1-quick"
    for path in folder.glob("[!.]*.json"):
        assert json.loads(path.read_text())["outcome"]
    deadline = time.monotonic() + 30
    while _processes_about(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _processes_about(str(tmp_path))
    tasks = figure1.tasks(quick=True)
    kept = [task for task in tasks if runner._kept(folder, task, document.versions("figure1")) is not None]
    assert len(kept) >= 2


def _processes_about(words):
    """Command lines are enough: workers are spawned by a command line of ours, in a session of ours."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((folder / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [line for line in found if words in line]


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    with _started(tmp_path, finished=1) as process:
        os.kill(process.pid, signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()  # else leaving the block would wait for one that does not end
    assert process.returncode == 130
    assert "the same command goes on" in said.decode()
    assert "Traceback" not in said.decode()


# ---------------------------------------------------------------------------------------------------- the whole way


def test_the_miniature_from_command_to_page(tmp_path, capsys):
    out = tmp_path / "results"
    assert main(["figure1", "--quick", "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "ROR-CG adaptive" in told.out and "GENERATED" in told.out
    pictures = {f"figure1{of}.{kind}" for of in ("", "-centred", "-seconds", "-atoms") for kind in ("png", "pdf")}
    written = {path.name for path in out.iterdir() if path.is_file()}
    assert written == pictures | {"figure1.json", "figure1.csv", "figure1.md"}
    done = read(out / "figure1.json")
    assert done.quick and done.versions["numpy"] == np.__version__
    assert all(run.settings.get("source") == data.GENERATED for run in done.runs)
    curve = done.find(kind="curve", method="cg")[0].outcome
    assert len(curve["values"]) == len(curve["products"]) == 20
    assert np.all(np.diff(curve["values"]) <= 1e-9 * curve["values"][0])
    for run in done.find(kind="curve"):
        reference = done.find(kind="reference", radius=run.settings["radius"], centred=run.settings["centred"])[0]
        assert run.outcome["values"][-1] >= reference.outcome["lower_bound"] * (1 - 1e-12)
        assert run.outcome["gap"] >= run.outcome["values"][-1] - reference.outcome["value"] - 1e-6
    lines = (out / "figure1.csv").read_text().splitlines()
    assert lines[0].startswith("data,source,radius") and len(lines) == 1 + 20 * 10 * 4

    assert main(["check", str(out)]) == 0
    assert "not judged" in capsys.readouterr().out
    assert main(["page", str(out), "--out", str(tmp_path / "docs")]) == 0
    page = (tmp_path / "docs" / "reproduction.md").read_text()
    assert page.index("## What holds") < page.index("- **figure1** (a miniature): ") < page.index("## Figure 1")
    assert "A miniature" in page and "GENERATED" in page and (tmp_path / "docs" / "figure1.png").exists()

    # again: everything is kept, nothing is computed, the same document
    before = (out / "figure1.json").read_bytes()
    assert main(["figure1", "--quick", "--out", str(out)]) == 0
    assert "84 finished runs are kept, 0 to go" in capsys.readouterr().err
    assert (out / "figure1.json").read_bytes() == before


# ------------------------------------------------------------------------------------------------------- made-up runs


def _made_up(last, source=data.REAL):
    """Curves that fall to given last values on 100k at radius 2500."""
    setting = {"data": "100k", "source": source, "radius": 2500.0, "reading": "active", "centred": False}
    runs = [Run("reference", {"kind": "reference", **setting}, {"value": 10.0, "lower_bound": 10.0, "failure": 0.0})]
    for method, end in last.items():
        for seed in range(2):
            values = list(np.linspace(1000.0, end, 300))
            plain = list(range(1, 301))
            outcome = {"values": values, "products": plain, "seconds": plain, "atoms": plain, "gap": end - 10.0}
            settings = {"kind": "curve", **setting, "method": method, "seed": seed, "steps": 300}
            runs.append(Run(f"{method} {seed}", settings, outcome))
    return Document("figure1", False, {}, {}, tuple(runs))


def test_check_exits_with_1_on_a_miss_and_0_when_all_hold(tmp_path, capsys):
    good = {"cg": 60.0, "away": 70.0, "ror-adaptive": 11.9}
    path = tmp_path / "figure1.json"
    path.write_text(_made_up(good).as_json())
    assert main(["check", str(path)]) == 0
    path.write_text(_made_up(good | {"ror-adaptive": 12.1}).as_json())
    assert main(["check", str(path)]) == 1
    assert "MISSED" in capsys.readouterr().out
    assert [claim.holds for claim in figure1_report.claims(_made_up(good | {"away": 59.0}))] == [False, True]
    assert [claim.holds for claim in figure1_report.claims(_made_up(good, data.GENERATED))] == [None, None]


def test_a_slow_step_is_a_miss():
    outcome = {"steps": [1, 2], "atoms": [1, 2], "cg": [1.0, 1.0], "ror": [1.3, 1.0], "ror-greedy": [1.4, 1.7]}
    run = Run("100k 2500", {"data": "100k", "source": data.REAL, "radius": 2500.0}, outcome)
    claims = steps_report.claims(Document("steps", False, {}, {}, (run,)))
    assert [claim.holds for claim in claims] == [True, False]
    assert missed(claims) == [claims[1]]
    assert [claim.holds for claim in steps_report.claims(Document("steps", True, {}, {}, (run,)))] == [None, None]


def test_steps_are_timed_from_one_point_at_one_accuracy(tmp_path, capsys):
    assert main(["steps", "--quick", "--out", str(tmp_path), "--workers", "1"]) == 0
    assert "essentially identical" in capsys.readouterr().out
    (run,) = read(tmp_path / "steps.json").runs
    assert all(len(run.outcome[name]) == 2 and min(run.outcome[name]) > 0 for name in ("cg", "ror", "ror-greedy"))
    assert min(run.outcome["accuracy"]) > 0
    assert (tmp_path / "steps.pdf").exists() and len((tmp_path / "steps.csv").read_text().splitlines()) == 3


def test_statements_of_the_paper_are_never_misses():
    assert missed([Claim("here", "this", "that", False, ours=False), Claim("here", "this", "that", None)]) == []


def test_crossing_is_where_a_curve_stays_below():
    def curve(values):
        flat = np.zeros((1, len(values)))
        return figure1_read.Curves("cg", np.array([values]), flat, flat, flat, np.zeros(1))

    level = curve([5.0, 5.0, 5.0, 5.0])
    assert figure1_read.crossing(curve([6.0, 4.0, 6.0, 4.0]), level) == 4
    assert figure1_read.crossing(curve([4.0, 4.0, 4.0, 4.0]), level) == 1
    assert figure1_read.crossing(curve([4.0, 4.0, 4.0, 5.0]), level) is None


def test_the_hybrid_method_is_given_no_more_products_than_cg():
    made = _made_up({"cg": 60.0, "away": 70.0, "ror-adaptive": 11.9, "hybrid": 20.0})
    hybrid = [
        replace(run, outcome=run.outcome | {"products": [2 * each for each in run.outcome["products"]]})
        if run.settings.get("method") == "hybrid"
        else run
        for run in made.runs
    ]
    made = replace(made, runs=tuple(hybrid))
    (setting,) = figure1_read.settings(made)
    found = figure1_read.curves(made, setting, "hybrid")
    assert found.products[0, -1] == 300 and found.values[0, -1] == pytest.approx(np.linspace(1000.0, 20.0, 300)[149])


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("{", "is not JSON"),
        ("[]", "holds no results"),
        ('{"experiment": "figure1", "schema": 9}', "has schema 9"),
        ('{"experiment": "figure1", "schema": 1}', "is damaged"),
        ('{"experiment": "x", "schema": 1, "quick": false, "versions": {}, "machine": {}, "runs": []}', "unknown"),
    ],
)
def test_bad_results_get_a_sentence(tmp_path, capsys, content, words):
    path = tmp_path / "figure1.json"
    if content is not None:
        path.write_text(content)
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and "figure1.json" in said


def test_an_empty_folder_and_a_file_in_the_way_get_a_sentence(tmp_path, capsys):
    assert main(["check", str(tmp_path)]) == 2
    assert "holds no results" in capsys.readouterr().err
    (tmp_path / "taken").write_text("")
    assert main(["figure1", "--quick", "--out", str(tmp_path / "taken")]) == 2
    assert "taken" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["figure9"], ["figure1", "--workers", "0"], []])
def test_a_wrong_command_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_an_error_in_a_run_names_the_run(few, tmp_path, monkeypatch):
    broken = [replace(few[0], settings=few[0].settings | {"method": "nothing"})]
    monkeypatch.setattr(figure1, "tasks", lambda quick=False: broken)
    with pytest.raises(runner.Failed, match="cg 0: KeyError"):
        runner.run("figure1", tmp_path, quick=True, workers=1, stream=io.StringIO())


def test_the_first_screen_names_what_does_not_hold():
    claims = [
        Claim("here", "A is small.", "1", True),
        Claim("there", "A is small.", "9", False, ours=False),
        Claim("here", "B is small", "9", False),
        Claim("there", "C is small", "", None),
    ]
    first, paper, missed_ = in_short(claims)
    assert first == "1 of 4 claims hold, 1 cannot be judged"
    assert paper == "does not hold: A is small; at there (it holds at one other)"
    assert missed_ == "MISSED: B is small; at here"
