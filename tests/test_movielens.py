"""Real ratings: MovieLens-100k, all ratings raw, radius 2500 (f* = 67945.055). Skips where the data is not."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx

OPTIMUM = 67945.055


@pytest.fixture(scope="module")
def problem(movielens_100k):
    table = movielens_100k
    objective = sx.Completion(table.rows, table.cols, table.values, table.shape)
    return sx.Problem(objective, sx.NuclearBall(table.shape, 2500.0))


@pytest.mark.data
def test_shape(movielens_100k):
    assert movielens_100k.shape == (943, 1682) and len(movielens_100k) == 100_000
    assert set(np.unique(movielens_100k.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}


@pytest.mark.data
@pytest.mark.parametrize("seed", [0, 1])
def test_adaptive_ror_beats_both_baselines(problem, movielens_100k, seed):
    stop = sx.Stop(max_steps=300)
    results = {name: sx.solve(problem, name, stop, seed=seed) for name in ("cg", "away", "ror-adaptive")}
    ours = results["ror-adaptive"]
    assert ours.value < results["cg"].value < results["away"].value
    assert ours.value <= OPTIMUM * (1 + 1e-3)
    assert len(ours.X.s) < 150
    for result in results.values():
        assert len(result.trace) == 300
        assert result.lower_bound <= OPTIMUM * (1 + 1e-8) <= result.value * (1 + 1e-6)
        again = 0.5 * np.sum((result.X.entries(movielens_100k.rows, movielens_100k.cols) - movielens_100k.values) ** 2)
        assert again == pytest.approx(result.value, rel=1e-9)
        assert result.X.svd()[1].sum() <= 2500.0 * (1 + 1e-12)
