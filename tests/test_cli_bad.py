"""Bad input: a sentence, exit code 2, no traceback, and no half-written model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import complete as fitting
from spectraplex.cli import store
from spectraplex.cli.app import app

GOOD = "user,item,rating\n1,1,5\n1,2,3\n2,1,4\n2,3,1\n3,2,2\n3,3,5\n"
FAST = ("--no-report", "--radius", "2")


def refused(*words: object, code: int = 2) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr and done.stdout == ""
    return " ".join(done.stderr.split())


@pytest.fixture
def good(tmp_path) -> Path:
    path = tmp_path / "r.csv"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def model(good, tmp_path) -> Path:
    done = CliRunner().invoke(app, ["complete", str(good), "-o", str(tmp_path / "model"), *FAST])
    assert done.exit_code == 0, done.stderr
    return tmp_path / "model"


BAD = {
    "non-numeric value": (GOOD + "4,1,good\n", (), "line 8: the value 'good' is not a number"),
    "commas and points": (
        GOOD.replace(",", ";") + "4;1;3,5\n4;2;3.5\n",
        (),
        "line 8: the value '3,5' is not a number; if",
    ),
    "Python's own thousands": (GOOD + "4,1,1_000\n", (), "line 8: the value '1_000' is not a number"),
    "an infinite value": (GOOD + "4,1,inf\n", (), "line 8: the value 'inf' is not finite"),
    "an empty value": (GOOD + "4,1,\n", (), "line 8: the value is empty"),
    "NaN": (GOOD + "\n4,1,nan\n", (), "line 9: the value is 'nan'"),
    "an empty label": (GOOD + "4,,3\n", (), "line 8: the column label is empty"),
    "too few columns": (GOOD + "4,1\n", (), "line 8: 2 columns where the first line has 3"),
    "a duplicate": (GOOD + "2,1,2\n", (), "line 8: the pair ('2', '1') was there already, at line 4"),
    "a missing column": (GOOD, ("--value", "stars"), "no column 'stars' (--value); it has 'user', 'item', 'rating'"),
    "a missing position": (GOOD, ("--row", "9"), "no column '9' (--row)"),
    "one column twice": (GOOD, ("--row", "user", "--column", "user"), "three different columns"),
    "two columns": ("user,item\n1,2\n", (), "no column is left for the values"),
    "constant": ("u,i,r\n1,1,3\n1,2,3\n2,1,3\n2,2,3\n", (), "every value is 3"),
    "one row": ("u,i,r\n1,1,3\n1,2,4\n", (), "only one row, '1'"),
    "one column": ("u,i,r\n1,1,3\n2,1,4\n", (), "only one column, '1'"),
    "a header alone": ("u,i,r\n", (), "no value is there at all"),
    "empty": ("", (), "is empty"),
    "blank": ("\n\n  \n", (), "is empty"),
    "an empty row": ("n,a,b\nx,1,2\ny,,\nz,2,1\n", ("--matrix",), "row 'y' has no value at all"),
    "an empty column": ("n,a,b\nx,1,\ny,2,\n", ("--matrix",), "column 'b' has no value at all"),
    "all missing": ("n,a,b\nx,,\ny,NA,\n", ("--matrix",), "no value is there at all"),
    "a word in a wide table": ("n,a,b\nx,1,2\ny,two,1\n", ("--matrix",), "line 3: 'two' in column 'a'"),
    "two rows of one name": ("n,a,b\nx,1,2\nx,2,1\n", ("--matrix",), "two rows are called 'x' (lines 2 and 3)"),
    "a long line": ("n,a,b\nx,1,2,3\n", ("--matrix",), "line 2: 4 columns where the first line has 3"),
    "an unknown loss": (GOOD, ("--loss", "cubic"), "unknown loss 'cubic'"),
    "a bad radius": (GOOD, ("--radius", "large"), "radius must be 'auto' or a positive number"),
    "a checkpoint in the past": (GOOD, ("--checkpoint", "-1"), "--checkpoint is a number of seconds"),
    "a bad policy": (
        GOOD,
        ("--duplicates", "newest"),
        "--duplicates must be one of error, mean, sum, first, last, all",
    ),
    "a bad delimiter": (GOOD, ("--delimiter", "xx"), "--delimiter 'xx'"),
    "a bad encoding": (GOOD, ("--encoding", "klingon"), "--encoding 'klingon' is not known"),
}


@pytest.mark.parametrize("text, options, wanted", BAD.values(), ids=BAD)
def test_bad_tables(text, options, wanted, tmp_path):
    data = tmp_path / "r.csv"
    data.write_text(text, encoding="utf-8")
    assert wanted in refused("complete", data, "-o", tmp_path / "m", *FAST[:1], *options)
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_files_that_are_no_tables(tmp_path):
    binary, latin = tmp_path / "r.csv", tmp_path / "l.csv"
    binary.write_bytes(bytes(range(256)) * 20)
    assert "is not a text file" in refused("complete", binary, "-o", tmp_path / "m")
    latin.write_bytes(GOOD.encode() + b"caf\xe9,1,3\n")
    assert "--encoding" in refused("complete", latin, "-o", tmp_path / "m")
    assert "does not exist" in refused("complete", tmp_path / "nothing.csv", "-o", tmp_path / "m")
    assert "is a folder" in refused("complete", tmp_path, "-o", tmp_path / "m")
    for name in ("x.npz", "x.npy", "x.mtx", "x.parquet", "x.csv.gz"):
        (tmp_path / name).write_bytes(
            b"\x1f\x8b nothing of the sort" if name.endswith("gz") else b"nothing of the sort"
        )
        assert name in refused("complete", tmp_path / name, "-o", tmp_path / "m")
        (tmp_path / name).write_bytes(b"")
        assert name in refused("complete", tmp_path / name, "-o", tmp_path / "m")
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    assert "needed is one array" in refused("complete", tmp_path / "x.npz", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_settings_that_are_not_known(good, tmp_path):
    config = tmp_path / "s.toml"
    config.write_text("radios = 3\n", encoding="utf-8")
    said = refused("complete", good, "-o", tmp_path / "m", "--config", config)
    assert "'radios' is not known" in said
    assert all(f"{name}," in said for name in ("checkpoint", "duplicates", "radius", "ridge"))
    config.write_text('tolerance = "small"\n', encoding="utf-8")
    assert "tolerance must be a number, got 'small'" in refused(
        "complete", good, "-o", tmp_path / "m", "--config", config
    )
    config.write_text("tolerance = = 3", encoding="utf-8")
    assert "is not TOML" in refused("complete", good, "-o", tmp_path / "m", "--config", config)
    assert "does not exist" in refused("complete", good, "-o", tmp_path / "m", "--config", tmp_path / "no.toml")


def test_what_is_there_is_not_overwritten(good, model, tmp_path):
    before = (model / "model.json").read_bytes()
    assert "--force" in refused("complete", good, "-o", model, *FAST)
    assert (model / "model.json").read_bytes() == before
    other = tmp_path / "photographs"
    other.mkdir()
    (other / "holiday.jpg").write_bytes(b"x")
    for options in ((), ("--force",)):
        assert "is not a model" in refused("complete", good, "-o", other, *FAST, *options)
        assert "is not a model" in refused("complete", good, "-o", good, *FAST, *options)
    assert [path.name for path in other.iterdir()] == ["holiday.jpg"] and good.read_text(encoding="utf-8") == GOOD
    done = CliRunner().invoke(app, ["complete", str(good), "-o", str(model), "--no-report", "--radius", "1", "--force"])
    assert done.exit_code == 0 and store.read(model).model.radius_ == 1.0


def test_models_with_missing_or_altered_files(model, tmp_path):
    assert "does not exist" in refused("info", tmp_path / "nothing")
    assert "model.json is missing" in refused("info", tmp_path)
    for name in ("factors.npz", "labels.npz", "observations.npz"):
        held = (model / name).read_bytes()
        (model / name).unlink()
        assert f"{name} is missing" in refused("recommend", model, "--row", "1")
        (model / name).write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
        assert f"{name} was altered" in refused("verify", model)
        (model / name).write_bytes(held)
    text = (model / "model.json").read_text(encoding="utf-8")
    (model / "model.json").write_text(text.replace('"finished"', '"perfect"'), encoding="utf-8")
    assert "model.json was altered" in refused("info", model)
    (model / "model.json").write_text(text[:-9], encoding="utf-8")
    assert "model.json is damaged" in refused("info", model)
    (model / "model.json").write_text(json.dumps({"something": "else"}), encoding="utf-8")
    assert "about something else" in refused("info", model)


def test_a_gap_below_zero_is_no_question(model, good):
    assert "--gap must be a number ≥ 0" in refused("certify", model, good, "--gap", "-1")


def test_bad_pairs(model, tmp_path):
    pairs = tmp_path / "p.csv"
    pairs.write_text("1\n2\n", encoding="utf-8")
    assert "one column only" in refused("predict", model, pairs)
    pairs.write_text("user,item\n1,2\n3\n", encoding="utf-8")
    assert "line 3: 1 column;" in refused("predict", model, pairs)
    pairs.write_text("user,item\n", encoding="utf-8")
    assert "no pair is there" in refused("predict", model, pairs)
    pairs.write_text("user,item\n1,2\n", encoding="utf-8")
    assert "no column 'film'" in refused("predict", model, pairs, "--column", "film")
    assert "is a folder" in refused("predict", model, pairs, "-o", tmp_path)


def test_bad_tables_to_impute(tmp_path):
    data = tmp_path / "w.csv"

    def said(text: str, *options: str) -> str:
        data.write_text(text, encoding="utf-8")
        return refused("impute", data, *options)

    assert "line 4: 'x' in column 'b'" in said("a,b\n1,2\n2,3\n3,x\n4,\n")
    assert "column 'b' has no value at all" in said("a,b,c\n1,,3\n2,,4\n")
    assert "at least two columns" in said("a\n1\n2\n")
    assert "at least two rows" in said("a,b\n1,2\n")
    assert "no column holds numbers" in said("a,b\nx,y\nz,w\n")
    assert "nothing below" in said("a,b\n")
    assert "--json needs --out" in said("a,b\n1,2\n2,\n", "--json")


# ------------------------------------------------------------------------------------------- places to write to


def test_no_place_to_write_to_is_told_before_any_work(good, monkeypatch):
    monkeypatch.setattr(fitting.tables, "read", lambda *_: pytest.fail("it has begun to read"))
    for place in ("/proc/nowhere/model", "/dev/null/model"):
        assert "/" in refused("complete", good, "-o", place, *FAST)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions hold back")
def test_no_permission(good, tmp_path):
    room = tmp_path / "room"
    room.mkdir(mode=0o500)
    assert "may not be read or written" in refused("complete", good, "-o", room / "m", *FAST)
    good.chmod(0)
    assert "may not be read or written" in refused("complete", good, "-o", tmp_path / "m", *FAST)


def test_no_permission_is_a_sentence_for_anyone(good, tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path / "m"))

    monkeypatch.setattr("tempfile.mkdtemp", forbidden)
    assert "may not be read or written by you" in refused("complete", good, "-o", tmp_path / "m", *FAST)


def test_a_full_disk_leaves_nothing_behind(good, model, tmp_path):
    """A limit on the size of files stands in for a disk that is full; the system refuses in the same place."""
    resource = pytest.importorskip("resource")
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        fresh = refused("complete", good, "-o", tmp_path / "m", *FAST, "--quiet")
        again = refused("complete", good, "-o", model, *FAST, "--force", "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be read or written" in fresh and "cannot be read or written" in again
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "r.csv"]


@pytest.mark.skipif(os.name != "posix", reason="needs processes that can be asked for")
def test_what_a_killed_process_left_is_cleared_away(good, model, tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    half, moved = (tmp_path / f".model.{kind}-{gone.pid}" for kind in ("part", "old"))
    other = tmp_path / f".model.part-{os.getppid()}"  # somebody who is still at work
    half.mkdir()
    other.mkdir()
    (half / "factors.npz").write_bytes(b"half")
    held = (model / "model.json").read_bytes()
    os.rename(model, moved)
    assert "--force" in refused("complete", good, "-o", model, *FAST)
    assert (model / "model.json").read_bytes() == held
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "model", "r.csv"]


def test_a_real_process_ends_with_a_sentence_too(tmp_path):
    data = tmp_path / "r.csv"
    data.write_text(GOOD + "4,1,good\n", encoding="utf-8")
    words = [sys.executable, "-m", "spectraplex", "complete", str(data), "-o", str(tmp_path / "m")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.strip().endswith("the value 'good' is not a number (column 'rating'; --value names another).")


def test_what_is_no_archive_is_not_said_to_be_one_that_may_be_loaded_unsafely(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK is how they begin")
    said = refused("complete", tmp_path / "x.npz", "-o", tmp_path / "model", *FAST)
    assert "neither an archive of arrays nor an array" in said and "pickle" not in said
