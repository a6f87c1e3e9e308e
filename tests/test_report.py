"""The report: what it says is so, whatever the labels are, and a browser shows it."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from pages import Page, looked_at, needs_browser
from spectraplex import report
from spectraplex.estimators import MatrixCompletion

NASTY = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', 'O\'Neil & "Söhne", 東京', "]]>&lt;b&gt;")


def ratings(
    rows: int = 60, cols: int = 40, count: int = 900, seed: int = 0
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Two patterns, biases and noise, rounded to 1 … 5; some labels are made to break pages."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(rows * cols)[:count]
    i, j = places // cols, places % cols
    low = (rng.normal(size=(rows, 2)) @ rng.normal(size=(2, cols)))[i, j]
    values = 3.0 + 0.5 * rng.normal(size=rows)[i] + 0.5 * rng.normal(size=cols)[j] + 0.7 * low
    labels = [*NASTY, *(f"user {k:03d}" for k in range(len(NASTY), rows))]
    films = [*(f"film <{k}>" for k in range(cols - 1)), 'Amélie, the "best"']
    pairs = [(labels[a], films[b]) for a, b in zip(i, j, strict=True)]
    return pairs, np.clip(np.rint(values + 0.3 * rng.normal(size=count)), 1, 5)


@pytest.fixture(scope="module")
def split() -> tuple[list, np.ndarray, list, np.ndarray]:
    pairs, values = ratings()
    return pairs[:750], values[:750], pairs[750:], values[750:]


@pytest.fixture(scope="module")
def model(split) -> MatrixCompletion:
    return MatrixCompletion().fit(split[0], split[1])


@pytest.fixture(scope="module")
def page(model) -> Page:
    return Page(report.render(model, source="<b>ratings</b>.csv", command=["spectraplex", "complete", "a b.csv"]))


def rmse(a, b) -> float:
    return float(np.sqrt(np.mean((np.asarray(a) - np.asarray(b)) ** 2)))


# ---------------------------------------------------------------------------------------------------------- content


def test_the_numbers_are_the_models(model, split, page):
    facts, seen = page.facts, model.observations_
    assert facts["rows"] == len(model.row_labels_) and facts["columns"] == len(model.column_labels_)
    assert facts["observations"] == len(split[1])
    assert facts["mean"] == pytest.approx(split[1].mean()) and facts["spread"] == pytest.approx(split[1].std())
    assert facts["radius"] == model.radius_ and facts["rank"] == model.rank_
    assert facts["value"] == model.certificate_.value and facts["lower bound"] == model.certificate_.lower_bound
    assert facts["certified gap"] == model.certificate_.gap
    assert [facts[f"score {k}"] for k in range(len(model.path_["score"]))] == model.path_["score"].tolist()
    assert facts["error"] == model.path_["score"].min() == facts["This model RMSE"]
    fitted = model.predict(list(split[0]))
    assert facts["fit RMSE"] == pytest.approx(rmse(fitted, split[1]))
    assert f"{100 * len(seen) / (facts['rows'] * facts['columns']):.1f} % of the table" in page.text
    assert model.certificate_.data in page.text and model.certificate_.factors in page.text


def test_held_out_error_and_baselines(model, split):
    train, values, new, truth = split
    page = Page(report.render(model, held_out=(new, truth)))
    assert page.facts["error"] == pytest.approx(rmse(model.predict(new), truth), rel=1e-12)
    assert page.facts["This model MAE"] == pytest.approx(float(np.abs(model.predict(new) - truth).mean()), rel=1e-12)
    assert page.facts["Global mean RMSE"] == pytest.approx(rmse(values.mean(), truth), rel=1e-12)
    assert page.facts["Biases RMSE"] == pytest.approx(
        rmse(dense_biases(train, values, new, model.ridge_), truth), rel=1e-6
    )
    assert "150 observations were held out" in page.text and "among the fitted ones" not in page.text


def dense_biases(train, values, new, ridges) -> np.ndarray:
    """Ridge regression on indicators, the plain way."""
    rows, cols = sorted({r for r, _ in train}), sorted({c for _, c in train})
    places = {("r", r): k for k, r in enumerate(rows)} | {("c", c): len(rows) + k for k, c in enumerate(cols)}

    def table(pairs) -> np.ndarray:
        A = np.zeros((len(pairs), len(places)))
        for k, (r, c) in enumerate(pairs):
            for key in (("r", r), ("c", c)):
                if key in places:
                    A[k, places[key]] = 1.0
        return A

    A, ridge = table(train), np.repeat(ridges, [len(rows), len(cols)])
    x = np.linalg.solve(A.T @ A + np.diag(ridge), A.T @ (values - values.mean()))
    return np.clip(values.mean() + table(new) @ x, values.min(), values.max())


def test_what_was_fitted_and_what_was_never_seen_are_told(model, split):
    train, values, new, truth = split
    page = Page(report.render(model, held_out=([*new, train[0], ("nobody", "film <1>")], [*truth, values[0], 3])))
    assert "1 held-out pair is among the fitted ones" in page.text
    assert "In 1 of them the row or the column was not in the fit" in page.text


def test_validation_baselines_are_those_of_the_split_that_chose(model, split, page):
    """The parts are found again from the data, and not claimed when observations were added after the choice."""
    train, values = split[0], split[1]
    share = [page.facts[f"{name} RMSE"] for name in ("Global mean", "Biases", "This model")]
    assert share == sorted(share, reverse=True)
    assert "5 times, with other pairs each time (375 observations in all)" in page.text
    assert "the least of" in page.text and "exactly the same parts" in page.text
    more = MatrixCompletion().fit(train, values).partial_fit([("user 900", "film <3>")], [3.0])
    later = Page(report.render(more))
    assert "can no longer be told" in later.text and "Biases RMSE" not in later.facts
    assert later.facts["error"] == model.path_["score"].min()


def test_the_radius_was_given_and_nothing_is_known_of_new_data(split):
    page = Page(report.render(MatrixCompletion(radius=20.0).fit(split[0], split[1])))
    assert "nothing on this page says how good predictions of new entries are" in page.text
    assert "error" not in page.facts and "The radius 20 was given" in page.text
    assert "MatrixCompletion(radius=20.0).fit(pairs, values)" in page.text


def test_recommendations_are_the_models(model, page):
    counts = np.bincount(model.observations_.rows)
    busiest = model.row_labels_.values[int(np.argmax(counts))]
    for label, predicted in model.recommend([busiest], 5, min_support=1)[0]:  # no column is held back
        assert f"{label} not yet {predicted:.2f}" in page.text


# ------------------------------------------------------------------------------------------------- text of the user


def test_labels_are_text_and_nothing_else(model, split, page):
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "img", "b", "iframe", "link", "object"})
    assert not [name for _, held in page.tags for name in held if name.startswith("on") or name in ("src", "style-src")]
    hrefs = [held["href"] for held in page.all("a")]
    assert hrefs and all(str(href).startswith("#") for href in hrefs)
    ids = {held.get("id") for _, held in page.tags}
    assert {str(href)[1:] for href in hrefs} <= ids
    assert "<b>ratings</b>.csv" in page.text and "spectraplex complete 'a b.csv'" in page.text
    rows = [(label, "film <0>") for label in NASTY]
    shown = Page(report.render(model, held_out=(rows, [3, 3, 3, 3]), command=NASTY[0]))
    for label in NASTY:
        assert label in shown.text
    assert not shown.all("script") and not shown.all("img")


def test_labels_that_cannot_be_shown_as_they_are():
    words = ["", "  ", "a\x00b", "\ud800", "\u202egnp.exe", "x" * 500, "two\nlines"]
    pairs = [(word, column) for word in words for column in (1, 2)]
    text = report.render(MatrixCompletion(radius=1.0).fit(pairs, np.arange(14.0)), held_out=(pairs, np.arange(14.0)))
    text.encode("utf-8")
    assert "\x00" not in text and "\u202e" not in text and "x" * 81 not in text
    page = Page(text)
    for seen in ("''", r"a\x00b", r"\ud800", r"\u202egnp.exe", r"two\nlines"):
        assert seen in page.text


def test_names_of_a_frame_head_the_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"<user>": [1, 1, 2, 2], "film": [1, 2, 1, 2], "stars": [1.0, 2.0, 3.0, 5.0]})
    fitted = MatrixCompletion(radius=1.0).from_frame(frame, "<user>", "film", "stars")
    assert "Rows (<user>)" in Page(report.render(fitted)).text


# --------------------------------------------------------------------------------------------------- file and bytes


def test_the_same_model_gives_the_same_bytes(model, split, page, tmp_path):
    """Also when it was fitted again to the data in another order, or came back from arrays."""
    given = {"held_out": (split[2], split[3]), "source": "x.csv"}
    one = report.write(model, tmp_path / "one.html", **given)
    assert one == tmp_path / "one.html" and [each.name for each in tmp_path.iterdir()] == ["one.html"]
    order = np.random.default_rng(1).permutation(len(split[0]))
    again = MatrixCompletion().fit([split[0][k] for k in order], split[1][order])
    stored = MatrixCompletion.from_arrays(*model.to_arrays())
    for other in (model, again, stored):
        assert report.render(other, **given).encode() == one.read_bytes()
    assert report.render(stored) == report.render(model)


def test_small_whatever_the_number_of_observations(model, split):
    small = len(report.render(model, held_out=(split[2], split[3])).encode())
    pairs, values = ratings(400, 300, 30_000)
    many = MatrixCompletion(radius=100.0, tolerance=0.5).fit(pairs, values)
    large = len(report.render(many, held_out=(pairs, values)).encode())
    assert small < 100_000 and large < 1.3 * small


def test_what_cannot_be_written_is_said(model, split, tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        report.write(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="make it first"):
        report.write(model, tmp_path / "none" / "report.html")
    with pytest.raises(NotFittedError):
        report.write(MatrixCompletion(), tmp_path / "report.html")
    with pytest.raises(TypeError, match="must be a MatrixCompletion, got dict"):
        report.write({}, tmp_path / "report.html")
    with pytest.raises(ValueError, match=r"must be \(pairs, values\)"):
        report.render(model, held_out=split[2])
    with pytest.raises(ValueError, match="2 pairs and 1 values"):
        report.render(model, held_out=(split[2][:2], [1.0]))
    with pytest.raises(ValueError, match="leave it out instead"):
        report.render(model, held_out=([], []))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"needs jinja2: pip install jinja2"):
        report.write(model, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------------- odd models

FULL = [(i, j) for i in range(6) for j in range(5)]


def noisy() -> np.ndarray:
    rng = np.random.default_rng(3)
    M = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 15)) + 0.3 * rng.normal(size=(20, 15))
    M[rng.random(M.shape) < 0.3] = np.nan
    return M


def with_holes() -> np.ndarray:
    M = noisy()
    M[3], M[:, 4] = np.nan, np.nan
    return M


ODD = {
    "one observation": (lambda: MatrixCompletion().fit([("a", "b")], [3.0]), "one observation cannot be split"),
    "constant": (lambda: MatrixCompletion().fit(FULL, [3.0] * 30), "no pattern is left for the low-rank part"),
    "all zero": (lambda: MatrixCompletion(intercepts=False).fit(FULL, [0.0] * 30), "nothing in the observations calls"),
    "one row": (
        lambda: MatrixCompletion().fit([(0, j) for j in range(30)], np.arange(30.0) % 7),
        "1 row and 30 columns",
    ),
    "no intercepts": (
        lambda: MatrixCompletion(radius=9, intercepts=False).fit_matrix(noisy()),
        "by a low-rank part alone",
    ),
    "huber": (lambda: MatrixCompletion(loss="huber", delta=0.5).fit_matrix(noisy()), "a mean Huber loss of"),
    "logistic": (lambda: MatrixCompletion(9, loss="logistic").fit(FULL, [0, 1, 1] * 10), "probability of a one"),
    "signs": (lambda: MatrixCompletion(9, loss="logistic").fit(FULL, [-1, 1, 1] * 10), "Predicted probabilities"),
    "implicit": (lambda: MatrixCompletion(9, implicit=0.5).fit_matrix(noisy()), "counts too (implicit 0.5)"),
    "weights": (lambda: MatrixCompletion(9).fit(FULL, np.arange(30.0), np.arange(1, 31)), "(their sum is 465)"),
    "empty lines": (lambda: MatrixCompletion(9).fit_matrix(with_holes()), "1 row and 1 column have none at all"),
    "folded": (lambda: MatrixCompletion(9).fit_matrix(noisy()).fold_in({99: {0: 1.0}}), "1 row came after the fit"),
    "fine": (lambda: MatrixCompletion(9, tolerance=1e-7).fit_matrix(noisy()), "the whole radius of 9"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_models_have_a_page_too(name):
    make, words = ODD[name]
    fitted = make()
    page = Page(report.render(fitted))  # which refuses tags that do not match
    assert words in page.text
    assert page.facts["rank"] == fitted.rank_ and page.facts["value"] == fitted.certificate_.value
    assert page.drawings and all(each["aria-label"] for each in page.drawings)
    drawn = " ".join(str(value) for _, held in page.tags for value in held.values()) + page.text
    assert not re.search(r"\b(nan|inf|None)\b|not finite|∞", drawn)


def test_held_out_labels_of_two_values(split):
    fitted = MatrixCompletion(9.0, loss="logistic").fit(FULL, [-1, 1, 1] * 10)
    page = Page(report.render(fitted, held_out=([(0, 0), (1, 1)], [-1, 1])))
    chance = (fitted.predict([(0, 0), (1, 1)]) + 1) / 2
    assert page.facts["This model log loss"] == pytest.approx(-0.5 * (np.log(1 - chance[0]) + np.log(chance[1])))
    with pytest.raises(ValueError, match="must be -1 or 1"):
        report.render(fitted, held_out=([(0, 0)], [0]))


# ----------------------------------------------------------------------------------------------------- in a browser


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it_at_the_width_of_a_phone_and_of_a_desk(model, split, tmp_path, dark):
    """No complaint on the console, every figure drawn, nothing wider than the window, words that can be read."""
    place = report.write(model, tmp_path / "report.html", held_out=(split[2], split[3]))
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    found, complaints = looked_at(place, tmp_path, (390, 1280), *scheme)
    assert complaints == [] and sorted(found) == [390, 1280]
    drawn = len(Page(place.read_text("utf-8")).drawings)
    assert drawn >= 9
    for width, seen in found.items():
        assert seen["wide"] <= width
        assert len(seen["boxes"]) == drawn and all(250 < w <= width and h > 80 for w, h in seen["boxes"])
        assert seen["least"] >= 11 and seen["left"] >= 0 and seen["right"] <= width
        assert (seen["paper"] == "rgb(255, 255, 255)") != dark
        assert len({seen["paper"], seen["words"], seen["ink"]}) == 3
