"""The shell and fit_matrix with features; sentences for --time and impute where they would do harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from scipy.sparse import csr_matrix
from typer.testing import CliRunner

from spectraplex.cli import store
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion

FAST = ("--radius", "20", "--no-report")


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Ratings, and features of users and films in the order and under the names that somebody else gave them."""
    here, made = tmp_path_factory.mktemp("data"), ratings_like(40, 30, 600, seed=0)
    frame = pd.DataFrame({"user": made.rows, "film": made.cols, "stars": made.values, "day": np.arange(600)})
    frame.to_csv(here / "ratings.csv", index=False)
    rng = np.random.default_rng(0)
    users = {"age": rng.integers(18, 80, 42), "user": np.arange(42), "job": rng.choice(["cook", "nurse"], 42)}
    pd.DataFrame(users).sample(frac=1.0, random_state=0).to_csv(here / "users.csv", index=False)
    films = {"movie": np.arange(30), "title": [f"film {k}" for k in range(30)], "year": rng.integers(1950, 2000, 30)}
    pd.DataFrame(films).to_csv(here / "films.csv", sep=";", index=False)
    pd.DataFrame(films).rename(columns={"movie": "film"}).drop(columns="title").to_parquet(here / "films.parquet")
    return here


def test_the_shell_fits_with_features_as_python_does(folder, tmp_path):
    files = ("--row-features", folder / "users.csv", "--column-features", folder / "films.csv")
    done = run("complete", folder / "ratings.csv", "-o", tmp_path / "m", *files, *FAST)
    assert "users.csv: 2 features of 42 rows, labels from column 'user'." in done.stderr
    assert "films.csv: 1 features of 30 columns, labels from column 'movie'; left out, being names" in done.stderr
    model = store.read(tmp_path / "m").model
    frame = pd.read_csv(folder / "ratings.csv").astype({"user": str, "film": str})
    users = pd.read_csv(folder / "users.csv").astype({"user": str})
    films = pd.read_csv(folder / "films.csv", sep=";").astype({"movie": str}).set_index("movie")[["year"]]
    same = MatrixCompletion(20.0).from_frame(frame, "user", "film", "stars", row_features=users, column_features=films)
    assert model.feature_weights_["rows"].keys() == {"age", "job=cook", "job=nurse"}
    asked = [("41", "3"), ("7", "12"), ("40", "0")]  # two of these users have features and no observations
    np.testing.assert_allclose(model.predict(asked), same.predict(asked), rtol=1e-9)
    assert run("verify", tmp_path / "m", folder / "ratings.csv").exit_code == 0


def test_parquet_and_a_file_without_labels(folder, tmp_path):
    words = ("complete", folder / "ratings.csv", "-o", tmp_path / "m", *FAST)
    done = run(*words, "--column-features", folder / "films.csv", "--row-features", folder / "films.parquet", code=2)
    assert "--row-features needs a column 'user' with labels" in done.stderr
    (tmp_path / "other.csv").write_text("who,age\nanna,300\nben,400\n")
    done = run(*words, "--row-features", tmp_path / "other.csv", code=2)
    assert "no column of it holds row labels such as" in done.stderr and not (tmp_path / "m").exists()
    (tmp_path / "bare.csv").write_text("1,3\n2,4\n")
    done = run(*words, "--row-features", tmp_path / "bare.csv", code=2)
    assert "a first line that names the columns" in done.stderr
    done = run(*words, "--row-features", folder / "users.csv", "--cluster", "local", code=2)
    assert "--row-features is for one machine" in done.stderr


@pytest.mark.parametrize("form", ["frame", "array", "sparse"])
def test_fit_matrix_takes_features(form):
    rng = np.random.default_rng(1)
    age = rng.standard_normal(30)
    table = np.where(rng.random((30, 20)) < 0.5, np.nan, age[:, None] + 0.1 * rng.standard_normal((30, 20)))
    table[4] = np.nan
    given = {"frame": pd.DataFrame({"0": age}), "array": age[:, None], "sparse": csr_matrix(age[:, None])}[form]
    model = MatrixCompletion(radius=1.0).fit_matrix(table, row_features=given)
    plain = MatrixCompletion(radius=1.0).fit_matrix(table)
    assert abs(model.predict([(4, 3)])[0] - age[4]) < 0.3 < abs(plain.predict([(4, 3)])[0] - age[4])
    with pytest.raises(ValueError, match="labels and 3 lines"):
        MatrixCompletion(radius=1.0).fit_matrix(table, row_features=np.ones((3, 1)))


@pytest.mark.parametrize(("role", "words"), [("row", "row labels"), ("column", "column labels"), ("value", "values")])
def test_a_time_that_is_something_else_is_refused(folder, tmp_path, role, words):
    column = {"row": "user", "column": "film", "value": "stars"}[role]
    done = run("complete", folder / "ratings.csv", "-o", tmp_path / "m", f"--{role}", column, "--time", column, code=2)
    assert f"--time names the column with {words}" in done.stderr


def test_impute_does_not_replace_its_own_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,\n5,6\n7,8\n")
    for out in (path, tmp_path / "." / "table.csv"):
        done = run("impute", path, "-o", out, code=2)
        assert "is the table itself" in done.stderr and path.read_text().startswith("a,b\n1,2\n3,\n")
