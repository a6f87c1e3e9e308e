"""spectraplex tomography: files in three layouts, the folder, the report, refusals in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import tomograms as sim
from spectraplex.cli.app import app
from spectraplex.estimators import StateTomography
from spectraplex.report import state as report

WORDS = sim.all_settings(2)
COUNTS = sim.counted(sim.noisy(sim.w_state(2), 0.1), WORDS, 100, np.random.default_rng(0))
BITS = ["00", "01", "10", "11"]


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in ("tomography", *words)])
    assert done.exit_code == code, (done.stdout, done.stderr)
    return done


@pytest.fixture
def file(tmp_path) -> Path:
    rows = [f"{w},{b},{n}" for w, row in zip(WORDS, COUNTS, strict=True) for b, n in zip(BITS, row, strict=True) if n]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(["setting,outcome,count", *rows]) + "\n", encoding="utf-8")
    return path


def test_a_file_becomes_a_folder_with_a_report(file, tmp_path):
    done = run(file, "-o", tmp_path / "state", "--target", "W", "--bootstrap", "5")
    assert "fidelity with W" in done.stdout and "at most" in done.stdout and "one outcome a line" in done.stderr
    facts = json.loads((tmp_path / "state" / "state.json").read_text(encoding="utf-8"))
    held = np.load(tmp_path / "state" / "state.npz")
    model = StateTomography().fit(WORDS, COUNTS)
    assert np.abs(held["density_matrix"] - model.density_matrix()).max() < 0.02
    assert np.isclose(held["weights"].sum(), 1.0) and facts["settings"] == list(model.settings_)
    assert facts["numbers"]["purity"]["low"] < facts["numbers"]["purity"]["high"] and facts["refits"] == 5
    page = (tmp_path / "state" / "report.html").read_text(encoding="utf-8")
    for words in ("Real part", "Imaginary part", "Eigenvalues", "Fit of every setting", "at most", "refits", "<svg"):
        assert words in page, words
    assert "http" not in page.replace("http-equiv", "")
    assert "is there already; give --force" in run(file, "-o", tmp_path / "state", code=2).stderr
    quiet = run(file, "-o", tmp_path / "state", "--force", "--bootstrap", "0", "--json", "-q", "--no-report")
    assert json.loads(quiet.stdout)["refits"] == 0 and quiet.stderr == ""
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["state.json", "state.npz"]


def test_other_layouts_and_the_other_direction_of_bits(file, tmp_path):
    model = StateTomography().fit(WORDS, COUNTS)
    wide, document, turned = (tmp_path / name for name in ("wide.tsv", "counts.json", "turned.csv"))
    lines = ["\t".join([w, *map(str, row)]) for w, row in zip(WORDS, COUNTS, strict=True)]
    wide.write_text("\n".join(["\t".join(["setting", *BITS]), *lines]), encoding="utf-8")
    each = {w: dict(zip(BITS, row.tolist(), strict=True)) for w, row in zip(WORDS, COUNTS, strict=True)}
    document.write_text(json.dumps(each), encoding="utf-8")
    rows = [f"{w};{b[::-1]};{n}" for w, held in each.items() for b, n in held.items()]  # no header, semicolons
    turned.write_text("\n".join(rows), encoding="utf-8")
    for path, more in ((wide, ()), (document, ()), (turned, ("--bit-order", "reversed"))):
        run(path, "-o", tmp_path / path.stem, "--no-report", "--bootstrap", "0", *more)
        rho = np.load(tmp_path / path.stem / "state.npz")["density_matrix"]
        assert np.abs(rho - model.density_matrix()).max() < 0.02


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("setting,outcome,count\nXX,000,3\n", "'000' is impossible"),
        (
            "# a remark\nsetting,outcome,count\nXX,00,3\nXX,02,1\n",
            "counts.csv: line 4 (setting 'XX'): the outcome '02'",
        ),
        ("setting,00,12\nXX,3,1\n", "counts.csv: line 2 (setting 'XX'): the outcome '12'"),
        ("setting,outcome,count\nXX,00,many\n", "line 2: the count 'many'"),
        ("setting,outcome,count\nXX,00,-1\n", "line 2: the count '-1'"),
        ("setting,outcome,count\nXX,00\n", "line 2 has 2 fields"),
        ("setting,outcome,count\nXQ,00,1\n", "'Q' is no basis"),
        ("setting,outcome,count\nXX,00,1\nX,0,1\n", "1 letters"),
        ("setting,outcome,count\nXX,00,0\n", "all counts are zero"),
        ("setting,outcome,count\n", "there are no counts"),
        ("preparation,setting,outcome,count\nZ,X,0,1\n", "process tomography is not here yet"),
        ("a,b\n1,2\n", "columns named setting, outcome and count"),
        ("", "is empty"),
        ("# a remark\n\nsetting,outcome,count\n# another\nXX,00,3\nXX,01,many\n", "line 6: the count 'many'"),
        ("setting,outcome,count\nXXXX,10,3\nXXXX,11,3\n", "'10' is impossible; 4 bits were expected"),
        ("prepared,setting,outcome,count\nZ,X,0,1\n", "process tomography is not here yet"),
        ("setting,outcome,count\nXX,00,1e300\n", "has 1e+300 shots"),
        (f"setting,outcome,count\n{'X' * 200000},00,1\n", "line 2 is no line of a table"),
    ],
)
def test_bad_files_get_a_sentence(text, words, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(text, encoding="utf-8")
    done = run(path, "-o", tmp_path / "state", code=2)
    assert words in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "state").exists()


def test_bad_arguments_get_a_sentence(file, tmp_path):
    out = tmp_path / "state"
    assert "does not exist" in run(tmp_path / "no.csv", "-o", out, code=2).stderr
    assert "likelihood must be one of" in run(file, "-o", out, "--likelihood", "best", code=2).stderr
    assert "bit_order" in run(file, "-o", out, "--bit-order", "big", code=2).stderr
    assert "'cat' is not known" in run(file, "-o", out, "--target", "cat", "--bootstrap", "0", code=2).stderr
    assert "at least 2" in run(file, "-o", out, "--bootstrap", "1", code=2).stderr
    assert "is not a state" in run(file, "-o", tmp_path, "--force", code=2).stderr
    assert "there is no folder" in run(file, "-o", tmp_path / "a" / "b", code=2).stderr
    (tmp_path / "bad.json").write_text("[1]", encoding="utf-8")
    assert "a dictionary of settings" in run(tmp_path / "bad.json", "-o", out, code=2).stderr
    (tmp_path / "bad.json").write_text('{"XX": {"00": "a"}}', encoding="utf-8")
    assert "setting 'XX', outcome '00': the count 'a'" in run(tmp_path / "bad.json", "-o", out, code=2).stderr
    (tmp_path / "bad.json").write_text('{"XX": {"00": 1}, "XX": {"11": 1}}', encoding="utf-8")
    assert "'XX' comes twice" in run(tmp_path / "bad.json", "-o", out, code=2).stderr
    (tmp_path / "bad.json").write_text("[" * 100000, encoding="utf-8")
    assert "nested too deeply" in run(tmp_path / "bad.json", "-o", out, code=2).stderr
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x01")
    assert "is not a text file" in run(tmp_path / "bytes.csv", "-o", out, code=2).stderr


def test_reports_of_other_sizes(tmp_path):
    rng = np.random.default_rng(1)
    words = ["".join(word) for word in np.array(list("XYZ"))[rng.integers(0, 3, (5, 6))]]
    counts = sim.counted(sim.noisy(sim.w_state(6), 0.1), words, 50, rng)
    model = StateTomography("least-squares").fit(words, counts)
    page = report.render(model, target=sim.w_state(6), source="<b>&", command=["spectraplex", "a b"])
    assert "32 rows with the largest chances, of 64" in page and "&lt;b&gt;&amp;" in page and "&#39;a b&#39;" in page
    assert "misfit of any other state" in page and "no error bars" in page
    one = report.render(StateTomography().fit(["X"], [[3, 1]]))
    assert "<svg" in one
    with pytest.raises(TypeError, match="StateTomography"):
        report.render(3)
    with pytest.raises(FileNotFoundError, match="no folder"):
        report.write(model, tmp_path / "no" / "report.html")


def test_frequencies_of_ions_with_shots(tmp_path):
    path, out = tmp_path / "ions.csv", tmp_path / "state"
    rows = [",".join([w, *(f"{n / 100:.2f}" for n in row)]) for w, row in zip(WORDS, COUNTS, strict=True)]
    path.write_text("\n".join(["setting,DD,DS,SD,SS", *rows]), encoding="utf-8")
    done = run(path, "-o", out, "--no-report", "--bootstrap", "0", code=2)
    assert "shots=100" in done.stderr and "--shots 100" in done.stderr
    done = run(path, "-o", out, "--no-report", "--bootstrap", "0", "--shots", "100")
    assert "outcomes='SD' turns that" in done.stderr
    model = StateTomography().fit(WORDS, COUNTS)
    assert json.loads((out / "state.json").read_text(encoding="utf-8"))["shots"] == 900
    assert np.abs(np.load(out / "state.npz")["density_matrix"] - model.density_matrix()).max() < 1e-12
    run(path, "-o", out, "--force", "--no-report", "--bootstrap", "0", "--shots", "100", "--outcomes", "SD")
    other = StateTomography().fit(WORDS, COUNTS[:, ::-1])
    assert np.abs(np.load(out / "state.npz")["density_matrix"] - other.density_matrix()).max() < 1e-12


def test_a_table_without_settings(tmp_path):
    path, rows, out = tmp_path / "table.txt", tmp_path / "rows.txt", tmp_path / "state"
    np.savetxt(path, COUNTS, fmt="%d", header="counts of all outcomes")
    rows.write_text("\n".join(WORDS), encoding="utf-8")
    quick = ("--no-report", "--bootstrap", "0", "--force")
    assert "--bases XYZ" in run(path, "-o", out, *quick, code=2).stderr
    held = []
    for more in (("--bases", "XYZ"), ("--settings", rows)):
        assert "taken as XX, XY, XZ, …, ZZ" in run(path, "-o", out, *quick, *more).stderr
        held.append(np.load(out / "state.npz")["density_matrix"])
    assert np.array_equal(held[0], StateTomography().fit(WORDS, COUNTS).density_matrix()) and np.array_equal(*held)
    assert "bases must say" in run(path, "-o", out, *quick, "--bases", "QQQ", code=2).stderr
    assert "does not exist" in run(path, "-o", out, *quick, "--settings", tmp_path / "no.txt", code=2).stderr
