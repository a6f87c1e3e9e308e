"""Rankings of held-out values: in complete --test, in info, and in the report."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("jinja2")

from typer.testing import CliRunner

from pages import Page
from spectraplex import report
from spectraplex.cli.app import app
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.metrics import evaluate
from spectraplex.report import ranks
from spectraplex.report.ranks import Ranked, ranked
from spectraplex.report.scores import judged

KEYS = ("recall", "precision", "ndcg", "map", "coverage")


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def data():
    table = ratings_like(60, 30, 900, seed=1)
    pairs = [(f"u{row}", f"i{col}") for row, col in zip(table.rows, table.cols, strict=True)]
    held = np.random.default_rng(0).random(900) < 0.2
    parts = ([pair for pair, yes in zip(pairs, which, strict=True) if yes] for which in (~held, held))
    train, test = parts
    return train, table.values[~held], test, table.values[held]


@pytest.fixture(scope="module")
def model():
    return MatrixCompletion(radius=15.0).fit(*data()[:2])


@pytest.fixture(scope="module")
def found(model):
    return ranked(model, judged(model, data()[2:]))


def least_of(values) -> float:
    """The smallest value that at least 60 % of all are below or at, by sorting."""
    return float(np.sort(values)[int(np.ceil(0.6 * (len(values) - 1)))])


def test_the_figures_are_those_of_evaluate(model, found):
    _, values, test, truth = data()
    assert found.relevant == least_of(values)
    assert found.figures == evaluate(model, test, truth, k=10, relevant=found.relevant)
    assert list(found.figures) == ["model", "most popular", "biases alone"]
    assert found.rows == found.ranked >= 20
    assert found.whose == f"{found.rows} rows"


def test_pairs_that_were_fitted_do_not_count(model, found):
    train, values, test, truth = data()
    more = ranked(model, judged(model, ([*test, *train], [*truth, *values])))
    assert more.figures == found.figures and more.rows == found.rows
    assert ranked(model, judged(model, (train, values))) is None  # nothing new is left


def test_too_few_rows_are_not_ranked(model, found):
    _, _, test, truth = data()
    high = [pair for pair, value in zip(test, truth, strict=True) if value >= found.relevant]
    rows = list(dict.fromkeys(row for row, _ in high))
    for count, there in ((19, False), (20, True)):
        some = [pair for pair in high if pair[0] in rows[:count]]
        answer = ranked(model, judged(model, (some, [found.relevant] * len(some))))
        assert (answer is not None) == there
    assert answer.ranked == 20
    assert ranked(model, judged(model, None)) is None


def test_of_many_rows_some_are_drawn_and_that_is_said(model, found, monkeypatch):
    monkeypatch.setattr(ranks, "_MOST", 25)
    held = judged(model, data()[2:])
    some = ranked(model, held)
    assert (some.ranked, some.rows) == (25, found.rows)
    assert some.whose == f"25 rows, drawn at random from {found.rows},"
    assert ranked(model, held) == some
    other = MatrixCompletion(radius=15.0, random_state=1).fit(*data()[:2])
    assert ranked(other, judged(other, data()[2:])).figures != some.figures
    assert "25 rows, drawn at random" in Page(report.render(model, held_out=data()[2:])).text


def test_of_two_values_the_higher_is_relevant():
    train, values, test, truth = data()
    model = MatrixCompletion(radius=15.0, loss="logistic").fit(train, (values > 4.0).astype(float))
    found = ranked(model, judged(model, (test, (truth >= 3.0).astype(float))))
    assert (found.relevant, found.because) == (1.0, "the higher of the two values")
    assert found.figures == evaluate(model, test, (truth >= 3.0).astype(float), relevant=1.0)


def test_a_document_is_plain_and_leads_back(found):
    document = json.loads(json.dumps(found.document()))
    assert Ranked.of(document) == found


def test_the_report_has_the_figures(model, found):
    page = Page(report.render(model, held_out=data()[2:]))
    for name, figures in found.figures.items():
        for key, shown in zip(KEYS, ("recall", "precision", "NDCG", "MAP", "coverage"), strict=True):
            assert page.facts[f"{name} {shown}"] == asdict(figures)[key]
    assert f"one of at least {found.relevant:g}, the 60 % quantile of the fitted values" in page.text
    assert "recall@10" not in Page(report.render(model)).text
    assert "recall@10" not in Page(report.render(model, held_out=([("u1", "i1")], [5.0]))).text


def test_the_shell_tells_the_figures(found, tmp_path):
    train, values, test, truth = data()
    for name, pairs, numbers in (("train", train, values), ("test", test, truth)):
        lines = [f"{row},{col},{value:g}" for (row, col), value in zip(pairs, numbers, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,item,stars", *lines]) + "\n")
    words = ("complete", tmp_path / "train.csv", "-o", tmp_path / "m", "--radius", 15, "--test", tmp_path / "test.csv")
    facts = json.loads(run(*words, "--json").stdout)["test"]["ranking"]
    assert (facts["relevant"], facts["rows"], facts["ranked"]) == (found.relevant, found.rows, found.rows)
    for name, figures in found.figures.items():  # the same fit, from a file that has the same values
        assert facts["figures"][name] == pytest.approx({key: asdict(figures)[key] for key in KEYS}, rel=1e-9)
    page = Page((tmp_path / "m" / "report.html").read_text(encoding="utf-8"))
    assert page.facts["model NDCG"] == facts["figures"]["model"]["ndcg"]
    said = run("info", tmp_path / "m").stdout
    assert f"ranking      {found.rows} rows with a test value of at least {found.relevant:g} (the 60 % quantile" in said
    assert f"most popular: recall@10 {found.figures['most popular'].recall:.4f}, precision@10" in said
    told = run(*words, "--force", "--no-report").stdout
    assert said[said.index("ranking ") :].strip() in told
    few = tmp_path / "few.csv"
    few.write_text("user,item,stars\nu1,i1,5\n")
    told = run(*words[:-1], few, "--force", "--no-report").stdout
    assert "RMSE" in told and "ranking" not in told


def test_labels_may_be_pairs_themselves():
    model = MatrixCompletion(radius=5.0).fit([((1, 2), "a"), ((1, 2), "b"), ((3, 4), "a")], [1.0, 2.0, 3.0])
    assert evaluate(model, [((3, 4), "b")], k=1)["most popular"].recall == 1.0
    for wrong in (["ab"], [3], [("x", "y", "z")], [np.array(3)]):
        with pytest.raises(ValueError, match=r"evaluate: pairs\[0\] is .*, not a row label and a column label"):
            evaluate(model, wrong)
