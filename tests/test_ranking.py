"""Which columns are recommended, and how they are asked for in a shell."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from typer.testing import CliRunner

from spectraplex.cli.app import app
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion import serving

RNG = np.random.default_rng(0)
COUNTS = np.concatenate([np.full(150, 30), np.full(250, 3)])  # half of what is observed, and more, is of 150 columns
COLS = np.repeat(np.arange(400), COUNTS)
ROWS = np.concatenate([RNG.permutation(60)[:count] for count in COUNTS])
VALUES = np.clip(3.0 + RNG.standard_normal(60)[ROWS] + RNG.standard_normal(COLS.size), 1.0, 5.0)
PAIRS = np.column_stack([ROWS, COLS])


@pytest.fixture(scope="module")
def model():
    return MatrixCompletion(radius=20.0).fit(PAIRS, VALUES)


def naive(model, row, n, allowed):
    """By predictions of all pairs, one at a time."""
    seen = set(COLS[row == ROWS].tolist())
    left = [c for c in allowed if c not in seen]
    scores = model.predict([(row, c) for c in left])
    order = np.lexsort((left, -scores))[:n]
    return [(left[k], scores[k]) for k in order]


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, range(150)),
        ({"min_support": 0}, range(400)),
        ({"min_support": 4}, range(150)),
        ({"candidates": [5, 200, 300]}, [5, 200, 300]),
        ({"candidates": [5, 200, 300], "min_support": 10}, [5]),
        ({"exclude": [*range(100)]}, range(100, 150)),
    ],
)
def test_recommendations_are_the_best_of_what_is_allowed(model, settings, allowed):
    model.set_params(clip=False)
    for row, found in zip([3, 7], model.recommend([3, 7], 4, **settings), strict=True):
        expected = naive(model, row, 4, allowed)
        assert [label for label, _ in found] == [label for label, _ in expected]
        assert np.allclose([value for _, value in found], [value for _, value in expected], atol=1e-9)


def test_of_two_alike_the_one_with_more_support_is_recommended(model):
    """By default predictions are ranked less what the largest of so many errors is too large by."""
    added, counts = serving.handicaps(model, "auto"), np.bincount(COLS, minlength=400)
    allow = serving.allowed(model, "auto", None, None)
    spread = np.sqrt(2.0 * model.certificate_.value / COLS.size)
    expected = -np.sqrt(2.0 * np.log(allow.sum())) * spread / np.sqrt(counts + model.ridge_[1])
    assert 0 < allow.sum() < 400 and np.isneginf(added[~allow]).all()
    assert np.allclose(added[allow], expected[allow])
    assert not serving.handicaps(model, 0).any()
    numbered = serving.handicaps(model, 11)
    assert np.isneginf(numbered[counts <= 10]).all() and not numbered[counts > 10].any()
    assert not serving.handicaps(model, "auto", np.arange(400)).any()  # who names candidates means them
    found = serving.recommend(model, np.array([3]), 400, False, added)[0]
    scores = model.predict([(3, label) for label, _ in found]) + added[[label for label, _ in found]]
    assert (np.diff(scores) <= 1e-9).all()
    assert np.allclose([value for _, value in found], model.predict([(3, label) for label, _ in found]), atol=1e-9)


def test_similar_columns_have_support(model):
    assert all(label < 150 for label, _ in model.similar([300], 20)[0])
    assert any(label >= 150 for label, _ in model.similar([300], 200, min_support=0)[0])
    with pytest.raises(ValueError, match="min_support must be a whole number"):
        model.similar([300], min_support=-1)


def test_a_small_table_leaves_nothing_out():
    few = MatrixCompletion(radius=5.0).fit(PAIRS[COLS < 40], VALUES[COLS < 40])
    assert few.recommend([0], 50) == few.recommend([0], 50, min_support=0)


def test_the_shell_recommends_to_all_and_finds_similar_ones(tmp_path):
    lines = ["user,item,rating", *(f"u{r},i{c},{v:.2f}" for (r, c), v in zip(PAIRS.tolist(), VALUES, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    folder = str(tmp_path / "m")
    asked = ["complete", str(tmp_path / "t.csv"), "-o", folder, "--radius", "20", "--no-report"]
    assert CliRunner().invoke(app, asked).exit_code == 0

    def table(*words):
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    everybody = table("recommend", folder, "--all", "-n", "3")
    assert len(everybody) == 3 * 60 and all(int(line["item"][1:]) < 150 for line in everybody)
    one = table("recommend", folder, "--row", "u7", "-n", "3")
    own = [line for line in everybody if line["user"] == "u7"]
    assert [(line["place"], line["item"]) for line in one] == [(line["place"], line["item"]) for line in own]
    scores = [[float(line["prediction"]) for line in lines] for lines in (one, own)]
    np.testing.assert_allclose(*scores, rtol=1e-12)  # a product with a block and one with a row round otherwise
    like = table("similar", folder, "--column", "i300", "-n", "5", "--min-support", "0")
    assert [line["place"] for line in like] == list("12345") and all(line["item"] == "i300" for line in like)
    for words, why in [
        (["recommend", folder], "needs rows"),
        (["recommend", folder, "--row", "u7", "--min-support", "many"], "auto or a whole number"),
        (["similar", folder, "--column", "nothing"], "does not know column 'nothing'"),
    ]:
        done = CliRunner().invoke(app, words)
        assert done.exit_code != 0 and why in done.stderr


def test_a_column_without_a_low_rank_part_is_similar_to_none():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal(30), np.append(rng.standard_normal(9), 0.0)
    pairs = [(i, k) for i in range(30) for k in range(10)]
    values = [3.0 * left[i] * right[k] for i, k in pairs]
    model = MatrixCompletion(radius=20.0, weighting="plain").fit(pairs, values)
    model.V_[9] = 0.0
    with pytest.raises(ValueError, match="the column 9 has no low-rank part"):
        model.similar([9])
    assert 9 not in [label for label, _ in model.similar([0], n=9)[0]]
