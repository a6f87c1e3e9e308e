"""Where results go: links, devices, closed and narrow streams, other processes; and models that no fit has left."""

from __future__ import annotations

import hashlib
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
from spectraplex.cli import journal, store
from spectraplex.cli.app import app

GOOD = "user,item,rating\n1,1,5\n1,2,3\n2,1,4\n2,3,1\n3,2,2\n3,3,5\nΩmega,1,3\nΩmega,3,2\n"
FAST = ("--no-report", "--radius", "2", "--quiet")
ROOT = Path(__file__).parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
posix = pytest.mark.skipif(os.name != "posix", reason="needs links, devices and signals as POSIX has them")


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


@pytest.fixture
def good(tmp_path) -> Path:
    (tmp_path / "r.csv").write_text(GOOD, encoding="utf-8")
    return tmp_path / "r.csv"


@pytest.fixture
def model(good, tmp_path) -> Path:
    run("complete", good, "-o", tmp_path / "m", *FAST)
    return tmp_path / "m"


# --------------------------------------------------------------------------------------------------------- places


@posix
def test_links_stay_links_and_devices_devices(good, model, tmp_path):
    link, file, other = tmp_path / "link", tmp_path / "out.csv", tmp_path / "other.csv"
    link.symlink_to(model)
    assert "link is there already; give --force" in run("complete", good, "-o", link, *FAST, code=2).stderr
    run("complete", good, "-o", link, "--no-report", "--radius", "1", "--force")
    assert link.is_symlink() and store.read(model).model.radius_ == 1.0
    file.symlink_to(other)
    run("predict", model, good, "-o", file, "-q")
    assert file.is_symlink() and other.read_text(encoding="utf-8").startswith("user,item,rating,prediction")
    run("predict", model, good, "-o", "/dev/null", "-q")
    assert not Path("/dev/null").is_file()
    assert "no folder" in run("predict", model, good, "-o", tmp_path / "no" / "x.csv", code=2).stderr
    if Path("/dev/full").exists():
        said = run("predict", model, good, "-o", "/dev/full", "-q", code=2).stderr
        assert said == "/dev/full cannot be read or written: No space left on device.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "m", "other.csv", "out.csv", "r.csv"]


@posix
def test_a_file_whose_name_is_no_text(good, tmp_path):
    odd = os.fsdecode(b"a\xff.csv")
    try:
        (tmp_path / odd).write_text(GOOD, encoding="utf-8")
    except OSError:
        pytest.skip("this file system has names that are text only")
    done = run("complete", tmp_path / odd, "-o", tmp_path / "m", "--radius", "2", "--checkpoint", "0", "--no-report")
    assert "model" in done.stdout
    assert json.loads(run("info", tmp_path / "m", "--json").stdout)["data"]["file"] == "a\\udcff.csv"


def test_settings_are_refused_before_anything_is_read_or_left(good, tmp_path, monkeypatch):
    monkeypatch.setattr(fitting.tables, "read", lambda *_: pytest.fail("it has begun to read"))
    for options in (("--radius", "-1"), ("--seed", "-1"), ("--checkpoint", "nan"), ("--ridge", "0"), ("--loss", "x")):
        run("complete", good, "-o", tmp_path / "m", "--checkpoint", "5", *options, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_a_fit_that_cannot_be_leaves_no_checkpoint(good, tmp_path):
    words = ("complete", good, "-o", tmp_path / "m", *FAST, "--checkpoint", "0")
    assert "logistic loss needs" in run(*words, "--loss", "logistic", code=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
    # one that was killed before it had written anything is nothing to go on with, and in nobody's way
    journal.folder_of(tmp_path / "m").mkdir()
    (journal.folder_of(tmp_path / "m") / ".checkpoint.json.part-1").write_text("{", encoding="utf-8")
    run(*words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "r.csv"]


@pytest.mark.skipif(journal.fcntl is None, reason="needs claims on files")
def test_two_runs_do_not_get_in_each_others_way(good, tmp_path, monkeypatch):
    folder = journal.folder_of(tmp_path / "m")
    words = ("complete", good, "-o", tmp_path / "m", "--no-report", "--radius", "2")
    with journal.alone(folder):
        journal.begin(folder, {"file": str(good), "out": "m", "said": {}, "fingerprint": "x"})
        for more in (("--force",), ("--force", "--checkpoint", "0")):
            assert "another process is at work" in run(*words, *more, code=2).stderr
    assert folder.is_dir()
    shutil.rmtree(folder)
    # somebody else's model is there when ours is done: neither is lost
    fit = fitting.fit

    def slow(*parts):
        monkeypatch.setattr(fitting, "fit", fit)
        fit(*parts)
        run("complete", good, "-o", tmp_path / "m", "--no-report", "--radius", "1")

    monkeypatch.setattr(fitting, "fit", slow)
    done = run(*words)
    assert "this model is" in done.stderr and done.stdout.splitlines()[0].endswith("m-2")
    assert [store.read(tmp_path / name).model.radius_ for name in ("m", "m-2")] == [1.0, 2.0]


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_model_is_written_does_not_lose_it(number, good, tmp_path, monkeypatch):
    write = store.write

    def pressed(*parts):
        os.kill(os.getpid(), number)
        write(*parts)

    monkeypatch.setattr(store, "write", pressed)
    done = run("complete", good, "-o", tmp_path / "m", *FAST)
    assert "what there is is written" in done.stderr and store.status_of(tmp_path / "m") == "finished"
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_fault_of_ours_is_a_sentence_too(model, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(store, "read", broken)
    said = run("info", model, code=3).stderr
    assert "(ZeroDivisionError: division by zero)" in said and "fault of spectraplex" in said
    monkeypatch.setenv("SPECTRAPLEX_DEBUG", "1")
    assert isinstance(CliRunner().invoke(app, ["info", str(model)]).exception, ZeroDivisionError)


# -------------------------------------------------------------------------------------------------------- streams


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = command.replace("SX", f"'{sys.executable}' -m spectraplex")
    words = ["sh", "-c", command]
    return subprocess.run(
        words, cwd=folder, env=ENVIRONMENT | more, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.mark.slow
@posix
def test_nobody_has_to_listen(good, model, tmp_path):
    done = shell("SX complete r.csv -o n --no-report --radius 2 2>&1 | true; SX info n >&- 2>&-; echo $?", tmp_path)
    assert done.stdout == "0\n" and done.stderr == "" and store.status_of(tmp_path / "n") == "finished"


@pytest.mark.slow
@posix
def test_what_standard_output_cannot_hold(good, model, tmp_path):
    """Data are never written with other letters; words are."""
    done = shell(
        "SX predict m r.csv -q; SX recommend m --row 1 --json -q; SX info m", tmp_path, PYTHONIOENCODING="ascii"
    )
    assert "Standard output is in ascii and cannot hold '\\u03a9'; write to a file with --out" in done.stderr
    assert "user \\xd7 item" in done.stdout and '"prediction"' in done.stdout and "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------- forged models


def forge(folder: Path, change, file: str | None = None) -> None:
    """Alter a model, and make the checksums agree again."""
    document = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    if file is None:
        change(document)
    else:
        with np.load(folder / file) as held:
            arrays = {name: held[name] for name in held.files}
        change(arrays)
        np.savez(folder / file, **arrays)
        document["files"][file] = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    held = {name: value for name, value in document.items() if name != "checksum"}
    document["checksum"] = hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()
    (folder / "model.json").write_text(json.dumps(document), encoding="utf-8")


FORGED = {
    **{f"no {name}": (lambda d, name=name: d.pop(name), None) for name in ("data", "settings", "versions", "trace")},
    **{f"{name} is a number": (lambda d, name=name: d.update({name: 3}), None) for name in ("data", "status", "test")},
    "names of nothing": (lambda d: d["data"].update(names=[]), None),
    "an offset of words": (lambda d: d["model"]["numbers"].update(offset_="x"), None),
    "no path": (lambda d: d.update(path={}), None),
    "short factors": (lambda a: a.update(V_=a["V_"][:-1]), "factors.npz"),
    "factors of words": (lambda a: a.update(s_=np.array(["a"] * a["s_"].size)), "factors.npz"),
    "intercepts that are none": (lambda a: a.update(row_intercepts_=a["row_intercepts_"] * np.nan), "factors.npz"),
    "observations elsewhere": (lambda a: a.update(rows=a["rows"] + 99), "observations.npz"),
    "fewer values": (lambda a: a.update(values=a["values"][:-1]), "observations.npz"),
}


@pytest.mark.parametrize("change, file", FORGED.values(), ids=FORGED)
def test_a_model_that_no_fit_could_have_left(change, file, model, good):
    forge(model, change, file)
    for words in (("info", model), ("predict", model, good), ("recommend", model, "--row", "1")):
        assert "model.json is damaged" in run(*words, code=2).stderr


def test_newer_and_deep_documents(model):
    forge(model, lambda d: d.update({"spectraplex model": 2}))
    assert "the model has format 2; this version reads 1" in run("info", model, code=2).stderr
    (model / "model.json").write_text("[" * 100_000, encoding="utf-8")
    assert "damaged" in run("info", model, code=2).stderr


# -------------------------------------------------------------------------------------------------------- answers


def test_predict_tells_of_a_header_it_did_not_see(model, tmp_path):
    pairs = tmp_path / "p.csv"
    pairs.write_text("who,what\n1,1\n", encoding="utf-8")
    assert "if it names the columns, say --header" in run("predict", model, pairs).stderr
    assert "names the columns" not in run("predict", model, pairs, "--header").stderr
    assert "two different columns" in run("predict", model, pairs, "--row", "1", "--column", "1", code=2).stderr


IMPUTED = {
    "commas and points": ("a;b;c\n1,5;2;3\n2.5;4;\n3,5;6;9\n", "line 2: '1,5' in column 'a' is not a number; if it"),
    "shares": ("a,b,c\n10%,2,3\n20%,4,\n30%,6,9\n", "line 2: '10%' in column 'a' is not a number"),
    "no number at all": ("a,b\n1.7e308,-1.7e308\n-1.7e308,1.7e308\n1e308,\n", "as large as 1.7e+308; divide them"),
}


@pytest.mark.parametrize("text, wanted", IMPUTED.values(), ids=IMPUTED)
def test_tables_that_are_not_filled(text, wanted, tmp_path):
    (tmp_path / "w.csv").write_text(text, encoding="utf-8")
    assert wanted in run("impute", tmp_path / "w.csv", code=2).stderr


def test_impute_says_which_columns_it_leaves(tmp_path):
    (tmp_path / "w.csv").write_text("n,a,b\n10.0.0.1,1,2\nx,2,\ny,3,6\n", encoding="utf-8")
    assert "Left as they are, being no numbers: 'n'." in run("impute", tmp_path / "w.csv").stderr
