"""OneClassCompletion.save and load: the same folders, and no estimator takes the model of another."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import spectraplex as sx
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion, OneClassCompletion
from spectraplex.estimators.completion.store_parts import checksum

ARRAYS = ("U_", "s_", "V_", "row_factors_", "column_factors_")
NUMBERS = ("radius_", "unobserved_weight_", "multiplier_", "n_iter_", "rank_", "seed_", "status_", "shape_")


def data():
    table = ratings_like(30, 20, 250, seed=3)
    return [(f"u{row}", f"i{col}") for row, col in zip(table.rows, table.cols, strict=True)], table.values


@pytest.fixture(scope="module")
def model():
    return OneClassCompletion(radius=4.0).fit(*data())


@pytest.fixture
def folder(model, tmp_path):
    return model.save(tmp_path / "model")


def same(again, model):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert [getattr(again, name) for name in NUMBERS] == [getattr(model, name) for name in NUMBERS]
    assert again.get_params() == model.get_params() and again.certificate_ == model.certificate_
    assert again.path_.keys() == model.path_.keys()
    for name, column in model.path_.items():
        np.testing.assert_array_equal(again.path_[name], column)
        assert again.path_[name].dtype == column.dtype
    np.testing.assert_array_equal(again.history_.as_dict()["value"], model.history_.as_dict()["value"])


def test_what_is_loaded_is_what_was_saved(model, folder):
    again = OneClassCompletion.load(folder)
    same(again, model)
    pairs = [("u1", "i3"), ("nobody", "i2")]
    np.testing.assert_array_equal(again.predict(pairs), model.predict(pairs))
    assert again.recommend(["u1", "nobody"], 3) == model.recommend(["u1", "nobody"], 3)
    assert again.similar(["i3"], 3) == model.similar(["i3"], 3)
    assert sx.verify(again.certificate_, again.problem(*data()), (again.U_, again.s_, again.V_))


def test_a_chosen_radius_and_names_of_columns_survive(tmp_path):
    pandas = pytest.importorskip("pandas")
    who, what = zip(*data()[0], strict=True)
    frame = pandas.DataFrame({"who": who, "what": what})
    model = OneClassCompletion(confidence="linear", weighting=0.1, unobserved_weight=0.05).fit(frame)
    assert model.path_["radius"].size > 2
    again = OneClassCompletion.load(str(model.save(str(tmp_path / "deep" / "model"))))
    same(again, model)
    assert list(again.feature_names_in_) == ["who", "what"]
    assert json.loads((tmp_path / "deep" / "model" / "model.json").read_text())["data"]["names"][:2] == ["who", "what"]


def test_labels_that_are_numbers_stay_numbers(tmp_path):
    model = OneClassCompletion(radius=2.0).fit([(7, 1), (7, 2), (9, 1), (2**60, 2), (2**60, 3)])
    again = OneClassCompletion.load(model.save(tmp_path / "model"))
    assert again.row_labels_.values.tolist() == [7, 9, 2**60]
    assert again.recommend([9], 1) == model.recommend([9], 1)


def test_no_estimator_takes_the_model_of_another(folder, tmp_path):
    with pytest.raises(ValueError, match="holds a OneClassCompletion, not a MatrixCompletion; in Python") as error:
        MatrixCompletion.load(folder)
    assert "spectraplex.estimators.OneClassCompletion.load reads it." in str(error.value)
    ratings = MatrixCompletion(radius=20.0).fit(*data()).save(tmp_path / "ratings")
    with pytest.raises(ValueError, match=r"^OneClassCompletion: .* holds a MatrixCompletion, not a One") as error:
        OneClassCompletion.load(ratings)
    assert "spectraplex.estimators.MatrixCompletion.load reads it, and so do the commands" in str(error.value)


def test_the_shell_says_what_reads_a_model_of_clicks(folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("u1,i3\n")
    asked = (["predict", folder, pairs], ["recommend", folder, "--row", "u1"], ["info", folder], ["verify", folder])
    for words in asked:
        done = CliRunner().invoke(app, [str(word) for word in words])
        said = " ".join(done.stderr.split())
        assert done.exit_code == 2, (words, done.stdout, said, done.exception)
        assert "holds a OneClassCompletion, not a MatrixCompletion" in said
        assert "spectraplex.estimators.OneClassCompletion.load reads it" in said


def test_nothing_that_is_there_is_lost(model, folder, tmp_path, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match=r"^OneClassCompletion: .*overwrite=True is needed to replace the model"):
        model.save(folder)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="is not a model; name another place"):
        model.save(mine, overwrite=True)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(OSError, match="No space left"):
            model.save(folder, overwrite=True)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "model"]
    model.save(folder, overwrite=True)


def test_what_is_no_model_gets_a_sentence(folder, tmp_path):
    def refused(path):
        with pytest.raises(ValueError, match=r"^OneClassCompletion: ") as error:
            OneClassCompletion.load(path)
        assert "MatrixCompletion" not in str(error.value)
        return str(error.value)

    assert "does not exist" in refused(tmp_path / "nothing")
    file = folder / "factors.npz"
    held = file.read_bytes()
    file.write_bytes(held[:-10] + b"0123456789")
    assert "factors.npz was altered" in refused(folder)
    file.write_bytes(held)
    page = folder / "model.json"
    text = page.read_text()
    page.write_text(text.replace("finished", "ready"))
    assert "model.json was altered" in refused(folder)
    for name, wrong in (("radius_", "wide"), ("rank_", None), ("multiplier_", True)):
        document = json.loads(text)
        document["model"]["numbers"][name] = wrong
        page.write_text(json.dumps(document | {"checksum": checksum(document)}))
        assert f"model.json is damaged (the stored model is damaged (missing or unknown entry: {name} is" in refused(
            folder
        )
    page.write_text(text)
    OneClassCompletion.load(folder)


def test_arrays_that_do_not_fit_together_are_refused(model):
    arrays, document = model.to_arrays()
    same(OneClassCompletion.from_arrays(dict(arrays), dict(document)), model)
    wrong = {
        "V_": arrays["V_"][:-1],
        "row_factors_": np.full_like(arrays["row_factors_"], np.nan),
        "cols": arrays["cols"] + 1,
        "values": -arrays["values"],
    }
    for name, array in wrong.items():
        with pytest.raises(ValueError, match="OneClassCompletion: the stored model is damaged"):
            OneClassCompletion.from_arrays(arrays | {name: array}, document)
    with pytest.raises(ValueError, match="damaged"):
        OneClassCompletion.from_arrays({name: each for name, each in arrays.items() if name != "U_"}, document)
    with pytest.raises(ValueError, match="no model of format"):
        OneClassCompletion.from_arrays(arrays, document | {"estimator": "MatrixCompletion"})
    with pytest.raises(TypeError, match="needs the arrays and the document"):
        OneClassCompletion.from_arrays(document, None)


def test_arguments_that_make_no_sense(model, tmp_path):
    for wrong in (None, 3, ""):
        with pytest.raises(TypeError, match=r"^OneClassCompletion: save needs the name of a folder"):
            model.save(wrong)
        with pytest.raises(TypeError, match=r"^OneClassCompletion: load needs the name of a folder"):
            OneClassCompletion.load(wrong)
    with pytest.raises(TypeError, match=r"^OneClassCompletion: overwrite must be True or False"):
        model.save(tmp_path / "x", overwrite="yes")
    with pytest.raises(ValueError, match="not fitted"):
        OneClassCompletion().save(tmp_path / "x")
    odd = OneClassCompletion(radius=1.0).fit([((1, 2), "a"), ((1, 2), "b"), ((3, 4), "a")])
    with pytest.raises(TypeError, match=r"^OneClassCompletion: the label .* only strings and numbers can be written"):
        odd.save(tmp_path / "x")
    drawn = OneClassCompletion(radius=1.0, random_state=np.random.RandomState(0)).fit([("x", "a"), ("y", "b")])
    with pytest.raises(TypeError, match=r"^OneClassCompletion: the setting .* cannot be written down"):
        drawn.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())
