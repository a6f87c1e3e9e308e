"""model.save and MatrixCompletion.load: one folder for Python and the shell."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion

NAMES = ("U_", "s_", "V_", "profiles_", "row_intercepts_", "column_intercepts_", "row_scales_", "column_scales_")


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def data():
    table = ratings_like(30, 20, 250, seed=3)
    pairs = [(f"u{row}", f"i{col}") for row, col in zip(table.rows, table.cols, strict=True)]
    return pairs, table.values


@pytest.fixture(scope="module")
def model():
    return MatrixCompletion(radius=20.0).fit(*data())


@pytest.fixture
def folder(model, tmp_path):
    return model.save(tmp_path / "model")


def test_what_is_loaded_is_what_was_saved(model, folder):
    again = MatrixCompletion.load(folder)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.get_params() == model.get_params() and again.certificate_ == model.certificate_
    pairs = [("u1", "i3"), ("nobody", "i2")]
    np.testing.assert_array_equal(again.predict(pairs), model.predict(pairs))
    assert again.recommend(["u1"], 3) == model.recommend(["u1"], 3)
    assert again.partial_fit([("u1", "i3")], [4.0]).status_ == "GAP"


@pytest.mark.parametrize("settings", [{"implicit": 0.5}, {"loss": "huber"}, {"intercepts": False}, {"ridge": (3, 1)}])
def test_settings_survive(settings, tmp_path):
    model = MatrixCompletion(radius=15.0, **settings).fit(*data())
    again = MatrixCompletion.load(model.save(str(tmp_path / "deep" / "model")))
    np.testing.assert_array_equal(again.predict(data()[0]), model.predict(data()[0]))


def test_the_shell_answers_from_a_model_saved_in_python(model, folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("u1,i3\nu2,i4\n")
    lines = list(csv.reader(io.StringIO(run("predict", folder, pairs, "--no-header").stdout)))
    assert lines[0] == ["row", "column", "prediction"]
    found = [float(line[-1]) for line in lines[1:]]
    np.testing.assert_allclose(found, model.predict([("u1", "i3"), ("u2", "i4")]), rtol=1e-5)
    best = json.loads(run("recommend", folder, "--row", "u1", "-n", 2, "--json").stdout)
    assert [line["column"] for line in best] == [label for label, _ in model.recommend(["u1"], 2)[0]]
    some = json.loads(run("recommend", folder, "--row", "u1", "-n", 20, "--min-support", 13, "--json").stdout)
    wanted = [label for label, _ in model.recommend(["u1"], 20, min_support=13)[0]]
    assert [line["column"] for line in some] == wanted and 0 < len(wanted) < len(model.recommend(["u1"], 20)[0])
    like = json.loads(run("similar", folder, "--column", "i3", "-n", 2, "--json").stdout)
    assert [line["similar"] for line in like] == [label for label, _ in model.similar(["i3"], 2)[0]]
    assert "data given in Python: 250 values of 30 rows" in run("info", folder).stdout
    run("verify", folder)


def test_a_model_of_the_shell_loads_in_python_and_keeps_its_facts(tmp_path):
    pairs, values = data()
    file, out = tmp_path / "stars.csv", tmp_path / "model"
    lines = [f"{row};{col};{value}" for (row, col), value in zip(pairs, values, strict=True)]
    file.write_text("\n".join(["who;what;stars", *lines]) + "\n")
    run("complete", file, "-o", out, "--radius", 20, "--no-report")
    model = MatrixCompletion.load(out)
    here = MatrixCompletion(radius=20.0).fit(pairs, values)
    np.testing.assert_allclose(model.predict(pairs), here.predict(pairs), atol=1e-9)
    assert list(model.feature_names_in_) == ["who", "what"]
    again = model.save(tmp_path / "copy")
    run("certify", again, file)  # read as the shell had read it
    assert "stars.csv: 250 values" in run("info", again).stdout
    model.partial_fit([("u1", "i3")], [4.0]).save(again, overwrite=True)
    assert "data given in Python" in run("info", again).stdout


def test_rows_folded_in_are_saved(model, tmp_path):
    more = model.fold_in({"new": {"i1": 5.0, "i2": 1.0}})
    again = MatrixCompletion.load(more.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict([("new", "i3")]), more.predict([("new", "i3")]))


def test_nothing_that_is_there_is_lost(model, folder, tmp_path):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match="overwrite=True is needed to replace the model"):
        model.save(folder)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    model.save(folder, overwrite=True)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for asked in (False, True):
        with pytest.raises(ValueError, match="is not a model; name another place"):
            model.save(mine, overwrite=asked)
        with pytest.raises(ValueError, match="is not a model; name another place"):
            model.save(mine / "thesis.txt", overwrite=asked)
    assert (mine / "thesis.txt").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "model"]


def test_a_save_that_fails_leaves_the_model_that_was_there(model, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = MatrixCompletion(radius=5.0).fit(*data())

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        other.save(folder, overwrite=True)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_what_is_no_model_gets_a_sentence(folder, tmp_path):
    def refused(path):
        with pytest.raises(ValueError, match=r"^MatrixCompletion: ") as error:
            MatrixCompletion.load(path)
        return str(error.value)

    assert "does not exist" in refused(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    assert "is not a model folder: model.json is missing" in refused(tmp_path / "empty")
    file = folder / "factors.npz"
    held = file.read_bytes()
    file.write_bytes(held[:-10] + b"0123456789")
    assert "factors.npz was altered" in refused(folder)
    file.unlink()
    assert "factors.npz is missing" in refused(folder)
    file.write_bytes(held)
    page = folder / "model.json"
    text = page.read_text()
    page.write_text(text.replace('"spectraplex model": 1', '"spectraplex model": 9'))
    assert "has format 9; this version reads 1" in refused(folder)
    page.write_text(text[: len(text) // 2])
    assert "model.json is damaged" in refused(folder)
    page.write_text("{}")
    assert "about something else" in refused(folder)
    page.write_text(text)
    MatrixCompletion.load(folder)


def test_arguments_that_make_no_sense(model, tmp_path):
    for wrong in (None, 3, ""):
        with pytest.raises(TypeError, match="needs the name of a folder"):
            model.save(wrong)
        with pytest.raises(TypeError, match="needs the name of a folder"):
            MatrixCompletion.load(wrong)
    with pytest.raises(TypeError, match="overwrite must be True or False"):
        model.save(tmp_path / "x", overwrite="yes")
    with pytest.raises(ValueError, match="not fitted"):
        MatrixCompletion().save(tmp_path / "x")
    odd = MatrixCompletion(radius=5.0).fit([((1, 2), "a"), ((1, 2), "b"), ((3, 4), "a")], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="only strings and numbers can be written"):
        odd.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())
