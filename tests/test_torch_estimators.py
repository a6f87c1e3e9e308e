"""Estimators that solve on a device: the same answers as here, NumPy's arrays, certificates that are verified here."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import spectraplex as sx

torch = pytest.importorskip("torch")

from spectraplex.estimators import (  # noqa: E402
    MatrixCompletion,
    NuclearNormImputer,
    OneClassCompletion,
    devices,
)
from spectraplex.estimators.completion.parameters import fitted_recipe  # noqa: E402
from spectraplex.places.devices import DeviceMissing  # noqa: E402


def ratings(seed=0, m=40, n=25):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((m, n)) < 0.4)
    low = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    values = 3.0 + 0.7 * low[rows, cols] + 0.3 * rng.standard_normal(rows.size)
    return np.stack([rows, cols], axis=1), values


SETTINGS = [
    dict(radius=8.0),
    dict(radius=8.0, implicit=0.6, weighting="plain"),
    dict(radius=8.0, loss="huber", delta=0.5, ridge=2.0),
    dict(radius=8.0, intercepts=False),
    dict(),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_completion(settings, tmp_path):
    pairs, values = ratings()
    here = MatrixCompletion(**settings).fit(pairs, values)
    away = MatrixCompletion(**settings, device="cpu").fit(pairs, values)
    assert away.radius_ == pytest.approx(here.radius_, rel=1e-6)
    assert away.certificate_.gap <= away.allowed_gap_ * (1 + 1e-6)
    gaps = away.certificate_.gap + here.certificate_.gap
    assert abs(away.certificate_.value - here.certificate_.value) <= gaps
    assert np.allclose(away.predict(pairs), here.predict(pairs), atol=0.25)
    for name in ("U_", "s_", "V_", "profiles_", "row_intercepts_", "column_intercepts_"):
        assert type(vars(away)[name]) is np.ndarray
    away.save(tmp_path / "model")
    loaded = MatrixCompletion.load(tmp_path / "model")
    assert loaded.device == "cpu" and np.array_equal(loaded.predict(pairs), away.predict(pairs))
    assert clone(away).device == "cpu"


def test_its_certificate_is_verified_here():
    pairs, values = ratings()
    model = MatrixCompletion(8.0, device="cpu").fit(pairs, values)
    objective = fitted_recipe(model).objective(model.observations_, model.offset_)
    problem = sx.Problem(objective, sx.NuclearBall(objective.shape, model.radius_))
    verdict = sx.verify(model.certificate_, problem, (model.U_, model.s_, model.V_))
    assert verdict, str(verdict)


def test_more_data_and_features():
    pairs, values = ratings()
    model = MatrixCompletion(8.0, device="cpu").fit(pairs[::2], values[::2])
    model.update(pairs[1::2], values[1::2])
    assert model.certificate_.gap <= model.allowed_gap_ * (1 + 1e-6) and type(model.U_) is np.ndarray
    known = np.random.default_rng(1).standard_normal((40, 2))
    told = {"row_features": (np.arange(40), known)}
    here = MatrixCompletion(8.0).fit(pairs, values, **told)
    away = MatrixCompletion(8.0, device="cpu").fit(pairs, values, **told)
    gaps = away.certificate_.gap + here.certificate_.gap
    assert abs(away.certificate_.value - here.certificate_.value) <= gaps


def test_clicks():
    pairs, values = ratings()
    some = pairs[values > 3.0]
    here = OneClassCompletion(8.0, unobserved_weight=0.05).fit(some)
    away = OneClassCompletion(8.0, unobserved_weight=0.05, device="cpu").fit(some)
    gaps = away.certificate_.gap + here.certificate_.gap
    assert abs(away.certificate_.value - here.certificate_.value) <= gaps
    assert type(away.U_) is np.ndarray and type(away.row_factors_) is np.ndarray
    chosen = OneClassCompletion(device="cpu").fit(some)  # rough solves choose the radius: near that of this machine
    assert 0.5 < chosen.radius_ / OneClassCompletion().fit(some).radius_ < 2.0 and chosen.status_ == "GAP"


@pytest.mark.parametrize("metric", ["learned", "identity"])
def test_imputer(metric):
    rng = np.random.default_rng(3)
    table = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 6)) + 0.1 * rng.standard_normal((30, 6))
    table[rng.random(table.shape) < 0.2] = np.nan
    here = NuclearNormImputer(metric=metric, radius=10.0, n_neighbors=0).fit(table)
    away = NuclearNormImputer(metric=metric, radius=10.0, n_neighbors=0, device="cpu").fit(table)
    assert sx.verify(away.certificate_, away.problem_, away.solution_)
    assert np.allclose(away.transform(table), here.transform(table), atol=0.05)
    assert type(away.transform(table)) is np.ndarray and isinstance(
        away.problem_.objective, type(here.problem_.objective)
    )


@pytest.mark.parametrize("kind", [MatrixCompletion, OneClassCompletion, NuclearNormImputer])
def test_devices_that_are_not_there(kind):
    data = (np.array([[0.0, np.nan], [1.0, 2.0], [2.0, 3.0]]),) if kind is NuclearNormImputer else ratings(m=6, n=5)
    data = data[:1] if kind is OneClassCompletion else data
    for device, words in (("gpu", "device must be"), ("mps", "device must be")):
        with pytest.raises(ValueError, match=words):
            kind(device=device).fit(*data)
    with pytest.raises(TypeError, match="device must be None"):
        kind(device=3).fit(*data)
    if not torch.cuda.is_available():
        with pytest.raises(DeviceMissing, match="leave device out"):
            kind(device="cuda").fit(*data)


def test_auto_is_never_an_error(monkeypatch):
    pairs, values = ratings()
    model = MatrixCompletion(8.0, device="auto").fit(pairs, values)
    assert model.certificate_.value == MatrixCompletion(8.0).fit(pairs, values).certificate_.value  # too small to pay
    monkeypatch.setattr(devices, "PAYS", 1)
    if not torch.cuda.is_available():
        assert devices.solver_for("x", "auto", 10**9) is sx.solve
    monkeypatch.setattr(devices, "sees_cuda", lambda: True)
    assert isinstance(devices.solver_for("x", "auto", 10), devices.OnDevice)
    assert devices.solver_for("x", None, 10**9) is sx.solve


def test_the_shell(tmp_path):
    from typer.testing import CliRunner

    from spectraplex.cli.app import app

    pairs, values = ratings()
    lines = (f"u{i},i{j},{v!r}\n" for (i, j), v in zip(pairs.tolist(), values.tolist(), strict=True))
    (tmp_path / "table.csv").write_text("user,item,value\n" + "".join(lines), encoding="utf-8")
    asked = ["complete", str(tmp_path / "table.csv"), "--radius", "8", "--no-report", "--out", str(tmp_path / "model")]
    done = CliRunner().invoke(app, [*asked, "--device", "cpu", "--checkpoint", "0"])
    assert done.exit_code == 0, done.output
    model = MatrixCompletion.load(tmp_path / "model")
    assert model.device == "cpu" and model.status_ == "GAP"
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "model")])
    assert done.exit_code == 0, done.output
    if not torch.cuda.is_available():
        done = CliRunner().invoke(app, [*asked, "--force", "--device", "cuda"])
        assert done.exit_code == 2 and "CUDA" in done.stderr and "Traceback" not in done.output
