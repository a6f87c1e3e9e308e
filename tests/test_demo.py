"""The demo and its pictures, at sizes that take seconds: what is written, printed and refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spectraplex as sx
from spectraplex import plots
from spectraplex.demo import __main__ as demo
from spectraplex.demo import photograph as demo_photo
from spectraplex.demo import table as demo_table

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def trace() -> sx.Trace:
    A = np.diag([0.5, 0.3, 0.2, 0.0])
    return sx.solve(sx.Problem(sx.Distance(A), sx.Spectrahedron(4)), "cg", sx.Stop(max_steps=12)).trace


def test_the_whole_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert demo.main(["--out", "new/folder"], quick=True) == 0
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    assert max(map(len, printed.splitlines())) <= 100
    for name, label in demo.RACERS.items():
        assert [line for line in printed.splitlines() if label in line and f'"{name}"' in line], name
    where = Path("new") / "folder"
    for file in ("race.png", "photograph.png", "state.png"):
        assert str(where / file) in printed
        assert (where / file).read_bytes().startswith(PNG)
    assert {path.name for path in tmp_path.iterdir()} == {"new"}
    assert str(where / "report.html") in printed and "<html" in (where / "report.html").read_text(encoding="utf-8")
    assert {path.name for path in where.iterdir()} == {"race.png", "photograph.png", "state.png", "report.html"}


def test_the_table_is_judged_on_what_the_fit_has_not_seen():
    table = demo_table.fit(quick=True)
    pairs, stars = table.held_out
    seen = set(zip(table.model.observations_.rows.tolist(), table.model.observations_.cols.tolist(), strict=True))
    codes = table.model.row_labels_.codes(pairs[:, 0], "", ""), table.model.column_labels_.codes(pairs[:, 1], "", "")
    assert not seen & set(zip(codes[0].tolist(), codes[1].tolist(), strict=True))
    assert table.error == pytest.approx(np.sqrt(np.mean((table.model.predict(pairs) - stars) ** 2)))
    assert table.error < min(table.baselines.values())


def test_the_race_is_certified_and_repeats_itself():
    first, second = demo.race(quick=True), demo.race(quick=True)
    assert first.bound <= first.best <= min(result.value for result in first.results.values())
    for name, result in first.results.items():
        assert result.value == second.results[name].value
        assert result.products == second.results[name].products
        assert result.trace[-1].step == first.steps
        # Each own gap, from its own bound, cannot promise more than the best bound of all.
        assert first.above(name) <= first.gaps[name] * result.value * (1 + 1e-12)


def test_the_photograph_is_filled_from_known_pixels_only():
    filling = demo_photo.fill(quick=True)
    holes = np.any(filling.damaged != filling.original, axis=2)
    assert 0.5 < holes.mean() < 0.7
    assert np.array_equal(filling.filled[~holes], filling.original[~holes])
    assert filling.score > filling.mean_score + 3
    assert filling.radius in filling.tried
    assert filling.misfit(filling.result.lower_bound) <= filling.misfit(filling.result.value)


def test_a_file_as_folder_is_one_sentence(tmp_path, capsys):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    for out in (taken, taken / "below"):
        assert demo.main(["--out", str(out)], quick=True) == 2
        printed, complaint = capsys.readouterr()
        assert printed == ""
        assert complaint.count("\n") == 1 and complaint.endswith(".\n") and str(out) in complaint
    assert taken.read_text() == "mine"


def test_a_picture_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "race.png").mkdir()
    assert demo.main(["--out", str(tmp_path)], quick=True) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1 and "race.png" in complaint


def test_control_c_ends_the_demo(tmp_path, monkeypatch, capsys):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sx.METHODS["cg"].__class__, "step", interrupt)  # as a Ctrl-C in the middle of a solve
    assert demo.main(["--out", str(tmp_path)], quick=True) == 130
    assert capsys.readouterr().err == "Interrupted: nothing more will be written.\n"


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_control_c_from_outside(tmp_path):
    command = [sys.executable, "-m", "spectraplex.demo", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it is running
        complaint = None
        for _ in range(5):  # a signal that arrives while another package is being imported may be lost there
            process.send_signal(signal.SIGINT)
            try:
                complaint = process.communicate(timeout=8)[1]
                break
            except subprocess.TimeoutExpired:
                continue
    assert process.returncode == 130
    assert complaint == "Interrupted: nothing more will be written.\n"


def test_without_matplotlib_the_remedy_is_named(tmp_path, monkeypatch, capsys, trace):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.convergence({"CG": trace})
    assert demo.main(["--out", str(tmp_path / "out")], quick=True) == 2
    assert capsys.readouterr().err == "Pictures need matplotlib: pip install matplotlib.\n"
    assert not (tmp_path / "out").exists()


def test_without_jinja2_the_remedy_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert demo.main(["--out", str(tmp_path / "out")], quick=True) == 2
    assert capsys.readouterr().err == "The report needs jinja2: pip install jinja2.\n"


def test_convergence_subtracts_the_best_certified_bound(trace):
    against = ("step", "atoms", "seconds")
    figure = plots.convergence({"CG": trace}, against=against)
    assert [axes.get_xlabel() for axes in figure.axes] == [plots._AXES[name] for name in against]
    drawn = figure.axes[0].lines[0].get_ydata()
    bound = max(record.lower_bound for record in trace)
    assert np.allclose(drawn, [record.value - bound for record in trace])
    assert figure.axes[0].get_yscale() == "log"


def test_convergence_draws_bare_values_when_nothing_is_certified():
    result = sx.solve(
        sx.Problem(sx.Distance(np.eye(3)), sx.Spectrahedron(3)), "cg", sx.Stop(max_steps=5), certify=False
    )
    figure = plots.convergence({"CG": result.trace}, against=("step",))
    assert figure.axes[0].get_ylabel() == "value"
    assert np.allclose(figure.axes[0].lines[0].get_ydata(), [record.value for record in result.trace])


def test_pictures_are_the_same_bytes_each_time(tmp_path, trace):
    images = [np.full((20, 30), level) for level in (0.0, 300.0)]
    for number in "12":
        plots.save(plots.convergence({"CG": trace}), tmp_path / f"curve{number}.png")
        both = plots.before_after(images, ["black", "white"], detail=(2, 2, 5, 5))
        plots.save(both, tmp_path / f"both{number}.png")
    for name in ("curve", "both"):
        assert (tmp_path / f"{name}1.png").read_bytes() == (tmp_path / f"{name}2.png").read_bytes()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda trace: plots.convergence({}), "no records"),
        (lambda trace: plots.convergence({"CG": sx.Trace()}), "for CG"),
        (lambda trace: plots.convergence({"CG": trace}, against=("hours",)), "'hours'"),
        (lambda trace: plots.convergence({"CG": trace}, against=()), "nothing"),
        (lambda trace: plots.before_after([np.zeros((2, 2))], []), "0 titles"),
        (lambda trace: plots.before_after([np.zeros((2, 2)), np.zeros((3, 2))], ["a", "b"]), "one shape"),
    ],
)
def test_bad_requests_are_named(trace, call, words):
    with pytest.raises(ValueError, match=words):
        call(trace)
