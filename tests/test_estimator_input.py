"""What is handed to the estimators in Python: a readable error, or what was meant; never a mask or a type ignored."""

from __future__ import annotations

import decimal
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion, NuclearNormImputer

PAIRS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c", "y"), ("c", "z")]
VALUES = [5.0, 3.0, 4.0, 1.0, 2.0, 5.0]


def new(**settings: object) -> MatrixCompletion:
    return MatrixCompletion(**{"radius": 2.0, **settings})


@pytest.fixture(scope="module")
def model() -> MatrixCompletion:
    return new().fit(PAIRS, VALUES)


def masked(values, first=True):
    mask = np.zeros(np.shape(values), bool)
    mask[0] = first
    return np.ma.masked_array(values, mask)


CALLS = {
    "ragged pairs": (lambda m: new().fit([("a", "x"), ("b",)], [1, 2]), "pairs are ragged"),
    "masked pairs": (lambda m: new().fit(masked(np.arange(12).reshape(6, 2)), VALUES), "pairs have masked entries"),
    "masked values": (lambda m: new().fit(PAIRS, masked(VALUES)), "values have masked entries"),
    "huge values": (lambda m: new().fit(PAIRS, [1e300] * 5 + [0]), "too large to be squared; divide"),
    "tiny values": (lambda m: new().fit(PAIRS, [1e-300] * 5 + [0]), "too small to be squared; multiply"),
    "weights of None": (lambda m: new().fit(PAIRS, VALUES, sample_weight=[None] * 6), "sample_weight must be numbers"),
    "complex weights": (lambda m: new().fit(PAIRS, VALUES, sample_weight=np.ones(6) * 1j), "real numbers"),
    "huge weights": (lambda m: new().fit(PAIRS, VALUES, sample_weight=[1e300] * 6), "sample_weight[0] is 1e+300"),
    "a ragged matrix": (lambda m: new().fit_matrix([[1], [2, 3]]), "ragged"),
    "a complex sparse matrix": (lambda m: new().fit_matrix(sp.eye(3) * 1j), "must hold real numbers"),
    "a matrix of words": (lambda m: new().fit_matrix(np.array([[1, "a"], [2, 3]], object)), "must hold real numbers"),
    "labels of nothing": (lambda m: m.recommend(None), "give a list of row labels, got None"),
    "one label": (lambda m: m.similar(3), "give a list of column labels, got 3"),
    "folding in a huge value": (lambda m: m.fold_in({"q": {"x": 1e300}}), "too large"),
    "an array for a weighting": (lambda m: new(weighting=np.array([1, 2])).fit(PAIRS, VALUES), "weighting must be"),
    "words for yes": (lambda m: new(intercepts="no").fit(PAIRS, VALUES), "intercepts must be True or False"),
    "words for no": (lambda m: new(clip="no").fit(PAIRS, VALUES), "clip must be True or False"),
    "no document": (lambda m: MatrixCompletion.from_arrays(None, None), "needs the arrays and the document"),
}


@pytest.mark.parametrize("call, words", CALLS.values(), ids=CALLS)
def test_a_readable_error(call, words, model):
    with pytest.raises((ValueError, TypeError)) as raised:
        call(model)
    assert words in str(raised.value) and str(raised.value).startswith("MatrixCompletion: ")


def test_nothing_can_be_stored_before_a_fit():
    with pytest.raises(NotFittedError):
        MatrixCompletion().to_arrays()


def test_frames_that_are_no_table():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": ["a", "a", "b", "b"], "i": ["x", "y", "x", "y"], "r": [1.0, np.inf, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"contain infinity: values\[1\]"):
        new().from_frame(frame, "u", "i", "r")
    with pytest.raises(ValueError, match="row and column must be two columns"):
        new().from_frame(frame, "u", "u", "r")
    with pytest.raises(ValueError, match="columns of one name"):
        new().fit(pd.DataFrame([[1, 2]] * 2, columns=["a", "a"]), [1, 2])
    with pytest.raises(ValueError, match=r"row labels\[0\] is missing"):
        new().fit([(pd.NA, "x"), ("b", "y")], [1, 2])
    with pytest.raises(ValueError, match=r"values\[1\]"):
        new().fit(PAIRS, pd.array([1, None, 2, 3, 4, 5], "Int64"))
    exact = new().from_frame(frame.assign(r=[decimal.Decimal(k) for k in range(4)]), "u", "i", "r")
    assert exact.observations_.values.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_mask_is_where_nothing_is():
    array = np.array([[9.0, 2.0, 1.0], [3.0, 4.0, 2.0], [1.0, 5.0, 3.0]])
    hidden = np.eye(3, dtype=bool)
    ours = new().fit_matrix(np.ma.masked_array(array, hidden))
    assert np.array_equal(ours.predict([[0, 0]]), new().fit_matrix(np.where(hidden, np.nan, array)).predict([[0, 0]]))
    whole = new().fit_matrix(np.ma.masked_array(array.astype(int), hidden))
    assert len(whole.observations_) == 6
    filled = NuclearNormImputer().fit_transform(np.ma.masked_array(array, hidden))
    assert np.array_equal(filled, NuclearNormImputer().fit_transform(np.where(hidden, np.nan, array)))


@pytest.mark.parametrize(
    ("loss", "delta"),
    [("squared", "auto"), *(pytest.param("huber", delta, marks=pytest.mark.slow) for delta in ("auto", None))],
)
def test_the_unit_of_the_values_does_not_matter(loss, delta, monkeypatch):
    """With the same random starts in every unit: usually they depend on the data, and two radii may be as good."""
    for module in ("run", "certificates.certifier"):
        room = sys.modules[f"spectraplex.{module}"]
        monkeypatch.setattr(room, "stream", lambda seed, *marks: np.random.default_rng(seed))
    ratings = ratings_like(30, 20, 250, seed=0)
    pairs = np.column_stack([ratings.rows, ratings.cols])
    plain = MatrixCompletion(loss=loss, delta=delta or 1.0).fit(pairs, ratings.values)
    for unit in (1e-12, 1e12):
        other = MatrixCompletion(loss=loss, delta=delta or unit).fit(pairs, unit * ratings.values)
        assert other.radius_ / unit == pytest.approx(plain.radius_, rel=0.01)
        assert np.allclose(other.predict(pairs) / unit, plain.predict(pairs), atol=0.01)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_fit_that_breaks_down_warns():
    with pytest.warns(ConvergenceWarning, match="numbers overflowed, so the radius"):
        broken = MatrixCompletion(radius=1e300).fit(PAIRS, VALUES)
    assert broken.status_ == "NOT_FINITE" and broken.certificate_.kind == "none"


def test_shares_are_written_as_people_write_them():
    from spectraplex import Certificate

    assert "(100 % of it)" in str(Certificate("proven", 0.0, 2.0, 0.0, 0.0))
    assert "(150 % of it)" in str(Certificate("proven", 0.0, 2.0, -1.0, 0.0))
    assert "(0.13 % of it)" in str(Certificate("proven", 0.0, 2.0, 1.9974, 0.0))
