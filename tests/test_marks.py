"""Marks of tables and blocks: sums over parts, and another one for whatever else."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.objectives.intercepts import Intercepts
from spectraplex.places import marks
from spectraplex.places.marks import entries_mark, pattern_mark, rows_mark


def table(m=30, n=12, count=120, seed=0):
    rng = np.random.default_rng(seed)
    key = np.sort(rng.choice(m * n, count, replace=False))
    return key // n, key % n, rng.standard_normal(count), rng.uniform(0.5, 2.0, count)


def same(a, b):
    return np.array_equal(a, b)


@pytest.mark.parametrize("short", [0, 10**9])
def test_the_mark_of_a_table_is_the_sum_over_any_parts_in_any_order(monkeypatch, short):
    monkeypatch.setattr(marks, "_SHORT", short)  # by compiled loops, and by NumPy
    monkeypatch.setattr(marks, "_MIDDLING", 0)
    rows, cols, values, weights = table()
    whole = entries_mark(rows, cols, values, weights)
    first = rows < 11
    parts = [
        entries_mark(rows[some] - start, cols[some], values[some], weights[some], start)
        for some, start in ((first, 0), (~first, 11))
    ]
    assert same(whole, parts[0] + parts[1])
    order = np.random.default_rng(1).permutation(rows.size)
    assert same(whole, entries_mark(rows[order], cols[order], values[order], weights[order]))
    block = np.random.default_rng(2).standard_normal((20, 3))
    assert same(rows_mark(block), rows_mark(block[:7]) + rows_mark(block[7:], 7))


def test_compiled_loops_and_numpy_agree(monkeypatch):
    rows, cols, values, weights = table()
    blocks = [values, np.outer(values, weights), values.astype(np.float32), values + 1j * weights]
    blocks += [np.outer(values, weights).astype(np.complex64), rows.astype(np.int32)]
    asked = [lambda b=b: rows_mark(b, 5) for b in blocks]
    asked += [lambda: entries_mark(rows, cols, values), lambda: entries_mark(rows, cols, values + 1j, weights, 9)]
    monkeypatch.setattr(marks, "_SHORT", 10**9)
    by_numpy = [each() for each in asked]
    monkeypatch.setattr(marks, "_SHORT", 7)  # in pieces, while no compiled loop is loaded
    monkeypatch.delitem(sys.modules, "spectraplex.places.mark_kernels", raising=False)
    for each, want in zip(asked[:-2], by_numpy, strict=False):
        assert same(each(), want)
    assert "spectraplex.places.mark_kernels" not in sys.modules
    monkeypatch.setattr(marks, "_SHORT", 0)
    monkeypatch.setattr(marks, "_MIDDLING", 0)
    for each, want in zip(asked, by_numpy, strict=True):
        assert same(each(), want)
    assert len({tuple(want) for want in by_numpy}) == len(by_numpy)


def test_a_long_table_is_marked_piece_by_piece_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    m, n = 3000, 200
    seen = np.nonzero(rng.random((m, n)) < 0.4)
    entries = sx.Entries(*seen, (m, n))
    values = rng.standard_normal(entries.size)
    want = entries_mark(seen[0], seen[1], values)
    before = sx.set_threads(2)
    try:
        assert same(pattern_mark(entries.pattern, values), want)
        sx.set_threads(1)
        assert same(pattern_mark(entries.pattern, values), want)
    finally:
        sx.set_threads(before)


def changes():
    """Tables that differ from ``table()`` in one thing."""
    rows, cols, values, weights = table()
    base = {"rows": rows, "cols": cols, "values": values, "shape": (30, 12), "loss": "squared", "weights": None}
    other, swapped, moved = values.copy(), rows.copy(), cols.copy()
    other[7] = np.nextafter(other[7], 9.0)
    a, b = np.unique(rows)[3:5]
    swapped[rows == a], swapped[rows == b] = b, a
    moved[rows == a] = 11 - cols[rows == a]
    heavier = weights.copy()
    heavier[3] *= 2.0
    yield "itself", base
    for name, new in {"values": other, "rows": swapped, "cols": moved, "shape": (31, 12), "loss": "huber"}.items():
        yield name, base | {name: new}
    yield "transposed", base | {"rows": cols, "cols": rows, "shape": (30, 30)}
    yield "square", base | {"shape": (30, 30)}
    yield "fewer", base | {"rows": rows[1:], "cols": cols[1:], "values": values[1:]}
    yield "weighted", base | {"weights": weights}
    yield "heavier", base | {"weights": heavier}
    yield "delta", base | {"loss": "huber", "delta": 2.0}
    yield "complex", base | {"values": values + 0j}


def test_another_entry_row_weight_shape_or_loss_has_another_fingerprint():
    found = {}
    for name, asked in changes():
        problem = sx.Problem(sx.Completion(**asked), sx.NuclearBall(asked["shape"], 1.0))
        found.setdefault(problem.fingerprint, []).append(name)
    assert all(len(names) == 1 for names in found.values()), found


def test_the_same_table_has_one_fingerprint_however_it_is_given():
    rows, cols, values, weights = table()
    order, domain = np.random.default_rng(4).permutation(rows.size), sx.NuclearBall((30, 12), 1.0)
    fits = [
        sx.Completion(rows, cols, values, (30, 12), weights=weights),
        sx.Completion(rows[order], cols[order], values[order], (30, 12), weights=weights[order]),
        sx.Fit(sx.Entries(rows, cols, (30, 12)), values, "squared", weights),
    ]
    assert len({sx.Problem(fit, domain).fingerprint for fit in fits}) == 1

    class Other(sx.Completion):
        """A function of one's own with the same data."""

    other = Other(rows, cols, values, (30, 12), weights=weights)
    assert sx.Problem(other, domain).fingerprint != sx.Problem(fits[0], domain).fingerprint


def test_intercepts_with_pairs_that_come_twice_and_scales():
    rows, cols, values, _ = table()
    twice = [np.concatenate([each, each[:5]]) for each in (rows, cols)]
    numbers = np.concatenate([values, values[:5] + 1.0])
    s, t = np.linspace(1.0, 2.0, 30), np.linspace(1.0, 3.0, 12)
    loss = sx.losses.Squared()

    def of(values=numbers, scales=(s, t), ridges=(1.0, 2.0), offset=0.5):
        return Intercepts(*twice, values, (30, 12), loss, offset=offset, ridges=ridges, scales=scales).parts()

    other = numbers.copy()
    other[-1] += 1.0
    turned = s.copy()
    turned[[1, 2]] = s[[2, 1]]
    found = [of(), of(values=other), of(scales=(turned, t)), of(scales=None), of(ridges=None), of(offset=0.0)]
    found += [of(scales=(s, 2.0 * t))]
    assert len({repr(each) for each in found}) == len(found)
    order = np.random.default_rng(5).permutation(numbers.size)
    mixed = Intercepts(
        twice[0][order], twice[1][order], numbers[order], (30, 12), loss, offset=0.5, ridges=(1.0, 2.0), scales=(s, t)
    )
    assert repr(mixed.parts()) == repr(of())
