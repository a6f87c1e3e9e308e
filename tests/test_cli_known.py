"""The shell: predict --interval, complete --time, complete --test SHARE."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import store
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    made = ratings_like(50, 40, 900, seed=0)
    days = np.random.default_rng(0).permutation(900)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")
    parts = {"day": day.strftime("%Y-%m-%d"), "user": made.rows, "film": made.cols, "stars": made.values, "n": days}
    return pd.DataFrame(parts)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory, frame) -> Path:
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory, ratings) -> Path:
    out = tmp_path_factory.mktemp("models") / "model"
    done = run("complete", ratings, "-o", out, "--time", "day", "--value", "stars")
    assert "rows from 'user', columns from 'film', values from 'stars'" in done.stderr
    return out


def test_intervals_are_columns(model, ratings, tmp_path, frame):
    found = list(csv.DictReader(io.StringIO(run("predict", model, ratings, "--interval", "0.9").stdout)))
    assert list(found[0])[-3:] == ["prediction", "lower", "upper"]
    low, high = (np.array([float(line[name]) for line in found]) for name in ("lower", "upper"))
    fitted = store.read(model).model
    pairs = [(str(user), str(film)) for user, film in zip(frame.user, frame.film, strict=True)]
    _, lower, upper = fitted.predict(pairs, interval=0.9)
    assert np.allclose(low, lower, rtol=0, atol=1e-5) and np.allclose(high, upper, rtol=0, atol=1e-5)
    told = json.loads(run("predict", model, ratings, "--interval", "0.5", "--json").stdout)
    assert told[0]["lower"] <= told[0]["prediction"] <= told[0]["upper"]
    text = run("predict", model, ratings, "--interval", "0.9", "--decimal", ",").stdout
    assert all(field.count(",") == 1 for field in text.splitlines()[1].split(";")[-3:])
    assert "between 0 and 1 such as 0.9, got 90" in run("predict", model, ratings, "--interval", "90", code=2).stderr


@pytest.mark.parametrize("column", ["day", "n"])
def test_the_latest_choose_the_radius(model, ratings, tmp_path, frame, column):
    if column == "n":
        run("complete", ratings, "-o", tmp_path / "m", "--time", "n", "--value", "stars", "--no-report")
    here = store.read(tmp_path / "m" if column == "n" else model).model
    other = MatrixCompletion().fit(
        np.column_stack([frame.user.astype(str), frame.film.astype(str)]).astype(object), frame.stars, time=frame.n
    )
    assert here.radius_ == pytest.approx(other.radius_, rel=1e-9) and here.latest_.sum() == other.latest_.sum() == 90
    if column == "day":
        assert "of the pairs, the latest, was kept aside" in (model / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("timed", [True, False])
def test_a_share_is_kept_as_a_test(ratings, tmp_path, frame, timed):
    more = ("--time", "day") if timed else ()
    done = run("complete", ratings, "-o", tmp_path / "m", *more, "--value", "stars", "--test", "0.2", "--radius", "5")
    words = "20 % of the pairs, " + ("the latest" if timed else "chosen at random")
    assert f"180 values are kept from the fit as a test: {words}." in done.stderr
    assert words in done.stdout
    assert f"were held out, {words}: the fit did not see them" in (tmp_path / "m" / "report.html").read_text("utf-8")
    fitted = store.read(tmp_path / "m").model
    assert len(fitted.observations_) == 720
    if timed:
        late = frame.n >= 720
        pairs = np.column_stack([frame.user.astype(str), frame.film.astype(str)]).astype(object)
        error = np.sqrt(np.mean((fitted.predict(pairs[late]) - frame.stars[late]) ** 2))
        facts = json.loads(run("info", tmp_path / "m", "--json").stdout)["test"]
        assert facts["error"] == pytest.approx(error, rel=1e-9) and facts["kept"] == words
    assert "holds" in run("verify", tmp_path / "m").stdout


def test_times_of_parquet_and_with_lines_left_out(frame, tmp_path):
    holes = frame.assign(stars=frame.stars.where(frame.n != 899))  # the latest has no value
    holes.to_parquet(tmp_path / "r.parquet")
    holes.to_csv(tmp_path / "r.csv", index=False)
    fast = ("--value", "stars", "--drop-empty", "--no-report", "--radius", "5")
    found = []
    for name, column in (("r.parquet", "n"), ("r.csv", "day")):
        run("complete", tmp_path / name, "-o", tmp_path / f"m {name}", "--time", column, *fast)
        found.append(store.read(tmp_path / f"m {name}").model)
    kept = [
        {(str(m.row_labels_.values[r]), str(m.column_labels_.values[c])) for r, c in zip(s.rows, s.cols, strict=True)}
        for m in found
        for s in [m.observations_.part(m.latest_)]
    ]
    assert kept[0] == kept[1] and len(kept[0]) == 90


def test_a_file_kept_as_a_test_needs_no_times(ratings, frame, tmp_path):
    frame[["user", "film", "stars"]].head(50).to_csv(tmp_path / "test.csv", index=False)
    fast = ("--value", "stars", "--no-report", "--radius", "5")
    done = run("complete", ratings, "-o", tmp_path / "m", "--time", "day", "--test", tmp_path / "test.csv", *fast)
    assert "50 values of test.csv" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--time", "when"), "has no column 'when' (--time)"),
        (("--time", "film"), "no column is left"),
        (("--time", "day", "--matrix"), "--time names a column of a file with one observation a line"),
        (("--test", "1.5"), "--test is a file, or a share of the values between 0 and 1 such as 0.1, got 1.5"),
        (("--time", "kind"), "--time kind[0] is 'a', which is neither a number nor a date"),
        (("--time", "day", "--cluster", "local"), "--time is for one machine"),
    ],
)
def test_bad_times_and_shares(words, told, frame, tmp_path):
    data = frame[["user", "film", "stars"]] if words[1] == "film" else frame.assign(kind="a")
    data = data.assign(kind=0.5) if "--matrix" in words else data
    if "--matrix" in words:
        data = pd.DataFrame(np.eye(5), columns=["day", *"abcd"])
    data.to_csv(tmp_path / "r.csv", index=False)
    assert told in run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", "--radius", "5", *words, code=2).stderr
