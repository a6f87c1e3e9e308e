"""The comparison of predictions with other tools: splits, choosing, pairs of times, the table and its page."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from spectraplex.estimators import MatrixCompletion

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import ratings as our_ratings  # noqa: E402
from benchmarks.peers import __main__ as command  # noqa: E402
from benchmarks.peers.common import machine  # noqa: E402
from benchmarks.peers.ratings import child, page, run, tables, tools, verdict  # noqa: E402


class Constant:
    """A tool that predicts one number; it remembers what it was given."""

    THREADED = False

    def __init__(self) -> None:
        self.given: list[np.ndarray] = []
        self.fitted: list[float] = []

    def prepare(self, train):
        self.given.append(train.values)
        return train.values

    def fit(self, data, setting, threads):
        assert threads == 2
        self.fitted.append(setting["constant"])
        return setting["constant"]

    def predict(self, model, rows, cols):
        return np.full(rows.size, model)


def task(*constants: float) -> dict:
    settings = [{"constant": constant} for constant in constants]
    return {"set": "quick", "split": "random", "settings": settings, "threads": 2}


def test_one_setting_is_fitted_to_all_training_ratings_and_its_predictions_are_clipped():
    tool, (train, test) = Constant(), tables.load("quick", "random")
    (found,) = child.run(task(7.0), tool)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((5.0 - test.values) ** 2)))
    assert found["chosen"] == {"constant": 7.0} and found["tuning_seconds"] is None
    assert [len(values) for values in tool.given] == [900, len(train.values)]  # the throw-away fit, then the fit


def test_a_grid_is_chosen_from_on_training_ratings_alone():
    tool, (train, test) = Constant(), tables.load("quick", "random")
    best = float(np.round(train.values.mean(), 1))
    (found,) = child.run(task(1.0, best, 5.0), tool)
    assert found["chosen"] == {"constant": best} and found["tuning_seconds"] >= 0.0
    assert tool.fitted == [5.0, 1.0, best, 5.0, best]  # thrown away, three candidates, the fit
    assert [len(values) for values in tool.given] == [900, int(0.9 * len(train.values)), len(train.values)]
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((best - test.values) ** 2)))


def test_a_tool_may_choose_by_itself():
    tool = Constant()
    tool.tune = lambda data, name: (3.0, {"constant": 3.0}, 11.0, 0.5)
    (found,) = child.run(task(1.0, 2.0), tool)
    assert (found["tuning_seconds"], found["seconds"], found["chosen"]) == (11.0, 0.5, {"constant": 3.0})


def test_the_inner_split_shares_the_training_ratings_out():
    train = SimpleNamespace(rows=np.arange(50), cols=np.arange(50) % 7, values=np.ones(50))
    part, rest = tables.inner(train)
    assert len(part.rows) == 45 and sorted([*part.rows, *rest.rows]) == list(range(50))
    assert (np.diff(part.rows) > 0).all()  # the order is that of the training ratings
    assert all((tables.inner(train)[k].rows == half.rows).all() for k, half in enumerate((part, rest)))


def test_a_prediction_that_is_no_number_is_not_clipped_away():
    with pytest.raises(ValueError, match="1 of 2 predictions"):
        tables.error(np.array([3.0, np.nan]), SimpleNamespace(values=np.ones(2)))


@pytest.mark.parametrize("name", tables.SETS)
def test_rows_of_every_tool(name):
    rows = {(tool, row.name): row for tool in tools.names() for row in tools.tool(tool).rows(name)}
    assert {key for key, row in rows.items() if row.timed} == {("surprise", "svd"), ("ours", "given")}
    assert {key for key, row in rows.items() if row.long} == ({("surprise", "svdpp")} if name == "1m" else set())
    for (_, row_name), row in rows.items():
        assert (len(row.settings) > 1) == row_name.endswith("tuned")
        assert json.loads(json.dumps(row.settings)) == list(row.settings)
    assert list(dict.fromkeys(tool for tool, _ in rows))[-1] == "ours"


def test_our_own_row_is_the_search_of_our_own_benchmark(monkeypatch):
    ours, train = tools.tool("ours"), tables.small()
    data = ours.prepare(train)
    quick = GridSearchCV(MatrixCompletion(radius=20.0), {"implicit": [0.0, 0.5]}, cv=2)  # the real one takes a minute
    monkeypatch.setattr(our_ratings, "search", lambda: quick)
    model, chosen, choosing, fitting = ours.tune(data, "100k")
    assert model is quick and chosen == quick.best_params_ and choosing > 0.0 and fitting > 0.0
    assert tables.error(ours.predict(model, train.rows, train.cols), train) < train.values.std()


class Processes:
    """Instead of processes: every task is answered at once, and remembered."""

    def __init__(self) -> None:
        self.done: list[tuple] = []
        self.broken: set[str] = set()

    def __call__(self, arguments, task, threads, timeout):
        assert arguments == ["ratings", "child"]
        self.done.append((task["set"], task["split"], task["tool"], task["row"], task["repeat"]))
        if task["row"] in self.broken:
            return {"status": "failed", "message": "broken"}
        tuning = 3.0 if len(task["settings"]) > 1 else None
        found = {"rmse": 0.9, "seconds": 1.0, "chosen": task["settings"][0], "tuning_seconds": tuning}
        return {"status": "done", "message": "", "peak_mb": 10.0, "warm_up_seconds": 0.1, **found}


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(run, "in_child", fake := Processes())
    known = {"title": "some", "shape": [3, 2], "observed": 5}
    monkeypatch.setattr(tables, "known", lambda name: known | {"splits": list(tables.SETS[name].splits)})
    return fake


def test_those_whose_times_are_compared_run_beside_each_other(tmp_path, processes):
    run.run(run.Plan(tmp_path, ("100k", "1m"), ("surprise", "ours")))
    places = {key: place for place, key in enumerate(processes.done)}
    svd = [key for key in processes.done if key[2:4] == ("surprise", "svd")]
    assert [key[:2] + key[4:] for key in svd] == [("100k", f"u{k}", 0) for k in range(1, 6)] + [
        ("1m", "random", k) for k in range(3)
    ]
    for set_name, split, _, _, repeat in svd:
        apart = places[set_name, split, "ours", "given", repeat] - places[set_name, split, "surprise", "svd", repeat]
        assert abs(apart) == 1
    assert len(processes.done) == 5 * 7 + 6 + 2 * 2  # SVD++ on 1M only when asked for
    assert ("1m", "random", "surprise", "svdpp", 0) not in processes.done
    assert ("1m", "random", "surprise", "svdpp", 0) in [
        tuple(each[key] for key in ("set", "split", "tool", "row", "repeat"))
        for each in run.tasks_of(run.Plan(tmp_path, ("1m",), ("surprise",), long=True), "1m")
    ]


def test_a_killed_comparison_goes_on_and_pairs_stay_whole(tmp_path, processes):
    plan = run.Plan(tmp_path, ("100k",), ("surprise", "ours"))
    processes.broken = {"baseline"}
    first = run.run(plan)
    assert json.loads((tmp_path / "ratings.json").read_text(encoding="utf-8")) == json.loads(json.dumps(first))
    assert sum(each["status"] == "failed" for each in first["runs"]) == 5
    (tmp_path / "runs" / "100k--u2--surprise-svd--0.json").unlink()
    (tmp_path / "runs" / "100k--u3--ours-auto--0.json").unlink()
    processes.done, processes.broken = [], set()
    second = run.run(plan)
    pair = [("100k", "u2", tool, row, 0) for tool, row in (("surprise", "svd"), ("ours", "given"))]
    failed = [("100k", f"u{k}", "surprise", "baseline", 0) for k in range(1, 6)]
    assert sorted(processes.done) == sorted([*pair, *failed, ("100k", "u3", "ours", "auto", 0)])
    assert all(each["status"] == "done" for each in second["runs"])


def test_other_grids_and_other_threads_are_other_runs(tmp_path, processes, monkeypatch):
    run.run(run.Plan(tmp_path, ("1m",), ("libmf",)))
    module, processes.done = tools.tool("libmf"), []
    run.run(run.Plan(tmp_path, ("1m",), ("libmf",)))
    assert processes.done == []
    monkeypatch.setattr(module, "_l2", lambda *numbers: {"k": 3, "lambda_p2": numbers[-1]})
    run.run(run.Plan(tmp_path, ("1m",), ("libmf",)))
    assert [key[3] for key in processes.done] == ["mf-tuned"]
    run.run(run.Plan(tmp_path, ("1m",), ("libmf",), threads=1))
    assert [key[3] for key in processes.done] == ["mf-tuned", "mf", "mf-tuned"]
    only = run.run(run.Plan(tmp_path, ("1m",), ("libmf", "cornac"), threads=1, only_kept=True))
    assert [each["tool"] for each in only["runs"]] == ["libmf", "libmf"] and len(processes.done) == 3


def document() -> dict:
    """Two splits of one set, one of another, numbers chosen by hand; a tool that is not there."""

    def entry(name, split, tool, row, rmse, seconds, **more):
        common = {"repeat": 0, "title": f"{tool} {row}", "settings": [{}], "threads": 2, "threaded": tool == "ours"}
        common |= {"status": "done", "message": "", "chosen": {}, "tuning_seconds": None, "peak_mb": 40.0}
        place = ["baseline", "svd", "mf", "auto", "given", "tuned"].index(row)
        shown = {"set": name, "split": split, "tool": tool, "row": row, "place": place, "rmse": rmse}
        return {**common, **shown, "seconds": seconds, "warm_up_seconds": 1.0, **more}

    tuned = {"settings": [{"implicit": 0.0}, {"implicit": 0.5}], "tuning_seconds": 30.0}
    sets = {"100k": ["u1", "u2"], "1m": ["random"]}
    known = {"shape": [1000, 800], "observed": 12345}
    return {
        "format": 1,
        "kind": "ratings",
        "machine": machine(2, run.PACKAGES),
        "sets": {name: {"title": f"set {name}", "splits": splits, **known} for name, splits in sets.items()},
        "runs": [
            entry("100k", "u1", "surprise", "svd", 0.95, 1.0),
            entry("100k", "u1", "ours", "given", 0.92, 0.5),
            entry("100k", "u1", "ours", "auto", 0.92, 5.0),
            entry("100k", "u1", "ours", "tuned", 0.91, 6.0, chosen={"implicit": 0.5}, **tuned),
            entry("100k", "u1", "libmf", "mf", None, None, status="missing", message="No module named 'libmf'"),
            entry("100k", "u2", "surprise", "svd", 0.93, 1.0),
            entry("100k", "u2", "ours", "given", 0.90, 0.7),
            entry("100k", "u2", "ours", "auto", 0.90, 7.0),
            entry("100k", "u2", "ours", "tuned", 0.908, 8.0, chosen={"implicit": 0.0}, **tuned),
            *(
                entry("1m", "random", tool, row, 0.85, seconds, repeat=repeat)
                for repeat, times in enumerate(((8.0, 4.0), (2.0, 4.0), (6.0, 4.0)))
                for tool, row, seconds in zip(("ours", "surprise"), ("given", "svd"), times, strict=True)
            ),
        ],
    }


def test_verdict():
    results = document()
    lines = {line.row: line for line in verdict.lines_of(results, "100k")}
    assert list(lines) == ["svd", "mf", "auto", "given", "tuned"]  # as in the table, not as they ran
    assert lines["auto"].rmse == pytest.approx(0.91) and lines["svd"].cells(2) == [
        "0.9400",
        "1.00 s",
        "",
        "",
        "40 MB",
        "1",
    ]
    assert lines["tuned"].cells(2) == ["0.9090", "7.00 s", "2 settings", "30 s", "40 MB", "2"]
    assert verdict.pairs(results, "1m") == [2.0, 0.5, 1.5]
    met = [met for _, _, met in verdict.targets(results)]
    assert met == [True, False, None, None, True, False]  # 0.91, 0.909, not run twice, 0.6, 1.5
    report = "\n".join(verdict.report(results))
    assert "1.50 (0.50 … 2.00 in 3 pairs)" in report and "MISSED" in report
    assert "missing: No module named 'libmf'" in report and "chosen: implicit 0.5; implicit 0" in report
    results["runs"] = [each for each in results["runs"] if each["split"] != "u2"]
    assert next(verdict.targets(results))[2] is None  # half of the splits decide nothing
    assert "0.9200 (1 of 2 splits)" in "\n".join(verdict.report(results))


def test_page_and_targets_know_which_comparison_they_read(tmp_path, capsys):
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps(document()), encoding="utf-8")
    assert command.main(["page", str(path), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "peers-ratings.md")
    text = (tmp_path / "peers-ratings.md").read_text(encoding="utf-8")
    assert text == "\n".join(page.lines(document())) + "\n"
    assert "12,345 ratings, 1,000 × 800" in text and "| surprise svd | 0.9400 | 1.00 s |" in text
    assert "| **MISSED** | 100k: MatrixCompletion, tuned" in text and "- ours tuned: implicit 0.5; implicit 0" in text
    assert command.main(["targets", str(path)]) == 0
    assert "met    100k: MatrixCompletion, nothing set" in capsys.readouterr().out


def test_data_that_is_not_here_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPECTRAPLEX_DATA", str(tmp_path))
    found = run.run(run.Plan(tmp_path / "out", ("100k",), ("libmf",)))
    assert found["runs"] == [] and "100k: left out" in capsys.readouterr().out


@pytest.mark.slow
def test_a_tool_that_is_not_there_stops_nothing(tmp_path):
    found = run.run(run.Plan(tmp_path, ("quick",), ("libmf",)))
    there = importlib.util.find_spec("libmf") is not None
    assert [each["status"] for each in found["runs"]] == ["done" if there else "missing"] * 2


TOOLS = ("surprise", "lenskit", "libmf", "cornac")


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in TOOLS), reason="the other tools are not installed"
)
def test_smoke(tmp_path):
    assert command.main(["ratings", "--quick", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "ratings.json").read_text(encoding="utf-8"))
    assert {each["tool"] for each in found["runs"]} == set(tools.names())
    assert all(each["status"] == "done" and 0.9 < each["rmse"] < 1.1 for each in found["runs"])
