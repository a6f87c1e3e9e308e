"""The command line on a cluster: files, workers of this machine, model folders in shards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spectraplex.cli import journal, store
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion import far_fit, store_shards
from spectraplex.tables.far import address, read_far
from spectraplex.tables.layout import Asked

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.slow


def told():
    table = ratings_like(40, 15, 300, seed=1)
    return pd.DataFrame({"user": [f"u{i}" for i in table.rows], "movie": table.cols, "rating": table.values})


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "ratings"
    folder.mkdir()
    for part in range(3):
        told()[part::3].to_parquet(folder / f"{part}.parquet")
    told().to_csv(tmp_path / "ratings.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def scheduler():
    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", **quiet) as made:
        yield made.scheduler_address


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", ["ratings/*.parquet", "ratings", "ratings.csv"])
def test_files_are_fitted_on_a_cluster(files, scheduler, name):
    out = files / "model"
    done = run("complete", files / name, "-o", out, "--cluster", scheduler, "--radius", "10", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["observations"] == len(told()) and facts["gap"] < 0.02 * facts["value"]
    assert run("verify", out).exit_code == 0
    here = MatrixCompletion(radius=10.0).from_frame(told(), "user", "movie", "rating")
    assert abs(here.certificate_.value - facts["value"]) <= here.certificate_.gap + facts["gap"]
    assert (out / "report.html").is_file()


def test_a_model_in_shards_is_a_folder_like_any_other(files, scheduler, monkeypatch):
    out, pairs = files / "model", files / "pairs.csv"
    pairs.write_text("user,movie\nu1,3\nu2,4\nnobody,5\nu7,9999\n")
    monkeypatch.setattr(far_fit, "_WHOLE", 0)
    done = run("complete", files / "ratings", "-o", out, "--cluster", scheduler, "--radius", "10")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == [
        "columns.npz",
        "model.json",
        "rows-00000.npz",
        "rows-00001.npz",
    ]
    model = store.read(out).model
    assert not hasattr(model, "U_") and model.shape_ == (40, 15)
    here = MatrixCompletion(radius=10.0).from_frame(told(), "user", "movie", "rating")
    asked = pd.read_csv(pairs)
    predicted = model.predict(asked)
    np.testing.assert_allclose(predicted, here.predict(asked), atol=0.2)
    answered = run("predict", out, pairs)
    assert answered.exit_code == 0
    lines = [line.split(",") for line in answered.stdout.strip().splitlines()[1:]]
    np.testing.assert_allclose([float(line[2]) for line in lines], predicted, atol=6e-6)
    best = run("recommend", out, "--row", "u3", "--row", "nobody", "-n", "2", "--json")
    assert best.exit_code == 0, best.output
    assert len(json.loads(best.stdout)) == 4
    assert run("info", out).exit_code == 0
    assert "on the cluster that fits it" in run("verify", out).output
    (out / "rows-00001.npz").write_bytes(b"other")
    assert "rows-00001.npz was altered" in run("predict", out, pairs).output
    (out / "rows-00001.npz").unlink()
    assert "rows-00001.npz is missing" in run("predict", out, pairs).output


@pytest.mark.parametrize("whole", [True, False])
def test_values_kept_from_the_fit_are_a_test_on_a_cluster_too(files, scheduler, monkeypatch, whole):
    test, out = files / "test.csv", files / "model"
    held = told().sample(40, random_state=0)
    pd.concat([held, pd.DataFrame({"user": ["nobody"], "movie": [3], "rating": [4.0]})]).to_csv(test, index=False)
    if not whole:
        monkeypatch.setattr(far_fit, "_WHOLE", 0)
    words = ("--cluster", scheduler, "--radius", "10", "--test", test, "--json")
    done = run("complete", files / "ratings", "-o", out, *words)
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)["test"]
    asked = pd.read_csv(test)
    error = float(np.sqrt(np.mean((store.read(out).model.predict(asked) - asked["rating"]) ** 2)))
    assert facts["error"] == pytest.approx(error) and facts["observations"] == 41 and facts["unseen"] == 1
    assert ("40 of its pairs were fitted, too" in done.stderr) == whole
    assert ("Biases" in facts["baselines"]) == whole and "Global mean" in facts["baselines"]
    assert "RMSE" in run("info", out).stdout


@pytest.mark.parametrize("how", ["error", "last", "mean", "sum", "all"])
def test_pairs_that_come_twice_are_settled_on_a_cluster_as_here(files, scheduler, how):
    extra = pd.DataFrame({"user": ["u1", "u1"], "movie": [3, 3], "rating": [1.0, 4.0]})
    again = pd.concat([told(), extra]).reset_index(drop=True)
    again.to_csv(files / "again.csv", index=False)
    out = files / "model"
    words = ("--radius", "10", "--no-report", "--duplicates", how)
    done = run("complete", files / "again.csv", "-o", out, "--cluster", scheduler, *words)
    if how == "error":
        assert done.exit_code == 2 and "come twice" in done.output and not out.exists()
        return
    assert done.exit_code == 0, done.output
    here = run("complete", files / "again.csv", "-o", files / "here", *words)
    assert here.exit_code == 0, here.output
    one, two = (store.read(folder).model.observations_ for folder in (out, files / "here"))
    np.testing.assert_array_equal(one.values, two.values)
    assert (one.weights is None) == (two.weights is None)


def test_lines_without_a_value_are_left_out_on_a_cluster(files, scheduler):
    frame = told()
    frame.loc[::10, "rating"] = np.nan
    frame.to_csv(files / "holes.csv", index=False)
    words = ("complete", files / "holes.csv", "-o", files / "model", "--cluster", scheduler, "--radius", "10")
    assert run(*words).exit_code == 2
    done = run(*words, "--drop-empty", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["observations"] == int(frame["rating"].notna().sum())


class Killed(BaseException):
    """Not an error: as if the process had ended."""


@pytest.mark.long
@pytest.mark.parametrize(("after", "killed"), [(2, True), (6, False)])
def test_a_run_that_was_killed_or_interrupted_goes_on_on_another_cluster(files, scheduler, monkeypatch, after, killed):
    words = ("complete", files / "ratings", "-o", files / "model", "--cluster", scheduler, "--no-report")
    whole = run(*words, "--json")
    assert whole.exit_code == 0, whole.output
    count = 0
    keep = journal.Journal.keep

    def ending(self, result):
        nonlocal count
        count += 1
        self.asked |= count == after and not killed
        going_on = keep(self, result)
        if count == after and killed:
            raise Killed
        return going_on

    monkeypatch.setattr(journal.Journal, "keep", ending)
    again = [str(word) for word in (*words[:3], files / "again", *words[4:], "--checkpoint", "0")]
    if killed:
        with pytest.raises(Killed):
            CliRunner().invoke(app, again)
    else:
        assert run(*again).exit_code == 130
    monkeypatch.setattr(journal.Journal, "keep", keep)
    left = files / "again.checkpoint"
    assert left.is_dir() and (files / "again").exists() == (not killed)
    refused = run(*words[:3], files / "again", *words[4:]) if killed else run(*words)
    assert refused.exit_code == 2 and ("holds an unfinished run" if killed else "--force") in refused.output
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0", silence_logs=50
    ) as other:
        done = run("resume", files / "again", "--cluster", other.scheduler_address, "--json")
    assert done.exit_code == 0, done.output
    one, two = json.loads(whole.stdout), json.loads(done.stdout)
    assert two["radius"] == pytest.approx(one["radius"], rel=1e-3)
    assert abs(two["value"] - one["value"]) <= one["gap"] + two["gap"] and not left.exists()
    assert two["gap"] <= 0.02 * two["value"] and run("verify", files / "again").exit_code == 0


def test_one_machine_and_a_cluster_are_not_mixed_up(files, scheduler):
    assert "nothing to resume" in run("resume", files / "model", "--cluster", scheduler).output


def test_workers_that_cannot_write_get_a_sentence(tmp_path):
    class Nobody:
        def each_numbered(self, function, *arguments):
            raise OSError(2, "No such file or directory")

    model = MatrixCompletion()
    model.shards_ = store_shards.Shards(Nobody())
    with pytest.raises(OSError, match="name a folder that all see"):
        store_shards.write(tmp_path, model, {})


def spoil_missing(folder):
    return folder / "nothing-*.parquet", "there is no such file"


def spoil_damaged(folder):
    (folder / "ratings" / "1.parquet").write_bytes(b"no Parquet")
    return folder / "ratings", "1.parquet cannot be read as Parquet"


def spoil_column(folder):
    told().rename(columns={"rating": "mark"}).to_parquet(folder / "ratings" / "2.parquet")
    return folder / "ratings", "2.parquet has no column 'rating'"


def spoil_type(folder):
    told().assign(rating="many").to_parquet(folder / "ratings" / "2.parquet")
    return folder / "ratings", "2.parquet: column 'rating' holds"


def spoil_kinds(folder):
    told().to_csv(folder / "ratings" / "3.csv", index=False)
    return folder / "ratings", "files of more than one kind"


def spoil_text(folder):
    (folder / "ratings.csv").write_text("user,movie,rating\nu1,3,many\n")
    return folder / "ratings.csv", "where numbers are needed"


def spoil_ending(folder):
    (folder / "ratings.xls").write_text("x")
    return folder / "ratings.xls", "reads Parquet and CSV"


@pytest.mark.parametrize(
    "spoil", [spoil_missing, spoil_damaged, spoil_column, spoil_type, spoil_kinds, spoil_text, spoil_ending]
)
def test_bad_files_are_named_before_any_work(files, spoil):
    path, words = spoil(files)
    done = run("complete", path, "-o", files / "model", "--cluster", "tcp://127.0.0.1:1")
    assert done.exit_code == 2 and words in done.output.replace("\n", " ") and "Traceback" not in done.output
    assert not (files / "model").exists()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--cluster", "here"), "is 'local' or the address"),
        (("--cluster", "local", "--matrix"), "--matrix is for one machine"),
        (("--cluster", "local", "--test", "x.csv"), "x.csv does not exist"),
        (("--cluster", "local", "--checkpoint", "-3"), "--checkpoint is a number of seconds"),
        (("--cluster", "local", "--duplicates", "newest"), "--duplicates must be one of"),
        (("--cluster", "local", "--row", "who"), "has no column 'who'"),
        (("--cluster", "local", "--implicit", "0.5"), "implicit=0.5"),
    ],
)
def test_what_a_cluster_has_not_gets_a_sentence(files, words, answer):
    done = run("complete", files / "ratings", "-o", files / "model", *words)
    assert done.exit_code == 2 and answer in done.output and "Traceback" not in done.output


def test_addresses_keep_their_slashes():
    assert address(Path("s3://bucket/x*.parquet")) == "s3://bucket/x*.parquet"
    assert address(Path("folder/x.csv")) == "folder/x.csv"


def test_text_is_read_as_text(tmp_path):
    """ "007" is not 7, whatever Dask would guess."""
    (tmp_path / "a.csv").write_text("user;film;stars\n007;x;3.5\n7;y;4\n")
    found = read_far(tmp_path / "a.csv", Asked())
    frame = found.frame.compute()
    assert frame["user"].tolist() == ["007", "7"] and frame["stars"].tolist() == [3.5, 4.0]
    assert found.names == ("user", "film", "stars")


@pytest.mark.parametrize("header", ["user;film;stars\n", ""])
def test_files_of_spreadsheets_are_read_as_here(tmp_path, header):
    lines = "007;x;1.003,5\n7;y;4\n8;y;1.234,25\n"
    (tmp_path / "a.csv").write_text(header + lines, encoding="utf-8-sig")
    found = read_far(tmp_path / "a.csv", Asked(header=bool(header)))
    frame = found.frame.compute()
    assert frame[found.names[0]].tolist() == ["007", "7", "8"]
    assert frame[found.names[2]].tolist() == [1003.5, 4.0, 1234.25]
