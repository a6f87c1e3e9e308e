"""Trust and steering on a cluster: one order of rows, one fingerprint, runs that go on elsewhere, lost workers."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

from spectraplex.objectives import row_order  # noqa: E402

ASKED = {"row": "who", "column": "what", "value": "stars"}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def table(m=40, n=15, share=0.4, seed=6):
    """A table of numbers in any order."""
    rng = np.random.default_rng(seed)
    seen = rng.random((m, n)) < share
    seen[np.arange(m), rng.integers(0, n, m)] = True  # every row has an observation
    rows, cols = np.nonzero(seen)
    values = (rng.standard_normal((m, 3)) @ rng.standard_normal((3, n)))[rows, cols] + rng.standard_normal(rows.size)
    told = pd.DataFrame({"who": rows, "what": cols, "stars": values, "sure": rng.uniform(0.5, 2.0, rows.size)})
    return told.iloc[rng.permutation(rows.size)].reset_index(drop=True)


def whole(told, objective, loss="squared", weights=None):
    """The same table on this machine, its rows in the order of the cluster."""
    at = pd.Series(np.arange(objective.shape[0]), index=objective.row_labels())
    columns = np.searchsorted(np.asarray(objective.columns), told["what"])
    return sx.Completion(
        at[told["who"]].to_numpy(), columns, told["stars"].to_numpy(), objective.shape, loss, weights=weights
    )


# ------------------------------------------------------------------------------------------------------ order of rows


@pytest.mark.parametrize("kind", ["strings", "64-bit ids", "numbers with a fraction"])
def test_rows_come_in_one_order_for_any_number_of_shards(client, kind):
    told = table()
    ids = (np.arange(40, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(1)
    names = {"strings": [f"u{i}" for i in range(40)], "64-bit ids": ids.astype(np.int64) - 2**61}
    names["numbers with a fraction"] = np.arange(40) / 4
    told["who"] = np.asarray(names[kind])[told["who"]]
    orders = [
        sx.Completion.from_dask(dd.from_pandas(told, npartitions=parts), **ASKED, shards=shards, client=client)
        for shards, parts in ((1, 1), (3, 2), (7, 5))
    ]
    first, *others = [each.row_labels() for each in orders]
    assert sorted(first) == sorted(told["who"].unique())
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert [len(each.place.shards) for each in orders] == [1, 3, 7]


def test_labels_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(row_order, "hashes", lambda labels: np.array([len(label) for label in labels], np.uint64))
    each, where = row_order.ordered(["bb", "c", "a", "aa", "c"])
    assert list(each) == ["a", "c", "aa", "bb"] and list(where) == [3, 1, 0, 2, 1]


def test_equal_numbers_have_equal_hashes_of_whatever_type_they_are():
    given = [np.array([3, -1, 2**40]), np.array([3.0, -1.0, 2.0**40]), pd.array([3, -1, 2**40], dtype="Int64")]
    given += [np.array([3, -1, 2**40], object)]
    for each in given[1:]:
        np.testing.assert_array_equal(row_order.hashes(each), row_order.hashes(given[0]))
    np.testing.assert_array_equal(
        row_order.hashes(np.array(["a", "b"])), row_order.hashes(pd.array(["a", "b"], dtype="string"))
    )
    assert row_order.hashes(np.array([0.5]))[0] != row_order.hashes(np.array([0.0]))[0]
