"""Generated tables keep their bits; rating files of every layout are read or refused in a sentence; downloads."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from spectraplex.datasets import ratings_like

# Computed when the generator was first written: a faster one must draw the very same tables.
PINNED = {
    (40, 30, 300, 3, 0.9, 1): "0e2a30d726a2da0d589d0a091a310ec7",
    (40, 30, 1000, 3, 0.5, 2): "fc6b1abfc4ffbfed2a97a9637d3d65ed",
    (500, 400, 700, 4, 0.9, 4): "b15c7451cab7f242d1c5415f7020ca52",
    (1, 1, 1, 1, 0.0, 5): "4d5206539fdafc08bb30542affbb525b",
    (943, 1682, 100_000, 10, 0.9, 0): "fbd56854e2c680a58e117f1f16d342ef",
}


@pytest.mark.parametrize("arguments", PINNED, ids=str)
def test_generated_tables_keep_their_bits(arguments):
    table, digest = ratings_like(*arguments), hashlib.sha256()
    for part in (table.rows, table.cols, table.values):
        digest.update(part.astype("<i8").tobytes())
    assert digest.hexdigest()[:32] == PINNED[arguments]


def test_generated_tables_are_skewed_and_leave_nobody_out():
    table = ratings_like(300, 200, 9000, seed=2)
    cells = table.rows * 200 + table.cols
    assert len(table) == 9000 and np.all(np.diff(cells) > 0)
    for index, count in ((table.rows, 300), (table.cols, 200)):
        ratings = np.sort(np.bincount(index, minlength=count))[::-1]
        assert ratings[-1] >= 1 and ratings[: count // 10].sum() > 2 * ratings.sum() / 10
    assert set(np.unique(table.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}
