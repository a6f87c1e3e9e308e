"""The command line on good input: every command, every kind of file, labels that must survive."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import spectraplex as sx
from spectraplex.cli import catalogue, settings, store
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.tables import reading as tables
from spectraplex.tables.layout import Asked

FAST = ("--no-report", "--radius", "5")


def run(*words: object, code: int = 0, **options: object):
    done = CliRunner().invoke(app, [str(word) for word in words], **options)
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture(scope="module")
def table():
    return ratings_like(40, 30, 500, seed=0)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory, table) -> Path:
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    lines = [f"{r},{c},{v:g}" for r, c, v in zip(table.rows, table.cols, table.values, strict=True)]
    path.write_text("userId,movieId,rating\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory, ratings) -> Path:
    out = tmp_path_factory.mktemp("models") / "model"
    run("complete", ratings, "-o", out, "--no-report")
    return out


def test_complete_fits_what_the_estimator_fits(model, table):
    stored = store.read(model)
    rows, cols = table.rows.astype(str).astype(object), table.cols.astype(str).astype(object)
    pairs = np.column_stack([rows, cols])
    same = MatrixCompletion().fit(pairs, table.values)
    assert stored.model.radius_ == same.radius_
    np.testing.assert_allclose(stored.model.predict(pairs), same.predict(pairs), atol=1e-10)
    assert stored.document["status"] == "finished" and stored.document["data"]["observations"] == 500
    assert sorted(path.name for path in model.iterdir()) == [
        "factors.npz",
        "labels.npz",
        "model.json",
        "observations.npz",
    ]


def test_complete_talks_on_stderr_and_answers_on_stdout(ratings, tmp_path):
    done = run("complete", ratings, "-o", tmp_path / "m", *FAST)
    assert "rows from 'userId', columns from 'movieId', values from 'rating'" in done.stderr
    assert "certificate" in done.stdout and "rows from" not in done.stdout
    quiet = run("complete", ratings, "-o", tmp_path / "m", *FAST, "--force", "--quiet", "--json")
    assert quiet.stderr == ""
    facts = json.loads(quiet.stdout)
    assert facts["radius"] == 5.0 and facts["status"] == "finished" and facts["gap"] <= 0.02 * facts["value"]


def test_predict_and_recommend(model, ratings, tmp_path):
    fitted = store.read(model).model
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("movieId,when,userId\n3,x,7\n5,x,nobody\n", encoding="utf-8")
    done = run("predict", model, pairs)
    assert "row label that the model does not know" in done.stderr
    told = rows_of(done.stdout)
    assert told[0] == ["movieId", "when", "userId", "prediction"]
    assert [line[:3] for line in told[1:]] == [["3", "x", "7"], ["5", "x", "nobody"]]
    wanted = fitted.predict([("7", "3"), ("nobody", "5")])
    assert [line[3] for line in told[1:]] == [f"{value:.5f}" for value in wanted]
    out = tmp_path / "out.csv"
    assert run("predict", model, pairs, "-o", out, "-q").stdout == ""
    assert rows_of(out.read_text(encoding="utf-8")) == told
    told = json.loads(run("predict", model, pairs, "--json").stdout)
    assert told[0] == {"movieId": "3", "when": "x", "userId": "7", "prediction": wanted[0]}
    bare = run("predict", model, "-", input="7,3\nnobody,5\n")
    assert rows_of(bare.stdout)[1][:2] == ["7", "3"] and "standard input" in bare.stderr
    best = rows_of(run("recommend", model, "--row", "7", "--row", "0", "-n", "3").stdout)
    assert best[0] == ["userId", "place", "movieId", "prediction"]
    ((first, value), *_), _ = fitted.recommend(["7", "0"], 3)
    assert best[1] == ["7", "1", first, f"{value:.5f}"] and [line[0] for line in best[1:]] == ["7"] * 3 + ["0"] * 3
    assert "does not know row 'nobody'" in run("recommend", model, "--row", "nobody").stderr
    assert len(rows_of(run("recommend", model, "--row", "7", "-n", "99", "--include-seen").stdout)) == 31


@pytest.mark.parametrize("support", ["auto", 0, 18])
def test_recommend_ranks_as_the_estimator_does(model, support):
    fitted = store.read(model).model
    told = rows_of(run("recommend", model, "--all", "-n", "5", "--min-support", support).stdout)
    labels = fitted.row_labels_.values.tolist()
    wanted = fitted.recommend(labels, 5, min_support=support)
    assert [[line[0], line[2]] for line in told[1:]] == [
        [label, column] for label, found in zip(labels, wanted, strict=True) for column, _ in found
    ]


def test_info_says_what_a_model_is(model):
    told = run("info", model).stdout
    assert "500 values of 40 rows and 30 columns" in told and "checksums agree" in told
    facts = json.loads(run("info", model, "--json").stdout)
    assert facts["data"]["file"] == "ratings.csv" and facts["rank"] == store.read(model).model.rank_


def test_verify_and_certify_say_yes_and_no(model, ratings, tmp_path):
    assert "holds" in run("verify", model, ratings).stdout
    assert json.loads(run("verify", model, "--json").stdout)["holds"] is True
    assert "above the optimum" in run("certify", model, ratings).stdout
    assert "No:" in run("certify", model, ratings, "--gap", "0", code=1).stderr
    other = tmp_path / "other.csv"
    lines = ratings.read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ",1.25"]) + "\n", encoding="utf-8")
    assert "data: the problem is not the one" in run("verify", model, other, code=1).stdout
    other.write_text("\n".join([*lines, "stranger,3,4"]) + "\n", encoding="utf-8")
    assert "'stranger'" in run("verify", model, other, code=1).stdout
    assert "'stranger'" in run("certify", model, other, code=2).stderr


def test_verify_does_not_trust_what_is_written_in_the_folder(model, ratings, tmp_path):
    """Somebody who makes the checksums agree again still cannot pass off other numbers."""
    stored = store.read(model)

    def forged(name: str, change) -> Path:
        fake = store.read(model).model
        change(fake)
        folder = tmp_path / name
        folder.mkdir()
        facts = {key: stored.document[key] for key in ("status", "created", "seconds", "data")}
        store.write(folder, fake, facts)
        return folder

    def better(fake):
        fake.certificate_ = sx.Certificate(**{**vars(fake.certificate_), "lower_bound": fake.certificate_.value})

    def shifted(fake):
        fake.row_intercepts_ = fake.row_intercepts_ + 0.1

    def scaled(fake):
        fake.s_ = 0.5 * fake.s_

    assert "lower bound" in run("verify", forged("bound", better), ratings, code=1).stdout
    assert "intercepts" in run("verify", forged("shifted", shifted), ratings, code=1).stdout
    assert "factors" in run("verify", forged("scaled", scaled), code=1).stdout


def test_the_report_is_in_the_model_where_it_can_be_had(ratings, tmp_path, monkeypatch):
    asked = {}

    def write(fitted, path, **options):
        asked.update(options, radius=fitted.radius_)
        Path(path).write_text("<html>", encoding="utf-8")

    monkeypatch.setitem(sys.modules, "spectraplex.report", SimpleNamespace(write=write))
    out = tmp_path / "m"
    done = run("complete", ratings, "-o", out, "--radius", "5")
    assert (out / "report.html").read_text(encoding="utf-8") == "<html>" and str(out / "report.html") in done.stdout
    assert asked["source"] == "ratings.csv" and asked["radius"] == 5.0 and asked["command"][0] == "spectraplex"

    def broken(*_, **__):
        raise ZeroDivisionError("a figure divides by zero")

    monkeypatch.setitem(sys.modules, "spectraplex.report", SimpleNamespace(write=broken))
    assert "divides by zero" in run("complete", ratings, "-o", out, "--radius", "5", "--force").stderr
    monkeypatch.setitem(sys.modules, "spectraplex.report", None)
    done = run("complete", ratings, "-o", out, "--radius", "5", "--force")
    assert "No report was written" in done.stderr and not (out / "report.html").exists()
    run("info", out)


def test_the_report_itself(ratings, tmp_path):
    pytest.importorskip("jinja2")
    run("complete", ratings, "-o", tmp_path / "m", "--radius", "5")
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "ratings.csv" in page and "</html>" in page and len(page) < 1_000_000


# --------------------------------------------------------------------------------------------------------- files


def test_every_kind_of_file_is_the_same_table(table, ratings, tmp_path):
    from scipy.io import mmwrite
    from scipy.sparse import coo_matrix, save_npz

    wanted = tables.read(ratings, Asked())
    lines = list(zip(table.rows.tolist(), table.cols.tolist(), table.values.tolist(), strict=True))

    def text(name: str, mark: str, header: str = "", end: str = "\n", more: str = "") -> Path:
        path = tmp_path / name
        body = header + end.join(mark.join((str(r), str(c), f"{v:g}")) + more for r, c, v in lines) + end
        path.write_bytes(gzip.compress(body.encode()) if name.endswith(".gz") else body.encode())
        return path

    files = [
        text("u.data", "\t", more="\t881250949"),
        text("ratings.dat", "::", more="::978300760"),
        text("semi.csv", ";", "user;item;rating\n"),
        text("windows.csv", ",", "﻿user,item,rating\r\n", "\r\n"),
        text("blanks.txt", " "),
        text("pipe.txt", "|"),
        text("padded.csv", ", ", "user, item, rating\n"),
        text("ratings.csv.gz", ",", "userId,movieId,rating\n"),
    ]
    for path in files:
        found = tables.read(path, Asked())
        assert found.mark == wanted.mark, path
    array = np.full(table.shape, np.nan)
    array[table.rows, table.cols] = table.values
    np.savez(tmp_path / "dense.npz", array)
    np.save(tmp_path / "dense.npy", array)
    np.savez(tmp_path / "triple.npz", rows=table.rows, cols=table.cols, values=table.values)
    sparse = coo_matrix((table.values, (table.rows, table.cols)), table.shape)
    save_npz(tmp_path / "sparse.npz", sparse)
    mmwrite(tmp_path / "sparse.mtx", sparse)
    marks = set()
    for name in ("dense.npz", "dense.npy", "triple.npz", "sparse.npz", "sparse.mtx"):
        found = tables.read(tmp_path / name, Asked())
        marks.add(found.mark)
        assert found.shape == wanted.shape and found.row_labels.values[:2].tolist() == [0, 1]
    assert len(marks) == 1
    header = "," + ",".join(str(c) for c in range(table.shape[1])) + "\n"
    body = "".join(f"{r}," + ",".join("" if np.isnan(v) else f"{v:g}" for v in array[r]) + "\n" for r in range(40))
    (tmp_path / "wide.csv").write_text(header + body, encoding="utf-8")
    assert tables.read(tmp_path / "wide.csv", Asked(matrix=True)).mark == wanted.mark


@pytest.mark.parametrize("engine", ["polars", "pyarrow"])
def test_parquet_keeps_types(engine, table, tmp_path, monkeypatch):
    pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    big = 2**53 + 1
    columns = {"item": [f"a,{c}" for c in table.cols], "user": (table.rows + big).tolist(), "stars": table.values}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    if engine == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
    found = tables.read(tmp_path / "r.parquet", Asked())
    assert found.names == ("user", "item", "stars")
    assert found.row_labels.values[:2].tolist() == [big, big + 1]
    run("complete", tmp_path / "r.parquet", "-o", tmp_path / "m", *FAST)
    pairs = tmp_path / "p.csv"
    pairs.write_text(f'user,item\n{big},"a,1"\n', encoding="utf-8")
    done = run("predict", tmp_path / "m", pairs)
    assert "does not know" not in done.stderr and rows_of(done.stdout)[1][:2] == [str(big), "a,1"]
    pq.write_table(pa.table({"user": [big], "item": ["a,1"]}), tmp_path / "p.parquet")
    assert run("predict", tmp_path / "m", tmp_path / "p.parquet").stdout == done.stdout
    pq.write_table(pa.table({"name": ["x", "y", "z"], "a": [1.0, None, 3.0], "b": [2, 4, 7]}), tmp_path / "w.parquet")
    wide = tables.read(tmp_path / "w.parquet", Asked(matrix=True))
    assert wide.shape == (3, 2) and wide.values.size == 5


def test_parquet_without_a_reader_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "needs polars or pyarrow" in run("complete", tmp_path / "r.parquet", "-o", tmp_path / "m", code=2).stderr


def test_labels_survive(tmp_path):
    people = ["anna, the first", 'ben "b"', "Ωmega", "007", "7", str(2**53 + 1), str(2**53), " padded ", "new\nline"]
    things = ["Das Boot", "a;b", "0.10", "0.1", "北京", "NA", "1e3"]
    rng = np.random.default_rng(0)
    data, out, pairs = tmp_path / "r.csv", tmp_path / "m", tmp_path / "p.csv"
    with data.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "what", "how much"])
        writer.writerows([p, t, rng.integers(1, 6)] for p in people for t in things if rng.random() < 0.8)
    run("complete", data, "-o", out, "--row", "who", "--column", "what", "--value", "how much", *FAST)
    fitted = store.read(out).model
    assert set(fitted.row_labels_.values) == set(people) and set(fitted.column_labels_.values) == set(things)
    with pairs.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([p, t] for p in people for t in things)
    told = rows_of(run("predict", out, pairs, "--no-header", "-q").stdout)
    assert [tuple(line[:2]) for line in told[1:]] == [(p, t) for p in people for t in things]
    wanted = fitted.predict([(p, t) for p in people for t in things])
    assert [line[2] for line in told[1:]] == [f"{value:.5f}" for value in wanted]
    best = rows_of(run("recommend", out, "--row", "007", "-n", "9", "--include-seen").stdout)
    assert {line[2] for line in best[1:]} == set(things) and best[1][0] == "007"
    run("verify", out, data)


def test_columns_by_position_duplicates_and_encoding(tmp_path):
    data = tmp_path / "r.txt"
    text = "1;é;x;10\n2;é;x;20\n1;b;y;20\n2;b;y;40\n3;b;y;40\n1;é;z;12\n"
    data.write_bytes(text.encode("latin-1"))
    asked = Asked(row="2", column="1", value="4", encoding="latin-1")
    from dataclasses import replace

    mean = tables.read(data, replace(asked, duplicates="mean"))
    last = tables.read(data, replace(asked, duplicates="last"))
    assert mean.row_labels.values.tolist() == ["b", "é"]
    assert sorted(mean.values) == [11, 20, 20, 40, 40] and sorted(last.values) == [12, 20, 20, 40, 40]
    with pytest.raises(ValueError, match=r"line 6: the pair \('é', '1'\) was there already, at line 1"):
        tables.read(data, asked)


def test_what_is_empty_can_be_dropped(tmp_path):
    data = tmp_path / "w.csv"
    data.write_text("name,a,b,c\nx,1,2,\ny,,,\nz,3,NA,\n", encoding="utf-8")
    found = tables.read(data, Asked(matrix=True, drop_empty=True))
    assert found.shape == (2, 2) and found.row_labels.values.tolist() == ["x", "z"]
    assert found.values.tolist() == [1.0, 2.0, 3.0]
    data.write_text("u,i,r\n1,1,3\n1,2,\n2,1,NaN\n2,2,5\n", encoding="utf-8")
    assert tables.read(data, Asked(drop_empty=True)).values.tolist() == [3.0, 5.0]


# ------------------------------------------------------------------------------------------------------ settings


def test_settings_from_a_file_and_flags_win(ratings, tmp_path):
    config = tmp_path / "s.toml"
    config.write_text('radius = 4\nweighting = "plain"\nridge = [1, 2.5]\nmax-iter = 50\nreport = false\n', "utf-8")
    run("complete", ratings, "-o", tmp_path / "m", "--config", config, "--radius", "6", "--seed", "3")
    found = store.read(tmp_path / "m").document["settings"]
    assert (found["radius"], found["weighting"], found["ridge"]) == (6.0, "plain", [1, 2.5])
    assert (found["max_iter"], found["random_state"]) == (50, 3)


def test_every_parameter_of_the_estimator_is_a_setting():
    """But for the ridge of features, which the shell does not read."""
    found = set(settings.of_model(dict.fromkeys(settings.MODEL, 0)))
    assert found | {"feature_ridge"} == set(MatrixCompletion().get_params())


def test_losses_and_a_sparse_matrix_from_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    data = tmp_path / "likes.csv"
    lines = [f"u{r},i{c},{int(rng.random() < 0.5)}" for r in range(12) for c in range(8) if rng.random() < 0.7]
    data.write_text("user,item,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    run("complete", data, "-o", tmp_path / "m", "--loss", "logistic", *FAST)
    told = rows_of(run("predict", tmp_path / "m", data, "-q").stdout)
    assert told[0] == ["user", "item", "value", "prediction"]
    assert all(0 < float(line[3]) < 1 for line in told[1:])
    run("verify", tmp_path / "m", data)


# --------------------------------------------------------------------------------------------------- other commands


def test_methods_lists_all_of_them():
    told = run("methods").stdout
    assert all(f"\n  {name} " in told for name in sx.METHODS) and "spectraplex complete" in told
    assert [each["name"] for each in json.loads(run("methods", "--json").stdout)["methods"]] == list(sx.METHODS)
    assert set(catalogue.WHEN) == set(sx.METHODS)


def test_reproduce_and_demo_hand_over(tmp_path, monkeypatch):
    seen: list[list[str]] = []
    monkeypatch.setattr("spectraplex.experiments.__main__.main", lambda words: seen.append(list(words)) or 1)
    monkeypatch.setattr("spectraplex.demo.__main__.main", lambda words: seen.append(list(words)) or 0)
    run("reproduce", "check", "results", "--out", "x", code=1)
    run("demo", "--out", "here")
    assert seen == [["check", "results", "--out", "x"], ["--out", "here"]]


def test_help_tells_the_exit_codes():
    told = run("--help").stdout
    assert "130" in told and all(name in told for name in ("complete", "predict", "verify", "resume", "methods"))
    assert run("--version").stdout.startswith("spectraplex ")


def test_without_typer_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from spectraplex.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and 'pip install ".[cli]"' in done.stderr and "Traceback" not in done.stderr


def test_help_does_not_wait_for_what_only_commands_need():
    """scikit-learn takes a second to load; whoever asks for help, or mistypes, has none to spare."""
    code = (
        "import sys\nfrom spectraplex.cli import main\nsys.argv = ['spectraplex', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'sklearn', 'numba', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stdout
