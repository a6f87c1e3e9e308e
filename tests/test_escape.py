"""The weights of an escape: they promise at least half of what Frank-Wolfe's own step promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectraplex.methods.escape import _LINE, _shares, _whole_lines

promises = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=40)


@pytest.mark.parametrize("many", [False, True])
@given(promised=promises)
def test_half_of_the_best_promise(many, promised):
    promise = np.sort(np.array(promised))[::-1]
    weights = _shares(promise, many)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ promise >= 0.5 * promise[0] * (1 - 1e-12)


def test_where_hundreds_come_the_leading_one_gets_its_part_alone():
    promise = np.linspace(1.0, 0.5, 200)
    assert _shares(promise, True)[0] == pytest.approx(1.0 / promise.sum())
    assert _shares(promise, False)[0] > 0.5


@given(count=st.integers(1, 100), rank=st.integers(0, 100))
def test_rows_are_whole_cache_lines(count, rank):
    kept = _whole_lines(np.ones(count, bool), rank)
    assert kept[0] and kept.sum() <= count
    assert (rank + kept.sum()) % _LINE == 0 or kept.sum() == 1
