"""The command line beside fitting: progress, a test on values kept from the fit, and tables that are filled."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import spectraplex as sx
from spectraplex.cli import store, talk
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import NuclearNormImputer
from spectraplex.hooks import Hooks


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


# ------------------------------------------------------------------------------------------------------ progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def record(step: int, gap: float = math.inf, estimate: float = math.nan) -> sx.Record:
    return sx.Record(step, 0.1 * step, 50.0, gap, 50.0 - gap, estimate, 4, 9.0, "x", 1.0)


@pytest.fixture
def told(monkeypatch):
    """What a course of events says, three seconds from one to the next."""

    def listen(events, stream: io.StringIO | None = None, **options) -> list[str]:
        stream = io.StringIO() if stream is None else stream
        clock = iter(range(0, 1000, 3))
        monkeypatch.setattr(talk.time, "monotonic", lambda: float(next(clock, 1000)))
        monkeypatch.setattr(sys, "stderr", stream)
        with talk.StatusLine(**options) as progress:
            events(progress)
        return stream.getvalue().splitlines()

    return listen


def falling(progress):
    progress.begin("fitting with radius 5", sx.Stop(relative_gap=0.01, gap=1e-9))
    for step in range(1, 8):
        progress(record(step, math.inf if step < 3 else 50.0 * 0.5**step, 50.0 * 0.5**step), None)


def test_progress_says_value_gap_rank_and_time_left(told):
    plain = told(falling)
    assert plain[0].endswith("gap not yet certified, rank 4, 3 s so far")
    # half of the gap every three seconds: from 1/64 to 1/100 is log2(100/64) of that
    assert "step 6, value 50, certified gap 1.56 %, rank 4" in plain[5] and plain[5].endswith("about 2 s left")
    assert "certified gap 0.781 %" in plain[6] and "left" not in plain[6]
    assert told(falling, quiet=True) == []


def test_a_terminal_has_one_live_line_and_a_dumb_one_has_lines(told, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "rank 4" in "".join(told(falling, Terminal()))
    monkeypatch.setenv("TERM", "dumb")
    assert told(falling, Terminal()) == told(falling)


def test_a_walk_says_where_it_is_and_claims_no_time_left(told):
    def walk(progress):
        for radius, score in ((2, 0.9), (3, 0.8), (4, 0.85)):
            progress.begin(f"trying radius {radius}", sx.Stop(gap=1e-3, max_steps=6), False)
            for step in range(1, 5):
                progress(record(step, 50.0 * 0.5**step), None)
            progress.scored(f"radius {radius}", score)
        progress.begin("fitting with radius 3", sx.Stop(relative_gap=0.01))

    plain = told(walk, measure="held-out RMSE")
    assert not any("left" in line for line in plain)
    assert "best so far" not in plain[0]
    assert plain[4] == "radius 2: held-out RMSE 0.9"
    assert plain[5].startswith("trying radius 3: step 1") and plain[5].endswith("radius 2 with held-out RMSE 0.9")
    assert plain[9] == "radius 3: held-out RMSE 0.8, the best so far"
    assert plain[14] == "radius 4: held-out RMSE 0.85"
    assert plain[15:] == ["Chosen: radius 3, with held-out RMSE 0.8 the best of 3."]


# ------------------------------------------------------------------------------------------------------- --test


@pytest.fixture
def split(tmp_path) -> tuple[Path, Path]:
    """A file to fit and one to test with; the latter has a pair twice, and a person nobody has seen."""
    table = ratings_like(40, 30, 500, seed=0)
    lines = [f"{r},{c},{v:g}" for r, c, v in zip(table.rows, table.cols, table.values, strict=True)]
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text(
        "user,item,rating\n" + "\n".join(line for k, line in enumerate(lines) if k % 10) + "\n", encoding="utf-8"
    )
    turned = [",".join(reversed(line.split(","))) for line in [*lines[::10], lines[0], "stranger,3,4"]]
    test.write_text("rating,item,user\n" + "\n".join(turned) + "\n", encoding="utf-8")
    return train, test


def test_values_kept_from_the_fit_say_how_good_it_is(split, tmp_path):
    train, test = split
    words = ("complete", train, "-o", tmp_path / "m", "--radius", "9", "--test", test)
    facts = json.loads(run(*words, "--no-report", "--json").stdout)["test"]
    model = store.read(tmp_path / "m").model
    held = [(u, i, float(r)) for r, i, u in rows_of(test.read_text(encoding="utf-8"))[1:]]
    pairs, values = [(u, i) for u, i, _ in held], np.array([r for *_, r in held])
    assert facts["error"] == pytest.approx(np.sqrt(np.mean((model.predict(pairs) - values) ** 2)))
    mean = model.observations_.values.mean()
    assert facts["baselines"]["Global mean"] == pytest.approx(np.sqrt(np.mean((mean - values) ** 2)))
    assert facts["baselines"].keys() == {"Global mean", "Biases"} and facts["measure"] == "RMSE"
    assert (facts["observations"], facts["unseen"], facts["fitted_too"]) == (52, 1, 0)
    assert store.read(tmp_path / "m").document["test"] == facts
    line = next(line for line in run("info", tmp_path / "m").stdout.splitlines() if line.startswith("test"))
    assert "52 values of test.csv (global mean" in line
    assert json.loads(run("info", tmp_path / "m", "--json").stdout)["test"] == facts
    pytest.importorskip("jinja2")
    assert line in run(*words, "--force").stdout
    assert "stranger" in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")


def test_a_test_that_is_none_is_told(split, tmp_path):
    train, test = split
    words = ("complete", train, "-o", tmp_path / "m", "--radius", "9", "--no-report")
    assert "450 of its pairs were fitted, too" in run(*words, "--test", train).stderr
    assert "no.csv does not exist" in run(*words, "--force", "--test", tmp_path / "no.csv", code=2).stderr
    test.write_text("user,item,stars\n1,2,3\n", encoding="utf-8")
    assert "no column 'rating'" in run(*words, "--force", "--test", test, code=2).stderr
    test.write_text("user,item,rating\n1,2,x\n", encoding="utf-8")
    assert "line 2: the value 'x'" in run(*words, "--force", "--test", test, code=2).stderr


def test_a_test_may_be_of_another_kind_of_file(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = ratings_like(20, 15, 150, seed=0)
    train, test = tmp_path / "train.parquet", tmp_path / "test.csv"
    columns = {"user": table.rows.tolist(), "item": table.cols.tolist(), "rating": table.values.tolist()}
    pq.write_table(pa.table(columns), train)
    test.write_text(f"user,item,rating\n{table.rows[0]},{table.cols[0]},3\nx,1,2\n", encoding="utf-8")
    words = ("complete", train, "-o", tmp_path / "m", "--radius", "9", "--no-report", "--json", "--test", test)
    facts = json.loads(run(*words).stdout)["test"]
    assert (facts["unseen"], facts["fitted_too"]) == (1, 1)
    test.write_text("user,item,rating\nanna,1,3\n", encoding="utf-8")
    said = run(*words, "--force", code=2).stderr
    assert "test.csv: row labels are text such as 'anna', but the model was fitted with numbers" in said


# -------------------------------------------------------------------------------------------------------- impute


def test_impute_fills_holes_and_nothing_else(tmp_path):
    rng = np.random.default_rng(0)
    t = rng.standard_normal(60)
    values = np.column_stack([t, 2 * t, -t, t + 1]) + 0.01 * rng.standard_normal((60, 4))
    holes = rng.random(values.shape) < 0.15
    data, out = tmp_path / "w.csv", tmp_path / "full.csv"
    lines = [["name", "a", "b", "c", "d"]]
    for k in range(60):
        cells = ["" if holes[k, j] else f"{values[k, j]:.4f}0" for j in range(4)]
        lines.append([f"row, {k}", *cells])
    with data.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    facts = json.loads(run("impute", data, "-o", out, "--json", "-q").stdout)
    assert facts["filled"] == holes.sum() and "optimum" in facts["certificate"]
    told = rows_of(out.read_text(encoding="utf-8"))
    wrong = []
    for k, line in enumerate(told[1:]):
        assert line[0] == f"row, {k}"
        for j in range(4):
            if holes[k, j]:
                wrong.append(abs(float(line[j + 1]) - values[k, j]))
            else:
                assert line[j + 1] == lines[k + 1][j + 1]
    assert np.median(wrong) < 0.05
    assert rows_of(run("impute", data, "-q").stdout) == told


@pytest.fixture
def wide(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 1)) @ rng.standard_normal((1, 4)) + 0.1 * rng.standard_normal((40, 4))
    cells = [[f"{v:.3f}" if rng.random() > 0.2 else "" for v in line] for line in values]
    path = tmp_path / "wide.csv"
    path.write_text("a,b,c,d\n" + "\n".join(",".join(line) for line in cells) + "\n", encoding="utf-8")
    return path


def test_settings_of_impute_from_a_file_and_flags_win(wide, tmp_path):
    config, out = tmp_path / "s.toml", tmp_path / "out.csv"
    config.write_text('radius = 4\nneighbors = 0\nmetric = "learned"\nmax-iter = 300\nseed = 2\n', encoding="utf-8")
    words = ("impute", wide, "-o", out, "--json", "--config", config)
    facts = json.loads(run(*words).stdout)
    assert (facts["radius"], facts["neighbors"], facts["held_out_score"]) == (4.0, 0, None)
    facts = json.loads(run(*words, "--radius", "auto", "--neighbors", "5").stdout)
    assert facts["neighbors"] == 5 and facts["held_out_score"] > 0 and facts["seconds"].keys() == {"reading", "fitting"}
    config.write_text('loss = "huber"\n', encoding="utf-8")
    said = run(*words, code=2).stderr
    assert "'loss' is not known" in said and "neighbors" in said and "weighting" not in said
    config.write_text("neighbors = 1.5\n", encoding="utf-8")
    assert "neighbors must be a whole number or text, got 1.5" in run(*words, code=2).stderr
    assert "tol must be a positive number" in run("impute", wide, "--tolerance", "0", code=2).stderr


def test_impute_shows_how_it_goes(wide, monkeypatch):
    monkeypatch.setattr(talk, "_EVERY", 0.0)
    said = run("impute", wide).stderr.splitlines()
    assert any(line.startswith("trying 0 neighbours, radius ") and " value " in line for line in said)
    assert sum(line.startswith("Chosen: ") for line in said) == 1
    assert any(line.startswith("filling with ") and "rank" in line for line in said)
    assert run("impute", wide, "--quiet").stderr == ""


def test_ctrl_c_ends_impute_and_the_imputer(wide, tmp_path, monkeypatch):
    """Not the solve under way alone, of which there are many."""

    def pressed(*_):
        os.kill(os.getpid(), signal.SIGINT)

    holed = np.where(np.eye(12) > 0, np.nan, np.arange(144.0).reshape(12, 12) ** 0.5)
    with pytest.raises(KeyboardInterrupt):
        NuclearNormImputer()._fit(holed, None, Hooks(observers=(pressed,)))
    monkeypatch.setattr(talk.StatusLine, "__call__", pressed)
    ended = CliRunner().invoke(app, ["impute", str(wide), "-o", str(tmp_path / "out.csv")])
    assert ended.exit_code == 130 and "no result was written" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wide.csv"]
