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


@pytest.mark.slow
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


OPTIMA = {2500.0: 67945.055, 3500.0: 37867.016, 5000.0: 16570.033}  # known to the last digit shown


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "radius"),
    [
        ("cg", 5000.0),
        *(pytest.param("cg", radius, marks=pytest.mark.slow) for radius in (2500.0, 3500.0)),
        *(pytest.param("ror-adaptive", radius, marks=pytest.mark.slow) for radius in OPTIMA),
    ],
)
def test_certified_brackets_contain_the_optimum(movielens_100k, radius, method):
    table = movielens_100k
    objective = sx.Completion(table.rows, table.cols, table.values, table.shape)
    result = sx.solve(sx.Problem(objective, sx.NuclearBall(table.shape, radius)), method, sx.Stop(max_steps=200))
    assert result.lower_bound <= OPTIMA[radius] + 5e-4
    assert OPTIMA[radius] - 5e-4 <= result.value
    assert result.certificate.kind == "probable" and result.certificate.failure == 1e-9


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize("radius", OPTIMA)
def test_certificates_are_tight_enough_to_be_used(movielens_100k, radius):
    """At the first point within 1e-7 of the optimum the certified relative gap is below 1e-3, and verifies."""
    table = movielens_100k
    objective = sx.Completion(table.rows, table.cols, table.values, table.shape)
    problem = sx.Problem(objective, sx.NuclearBall(table.shape, radius))
    near = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=1000), certify=False)
    result = sx.solve(problem, "apgd", sx.Stop(value=OPTIMA[radius] * (1 + 1e-7), max_steps=600), start=near.X)
    assert result.status is sx.Status.VALUE
    found = sx.certify(problem, result.X)
    assert found.gap <= 1e-3 * found.value
    assert found.lower_bound <= OPTIMA[radius] + 5e-4
    assert sx.verify(found.to_json(), problem, result.X)
