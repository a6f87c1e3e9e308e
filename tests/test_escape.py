"""The weights of an escape: they promise at least half of what Frank-Wolfe's own step promises."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spectraplex as sx
from spectraplex.methods import escape as escaping
from spectraplex.methods import hybrid
from spectraplex.methods.descent import descend
from spectraplex.methods.escape import _LINE, _block, _shares, _whole_lines, escape, first_block
from spectraplex.start import first_point

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
def test_rows_are_whole_cache_lines_unless_many_columns_would_be_left_out(count, rank):
    kept = _whole_lines(np.ones(count, bool), rank)
    assert kept[0] and count >= kept.sum() >= 0.75 * count
    assert (rank + kept.sum()) % _LINE == 0 or (kept.all() and (rank + count) % _LINE > count / 4)


def test_more_at_a_time_where_many_products_take_as_long_as_few():
    """On a device at hand; a cluster, where every product is sent, asks as this machine does."""
    device, cluster, here = (
        SimpleNamespace(place=SimpleNamespace(wide=wide, distant=distant))
        for wide, distant in ((True, False), (True, True), (False, False))
    )
    assert [first_block(each, None) for each in (device, cluster, here)] == [16, 4, 4]
    assert [first_block(each, asked) for each in (device, here) for asked in (1, 40)] == [2, 40, 2, 40]
    most = np.ones(16, bool)
    assert [_block(each, most, 17) for each in (device, cluster, here)] == [64, 32, 32]
    assert _block(device, np.ones(128, bool), 500) == 128
    assert _block(device, np.arange(128) < 10, 500) == 15


@pytest.mark.parametrize(("asked", "first"), [(None, 16), (5, 5)])
def test_a_run_on_a_device_begins_with_more(monkeypatch, asked, first):
    monkeypatch.setattr(escaping, "on_device", lambda place: True)
    problem, rng = sx.Problem(sx.Distance(np.diag([1.0, 0.5, 0.0])), sx.Spectrahedron(3)), np.random.default_rng(0)
    start = first_point(problem, None, rng)
    assert sx.Hybrid(block=asked).init(problem, start, rng)[1].block == first


def test_descents_are_brief_only_where_many_columns_are_new(monkeypatch):
    """On a device, with factors in single precision: a descent that is begun anew has forgotten what it had learned."""
    seen: list[list[int]] = []

    def escaped(problem, point, *others):
        found = escape(problem, point, *others)
        seen.append([len(found[0].atoms) - len(point.atoms), len(found[0].atoms)])
        return found

    def descended(*given, **how):
        seen[-1].append(how["most"])
        return descend(*given, **how)

    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((120, 100)) < 0.7)
    values = (rng.standard_normal((120, 5)) @ rng.standard_normal((5, 100)))[rows, cols]
    values += rng.standard_normal(rows.size)
    problem = sx.Problem(sx.Completion(rows, cols, values, (120, 100)), sx.NuclearBall((120, 100), 600.0))
    monkeypatch.setattr(hybrid, "escape", escaped)
    monkeypatch.setattr(hybrid, "descend", descended)
    monkeypatch.setattr(hybrid, "_many", lambda problem, atoms: True)
    sx.solve(problem, sx.Hybrid(growing=8, block=16), sx.Stop(relative_gap=1e-3, max_steps=12))
    steps = [most for _, _, most in seen]
    assert 3 in steps and any(5 * new <= columns for new, columns, _ in seen)
    assert all(most >= 8 for new, columns, most in seen if 5 * new <= columns)
