"""Hulls: slopes, bends and mixtures of a few rank-ones, the same whether their images are written or sampled."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods import RankOneRegularized
from spectraplex.objectives import hulls
from spectraplex.objectives.hulls import Sampled, Written
from spectraplex.places.here import HERE


def long_table(weighted=False, loss="squared"):
    rng = np.random.default_rng(1)
    table = ratings_like(220, 180, 21_000, rank=4, seed=2)
    weights = rng.uniform(0.5, 2.0, table.values.size) if weighted else None
    values = table.values if loss == "squared" else (table.values > 3.0).astype(float)
    return sx.Completion(table.rows, table.cols, values, table.shape, loss, weights=weights)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_sampled_or_written_it_is_the_same(monkeypatch, count, weighted, inside):
    objective, rng = long_table(weighted), np.random.default_rng(count)
    (m, n), scale = objective.shape, 1.7
    U, V = rng.standard_normal((m, count)), rng.standard_normal((n, count))
    image = rng.standard_normal(objective.targets.size) if inside else None
    slope, sizes = rng.standard_normal(objective.targets.size), rng.standard_normal(count + inside).tolist()
    found = objective.hull(scale, U, V, image)
    monkeypatch.setattr(hulls, "_LONG", np.inf)
    told = objective.hull(scale, U, V, image)
    assert isinstance(found, Sampled) and isinstance(told, Written)
    slopes, bends = found.ways(slope)
    assert slopes.shape == (count - 1 + inside,) and bends.shape == 2 * slopes.shape
    # sums of 21,000 products, each at most a few hundred
    for got, wanted in zip((slopes, bends), told.ways(slope), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0.0, atol=21_000 * 1e3 * 1e-15)
    np.testing.assert_allclose(found.mixture(sizes), told.mixture(sizes), rtol=0.0, atol=1e-12)


def test_a_loss_that_is_no_plain_square_has_its_images_written():
    class Own(sx.losses.Squared):
        """A user's own."""

    plain, own, logistic = long_table(), long_table(), long_table(loss="logistic")
    own = sx.Fit(plain.measurements, plain.targets, Own())
    U, V = np.ones((plain.shape[0], 2)), np.ones((plain.shape[1], 2))
    assert isinstance(plain.hull(1.0, U, V, None), Sampled)
    assert isinstance(own.hull(1.0, U, V, None), Written)
    assert isinstance(plain.hull(1.0, U + 0j, V + 0j, None), Written)
    assert logistic.hull is None


@pytest.mark.parametrize("hermitian", [False, True])
def test_a_step_goes_where_it_would_with_images_that_are_written(monkeypatch, hermitian):
    rng = np.random.default_rng(0)
    if hermitian:
        rows, cols = np.nonzero(rng.random((160, 160)) < 0.9)
        objective = sx.Completion(rows, cols, rng.standard_normal(rows.size), (160, 160))
        problem = sx.Problem(objective, sx.Spectrahedron(160, 30.0))
    else:
        objective = long_table()
        problem = sx.Problem(objective, sx.NuclearBall(objective.shape, 900.0))
    method = RankOneRegularized(select="worthy", step="line-search", beta="adaptive")
    point = problem.point(Atoms.of(rng.standard_normal((problem.lifted.dimension, 6))))
    first, memory, _ = method.step(problem, *method.init(problem, point, rng)[:2], rng)
    values = []
    for least in (hulls._LONG, np.inf):
        monkeypatch.setattr(hulls, "_LONG", least)
        values.append(method.step(problem, first, memory, np.random.default_rng(1))[0].value)
    assert values[0] < first.value and values[0] == pytest.approx(values[1], rel=1e-10)


def test_columns_taken_by_number_keep_their_rows_contiguous():
    """Scores of some atoms gather whole rows: from a block stored by columns they take three times as long."""
    taken = HERE.columns(np.ones((9, 5)), np.array([3, 0]))
    assert taken.flags.c_contiguous and taken.shape == (9, 2)
