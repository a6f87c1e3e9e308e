"""Frames: what they call rows and columns is kept, and nothing is swapped or dropped in silence."""

from __future__ import annotations

import numpy as np
import pytest

from spectraplex.estimators import MatrixCompletion

pd = pytest.importorskip("pandas")

TABLE = pd.DataFrame(
    [[5.0, np.nan, 3.0], [4.0, 2.0, np.nan], [np.nan, 1.0, 2.0], [np.nan, np.nan, np.nan]],
    index=["zoe", "ann", "bob", "new"],
    columns=["tea", "milk", "rum"],
)


def test_a_frame_keeps_its_index_and_columns():
    named = MatrixCompletion(radius=2.0).fit_matrix(TABLE)
    plain = MatrixCompletion(radius=2.0).fit_matrix(TABLE.to_numpy())
    assert set(named.row_labels_.values) == set(TABLE.index)  # the row without any value, too
    asked = [(i, j) for i in range(4) for j in range(3)]
    ours = named.predict([(TABLE.index[i], TABLE.columns[j]) for i, j in asked])
    assert np.allclose(ours, plain.predict(asked), atol=0.05)
    assert named.recommend(["zoe"], 1)[0][0][0] == "milk"


def test_a_frame_that_only_counts_has_indices():
    model = MatrixCompletion(radius=2.0).fit_matrix(pd.DataFrame(TABLE.to_numpy()))
    assert model.row_labels_.counted and model.column_labels_.counted
    assert model.predict([(0, 0)]).shape == (1,)


def test_the_same_name_twice_is_refused():
    with pytest.raises(ValueError, match="index has 'ann' more than once"):
        MatrixCompletion(radius=2.0).fit_matrix(TABLE.rename(index={"zoe": "ann"}))


def test_partial_fit_with_a_list_keeps_the_names_of_columns():
    frame = pd.DataFrame({"who": ["a", "a", "b", "b"], "what": ["x", "y", "x", "z"]})
    model = MatrixCompletion(radius=2.0).fit(frame, [1.0, 2.0, 3.0, 4.0])
    model.partial_fit([("c", "x")], [5.0])
    assert model.feature_names_in_.tolist() == ["who", "what"]
    assert np.array_equal(model.predict(frame[["what", "who"]]), model.predict(frame))


def test_fold_in_says_which_columns_it_did_not_know():
    model = MatrixCompletion(radius=2.0).fit_matrix(TABLE)
    with pytest.warns(UserWarning, match="1 observations of columns that the fit did not know: 'gin'; partial_fit"):
        more = model.fold_in({"eva": {"tea": 4.0, "gin": 1.0}})
    assert more.predict([("eva", "tea")])[0] > 3.0


def test_a_frame_without_the_columns_of_the_fit_is_refused():
    frame = pd.DataFrame({"who": ["a", "a", "b", "b"], "what": ["x", "y", "x", "z"]})
    model = MatrixCompletion(radius=2.0).fit(frame, [1.0, 2.0, 3.0, 4.0])
    swapped = frame[["what", "who"]].rename(columns={"who": "person"})
    with pytest.raises(ValueError, match="the frame has no column 'who', it has 'what', 'person'"):
        model.predict(swapped)
    assert np.array_equal(model.predict(frame.to_numpy()), model.predict(frame))
