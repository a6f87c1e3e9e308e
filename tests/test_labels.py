"""Labels: any kind, kept exactly, found again; observations from frames, lists and matrices."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectraplex.estimators.input.labels import Labels, as_column, distinct
from spectraplex.estimators.input.observations import as_frame, frame_column, matrix_entries, pair_columns

BIG = 2**53 + 1  # the first whole number that is not itself as a float
NASTY = ["", " ", "007", "7", 'a,"b"', "Ägypten – 東京 🙂", "x\ty\nz", "trailing\x00", "nan", "\ud800"]


def labels_of(values):
    column = as_column(values, "test", "labels")
    return Labels(distinct(column)[0])


def found(labels, values):
    return labels.codes(as_column(values, "test", "labels"), "test", "labels")


COLUMNS = {
    "strings": NASTY,
    "ids beyond 2^53": [BIG, BIG + 1, BIG - 2, -BIG],
    "unsigned ids": [2**63, 2**64 - 1, 5],
    "larger than any machine number": [10**30, 10**30 + 1, 3],
    "numbers and strings": ["7", 7, "007", 2.5],
    "numbers": [0.1, 0.25, -3.0],
    "dates": list(np.array(["2024-02-29", "1999-12-31"], "datetime64[D]")),
    "tuples": [("a", 1), ("a", 2)],
}


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS.keys())
def test_every_label_is_found_where_it_is_and_no_other(values):
    labels = labels_of(values)
    codes = found(labels, values)
    assert sorted(codes.tolist()) == list(range(len(values)))
    assert [labels.values[i] for i in codes] == values
    assert labels.codes(labels.values[::-1], "test", "labels").tolist() == list(range(len(values)))[::-1]


@pytest.mark.parametrize("values", [c for name, c in COLUMNS.items() if name != "tuples"])
def test_a_file_without_pickle_gives_the_same_labels(values, tmp_path):
    labels = labels_of(values)
    np.savez(tmp_path / "labels.npz", labels=labels.packed())
    with np.load(tmp_path / "labels.npz", allow_pickle=False) as file:
        back = Labels.unpacked(file["labels"], False)
    assert back.values.tolist() == labels.values.tolist() and back.values.dtype == labels.values.dtype


def test_what_cannot_be_written_is_refused_by_name():
    with pytest.raises(TypeError, match=r"\('a', 1\) is a tuple"):
        labels_of([("a", 1)]).packed()


SOME = st.sampled_from([-(2**70), -1, 0, 1, BIG, 2**63, 2**64, 2**70, 0.5, *NASTY])


@given(st.lists(SOME, min_size=1, max_size=8, unique=True))
def test_any_mixture_round_trips(values):
    labels = labels_of(values)
    assert [labels.values[i] for i in found(labels, values)] == values
    packed = labels.packed()
    if packed.dtype == np.uint8:
        assert json.loads(packed.tobytes()) == labels.values.tolist()


def test_neighbours_beyond_two_to_the_53_are_not_confused():
    labels = labels_of([BIG, BIG + 2])
    assert found(labels, [BIG + 1, BIG, BIG + 2]).tolist() == [-1, 0, 1]
    assert found(labels, np.array([float(BIG)])).tolist() == [-1]  # as a float it is another number
    assert found(labels_of([2**63, 1]), [1, 2**63, 2**63 + 1]).tolist() == [0, 1, -1]


def test_whole_floats_are_whole_numbers_and_strings_are_not():
    labels = labels_of([1, 2, 3])
    assert found(labels, [2.0, 2.5, 7.0]).tolist() == [1, -1, -1]
    with pytest.raises(ValueError, match=r"text such as '2', but the model was fitted with numbers such as 1"):
        found(labels, ["2"])


def test_new_labels_come_behind_the_old_ones():
    labels = labels_of(["b", "d"]).joined(as_column(["a", "d", "c"], "test", "labels"))
    assert labels.values.tolist() == ["b", "d", "a", "c"]
    numbers = labels_of([10, 30]).joined(as_column([20, 30], "test", "labels"))
    assert found(numbers, [10, 20, 30, 40]).tolist() == [0, 2, 1, -1]


@pytest.mark.parametrize("hole", [None, float("nan"), np.nan, np.datetime64("NaT")])
def test_a_missing_label_is_refused_with_its_place(hole):
    with pytest.raises(ValueError, match=r"labels\[1\] is missing"):
        as_column(["a", hole], "test", "labels")


def test_other_refusals():
    with pytest.raises(ValueError, match="infinity"):
        as_column(np.array([1.0, np.inf]), "test", "labels")
    with pytest.raises(TypeError, match="a list, which cannot be a label"):
        as_column([[1], [2]], "test", "labels")
    with pytest.raises(ValueError, match="Complex"):
        as_column(np.array([1j]), "test", "labels")


# ---------------------------------------------------------------------------------------------------------- frames

USERS, FILMS = ["007", "ä,b", '"q"'], [BIG, 5, BIG + 2]


def frames():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"user": USERS, "film": FILMS}
    return {
        "pandas": pd.DataFrame(columns),
        "pandas categories": pd.DataFrame(columns).astype({"user": "category", "film": "Int64"}),
        "polars": pl.DataFrame(columns),
        "polars lazy": pl.LazyFrame(columns),
        "arrow": pa.table(columns),
    }


@pytest.mark.parametrize("kind", ["pandas", "pandas categories", "polars", "polars lazy", "arrow"])
def test_frames_keep_each_column_as_it_is(kind):
    first, second, names = pair_columns(frames()[kind])
    assert first.tolist() == USERS and second.tolist() == FILMS and names == ["user", "film"]
    assert second.dtype == np.int64


def test_holes_and_missing_columns_of_a_frame_are_named():
    import pandas as pd
    import polars as pl

    frame = as_frame(pl.DataFrame({"user": ["a", None, "b"], "n": [1, 2, 3]}))
    with pytest.raises(ValueError, match=r"user\[1\] is missing.*1 in all"):
        frame_column(frame, "user")
    with pytest.raises(ValueError, match=r"no column 'film'; it has user, n"):
        frame_column(frame, "film")
    with pytest.raises(ValueError, match=r"n\[0\] is missing"):
        frame_column(as_frame(pd.DataFrame({"n": [None, 1.0]})), "n")


def test_lists_of_pairs_keep_types_that_one_array_would_not():
    first, second, _ = pair_columns([("a", BIG), ("b", 0)])
    assert first.tolist() == ["a", "b"] and second.tolist() == [BIG, 0]
    dated = pair_columns([(datetime.date(2024, 1, 1), 1.5)])[0]
    assert dated.tolist() == [datetime.date(2024, 1, 1)]


def test_matrices_say_what_is_observed():
    from scipy.sparse import coo_array, csr_matrix

    stored = csr_matrix((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(3, 2))
    rows, cols, values, shape = matrix_entries(stored)
    assert (rows.tolist(), cols.tolist(), values.tolist(), shape) == ([0, 1], [1, 0], [0.0, 2.0], (3, 2))
    assert matrix_entries(coo_array(stored))[2].tolist() == [0.0, 2.0]
    rows, cols, values, _ = matrix_entries(np.array([[1.0, np.nan], [np.nan, 0.0]]))
    assert (rows.tolist(), cols.tolist(), values.tolist()) == ([0, 1], [0, 1], [1.0, 0.0])
    with pytest.raises(ValueError, match="nothing is observed"):
        matrix_entries(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="inf"):
        matrix_entries(np.array([[np.inf]]))
    with pytest.raises(TypeError, match="real numbers"):
        matrix_entries(np.array([["a"]]))
