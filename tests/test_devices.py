"""Devices that are not there: a sentence each, from Python and from the shell; "auto" never minds."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import spectraplex as sx
from spectraplex.cli.app import app
from spectraplex.estimators import MatrixCompletion, devices

PAIRS, VALUES = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)], [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("user,item,value\n" + "".join(f"u{i},i{j},{v}\n" for (i, j), v in zip(PAIRS, VALUES, strict=True)))
    return file


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_without_torch(no_torch):
    with pytest.raises(
        ImportError, match=r"needs Torch, which is not installed; in a checkout, pip install '\.\[torch\]'"
    ):
        MatrixCompletion(2.0, device="cuda").fit(PAIRS, VALUES)
    problem = sx.Problem(sx.Distance(np.eye(2)), sx.Spectrahedron(2))
    with pytest.raises(ImportError, match=r"Problem\.to: device='cpu' needs Torch"):
        problem.to("cpu")


def test_auto_without_torch(no_torch, monkeypatch):
    monkeypatch.setattr(devices, "PAYS", 1)
    here, auto = (MatrixCompletion(2.0, device=device).fit(PAIRS, VALUES) for device in (None, "auto"))
    assert np.array_equal(here.U_, auto.U_)


def test_a_model_keeps_how_it_was_fitted(tmp_path):
    model = MatrixCompletion(2.0, device="auto").fit(PAIRS, VALUES)
    model.save(tmp_path / "model")
    assert MatrixCompletion.load(tmp_path / "model").device == "auto"


@pytest.mark.parametrize(
    ("device", "words"), [("cuda", "needs Torch"), ("cpu", "needs Torch"), ("auto", ""), (None, "")]
)
def test_the_shell(device, words, table, tmp_path, no_torch):
    asked = ["complete", str(table), "--out", str(tmp_path / "model"), "--radius", "2", "--no-report"]
    done = CliRunner().invoke(app, asked + (["--device", device] if device else []))
    assert done.exit_code == (2 if words else 0) and words in done.stderr
    assert (tmp_path / "model").exists() == (not words)


def test_the_shell_fills_a_table(tmp_path, no_torch):
    file = tmp_path / "wide.csv"
    file.write_text("a,b,c\n1,2,3\n2,,6\n3,6,9\n4,8,\n5,10,15\n", encoding="utf-8")
    asked = ["impute", str(file), "--out", str(tmp_path / "full.csv")]
    assert CliRunner().invoke(app, [*asked, "--device", "cuda"]).exit_code == 2
    assert not (tmp_path / "full.csv").exists()
    assert CliRunner().invoke(app, [*asked, "--device", "auto"]).exit_code == 0


def test_not_on_a_cluster(table, tmp_path):
    asked = ["complete", str(table), "--out", str(tmp_path / "model"), "--cluster", "local", "--device", "cuda"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2 and "--device is for one machine" in done.stderr
